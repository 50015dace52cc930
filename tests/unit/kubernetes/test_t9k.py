"""PyTorchTrainingJobs with the statuses that T9k's documents show (t9k-facts.md, Pods, Status, States)."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Unavailable
from jupyterlab_t9kjob.core.manifests import OLDER, parse
from jupyterlab_t9kjob.core.manifests.names import PAUSED, STOPPED
from jupyterlab_t9kjob.core.manifests.text.merge_patch import apply
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k

KIND = T9k()
TEMPLATE = {"spec": {"containers": [{"name": "pytorch", "image": "torch:1", "args": ["train.py"]}]}}
CREATED, STARTED, ENDED = "2026-11-21T10:00:00Z", "2026-11-21T10:05:00Z", "2026-11-21T11:00:00Z"


def job(*groups: tuple[str, int], status: Any = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "PyTorchTrainingJob",
        "metadata": {"name": "mnist", "namespace": "demo", "uid": "job-uid", "creationTimestamp": CREATED},
        "spec": {
            "replicaSpecs": [
                {"type": kind, "replicas": count, "template": TEMPLATE} for kind, count in groups or [("worker", 2)]
            ],
            **spec,
        },
        **({} if status is None else {"status": status}),
    }


def pod(name: str, uid: str, *, kind: str = "worker", index: int | None = None, **status: Any) -> dict[str, Any]:
    labels = {"tensorstack.dev/owner-name": "mnist"}
    if index is not None:
        labels |= {"replica-type": kind, "replica-index": str(index)}
    owner = {"apiVersion": "batch.tensorstack.dev/v1beta1", "kind": "PyTorchTrainingJob", "uid": "job-uid"}
    metadata = {"name": name, "uid": uid, "labels": labels, "ownerReferences": [owner], "creationTimestamp": CREATED}
    return {"metadata": metadata, "spec": TEMPLATE["spec"], "status": status}


def condition(kind: str, status: bool, reason: str = "-", message: str = "", at: str = STARTED) -> dict[str, Any]:
    return {"type": kind, "status": str(status), "reason": reason, "message": message, "lastTransitionTime": at}


RUNNING = [
    condition("Initialized", True, "-", "The job has been initialized successfully.", CREATED),
    condition("Running", True, "-", "All pods are running normally or have completed successfully."),
    condition("Completed", False, "NotFinished", "The job is still running."),
    condition("ReplicaFailure", False, "-", "All pods are running normally."),
]
FAILED = [
    condition("Initialized", True, "-", "The job has been initialized successfully.", CREATED),
    condition("Running", False, "Failed", "The job has failed: mnist-7a8f5-worker-0 failed with exit code 137", ENDED),
    condition("Completed", True, "Failed", "The job has failed: mnist-7a8f5-worker-0 failed with exit code 137", ENDED),
    condition("Failed", True, "Failed", "The job has failed: mnist-7a8f5-worker-0 failed with exit code 137", ENDED),
    condition("ReplicaFailure", True, "ErrorInPod", "Pod[mnist-7a8f5-worker-0] exited with error code 137", ENDED),
]


# -- state -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "phase"),
    [
        (None, "Pending"),
        ({}, "Pending"),
        ({"phase": ""}, "Pending"),
        *(({"phase": phase}, phase) for phase in ("Pending", "Running", "Paused", "Resuming", "Succeeded", "Failed")),
        ({"phase": "Unknown"}, "Unknown"),
        ({"phase": "Done"}, "Unknown"),
        # what Completed says differs from kind to kind
        ({"phase": "Failed", "conditions": FAILED}, "Failed"),
        ({"phase": "Running", "conditions": [condition("Completed", True)]}, "Running"),
    ],
)
def test_the_phase_is_the_objects_own(status: Any, phase: str) -> None:
    assert KIND.state(job(status=status), []).phase == phase


def test_a_dash_is_no_reason() -> None:
    state = KIND.state(job(status={"phase": "Running", "conditions": RUNNING}), [])
    assert state.cause is None
    assert state.message == "All pods are running normally or have completed successfully."
    assert state.started_at == seconds(STARTED)


def test_a_failed_job_says_why_and_when() -> None:
    state = KIND.state(job(status={"phase": "Failed", "conditions": FAILED}), [])
    assert state.cause == "Failed"
    assert state.message == "The job has failed: mnist-7a8f5-worker-0 failed with exit code 137"
    # Running's own time has been overwritten at the end, so the start is when it was ready to
    assert (state.started_at, state.ended_at) == (seconds(CREATED), seconds(ENDED))


def test_the_master_knows_best_when_it_started() -> None:
    began = "2026-11-21T10:04:58Z"
    master = pod("mnist-7a8f5-worker-0", "p0", index=0, phase="Succeeded")
    terminated = {"exitCode": 0, "startedAt": began, "finishedAt": ENDED}
    master["status"]["containerStatuses"] = [{"name": "pytorch", "state": {"terminated": terminated}}]
    for conditions in (FAILED, []):
        state = KIND.state(job(status={"phase": "Succeeded", "conditions": conditions}), [master])
        assert (state.started_at, state.ended_at) == (seconds(began), seconds(ENDED))


@pytest.mark.parametrize(
    ("policy", "counts", "cause"),
    [
        ({"activeDeadlineSeconds": 3600}, {}, "DeadlineExceeded"),
        ({"activeDeadlineSeconds": 3601}, {}, "Failed"),
        ({"backoffLimit": 2}, {"backoffCount": 2}, "BackoffLimitExceeded"),
        ({}, {"backoffCount": 3}, "BackoffLimitExceeded"),
        ({"backoffLimit": 4}, {"backoffCount": 3}, "Failed"),
        ({"backoffLimit": 0}, {"backoffCount": 0}, "Failed"),
        ({}, {"tasks": [{"restartCount": 2}, {"restartCount": 1}]}, "BackoffLimitExceeded"),
    ],
)  # fmt: skip
def test_ends_that_the_object_does_not_name(policy: Any, counts: Any, cause: str) -> None:
    status = {"phase": "Failed", "conditions": FAILED, **counts}
    assert KIND.state(job(status=status, runPolicy=policy), []).cause == cause


def test_a_pause_is_reached_when_nothing_runs_any_more() -> None:
    manifest = job(("worker", 1), status={"phase": "Paused"}, runMode={"pause": {"enabled": True}})
    statuses = [{"name": "pytorch", "state": {"running": {}}}]
    ready = [{"type": "Ready", "status": "True"}]
    ending = pod("a", "p0", index=0, phase="Running", containerStatuses=statuses, conditions=ready)
    assert KIND.state(manifest, [ending]).phase == "Running"
    ending["metadata"]["deletionTimestamp"] = ENDED
    assert KIND.state(manifest, [ending], before="Resuming").phase == "Resuming"
    ready[0]["status"] = "False"  # its node is lost
    assert KIND.state(manifest, [ending]).phase == "Paused"
    assert KIND.state(manifest, []).phase == "Paused"


def test_a_stopped_job_has_ended_as_long_as_it_is_paused() -> None:
    paused = {"phase": "Paused", "conditions": [condition("Paused", True, "Paused", "", ENDED)]}
    stopped = job(status=paused, runMode={"pause": {"enabled": True}})
    assert (KIND.state(stopped, []).phase, KIND.state(stopped, []).paused) == ("Paused", True)
    stopped["metadata"]["annotations"] = {STOPPED: "2026-11-21T11:00:00Z alice"}
    state = KIND.state(stopped, [])
    assert (state.phase, state.cause, state.paused, state.ended_at) == ("Failed", "Stopped", True, seconds(ENDED))
    assert KIND.state({**stopped, "status": {"phase": "Running"}}, []).phase == "Running"  # it has not ended yet
    assert KIND.state({**stopped, "status": {"phase": "Succeeded"}}, []).cause != "Stopped"  # it was faster
    resumed = apply(stopped, KIND.pause(stopped, on=False))
    assert STOPPED not in resumed["metadata"]["annotations"]
    assert (KIND.state(resumed, []).phase, KIND.state(resumed, []).paused) == ("Paused", False)


# -- replicas ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["replicas", "status", "replicaStatus"])
def test_replicas_are_those_that_the_status_names(field: str) -> None:
    entries = [
        {"name": "mnist-7a8f5-worker-0", "uid": "p0", "phase": "Failed",
         "containers": [{"name": "istio", "exitCode": 0}, {"name": "pytorch", "state": "Terminated", "exitCode": 137}]},
        {"name": "mnist-7a8f5-worker-1", "uid": "p1", "phase": "Running", "containers": []},
    ]  # fmt: skip
    manifest = job(status={"phase": "Running", "tasks": [{"type": "worker", field: entries}]})
    assert KIND.pod_uids(manifest) == {"p0", "p1"}
    # no label tells which it is, and it need not have an owner
    seen = {"metadata": {"name": "mnist-7a8f5-worker-1", "uid": "p1"}}
    first, second = KIND.replicas(manifest, [seen])
    assert (first.name, first.pod, first.pod_name, first.said, first.exit_code) == (
        "worker-0",
        None,
        "mnist-7a8f5-worker-0",
        "Failed",
        137,
    )
    assert (second.name, second.pod, second.said, second.container) == ("worker-1", seen, "Running", "pytorch")


def test_replicas_without_a_status_are_found_by_their_labels() -> None:
    pods = [pod("x-9", "p1", index=1), pod("x-3", "p0", index=0), pod("ps-0", "p2", kind="ps", index=0)]
    places = KIND.replicas(job(("worker", 2), ("ps", 1)), pods)
    assert [(place.name, place.pod_uid, place.role) for place in places] == [
        ("worker-0", "p0", 0),
        ("worker-1", "p1", 0),
        ("ps-0", "p2", 1),
    ]


def test_a_replica_that_was_made_again_is_its_newest_pod() -> None:
    again = pod("mnist-7a8f5-worker-0", "p9", index=0)
    again["metadata"]["creationTimestamp"] = ENDED
    entries = [{"name": "mnist-7a8f5-worker-0", "uid": "p0", "phase": "Failed"}]
    manifest = job(("worker", 1), status={"tasks": [{"type": "worker", "replicas": entries}]})
    (place,) = KIND.replicas(manifest, [again, pod("mnist-7a8f5-worker-0", "p0", index=0)])
    assert (place.pod_uid, place.said) == ("p9", None)  # what the status says is of the other


def test_entries_are_told_apart_by_the_labels_of_their_pods() -> None:
    entries = [{"name": name, "uid": uid} for name, uid in (("b", "p1"), ("a", "p0"), ("c", "p2"))]
    manifest = job(("worker", 3), status={"tasks": [{"type": "worker", "replicas": entries}]})
    places = KIND.replicas(manifest, [pod("b", "p1", index=1), pod("a", "p0", index=0)])
    assert [place.pod_name for place in places] == ["a", "b", "c"]


def test_an_elastic_job_has_the_replicas_that_are_there() -> None:
    entries = [{"name": f"w-{n}", "uid": f"p{n}", "phase": "Deleted" if n == 3 else "Running"} for n in range(4)]
    manifest = job(("worker", 2), status={"tasks": [{"type": "worker", "replicas": entries}]})
    manifest["spec"]["elastic"] = {"enabled": True, "minReplicas": 1, "maxReplicas": 4}
    assert [place.name for place in KIND.replicas(manifest, [])] == ["worker-0", "worker-1", "worker-2"]


def test_types_have_the_names_of_the_spec() -> None:
    manifest = job(("Worker", 1), ("../../etc", 1))
    places = KIND.replicas(manifest, [pod("x", "p0", kind="worker", index=0)])
    spec = parse(manifest).spec
    assert [place.type for place in places] == [group.type for group in spec.replica_specs]
    assert [place.group(spec) for place in places] == [0, 1]
    assert places[0].pod_uid == "p0"


@pytest.mark.parametrize("count", [10**12, -1, "many", None])
def test_no_number_of_replicas_is_too_much(count: Any) -> None:
    assert len(KIND.replicas(job(("worker", count)), [])) in (0, 1, 10_000)


def test_only_a_job_of_this_kind_owns_a_pod() -> None:
    mine, other = pod("a", "p0"), pod("b", "p1")
    other["metadata"]["ownerReferences"][0]["kind"] = "DeepSpeedJob"
    assert (KIND.owner_of(mine), KIND.owner_of(other), KIND.owner_of({})) == ("job-uid", None, None)


def test_the_training_container_is_named_python_or_the_first() -> None:
    manifest = job(("worker", 1))
    containers = [{"name": "first"}, {"name": "python"}]
    manifest["spec"]["replicaSpecs"][0]["template"] = {"spec": {"containers": containers}}
    assert KIND.replicas(manifest, [])[0].container == "python"
    containers.pop()
    assert KIND.replicas(manifest, [])[0].container == "first"


# -- what is done to it ------------------------------------------------------------------------------------------------


def test_a_pause_leaves_what_it_is_resumed_with() -> None:
    resume = [{"type": "worker", "args": ["train.py", "--resume"]}]
    manifest = job(runMode={"pause": {"enabled": False, "resumeSpecs": resume}})
    manifest["metadata"]["annotations"] = {"mine": "kept", PAUSED: "2026-11-21T11:00:00Z", STOPPED: "now"}
    paused = apply(manifest, KIND.pause(manifest, on=True))
    assert paused["spec"]["runMode"] == {"pause": {"enabled": True, "resumeSpecs": resume}}
    again = apply(paused, KIND.pause(paused, on=False))
    assert again["spec"]["runMode"] == manifest["spec"]["runMode"]
    assert again["metadata"]["annotations"] == {"mine": "kept"}


def test_the_older_dialect_has_no_pause() -> None:
    with pytest.raises(Unavailable, match="can't pause"):
        T9k(OLDER).pause(job(), on=True)


def test_the_platforms_tensorboard() -> None:
    def url(**dependent: Any) -> str | None:
        return KIND.tensorboard_url(job(status={"tensorboard": {"ready": True, "dependent": dependent}}))

    assert url(kind="TensorBoard", name="mnist-5b373") == "/t9k/tensorboards/projects/demo/name/mnist-5b373/"
    assert url(name="../../../hub/logout") is None
    assert url(name="x", namespace="a/b") is None
    assert KIND.tensorboard_url(job()) is None
