"""Size and queue of a job, computed from its spec; its accelerators also from its object, before that is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....core.manifests import KINDS
from ....core.manifests.entrypoints import program_of
from ....core.manifests.kinds.pod_template import quantity, training_container
from ....core.manifests.kinds.template_reader import device_of
from ....core.spec import Device, JobSpec, ReplicaSpec
from ....core.translation import Text, _, _n
from ..client.api import Json
from ..objects.kinds import JobKind, ReplicaView

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
    return Size(spec.initial_replicas, _processes_of(spec), _devices_of(spec), spec.scheduling.queue)


def size_text(spec: JobSpec, namespace: str, replicas: int | None = None) -> Text:
    """Return the size of a job in words: “2 replicas × 4 processes in team-a”.

    Parameters
    ----------
    spec
        The job's spec.
    namespace
        Namespace of the job.
    replicas
        Replicas of its object; None if the spec tells them.
    """
    number = _n("{n} replica", "{n} replicas", replicas or spec.initial_replicas)
    total = _processes_of(spec)
    if total is None or spec.torchrun is None:
        return _("{replicas} in {namespace}", replicas=number, namespace=namespace)
    each = _n("{n} process", "{n} processes", total // spec.total_replicas)
    return _("{replicas} × {processes} in {namespace}", replicas=number, processes=each, namespace=namespace)


def _asked_for(spec: JobSpec, group: ReplicaSpec) -> int:
    """Return the replicas of a group at the job's start; how several groups share an expected number is not known."""
    return spec.initial_replicas if len(spec.replica_specs) == 1 else group.replicas


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
    return _sum((group.resources.device, _asked_for(spec, group)) for group in spec.replica_specs)


def devices_in(kind: JobKind, manifest: Json, replicas: Sequence[ReplicaView]) -> Device | None:
    """Return the accelerators that a job's object asks for, a hundred times as fast as its spec could be read.

    Parameters
    ----------
    kind
        The job's kind.
    manifest
        Its object, of any shape.
    replicas
        Its replicas.
    """
    form = KINDS[kind.manifests]
    try:
        templates = form.templates(manifest)
        devices = [_device_in(template, form.training) for template in templates]
    except (AttributeError, KeyError, TypeError):  # Reading the spec will tell what is wrong with the object.
        return None
    roles = Counter(replica.role for replica in replicas)
    return _sum((devices[min(role, len(devices) - 1)], count) for role, count in roles.items() if devices)


def _device_in(template: dict[str, Any], training: str | None) -> Device | None:
    containers = template["spec"]["containers"]
    index = training_container(containers, training)
    if index is None:
        return None
    container = containers[index]
    # A TrainJob has the resources of its nodes in place of those of a container.
    resources = container.get("resources") or container.get("resourcesPerNode") or {}
    limits: dict[str, Any] = resources.get("limits") or {}
    return device_of({name: quantity(amount) for name, amount in limits.items() if "/" in name})


def _sum(asked: Iterable[tuple[Device | None, int]]) -> Device | None:
    found = [(device, replicas) for device, replicas in asked if device is not None]
    total = sum(device.count * replicas for device, replicas in found)
    return Device.model_construct(name=found[0][0].name, count=min(total, _MOST_DEVICES)) if total else None
