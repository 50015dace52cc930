"""Indexed Jobs as Kubernetes 1.34 keeps them, and the Service that they need."""

from __future__ import annotations

from typing import Any, cast

import pytest

from jupyterlab_t9kjob.core.checks import Capability
from jupyterlab_t9kjob.core.errors import Conflict, JobError, NotAllowed
from jupyterlab_t9kjob.core.manifests import render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.client.api import Json, KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError
from jupyterlab_t9kjob.engines.kubernetes.cluster.kind_availability import is_watched, why_unusable
from jupyterlab_t9kjob.engines.kubernetes.objects.field_paths import field_of
from jupyterlab_t9kjob.engines.kubernetes.objects.indexed_job import IndexedJob
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import selector_of
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.submit import companions
from jupyterlab_t9kjob.engines.kubernetes.submit.replica_groups import SubmittedJob, groups_of

KIND = IndexedJob()
AT, LATER = "2026-11-27T10:00:00Z", "2026-11-27T10:05:00Z"


def job(*conditions: str, replicas: int = 2, policy: str = "OnFailure", **more: Any) -> Json:
    """Return a Job with these conditions: “Failed BackoffLimitExceeded”, “-Suspended” for one that no longer holds."""
    spec = JobSpec.model_validate({
        "name": "mnist",
        "entrypoint": {"value": "/w/train.py"},
        "runtime": {"image": "torch:2"},
        "replica_specs": [{"replicas": replicas, "restart_policy": policy}],
    })  # fmt: skip
    manifest = render(spec, "job")
    manifest["metadata"] |= {"uid": "job-uid", "namespace": "demo", **more.pop("metadata", {})}
    manifest["spec"] |= more.pop("spec", {})
    found = []
    for each in conditions:
        kind, _, reason = each.removeprefix("-").partition(" ")
        status = "False" if each.startswith("-") else "True"
        found.append(
            {"type": kind, "status": status, "reason": reason or kind, "message": "m", "lastTransitionTime": LATER}
        )
    return {**manifest, "status": {"startTime": AT, "conditions": found, **more}}


def pod(index: int, phase: str = "Running", *, created: str = AT, restarts: int = 0, **labels: str) -> Json:
    state = {"running": {"startedAt": AT}} if phase == "Running" else {"waiting": {"reason": "ContainerCreating"}}
    return {
        "metadata": {
            "name": f"mnist-{index}-{created[-3:-1]}abc",
            "uid": f"{index}-{created}",
            "creationTimestamp": created,
            "labels": {"batch.kubernetes.io/job-completion-index": str(index), **labels},
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "mnist", "uid": "job-uid"}],
        },
        "spec": {"containers": [{"name": "pytorch"}]},
        "status": {
            "phase": phase,
            "containerStatuses": [{"name": "pytorch", "state": state, "restartCount": restarts}],
        },
    }


RUN = [pod(0), pod(1)]
SUSPENDED: dict[str, Any] = {"spec": {"suspend": True}}
RAN = {"annotations": {"jupyterlab-t9kjob/ran": "true"}}


@pytest.mark.parametrize(
    ("manifest", "pods", "before", "phase"),
    [
        (job(), [], None, "Pending"),
        (job(), [pod(0), pod(1, "Pending")], None, "Pending"),
        (job(), RUN, "Pending", "Running"),
        (job(), [pod(0)], "Running", "Running"),  # One of its pods is replaced.
        (job(active=2, ready=2), [], None, "Running"),  # This account sees no pods.
        (job(active=2, ready=1), [], None, "Pending"),
        (job(**SUSPENDED), [], None, "Pending"),  # The controller has not noticed it yet.
        (job("Suspended", **SUSPENDED), [], "Running", "Paused"),
        (job("Suspended", **SUSPENDED), RUN, "Running", "Running"),  # Its pods are ending.
        (job("Suspended"), [], "Paused", "Paused"),  # Resumed; the controller has not noticed it yet.
        (job("-Suspended"), [], "Paused", "Pending"),  # It was submitted paused.
        (job("-Suspended", metadata=RAN), [pod(0), pod(1, "Pending")], "Paused", "Resuming"),
        (job("-Suspended", metadata=RAN), RUN, "Resuming", "Running"),
        (job("FailureTarget PodFailurePolicy"), RUN, "Running", "Failed"),
        (job("FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded"), [], "Running", "Failed"),
        (job("SuccessCriteriaMet SuccessPolicy"), RUN, "Running", "Succeeded"),
        (job("SuccessCriteriaMet SuccessPolicy", "Complete SuccessPolicy"), [], "Running", "Succeeded"),
    ],
)  # fmt: skip
def test_phases(manifest: Json, pods: list[Json], before: Any, phase: str) -> None:
    assert KIND.state(manifest, pods, before=before).phase == phase


