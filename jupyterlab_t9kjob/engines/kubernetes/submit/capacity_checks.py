"""Whether a cluster can take a job, and whether it can take it now: said before the job is submitted.

What can't be right as the cluster is, is an error: a replica that is larger than any node, more than a quota allows.
What others may change is a warning: nodes may be added, tainted ones be meant, and what is used be freed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....core.capacity import QuotaLine
from ....core.checks import Check
from ....core.job import Fix
from ....core.manifests.model import child
from ..client.api import Json
from ..client.json_access import count, part, parts
from ..objects.field_paths import field_of
from ..objects.requests import asked_of, requests_of, shape_of
from ..objects.resources import MEASURED, exact, is_accelerator, quantity, said, times
from ..objects.text import listed, named, within
from ..scheduling.node_fit import (
    ClusterRoom,
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

FREED: Final = "It starts when others of the namespace have freed enough; ended pods that were kept can count as well."
_MORE: Final = "Ask for less, or ask whoever runs the cluster for more."
_STATED: Final = "The cluster refuses pods that do not, unless the namespace has a default for it."
_ADDED: Final = "It will wait until such a node is added."


@dataclass(frozen=True)
class Group:
    """Equal replicas of a job.

    Attributes
    ----------
    pod
        What each of them is: a pod's `spec`.
    replicas
        How many.
    pointer
        Where the manifest has them.
    """

    pod: Json
    replicas: int
    pointer: str

    @property
    def asked(self) -> dict[str, float]:
        """What each of them asks of its node."""
        return asked_of(self.pod)


def checks(
    manifest: Json,
    room: ClusterRoom,
    namespace: str,
    *,
    least: int | None = None,
    starts: bool = True,
    plural: str = "",
    edited: bool = False,
) -> list[Check]:
    """Return what a cluster's room says about a job: errors and warnings, or that it fits now.

    Parameters
    ----------
    manifest
        The job's object.
    room
        What the cluster has.
    namespace
        The job's.
    least
        Replicas with which an elastic job runs; None for one that is not.
    starts
        Whether it is to run at once; of one that is submitted paused only what can't be right is said.
    plural
        Of the job's kind, with its group (``pytorchjobs.kubeflow.org``): quotas can count jobs.
    edited
        Whether the user wrote the manifest: checks are at its own fields then, else at the spec's.
    """
    about = _Job(manifest, groups_of(manifest, least), edited)
    of_quotas = list(about.quotas(room.quotas.get(namespace, ()), namespace, plural))
    found = [*_one_a_field(of_quotas), *(about.of_nodes(room.nodes) if room.nodes else ())]
    found = [one for one in found if starts or one.code not in _OF_NOW]
    found = [one for one in found if room.exact or one.code != "FitsNow"]
    return [one for one in found if one.level != "passed"] or found


def groups_of(manifest: Json, least: int | None = None) -> list[Group]:
    """Return a job's replicas by what they ask for; at most `least` of them."""
    groups: dict[str, Group] = {}
    left = least
    for pointer, replica in replicas_of(manifest):
        replicas = count(replica, "replicas") if "replicas" in replica else 1
        if left is not None:
            replicas, left = min(replicas, left), max(0, left - replicas)
        pod = {"spec": part(replica, "template", "spec")}
        key = shape_of(pod)
        if key in groups:
            groups[key] = replace(groups[key], replicas=groups[key].replicas + replicas)
        else:
            groups[key] = Group(pod, replicas, pointer)
    return [group for group in groups.values() if group.replicas]


_OF_NOW: Final = ("WillWait", "FitsNow", "QuotaUsedUp")


def replicas_of(manifest: Json) -> Iterator[tuple[str, Json]]:
    """Yield each replica type of a job with the JSON pointer to it."""
    for index, one in enumerate(parts(manifest, "spec", "replicaSpecs")):
        yield f"/manifest/spec/replicaSpecs/{index}", one
    roles = part(manifest, "spec", "pytorchReplicaSpecs")
    for role in sorted(roles):  # Master, Worker
        yield child("/manifest/spec/pytorchReplicaSpecs", role), part(roles, role)


