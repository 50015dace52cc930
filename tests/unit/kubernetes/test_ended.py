"""Jobs whose training has ended: what starts again, what keeps a pod, and what is known when the pods are gone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from jupyterlab_t9kjob.core.job import Failure
from jupyterlab_t9kjob.core.manifests.names import PAUSED
from jupyterlab_t9kjob.core.translation import STORED
from jupyterlab_t9kjob.engines.kubernetes.objects.action_notes import mark
from jupyterlab_t9kjob.engines.kubernetes.reasons.causes import EndingRecord, keep
from tests.unit.kubernetes.situations import Situation

CREATED, ENDED, ASKED = "2026-11-21T10:00:00Z", "2026-11-21T10:01:00Z", "2026-11-21T10:00:30Z"
Object = dict[str, Any]


def ended(code: int, reason: str = "", at: str = ENDED) -> Object:
    why = reason or ("Error" if code else "Completed")
    times = {"startedAt": CREATED, "finishedAt": at, "containerID": "containerd://1"}
    return {"terminated": {"exitCode": code, "reason": why, **times}}


RUNS: Object = {"running": {"startedAt": CREATED}}
CRASHES: Object = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}


def pod(
    name: str,
    state: Object,
    *,
    kind: str = "kubeflow",
    phase: str = "Running",
    policy: str = "Never",
    beside: Object | None = None,
    sidecars: Object | None = None,
    asked: str | None = None,
    target: tuple[str, str] | None = None,
    ready: bool = False,
    status: Object | None = None,
) -> Object:
    """Return a pod with its training container, others `beside` it, and `sidecars` among its init containers."""
    _job, role, index = name.rsplit("-", 2)
    names = {"pytorch": state, **(beside or {})}
    labels = (
        {"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": index}
        if kind == "kubeflow"
        else {"replica-type": role, "replica-index": index}
    )
    conditions = [{"type": "Ready", "status": str(ready), "lastTransitionTime": ENDED}]
    if target is not None:
        reason, message = target
        more = {"reason": reason, "message": message, "lastTransitionTime": ENDED}
        conditions.append({"type": "DisruptionTarget", "status": "True", **more})
    metadata: Object = {"name": name, "uid": f"uid-{name}", "labels": labels, "creationTimestamp": CREATED}
    if asked is not None:
        metadata |= {"deletionTimestamp": asked, "deletionGracePeriodSeconds": 0}
    return {
        "metadata": metadata,
        "spec": {
            "nodeName": "node-1",
            "restartPolicy": policy,
            "containers": [{"name": each} for each in names],
            "initContainers": [{"name": each, "restartPolicy": "Always"} for each in sidecars or {}],
        },
        "status": {
            "phase": phase,
            "conditions": conditions,
            "containerStatuses": [_status(each, one) for each, one in names.items()],
            "initContainerStatuses": [_status(each, one) for each, one in (sidecars or {}).items()],
            **(status or {}),
        },
    }


def _status(name: str, state: Object) -> Object:
    return {"name": name, "state": state, "restartCount": 0, "started": True}


def kubeflow(*pods: Object, policy: str = "Never", workers: int = 0, failed: str = "", limit: int = 3) -> Situation:
    role = {"restartPolicy": policy, "template": {"spec": {"containers": [{"name": "pytorch", "command": ["x"]}]}}}
    roles: Object = {"Master": {"replicas": 1, **role}}
    if workers:
        roles["Worker"] = {"replicas": workers, **role}
    conditions = [{"type": "Running", "status": str(not failed), "lastTransitionTime": CREATED}]
    if failed:
        words = {"reason": "PyTorchJobFailed", "message": failed, "lastTransitionTime": "2026-11-21T10:01:01Z"}
        conditions.append({"type": "Failed", "status": "True", **words})
    spec = {"pytorchReplicaSpecs": roles, "runPolicy": {"backoffLimit": limit}}
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "j", "uid": "job", "namespace": "n", "creationTimestamp": CREATED, "generation": 1},
        "spec": spec,
        "status": {"conditions": conditions, "startTime": CREATED},
    }
    return Situation(job, list(pods), [])


def t9k(*pods: Object, policy: str | None = "Never", replicas: int = 1, phase: str = "Running") -> Situation:
    group: Object = {
        "type": "worker",
        "replicas": replicas,
        "template": {"spec": {"containers": [{"name": "pytorch", "command": ["x"]}]}},
    }
    if policy is not None:
        group["restartPolicy"] = policy
    job = {
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "PyTorchTrainingJob",
        "metadata": {"name": "j", "uid": "job", "namespace": "n", "creationTimestamp": CREATED, "generation": 1},
        "spec": {"replicaSpecs": [group]},
        "status": {
            "phase": phase,
            "conditions": [{"type": "Running", "status": "True", "lastTransitionTime": CREATED}],
        },
    }
    return Situation(job, list(pods), [])


MASTER, WORKER, T9K = "j-master-0", "j-worker-0", "j-worker-0"
ISTIO = {"istio-proxy": RUNS}
ON = "; its pod continues because the container istio-proxy still runs"

ENDS = {
    # a second container lives on
    "success beside istio": (
        kubeflow(pod(MASTER, ended(0), beside=ISTIO)),
        "TrainingEnded",
        f"The training has ended without an error{ON}",
    ),
    "failure beside istio": (
        kubeflow(pod(MASTER, ended(3), beside=ISTIO)),
        "ExitCode",
        f"The command ended with exit code 3{ON}",
    ),
    "t9k: success beside istio": (
        t9k(pod(T9K, ended(0), kind="t9k", beside=ISTIO)),
        "TrainingEnded",
        f"The training has ended without an error{ON}",
    ),
    "t9k: out of memory beside istio": (
        t9k(pod(T9K, ended(137, "OOMKilled"), kind="t9k", beside=ISTIO)),
        "OOMKilled",
        f"The job was killed: out of memory (137){ON}",
    ),
    "no policy is written": (
        t9k(pod(T9K, ended(3), kind="t9k", beside=ISTIO), policy=None),
        "ExitCode",
        f"The command ended with exit code 3{ON}",
    ),
    "the other crashes again and again": (
        kubeflow(pod(MASTER, ended(0), policy="OnFailure", beside={"logger": CRASHES}), policy="OnFailure"),
        "TrainingEnded",
        "The training has ended without an error; its pod continues because the container logger still runs",
    ),
    "a pod is replaced once its sidecar ends": (
        t9k(pod(T9K, ended(3), kind="t9k", beside=ISTIO), policy="OnFailure"),
        "ExitCode",
        "Its last attempt ended with exit code 3; it starts again once its container istio-proxy has ended",
    ),
    "ExitCode, temporary": (
        kubeflow(pod(MASTER, ended(139), beside=ISTIO), policy="ExitCode"),
        "ExitCode",
        "Its last attempt ended with exit code 139 (as after SIGSEGV); it starts again once its container istio-proxy"
        " has ended",
    ),
    "ExitCode, for good": (
        kubeflow(pod(MASTER, ended(3), beside=ISTIO), policy="ExitCode"),
        "ExitCode",
        f"The command ended with exit code 3{ON}",
    ),
    "t9k: 139 is for good": (
        t9k(pod(T9K, ended(139), kind="t9k", beside=ISTIO), policy="ExitCode"),
        "ExitCode",
        f"The command ended with exit code 139 (as after SIGSEGV){ON}",
    ),
    "all pods have one": (
        kubeflow(pod(MASTER, ended(0), beside=ISTIO), pod(WORKER, ended(0), beside=ISTIO), workers=1),
        "TrainingEnded",
        "All 2 replicas have ended without an error; their pods continue because the container istio-proxy still runs",
    ),
    "the master has ended": (
        kubeflow(pod(MASTER, ended(0), beside=ISTIO), pod(WORKER, RUNS, beside=ISTIO), workers=1),
        "TrainingEnded",
        f"master-0 has ended without an error{ON}; 1 of 2 replicas still runs",
    ),
    "a worker has ended": (
        kubeflow(pod(MASTER, RUNS), pod(WORKER, ended(0), beside=ISTIO), workers=1),
        "TrainingEnded",
        f"1 of 2 replicas is running · worker-0: The replica ended without an error (0){ON}",
    ),
    "a worker has succeeded": (
        kubeflow(pod(MASTER, RUNS), pod(WORKER, ended(0), phase="Succeeded"), workers=1),
        "Started",
        "1 of 2 replicas is running, 1 has ended without an error",
    ),
    # sidecars that the node ends by itself
    "a sidecar is being ended": (
        kubeflow(pod(MASTER, ended(0), sidecars=ISTIO)),
        "TrainingEnded",
        "The training has ended without an error; its pod ends as soon as istio-proxy has ended",
    ),
    "a sidecar was killed": (
        kubeflow(pod(MASTER, ended(0), sidecars={"istio-proxy": ended(137)})),
        "TrainingEnded",
        "The training has ended without an error",
    ),
    "a sidecar failed beside a failure": (
        kubeflow(pod(MASTER, ended(3), sidecars={"istio-proxy": ended(137)}, phase="Failed"), failed="1 Master failed"),
        "ExitCode",
        "The command ended with exit code 3",
    ),
    "a sidecar failed in a worker that succeeded": (
        kubeflow(
            pod(MASTER, ended(3), phase="Failed"),
            pod(WORKER, ended(0), sidecars={"istio-proxy": ended(137, at=CREATED)}, phase="Succeeded"),
            workers=1,
            failed="1 Master failed",
        ),
        "ExitCode",
        "master-0 ended with exit code 3",
    ),
    "another container ended before it": (
        kubeflow(pod(MASTER, RUNS, beside={"logger": ended(1)})),
        "Started",
        "Running on node-1",
    ),
    # the pod's phase is late
    "Never": (kubeflow(pod(MASTER, ended(1))), "ExitCode", "The command ended with exit code 1"),
    "t9k: Never": (t9k(pod(T9K, ended(1), kind="t9k")), "ExitCode", "The command ended with exit code 1"),
    "success": (kubeflow(pod(MASTER, ended(0))), "TrainingEnded", "The training has ended without an error"),
    "OnFailure": (
        kubeflow(pod(MASTER, ended(1), policy="OnFailure"), policy="OnFailure"),
        "ExitCode",
        "Its last attempt ended with exit code 1; it starts again",
    ),
    "OnFailure, none left": (
        kubeflow(pod(MASTER, ended(1), policy="OnFailure"), policy="OnFailure", limit=0),
        "ExitCode",
        "The command ended with exit code 1",
    ),
    "OnFailure, success": (
        kubeflow(pod(MASTER, ended(0), policy="OnFailure"), policy="OnFailure"),
        "TrainingEnded",
        "The training has ended without an error",
    ),
    "Always, success": (
        kubeflow(pod(MASTER, ended(0), policy="Always"), policy="Always"),
        "TrainingEnded",
        "Its last attempt ended without an error (0); it starts again",
    ),
    # it leaves its node
    "evicted by a request": (
        kubeflow(pod(MASTER, RUNS, asked=ASKED, target=("EvictionByEvictionAPI", "Eviction API: evicting"))),
        "Evicted",
        "Its pod was evicted from node-1",
    ),
    "a taint": (
        kubeflow(
            pod(MASTER, RUNS, ready=True, asked=ASKED, target=("DeletionByTaintManager", "Taint manager: deleting"))
        ),
        "Tainted",
        "Its pod had to leave node-1, which got a taint that it does not tolerate",
    ),
    "its node is lost": (
        kubeflow(pod(MASTER, RUNS, asked=ASKED, target=("DeletionByTaintManager", "Taint manager: deleting"))),
        "NodeLost",
        "Its pod was lost with its node node-1",
    ),
    "it is deleted": (kubeflow(pod(MASTER, RUNS, asked=ASKED)), "PodDeleted", "Its pod is being deleted"),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_ended_is_not_said_to_start(name: str) -> None:
    job, code, sentence = ENDS[name]
    reason = job.reason()
    assert (reason.code, reason.sentence) == (code, sentence)
    assert "Run it again" not in (reason.hint or "")


def test_what_to_do_about_a_container_that_lives_on() -> None:
    hint = ENDS["success beside istio"][0].reason().hint
    assert hint is not None
    assert hint.startswith("The cluster counts the job as running until that container has ended. Stop or delete it")
    assert "sidecar.istio.io/inject" in hint


GONE = "PyTorchJob j is failed because 1 Master replica(s) failed."
LEFT: dict[str, tuple[Object, Object, tuple[str, str]]] = {
    "evicted by a request": (
        {"target": ("EvictionByEvictionAPI", "Eviction API: evicting"), "asked": ASKED},
        ended(143),
        ("Evicted", "The job was evicted from node-1"),
    ),
    "evicted by its node": (
        {"status": {"reason": "Evicted", "message": "The node was low on resource: memory. "}},
        ended(137),
        ("Evicted", "The job was evicted: node-1 ran low on memory"),
    ),
    "preempted": (
        {"target": ("PreemptionByScheduler", "default-scheduler: preempting"), "asked": ASKED},
        ended(143),
        ("Preempted", "The job had to make room on node-1 for a more important pod"),
    ),
    "its node is lost": (
        {"target": ("DeletionByTaintManager", "Taint manager: deleting"), "asked": ASKED},
        RUNS,
        ("NodeLost", "The job was lost with its node node-1"),
    ),
    "deleted": ({"asked": ASKED}, ended(143), ("PodDeleted", "The job ended because its pod was deleted")),
    "deleted, and torchrun says 1": (
        {"asked": ASKED},
        ended(1),
        ("PodDeleted", "The job ended because its pod was deleted"),
    ),
    "failed": ({}, ended(3), ("ExitCode", "The command ended with exit code 3")),
    "failed before it was deleted": (
        {"asked": "2026-11-21T10:02:00Z"},
        ended(3),
        ("ExitCode", "The command ended with exit code 3"),
    ),
    "out of memory": ({}, ended(137, "OOMKilled"), ("OOMKilled", "The job was killed: out of memory (137)")),
}


TRACEBACK = (
    'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\n    fit()\nValueError: bad label\n'
)
TORCHRUN = (Path(__file__).parents[1] / "endings" / "rank-exception" / "launcher.log").read_text()
MESSAGES = {
    "a line of the log": (1, "Error", "epoch 3 loss .2\n", "ended with exit code 1"),
    "a bar": (1, "Error", " 49%|### | 49/50\n", "ended with exit code 1"),
    "logging": (2, "Error", "INFO:root:epoch 3\n", "ended with exit code 2"),
    "a traceback": (1, "Error", TRACEBACK, "failed with exit code 1: ValueError: bad label"),
    "an old traceback": (3, "Error", f"{TRACEBACK}going on\n", "ended with exit code 3"),
    "its own message": (1, "Error", "ValueError: lr must be positive", "ended with exit code 1"),
    "torchrun's": (
        1,
        "Error",
        f"[default1]:[rank1]: {TRACEBACK.strip()}\n{TORCHRUN}".replace("\n  ", "\n[default1]:[rank1]:   ").replace(
            "\nVal", "\n[default1]:[rank1]: Val"
        ),
        "failed with exit code 1: ValueError: bad label",
    ),
    "argparse": (
        2,
        "Error",
        "usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --x\n",
        "failed with exit code 2: train.py: error: unrecognized arguments: --x",
    ),
    "bash: no such command": (
        127,
        "Error",
        "bash: line 1: accelerate: command not found\n",
        "failed with exit code 127: bash: line 1: accelerate: command not found",
    ),
    "sys.exit(127)": (127, "Error", "", "ended with exit code 127"),
    "sys.exit(137), or killed": (137, "Error", "epoch 3\n", "ended with exit code 137 (as after SIGKILL)"),
    "killed, as bash says": (137, "Error", "run.sh: line 3: 41 Killed python train.py\n", "was killed (137)"),
    "aborted": (134, "Error", "free(): invalid pointer\n", "aborted (134): free(): invalid pointer"),
    "one process of several": (
        1,
        "OOMKilled",
        "",
        "ended with exit code 1, after one of its processes was killed: out of memory",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_termination_message_is_the_cause_only_where_it_tells_one(name: str) -> None:
    code, why, message, words = MESSAGES[name]
    state = ended(code, why)
    state["terminated"]["message"] = message
    reason = kubeflow(pod(MASTER, state, phase="Failed"), failed=GONE).reason()
    who = "The job" if why == "OOMKilled" else "The command"
    assert reason.sentence == f"{who} {words}"
    assert "not in the image" not in (reason.hint or "")
    if message and ": " not in words:
        last = message.strip().splitlines()[-1].strip()
        assert last in (reason.hint or "") and last in (reason.verbatim or "")


def test_what_a_log_has_beside_the_exit_code_is_said() -> None:
    note = "The last exception in its log is “OSError: no cache”, but it may not be the cause."
    failure = Failure(replica="master-0", attempt=1, exit_code=1, note=note)
    reason = kubeflow(pod(MASTER, ended(1), phase="Failed"), failed=GONE).reason(failure=failure)
    assert reason.sentence == "The command ended with exit code 1"
    assert reason.hint == f"{note} Its log may end with the cause."


@pytest.mark.parametrize(
    ("code", "signaled", "words", "hint"),
    [
        (137, True, "was killed (137)", "The cluster does not say why. Its log may end with the cause."),
        (137, None, "ended with exit code 137 (as after SIGKILL)", "The cluster does not say why."),
        (139, True, "crashed: segmentation fault (139)", "Native code crashed the process."),
        (139, None, "ended with exit code 139 (as after SIGSEGV)", "Native code may have crashed the process."),
    ],
)
def test_a_signal_that_the_log_tells_of_is_said(code: int, signaled: bool | None, words: str, hint: str) -> None:
    """The shell that ran the command wrote of it to the container's log, and ended with 128 + n."""
    job = kubeflow(pod(MASTER, ended(code), phase="Failed"), failed=GONE)
    failure = Failure(replica=job.replicas[0].name, attempt=1, exit_code=code, signaled=signaled)
    reason = job.reason(failure=failure)
    assert reason.sentence == f"The command {words}"
    assert reason.hint is not None and reason.hint.startswith(hint)


