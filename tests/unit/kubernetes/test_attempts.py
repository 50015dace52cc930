"""Attempts of a replica: what is kept of the lives of its container, as pods come and go."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import Attempt
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView, State
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.attempts import (
    AttemptRecord,
    attempts_of,
    earlier,
    observe,
    restarts_of,
)
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.replicas import replica

RUNNING = State(phase="Running")
NOW = seconds("2026-11-21T12:00:00Z") or 0.0


def at(minute: int) -> str:
    return f"2026-11-21T10:{minute:02}:00Z"


def runs(minute: int) -> dict[str, Any]:
    return {"running": {"startedAt": at(minute)}}


def ended(start: int, end: int, code: int, reason: str = "Error") -> dict[str, Any]:
    return {"terminated": {"startedAt": at(start), "finishedAt": at(end), "exitCode": code, "reason": reason}}


def place(uid: str, state: Any, count: int = 0, last: Any = None, *, index: int = 1, **pod: Any) -> ReplicaView:
    status = {"name": "pytorch", "state": state, "lastState": last or {}, "restartCount": count}
    seen = {
        "metadata": {"name": f"train-worker-{index}", "uid": uid, **pod.pop("metadata", {})},
        "spec": {"containers": [{"name": "pytorch"}], "nodeName": "node-1"},
        "status": {"phase": "Running", "containerStatuses": [status], **pod},
    }
    return ReplicaView("worker", index, container="pytorch", pod=seen, pod_uid=uid)


GONE = ReplicaView("worker", 1)


def follow(*seen: tuple[ReplicaView, State]) -> list[AttemptRecord]:
    history: list[AttemptRecord] = []
    for one, state in seen:
        history = observe(history, one, state, now=NOW)
    return history


def words(history: list[AttemptRecord]) -> list[tuple[int, str | None]]:
    return [(one.number, one.ended) for one in attempts_of(history)]


@pytest.mark.parametrize(
    ("state", "pod", "said"),
    [
        (ended(1, 2, 0, "Completed"), {}, "Completed"),
        (ended(1, 2, 1), {}, "Error (1)"),
        (ended(1, 2, 137, "OOMKilled"), {}, "Killed: out of memory (137)"),
        (ended(1, 2, 1, "OOMKilled"), {}, "One of its processes was killed: out of memory (1)"),
        (ended(1, 2, 137), {}, "As after SIGKILL (137)"),
        (ended(1, 2, 143), {}, "As after SIGTERM (143)"),
        (ended(1, 2, 139), {}, "As after SIGSEGV (139)"),
        (ended(1, 2, 128, "StartError"), {}, "Could not be started (128)"),
        (ended(1, 2, 137), {"phase": "Failed", "reason": "Evicted"}, "Evicted from its node"),
        (ended(1, 2, 137), {"phase": "Failed", "reason": "DeadlineExceeded"}, "Ended at the deadline"),
    ],
)
def test_ends_in_words(state: Any, pod: Any, said: str) -> None:
    history = follow((place("a", state, **pod), RUNNING))
    assert attempts_of(history) == [
        Attempt(number=1, started_at=seconds(at(1)), ended_at=seconds(at(2)),
                exit_code=state["terminated"]["exitCode"], ended=said)
    ]  # fmt: skip


def test_a_container_that_is_started_again_and_again() -> None:
    loop = {"waiting": {"reason": "CrashLoopBackOff"}}
    history = follow(
        (place("a", {"waiting": {"reason": "ContainerCreating"}}), RUNNING),
        (place("a", runs(1)), RUNNING),
        (place("a", runs(3), 1, ended(1, 2, 1)), RUNNING),
        # while it waits, the last life is of the count that it has, not of the one before
        (place("a", loop, 1, ended(3, 4, 3)), RUNNING),
        (place("a", runs(6), 2, ended(3, 4, 3)), RUNNING),
    )
    assert words(history) == [(1, "Error (1)"), (2, "Error (3)"), (3, None)]
    assert [one.restart for one in attempts_of(history)] == [None, 1, 2]


def test_lives_that_nobody_saw_are_counted() -> None:
    history = follow((place("a", runs(1)), RUNNING), (place("a", runs(30), 7, ended(20, 25, 1)), RUNNING))
    assert [number for number, _ in words(history)] == [1, 7, 8]
    assert history[0]["ended_at"] is not None
    again = follow((place("a", runs(30), 7, ended(20, 25, 1)), RUNNING))
    assert [number for number, _ in words(again)] == [7, 8]


def test_a_pod_after_another() -> None:
    history = follow(
        (place("a", runs(1)), RUNNING),
        (place("a", ended(1, 2, 138)), RUNNING),
        (GONE, RUNNING),
        (place("b", {"waiting": {"reason": "PodInitializing"}}, phase="Pending"), RUNNING),
    )
    assert words(history) == [(1, "Asked to be restarted (138)")]
    assert (earlier(history, "a"), earlier(history, "b"), earlier(history, None), earlier([], "a")) == (0, 1, 1, 0)
    history = observe(history, place("b", runs(5)), RUNNING, now=NOW)
    assert words(history) == [(1, "Asked to be restarted (138)"), (2, None)]
    assert earlier(history, "b") == 1


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (State("Paused", paused=True), "Ended for a pause"),
        (State("Running", paused=True), "Ended for a pause"),
        (State("Failed", paused=True, cause="Stopped"), "Stopped"),
        (State("Failed", cause="DeadlineExceeded"), "Ended at the deadline"),
        (State("Succeeded"), "Ended with the first replica"),
        (State("Failed", cause="PyTorchJobFailed"), "Ended because another replica failed"),
        (State("Running"), "Ended with its pod"),
    ],
)
def test_pods_that_were_taken_away(state: State, said: str) -> None:
    began = (place("a", runs(1)), RUNNING)
    assert words(follow(began, (GONE, state))) == [(1, said)]
    # also where its last moments were seen: it was asked to end at minute 3, and had 30 seconds for it
    asked = {"deletionTimestamp": "2026-11-21T10:03:30Z", "deletionGracePeriodSeconds": 30}
    assert words(follow(began, (place("a", ended(1, 3, 143), metadata=asked), state))) == [(1, said)]
    # unless it had failed by itself before
    assert words(follow(began, (place("a", ended(1, 2, 3), metadata=asked), state))) == [(1, "Error (3)")]


@pytest.mark.parametrize("code", [0, 143])
def test_a_return_from_a_pause_is_no_restart(code: int) -> None:
    paused = State("Paused", paused=True)
    asked = {"deletionTimestamp": "2026-11-21T10:03:30Z", "deletionGracePeriodSeconds": 30}
    history = follow(
        (place("a", runs(1)), RUNNING),
        (place("a", ended(1, 3, code), metadata=asked), paused),
        (GONE, paused),
        (place("b", runs(5)), RUNNING),
    )
    assert restarts_of(history) == 0
    history = observe(history, place("c", runs(7)), RUNNING, now=NOW)
    assert restarts_of(history) == 1


def test_why_a_pod_went_may_be_known_later() -> None:
    gone = (place("a", runs(1)), RUNNING), (GONE, RUNNING)
    assert words(follow(*gone, (GONE, State("Failed", cause="DeadlineExceeded")))) == [(1, "Ended at the deadline")]
    stopping, stopped = State("Running", paused=True), State("Failed", paused=True, cause="Stopped")
    assert words(follow(gone[0], (GONE, stopping), (GONE, stopped))) == [(1, "Stopped")]


def test_a_pod_that_had_to_make_room() -> None:
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    asked = {"deletionTimestamp": at(3), "deletionGracePeriodSeconds": 0}
    seen = place("a", ended(1, 3, 143), metadata=asked, conditions=[condition])
    assert words(follow((seen, RUNNING))) == [(1, "Made way for a pod of higher priority")]


def test_an_end_that_the_kubelet_made_up_is_no_restart() -> None:
    made_up = {"terminated": {"exitCode": 137, "reason": "ContainerStatusUnknown", "startedAt": None}}
    seen = place("a", made_up, 1, made_up, phase="Failed", reason="Evicted")
    history = follow((place("a", runs(1)), RUNNING), (seen, State("Failed")))
    assert words(history) == [(1, "Evicted from its node")]
    assert history[0]["started_at"] == seconds(at(1))
    assert history[0]["ended_at"] is not None


def test_the_master_of_a_job_that_succeeded_has_succeeded() -> None:
    first = place("a", runs(1), index=0)
    history = follow((first, RUNNING))
    done = State("Succeeded", started_at=seconds(at(1)), ended_at=seconds(at(9)))
    history = observe(history, ReplicaView("worker", 0), done, now=NOW)
    assert words(history) == [(1, "Completed")]
    assert history[0]["ended_at"] == seconds(at(9))


def test_the_jobs_status_may_tell_the_code_of_a_pod_that_is_gone() -> None:
    history = follow((place("a", runs(1)), RUNNING))
    told = ReplicaView("worker", 1, pod_uid="a", said="Failed", exit_code=137)
    assert words(observe(history, told, RUNNING, now=NOW)) == [(1, "As after SIGKILL (137)")]


def test_what_is_shown_of_a_replica() -> None:
    spec = JobSpec(name="train", entrypoint=Entrypoint(value="/t9k/mnt/train.py"))
    history = follow((place("a", runs(1)), RUNNING))
    shown = replica(place("a", runs(1)), history, spec, RUNNING)
    assert (shown.name, shown.status, shown.ready, shown.node, shown.processes) == (
        "worker-1", "Running", False, "node-1", 1,
    )  # fmt: skip
    assert shown.pod is not None
    paused = State("Paused", paused=True)
    shown = replica(GONE, observe(history, GONE, paused, now=NOW), spec, paused)
    assert (shown.status, shown.pod, shown.attempts[0].ended) == ("Terminated", None, "Ended for a pause")
    assert replica(GONE, [], spec, State("Pending")).status == "Pending"
    assert replica(GONE, [], spec, paused).status == "Paused"
    assert replica(GONE, [], None, State("Succeeded")).status == "Unknown"
    assert replica(ReplicaView("worker", 0, said="Failed"), [], None, State("Running")).status == "Error"
