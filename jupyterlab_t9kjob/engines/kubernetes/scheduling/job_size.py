"""Size and queue of a job, computed from its spec."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ....core.manifests.entrypoints import program_of
from ....core.spec import Device, JobSpec
from ....core.translation import Text, _, _n

_MOST_DEVICES: Final = 2**31


@dataclass(frozen=True)
class Size:
    """The facts of a spec that a list of jobs shows. The spec itself is kept compressed.

    Attributes
    ----------
    replicas
        Number of replicas of all types.
    processes
        Number of ranks of the whole job; None if it is not known.
    devices
        Accelerators of the whole job; None if it requests none.
    queue
        Queue that the spec names.
    """

    replicas: int
    processes: int | None
    devices: Device | None
    queue: str | None


def size_of(spec: JobSpec) -> Size:
    """Return the size of a job."""
    return Size(spec.total_replicas, _processes_of(spec), _devices_of(spec), spec.scheduling.queue)


def size_text(spec: JobSpec, namespace: str) -> Text:
    """Return the size of a job in words: “2 replicas × 4 processes in team-a”.

    Parameters
    ----------
    spec
        The job's spec.
    namespace
        Namespace of the job.
    """
    replicas = _n("{n} replica", "{n} replicas", spec.total_replicas)
    total = _processes_of(spec)
    if total is None or spec.torchrun is None:
        return _("{replicas} in {namespace}", replicas=replicas, namespace=namespace)
    each = _n("{n} process", "{n} processes", total // spec.total_replicas)
    return _("{replicas} × {processes} in {namespace}", replicas=replicas, processes=each, namespace=namespace)


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
