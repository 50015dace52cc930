"""Checks of a job against the nodes of a cluster: whether its replicas can ever be placed, and whether they fit now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ....core.checks import Check
from ....core.job import Fix
from ....core.translation import Text, _, _n, listing, sentences
from ..objects.resources import is_accelerator, said, times
from ..objects.text import named
from ..scheduling.node_fit import (
    Lack,
    Node,
    chosen,
    ever,
    fewer,
    lacking,
    may_grow,
    never,
    not_now,
    now,
    open_to,
    product_of,
    room_for,
    taints_against,
)
from .replica_groups import ReplicaGroup, SubmittedJob

_MOST_NAMED: Final = 3
"""Number of names that a sentence lists."""


def node_checks(job: SubmittedJob, nodes: Sequence[Node]) -> list[Check]:
    """Check whether a job's replicas fit on nodes.

    Parameters
    ----------
    job
        The job.
    nodes
        All nodes of the cluster; at least one.

    Returns
    -------
    list of Check
        Errors and warnings of the most serious kind that applies, or one check that says that the job fits now.
    """
    asking = [group for group in job.groups if group.asked]
    found = [check for group in asking if (check := _impossible(job, group, nodes)) is not None]
    found = found or [check for group in asking if (check := _too_many(job, group, nodes)) is not None]
    found = found or _must_wait(job, asking, nodes)
    return found or _fits_now(asking, nodes)


def _impossible(job: SubmittedJob, group: ReplicaGroup, nodes: Sequence[Node]) -> Check | None:
    """Return why no node, as the nodes are, can ever take one replica; None if a node can."""
    wanted = chosen(group.pod, nodes)
    if not wanted:
        return Check(
            level="warning",
            code="NoSuchNode",
            message=_("No node has the labels that the job asks for."),
            hint=_(
                "The job will wait until such a node is added. To start sooner, ask for labels that nodes have, or for"
                " none."
            ),
            field=job.pod_field(group, "nodeSelector"),
        )
    tolerated = open_to(group.pod, wanted)
    lack, nearer = (lacking(group.asked, some, ever) if some else None for some in (wanted, tolerated))
    if lack is not None:
        return _too_large(job, group, nearer if nearer is not None and nearer.most else lack)
    if tolerated and nearer is None:
        return None
    return _tainted(job, group, [node for node in wanted if room_for(group.asked, node, ever)])


def _tainted(job: SubmittedJob, group: ReplicaGroup, nodes: Sequence[Node]) -> Check:
    """Return that all nodes that are large enough have taints that the job does not tolerate."""
    amounts = [said(name, amount, product_of(name, nodes)) for name, amount in group.asked.items()]
    taints = taints_against(group.pod, nodes)
    return Check(
        level="warning",
        code="Untolerated",
        message=_n(
            "Nodes with {amounts} have the taint {taints}, which the job does not tolerate.",
            "Nodes with {amounts} have the taints {taints}, which the job does not tolerate.",
            len(taints),
            amounts=listing(amounts),
            taints=listing(taints, _MOST_NAMED),
        ),
        hint=_(
            "If the job is meant for these nodes, add a toleration under Scheduling. Some clusters add it on their own."
        ),
        field=job.pod_field(group, "tolerations"),
    )


def _too_large(job: SubmittedJob, group: ReplicaGroup, lack: Lack) -> Check:
    """Return that one replica asks for more than any node has."""
    field = job.resource_field(group, lack.resource)
    if not lack.most:
        known = {one.resource for node in lack.nodes for one in node.capacity.amounts if one.total}
        others = [named(name) for name in sorted(known) if is_accelerator(name)]
        return Check(
            level="warning",
            code="NoSuchDevice",
            message=_("No node has {resource}.", resource=named(lack.resource)),
            hint=sentences(
                _("The job will wait until such a node is added."),
                _("Nodes of this cluster have {devices}.", devices=listing(others, _MOST_NAMED)) if others else None,
            ),
            field=field,
        )
    message = _("{sentence}.", sentence=never(lack))
    if may_grow(lack.nodes):
        hint = sentences(_("The job will wait until a larger node is added."), fewer(lack))
        return Check(level="warning", code="NodeTooSmall", message=message, hint=hint, field=field)
    fix = _fix(field, lack) if not job.edited else None
    return Check(level="error", code="NodeTooSmall", message=message, hint=fewer(lack), field=field, fix=fix)


def _fix(field: str | None, lack: Lack) -> Fix | None:
    """Offer the number of devices that the largest node has."""
    if field is None or not field.endswith("/device") or lack.most != int(lack.most):
        return None
    return Fix(label=_("Set {number}", number=int(lack.most)), changes={f"{field}/count": int(lack.most)})


def _too_many(job: SubmittedJob, group: ReplicaGroup, nodes: Sequence[Node]) -> Check | None:
    """Return that the nodes could not take all replicas even if nothing else ran; None if they could."""
    wanted = open_to(group.pod, chosen(group.pod, nodes))
    most = sum(room_for(group.asked, node, ever) or 0 for node in wanted)
    if most >= group.replicas:
        return None
    return Check(
        level="warning",
        code="ClusterTooSmall",
        message=_n(
            "Even an empty cluster has room for only {most} of {n} replica.",
            "Even an empty cluster has room for only {most} of {n} replicas.",
            group.replicas,
            most=most,
        ),
        hint=_("The job will wait until nodes are added. To start sooner, ask for fewer or smaller replicas."),
        field=job.replicas_field(group),
    )


def _must_wait(job: SubmittedJob, groups: Sequence[ReplicaGroup], nodes: Sequence[Node]) -> list[Check]:
    """Return why not all replicas can start now; empty if they can."""
    free = {node.capacity.name: {one.resource: one.free for one in node.capacity.amounts} for node in nodes}
    for group in groups:
        wanted = open_to(group.pod, chosen(group.pod, nodes))
        lack = lacking(group.asked, wanted, now)
        if lack is not None:
            check = Check(
                level="warning",
                code="WillWait",
                message=_("Will wait. {reason}.", reason=not_now(lack)),
                hint=_("The job starts as soon as a node has that much free. To start sooner, ask for less."),
                field=job.resource_field(group, lack.resource),
            )
            return [check]
        placed = _place(group, wanted, free)
        if placed < group.replicas:
            check = Check(
                level="warning",
                code="WillWait",
                message=_n(
                    "Will wait. There is room now for {placed} of {n} replica.",
                    "Will wait. There is room now for {placed} of {n} replicas.",
                    group.replicas,
                    placed=placed,
                ),
                hint=_(
                    "The job starts as soon as nodes have room for all replicas. To start sooner, ask for fewer or"
                    " smaller ones."
                ),
                field=job.replicas_field(group),
            )
            return [check]
    return []


def _place(group: ReplicaGroup, nodes: Sequence[Node], free: Mapping[str, dict[str, float]]) -> int:
    """Place a group's replicas on nodes, and subtract what they take; return how many replicas had room.

    Parameters
    ----------
    group
        The group.
    nodes
        The nodes that its pods may be placed on.
    free
        Free amounts by the node's name and the resource; changed in place.
    """
    asked, placed = group.asked, 0
    for node in nodes:
        left = free[node.capacity.name]
        each = (times(left.get(name, 0.0), wanted) for name, wanted in asked.items() if wanted)
        fits = min(each, default=group.replicas)
        taken = max(0, min(fits, group.replicas - placed))
        for name, wanted in asked.items():
            left[name] = left.get(name, 0.0) - taken * wanted
        placed += taken
        if placed == group.replicas:
            break
    return placed


def _fits_now(groups: Sequence[ReplicaGroup], nodes: Sequence[Node]) -> list[Check]:
    """Return that the job fits now, with what is free for its first group."""
    if not groups:
        return []
    group = groups[0]
    wanted = open_to(group.pod, chosen(group.pod, nodes))
    taking = [node for node in wanted if room_for(group.asked, node, now)]
    where = taking[0].name if len(taking) == 1 else _n("{n} node", "{n} nodes", len(taking))
    free = ((name, sum(node.amount(name).free for node in taking)) for name in sorted(group.asked))
    devices = [said(name, amount, product_of(name, taking)) for name, amount in free if is_accelerator(name)]
    return [Check(level="passed", code="FitsNow", message=_free_on(where, devices))]


def _free_on(where: str, devices: Sequence[str]) -> Text:
    if devices:
        return _("Fits now. Free on {nodes}: {devices}.", nodes=where, devices=listing(devices, _MOST_NAMED))
    return _("Fits now. Enough is free on {nodes}.", nodes=where)