def test_why_and_when_it_ended() -> None:
    for reason in ("DeadlineExceeded", "BackoffLimitExceeded", "PodFailurePolicy"):
        state = KIND.state(job(f"FailureTarget {reason}"), RUN)
        assert (state.cause, state.message, state.ended_at) == (reason, "m", 1795773900.0)
    assert KIND.state(job("Failed BackoffLimitExceeded", policy="Never"), []).cause == "ReplicaFailed"
    stopped = {"annotations": {"jupyterlab-t9kjob/stopped": "now"}}
    state = KIND.state(job("Suspended JobSuspended", metadata=stopped, **SUSPENDED), [])
    assert (state.phase, state.cause, state.paused, state.ended_at) == ("Failed", "Stopped", True, 1795773900.0)


def test_restarts_of_containers_and_of_pods_count() -> None:
    state = KIND.state(job(), [pod(0, restarts=2), pod(1, restarts=1)])
    assert (state.restarts, state.used_up) == (3, True)
    state = KIND.state(job(policy="ExitCode", failed=1), RUN)
    assert (state.restarts, state.used_up) == (1, False)


@pytest.mark.parametrize("policy", ["Never", "OnFailure", "ExitCode"])
def test_the_newest_pod_of_each_index_is_its_replica(policy: str) -> None:
    replicas = KIND.replicas(job(policy=policy), [pod(1), pod(1, "Pending", created=LATER), pod(7)])
    assert [(one.name, one.pod_uid, one.policy) for one in replicas] == [
        ("worker-0", None, policy),
        ("worker-1", f"1-{LATER}", policy),
    ]


def test_pods_of_other_owners_are_not_ours() -> None:
    assert KIND.owner_of(pod(0)) == "job-uid"
    assert KIND.owner_of(pod(0, **{"jobset.sigs.k8s.io/jobset-name": "theirs"})) is None
    assert KIND.owner_of({"metadata": {"ownerReferences": [{"apiVersion": "a/v1", "kind": "Job", "uid": "x"}]}}) is None


def test_a_job_that_ran_remembers_it_over_a_pause() -> None:
    assert KIND.pause(job(), on=True) == SUSPENDED
    assert KIND.pause(job(ready=1), on=True) == {**SUSPENDED, "metadata": RAN}
    gone = dict.fromkeys(("jupyterlab-t9kjob/stopped", "jupyterlab-t9kjob/paused"))
    assert KIND.pause(job(), on=False) == {"spec": {"suspend": False}, "metadata": {"annotations": gone}}


def test_only_jobs_with_the_label_are_listed() -> None:
    assert selector_of(KIND) == "jupyterlab-t9kjob/engine=indexed-job"
    assert selector_of(Kubeflow()) is None


def test_fields_of_the_manifest_are_found_in_the_form() -> None:
    manifest = job(replicas=3)
    (group,) = groups_of(manifest)
    assert group.replicas == 3
    for edited, completions, resources in (
        (True, "/manifest/spec/completions", "/manifest/spec/template/spec/containers/0/resources"),
        (False, "/spec/replica_specs/0/replicas", "/spec/replica_specs/0/resources"),
    ):
        submitted = SubmittedJob(manifest, [group], edited)
        assert submitted.replicas_field(group) == completions
        assert submitted.resource_field(group, "nvidia.com/gpu") == resources
    assert field_of("/manifest/spec/backoffLimit", manifest) == "/spec/run_policy/backoff_limit"
    assert field_of("/manifest/spec/template/spec/nodeSelector/a", manifest) == "/spec/scheduling/node_selector"


# -- whether it can be used --------------------------------------------------------------------------------------------


def rights(*missing: str) -> dict[str, Capability]:
    names = ("list_jobs", "watch_jobs", "create_jobs", "create_services")
    return {name: Capability(supported=name not in missing, reason=None) for name in names}


def test_an_account_without_rights_on_jobs_misses_nothing() -> None:
    none = rights("list_jobs", "watch_jobs", "create_jobs")
    assert why_unusable(KIND, "v1.34.1", []) is None
    assert why_unusable(KIND, "v1.34.1", [none, rights("list_jobs")]) is None
    assert why_unusable(KIND, "v1.34.1", [none]) == "You don't have permission to see or create Jobs (batch)."
    assert why_unusable(Kubeflow(), "v1.34.1", [none]) is None
    assert [is_watched(KIND, each) for each in ({}, none, rights())] == [False, False, True]
    assert is_watched(Kubeflow(), none)


def test_an_old_cluster_says_so() -> None:
    why = why_unusable(KIND, "v1.30.4+k3s1", [rights()])
    assert why == "It needs Kubernetes 1.31 or later, and this cluster has v1.30.4+k3s1."