@dataclass(frozen=True)
class _Job:
    """A job that is about to be submitted; see `checks`."""

    manifest: Json
    groups: Sequence[Group]
    edited: bool

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def of_nodes(self, nodes: Sequence[Node]) -> list[Check]:
        """Say whether its replicas fit on nodes, and whether they do now."""
        asking = [group for group in self.groups if group.asked]
        wrong = [check for group in asking if (check := self._impossible(group, nodes)) is not None]
        wrong = wrong or [check for group in asking if (check := self._too_many(group, nodes)) is not None]
        wrong = wrong or self._must_wait(asking, nodes)
        return wrong or self._fits(asking, nodes)

    def _impossible(self, group: Group, nodes: Sequence[Node]) -> Check | None:
        """Say why no node can ever take one replica, as the nodes are."""
        wanted = chosen(group.pod, nodes)
        if not wanted:
            message = "No node has the labels that the job asks for."
            hint = f"{_ADDED} Ask for labels that nodes have, or for none, to start sooner."
            return self._check("warning", "NoSuchNode", message, hint, self._at(group, "nodeSelector"))
        tolerated = open_to(group.pod, wanted)
        lack, nearer = (lacking(group.asked, some, ever) if some else None for some in (wanted, tolerated))
        if lack is not None:
            return self._too_large(group, nearer if nearer is not None and nearer.most else lack)
        if tolerated and nearer is None:
            return None
        large = [node for node in wanted if room_for(group.asked, node, ever)]
        what = " and ".join(said(name, amount, product_of(name, large)) for name, amount in group.asked.items())
        taints = taints_against(group.pod, large)
        message = f"Nodes that have {what} keep the job away by the taint {listed(taints)}."
        hint = "Tolerate it under Scheduling if the job is meant for them; some clusters do that by themselves."
        return self._check("warning", "Untolerated", message, hint, self._at(group, "tolerations"))

    def _too_large(self, group: Group, lack: Lack) -> Check:
        field = self._at_resource(group, lack.resource)
        if not lack.most:
            known = {one.resource for node in lack.nodes for one in node.capacity.amounts if one.total}
            others = sorted(name for name in known if is_accelerator(name))
            hint = f"{_ADDED}{f' Nodes here have {listed(others)}.' if others else ''}"
            return self._check("warning", "NoSuchDevice", f"No node has {named(lack.resource)}.", hint, field)
        message = f"{never(lack)}."
        if may_grow(lack.nodes):
            hint = f"It will wait unless a larger node is added. {fewer(lack)}"
            return self._check("warning", "NodeTooSmall", message, hint, field)
        check = self._check("error", "NodeTooSmall", message, fewer(lack), field)
        return check.model_copy(update={"fix": self._fix(field, lack)})

    def _too_many(self, group: Group, nodes: Sequence[Node]) -> Check | None:
        """Say that not all replicas fit at once, were all nodes empty."""
        wanted = open_to(group.pod, chosen(group.pod, nodes))
        most = sum(room_for(group.asked, node, ever) or 0 for node in wanted)
        if most >= group.replicas:
            return None
        message = f"The cluster has room for {most} of its {group.replicas} replicas, were it empty."
        hint = "It will wait until nodes are added. Ask for fewer, or smaller ones, to start sooner."
        return self._check("warning", "ClusterTooSmall", message, hint, self._at(group, "replicas"))

    def _must_wait(self, groups: Sequence[Group], nodes: Sequence[Node]) -> list[Check]:
        """Say why not all replicas fit now."""
        free = {node.capacity.name: {one.resource: one.free for one in node.capacity.amounts} for node in nodes}
        for group in groups:
            wanted = open_to(group.pod, chosen(group.pod, nodes))
            lack = lacking(group.asked, wanted, now)
            if lack is not None:
                hint = "It starts as soon as a node has that much free. Ask for less to start sooner."
                field = self._at_resource(group, lack.resource)
                return [self._check("warning", "WillWait", f"Will wait: {within(not_now(lack))}.", hint, field)]
            placed = _place(group, wanted, free)
            if placed < group.replicas:
                message = f"Will wait: there is room now for {placed} of its {group.replicas} replicas."
                hint = "It starts as soon as nodes have room for all. Ask for fewer, or smaller ones, to start sooner."
                return [self._check("warning", "WillWait", message, hint, self._at(group, "replicas"))]
        return []

    def _fits(self, groups: Sequence[Group], nodes: Sequence[Node]) -> list[Check]:
        """Say what is free for it."""
        if not groups:
            return []
        group = groups[0]
        wanted = open_to(group.pod, chosen(group.pod, nodes))
        taking = [node for node in wanted if room_for(group.asked, node, now)]
        where = f"on {taking[0].name}" if len(taking) == 1 else f"on {len(taking)} nodes"
        free = ((name, sum(node.amount(name).free for node in taking)) for name in sorted(group.asked))
        devices = [said(name, amount, product_of(name, taking)) for name, amount in free if is_accelerator(name)]
        if devices:
            message = f"Fits now: {listed(devices)} {'is' if devices[0].startswith('1 ') else 'are'} free {where}."
        else:
            message = f"Fits now: enough is free {where}."
        return [self._check("passed", "FitsNow", message, None, None)]

    # -- quotas --------------------------------------------------------------------------------------------------------

    def quotas(self, lines: Sequence[QuotaLine], namespace: str, plural: str) -> Iterator[Check]:
        """Say which limits of the namespace it exceeds, and which it exceeds for now."""
        for line in lines:
            if line.scoped:
                continue
            quota = f"The quota {named(line.quota)} of namespace {named(namespace)}"
            if line.resource == f"count/{plural}" and line.used is not None and line.used + 1 > line.hard:
                message = f"{quota} allows {quantity('', line.hard)} such jobs, and as many are there."
                yield self._check("warning", "QuotaUsedUp", message, "Delete jobs that are not needed any more.", None)
            for group in self.groups:
                if _does_not_state(group.pod, line.resource):
                    message = f"{quota} wants every container to state {named(line.resource)}."
                    field = self._at_resource(group, _plain(line.resource))
                    yield self._check("warning", "QuotaNeedsResources", message, _STATED, field)
                    break
            else:
                check = self._of_quota(quota, line)
                if check is not None:
                    yield check

    def _of_quota(self, quota: str, line: QuotaLine) -> Check | None:
        each = [(group, _counted(group.pod, line.resource)) for group in self.groups]
        group, most = max(each, key=lambda one: one[1], default=(None, 0.0))
        total = exact(sum(group.replicas * wanted for group, wanted in each))
        if group is None or not total:
            return None
        resource = _plain(line.resource)
        pods = resource == "pods"
        thing = f"{quantity(resource, line.hard)} pods" if pods else said(resource, line.hard)
        field = self._at(group, "replicas") if pods else self._at_resource(group, resource)
        allows = f"{quota} allows {thing}"
        if total > line.hard:
            one_alone = most > line.hard and total > most
            who, needs = ("a replica needs", most) if one_alone else ("the job needs", total)
            message = f"{allows}, and {who} {quantity(resource, needs)}."
            return self._check("error", "QuotaTooSmall", message, f"The cluster would refuse its pods. {_MORE}", field)
        if line.used is None or exact(line.used + total) <= line.hard:
            return None
        used = quantity(resource, line.used)
        message = f"Will wait: {within(allows)}, {used} are used, and the job needs {quantity(resource, total)}."
        return self._check("warning", "QuotaUsedUp", message, FREED, field)

    # -- where and what ------------------------------------------------------------------------------------------------

    def _check(self, level: str, code: str, message: str, hint: str | None, field: str | None) -> Check:
        return Check.model_validate({"level": level, "code": code, "message": message, "hint": hint, "field": field})

    def _at_resource(self, group: Group, resource: str) -> str | None:
        """Return the field by which a replica asks for a resource."""
        spec = f"{group.pointer}/template/spec"
        for index, container in enumerate(parts(group.pod, "spec", "containers")):
            for name in ("limits", "requests"):
                if resource in part(container, "resources", name):
                    field = self._field(child(f"{spec}/containers/{index}/resources/{name}", resource))
                    kind = f"{resource}/{name[:-1]}" if resource in MEASURED else "device"
                    return f"{field}/{kind}" if field is not None and not self.edited else field
        return self._field(f"{spec}/containers/0/resources")

    def _at(self, group: Group, name: str) -> str | None:
        """Return a field of a group of replicas, or of its pods."""
        return self._field(f"{group.pointer}/{name}" if name == "replicas" else f"{group.pointer}/template/spec/{name}")

    def _field(self, pointer: str) -> str | None:
        return pointer if self.edited else field_of(pointer, self.manifest)

    def _fix(self, field: str | None, lack: Lack) -> Fix | None:
        """Offer the number of devices that a node has."""
        if self.edited or field is None or not field.endswith("/device") or lack.most != int(lack.most):
            return None
        return Fix(label=f"Set {int(lack.most)}", changes={f"{field}/count": int(lack.most)})


