"""Jobs in queues of Kueue and of T9k's scheduler: what state they are in, and what they wait for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.checks import Capability
from jupyterlab_t9kjob.core.job import Reason
from jupyterlab_t9kjob.core.manifests.names import PAUSED, STOPPED
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.cluster.queue_objects import kept_of_group, kept_of_workload
from jupyterlab_t9kjob.engines.kubernetes.objects.action_notes import mark
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import State
from jupyterlab_t9kjob.engines.kubernetes.scheduling.kueue import KueueHold, state_of
from tests.unit.kubernetes.queues import condition, pending, workload
from tests.unit.kubernetes.situations import Situation, situation

NOW = seconds("2026-11-22T05:00:30Z") or 0.0
PAUSED_STATE = State("Paused", paused=True)


def suspended(**annotations: str) -> Situation:
    """Return a job whose spec is suspended, and that has no pods."""
    job = situation("running")
    job.job["metadata"]["annotations"] = annotations
    job.job["spec"]["runPolicy"]["suspend"] = True
    job.job["status"] = {"conditions": [condition("Suspended", True, "PyTorchJobSuspended", "Job is suspended.")]}
    return replace(job, pods=[], events=[])


def hold(*conditions: dict[str, Any], ahead: int = 0, **more: Any) -> KueueHold:
    return KueueHold("team-a", kept_of_workload(workload(*conditions, **more)), ahead, Capability(supported=True))


def why(held: KueueHold, job: Situation | None = None, now: float = NOW, **annotations: str) -> Reason:
    job = job or suspended(**annotations)
    return job.reason(state=state_of(job.state, job.job, held), hold=held, now=now)


def test_a_job_that_kueue_suspends_is_not_paused() -> None:
    job = suspended()
    assert job.state.phase == "Paused"
    state = state_of(job.state, job.job, hold())
    assert (state.phase, state.paused, state.held) == ("Pending", False, True)


def test_nor_is_one_that_it_does_not_tell_of() -> None:
    held = KueueHold("team-a", None, 0, Capability(supported=False))
    job = suspended()
    assert state_of(job.state, job.job, held).phase == "Pending"
    reason = why(held)
    assert (reason.code, reason.sentence) == ("InQueue", "Waits in queue team-a for Kueue to let it in")


def test_a_job_that_was_taken_out_of_its_queue_is_paused() -> None:
    out = hold(condition("Evicted", True, "Deactivated", "The workload is deactivated"), spec={"active": False})
    job = suspended(**{PAUSED: mark("alice", NOW)})
    state = state_of(job.state, job.job, out)
    assert (state.phase, state.paused, state.held) == ("Paused", True, False)
    assert why(out, job).sentence == "Paused by alice"
    stopped = suspended(**{STOPPED: mark("alice", NOW)})
    state = state_of(stopped.state, stopped.job, out)
    assert (state.phase, state.cause, state.paused) == ("Failed", "Stopped", True)
    assert why(out, suspended()).code in ("Paused", "CreatedPaused")


def test_a_job_that_still_runs_when_it_is_taken_out_is_asked_to_pause() -> None:
    running = situation("running")
    state = state_of(running.state, running.job, hold(spec={"active": False}))
    assert (state.phase, state.paused) == ("Running", True)


def test_a_job_that_is_being_taken_out_still_runs() -> None:
    running = situation("running")
    running.job["spec"]["runPolicy"]["suspend"] = True
    preempted = hold(pending(""), condition("Evicted", True, "Preempted", "Preempted to accommodate a workload"))
    state = state_of(running.state, running.job, preempted)
    assert (state.phase, state.paused, state.held) == ("Running", False, True)
    reason = why(preempted, running)
    assert (reason.code, reason.sentence) == ("TakenOut", "Kueue is taking it out of queue team-a")
    assert reason.hint == "It had to make room for another job."


def test_a_stopped_job_that_was_put_back_elsewhere_waits_again() -> None:
    stopped = suspended(**{STOPPED: mark("alice", NOW)})
    state = state_of(stopped.state, stopped.job, hold())
    assert (state.phase, state.paused, state.cause) == ("Pending", False, None)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("due to exceeding the maximum execution time", "it ran longer than its maximum execution time"),
        (
            "due to exceeding the maximum number of re-queuing retries",
            "its replicas were not all ready in time, again and again",
        ),
        ("due to something else", "something else"),
    ],
)
def test_what_kueue_takes_out_for_good_is_paused_by_the_platform(words: str, sentence: str) -> None:
    evicted = condition("Evicted", True, "DeactivatedDueToX", f"The workload is deactivated {words}")
    reason = why(hold(evicted, spec={"active": False}))
    assert reason.code == "PausedByPlatform"
    assert reason.sentence == f"Taken out of queue team-a by Kueue: {sentence}"
    assert reason.hint == "Resume puts it into its queue again."


LACK = "couldn't assign flavors to pod set {}: insufficient unused quota for {} in flavor {}, {} more needed"
WAITS = {
    # of the master's 2 and the workers' 6 all are counted when the workers don't fit
    LACK.format("worker", "nvidia.com/gpu", "a100", 6): (
        "InQueue",
        "Waits in queue team-a: needs 8 GPUs; free in its quota: 2",
    ),
    LACK.format("master", "nvidia.com/gpu", "a100", 1): (
        "InQueue",
        "Waits in queue team-a: needs 8 GPUs; free in its quota: 1",
    ),
    LACK.format("worker", "nvidia.com/gpu", "a100", 6)
    + ", insufficient unused quota for nvidia.com/gpu in flavor v100, 8 more needed": (
        "InQueue",
        "Waits in queue team-a: needs 8 GPUs; free in its quota: 2",
    ),
    LACK.format("worker", "nvidia.com/gpu", "a100", 6) + ". Pending the preemption of 2 workload(s)": (
        "InQueue",
        "Waits in queue team-a for 2 less important jobs to make room for it",
    ),
    "couldn't assign flavors to pod set worker: insufficient quota for nvidia.com/gpu in flavor a100, previously"
    " considered podsets requests (2) + current podset request (6) > maximum capacity (4)": (
        "AboveQueueQuota",
        "Waits in queue team-a: needs 8 GPUs, and its quota allows 4 at most",
    ),
    "couldn't assign flavors to pod set worker: insufficient quota for nvidia.com/gpu in flavor a100, request > maximum"
    " capacity (8 > 4)": (
        "AboveQueueQuota",
        "Waits in queue team-a: needs 8 GPUs, and its quota allows 4 at most",
    ),
    "couldn't assign flavors to pod set master: resource nvidia.com/gpu unavailable in ClusterQueue": (
        "AboveQueueQuota",
        "Waits in queue team-a, which has no nvidia.com/gpu at all",
    ),
    "LocalQueue team-a doesn't exist": ("NoSuchQueue", "There is no queue team-a in its namespace"),
    "LocalQueue team-a is inactive": ("QueueStopped", "Waits in queue team-a, which is stopped"),
    "LocalQueue team-a is stopped": ("QueueStopped", "Waits in queue team-a, which is stopped"),
    "ClusterQueue gpus is inactive": ("QueueStopped", "Waits in queue team-a: its ClusterQueue gpus is stopped"),
    "ClusterQueue gpus doesn't exist": ("QueueStopped", "Waits in queue team-a: its ClusterQueue gpus does not exist"),
    "workload namespace doesn't match ClusterQueue selector": (
        "QueueNotOpen",
        "Waits in queue team-a, which is not open to its namespace",
    ),
    "Workload no longer fits after processing another workload": (
        "InQueue",
        "Waits in queue team-a for Kueue to let it in",
    ),
    "": ("InQueue", "Waits in queue team-a for Kueue to let it in"),
}


@pytest.mark.parametrize("message", WAITS)
def test_what_a_job_waits_for_in_its_queue(message: str) -> None:
    reason = why(hold(pending(message)))
    assert (reason.code, reason.sentence) == WAITS[message]
    assert reason.verbatim == (message or None)


def test_the_wait_counts_up_and_says_who_is_ahead() -> None:
    held = hold(pending("x"), ahead=3)
    wait = "Waits in queue team-a for Kueue to let it in; 3 jobs are ahead of it · waiting 10 min"
    assert why(held, now=NOW + 600).sentence == wait
    assert "; 1 job is ahead of it" in why(replace(held, ahead=1)).sentence


def test_memory_and_cores_in_the_form_in_which_people_say_them() -> None:
    message = "insufficient unused quota for {} in flavor any, {} more needed"
    for resource, more, said in (
        ("memory", "64Gi", "needs 96 GiB memory; free in its quota: 32 GiB"),
        ("cpu", "2500m", "needs 6 CPU; free in its quota: 3.5"),
    ):
        held = hold(pending(f"couldn't assign flavors to pod set master: {message.format(resource, more)}"), gpus=(0,))
        template = held.workload["spec"]["podSets"][0]["template"]  # type: ignore[index]
        template["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "6", "memory": "96Gi"}}
        assert said in why(held).sentence


@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("Preempted", "It had to make room for another job."),
        ("PodsReadyTimeout", "Its replicas were not all ready in time"),
        ("NodeFailures", "A node that it ran on failed"),
        ("LocalQueueStopped", "Its queue was stopped"),
    ],
)
def test_a_job_that_was_taken_out_waits_again_and_says_why(reason: str, hint: str) -> None:
    evicted = condition("Evicted", True, reason, "Preempted to accommodate a workload (UID: u, JobUID: j)")
    found = why(hold(pending(""), evicted))
    assert found.sentence == "Waits in queue team-a for Kueue to let it in"
    assert found.hint is not None and found.hint.startswith(hint)
    assert found.verbatim == "Preempted to accommodate a workload (UID: u, JobUID: j)"


def test_a_job_that_has_its_quota_waits_for_checks() -> None:
    reserved = condition("QuotaReserved", True, "QuotaReserved", "Quota reserved in ClusterQueue gpus")
    since = {"lastTransitionTime": "2026-11-22T05:00:00Z"}
    checks = [{"name": "a", "state": "Ready", **since}, {"name": "nodes", "state": "Pending", "message": "Not yet."}]
    found = why(hold(reserved, admissionChecks=checks))
    assert (found.code, found.verbatim) == ("WaitingForCheck", "Not yet.")
    assert found.sentence == "Queue team-a has room for it; it waits for the check nodes"
    admitted = condition("Admitted", True, "Admitted", "The workload is admitted")
    assert why(hold(reserved, admitted)).sentence == "Queue team-a has let it in, and it is being started"


@pytest.mark.parametrize("odd", [{}, {"spec": []}, {"status": {"conditions": "x"}}, {"spec": {"podSets": [3, {}]}}])
def test_workloads_of_any_shape(odd: dict[str, Any]) -> None:
    held = KueueHold("", {"metadata": {"name": "x", "uid": "y"}, **odd}, 0, Capability(supported=True))
    assert why(held).sentence == "Waits in queue (unknown) for Kueue to let it in"


def grouped(*conditions: dict[str, Any]) -> dict[str, Any]:
    spec = {"minMember": 2, "queue": "short", "priority": 10}
    metadata = {"name": "train", "uid": "uid-group", "creationTimestamp": "2026-11-22T05:00:00Z"}
    return kept_of_group({"metadata": metadata, "spec": spec, "status": {"conditions": list(conditions), "pending": 2}})


def test_a_job_of_t9k_waits_for_its_scheduler() -> None:
    job = replace(situation("t9k-submitted-paused"), pods=[], events=[])
    state, enough = State("Pending"), condition("SufficientGroupMember", True, "SufficientMemberPods")
    told = condition("GroupScheduled", False, "Unschedulable", "queue quota is used up")
    reason = job.reason(state=state, group=grouped(enough, told), now=NOW)
    assert (reason.code, reason.verbatim) == ("InQueue", "queue quota is used up")
    assert reason.sentence == "Waits in queue short for T9k's scheduler to give it resources"
    few = condition("SufficientGroupMember", False, "InsufficientMemberPods", "1/2")
    reason = job.reason(state=state, group=grouped(few), now=NOW)
    assert reason.sentence == "Waits in queue short until 2 pods of it exist"
    for group in (grouped(), grouped(condition("GroupScheduled", True, "PodGroupScheduled"))):
        assert job.reason(state=state, group=group, now=NOW).code == "Creating"