# -- the Service -------------------------------------------------------------------------------------------------------


class Server:
    """An API server that has one Service, or none, and refuses what it is told to refuse."""

    def __init__(self, there: Json | None = None, *refusals: ApiError, readable: bool = True) -> None:
        self.there, self.refusals, self.readable = there, list(refusals), readable
        self.created: list[Json] = []

    async def create(self, path: str, manifest: Json, query: dict[str, str]) -> Json:
        assert path == "/api/v1/namespaces/demo/services"
        if self.refusals:
            raise self.refusals.pop(0)
        if self.there is not None:
            raise ApiError(409, {"reason": "AlreadyExists", "message": "exists"})
        if "dryRun" not in query:
            self.created.append(manifest)
        return manifest

    async def get(self, _path: str) -> Json:
        if self.there is None or not self.readable:
            raise ApiError(403, {"reason": "Forbidden", "message": "no"})
        found, self.there = self.there, self.there.get("next")
        return found


def service_of(uid: str, name: str = "mnist", **more: Any) -> Json:
    return {"metadata": {"ownerReferences": [{"kind": "Job", "name": name, "uid": uid}]}, **more}


def api_of(server: Server) -> KubeApi:
    return cast("KubeApi", cast("Any", server))


@pytest.fixture(autouse=True)
def _no_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(companions, "RETRY_DELAYS", (0.0, 0.0, 0.0))


async def test_the_job_owns_its_service() -> None:
    server = Server()
    await companions.create_companions(api_of(server), KIND, job())
    (service,) = server.created
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "mnist", "uid": "job-uid"}
    assert service["metadata"]["ownerReferences"] == [owner]
    assert service["spec"]["clusterIP"] == "None" and service["spec"]["publishNotReadyAddresses"] is True
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": "mnist"}
    for needs_none in (job(replicas=1), job(spec={"template": {"spec": {"subdomain": "mine"}}})):
        assert companions.companions_of(KIND, needs_none) == []
    assert companions.companions_of(Kubeflow(), job()) == []


@pytest.mark.parametrize(
    "server",
    [
        Server(service_of("job-uid")),  # An earlier request made it, whose answer was lost.
        Server(service_of("job-uid"), readable=False),
        Server(service_of("gone", next=None)),  # That of a deleted job of the name, which goes meanwhile.
        Server(None, ApiError(503, {"reason": "ServiceUnavailable", "message": "busy"})),
    ],
)
async def test_a_service_that_comes_in_the_end(server: Server) -> None:
    await companions.create_companions(api_of(server), KIND, job())


@pytest.mark.parametrize("where", ["before", "after"])
async def test_a_service_of_somebody_else(where: str) -> None:
    theirs: Json = {"metadata": {}}
    theirs["next"] = theirs
    call = companions.try_companions if where == "before" else companions.create_companions
    with pytest.raises(Conflict) as taken:
        await call(api_of(Server(theirs)), KIND, job())
    assert (taken.value.field, taken.value.code) == ("/spec/name", "NameTaken")
    assert taken.value.message == "There is already a Service named “mnist” in namespace demo."


async def test_a_dry_run_passes_what_will_be_there() -> None:
    for server in (Server(), Server(service_of("other-uid")), Server(None, ApiError(400, {"message": NO_DRY_RUN}))):
        await companions.try_companions(api_of(server), KIND, job())
        assert server.created == []


NO_DRY_RUN = 'admission webhook "services.example.test" does not support dry run'
FORBIDDEN = (
    'services is forbidden: User "lab" cannot create resource "services" in API group "" in the namespace "demo"'
)
QUOTA = 'services "mnist" is forbidden: exceeded quota: q, requested: services=1, used: services=5, limited: services=5'


async def test_a_refusal_says_what_the_service_is_for() -> None:
    for message, kind in ((FORBIDDEN, NotAllowed), (QUOTA, JobError)):
        error = ApiError(403, {"reason": "Forbidden", "message": message})
        with pytest.raises(kind) as refused:
            await companions.try_companions(api_of(Server(None, error)), KIND, job())
        assert refused.value.message.endswith("The job needs a Service, through which its replicas find each other.")


def test_a_missing_permission_is_told_before() -> None:
    for edited, field in ((False, "/spec/replica_specs/0/replicas"), (True, "/manifest/spec")):
        check = companions.permission_check(KIND, job(), rights("create_services"), edited=edited)
        assert check is not None
        assert (check.level, check.field) == ("error", field)
    assert companions.permission_check(KIND, job(replicas=1), rights("create_services"), edited=False) is None
    assert companions.permission_check(KIND, job(), rights(), edited=False) is None
