"""How much of a cluster is free: nodes against their pods, counted as the scheduler counts.

What a pod holds is its effective request [Kubernetes: Init Containers, "Resource sharing within containers"; KEP-753
for sidecars, KEP-2837 for requests of whole pods]: containers and sidecars run together, an init container runs beside
the sidecars that were started before it, and the larger of both counts. Extended resources (GPUs) have requests equal
to their limits. Total is a node's capacity, what is not allocatable of it is unhealthy (as ``arena top node`` counts).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ...core.capacity import Amount, NodeCapacity, Pool, QuotaLine, Taint
from ...core.quantity import amount
from .fields import flag, part, parts, text
from .transport import Json

MEASURED: Final = ("cpu", "memory")
"""Beside accelerators: what else a job asks for."""

_ACCELERATOR: Final = re.compile(
    r"(?:^|[^a-z])(?:v?gpu|dcu|npu|tpu|gcu|mlu|xpu|gaudi|ascend\w*|mig-[\w.-]+)(?:$|[^a-z])"
)
_NATIVE: Final = ("kubernetes.io", "k8s.io")
_PRODUCT: Final = re.compile(r"[^/]+/(?:gpu|dcu|npu|gcu|mlu|device)[.-]?(?:product(?:-name)?|model|type)")
_ROLE: Final = "node-role.kubernetes.io/"
_KEPT_AWAY: Final = ("NoSchedule", "NoExecute")
_OWN_TAINTS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints that say the same as the node's conditions."""


def is_accelerator(resource: str) -> bool:
    """Whether a resource is a kind of device that models are trained on."""
    domain, _, name = resource.rpartition("/")
    return bool(domain) and not domain.endswith(_NATIVE) and _ACCELERATOR.search(name.lower()) is not None


def requests_of(pod: Json) -> Counter[str]:
    """Return what a pod holds while it runs, by resource."""
    running: Counter[str] = Counter()
    starting: Counter[str] = Counter()
    for container in parts(pod, "spec", "initContainers"):
        asked = _asked(container)
        if container.get("restartPolicy") == "Always":  # a sidecar
            running += asked
            starting |= running
        else:
            starting |= running + asked
    for container in parts(pod, "spec", "containers"):
        running += _asked(container)
    whole = _asked(part(pod, "spec"))
    held = Counter({**(running | starting), **whole})
    return held + _amounts(part(pod, "spec", "overhead"))


def holds(pod: Json) -> bool:
    """Whether a pod takes something from its node: it was placed on one and has not ended."""
    return text(pod, "spec", "nodeName") is not None and _lives(pod)


def node_of(node: Json, pods: Iterable[Json]) -> NodeCapacity:
    """Return a node with what is free on it.

    Parameters
    ----------
    node
        The node.
    pods
        Those that are on it; what has ended does not count.
    """
    held: Counter[str] = Counter()
    count = 0
    for pod in pods:
        if holds(pod):
            held += requests_of(pod)
            count += 1
    ready = _is_ready(node)
    cordoned = flag(node, "spec", "unschedulable")
    capacity, allocatable = (_amounts(part(node, "status", name)) for name in ("capacity", "allocatable"))
    names = [*MEASURED, *sorted(name for name in capacity | allocatable if is_accelerator(name))]
    amounts = [
        _amount(name, capacity, allocatable, held, open_=ready and not cordoned)
        for name in names
        if name in capacity or name in allocatable
    ]
    labels = part(node, "metadata", "labels")
    label = next((name for name in sorted(map(str, labels)) if _PRODUCT.fullmatch(name)), None)
    return NodeCapacity(
        name=text(node, "metadata", "name") or "",
        address=next(
            (
                text(address, "address")
                for address in parts(node, "status", "addresses")
                if address.get("type") == "InternalIP"
            ),
            None,
        ),
        roles=sorted(str(label).removeprefix(_ROLE) for label in labels if str(label).startswith(_ROLE)),
        ready=ready,
        cordoned=cordoned,
        taints=list(_taints(node)),
        product=None if label is None else str(labels[label]),
        product_label=label,
        pods=count,
        amounts=amounts,
    )


