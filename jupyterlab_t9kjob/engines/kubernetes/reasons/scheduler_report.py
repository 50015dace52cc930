"""Reasons for which the scheduler places a pod on no node, read from its one-line report.

The report (kube-scheduler, ``framework.FitError``) counts nodes by obstacle; a node may count for several obstacles::

    0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {gpu: reserved}. no new
    claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ....core.job import Reason
from ....core.translation import Text, _, _n, sentences
from ..client.api import Json
from ..client.json_access import part, parts, text, texts
from ..objects.pods.requests import requests_of
from ..objects.resources import THINGS, said, word
from ..objects.text import listed, made, named
from ..scheduling.node_fit import ClusterRoom, Lack, fewer, may_grow, never, not_now

_REPORT: Final = re.compile(r"\s*0/(?P<nodes>\d{1,7}) nodes are available: (?P<obstacles>.*)", re.DOTALL)
_REST: Final = re.compile(r"\.\s+(?:no new claims to deallocate|preemption:|not found\b).*", re.DOTALL)
_OBSTACLE: Final = re.compile(r"(?P<nodes>\d{1,7}) (?P<words>.+)", re.DOTALL)
_NO_CLAIM: Final = re.compile(r'persistentvolumeclaim "(?P<claim>[^"]{1,253})" not found')
# Since Kubernetes 1.34 the report does not name the taints.
_TAINT: Final = re.compile(r"had untolerated taint(?:\(s\))?(?: \{(?P<key>[^:}]+): ?(?P<value>[^}]*)\})?")
_INSUFFICIENT: Final = re.compile(r"Insufficient (?P<resource>\S+)")

_ROOM_HINT: Final = _("It starts as soon as a node has that much free. Ask for less to start sooner.")
_UNSEEN_HINT: Final = _(
    "It starts once a node has that much free; whether one is large enough is not known. Ask for less to start sooner."
)


@dataclass(frozen=True)
class Obstacle:
    """A reason why some of the nodes do not fit.

    Attributes
    ----------
    nodes
        Number of nodes.
    about
        ``Room``, ``Taint``, ``Selector``, ``Volume`` …; decides the hint.
    label
        The obstacle in words: “not ready”.
    resource
        Resource of which a node has too little free, if that is the obstacle.
    """

    nodes: int
    about: str
    label: Text
    resource: str | None = None


def unschedulable(message: str, pod: Json, room: ClusterRoom | None = None) -> Reason:
    """Return why a pod fits on no node.

    Parameters
    ----------
    message
        The scheduler's report, from the pod's condition or an event.
    pod
        The pod.
    room
        Nodes of the cluster, if this account can read them: they tell whether one is large enough, and what is free.
    """
    lack = room.lack(pod) if room is not None else None
    report = _REPORT.match(message[:20_000])
    if report is None:
        return _lacking_room(*lack, message) if lack is not None else _another_scheduler(message, pod)
    words = _REST.sub("", report["obstacles"]).rstrip(". \n")
    missing = _NO_CLAIM.search(words)
    if missing is not None:
        return no_such_claim(missing["claim"], pod, message)
    if "unbound immediate PersistentVolumeClaims" in words:
        return _unbound_claim(pod, message)
    obstacles = sorted(_obstacles(words), key=lambda one: -one.nodes)
    if not obstacles:
        return made("Unschedulable", _("No node can take it"), verbatim=message)
    if lack is not None and any(one.about == "Room" for one in obstacles):
        return _lacking_room(*lack, message)
    total = max(int(report["nodes"]), obstacles[0].nodes)
    return made("Unschedulable", _sentence(total, obstacles, pod), _hints(obstacles), verbatim=message)


def no_such_claim(claim: str, pod: Json, message: str) -> Reason:
    """Return that a pod waits for a claim that does not exist.

    Parameters
    ----------
    claim
        Name of the claim.
    pod
        The pod.
    message
        Message of the cluster.
    """
    sentence = _("There is no PVC {claim} in {namespace}", claim=named(claim), namespace=namespace_of(pod))
    hint = _("Choose one that exists under Data, or create it: the job starts by itself then.")
    return made("NoSuchClaim", sentence, hint, verbatim=message)


def namespace_of(pod: Json) -> Text:
    """Return a pod's namespace in words: “namespace demo”."""
    name = text(pod, "metadata", "namespace")
    return _("namespace {namespace}", namespace=named(name)) if name else _("its namespace")


def claims_of(pod: Json) -> list[str]:
    """Return the names of the claims that a pod mounts."""
    volumes = parts(pod, "spec", "volumes")
    return [name for volume in volumes if (name := text(volume, "persistentVolumeClaim", "claimName"))]


