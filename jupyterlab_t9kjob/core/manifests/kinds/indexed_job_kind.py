"""The manifest kind `job`: Indexed Job of Kubernetes, with its capabilities and checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...checks import Check
from ...spec import JobSpec
from ...translation import Text, _
from . import indexed_job, shapes
from .formats import Format, Patch, capabilities, with_usual_container

_CAPABILITIES: Final[dict[str, Text | None]] = {
    "ttl": None,
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


def take_template(extra: dict[str, Any], spec: JobSpec) -> tuple[Patch, Patch]:
    """Remove the patch of the only pod template from extra content; see `Format.take_templates`.

    Parameters
    ----------
    extra
        Extra content of a spec; it is changed.
    spec
        The job.
    """
    fields = extra.get("spec")
    if not isinstance(fields, dict) or not isinstance(fields.get("template"), dict):
        return None, None
    template = with_usual_container(fields.pop("template"))
    if not fields:
        del extra["spec"]
    pod = template.get("spec")
    for name in ("restartPolicy", "subdomain"):  # Fields of pods of a Job only; the other kinds set them themselves.
        if isinstance(pod, dict):
            pod.pop(name, None)
    return template, template if spec.total_replicas > 1 else None


def _put_templates(first: Patch, _last: Patch, _spec: JobSpec) -> dict[str, Patch]:
    return {indexed_job.TYPE: first}


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
    take_template,
    _put_templates,
    single=True,
    problems=_problems,
    own_options=("--rdzv-conf",),
)