def pools_of(nodes: Sequence[NodeCapacity], mine: Mapping[tuple[str, str | None], float]) -> list[Pool]:
    """Return the accelerators of a cluster by kind, the largest pool first.

    Parameters
    ----------
    nodes
        All of them.
    mine
        What this user's jobs hold, by resource and product.
    """
    pools: dict[tuple[str, str | None], Pool] = {}
    for node in nodes:
        for one in node.amounts:
            if not is_accelerator(one.resource) or not one.total:
                continue
            key = one.resource, node.product
            pool = pools.setdefault(
                key,
                Pool(
                    resource=one.resource,
                    product=node.product,
                    product_label=node.product_label,
                    amount=Amount(resource=one.resource),
                    mine=mine.get(key, 0.0),
                ),
            )
            pool.nodes += 1
            if pool.product_label != node.product_label:
                pool.product_label = None  # no label would choose all of its nodes
            pool.most_on_a_node = max(pool.most_on_a_node, one.free)
            pool.most_beside = most_of([pool.most_beside, free_beside(node)])
            for name in ("total", "unhealthy", "allocated", "free"):
                setattr(pool.amount, name, getattr(pool.amount, name) + getattr(one, name))
    return sorted(pools.values(), key=lambda pool: (-pool.amount.total, pool.resource, pool.product or ""))


def free_beside(node: NodeCapacity) -> dict[str, float]:
    """Return the CPU and the memory that are free on a node."""
    return {one.resource: one.free for one in node.amounts if one.resource in MEASURED}


def most_of(amounts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the most of each resource."""
    most: dict[str, float] = {}
    for each in amounts:
        for name, count in each.items():
            most[name] = max(most.get(name, 0.0), count)
    return most


def quota_of(quota: Json) -> list[QuotaLine]:
    """Return the limits of a ResourceQuota, with what is used of each."""
    hard, used = (part(quota, "status", name) for name in ("hard", "used"))
    name = text(quota, "metadata", "name") or ""
    lines = []
    for resource, written in hard.items():
        limit = amount(str(written))
        if limit is not None:
            lines.append(
                QuotaLine(quota=name, resource=str(resource), used=amount(str(used.get(resource))) or 0.0, hard=limit)
            )
    return lines


def job_devices(pods: Iterable[Json]) -> tuple[Counter[str], Counter[str]]:
    """Return the accelerators that a job's pods ask for, and those that they hold (as ``arena top job`` counts)."""
    requested: Counter[str] = Counter()
    allocated: Counter[str] = Counter()
    for pod in pods:
        devices = Counter({name: count for name, count in requests_of(pod).items() if is_accelerator(name)})
        requested += devices if _lives(pod) else Counter()
        allocated += devices if holds(pod) and text(pod, "status", "startTime") is not None else Counter()
    return requested, allocated


# -- inside ------------------------------------------------------------------------------------------------------------


def _amount(name: str, capacity: Counter[str], allocatable: Counter[str], held: Counter[str], *, open_: bool) -> Amount:
    total = capacity.get(name, allocatable.get(name, 0))
    usable = allocatable.get(name, 0)
    return Amount(
        resource=name,
        total=total,
        unhealthy=max(0.0, total - usable),
        allocated=held.get(name, 0),
        free=max(0.0, usable - held.get(name, 0)) if open_ else 0.0,
    )


def _asked(container: Json) -> Counter[str]:
    """Return a container's requests; a limit without a request counts as one."""
    resources = part(container, "resources")
    return Counter({**_amounts(part(resources, "limits")), **_amounts(part(resources, "requests"))})


def _amounts(written: Mapping[str, Any]) -> Counter[str]:
    read = {str(name): amount(str(value)) for name, value in written.items()}
    found: Counter[str] = Counter()
    for name, value in read.items():
        if value is not None:
            found[name] = value  # type: ignore[assignment]  # a Counter's arithmetic, with fractions of a core
    return found


def _lives(pod: Json) -> bool:
    return text(pod, "status", "phase") not in ("Succeeded", "Failed")


def _is_ready(node: Json) -> bool:
    conditions = parts(node, "status", "conditions")
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _taints(node: Json) -> Iterable[Taint]:
    for taint in parts(node, "spec", "taints"):
        key, effect = text(taint, "key") or "", text(taint, "effect") or ""
        if effect in _KEPT_AWAY and not key.startswith(_OWN_TAINTS):
            yield Taint(key=key, value=text(taint, "value") or "", effect=effect)
