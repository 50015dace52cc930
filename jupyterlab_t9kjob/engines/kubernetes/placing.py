"""Which nodes a pod may be placed on, and what they lack for it.

The scheduler's rules as far as a node's labels, taints and amounts tell [Kubernetes: Assigning Pods to Nodes; Taints
and Tolerations]. What depends on other pods or on volumes is left out: it can only rule out more nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...core.capacity import Amount, NodeCapacity, QuotaLine, Taint
from .capacity import MEASURED, OWN_TAINTS, exact, is_accelerator, requests_of, times
from .fields import part, parts, text, texts, value
from .sentences import named
from .transport import Json

_COUNTED: Final = ("gpu", "dcu", "npu", "vgpu", "xpu", "tpu")
"""Names of devices that are said in capitals rather than with their maker: `amd.com/gpu` is “GPUs”."""
_MAKERS: Final = ("nvidia", "amd", "tesla", "geforce", "quadro", "instinct", "hygon")
_SHAPE: Final = re.compile(r"sxm\d*|pcie?|hbm\w*|nvl|oam|\d+gi?b", re.IGNORECASE)
"""What tells how a device is built in, and its memory."""
_POOLS: Final = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "alibabacloud.com/nodepool-id",
)
"""Labels of nodes that a cloud has made, and could make others of."""


@dataclass(frozen=True)
class Node:
    """A node, as far as it decides what is placed on it."""

    capacity: NodeCapacity
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its name, as it may stand in a sentence."""
        return named(self.capacity.name)

    def amount(self, resource: str) -> Amount:
        """Return what it has of a resource."""
        found = (one for one in self.capacity.amounts if one.resource == resource)
        return next(found, Amount(resource=resource))


Measure = Callable[[Amount], float]
PLACED_BY: Final = ("nodeSelector", "affinity", "tolerations")
"""Fields of a pod that decide which nodes it may be placed on."""


def asked_of(pod: Json) -> dict[str, float]:
    """Return what a pod asks of its node, by resource, of what is known of nodes."""
    held = sorted(requests_of(pod).items())
    return {name: wanted for name, wanted in held if name in MEASURED or is_accelerator(name)}


def ever(amount: Amount) -> float:
    """Return what a pod may get of an amount at best: a device that is broken may be mended, what is kept is not."""
    return exact(amount.total - amount.unhealthy) if amount.resource in MEASURED else amount.total


def now(amount: Amount) -> float:
    """Return what a pod can get of an amount at once."""
    return amount.free


@dataclass(frozen=True)
class Lack:
    """What none of some nodes has.

    Attributes
    ----------
    resource, asked
        What a pod asks for, and how much of it.
    most, on
        The most that one of the nodes has, and which.
    nodes
        All of the nodes; they have enough of what is asked for `beside`.
    alike
        Whether each has the most.
    """

    resource: str
    asked: float
    most: float
    on: Node
    nodes: Sequence[Node]
    alike: bool
    beside: Mapping[str, float]

    def words(self, amount: float) -> str:
        """Say an amount of it: “8 A100”."""
        return said(self.resource, amount, self.nodes)


def lacking(asked: Mapping[str, float], nodes: Sequence[Node], measure: Measure) -> Lack | None:
    """Return what no node has of what a pod asks for, devices first; None if one has all of it.

    Parameters
    ----------
    asked
        What a pod holds, by resource.
    nodes
        At least one.
    """
    beside: dict[str, float] = {}
    for resource, wanted in sorted(asked.items(), key=lambda one: (one[0] in MEASURED, one[0])):
        if not wanted:
            continue
        if resource not in MEASURED:  # what other nodes are without says nothing
            nodes = [node for node in nodes if node.amount(resource).total] or nodes
        has = {node.capacity.name: measure(node.amount(resource)) for node in nodes}
        enough = [node for node in nodes if has[node.capacity.name] >= wanted]
        if not enough:
            best = max(nodes, key=lambda node: has[node.capacity.name])
            most = has[best.capacity.name]
            return Lack(resource, wanted, most, best, nodes, all(one == most for one in has.values()), beside)
        nodes, beside = enough, {**beside, resource: wanted}
    return None


