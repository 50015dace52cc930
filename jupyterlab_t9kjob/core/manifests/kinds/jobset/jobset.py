"""Converts a `JobSpec` to a ``JobSet`` (``jobset.x-k8s.io/v1alpha2``), and back.

A JobSet makes Jobs from templates, and starts all of them again when one has failed. Ours has one Indexed Job, which
fails as soon as one of its pods does, so that all replicas start again together. The JobSet makes the headless Service
through which they find each other.

The functions here use an inner form, which no cluster has: the pod template of the first Job is ``spec.template``, the
rest of that Job ``spec.replicatedJob``. Further Jobs stay in ``spec.replicatedJobs``.

Fields and defaults: source of JobSet 0.10 (``jobset_types.go``, ``jobset_webhook.go``, ``failure_policy.go``).
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from ....spec import JobSpec, ReplicaSpec, RestartPolicy
from ....translation import _
from ...json_values import as_object, as_objects
from ...model import Notes
from ...names import ENGINE
from .. import indexed_job
from ..indexed_job import (
    MOST_BACKOFF,
    RETRIED,
    TYPE,
    add_world,
    build_metadata,
    indexed_command,
    job_fields,
    read_part,
    read_queue,
)
from ..pod_template import build_template, compact
from ..template_reader import read_groups, read_metadata, whole
from ..torchrun.launcher import command_in, read_launched

GROUP: Final = "jobset.x-k8s.io"
VERSION: Final = "v1alpha2"
API_VERSION: Final = f"{GROUP}/{VERSION}"
KIND: Final = "JobSet"
LABEL: Final = "jobset"
"""Value of the label `names.ENGINE`, by which these JobSets are told from those of other programs, such as Trainer."""
TEMPLATE: Final = "template"
JOB: Final = "replicatedJob"
"""Field of the inner form with the first Job, without its pod template."""
_JOBS: Final = "replicatedJobs"
_FAILS: Final = [
    # All replicas start again after a disruption too, as after a failure; the action only ends the search for a rule.
    {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
    {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": list(RETRIED)}},
]
_DEFAULTS: Final = {
    "suspend": False,
    "successPolicy": {"operator": "All"},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
    "managedBy": f"{GROUP}/jobset-controller",
}
_JOB_DEFAULTS: Final = {"groupName": "default", "replicas": 1}


# -- from a spec -------------------------------------------------------------------------------------------------------


def build(spec: JobSpec) -> dict[str, Any]:
    """Return the manifest of a spec in the inner form, without its `extra`, our annotations and our variables."""
    policy, group, host = spec.run_policy, spec.replica_specs[0], host_of(spec.name)
    by_code = group.restart_policy == "ExitCode"
    template = build_template(spec, group, indexed_command(spec, host))
    add_world(template, host, spec.total_replicas)
    # The Job ends with its first failed pod. The JobSet does the rest.
    template["spec"] = {"restartPolicy": "Never", **template["spec"]}
    final = [
        *(["DeadlineExceeded"] if policy.active_deadline_seconds is not None else []),
        *(["PodFailurePolicy"] if by_code else []),
    ]
    rules = [{"name": "final", "action": "FailJobSet", "onJobFailureReasons": final}] if final else []
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": build_metadata(spec, {ENGINE: LABEL}),
        "spec": compact({
            "suspend": spec.paused or None,
            "network": {"enableDNSHostnames": True},
            "failurePolicy": compact({
                "maxRestarts": 0 if group.restart_policy == "Never" else policy.backoff_limit,
                "rules": rules,
            }),
            "ttlSecondsAfterFinished": policy.ttl_seconds,
            JOB: {
                "name": TYPE,
                "replicas": 1,
                "template": {"spec": compact({
                    **job_fields(spec),
                    "backoffLimit": 0,
                    "podFailurePolicy": {"rules": deepcopy(_FAILS)} if by_code else None,
                })},
            },
            TEMPLATE: template,
        }),
    }  # fmt: skip


def host_of(name: str) -> str:
    """Return the host name of a job's first replica."""
    return f"{name}-{TYPE}-0-0.{name}"


# -- canonical form ----------------------------------------------------------------------------------------------------


def canonical(manifest: dict[str, Any], notes: Notes | None = None) -> dict[str, Any]:
    """Return a manifest of the inner form in the form of `build`, with the same meaning and with defaults written out.

    Parameters
    ----------
    manifest
        A manifest whose fields have the right types.
    notes
        Collects a hint for a job whose pods have no index, and so no rank; None for no notes.
    """
    spec = manifest["spec"]
    spec = _without(spec, _DEFAULTS)
    network = _without({"enableDNSHostnames": True, **spec.get("network", {})}, {"publishNotReadyAddresses": True})
    job = _without({**_JOB_DEFAULTS, **spec.get(JOB, {})}, {"groupName": "default"})
    fields = {"completionMode": "Indexed", **as_object(job.get("template", {}).get("spec"))}
    fields = indexed_job.canonical({"spec": {**fields, TEMPLATE: spec.get(TEMPLATE, {})}})["spec"]
    template = fields.pop(TEMPLATE, {})
    if fields["completionMode"] != "Indexed" and notes:
        message = _("The completion mode is not Indexed, so the pods have no ranks.")
        pointer = f"/manifest/spec/{_JOBS}/0/template/spec/completionMode"
        notes.hint("NotIndexed", message, pointer, _("Set completionMode to Indexed."))
    pod = template.get("spec", {})
    metadata = manifest.get("metadata", {})
    return {
        **manifest,
        "metadata": compact({**metadata, "labels": {**metadata.get("labels", {}), ENGINE: LABEL}}),
        "spec": compact({
            **spec,
            "network": network,
            "failurePolicy": _canonical_failure(spec.get("failurePolicy", {})),
            JOB: compact({**job, "template": compact({**job.get("template", {}), "spec": compact(fields)})}),
            TEMPLATE: {**template, "spec": {"restartPolicy": "OnFailure", **pod}},
        }),
    }  # fmt: skip