def kept(*situations: Situation) -> dict[str, EndingRecord]:
    """Return what is kept of how replicas ended, after these were seen."""
    known: dict[str, EndingRecord] = {}
    for seen in situations:
        for place in seen.replicas:
            ending = keep(known.get(place.name), place, seen.state)
            known = {name: one for name, one in known.items() if name != place.name}
            known |= {place.name: ending} if ending is not None else {}
    return known


@pytest.mark.parametrize("name", LEFT)
@pytest.mark.parametrize("order", ["pod first", "job first"])
def test_why_it_ended_is_known_when_the_pod_is_gone(name: str, order: str) -> None:
    more, state, (code, sentence) = LEFT[name]
    runs, fails = kubeflow(pod(MASTER, RUNS)), kubeflow(pod(MASTER, state, phase="Failed", **more))
    late = kubeflow(*fails.pods, failed=GONE)
    gone = kubeflow(failed=GONE)
    seen = [runs, fails, late, gone] if order == "pod first" else [runs, late, gone]
    reason = gone.reason(endings=kept(*seen))
    assert (reason.code, reason.sentence) == (code, sentence)
    assert ("Run it again." in (reason.hint or "")) == (more.get("asked") is not None and code != "ExitCode")
    assert late.reason(endings=kept(runs, late)).sentence == sentence


