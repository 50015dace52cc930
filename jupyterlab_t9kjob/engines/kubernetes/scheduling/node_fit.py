"""Nodes that a pod fits on, and the resources that the other nodes lack.

The rules are the scheduler's for labels, taints and amounts of nodes [Kubernetes: Assigning Pods to Nodes; Taints and
Tolerations]. Rules that depend on other pods or on volumes are left out: they can only exclude more nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from ....core.capacity import Amount, NodeCapacity, QuotaLine, Taint
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import part, parts
from ..objects.pods.requests import asked_of, shape_of
from ..objects.resources import MEASURED, exact, quantity, said, said_free, times
from ..objects.selectors import matches, tolerates
from ..objects.text import listed, named
from .node_capacity import OWN_TAINTS

_POOLS: Final = (
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "alibabacloud.com/nodepool-id",
)
"""Labels of nodes of a cloud's pools, to which the cloud can add nodes."""


@dataclass(frozen=True)
class Node:
    """A node: capacity and labels, which decide about the pods that fit."""

    capacity: NodeCapacity
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the node for use in a sentence."""
        return named(self.capacity.name)

    def amount(self, resource: str) -> Amount:
        """Return the node's amount of a resource; zero if it has none."""
        return self._amounts.get(resource) or Amount(resource=resource)

    @cached_property
    def _amounts(self) -> dict[str, Amount]:
        return {one.resource: one for one in self.capacity.amounts}


Measure = Callable[[Amount], float]


def ever(amount: Amount) -> float:
    """Return the part of an amount that a pod can get on an empty node.

    Unhealthy devices count, since they may be repaired. CPU and memory that the node reserves for itself do not.
    """
    return exact(amount.total - amount.unhealthy) if amount.resource in MEASURED else amount.total


def now(amount: Amount) -> float:
    """Return the part of an amount that is free now."""
    return amount.free


@dataclass(frozen=True)
class Lack:
    """A resource of which none of some nodes has enough for a pod.

    Attributes
    ----------
    resource, asked
        The resource, and the amount that the pod asks for, in the resource's base unit.
    most, on
        The largest amount on one of the nodes, and that node.
    nodes
        The nodes. Each has enough of the resources in `beside`.
    alike
        True if all nodes have the same amount.
    beside
        Other amounts that the pod asks for, by resource.
    """

    resource: str
    asked: float
    most: float
    on: Node
    nodes: Sequence[Node]
    alike: bool
    beside: Mapping[str, float]


def lacking(asked: Mapping[str, float], nodes: Sequence[Node], measure: Measure) -> Lack | None:
    """Return the resource that a pod asks for and no node has enough of, devices first; None if one node has all.

    Parameters
    ----------
    asked
        Amounts that the pod asks for, by resource.
    nodes
        The nodes; at least one.
    measure
        Part of a node's amount that counts: `ever` or `now`.
    """
    beside: dict[str, float] = {}
    for resource, wanted in sorted(asked.items(), key=lambda one: (one[0] in MEASURED, one[0])):
        if not wanted:
            continue
        if resource not in MEASURED:  # Nodes without such devices say nothing about how many there can be.
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
    """Nodes and quotas of a cluster, as far as this account can read them.

    Attributes
    ----------
    nodes
        All nodes; None if they can't be read.
    quotas
        Quota lines by namespace.
    exact
        True if all pods are counted; otherwise less may be free than `nodes` say.
    """

    nodes: Sequence[Node] | None = None
    quotas: Mapping[str, Sequence[QuotaLine]] = field(default_factory=dict)
    exact: bool = True
    _found: dict[str, tuple[Lack, bool] | None] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def cordoned(self) -> frozenset[str]:
        """Names of the cordoned nodes; drained nodes are cordoned."""
        return frozenset(node.capacity.name for node in self.nodes or () if node.capacity.cordoned)

    def lack(self, pod: Json) -> tuple[Lack, bool] | None:
        """Return the resource that no node has enough of for a pod, and True if that holds even for empty nodes.

        Return None if a node has enough, as far as is known. Results are cached by the pods' requests, which many pods
        share.
        """
        key = shape_of(pod)
        if key not in self._found:
            self._found[key] = self._find(pod)
        return self._found[key]

    def _find(self, pod: Json) -> tuple[Lack, bool] | None:
        nodes, asked = open_to(pod, chosen(pod, self.nodes or ())), asked_of(pod)
        for measure in (ever, now) if nodes else ():
            lack = lacking(asked, nodes, measure)
            if lack is not None:
                return lack, measure is ever
        return None


def room_for(asked: Mapping[str, float], node: Node, measure: Measure) -> int | None:
    """Return the number of pods with the same requests that fit on a node; None if they request nothing.

    Parameters
    ----------
    asked
        Amounts that one pod asks for, by resource.
    node
        The node.
    measure
        Part of the node's amount that counts: `ever` or `now`.
    """
    return min((times(measure(node.amount(name)), wanted) for name, wanted in asked.items() if wanted), default=None)


