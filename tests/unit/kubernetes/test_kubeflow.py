"""PyTorchJobs as training operator 1.9.3 kept them on a real cluster, moment by moment; and some written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import parse
from jupyterlab_t9kjob.core.manifests.names import REMINDED, STOPPED
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import State
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.attempts import AttemptRecord, observe
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.pod import is_running
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.replicas import replica

KIND = Kubeflow()
TEMPLATE = {"spec": {"containers": [{"name": "pytorch", "image": "torch:1", "command": ["python", "train.py"]}]}}
AT = "2026-11-21T10:00:00Z"


def recorded(name: str) -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "data" / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def job(conditions: dict[str, bool], *, suspend: bool = False, workers: int = 1, **spec: Any) -> dict[str, Any]:
    roles = {"Worker": {"replicas": workers, "template": TEMPLATE}, "Master": {"replicas": 1, "template": TEMPLATE}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "mnist", "uid": "job-uid"},
        "spec": {"pytorchReplicaSpecs": roles, "runPolicy": {"suspend": suspend}, **spec},
        "status": {
            "startTime": AT,
            "conditions": [
                {"type": kind, "status": str(status), "reason": f"PyTorchJob{kind}", "lastTransitionTime": AT}
                for kind, status in conditions.items()
            ],
        },
    }  # fmt: skip


def pod(kind: str, index: int, phase: str = "Running", name: str = "pytorch") -> dict[str, Any]:
    state = {"running": {"startedAt": AT}} if phase == "Running" else {"waiting": {"reason": "ContainerCreating"}}
    return {
        "metadata": {
            "name": f"mnist-{kind}-{index}",
            "uid": f"{kind}-{index}",
            "labels": {"training.kubeflow.org/replica-type": kind, "training.kubeflow.org/replica-index": str(index)},
        },
        "spec": {"containers": [{"name": name}]},
        "status": {"phase": phase, "containerStatuses": [{"name": name, "state": state, "restartCount": 0}]},
    }


# -- as it was on a cluster --------------------------------------------------------------------------------------------


def test_a_job_that_was_paused_and_resumed() -> None:
    moments = recorded("pytorchjob-paused")
    states: list[State] = []
    for moment in moments:
        before = states[-1].phase if states else None
        states.append(KIND.state(moment["job"], moment["pods"], before=before))
    phases = [state.phase for state in states]
    assert [one for one, last in zip(phases, [None, *phases], strict=False) if one != last] == [
        "Pending", "Running", "Paused", "Resuming", "Running", "Succeeded",
    ]  # fmt: skip
    for moment, state in zip(moments, states, strict=True):
        places = KIND.replicas(moment["job"], moment["pods"])
        assert [place.name for place in places] == ["master-0", "worker-0"]
        # it is only called running when all are, though the operator says so as soon as the master is
        if state.phase in ("Pending", "Resuming"):
            assert not all(map(is_running, places))
    end = states[-1]
    assert end.started_at is not None
    assert end.ended_at is not None
    assert end.started_at <= end.ended_at


def attempts(name: str, spec: JobSpec, **every: int) -> list[list[tuple[int, str | None, int | None]]]:
    """Return the attempts of each replica as they were kept by someone who saw all moments, or every so many."""
    histories: dict[str, list[AttemptRecord]] = {}
    shown = []
    moments = recorded(name)
    step = every.get("every", 1)
    for moment in moments[:-1:step] + moments[-1:]:
        state = KIND.state(moment["job"], moment["pods"])
        shown = []
        for place in KIND.replicas(moment["job"], moment["pods"]):
            kept = histories.get(place.name, [])
            histories[place.name] = observe(kept, place, state, now=4e9)
            assert observe(histories[place.name], place, state, now=5e9) == histories[place.name]
            made = replica(place, histories[place.name], spec, state)
            shown.append([(one.number, one.ended, one.restart) for one in made.attempts])
    return shown


SPEC = parse(job({})).spec


def test_attempts_through_a_pause() -> None:
    assert attempts("pytorchjob-paused", SPEC) == [
        [(1, "Ended for a pause", None), (2, "Completed", None)],
        [(1, "Ended for a pause", None), (2, "Ended with the first replica", None)],
    ]


def test_attempts_of_one_who_looked_away() -> None:
    assert attempts("pytorchjob-paused", SPEC, every=3)[0][-1] == (2, "Completed", None)
    assert attempts("pytorchjob-paused", SPEC, every=100)[0] == [(1, "Completed", None)]


def test_attempts_through_a_restart() -> None:
    assert attempts("pytorchjob-restarted", SPEC) == [
        [(1, "Ended with the job", None)],
        [(1, "Asked to be restarted (138)", None), (2, "Error (1)", 1)],
    ]


# -- conditions in their order -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conditions", "pods", "suspend", "phase"),
    [
        ({}, [], False, "Pending"),
        ({"Created": True}, [], False, "Pending"),
        ({"Created": True, "Running": True}, [pod("master", 0), pod("worker", 0)], False, "Running"),
        ({"Created": True, "Running": True}, [pod("master", 0), pod("worker", 0, "Pending")], False, "Pending"),
        ({"Created": True, "Running": True}, [pod("master", 0)], False, "Pending"),
        ({"Created": True, "Running": True}, [], False, "Running"),  # nobody may list pods
        ({"Created": True, "Restarting": True}, [pod("master", 0)], False, "Running"),
        ({"Created": True, "Suspended": True}, [], True, "Paused"),
        ({"Created": True, "Suspended": True, "Running": False}, [pod("master", 0)], True, "Running"),  # it still ends
        ({"Created": True, "Suspended": True, "Running": False}, [pod("master", 0, "Pending")], True, "Paused"),
        ({"Created": True, "Running": True}, [pod("master", 0), pod("worker", 0)], True, "Running"),
        ({"Created": True, "Suspended": False}, [], False, "Pending"),  # created paused: its first start
        ({"Created": True, "Suspended": False, "Running": False}, [], False, "Resuming"),
        ({"Created": True, "Suspended": False, "Running": True}, [pod("master", 0)], False, "Resuming"),
        ({"Suspended": False, "Running": True}, [pod("master", 0), pod("worker", 0)], False, "Running"),
        ({"Created": True, "Running": False, "Succeeded": True}, [], False, "Succeeded"),
        ({"Created": True, "Failed": True, "Succeeded": True}, [], False, "Failed"),
        ({"Created": True, "Failed": True, "Suspended": True}, [], True, "Failed"),
    ],
)
def test_the_phase(conditions: dict[str, bool], pods: list[Any], suspend: bool, phase: str) -> None:
    assert KIND.state(job(conditions, suspend=suspend), pods).phase == phase


def test_a_job_that_runs_still_does_while_a_worker_starts_again() -> None:
    manifest, pods = job({"Running": True}), [pod("master", 0), pod("worker", 0, "Pending")]
    assert KIND.state(manifest, pods, before="Running").phase == "Running"
    assert KIND.state(manifest, pods, before="Resuming").phase != "Running"


def test_an_elastic_job_runs_with_the_least_that_it_needs() -> None:
    manifest = job({"Running": True}, workers=4, elasticPolicy={"minReplicas": 2, "maxReplicas": 4})
    del manifest["spec"]["pytorchReplicaSpecs"]["Master"]
    pods = [pod("worker", 0), pod("worker", 1, "Pending")]
    assert KIND.state(manifest, pods).phase == "Pending"
    assert KIND.state(manifest, [*pods, pod("worker", 3)]).phase == "Running"
    assert [place.name for place in KIND.replicas(manifest, [*pods, pod("worker", 6)])][-2:] == ["worker-3", "worker-6"]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Job mnist has failed because it has reached the specified backoff limit", "BackoffLimitExceeded"),
        ("Job mnist has failed because it was active longer than specified deadline", "DeadlineExceeded"),
        ("PyTorchJob mnist is failed because 1 Worker replica(s) failed.", "PyTorchJobFailed"),
    ],
)
def test_failures_are_told_apart_by_the_operators_words(message: str, cause: str) -> None:
    manifest = job({"Failed": True})
    manifest["status"]["conditions"][0]["message"] = message
    state = KIND.state(manifest, [])
    # a failure may lack its completionTime
    assert (state.cause, state.message, state.ended_at) == (cause, message, seconds(AT))


def test_a_stopped_job_has_ended_as_long_as_it_is_suspended() -> None:
    manifest = job({"Suspended": True}, suspend=True)
    manifest["metadata"]["annotations"] = {STOPPED: "now"}
    state = KIND.state(manifest, [])
    assert (state.phase, state.cause, state.paused, state.ended_at) == ("Failed", "Stopped", True, seconds(AT))
    assert KIND.pause(manifest, on=True) == {"spec": {"runPolicy": {"suspend": True}}}
    patch = KIND.pause(manifest, on=False)
    assert patch["spec"] == {"runPolicy": {"suspend": False}}
    assert patch["metadata"]["annotations"][STOPPED] is None


def test_a_deadline_is_to_be_reminded_of_while_the_job_is_active() -> None:
    start = seconds(AT) or 0.0
    policy = {"activeDeadlineSeconds": 60}
    assert start + 60 < (KIND.remind_at(job({"Running": True}, runPolicy=policy)) or 0) < start + 70
    assert KIND.remind_at(job({"Failed": True}, runPolicy=policy)) is None
    assert KIND.remind_at(job({"Running": True}, runPolicy={**policy, "suspend": True})) is None
    assert KIND.remind_at(job({"Running": True})) is None
    reminded = job({"Running": True}, runPolicy=policy)
    reminded["metadata"]["annotations"] = {REMINDED: "2026-11-21T10:01:01Z"}
    assert KIND.remind_at(reminded) is None
    reminded["metadata"]["annotations"] = {REMINDED: "2026-11-21T09:00:00Z"}  # before it was resumed
    assert KIND.remind_at(reminded) is not None


# -- replicas ----------------------------------------------------------------------------------------------------------


def test_master_and_workers_have_the_clusters_names_and_the_specs_description() -> None:
    manifest = job({}, workers=2)
    places = KIND.replicas(manifest, [pod("worker", 1), pod("master", 0)])
    assert [(one.name, one.pod_name) for one in places] == [
        ("master-0", "mnist-master-0"),
        ("worker-0", None),
        ("worker-1", "mnist-worker-1"),
    ]
    alike = parse(manifest).spec
    assert [group.type for group in alike.replica_specs] == ["worker"]
    assert [place.group(alike) for place in places] == [0, 0, 0]
    other = {"spec": {"containers": [{"name": "pytorch", "image": "torch:1", "command": ["python", "serve.py"]}]}}
    manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["template"] = other
    different = parse(manifest).spec
    assert [group.type for group in different.replica_specs] == ["master", "worker"]
    assert [place.group(different) for place in KIND.replicas(manifest, [])] == [0, 1, 1]
    assert places[0].replica_spec(different).type == "master"
