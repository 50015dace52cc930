"""Why the scheduler places a pod on no node, in words, from its own one-line report.

The report (kube-scheduler, ``framework.FitError``) counts nodes by what stands against each; a node may be counted for
several things::

    0/12 nodes are available: 8 Insufficient nvidia.com/gpu, 4 node(s) had untolerated taint {gpu: reserved}. no new
    claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ....core.job import Reason
from ..client.api import Json
from ..client.json_access import part, parts, text, texts
from ..objects.requests import requests_of
from ..objects.resources import THINGS, quantity
from ..objects.text import joined, listed, made, named
from ..scheduling.node_fit import ClusterRoom, Lack, fewer, may_grow, never, not_now

_REPORT: Final = re.compile(r"\s*0/(?P<nodes>\d{1,7}) nodes are available: (?P<obstacles>.*)", re.DOTALL)
_REST: Final = re.compile(r"\.\s+(?:no new claims to deallocate|preemption:|not found\b).*", re.DOTALL)
_OBSTACLE: Final = re.compile(r"(?P<nodes>\d{1,7}) (?P<words>.+)", re.DOTALL)
_NO_CLAIM: Final = re.compile(r'persistentvolumeclaim "(?P<claim>[^"]{1,253})" not found')
# without what they are since Kubernetes 1.34
_TAINT: Final = re.compile(r"had untolerated taint(?:\(s\))?(?: \{(?P<key>[^:}]+): ?(?P<value>[^}]*)\})?")
_INSUFFICIENT: Final = re.compile(r"Insufficient (?P<resource>\S+)")

_CONDITIONS: Final = {
    "node.kubernetes.io/not-ready": "is not ready",
    "node.kubernetes.io/unreachable": "is not reachable",
    "node.kubernetes.io/unschedulable": "is closed for new pods",
    "node.kubernetes.io/memory-pressure": "is short of memory",
    "node.kubernetes.io/disk-pressure": "is short of disk",
    "node.kubernetes.io/pid-pressure": "is short of process ids",
    "node.kubernetes.io/network-unavailable": "is without network",
    "node.kubernetes.io/out-of-service": "is out of service",
    "node.cloudprovider.kubernetes.io/uninitialized": "is not set up yet",
    "node-role.kubernetes.io/control-plane": "is kept for the control plane",
    "node-role.kubernetes.io/master": "is kept for the control plane",
    "ToBeDeletedByClusterAutoscaler": "is about to be removed",
}
"""Taints that Kubernetes itself puts on nodes, and what they say of one."""

_OTHERS: Final = (
    ("match Pod's node affinity/selector", "Selector", "lacks such labels"),
    ("match node selector", "Selector", "lacks such labels"),
    ("node affinity conflict", "Volume", "can't mount its volume"),
    ("match PersistentVolume's node affinity", "Volume", "can't mount its volume"),
    ("find available persistent volumes", "Volume", "has no volume for its PVC"),
    ("exceed max volume count", "Volume", "has no room for another volume"),
    ("were unschedulable", "Node", "is closed for new pods"),
    ("Too many pods", "Node", "is full of pods"),
    ("have free ports", "Ports", "has a port taken that it wants"),
    ("anti-affinity", "Affinity", "runs pods that it must not be beside"),
    ("pod affinity", "Affinity", "lacks the pods that it wants to be beside"),
    ("topology spread", "Spread", "is outside the spread that it asks for"),
)
"""A part of the report's words, what it is about, and what it says of a node."""

_PLURAL: Final = {"is": "are", "has": "have", "lacks": "lack", "runs": "run"}
_SELECTOR_HINT: Final = "Ask for labels that nodes have, or for none, under Scheduling."
_TAINT_HINT: Final = "Tolerate the taint under Scheduling, if the job is meant for those nodes."
_VOLUME_HINT: Final = "Choose nodes that can mount the volume, or another volume."
_ROOM_HINT: Final = "It starts as soon as a node has that much free. Ask for less to start sooner."
_UNSEEN_HINT: Final = (
    "It starts once a node has that much free; whether one is large enough is not known. Ask for less to start sooner."
)