def _canonical_failure(policy: dict[str, Any]) -> dict[str, Any]:
    """Return a failure policy with its defaults. A JobSet without a policy fails as one without restarts does."""
    policy = _without({"maxRestarts": 0, **policy}, {"restartStrategy": "Recreate"})
    rules = as_objects(policy.get("rules"))
    named = [_without(rule, {"name": f"failurePolicyRule{index}"}) for index, rule in enumerate(rules)]
    return compact({**policy, "rules": named})


def _without(fields: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return an object without the fields that have their default."""
    return {name: value for name, value in fields.items() if name not in defaults or value != defaults[name]}


# -- to a spec ---------------------------------------------------------------------------------------------------------


def read(manifest: dict[str, Any]) -> JobSpec:
    """Return the spec of a canonical manifest of the inner form. Fields that the model lacks are ignored.

    Raises
    ------
    pydantic.ValidationError
        If a value is not valid in a spec.
    """
    return read_launched(manifest, lambda launcher: _read_fields(manifest, launcher=launcher), build, _command)


def _command(manifest: dict[str, Any]) -> tuple[Any, Any]:
    return command_in(manifest["spec"][TEMPLATE], None)


def _read_fields(manifest: dict[str, Any], *, launcher: bool) -> dict[str, Any]:
    spec = manifest["spec"]
    job = spec[JOB]["template"]["spec"]
    restarts = whole(spec["failurePolicy"].get("maxRestarts"), 0, MOST_BACKOFF) or 0
    policy: RestartPolicy = "OnFailure" if restarts else "Never"
    if "podFailurePolicy" in job:
        policy = "ExitCode"
    replicas = whole(job.get("parallelism"), 1, 10_000) or 1
    host = host_of(manifest["metadata"]["name"])
    torchrun, part = read_part(spec[TEMPLATE], host, replicas, None, launcher=launcher)
    group = ReplicaSpec(type=TYPE, replicas=replicas, restart_policy=policy)
    fields = {**read_metadata(manifest), **read_groups([(group, part)])}
    return {
        **fields,
        **read_queue(fields, own=(ENGINE,)),
        "torchrun": torchrun,
        "run_policy": {
            "backoff_limit": restarts,
            "active_deadline_seconds": whole(job.get("activeDeadlineSeconds"), 1, MOST_BACKOFF),
            "ttl_seconds": whole(spec.get("ttlSecondsAfterFinished"), 0),
        },
        "paused": spec.get("suspend", False),
    }


# -- the inner form ----------------------------------------------------------------------------------------------------


def templates(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod template of the first Job of a manifest in either form, in a list."""
    spec = manifest["spec"]
    if TEMPLATE in spec:
        found = spec[TEMPLATE]
    else:
        jobs = as_objects(spec.get(_JOBS))
        found = as_object(as_object(jobs[0].get("template")).get("spec")).get("template") if jobs else None
    return [found] if found else []


def unfold(spec: dict[str, Any]) -> None:
    """Bring the spec of a JobSet to the inner form; one that has it already stays as it is.

    Parameters
    ----------
    spec
        The spec, which is changed.
    """
    jobs = as_objects(spec.get(_JOBS))
    if TEMPLATE in spec or JOB in spec or not jobs:
        return
    first, *rest = jobs
    template = dict(as_object(first.get("template")))
    fields = dict(as_object(template.get("spec")))
    pods = fields.pop(TEMPLATE, None)
    spec[JOB] = {**first, "template": {**template, "spec": fields}}
    if pods is not None:
        spec[TEMPLATE] = pods
    del spec[_JOBS]
    if rest:
        spec[_JOBS] = rest


def fold(spec: dict[str, Any]) -> None:
    """Bring the spec of a JobSet from the inner form to that of a cluster.

    Parameters
    ----------
    spec
        The spec, which is changed.
    """
    if TEMPLATE not in spec and JOB not in spec:
        return
    first, pods = dict(as_object(spec.pop(JOB, None))), spec.pop(TEMPLATE, None)
    template = dict(as_object(first.get("template")))
    fields = dict(as_object(template.get("spec")))
    if pods is not None:
        fields[TEMPLATE] = pods
    spec[_JOBS] = [{**first, "template": {**template, "spec": fields}}, *as_objects(spec.get(_JOBS))]