@dataclass(frozen=True)
class Room:
    """What a cluster has, as far as this account sees it.

    Attributes
    ----------
    nodes
        All of them; None where they can't be seen.
    quotas
        The limits of namespaces, by namespace.
    exact
        Whether all pods are counted; else less may be free.
    """

    nodes: Sequence[Node] | None = None
    quotas: Mapping[str, Sequence[QuotaLine]] = field(default_factory=dict)
    exact: bool = True
    _told: dict[str, tuple[Lack, bool] | None] = field(default_factory=dict, init=False, compare=False, repr=False)

    def lack(self, pod: Json) -> tuple[Lack, bool] | None:
        """Return what keeps a pod from all nodes that it may be placed on, and whether it always will.

        None if nothing is known to. Many pods ask for the same, so what was found is kept.
        """
        spec = part(pod, "spec")
        key = repr([asked_of(pod), *(spec.get(name) for name in PLACED_BY)])
        if key not in self._told:
            self._told[key] = self._find(pod)
        return self._told[key]

    def _find(self, pod: Json) -> tuple[Lack, bool] | None:
        nodes, asked = open_to(pod, chosen(pod, self.nodes or ())), asked_of(pod)
        for measure in (ever, now) if nodes else ():
            lack = lacking(asked, nodes, measure)
            if lack is not None:
                return lack, measure is ever
        return None


def room_for(asked: Mapping[str, float], node: Node, measure: Measure) -> int | None:
    """Return how many pods that ask for as much a node has room for; None if they ask for nothing."""
    return min((times(measure(node.amount(name)), wanted) for name, wanted in asked.items() if wanted), default=None)


def never(lack: Lack) -> str:
    """Say that no node is large enough: “No node has 16 A100: each has 8”."""
    beside = " and ".join(said(name, wanted, lack.nodes) for name, wanted in lack.beside.items())
    which = f"No node with {beside}" if beside else "No node"
    most = quantity(lack.resource, lack.most)
    if len(lack.nodes) == 1:
        rest = f"the only one, {lack.on.name}, has {most}"
    else:
        rest = f"each has {most}" if lack.alike else f"the most is {most}, on {lack.on.name}"
    return f"{which} has {lack.words(lack.asked)}: {rest}"


def not_now(lack: Lack) -> str:
    """Say that too little is free: “Needs 4 free A100 on one node; the most free is 2, on node-7”."""
    thing = word(lack.resource, lack.nodes, lack.asked)
    beside = " and ".join(said(name, wanted, lack.nodes, "free ") for name, wanted in lack.beside.items())
    where = f"a node with {beside}" if beside else "one node"
    most = f"the most free is {quantity(lack.resource, lack.most)}, on {lack.on.name}" if lack.most > 0 else "none is"
    return f"Needs {quantity(lack.resource, lack.asked)} free {thing} on {where}; {most}"


def fewer(lack: Lack) -> str:
    """Say what would fit on a node."""
    if lack.resource == "memory":
        return f"Ask for {int(lack.most // 2**30)} GiB or less on a node."
    return f"Ask for {quantity(lack.resource, lack.most)} or {'less' if lack.resource == 'cpu' else 'fewer'} on a node."


# -- which nodes -------------------------------------------------------------------------------------------------------


