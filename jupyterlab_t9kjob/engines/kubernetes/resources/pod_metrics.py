"""Reads CPU and memory of pods from the metrics API (metrics.k8s.io), and their limits from their manifests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....core.resources import Column
from ....core.texts.quantity import amount
from ..client.api import Json, KubeApi
from ..client.json_access import parts, text, value
from ..objects.kinds import ReplicaView

PATH: Final = "/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"


@dataclass(frozen=True)
class PodUse:
    """Use of resources by the containers of a pod.

    Attributes
    ----------
    timestamp
        End of the time that was measured, as the server writes it.
    containers
        Cores and bytes by container.
    """

    timestamp: str
    containers: dict[str, tuple[float, float]]


async def read_pods(api: KubeApi, namespace: str) -> dict[str, PodUse]:
    """Return the use of the pods of a namespace by name.

    Parameters
    ----------
    api
        Client of the API server.
    namespace
        The namespace.

    Raises
    ------
    ApiError, Unreachable
        If the metrics API refuses, or does not answer.
    """
    answer = await api.get(PATH.format(namespace=namespace))
    found = {}
    for item in parts(answer, "items"):
        name = text(item, "metadata", "name")
        if name is None:
            continue
        containers = {}
        for container in parts(item, "containers"):
            cpu, memory = amount(text(container, "usage", "cpu")), amount(text(container, "usage", "memory"))
            if cpu is not None and memory is not None:
                containers[text(container, "name") or ""] = (cpu, memory)
        if containers:
            found[name] = PodUse(text(item, "timestamp") or "", containers)
    return found


def values_of(replicas: Sequence[ReplicaView], names: Sequence[str], pods: dict[str, PodUse]) -> dict[Column, float]:
    """Return the values of a job's replicas and of the whole job; empty if no pod has any.

    Parameters
    ----------
    replicas, names
        The replicas with their names.
    pods
        Use of the pods of the namespace.
    """
    values: dict[Column, float] = {}
    cores = memory = 0.0
    for replica, name in zip(replicas, names, strict=True):
        use = pods.get(replica.pod_name or "")
        if use is None:
            continue
        own = [
            each
            for container, each in use.containers.items()
            if replica.container is None or container == replica.container
        ]
        if not own:
            continue
        values[Column(name, "replica", None, "cpu")] = sum(cpu for cpu, _memory in own)
        values[Column(name, "replica", None, "memory")] = sum(size for _cpu, size in own)
        cores += values[Column(name, "replica", None, "cpu")]
        memory += values[Column(name, "replica", None, "memory")]
    if values:
        values[Column(None, "job", None, "cpu")] = cores
        values[Column(None, "job", None, "memory")] = memory
    return values


def limits_of(replicas: Sequence[ReplicaView]) -> dict[str, Any]:
    """Return requests and limits of the training containers if all replicas have the same ones."""
    found = [_resources(replica.pod, replica.container) for replica in replicas if replica.pod is not None]
    return found[0] if found and all(each == found[0] for each in found) else {}


def _resources(pod: Json, name: str | None) -> dict[str, Any]:
    for container in parts(pod, "spec", "containers"):
        if name is None or text(container, "name") == name:
            given = {}
            for kind in ("limits", "requests"):
                for metric in ("cpu", "memory"):
                    number = amount(_quantity(value(container, "resources", kind, metric)))
                    if number:
                        given[f"{kind}.{metric}"] = number
            return given
    return {}


def _quantity(written: Any) -> str | None:
    return str(written) if isinstance(written, str | int | float) and not isinstance(written, bool) else None