def _place(group: Group, nodes: Sequence[Node], free: Mapping[str, dict[str, float]]) -> int:
    """Take what replicas hold from what is free on nodes; return how many had room."""
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


def _one_a_field(found: Sequence[Check]) -> list[Check]:
    """Return the worst check of each field: several limits may be of one thing."""
    worst = sorted(found, key=lambda check: ("error", "warning").index(check.level))
    return list({check.field: check for check in reversed(worst)}.values())[::-1]


def _plain(line: str) -> str:
    """Return the resource that a quota's line is about."""
    return line.removeprefix("requests.").removeprefix("limits.").removeprefix("count/")


def _counted(pod: Json, line: str) -> float:
    """Return what a quota's line counts of a pod."""
    if line in ("pods", "count/pods"):
        return 1.0
    kind, _, resource = line.partition(".")
    if kind == "limits":
        return requests_of(_by_limits(pod))[resource]
    return requests_of(pod)[resource if kind == "requests" else line]


def _by_limits(pod: Json) -> Json:
    """Return a pod that requests what its limits are."""
    spec = part(pod, "spec")
    kinds = {
        kind: [{**one, "resources": {"requests": part(one, "resources", "limits")}} for one in parts(spec, kind)]
        for kind in ("initContainers", "containers")
    }
    return {"spec": {**spec, **kinds}}


def _does_not_state(pod: Json, line: str) -> bool:
    """Whether a container of a pod leaves out what a quota on CPU or memory wants to be stated."""
    resource = _plain(line)
    if resource not in MEASURED:
        return False
    names = ("limits",) if line.startswith("limits.") else ("requests", "limits")
    containers = [*parts(pod, "spec", "containers"), *parts(pod, "spec", "initContainers")]
    return any(all(resource not in part(one, "resources", name) for name in names) for one in containers)