def _unbound_claim(pod: Json, message: str) -> Reason:
    """Return that a pod waits for a claim that is not bound to a volume."""
    claims = claims_of(pod)
    if len(claims) == 1:
        sentence = _("The PVC {claim} has no volume yet", claim=named(claims[0]))
    elif claims:
        sentence = _("One of its PVCs ({claims}) has no volume yet", claims=listed(claims))
    else:
        sentence = _("One of its PVCs has no volume yet")
    hint = _("An administrator of the cluster can say why. The job starts by itself once it has one.")
    return made("UnboundClaim", sentence, hint, verbatim=message)


def _lacking_room(lack: Lack, always: bool, message: str) -> Reason:
    """Return the resource that nodes lack: `always`, or only until enough is free."""
    if not always:
        return made("Unschedulable", not_now(lack), _ROOM_HINT, verbatim=message)
    if not lack.most:
        sentence = _("No node that it may run on has {resource}", resource=named(lack.resource))
        hint = _("It starts when such a node is added. Run it again with what nodes have to start sooner.")
        return made("Unschedulable", sentence, hint, verbatim=message)
    if may_grow(lack.nodes):
        added = _("It starts if a larger node is added.")
    else:
        added = _("It starts only if a larger node is added.")
    return made("Unschedulable", never(lack), sentences(added, fewer(lack)), verbatim=message)


def _another_scheduler(message: str, pod: Json) -> Reason:
    """Return the reason for a report of another form, such as a gang scheduler's."""
    scheduler = named(text(pod, "spec", "schedulerName") or "default-scheduler")
    queue = text(pod, "metadata", "labels", "scheduler.tensorstack.dev/queue")
    if queue:
        sentence = _(
            "The scheduler {scheduler} has found no place for it in queue {queue} yet",
            scheduler=scheduler,
            queue=named(queue),
        )
    elif scheduler == "default-scheduler":
        sentence = _("The scheduler has found no place for it yet")
    else:
        sentence = _("The scheduler {scheduler} has found no place for it yet", scheduler=scheduler)
    hint = _("It starts when the scheduler finds one. Ask for less, or for another queue, to start sooner.")
    return made("NoPlaceYet", sentence, hint, verbatim=message)


# -- obstacles ---------------------------------------------------------------------------------------------------------


def _obstacles(words: str) -> Iterator[Obstacle]:
    for clause in re.split(r",\s+(?=\d+ )", words)[:50]:
        match = _OBSTACLE.fullmatch(clause.strip())
        if match is not None:
            yield _obstacle(int(match["nodes"]), match["words"])


def _obstacle(nodes: int, words: str) -> Obstacle:
    short = _INSUFFICIENT.fullmatch(words)
    if short is not None:
        resource = named(short["resource"])
        if resource in THINGS:
            return Obstacle(nodes, "Room", _("too little {resource} free", resource=word(resource)), resource)
        return Obstacle(nodes, "Room", _("too few {devices} free", devices=word(resource)), resource)
    taint = _TAINT.search(words)
    if taint is not None:
        condition = _condition(taint["key"])
        if condition is not None:
            return Obstacle(nodes, "Node", condition)
        if taint["key"] is None:
            return Obstacle(nodes, "Taint", _("untolerated taint"))
        label = f"{taint['key']}={taint['value']}" if taint["value"] else taint["key"]
        return Obstacle(nodes, "Taint", _("untolerated taint {taint}", taint=named(label)))
    for sign, about, ours in _OTHERS:
        if sign in words:
            return Obstacle(nodes, about, ours)
    return Obstacle(nodes, "Other", Text.verbatim(named(words.removeprefix("node(s) "))))


def _condition(taint: str | None) -> Text | None:
    """Return the condition of a node that a taint of Kubernetes itself stands for; None for other taints."""
    match taint:
        case "node.kubernetes.io/not-ready":
            return _("not ready")
        case "node.kubernetes.io/unreachable":
            return _("unreachable")
        case "node.kubernetes.io/unschedulable":
            return _("cordoned")
        case "node.kubernetes.io/memory-pressure":
            return _("short of memory")
        case "node.kubernetes.io/disk-pressure":
            return _("short of disk space")
        case "node.kubernetes.io/pid-pressure":
            return _("short of process IDs")
        case "node.kubernetes.io/network-unavailable":
            return _("without network")
        case "node.kubernetes.io/out-of-service":
            return _("out of service")
        case "node.cloudprovider.kubernetes.io/uninitialized":
            return _("not initialized yet")
        case "node-role.kubernetes.io/control-plane" | "node-role.kubernetes.io/master":
            return _("reserved for the control plane")
        case "ToBeDeletedByClusterAutoscaler":
            return _("about to be removed")
    return None


