"""Refusals of a real API server, as errors at the field."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.errors import (
    BadRequest,
    Conflict,
    FieldError,
    JobError,
    NotAllowed,
    NotFound,
    TooLarge,
    Unavailable,
)
from jupyterlab_t9kjob.core.manifests import render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.reasons.api_refusals import refused
from tests.unit.kubernetes.situations import REFUSALS

POD = "/manifest/spec/pytorchReplicaSpecs/Master/template/spec/containers"

ERRORS: dict[str, tuple[type[JobError], str, str | None, str]] = {
    "taken": (Conflict, "AlreadyExists", "/spec/name", "There is already a job running in namespace why."),
    "strict": (
        FieldError,
        "UnknownField",
        f"{POD}/0/imag",
        "This cluster does not know spec.pytorchReplicaSpecs.Master.template.spec.containers[0].imag"
        " and spec.torchrunConfig.",
    ),
    "invalid-type": (
        FieldError,
        "Invalid",
        "/spec/replica_specs/0/replicas",
        "spec.pytorchReplicaSpecs.Master.replicas must be a whole number.",
    ),
    "invalid-missing": (
        FieldError,
        "Invalid",
        "/manifest/spec/pytorchReplicaSpecs",
        "spec.pytorchReplicaSpecs is missing.",
    ),
    "invalid-name": (
        FieldError,
        "Invalid",
        "/spec/name",
        "The name can't be used: it has small letters, digits and dashes, and begins with a letter.",
    ),
    "large": (
        FieldError,
        "Invalid",
        "/spec/annotations",
        "metadata.annotations is wrong: may not be more than 262144 bytes.",
    ),
    "larger": (TooLarge, "TooLarge", None, "The manifest is larger than the cluster accepts."),
    "webhook-kubeflow": (
        FieldError,
        "Invalid",
        POD,
        "spec.pytorchReplicaSpecs.Master.template.spec.containers is missing:"
        " must have at least one container with name pytorch.",
    ),
    "webhook-replicas": (
        FieldError,
        "Invalid",
        "/spec/replica_specs/0/replicas",
        "spec.pytorchReplicaSpecs.Master.replicas is wrong: must be 1.",
    ),
    "webhook-name": (
        FieldError,
        "Invalid",
        "/spec/name",
        "The name can't be used: it has small letters, digits and dashes, and begins with a letter.",
    ),
    "webhook-down": (
        Unavailable,
        "WebhookDown",
        None,
        "The webhook jobs.why.example.com, which has to agree, does not answer.",
    ),
    "policy": (
        NotAllowed,
        "PolicyDenied",
        None,
        "The cluster's policy why-no-jobs does not allow it: names of jobs begin with team-.",
    ),
    "quota-objects": (
        NotAllowed,
        "QuotaExceeded",
        None,
        "The quota jobs allows 1 pytorchjobs.kubeflow.org, and 1 exist.",
    ),
    "quota-pod": (
        FieldError,
        "QuotaExceeded",
        "/spec/replica_specs/0/resources/device",
        "The quota gpus allows 2 nvidia.com/gpu, 0 are used, and a replica needs 4.",
    ),
    "limitrange-pod": (
        FieldError,
        "OutOfRange",
        "/spec/replica_specs/0/resources/memory",
        "A container may have 1Gi memory at most here, and this asks for 4Gi.",
    ),
    "no-namespace": (FieldError, "NoSuchNamespace", "/namespace", "There is no namespace nowhere."),
    "other-namespace": (
        FieldError,
        "InvalidField",
        "/manifest/metadata/namespace",
        "The manifest names another namespace.",
    ),
    "other-kind": (FieldError, "InvalidField", "/manifest/apiVersion", "The manifest has another API version."),
    "no-kind": (Unavailable, "NoSuchKind", None, "This cluster has no Foo."),
    "not-found": (NotFound, "NotFound", None, "The object does not exist or was deleted."),
    "unauthorized": (
        NotAllowed,
        "Unauthorized",
        None,
        "The cluster does not accept the credentials of this lab.",
    ),
    "forbidden-create": (
        NotAllowed,
        "Forbidden",
        "/namespace",
        "You don't have permission to create PyTorchJobs in namespace why.",
    ),
    "forbidden-list": (
        NotAllowed,
        "Forbidden",
        None,
        "You don't have permission to list PyTorchJobs in namespace why.",
    ),
    "forbidden-patch": (
        NotAllowed,
        "Forbidden",
        None,
        "You don't have permission to change PyTorchJobs in namespace why.",
    ),
    "forbidden-log": (NotAllowed, "Forbidden", None, "You don't have permission to see logs of pods in namespace why."),
    "forbidden-nodes": (
        NotAllowed,
        "Forbidden",
        None,
        "You don't have the permission “list” on nodes in the whole cluster.",
    ),
}


def refusal(name: str, **more: Any) -> JobError:
    recorded = REFUSALS[name]
    return refused(ApiError(recorded["status"], recorded["body"]), recorded["manifest"], **more)


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str) -> None:
    error = refusal(name)
    assert (type(error), error.code, error.field, error.message) == ERRORS[name]
    assert error.verbatim == REFUSALS[name]["body"]["message"]


def test_who_can_grant_a_right() -> None:
    assert refusal("forbidden-create").hint == (
        "An administrator of the cluster or the namespace can give the service account weak of namespace why"
        " the permission “create” on pytorchjobs.kubeflow.org."
    )


def test_a_manifest_that_the_user_wrote_is_wrong_at_its_own_field() -> None:
    field = refusal("webhook-replicas", edited=True).field
    assert field == "/manifest/spec/pytorchReplicaSpecs/Master/replicas"


def test_webhook_is_named() -> None:
    hint = refusal("webhook-replicas").hint
    assert hint is not None and "validator.pytorchjob.training-operator.kubeflow.org" in hint


def of(status: int, message: str, reason: str = "", manifest: Any = None, **details: Any) -> JobError:
    return refused(ApiError(status, {"message": message, "reason": reason, "details": details}), manifest)


GATEKEEPER = 'admission webhook "validation.gatekeeper.sh" denied the request: [t9k-{0}] {0}: not here'


@pytest.mark.parametrize(
    ("code", "field"),
    [
        ("R001", "/spec/scheduling/queue"),
        ("R002", "/spec/replica_specs/0/resources"),
        ("R003", "/spec/replica_specs/0/resources"),
        ("R026", "/spec/replica_specs/0/resources/device"),
        ("R027", "/spec/scheduling/scheduler"),
    ],
)
def test_rules_of_t9k(code: str, field: str) -> None:
    """Their messages are not public (t9k-facts.md, Success and failure); the code in them is what counts."""
    error = of(403, GATEKEEPER.format(code), "Forbidden")
    assert isinstance(error, FieldError)
    assert (error.code, error.field) == (code, field)
    assert error.verbatim == GATEKEEPER.format(code)


def test_a_rule_of_t9k_that_is_not_known_is_passed_on() -> None:
    error = of(403, GATEKEEPER.format("R013"), "Forbidden")
    assert isinstance(error, NotAllowed)
    assert error.message == "The cluster does not allow it: [t9k-R013] R013: not here."


def test_a_job_that_is_still_being_deleted() -> None:
    message = 'object is being deleted: pytorchjobs.kubeflow.org "train" already exists'
    error = of(409, message, "AlreadyExists", {"metadata": {"name": "train"}})
    assert (type(error), error.field) == (Conflict, "/spec/name")
    assert error.message == "A job train is still being deleted."


def test_a_namespace_that_goes_away() -> None:
    message = (
        'pytorchjobs.kubeflow.org "x" is forbidden: unable to create new content in namespace old because it is being'
        " terminated"
    )
    error = of(403, message, "Forbidden")
    assert (error.field, error.message) == ("/namespace", "The namespace old is being deleted.")


def test_quota_that_wants_resources_to_be_stated() -> None:
    message = 'pods "x" is forbidden: failed quota: compute: must specify limits.cpu for: pytorch; limits.memory for: y'
    error = of(403, message, "Forbidden")
    assert (error.code, error.field) == ("QuotaNeedsResources", "/spec/replica_specs/0/resources")
    assert "limits.cpu" in error.message


def test_a_cluster_that_is_busy_says_when_to_ask_again() -> None:
    error = of(429, "Too many requests, please try again later.", "TooManyRequests", retryAfterSeconds=7)
    assert (type(error), error.hint) == (Unavailable, "Try again in 7 s.")


@pytest.mark.parametrize(
    ("status", "reason", "expected", "code"),
    [
        (504, "Timeout", Unavailable, "Timeout"),
        (500, "InternalError", Unavailable, "InternalError"),
        (503, "", Unavailable, "Unavailable"),
        (410, "Expired", Unavailable, "Expired"),
        (409, "Conflict", Conflict, "Conflict"),
        (403, "Forbidden", NotAllowed, "Forbidden"),
        (422, "Invalid", FieldError, "InvalidField"),
        (400, "BadRequest", BadRequest, "BadRequest"),
    ],
)
def test_what_has_no_known_words(status: int, reason: str, expected: type[JobError], code: str) -> None:
    error = of(status, "something", reason)
    assert (type(error), error.code, error.verbatim) == (expected, code, "something")


def test_a_cluster_that_can_not_be_reached() -> None:
    error = refused(Unreachable("The cluster does not answer in time."))
    assert (type(error), error.message) == (Unavailable, "The cluster does not answer in time.")


SPEC = JobSpec.model_validate({
    "name": "train",
    "entrypoint": {"value": "/w/train.py"},
    "runtime": {"image": "torch"},
    "replica_specs": [{"type": "worker", "replicas": 3}],
    "mounts": [{"claim": "data", "mount_path": "/w"}],
    "elastic": {"min": 1, "max": 3},
    "scheduling": {"queue": "q", "priority": 5},
    "run_policy": {"active_deadline_seconds": 60},
})  # fmt: skip

T9K_FIELDS = {
    "spec.replicaSpecs[0].replicas": "/spec/replica_specs/0/replicas",
    "spec.replicaSpecs[0].template.spec.containers[0].image": "/spec/runtime/image",
    "spec.replicaSpecs[0].template.spec.containers[0].resources.limits": "/spec/replica_specs/0/resources",
    "spec.replicaSpecs[0].template.spec.volumes[0].persistentVolumeClaim.claimName": "/spec/mounts",
    "spec.torchrunConfig.procPerNode": "/spec/torchrun/proc_per_node",
    "spec.elastic.minReplicas": "/spec/elastic/min",
    "spec.runPolicy.activeDeadlineSeconds": "/spec/run_policy/active_deadline_seconds",
    "spec.runPolicy.cleanUpPolicy": "/spec/run_policy/clean_up",
    "spec.scheduler.t9kScheduler.priority": "/spec/scheduling/priority",
    "spec.runMode.pause.enabled": "/spec/paused",
    "spec.somethingNew": "/manifest/spec/somethingNew",
    "metadata.labels": "/spec/labels",
}


@pytest.mark.parametrize("field", T9K_FIELDS)
def test_fields_of_a_manifest_lead_to_those_of_the_form(field: str) -> None:
    manifest = render(SPEC, "t9k")
    error = of(422, "x is invalid", "Invalid", manifest, causes=[{"field": field, "message": "Invalid value: 1: bad"}])
    assert error.field == T9K_FIELDS[field]
    assert error.message.endswith(" is wrong: bad.")


def test_keys_with_dots_are_found_in_the_manifest() -> None:
    manifest = {"spec": {"nodeSelector": {"nvidia.com/gpu.product": 1}}}
    message = 'strict decoding error: unknown field "spec.nodeSelector.nvidia.com/gpu.product"'
    assert of(400, message, "BadRequest", manifest).field == "/manifest/spec/nodeSelector/nvidia.com~1gpu.product"


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.integers(300, 599), st.data())
def test_no_answer_is_too_odd(status: int, data: st.DataObject) -> None:
    recorded = REFUSALS[data.draw(st.sampled_from(sorted(REFUSALS)))]
    body = {**recorded["body"], data.draw(st.sampled_from(["message", "reason", "details"])): data.draw(JSON)}
    manifest = data.draw(st.just(recorded["manifest"]) | st.dictionaries(st.text(max_size=8), JSON))
    error = refused(ApiError(status, body), manifest, edited=data.draw(st.booleans()))
    assert 0 < len(error.message) <= 300
    for text in (error.message, error.hint or "", error.verbatim or ""):
        assert not [char for char in text if unicodedata.category(char)[0] == "C" and char != "\n"]
