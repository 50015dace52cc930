"""TrainJobs as Kubeflow Trainer and JobSet keep them, their pods, and to which job a pod belongs."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests.names import STOPPED
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.cluster.named_jobs import NamedJobs
from jupyterlab_t9kjob.engines.kubernetes.objects.trainjob import TrainJob

KIND = TrainJob()
AT = "2026-11-21T10:00:00Z"
OWNER = {"apiVersion": "batch/v1", "kind": "Job", "name": "mnist-node-0", "uid": "u", "controller": True}
LATER = "2026-11-21T10:05:00Z"


def job(
    conditions: dict[str, str] | None = None, *, suspend: bool = False, nodes: int | None = 2, ready: int = 0
) -> dict[str, Any]:
    """Return a TrainJob with the reasons of its conditions; a minus sign before a reason: the condition is false."""
    found = [
        {
            "type": kind,
            "status": "False" if reason.startswith("-") else "True",
            "reason": reason.lstrip("-"),
            "message": f"it is {kind}",
            "lastTransitionTime": LATER,
        }
        for kind, reason in (conditions or {}).items()
    ]
    return {
        "metadata": {"name": "mnist", "uid": "job-uid", "creationTimestamp": AT},
        "spec": {"suspend": suspend, "trainer": {} if nodes is None else {"numNodes": nodes}},
        "status": {"conditions": found, "jobsStatus": [{"name": "node", "ready": ready, "active": 1}]},
    }


def pod(index: int, phase: str = "Running", *, of: str = "node", created: str = AT, **changes: Any) -> dict[str, Any]:
    state = {"running": {"startedAt": AT}} if phase == "Running" else {"waiting": {"reason": "ContainerCreating"}}
    if phase in ("Succeeded", "Failed"):
        state = {"terminated": {"exitCode": int(phase == "Failed"), "startedAt": AT, "finishedAt": LATER}}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"mnist-{of}-0", "uid": f"{of}-uid", "controller": True}
    labels = {
        "jobset.sigs.k8s.io/jobset-name": "mnist",
        "jobset.sigs.k8s.io/replicatedjob-name": of,
        "batch.kubernetes.io/job-completion-index": str(index),
    }
    return {
        "metadata": {
            "name": f"mnist-{of}-0-{index}-abcde",
            "uid": f"{of}-{index}",
            "creationTimestamp": created,
            "labels": labels,
            "ownerReferences": [owner],
            **changes,
        },
        "spec": {"restartPolicy": "OnFailure", "containers": [{"name": of}]},
        "status": {"phase": phase, "containerStatuses": [{"name": of, "state": state, "restartCount": 1}]},
    }


@pytest.mark.parametrize(
    ("manifest", "pods", "before", "phase"),
    [
        (job(), [], None, "Pending"),
        (job(), [pod(0), pod(1, "Pending")], None, "Pending"),
        (job(), [pod(0), pod(1)], "Pending", "Running"),
        (job(), [pod(0), pod(1, "Pending")], "Running", "Running"),  # one of its pods was replaced
        (job(), [pod(0, "Succeeded"), pod(1)], "Running", "Running"),
        (job(ready=1), [], None, "Running"),  # the account may not see pods
        (job(suspend=True, ready=1), [], None, "Pending"),
        (job({"Suspended": "Suspended"}, suspend=True), [], "Running", "Paused"),
        (job({"Suspended": "Suspended"}, suspend=True), [pod(0)], "Running", "Running"),
        (job({"Suspended": "-Resumed"}), [], "Paused", "Resuming"),
        (job({"Suspended": "-Resumed"}), [pod(0), pod(1)], "Resuming", "Running"),
        (job({"Suspended": "-Resumed", "Complete": "AllJobsCompleted"}), [pod(0, "Succeeded")], "Running", "Succeeded"),
        (job({"Failed": "FailedJobs"}), [pod(0, "Failed")], "Running", "Failed"),
    ],
)  # fmt: skip
def test_phases(manifest: dict[str, Any], pods: list[dict[str, Any]], before: Any, phase: str) -> None:
    assert KIND.state(manifest, pods, before=before).phase == phase


def test_start_end_and_cause() -> None:
    state = KIND.state(job({"Failed": "FailedJobs"}), [pod(0, "Failed"), pod(1, "Failed")])
    assert (state.started_at, state.ended_at) == (seconds(AT), seconds(LATER))
    assert (state.cause, state.message, state.restarts) == ("FailedJobs", "it is Failed", 2)
    assert KIND.state(job(), [pod(0, "Pending"), pod(1)]).started_at is None


def test_a_stop_is_a_pause_with_a_mark() -> None:
    manifest = job({"Suspended": "Suspended"}, suspend=True)
    manifest["metadata"]["annotations"] = {STOPPED: "now"}
    state = KIND.state(manifest, [])
    assert (state.phase, state.cause, state.paused, state.ended_at) == ("Failed", "Stopped", True, seconds(LATER))
    assert KIND.pause(manifest, on=True) == {"spec": {"suspend": True}}
    assert KIND.pause(manifest, on=False)["metadata"]["annotations"][STOPPED] is None


def test_replicas_are_nodes_then_the_pods_of_other_jobs() -> None:
    newer = pod(1, created=LATER, name="mnist-node-0-1-newer", uid="newer")
    found = KIND.replicas(job(), [pod(1, "Failed"), newer, pod(0, of="dataset-initializer"), pod(7)])
    assert [(one.name, one.pod_uid, one.container) for one in found] == [
        ("node-0", None, "node"),
        ("node-1", "newer", "node"),
        ("dataset-initializer-0", "dataset-initializer-0", "dataset-initializer"),
    ]
    assert [one.name for one in KIND.replicas(job(nodes=None), [pod(2)])] == ["node-0", "node-2"]


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "mnist"),
        ({"labels": {}}, None),
        ({"ownerReferences": []}, None),
        ({"ownerReferences": [{**OWNER, "name": "other-node-0"}]}, None),
        ({"ownerReferences": [{**OWNER, "apiVersion": "mine/v1"}]}, None),
        ({"ownerReferences": [{**OWNER, "controller": False}]}, None),
        ({"ownerReferences": "x", "labels": "y"}, None),
    ],
)  # fmt: skip
def test_a_pod_names_its_job(changes: dict[str, Any], name: str | None) -> None:
    assert KIND.job_name_of(pod(0, **changes)) == name


@pytest.mark.parametrize(
    ("kind", "name", "job_name"),
    [
        ("JobSet", "mnist", "mnist"),
        ("Job", "mnist-node-0", "mnist"),
        ("Job", "a-node-0-node-0", "a-node-0"),
        ("Job", "nightly", None),
        ("Pod", "mnist-node-0-0-abcde", None),
        ("TrainJob", "mnist", None),
    ],
)
def test_an_event_names_its_job(kind: str, name: str, job_name: str | None) -> None:
    assert KIND.job_named_in({"involvedObject": {"kind": kind, "name": name}}) == job_name
    assert KIND.job_named_in({"regarding": {"kind": kind, "name": name}}) == job_name


def test_a_name_that_is_used_again() -> None:
    jobs, first = NamedJobs(), job()
    assert jobs.owner_of("trainer", "mnist", pod(0)) is None  # the pod is heard of first
    assert jobs.add("trainer", first) == ["node-0"]
    assert jobs.add("trainer", first) == []
    assert jobs.owner_of("trainer", "mnist", pod(1)) == "job-uid"
    second = {"metadata": {"name": "mnist", "uid": "second", "creationTimestamp": LATER}}
    jobs.add("trainer", second)  # heard of before the end of the first
    assert jobs.owner_of("trainer", "mnist", pod(0)) is None
    assert jobs.owner_of("trainer", "mnist", pod(0, created=LATER)) == "second"
    jobs.forget("job-uid")
    assert jobs.job_of(jobs.of("second")[0]) == "second"
    jobs.forget("second")
    assert jobs.owner_of("trainer", "mnist", pod(0)) is None
    jobs.drop("node-0")
    assert jobs.add("trainer", first) == []


def told(**status: Any) -> dict[str, Any]:
    """Return a TrainJob with a status as the controller of Trainer 2.2 writes it."""
    return {"status": {"trainerStatus": {"lastUpdatedTime": LATER, **status}}}


def test_progress_that_the_training_tells_the_controller() -> None:
    metrics = [
        {"name": "loss", "value": "0.25"},
        {"name": "note", "value": "good"},
        {"name": "nan", "value": "nan"},
        {"value": "1"},
    ]
    seen = KIND.progress(told(progressPercentage=37, estimatedRemainingSeconds=795, metrics=metrics))
    assert seen is not None
    assert (str(seen.text), seen.fraction, seen.eta_seconds) == ("37% of the training", 0.37, 795)
    assert (seen.metrics, seen.updated_at) == ({"loss": 0.25}, seconds(LATER))
    seen = KIND.progress(told(progressPercentage=100, estimatedRemainingSeconds=-1))
    assert seen is not None and (seen.fraction, seen.eta_seconds) == (1.0, None)
    for nothing in (job(), told(), told(progressPercentage=101), told(progressPercentage=1, lastUpdatedTime=None)):
        assert KIND.progress(nothing) is None


@pytest.mark.parametrize("value", [None, 3, "x", [], {"a": 1}])
def test_objects_of_any_shape(value: Any) -> None:
    for manifest in ({"metadata": value, "spec": value, "status": value}, {"spec": {"trainer": value}}):
        KIND.state(manifest, [{"metadata": value, "spec": value, "status": value}])
        KIND.job_name_of({"metadata": value})
        KIND.job_named_in({"involvedObject": value})
        KIND.progress({"status": {"trainerStatus": value}})
    KIND.progress(told(progressPercentage=1, metrics=[value, {"name": value, "value": value}]))