_OTHERS: Final = (
    ("match Pod's node affinity/selector", "Selector", _("no such labels")),
    ("match node selector", "Selector", _("no such labels")),
    ("node affinity conflict", "Volume", _("can't mount its volume")),
    ("match PersistentVolume's node affinity", "Volume", _("can't mount its volume")),
    ("find available persistent volumes", "Volume", _("no volume for its PVC")),
    ("exceed max volume count", "Volume", _("no room for another volume")),
    ("were unschedulable", "Node", _("cordoned")),
    ("Too many pods", "Node", _("full of pods")),
    ("have free ports", "Ports", _("port in use")),
    ("anti-affinity", "Affinity", _("excluded by pod anti-affinity")),
    ("pod affinity", "Affinity", _("excluded by pod affinity")),
    ("topology spread", "Spread", _("excluded by topology spread constraints")),
)
"""Words of the report, `Obstacle.about` and `Obstacle.label`; the first match counts."""


# -- sentences ---------------------------------------------------------------------------------------------------------


def _sentence(total: int, obstacles: list[Obstacle], pod: Json) -> Text:
    """Return what a pod needs, and what is against each of the nodes.

    “Needs 9 GPUs, but none of the 12 nodes fits: too few free (8) and untolerated taint (4)”

    Parameters
    ----------
    total
        Number of nodes.
    obstacles
        Obstacles, the most frequent one first.
    pod
        The pod.
    """
    lacking = _lacking(obstacles, pod)
    labels = _selector(pod) if any(one.about == "Selector" for one in obstacles) else None
    against = listed([_counted(one, total) for one in (_merged(obstacles) if lacking else obstacles)])
    need = _need(lacking, labels)
    if need is None:
        return _n(
            "The only node doesn't fit: {obstacles}",
            "None of the {n} nodes fits: {obstacles}",
            total,
            obstacles=against,
        )
    return _n(
        "{need}, but the only node doesn't fit: {obstacles}",
        "{need}, but none of the {n} nodes fits: {obstacles}",
        total,
        need=need,
        obstacles=against,
    )


def _need(lacking: Text | None, labels: Text | None) -> Text | None:
    """Return the resources and the labels that a pod needs; None without any."""
    if lacking is not None and labels is not None:
        return _("Needs {amounts} on a node with {labels}", amounts=lacking, labels=labels)
    if lacking is not None:
        return _("Needs {amounts}", amounts=lacking)
    return _("Needs a node with {labels}", labels=labels) if labels is not None else None


def _counted(obstacle: Obstacle, total: int) -> Text:
    """Return an obstacle with its number of nodes, unless it concerns all of them."""
    if obstacle.nodes == total:
        return obstacle.label
    return _("{obstacle} ({nodes})", obstacle=obstacle.label, nodes=obstacle.nodes)


def _merged(obstacles: list[Obstacle]) -> list[Obstacle]:
    """Return the obstacles without the names of resources, which the sentence names before as the pod's need.

    Several resources become one obstacle if the same number of nodes lacks each of them.
    """
    room = [one for one in obstacles if one.about == "Room"]
    if not room or len({one.nodes for one in room}) > 1:
        return obstacles
    if len(room) > 1:
        label = _("too little of that free")
    else:
        label = _("too little free") if room[0].resource in THINGS else _("too few free")
    merged = Obstacle(room[0].nodes, "Room", label)
    return [merged if one is room[0] else one for one in obstacles if one is room[0] or one.about != "Room"]


def _hints(obstacles: list[Obstacle]) -> Text | None:
    """Return what the user can do about the obstacles."""
    abouts = {one.about for one in obstacles}
    return sentences(
        _UNSEEN_HINT if "Room" in abouts else None,
        _("Ask for labels that nodes have, or for none, under Scheduling.") if "Selector" in abouts else None,
        _("Tolerate the taint under Scheduling, if the job is meant for those nodes.") if "Taint" in abouts else None,
        _("Choose nodes that can mount the volume, or another volume.") if "Volume" in abouts else None,
    )


def _lacking(obstacles: list[Obstacle], pod: Json) -> Text | None:
    """Return the amounts that the pod requests of resources of which too little is free: “9 GPUs and 2 TiB memory”."""
    asked = requests_of(pod)
    resources = {one.resource: None for one in obstacles if one.resource}
    amounts = [said(resource, asked[resource]) for resource in resources if asked[resource]]
    return listed(amounts) if amounts else None


def _selector(pod: Json) -> Text | None:
    """Return the labels that a pod requires of its node; None if the requirement is not a simple list of labels."""
    labels = [f"{key}={wanted}" for key, wanted in part(pod, "spec", "nodeSelector").items()]
    required = part(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = parts(required, "nodeSelectorTerms")
    for expression in parts(terms[0], "matchExpressions") if len(terms) == 1 else []:
        values = texts(expression, "values")
        if text(expression, "operator") == "In" and values:
            labels.append(f"{text(expression, 'key')}={'|'.join(values)}")
    return listed(labels) if labels else None
