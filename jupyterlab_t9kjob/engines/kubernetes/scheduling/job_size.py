"""How large a job is, and where it queues, as its spec says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ....core.manifests.entrypoints import program_of
from ....core.spec import Device, JobSpec

_MOST_DEVICES: Final = 2**31


@dataclass(frozen=True)
class Size:
    """What a list shows of a spec, which itself is kept packed.

    Attributes
    ----------
    replicas
        Of all types together.
    processes
        Ranks of the whole job, where known.
    devices
        Accelerators of the whole job, if it asks for any.
    queue
        The queue that it names.
    """

    replicas: int
    processes: int | None
    devices: Device | None
    queue: str | None


def size_of(spec: JobSpec) -> Size:
    """Return the size of a job."""
    return Size(spec.total_replicas, _processes_of(spec), _devices_of(spec), spec.scheduling.queue)


def size_text(spec: JobSpec, namespace: str) -> str:
    """Return how large a job is: “2 replicas × 4 processes in team-a”."""
    replicas = f"{spec.total_replicas} replica{'s' if spec.total_replicas > 1 else ''}"
    total = _processes_of(spec)
    each = "" if total is None or spec.torchrun is None else f" × {total // spec.total_replicas} processes"
    return f"{replicas}{each} in {namespace}"


def _processes_of(spec: JobSpec) -> int | None:
    if spec.elastic is not None:
        return None
    if spec.torchrun is None:
        known = all(program_of(spec, group).entrypoint.kind != "command" for group in spec.replica_specs)
        return spec.total_replicas if known else None
    each = spec.torchrun.proc_per_node
    counts = [
        group.replicas * (group.resources.device_count if each == "gpu" else each) for group in spec.replica_specs
    ]
    return sum(counts) if all(counts) else None


def _devices_of(spec: JobSpec) -> Device | None:
    asked = [(group.resources.device, group.replicas) for group in spec.replica_specs if group.resources.device]
    total = sum(device.count * replicas for device, replicas in asked if device is not None)
    if not total or asked[0][0] is None:
        return None
    return Device.model_construct(name=asked[0][0].name, count=min(total, _MOST_DEVICES))
