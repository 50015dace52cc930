"""The manifest kind `job`: Indexed Job of Kubernetes, with its capabilities and checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...checks import Check
from ...spec import JobSpec
from ...translation import Text, _
from ..json_values import as_object, without_fields
from . import indexed_job, shapes
from .formats import Format, capabilities

OWN_POD_FIELDS: Final = ("restartPolicy", "subdomain")

_CAPABILITIES: Final[dict[str, Text | None]] = {
    "ttl": None,
    "clean_up": _(
        "A Job of Kubernetes always removes the pods that still run when it ends, and keeps those that have ended."
    ),
    "elastic": _("A Job of Kubernetes has a fixed number of replicas."),
    "restart_always": _("A Job of Kubernetes ends when its replicas have succeeded, so it can't restart those."),
    "priority": _("A Job of Kubernetes has no numbers for priorities; name a priority class instead."),
    "scaling_weight": _("The number of replicas of a Job is fixed, so types have no weights."),
    "skip_init": _("A Job of Kubernetes always runs its init containers."),
    "resume": _("A Job of Kubernetes that is resumed runs the same command as before."),
    "resume_command": _("A Job of Kubernetes that is resumed runs the same command as before."),
    "replica_types": _("A Job of Kubernetes has replicas of one type only."),
    "cluster_tensorboard": _("Kubernetes itself runs no TensorBoard; the one in JupyterLab is used."),
}


def _problems(spec: JobSpec, _dialect: Any) -> Iterator[Check]:
    if len(spec.replica_specs) == 2:  # More types are a feature of their own, `replica_types`.
        message = _("A Job of Kubernetes has one pod template, so it can have one replica type.")
        hint = _("Use one type, or another engine.")
        yield Check(level="error", code="Unsupported", message=message, field="/spec/replica_specs/1", hint=hint)


def types(_spec: JobSpec) -> list[str]:
    """Return the name of the only replica type; see `Format.types`."""
    return [indexed_job.TYPE]


def _counting(spec: JobSpec) -> dict[str, Any]:
    """Return the extra content of a job; with torchrun, its pods have the name by which they find the first one."""
    pod = as_object(as_object(as_object(spec.extra.get("spec")).get("template")).get("spec"))
    if spec.torchrun is None or pod.get("subdomain", "") is not None:
        return spec.extra
    return without_fields(spec.extra, (("spec", "template", "spec", "subdomain"),))


JOB: Final = Format(
    indexed_job.API_VERSION,
    indexed_job.KIND,
    shapes.JOB,
    "template",
    None,
    indexed_job.build,
    indexed_job.canonical,
    indexed_job.read,
    indexed_job.templates,
    capabilities(_CAPABILITIES),
    types,
    single=True,
    own_pod_fields=OWN_POD_FIELDS,
    own_env=indexed_job.WORLD_ENV,
    counting=_counting,
    problems=_problems,
    own_options=("--rdzv-conf",),
)
