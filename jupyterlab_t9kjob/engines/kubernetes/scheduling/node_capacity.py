"""Free capacity of nodes, counted as the scheduler counts: allocatable amounts less the pods' requests.

The total is a node's capacity; the part that is not allocatable counts as unhealthy, as in ``arena top node``. The
module `requests` computes the amounts that a pod holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ....core.capacity import Amount, NodeCapacity, Pool, QuotaLine, Taint
from ..client.api import Json
from ..client.json_access import flag, part, parts, text
from ..objects.pods.requests import Held
from ..objects.resources import MEASURED, amounts_of, exact, is_accelerator, together

_PRODUCT: Final = re.compile(
    r"[^/]+/(?:gpu|dcu|npu|gcu|mlu|device)[.-]?(?:product(?:-name)?|model|type)|cloud\.google\.com/gke-accelerator"
)
_ROLE: Final = "node-role.kubernetes.io/"
_KEPT_AWAY: Final = ("NoSchedule", "NoExecute")
OWN_TAINTS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Prefixes of taints that a node sets on itself while it takes no pods, for example because its disk is full."""
_REPEATED: Final = tuple(f"node.kubernetes.io/{name}" for name in ("not-ready", "unreachable", "unschedulable"))
"""Taints that repeat `NodeCapacity.ready` and `NodeCapacity.cordoned`."""


# -- nodes -------------------------------------------------------------------------------------------------------------


def kept_of_node(node: Json) -> Json:
    """Return the fields of a node that are read here. The list of images alone would be most of a node."""
    metadata, spec, status = part(node, "metadata"), part(node, "spec"), part(node, "status")
    conditions = parts(status, "conditions")
    ready = [{"type": "Ready", "status": each.get("status")} for each in conditions if each.get("type") == "Ready"]
    return {
        "metadata": {name: metadata.get(name) for name in ("uid", "name", "resourceVersion", "labels")},
        "spec": {name: spec[name] for name in ("unschedulable", "taints") if name in spec},
        "status": {name: status.get(name) for name in ("capacity", "allocatable", "addresses")} | {"conditions": ready},
    }


def node_of(node: Json, held: Iterable[Held], mine: Mapping[str, float] | None = None) -> NodeCapacity:
    """Return the capacity of a node.

    Parameters
    ----------
    node
        The node, or its fields that `kept_of_node` keeps.
    held
        Amounts that the pods on the node hold.
    mine
        Amounts among them that this user's jobs hold, by resource.
    """
    taken: Counter[str] = Counter()
    count = 0
    for each in held:
        taken += each.amounts
        count += 1
    ready, cordoned, taints = _is_ready(node), flag(node, "spec", "unschedulable"), _taints(node)
    takes = ready and not cordoned and not any(taint.key.startswith(OWN_TAINTS) for taint in taints)
    capacity, allocatable = (amounts_of(part(node, "status", name)) for name in ("capacity", "allocatable"))
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
        taints=[taint for taint in taints if taint.key not in _REPEATED],
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
    """Return the taints that keep pods away from a node."""
    found = (
        Taint(key=text(taint, "key") or "", value=text(taint, "value") or "", effect=text(taint, "effect") or "")
        for taint in parts(node, "spec", "taints")
    )
    return [taint for taint in found if taint.effect in _KEPT_AWAY]


# -- the whole cluster -------------------------------------------------------------------------------------------------


def sum_of(nodes: Iterable[NodeCapacity]) -> list[Amount]:
    """Return the sum of CPU and memory of some nodes."""
    found: dict[str, list[Amount]] = {name: [] for name in MEASURED}
    for node in nodes:
        for one in node.amounts:
            if one.resource in found:
                found[one.resource].append(one)
    return [_sum(resource, amounts) for resource, amounts in found.items() if amounts]


def most_beside(nodes: Iterable[NodeCapacity]) -> dict[str, float]:
    """Return the most CPU and the most memory that are free on one of some nodes, by resource."""
    most: dict[str, float] = {}
    for node in nodes:
        for one in node.amounts:
            if one.resource in MEASURED:
                most[one.resource] = max(most.get(one.resource, 0.0), one.free)
    return most


def pools_of(nodes: Iterable[NodeCapacity]) -> list[Pool]:
    """Return the accelerators of a cluster by resource and product, the largest pool first."""
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
        product_label=labels.pop() if len(labels) == 1 else None,  # One label must select all nodes of the pool.
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
    """Return the lines of a ResourceQuota: limit and use by resource."""
    spec, status = part(quota, "spec"), part(quota, "status")
    name = text(quota, "metadata", "name") or ""
    scoped = bool(spec.get("scopes") or part(spec, "scopeSelector"))
    used = amounts_of(part(status, "used"))
    return [
        QuotaLine(quota=name, resource=resource, used=used[resource], hard=hard, scoped=scoped)
        for resource, hard in amounts_of(part(status, "hard")).items()
    ]