@pytest.mark.parametrize(
    ("cordoned", "code", "sentence", "hint"),
    [
        ((), "Evicted", "The job was evicted from node-1", "The eviction was requested by "),
        (("node-1",), "Drained", "The job was evicted from node-1, which is being drained", "Nothing is known"),
        (("node-2",), "Evicted", "The job was evicted from node-1", "The eviction was requested by "),
    ],
)
def test_an_eviction_is_a_drain_only_where_the_node_is_cordoned(
    cordoned: tuple[str, ...], code: str, sentence: str, hint: str
) -> None:
    target = ("EvictionByEvictionAPI", "Eviction API: evicting")
    job = kubeflow(pod(MASTER, ended(143), phase="Failed", asked=ASKED, target=target))
    (place,) = job.replicas
    ending = keep(None, place, job.state, cordoned)
    assert ending is not None
    reason = kubeflow(failed=GONE).reason(endings={place.name: ending})
    assert (reason.code, reason.sentence) == (code, sentence)
    assert reason.hint is not None and reason.hint.startswith(hint)


def test_a_recorded_end_is_said_of_whoever_it_is_about() -> None:
    seen = kubeflow(pod(MASTER, ended(137), phase="Failed", status={"reason": "Evicted"}))
    records = TypeAdapter(dict[str, EndingRecord])
    read = records.validate_json(records.dump_json(kept(seen), context=STORED))
    gone = kubeflow(failed=GONE)
    assert gone.reason(endings=read).sentence == "The job was evicted from node-1"
    read["master-0"]["words"] = "was evicted from node-1"  # as earlier versions wrote it
    older = records.validate_json(records.dump_json(read))
    assert gone.reason(endings=older).sentence == "The job was evicted from node-1"


