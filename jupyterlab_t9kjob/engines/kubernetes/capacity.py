"""How much of a cluster is free: nodes against their pods, counted as the scheduler counts.

What a pod holds is its effective request (`PodRequests` of k8s.io/component-helpers, by which the scheduler counts):
containers and sidecars run together, an init container runs beside the sidecars that were started before it, and the
larger of both counts (KEP-753). Requests of a whole pod stand for those of its containers (KEP-2837), and of one that
is resized in place the larger of what it has and what it is to get counts (KEP-1287). Extended resources (GPUs) have
requests equal to their limits. Total is a node's capacity, what is not allocatable of it is unhealthy (as
``arena top node`` counts).
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from ...core.capacity import Amount, NodeCapacity, Pool, QuotaLine, Taint
from ...core.quantity import amount
from .fields import flag, part, parts, text
from .transport import Json

MEASURED: Final = ("cpu", "memory")
"""Beside accelerators: what else a job asks for."""

_ACCELERATOR: Final = re.compile(
    r"(?:^|[^a-z])(?:v?gpu|dcu|npu|tpu|gcu|mlu|xpu|gaudi|ascend\w*|neuron(?:core|device)?|mig-[\w.-]+)(?:$|[^a-z])"
    r"|^(?:i915|xe)$"
)
_NATIVE: Final = ("kubernetes.io", "k8s.io")
_PRODUCT: Final = re.compile(
    r"[^/]+/(?:gpu|dcu|npu|gcu|mlu|device)[.-]?(?:product(?:-name)?|model|type)|cloud\.google\.com/gke-accelerator"
)
_ROLE: Final = "node-role.kubernetes.io/"
_KEPT_AWAY: Final = ("NoSchedule", "NoExecute")
OWN_TAINTS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints by which a node itself says that it takes no pods, such as that its disk is full."""
_SAID: Final = tuple(f"node.kubernetes.io/{name}" for name in ("not-ready", "unreachable", "unschedulable"))
"""Those of them that say no more than `ready` and `cordoned`."""
_ENDED: Final = ("Succeeded", "Failed")
_OF_WHOLE_PODS: Final = ("cpu", "memory", "hugepages-")
"""What can be asked for a whole pod."""


@lru_cache(1024)
def is_accelerator(resource: str) -> bool:
    """Whether a resource is a kind of device that models are trained on."""
    domain, _, name = resource.rpartition("/")
    return bool(domain) and not domain.endswith(_NATIVE) and _ACCELERATOR.search(name.lower()) is not None


# -- pods --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """What a pod takes from its node.

    Attributes
    ----------
    node
        Its name.
    amounts
        By resource, in its base unit; only of accelerators, CPU and memory.
    """

    node: str
    amounts: Counter[str]


def requests_of(pod: Json) -> Counter[str]:
    """Return what a pod holds while it runs, by resource."""
    held = _together(pod, _asked)
    statuses = {text(each, "name"): each for each in _statuses(pod)}
    if any(_is_resized(each, statuses.get(text(each, "name"))) for each in _containers(pod)):
        before = _together(pod, lambda container: _had(container, statuses.get(text(container, "name"))))
        held = before if _is_infeasible(pod) else held | before
    for name, asked in _amounts(part(pod, "spec", "resources", "requests")).items():
        if name.startswith(_OF_WHOLE_PODS):
            held[name] = asked
    held += _amounts(part(pod, "spec", "overhead"))
    return Counter({name: exact(asked) for name, asked in held.items()})


def held_by(pod: Json) -> Held | None:
    """Return what a pod takes from its node; None of one that was placed on none, or has ended."""
    node = text(pod, "spec", "nodeName")
    if node is None or text(pod, "status", "phase") in _ENDED:
        return None
    counted = {name: taken for name, taken in requests_of(pod).items() if name in MEASURED or is_accelerator(name)}
    return Held(sys.intern(node), Counter(counted))


def kept_of_pod(pod: Json) -> Json:
    """Return what counts of a pod, which is little."""
    metadata = pod["metadata"]
    return {"metadata": {name: metadata[name] for name in ("uid", "resourceVersion")}, "held": held_by(pod)}


def _together(pod: Json, asked: Callable[[Json], Counter[str]]) -> Counter[str]:
    """Return what the containers of a pod hold together, at the moment when that is most."""
    running: Counter[str] = Counter()
    starting: Counter[str] = Counter()
    for container in parts(pod, "spec", "initContainers"):
        if container.get("restartPolicy") == "Always":  # a sidecar
            running += asked(container)
            starting |= running
        else:
            starting |= running + asked(container)
    for container in parts(pod, "spec", "containers"):
        running += asked(container)
    return running | starting


def _asked(container: Json) -> Counter[str]:
    """Return a container's requests; a limit without a request counts as one."""
    resources = part(container, "resources")
    return _amounts({**part(resources, "limits"), **part(resources, "requests")})