def never(lack: Lack) -> Text:
    """Return the sentence that no node is large enough: “No node has 16 A100: each has 8”."""
    devices = said(lack.resource, lack.asked, product_of(lack.resource, lack.nodes))
    most, beside, node = quantity(lack.resource, lack.most), _beside(lack, said), lack.on.name
    if beside is None:
        if len(lack.nodes) == 1:
            return _("No node has {devices}: the only one, {node}, has {most}", devices=devices, node=node, most=most)
        if lack.alike:
            return _("No node has {devices}: each has {most}", devices=devices, most=most)
        return _("No node has {devices}: the most is {most}, on {node}", devices=devices, most=most, node=node)
    if len(lack.nodes) == 1:
        return _(
            "No node with {beside} has {devices}: the only one, {node}, has {most}",
            beside=beside,
            devices=devices,
            node=node,
            most=most,
        )
    if lack.alike:
        return _("No node with {beside} has {devices}: each has {most}", beside=beside, devices=devices, most=most)
    return _(
        "No node with {beside} has {devices}: the most is {most}, on {node}",
        beside=beside,
        devices=devices,
        most=most,
        node=node,
    )


def not_now(lack: Lack) -> Text:
    """Return the sentence that too little is free: “Needs 4 free A100 on one node; the most free is 2, on node-7”."""
    devices = said_free(lack.resource, lack.asked, product_of(lack.resource, lack.nodes))
    most, beside, node = quantity(lack.resource, lack.most), _beside(lack, said_free), lack.on.name
    if beside is None:
        if lack.most <= 0:
            return _("Needs {devices} on one node; none is", devices=devices)
        return _(
            "Needs {devices} on one node; the most free is {most}, on {node}", devices=devices, most=most, node=node
        )
    if lack.most <= 0:
        return _("Needs {devices} on a node with {beside}; none is", devices=devices, beside=beside)
    return _(
        "Needs {devices} on a node with {beside}; the most free is {most}, on {node}",
        devices=devices,
        beside=beside,
        most=most,
        node=node,
    )


def fewer(lack: Lack) -> Text:
    """Return the hint to ask for no more than a node has."""
    if lack.resource == "memory":
        return _("Ask for {gibibytes} GiB or less on a node.", gibibytes=int(lack.most // 2**30))
    amount = quantity(lack.resource, lack.most)
    if lack.resource == "cpu":
        return _("Ask for {amount} or less on a node.", amount=amount)
    return _("Ask for {amount} or fewer on a node.", amount=amount)


def _beside(lack: Lack, say: Callable[[str, float, str | None], Text]) -> Text | None:
    """Return the other amounts that the pod asks for, each said by `say`: “64 CPU and 512 GiB memory”."""
    amounts = [say(name, wanted, product_of(name, lack.nodes)) for name, wanted in lack.beside.items()]
    return listed(amounts) if amounts else None


def product_of(resource: str, nodes: Iterable[Node]) -> str | None:
    """Return the product name of a device on some nodes; None if the nodes differ, or don't tell.

    Parameters
    ----------
    resource
        The resource's name in Kubernetes.
    nodes
        The nodes. Those without the resource are ignored.
    """
    products = {node.capacity.product for node in nodes if node.amount(resource).total}
    return products.pop() if len(products) == 1 else None


# -- which nodes -------------------------------------------------------------------------------------------------------


def chosen(pod: Json, nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes that match a pod's node selector and required node affinity.

    Parameters
    ----------
    pod
        The pod, or a pod template. Without a selector and required affinity, all nodes match.
    nodes
        Nodes with their labels.
    """
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
    """Return the nodes whose taints a pod tolerates.

    Parameters
    ----------
    pod
        The pod, or a pod template.
    nodes
        Nodes with their taints. Taints with which Kubernetes marks a node's problem (`OWN_TAINTS`) are ignored.
    """
    tolerations = parts(pod, "spec", "tolerations")
    return [node for node in nodes if not any(_keeps_away(taint, tolerations) for taint in node.capacity.taints)]


def taints_against(pod: Json, nodes: Iterable[Node]) -> list[str]:
    """Return the taints of some nodes that a pod does not tolerate, for use in a sentence.

    Parameters
    ----------
    pod, nodes
        As in `open_to`.

    Returns
    -------
    list of str
        Each taint once, as ``key=value``, or as ``key`` if it has no value.
    """
    tolerations = parts(pod, "spec", "tolerations")
    against = (taint for node in nodes for taint in node.capacity.taints if _keeps_away(taint, tolerations))
    return list(dict.fromkeys(named(f"{one.key}={one.value}" if one.value else one.key) for one in against))


def may_grow(nodes: Iterable[Node]) -> bool:
    """Return True if a cloud can add nodes of other sizes by itself: a node belongs to one of its pools."""
    return any(label in node.labels for node in nodes for label in _POOLS)


def _keeps_away(taint: Taint, tolerations: Sequence[Json]) -> bool:
    if taint.key.startswith(OWN_TAINTS):
        return False  # Such a taint disappears with the node's problem; until then the node has nothing free.
    return not any(tolerates(one, taint) for one in tolerations)


def _meets(node: Node, term: Json) -> bool:
    expressions, names = parts(term, "matchExpressions"), parts(term, "matchFields")
    if not expressions and not names:
        return False
    name = {"metadata.name": node.capacity.name}
    return all(matches(one, node.labels) for one in expressions) and all(matches(one, name) for one in names)
