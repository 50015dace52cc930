"""JobSets as the controller of JobSet 0.10 keeps them, and to which of several kinds a pod or an event belongs."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.client.api import Json
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.cluster.named_jobs import NamedJobs
from jupyterlab_t9kjob.engines.kubernetes.cluster.permissions import job_permissions
from jupyterlab_t9kjob.engines.kubernetes.objects.field_paths import field_of
from jupyterlab_t9kjob.engines.kubernetes.objects.jobset.jobset import JobSet
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import SharedKind, selector_of
from jupyterlab_t9kjob.engines.kubernetes.submit.companions import companions_of
from jupyterlab_t9kjob.engines.kubernetes.submit.replica_groups import SubmittedJob, groups_of

KIND = JobSet()
AT, LATER = "2026-11-27T10:00:00Z", "2026-11-27T10:05:00Z"


def job(
    *conditions: str, replicas: int = 2, policy: str = "OnFailure", deadline: int | None = None, **more: Any
) -> Json:
    """Return a JobSet with these conditions: “Failed FailedJobs”, “-Suspended” for one that no longer holds."""
    spec = JobSpec.model_validate({
        "name": "mnist",
        "entrypoint": {"value": "/w/train.py"},
        "runtime": {"image": "torch:2"},
        "replica_specs": [{"replicas": replicas, "restart_policy": policy}],
        "run_policy": {"backoff_limit": 1, "active_deadline_seconds": deadline},
    })  # fmt: skip
    manifest = render(spec, "jobset")
    manifest["metadata"] |= {"uid": "job-uid", "namespace": "demo", **more.pop("metadata", {})}
    manifest["spec"] |= more.pop("spec", {})
    found = []
    for each in conditions:
        kind, _, reason = each.removeprefix("-").partition(" ")
        status = "False" if each.startswith("-") else "True"
        found.append(
            {"type": kind, "status": status, "reason": reason or kind, "message": "m", "lastTransitionTime": LATER}
        )
    return {**manifest, "status": {"conditions": found, **more}}


def pod(index: int, phase: str = "Running", *, at: int = 0, of: str = "worker", created: str = AT) -> Json:
    state = {"running": {"startedAt": AT}} if phase == "Running" else {"waiting": {"reason": "ContainerCreating"}}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": f"mnist-{of}-{at}", "uid": "j", "controller": True}
    return {
        "metadata": {
            "name": f"mnist-{of}-{at}-{index}-{created[-3:-1]}abc",
            "uid": f"{at}-{index}-{created}",
            "creationTimestamp": created,
            "labels": {
                "jobset.sigs.k8s.io/jobset-name": "mnist",
                "jobset.sigs.k8s.io/replicatedjob-name": of,
                "jobset.sigs.k8s.io/job-index": str(at),
                "batch.kubernetes.io/job-completion-index": str(index),
            },
            "ownerReferences": [owner],
        },
        "spec": {"containers": [{"name": "pytorch"}]},
        "status": {"phase": phase, "containerStatuses": [{"name": "pytorch", "state": state}]},
    }


RUN = [pod(0), pod(1)]
SUSPENDED: dict[str, Any] = {"spec": {"suspend": True}}
RAN = {"annotations": {"jupyterlab-t9kjob/ran": "true"}}
READY: dict[str, Any] = {"replicatedJobsStatus": [{"name": "worker", "ready": 1}]}


@pytest.mark.parametrize(
    ("manifest", "pods", "before", "phase"),
    [
        (job(), [], None, "Pending"),
        (job(), [pod(0), pod(1, "Pending")], None, "Pending"),
        (job(), RUN, "Pending", "Running"),
        (job(), [pod(0)], "Running", "Running"),  # Its Job is about to fail.
        (job(restarts=1), [], "Running", "Resuming"),  # All pods are created again.
        (job(restarts=1), [pod(0), pod(1, "Pending")], "Resuming", "Resuming"),
        (job(restarts=1), RUN, "Resuming", "Running"),
        (job(**READY), [], None, "Running"),  # This account sees no pods.
        (job(**SUSPENDED), [], None, "Pending"),  # The controller has not noticed it yet.
        (job("Suspended", **SUSPENDED), [], "Running", "Paused"),
        (job("Suspended", **SUSPENDED), RUN, "Running", "Running"),  # Its pods are ending.
        (job("Suspended"), [], "Paused", "Paused"),  # Resumed; the controller has not noticed it yet.
        (job("-Suspended"), [], "Paused", "Pending"),  # It was submitted paused.
        (job("-Suspended", metadata=RAN), [pod(0), pod(1, "Pending")], "Paused", "Resuming"),
        (job("Failed ReachedMaxRestarts"), RUN, "Running", "Failed"),
        (job("Completed AllJobsCompleted"), RUN, "Running", "Succeeded"),
    ],
)  # fmt: skip
def test_phases(manifest: Json, pods: list[Json], before: Any, phase: str) -> None:
    assert KIND.state(manifest, pods, before=before).phase == phase


@pytest.mark.parametrize(
    ("manifest", "cause"),
    [
        (job("Failed ReachedMaxRestarts"), "BackoffLimitExceeded"),
        (job("Failed ReachedMaxRestarts", policy="Never"), "FailedJobs"),
        (job("Failed FailJobSetFailurePolicyAction", policy="ExitCode"), "FailedJobs"),
        (job("Failed FailJobSetFailurePolicyAction", deadline=60), "DeadlineExceeded"),
        (job("Failed FailedJobs"), "FailedJobs"),
    ],
)
def test_why_and_when_it_failed(manifest: Json, cause: str) -> None:
    state = KIND.state(manifest, RUN)
    assert (state.cause, state.message, state.ended_at) == (cause, "m", seconds(LATER))


def test_a_stop_is_a_pause_with_a_mark() -> None:
    stopped = {"annotations": {"jupyterlab-t9kjob/stopped": "now"}}
    state = KIND.state(job("Suspended SuspendedJobs", metadata=stopped, **SUSPENDED), [])
    assert (state.phase, state.cause, state.paused, state.ended_at) == ("Failed", "Stopped", True, seconds(LATER))


def test_a_restart_of_all_replicas_is_one() -> None:
    state = KIND.state(job(restarts=1, restartsCountTowardsMax=1), RUN)
    assert (state.restarts, state.used_up, KIND.together) == (1, True, True)
    assert not KIND.state(job(restarts=1, restartsCountTowardsMax=0), RUN).used_up


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "ExitCode"])
def test_the_newest_pod_of_each_index_is_its_replica(policy: str) -> None:
    replicas = KIND.replicas(job(policy=policy), [pod(1), pod(1, "Pending", created=LATER), pod(7)])
    assert [(one.name, one.pod_uid, one.policy) for one in replicas] == [
        ("worker-0", None, policy),
        ("worker-1", f"0-1-{LATER}", policy),
    ]


def test_several_jobs_of_several_templates() -> None:
    manifest = job()
    (worker,) = manifest["spec"]["replicatedJobs"]
    manifest["spec"]["replicatedJobs"] = [{"name": "Leader", "template": {}}, {**worker, "replicas": 2}]
    replicas = KIND.replicas(manifest, [pod(1, at=1), pod(0, of="Leader")])
    assert [(one.name, one.role, one.pod_uid) for one in replicas] == [
        ("leader-0", 0, f"0-0-{AT}"),
        *((f"worker-{index}", 1, None) for index in range(3)),
        ("worker-3", 1, f"1-1-{AT}"),
    ]
    manifest["spec"]["replicatedJobs"][0] = {**worker, "name": "leader"}
    assert [group.replicas for group in groups_of(manifest)] == [6]  # All ask for the same.


def test_a_job_that_ran_remembers_it_over_a_pause() -> None:
    assert KIND.pause(job(), on=True) == SUSPENDED
    assert KIND.pause(job(**READY), on=True) == {**SUSPENDED, "metadata": RAN}
    gone = dict.fromkeys(("jupyterlab-t9kjob/stopped", "jupyterlab-t9kjob/paused"))
    assert KIND.pause(job(), on=False) == {"spec": {"suspend": False}, "metadata": {"annotations": gone}}


def test_only_jobsets_with_the_label_are_listed_and_need_no_service_of_ours() -> None:
    assert selector_of(KIND) == "jupyterlab-t9kjob/engine=jobset"
    assert isinstance(KIND, SharedKind)
    assert companions_of(KIND, job()) == [] and "create_services" not in job_permissions(KIND)


def test_fields_of_the_manifest_are_found_in_the_form() -> None:
    manifest = job(replicas=3)
    (group,) = groups_of(manifest)
    assert group.replicas == 3
    at = "/manifest/spec/replicatedJobs/0/template/spec"
    for edited, completions, resources in (
        (True, f"{at}/completions", f"{at}/template/spec/containers/0/resources"),
        (False, "/spec/replica_specs/0/replicas", "/spec/replica_specs/0/resources"),
    ):
        submitted = SubmittedJob(manifest, [group], edited)
        assert submitted.replicas_field(group) == completions
        assert submitted.resource_field(group, "nvidia.com/gpu") == resources
    for pointer, field in (
        ("failurePolicy/maxRestarts", "/spec/run_policy/backoff_limit"),
        ("replicatedJobs/0/name", "/spec/name"),
        ("replicatedJobs/0/template/spec/activeDeadlineSeconds", "/spec/run_policy/active_deadline_seconds"),
        ("replicatedJobs/0/template/spec/template/spec/nodeSelector/a", "/spec/scheduling/node_selector"),
        ("replicatedJobs/1/template/spec/template/spec/nodeSelector/a", None),
    ):
        assert field_of(f"/manifest/spec/{pointer}", manifest) == field


# -- TrainJobs have JobSets too ----------------------------------------------------------------------------------------


def test_an_event_names_its_job() -> None:
    for kind, name, found in (
        ("Job", "mnist-worker-0", "mnist"),
        ("Job", "mnist-node-0", None),
        ("JobSet", "mnist", None),  # the job itself
        ("Pod", "mnist-worker-0-0-abcde", None),
    ):
        assert KIND.job_named_in({"involvedObject": {"kind": kind, "name": name}}) == found


def test_a_pod_waits_for_jobs_of_two_kinds() -> None:
    jobs, made = NamedJobs(), {"name": "mnist", "creationTimestamp": AT}
    for engine in ("trainer", "jobset"):
        assert jobs.owner_of(engine, "mnist", pod(0)) is None
    assert jobs.add("jobset", {"metadata": {**made, "uid": "a"}}) == [f"0-0-{AT}"]
    assert jobs.owner_of("jobset", "mnist", pod(0)) == "a"
    assert jobs.add("trainer", {"metadata": {**made, "uid": "b"}}) == [f"0-0-{AT}"]
    jobs.owner_of("other", "mnist", pod(0))
    jobs.drop(f"0-0-{AT}")
    assert jobs.add("other", {"metadata": {**made, "uid": "c"}}) == []