def test_a_pod_that_nobody_saw_end() -> None:
    reason = kubeflow(failed=GONE).reason()
    assert reason.sentence == f"The job failed: {GONE}"
    assert reason.hint == "Its pods are gone, and their ends were not recorded."


def test_what_an_earlier_attempt_ended_with_is_not_said_of_a_later_one() -> None:
    evicted = kubeflow(pod(MASTER, ended(137), phase="Failed", status={"reason": "Evicted"}), policy="OnFailure")
    again = pod(MASTER, RUNS)
    again["metadata"] |= {"uid": "next", "creationTimestamp": ENDED}
    assert kept(evicted) != {}
    assert kept(evicted, kubeflow(again, policy="OnFailure")) == {}
    restarted = pod(MASTER, RUNS, policy="OnFailure")
    restarted["status"]["containerStatuses"][0]["restartCount"] = 1
    fails = kubeflow(pod(MASTER, ended(3), policy="OnFailure"), policy="OnFailure")
    assert kept(fails, kubeflow(restarted, policy="OnFailure")) == {}


@pytest.mark.parametrize("cause", ["reached the specified backoff limit", "active longer than specified deadline"])
def test_pods_that_the_controller_deletes_are_no_cause(cause: str) -> None:
    seen = kubeflow(pod(MASTER, ended(143), asked=ASKED), policy="OnFailure")
    failed = kubeflow(failed=f"Job j has failed because it has {cause}", policy="OnFailure")
    assert failed.reason(endings=kept(seen)).code in ("BackoffLimitExceeded", "DeadlineExceeded")


