"""The manifest kind `kubeflow`: PyTorchJob, with its capabilities and checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ...checks import Check
from ...spec import JobSpec
from ...translation import Text, _
from ..json_values import as_object
from . import pytorchjob, shapes
from .formats import Format, capabilities, outside_bounds
from .template_reader import has_devices, whole
from .torchrun.bare import Told, processes_of

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
    yield from _elastic_bounds(spec)
    if spec.elastic is not None and len(spec.replica_specs) > 1:
        message = _("An elastic PyTorchJob has Workers only, so it can have one replica type.")
        hint = _("Leave it out, or use one type.")
        yield Check(level="error", code="Unsupported", message=message, field="/spec/elastic", hint=hint)


def _elastic_bounds(spec: JobSpec) -> Iterator[Check]:
    """Check the number of Workers of an elastic job whose bounds are extra content."""
    block = as_object(as_object(spec.extra.get("spec")).get("elasticPolicy"))
    workers = spec.total_replicas - ("Master" in pytorchjob.roles(spec))
    if not block or not workers or spec.elastic is not None:
        return
    bounds = pytorchjob.read_elastic(block, workers)
    if not bounds.min <= workers <= bounds.max:
        yield outside_bounds(workers, bounds, "/spec/replica_specs/0/replicas")


def _told(manifest: dict[str, Any]) -> Told:
    """Return what the operator tells torchrun (Training Operator v1.9, ``envvar.go``, ``elastic.go``)."""
    spec = manifest["spec"]
    groups, block, written = spec["pytorchReplicaSpecs"], spec.get("elasticPolicy"), spec.get("nprocPerNode", "auto")
    processes = processes_of(written)
    if processes is None and written == "auto":
        # One for each GPU. Without GPUs, it is one for each core of the node.
        processes = (
            "gpu" if any(has_devices(group["template"], pytorchjob.TRAINING) for group in groups.values()) else None
        )
    fields: list[tuple[str, ...]] = [("spec", "nprocPerNode"), pytorchjob.MASTER]
    if not isinstance(block, dict) or "Master" in groups:
        return Told(processes, fields=tuple(fields))
    workers = whole(groups.get("Worker", {}).get("replicas"), 1) or 1
    elastic = pytorchjob.read_elastic(block, workers)
    names = ["minReplicas", "maxReplicas", "maxRestarts"]
    names += ["rdzvBackend"] if block.get("rdzvBackend", "c10d") == "c10d" else []
    fields += [("spec", "elasticPolicy", name) for name in names]
    return Told(processes, elastic, whole(block.get("maxRestarts"), 0) or 0, tuple(fields))


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
    pytorchjob.roles,
    problems=_problems,
    # `is_host` in --rdzv-conf says which agent hosts the rendezvous (torch's c10d_rendezvous_backend.py).
    own_options=("--rdzv-conf",),
    heeded=pytorchjob.heeded,
    counting=pytorchjob.counting,
    told=_told,
    sets_unbuffered=True,  # Training Operator v1.9, envvar.go
)