@dataclass(frozen=True)
class Obstacle:
    """What stands against some of the nodes.

    Attributes
    ----------
    nodes
        How many.
    about
        ``ClusterRoom``, ``Taint``, ``Selector``, ``Volume`` …
    words
        What it says of one node: “is not ready”.
    resource
        Of which too little is free, if that is it.
    """

    nodes: int
    about: str
    words: str
    resource: str | None = None


def unschedulable(message: str, pod: Json, room: ClusterRoom | None = None) -> Reason:
    """Return why a pod fits on no node.

    Parameters
    ----------
    message
        The scheduler's report, from the pod's condition or an event.
    pod
        What it is about: what it asks for.
    room
        What the cluster has, where that is known: it tells whether any node is large enough, and what is free.
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
        claims = claims_of(pod)
        which = f"The PVC {named(claims[0])} has" if len(claims) == 1 else f"One of its PVCs ({listed(claims)}) has"
        hint = "Whoever runs the cluster can say why; the job starts by itself once it has."
        return made("UnboundClaim", f"{which} no volume yet", hint, verbatim=message)
    obstacles = sorted(_obstacles(words), key=lambda one: -one.nodes)
    if not obstacles:
        return made("Unschedulable", "No node can take it", verbatim=message)
    if lack is not None and any(one.about == "Room" for one in obstacles):
        return _lacking_room(*lack, message)
    nodes = max(int(report["nodes"]), obstacles[0].nodes)
    needed = _lacking(obstacles, pod)
    obstacles = _merged(obstacles) if needed else obstacles
    selector = _selector(pod) if any(one.about == "Selector" for one in obstacles) else ""
    wanted = [*filter(None, [needed]), *([f"a node with {selector}"] if selector else [])]
    start = f"Needs {', on '.join(wanted)}" if wanted else "No node can take it"
    return made(
        "Unschedulable", f"{start}; {_nodes(nodes, obstacles, said=bool(needed))}", _hints(obstacles), verbatim=message
    )


def no_such_claim(claim: str, pod: Json, message: str) -> Reason:
    """Return that a pod waits for a claim that is not there."""
    hint = "Choose one that exists under Data, or create it: the job starts by itself then."
    return made("NoSuchClaim", f"There is no PVC {named(claim)} in {namespace_of(pod)}", hint, verbatim=message)


def namespace_of(pod: Json) -> str:
    """Name a pod's namespace, as it may stand in a sentence."""
    name = text(pod, "metadata", "namespace")
    return f"namespace {named(name)}" if name else "its namespace"


def claims_of(pod: Json) -> list[str]:
    """Return the names of the claims that a pod mounts."""
    volumes = parts(pod, "spec", "volumes")
    return [name for volume in volumes if (name := text(volume, "persistentVolumeClaim", "claimName"))]


def _lacking_room(lack: Lack, always: bool, message: str) -> Reason:
    """Say what is lacking on nodes: of what there is, or of what is free."""
    if not always:
        return made("Unschedulable", not_now(lack), _ROOM_HINT, verbatim=message)
    if not lack.most:
        hint = "It starts when such a node is added. Run it again with what nodes have to start sooner."
        return made("Unschedulable", f"No node that it may run on has {named(lack.resource)}", hint, verbatim=message)
    unless = "if a larger node is added" if may_grow(lack.nodes) else "only if a larger node is added"
    hint = f"It starts {unless}. {fewer(lack)}"
    return made("Unschedulable", never(lack), hint, verbatim=message)


def _another_scheduler(message: str, pod: Json) -> Reason:
    """Say what a gang scheduler reports, which has words of its own."""
    scheduler = text(pod, "spec", "schedulerName") or "default-scheduler"
    queue = text(pod, "metadata", "labels", "scheduler.tensorstack.dev/queue")
    where = f" in queue {named(queue)}" if queue else ""
    who = "The scheduler" if scheduler == "default-scheduler" else f"The scheduler {named(scheduler)}"
    hint = "It starts when the scheduler finds one. Ask for less, or for another queue, to start sooner."
    return made("NoPlaceYet", f"{who} has found no place for it{where} yet", hint, verbatim=message)