def chosen(pod: Json, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that have the labels that a pod asks for."""
    selector = part(pod, "spec", "nodeSelector")
    required = part(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = parts(required, "nodeSelectorTerms")
    return [
        node
        for node in nodes
        if all(node.labels.get(key) == wanted for key, wanted in selector.items())
        and (not terms or any(_meets(node, term) for term in terms))
    ]


def open_to(pod: Json, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that have no taint that keeps a pod away."""
    tolerations = parts(pod, "spec", "tolerations")
    return [node for node in nodes if not any(_keeps_away(taint, tolerations) for taint in node.capacity.taints)]


def taints_against(pod: Json, nodes: Iterable[Node]) -> list[str]:
    """Return the taints that keep a pod away from some nodes, as they may stand in a sentence."""
    tolerations = parts(pod, "spec", "tolerations")
    against = (taint for node in nodes for taint in node.capacity.taints if _keeps_away(taint, tolerations))
    return list(dict.fromkeys(named(f"{one.key}={one.value}" if one.value else one.key) for one in against))


def may_grow(nodes: Iterable[Node]) -> bool:
    """Whether nodes of other sizes may be added without anybody's doing: the nodes are of a cloud's pools."""
    return any(label in node.labels for node in nodes for label in _POOLS)


def _keeps_away(taint: Taint, tolerations: Sequence[Json]) -> bool:
    if taint.key.startswith(OWN_TAINTS):
        return False  # it goes when the node is well again; nothing is free there until then
    return not any(_tolerates(one, taint) for one in tolerations)


def _tolerates(toleration: Json, taint: Taint) -> bool:
    if text(toleration, "effect") not in (None, taint.effect):
        return False
    key = text(toleration, "key")
    if text(toleration, "operator") == "Exists":
        return key in (None, taint.key)
    return key == taint.key and (text(toleration, "value") or "") == taint.value


def _meets(node: Node, term: Json) -> bool:
    expressions, names = parts(term, "matchExpressions"), parts(term, "matchFields")
    if not expressions and not names:
        return False
    name = {"metadata.name": node.capacity.name}
    return all(_matches(node.labels, one) for one in expressions) and all(_matches(name, one) for one in names)


def _matches(labels: Mapping[str, str], expression: Json) -> bool:
    has, values = labels.get(text(expression, "key") or ""), texts(expression, "values")
    operator = value(expression, "operator")
    if operator == "In":
        return has in values
    if operator == "NotIn":
        return has not in values
    if operator == "Exists":
        return has is not None
    if operator == "DoesNotExist":
        return has is None
    try:
        number, bound = int(has or ""), int(values[0] if values else "")
    except ValueError:
        return False
    return number > bound if operator == "Gt" else number < bound


# -- words -------------------------------------------------------------------------------------------------------------


def said(resource: str, amount: float, nodes: Iterable[Node] = (), before: str = "") -> str:
    """Say an amount: “8 A100”, “1 GPU”, “64 CPU”, “512 GiB memory”; `before` stands before the thing."""
    return f"{quantity(resource, amount)} {before}{word(resource, nodes, amount)}"


def quantity(resource: str, amount: float) -> str:
    """Say how much of a resource: “8”, “0.5”, “512 GiB”."""
    if resource != "memory":
        return f"{amount:.10g}"
    unit, name = next((one for one in _UNITS if amount >= one[0]), _UNITS[-1])
    return f"{amount / unit:.4g} {name}"


def word(resource: str, nodes: Iterable[Node] = (), amount: float = 2) -> str:
    """Name a resource: “A100” where the nodes that have it agree, “GPUs”, “CPU”, “example.com/dongle”."""
    if resource in MEASURED:
        return {"cpu": "CPU", "memory": "memory"}[resource]
    products = {node.capacity.product for node in nodes if node.amount(resource).total}
    plain = resource.rpartition("/")[2]
    if plain not in _COUNTED:
        return named(resource)
    product = _short(products.pop() or "") if len(products) == 1 else ""
    return product or (plain.upper() if amount == 1 else f"{plain.upper()}s")


def _short(product: str) -> str:
    """Return a product's name without its maker and its shape: “A100” of ``NVIDIA-A100-SXM4-80GB``."""
    words = re.split(r"[-_\s]+", product[:200])
    return named(" ".join(one for one in words if one.lower() not in _MAKERS and not _SHAPE.fullmatch(one)))


_UNITS: Final = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"))
