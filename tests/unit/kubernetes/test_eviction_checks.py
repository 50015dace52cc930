"""Check of the permission that the continuation of an evicted job needs."""

from __future__ import annotations

from jupyterlab_t9kjob.core.checks import Capability
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.submit.eviction_checks import permission_check


def test_a_missing_permission_is_told_at_the_box() -> None:
    fields = {"name": "train", "entrypoint": {"value": "/w/train.py"}}
    wanted = JobSpec.model_validate({**fields, "run_policy": {"resume_evicted": True}})
    missing = {"change_jobs": Capability(supported=False)}
    check = permission_check(Kubeflow(), wanted, "demo", missing)
    assert check is not None
    assert (check.level, check.field) == ("warning", "/spec/run_policy/resume_evicted")
    rule = "patch pytorchjobs.kubeflow.org"
    assert check.message == f"You don't have permission to change PyTorchJobs in namespace demo ({rule})."
    assert check.hint == "No job will continue this one after an eviction."
    has_permission = {"change_jobs": Capability(supported=True)}
    assert permission_check(Kubeflow(), wanted, "demo", has_permission) is None
    assert permission_check(Kubeflow(), wanted, "demo", {}) is None  # Not read yet.
    assert permission_check(Kubeflow(), JobSpec.model_validate(fields), "demo", missing) is None