def _had(container: Json, status: Json | None) -> Counter[str]:
    """Return what a container was given, and what it has."""
    given, has = part(status, "allocatedResources"), part(status, "resources", "requests")
    return _amounts(given) | _amounts(has) or _asked(container)


def _is_resized(container: Json, status: Json | None) -> bool:
    written = part(container, "resources", "requests")
    told = (part(status, "allocatedResources"), part(status, "resources", "requests"))
    return any(each and each != written for each in told)


def _is_infeasible(pod: Json) -> bool:
    """Whether a pod was to become larger than its node."""
    conditions = parts(pod, "status", "conditions")
    return any(each.get("type") == "PodResizePending" and each.get("reason") == "Infeasible" for each in conditions)


def _containers(pod: Json) -> list[Json]:
    return [*parts(pod, "spec", "containers"), *parts(pod, "spec", "initContainers")]


def _statuses(pod: Json) -> list[Json]:
    return [*parts(pod, "status", "containerStatuses"), *parts(pod, "status", "initContainerStatuses")]


# -- nodes -------------------------------------------------------------------------------------------------------------


def kept_of_node(node: Json) -> Json:
    """Return what counts of a node; its images alone would be most of it."""
    metadata, spec, status = part(node, "metadata"), part(node, "spec"), part(node, "status")
    conditions = parts(status, "conditions")
    ready = [{"type": "Ready", "status": each.get("status")} for each in conditions if each.get("type") == "Ready"]
    return {
        "metadata": {name: metadata.get(name) for name in ("uid", "name", "resourceVersion", "labels")},
        "spec": {name: spec[name] for name in ("unschedulable", "taints") if name in spec},
        "status": {name: status.get(name) for name in ("capacity", "allocatable", "addresses")} | {"conditions": ready},
    }


def node_of(node: Json, held: Iterable[Held], mine: Mapping[str, float] | None = None) -> NodeCapacity:
    """Return a node with what is free on it.

    Parameters
    ----------
    node
        The node, or what is kept of it.
    held
        What the pods take that are on it.
    mine
        What of that this user's jobs take.
    """
    taken: Counter[str] = Counter()
    count = 0
    for each in held:
        taken += each.amounts
        count += 1
    ready, cordoned, taints = _is_ready(node), flag(node, "spec", "unschedulable"), _taints(node)
    takes = ready and not cordoned and not any(taint.key.startswith(OWN_TAINTS) for taint in taints)
    capacity, allocatable = (_amounts(part(node, "status", name)) for name in ("capacity", "allocatable"))
    there = capacity | allocatable
    names = [*(name for name in MEASURED if name in there), *sorted(filter(is_accelerator, there))]
    labels = part(node, "metadata", "labels")
    label = next((name for name in sorted(map(str, labels)) if _PRODUCT.fullmatch(name)), None)
    addresses = parts(node, "status", "addresses")
    return NodeCapacity(
        name=text(node, "metadata", "name") or "",
        address=next((text(each, "address") for each in addresses if each.get("type") == "InternalIP"), None),
        roles=sorted(str(label).removeprefix(_ROLE) for label in labels if str(label).startswith(_ROLE)),
        ready=ready,
        cordoned=cordoned,
        taints=[taint for taint in taints if taint.key not in _SAID],
        product=str(labels[label]) if label is not None else None,
        product_label=label,
        pods=count,
        amounts=[_amount(name, there[name], allocatable[name], taken[name], takes=takes) for name in names],
        mine=together([mine or {}]),
    )


def _amount(name: str, total: float, usable: float, taken: float, *, takes: bool) -> Amount:
    return Amount(
        resource=name,
        total=total,
        unhealthy=exact(max(0.0, total - usable)),
        allocated=exact(taken),
        free=exact(max(0.0, usable - taken)) if takes else 0.0,
    )


def _is_ready(node: Json) -> bool:
    conditions = parts(node, "status", "conditions")
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)