def _obstacles(words: str) -> Iterator[Obstacle]:
    for clause in re.split(r",\s+(?=\d+ )", words)[:50]:
        match = _OBSTACLE.fullmatch(clause.strip())
        if match is not None:
            yield _obstacle(int(match["nodes"]), match["words"])


def _obstacle(nodes: int, words: str) -> Obstacle:
    short = _INSUFFICIENT.fullmatch(words)
    if short is not None:
        resource = named(short["resource"])
        return Obstacle(nodes, "Room", f"has too {'little' if resource in THINGS else 'few'} free", resource)
    taint = _TAINT.search(words)
    if taint is not None:
        if taint["key"] in _CONDITIONS:
            return Obstacle(nodes, "Node", _CONDITIONS[taint["key"]])
        if taint["key"] is None:
            return Obstacle(nodes, "Taint", "has a taint that it does not tolerate")
        label = f"{taint['key']}={taint['value']}" if taint["value"] else taint["key"]
        return Obstacle(nodes, "Taint", f"has the taint {named(label)}")
    for said, about, ours in _OTHERS:
        if said in words:
            return Obstacle(nodes, about, ours)
    return Obstacle(nodes, "Other", f"is unfit: {named(words.removeprefix('node(s) '))}")


def _nodes(nodes: int, obstacles: list[Obstacle], *, said: bool) -> str:
    """Say what stands against the nodes, most of them first; `said` if the resources they lack were named already."""
    lone = said and len({one.resource for one in obstacles if one.resource}) == 1
    words = [(one.nodes, one.words if lone else _with_resource(one)) for one in obstacles]
    if all(number == nodes for number, _ in words):
        if nodes == 1:
            return f"the only node {_and([one for _, one in words])}"
        return f"all {nodes} nodes {_and([_plural(one) for _, one in words])}"
    return f"of {nodes} nodes, {_and([f'{number} {one if number == 1 else _plural(one)}' for number, one in words])}"


def _merged(obstacles: list[Obstacle]) -> list[Obstacle]:
    """Count several resources as one where the same number of nodes lacks each; what they are is said before."""
    room = [one for one in obstacles if one.about == "Room"]
    if len(room) < 2 or len({one.nodes for one in room}) > 1:
        return obstacles
    return [
        Obstacle(room[0].nodes, "Room", "has too little of that free"),
        *(one for one in obstacles if one not in room),
    ]


def _with_resource(obstacle: Obstacle) -> str:
    if obstacle.resource is None:
        return obstacle.words
    return f"{obstacle.words} {THINGS.get(obstacle.resource, obstacle.resource)}"


def _plural(words: str) -> str:
    verb, _, rest = words.partition(" ")
    return f"{_PLURAL.get(verb, verb)} {rest}"


def _and(words: list[str]) -> str:
    shown = words if len(words) <= 4 else [*words[:3], "more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _hints(obstacles: list[Obstacle]) -> str | None:
    abouts = {one.about for one in obstacles}
    hints = {"Room": _UNSEEN_HINT, "Selector": _SELECTOR_HINT, "Taint": _TAINT_HINT, "Volume": _VOLUME_HINT}
    return joined(*(hint for about, hint in hints.items() if about in abouts))


def _lacking(obstacles: list[Obstacle], pod: Json) -> str:
    """Return what the pod asks for of that of which too little is free: “9 nvidia.com/gpu and 2 TiB memory”."""
    needs, asked = [], requests_of(pod)
    for resource in {one.resource: None for one in obstacles if one.resource}:
        if asked[resource]:
            needs.append(f"{quantity(resource, asked[resource])} {THINGS.get(resource, resource)}")
    return listed(needs)


def _selector(pod: Json) -> str:
    """Return the labels that a pod asks of its node, as far as they can be said shortly."""
    labels = [f"{key}={wanted}" for key, wanted in part(pod, "spec", "nodeSelector").items()]
    required = part(pod, "spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
    terms = parts(required, "nodeSelectorTerms")
    for expression in parts(terms[0], "matchExpressions") if len(terms) == 1 else []:
        values = texts(expression, "values")
        if text(expression, "operator") == "In" and values:
            labels.append(f"{text(expression, 'key')}={'|'.join(values)}")
    return listed(labels)
