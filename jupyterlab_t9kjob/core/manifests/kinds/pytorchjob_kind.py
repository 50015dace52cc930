"""The manifest kind `kubeflow`: PyTorchJob, with its capabilities and checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...checks import Check
from ...spec import JobSpec
from ...translation import Text, _
from . import pytorchjob, shapes
from .formats import Format, Patch, capabilities, taken

_CAPABILITIES: Final[dict[str, Text | None]] = {
    "ttl": None,
    "priority": _("A PyTorchJob has no numbers for priorities; name a priority class instead."),
    "scaling_weight": _("A PyTorchJob scales its Workers only, so types have no weights."),
    "skip_init": _("A PyTorchJob always runs its init containers."),
    "resume": _("A PyTorchJob that is resumed runs the same command as before."),
    "resume_command": _("A PyTorchJob that is resumed runs the same command as before."),
    "replica_types": _("A PyTorchJob has one Master and one group of Workers, and no other types."),
    "cluster_tensorboard": _("The training operator runs no TensorBoard; the one in JupyterLab is used."),
}


def _problems(spec: JobSpec, _dialect: Any) -> Iterator[Check]:
    if spec.elastic is not None and len(spec.replica_specs) > 1:
        message = _("An elastic PyTorchJob has Workers only, so it can have one replica type.")
        hint = _("Leave it out, or use one type.")
        yield Check(level="error", code="Unsupported", message=message, field="/spec/elastic", hint=hint)


def _take_templates(extra: dict[str, Any], _spec: JobSpec) -> tuple[Patch, Patch]:
    found = taken(extra, "pytorchReplicaSpecs", ("Master", "Worker"))
    return found.get("Master") or found.get("Worker"), found.get("Worker")


def _put_templates(first: Patch, last: Patch, spec: JobSpec) -> dict[str, Patch]:
    if spec.elastic is not None:
        return {"Worker": first}
    return {"Master": first} | ({"Worker": last} if spec.total_replicas > 1 else {})


KUBEFLOW: Final = Format(
    pytorchjob.API_VERSION,
    pytorchjob.KIND,
    shapes.PYTORCHJOB,
    "pytorchReplicaSpecs",
    pytorchjob.TRAINING,
    pytorchjob.build,
    pytorchjob.canonical,
    pytorchjob.read,
    pytorchjob.templates,
    capabilities(_CAPABILITIES),
    _take_templates,
    _put_templates,
    problems=_problems,
    # `is_host` in --rdzv-conf says which agent hosts the rendezvous (torch's c10d_rendezvous_backend.py).
    own_options=("--rdzv-conf",),
    sets_unbuffered=True,  # Training Operator v1.9, envvar.go
)