def _taints(node: Json) -> list[Taint]:
    """Return the taints that keep pods away."""
    found = (
        Taint(key=text(taint, "key") or "", value=text(taint, "value") or "", effect=text(taint, "effect") or "")
        for taint in parts(node, "spec", "taints")
    )
    return [taint for taint in found if taint.effect in _KEPT_AWAY]


# -- the whole cluster -------------------------------------------------------------------------------------------------


def sum_of(nodes: Iterable[NodeCapacity]) -> list[Amount]:
    """Return CPU and memory of nodes together."""
    found: dict[str, list[Amount]] = {name: [] for name in MEASURED}
    for node in nodes:
        for one in node.amounts:
            if one.resource in found:
                found[one.resource].append(one)
    return [_sum(resource, amounts) for resource, amounts in found.items() if amounts]


def together(amounts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return amounts by resource, added up."""
    found: dict[str, float] = {}
    for each in amounts:
        for name, one in each.items():
            found[name] = exact(found.get(name, 0.0) + one)
    return found


def most_beside(nodes: Iterable[NodeCapacity]) -> dict[str, float]:
    """Return the most CPU and the most memory that is free on one of these nodes."""
    most: dict[str, float] = {}
    for node in nodes:
        for one in node.amounts:
            if one.resource in MEASURED:
                most[one.resource] = max(most.get(one.resource, 0.0), one.free)
    return most


def pools_of(nodes: Iterable[NodeCapacity]) -> list[Pool]:
    """Return the accelerators of a cluster by kind, the largest pool first."""
    kinds: dict[tuple[str, str | None], list[tuple[NodeCapacity, Amount]]] = {}
    for node in nodes:
        for one in node.amounts:
            if one.resource not in MEASURED and one.total:
                kinds.setdefault((one.resource, node.product), []).append((node, one))
    pools = [_pool(resource, product, members) for (resource, product), members in kinds.items()]
    return sorted(pools, key=lambda pool: (-pool.amount.total, pool.resource, pool.product or ""))


def _pool(resource: str, product: str | None, members: Sequence[tuple[NodeCapacity, Amount]]) -> Pool:
    labels = {node.product_label for node, _one in members}
    return Pool(
        resource=resource,
        product=product,
        product_label=labels.pop() if len(labels) == 1 else None,  # else no label would choose all of its nodes
        nodes=len(members),
        amount=_sum(resource, [one for _node, one in members]),
        most_on_a_node=max(one.free for _node, one in members),
        largest_node=max(one.total for _node, one in members),
        most_beside=most_beside(node for node, _one in members),
        mine=exact(sum(node.mine.get(resource, 0.0) for node, _one in members)),
    )


def _sum(resource: str, amounts: Sequence[Amount]) -> Amount:
    return Amount(
        resource=resource,
        total=exact(sum(one.total for one in amounts)),
        unhealthy=exact(sum(one.unhealthy for one in amounts)),
        allocated=exact(sum(one.allocated for one in amounts)),
        free=exact(sum(one.free for one in amounts)),
    )


# -- quotas ------------------------------------------------------------------------------------------------------------


def quota_of(quota: Json) -> list[QuotaLine]:
    """Return the limits of a ResourceQuota, with what is used of each."""
    spec, status = part(quota, "spec"), part(quota, "status")
    name = text(quota, "metadata", "name") or ""
    scoped = bool(spec.get("scopes") or part(spec, "scopeSelector"))
    used = _amounts(part(status, "used"))
    return [
        QuotaLine(quota=name, resource=resource, used=used[resource], hard=hard, scoped=scoped)
        for resource, hard in _amounts(part(status, "hard")).items()
    ]


# -- amounts -----------------------------------------------------------------------------------------------------------


def _amounts(written: Mapping[str, Any]) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, each in written.items():
        read = _read(each) if isinstance(each, str | int) else None
        if read is not None:
            found[sys.intern(name)] = read  # type: ignore[assignment]  # a Counter's arithmetic, also with fractions
    return found


@lru_cache(4096)
def _read(written: str | int) -> float | None:
    return amount(str(written))


def exact(sum_: float) -> float:
    """Return a sum of quantities, which have nine decimals at most, without what binary fractions add to it."""
    return round(sum_, 9)


def times(has: float, wanted: float) -> int:
    """Return how many times a quantity, which is not 0, is contained in another one."""
    return round(has * 1e9) // round(wanted * 1e9)  # in binary fractions 1 has only nine times 0.1