def test_pods_that_are_cleaned_up_are_no_cause() -> None:
    """The master fails, and then the pods of the others are deleted."""
    after = "2026-11-21T10:01:05Z"
    pods = [pod(MASTER, ended(3), phase="Failed"), pod(WORKER, ended(143, at="2026-11-21T10:01:06Z"), asked=after)]
    job = kubeflow(*pods, workers=1, failed=GONE)
    assert job.reason(endings=kept(job)).sentence == "master-0 ended with exit code 3"
    only = kubeflow(pods[1], workers=1, failed=GONE)
    assert only.reason(endings=kept(only)).code == "Failed"


def test_who_was_deleted_first_explains_the_failure_of_the_other() -> None:
    pods = [pod(MASTER, ended(1), phase="Failed"), pod(WORKER, ended(143), phase="Failed", asked=ASKED)]
    job = kubeflow(*pods, workers=1, failed=GONE)
    assert job.reason().sentence == "worker-0 ended because its pod was deleted"


@pytest.mark.parametrize("code", [0, 1, 143])
def test_a_pause_is_no_failure(code: int) -> None:
    job = t9k(pod(T9K, ended(code), kind="t9k", asked=ASKED))
    job.job["metadata"]["annotations"] = {PAUSED: mark("alice", job.now)}
    job.job["spec"]["runMode"] = {"pause": {"enabled": True}}
    reason = job.reason(user="alice")
    assert (reason.code, reason.sentence) == ("Pausing", "Paused by you; its pods are ending")
    assert job.of_place("worker-0") is None
    assert kept(job) == {}


def test_a_resume_is_not_taken_for_a_pause_by_others() -> None:
    job = t9k(phase="Paused")
    job.job["metadata"]["generation"] = 3
    reason = job.reason()
    assert reason.code == "Resuming"
    assert "outside" not in reason.sentence


@pytest.mark.parametrize(("policy", "advised"), [("OnFailure", True), ("ExitCode", True), ("Never", False)])
def test_what_starts_again_by_itself_is_not_to_be_run_again(policy: str, *, advised: bool) -> None:
    job = kubeflow(pod(MASTER, ended(137), phase="Failed", status={"reason": "Evicted"}), policy=policy)
    hint = job.reason().hint or ""
    assert ("It starts again by itself." in hint) == advised
    assert "Run it again" not in hint


def test_debug_mode() -> None:
    job = t9k(pod(T9K, RUNS, kind="t9k"))
    job.job["spec"]["runMode"] = {"debug": {"enabled": True}}
    reason = job.reason()
    assert (reason.code, reason.sentence) == ("Debug", "Debug mode: its pod runs “sleep inf” in place of the training")
    failed = replace(job, pods=[pod(T9K, ended(1), kind="t9k")])
    assert failed.reason().code == "ExitCode"
