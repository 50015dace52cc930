"""Which nodes a pod may be placed on, and what they lack for it.

The scheduler's rules as far as a node's labels, taints and amounts tell [Kubernetes: Assigning Pods to Nodes; Taints
and Tolerations]. What depends on other pods or on volumes is left out: it can only rule out more nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from ....core.capacity import Amount, NodeCapacity, QuotaLine, Taint
from ..client.api import Json
from ..client.json_access import part, parts
from ..objects.requests import asked_of, shape_of
from ..objects.resources import MEASURED, exact, quantity, said, said_free, times, word
from ..objects.selectors import matches, tolerates
from ..objects.text import named
from .node_capacity import OWN_TAINTS

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
        return self._amounts.get(resource) or Amount(resource=resource)

    @cached_property
    def _amounts(self) -> dict[str, Amount]:
        return {one.resource: one for one in self.capacity.amounts}


Measure = Callable[[Amount], float]


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
        return said(self.resource, amount, product_of(self.resource, self.nodes))


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
class ClusterRoom:
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

    @cached_property
    def cordoned(self) -> frozenset[str]:
        """The names of the nodes that were closed for new pods: those that are drained are."""
        return frozenset(node.capacity.name for node in self.nodes or () if node.capacity.cordoned)

    def lack(self, pod: Json) -> tuple[Lack, bool] | None:
        """Return what keeps a pod from all nodes that it may be placed on, and whether it always will.

        None if nothing is known to. Many pods ask for the same, so what was found is kept.
        """
        key = shape_of(pod)
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
    beside = " and ".join(said(name, wanted, product_of(name, lack.nodes)) for name, wanted in lack.beside.items())
    which = f"No node with {beside}" if beside else "No node"
    most = quantity(lack.resource, lack.most)
    if len(lack.nodes) == 1:
        rest = f"the only one, {lack.on.name}, has {most}"
    else:
        rest = f"each has {most}" if lack.alike else f"the most is {most}, on {lack.on.name}"
    return f"{which} has {lack.words(lack.asked)}: {rest}"


def not_now(lack: Lack) -> str:
    """Say that too little is free: “Needs 4 free A100 on one node; the most free is 2, on node-7”."""
    thing = word(lack.resource, lack.asked, product_of(lack.resource, lack.nodes))
    besides = ((name, wanted, product_of(name, lack.nodes)) for name, wanted in lack.beside.items())
    beside = " and ".join(said_free(*one) for one in besides)
    where = f"a node with {beside}" if beside else "one node"
    most = f"the most free is {quantity(lack.resource, lack.most)}, on {lack.on.name}" if lack.most > 0 else "none is"
    return f"Needs {quantity(lack.resource, lack.asked)} free {thing} on {where}; {most}"


def fewer(lack: Lack) -> str:
    """Say what would fit on a node."""
    if lack.resource == "memory":
        return f"Ask for {int(lack.most // 2**30)} GiB or less on a node."
    return f"Ask for {quantity(lack.resource, lack.most)} or {'less' if lack.resource == 'cpu' else 'fewer'} on a node."


def product_of(resource: str, nodes: Iterable[Node]) -> str | None:
    """Return the product that a resource is on nodes; None where they don't agree, or don't say."""
    products = {node.capacity.product for node in nodes if node.amount(resource).total}
    return products.pop() if len(products) == 1 else None


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
    return not any(tolerates(one, taint) for one in tolerations)


def _meets(node: Node, term: Json) -> bool:
    expressions, names = parts(term, "matchExpressions"), parts(term, "matchFields")
    if not expressions and not names:
        return False
    name = {"metadata.name": node.capacity.name}
    return all(matches(one, node.labels) for one in expressions) and all(matches(one, name) for one in names)
