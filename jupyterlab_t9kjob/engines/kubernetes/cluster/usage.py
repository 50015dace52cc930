"""Nodes, pods and quotas as they are seen by one connection, and what is free by them.

Nodes and the pods of all namespaces are reduced to what counts as they are read. Where this account may not see them,
what is left are quotas and its own namespaces.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import anyio

from ....core.capacity import NamespaceQuota, NodeCapacity
from ..client.api import ApiError, Json, KubeApi, Unreachable
from ..client.informer import Informer
from ..client.json_access import part
from ..objects.requests import Held, kept_of_pod
from ..objects.text import answer_of
from ..scheduling.node_capacity import kept_of_node, node_of, quota_of
from ..scheduling.node_fit import ClusterRoom, Node
from .namespace_watch import NamespaceWatch
from .own_usage import OwnPods

BATCH: Final = 100
"""Nodes that are counted before others get their turn."""

_PLACED: Final = {"fieldSelector": "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"}
_NO_NODES: Final = "This account may not see nodes (list, watch nodes), so only {} are known."
_NO_PODS: Final = (
    "This account may not see the pods of all namespaces (list, watch pods),"
    " so what others hold is not counted, and less may be free."
)
_NO_OWN_PODS: Final = (
    "It may not see the pods of namespace {} (list, watch pods), so what its jobs hold there is not known."
)
_NO_QUOTAS: Final = "This account may not see the quotas of namespace {} (list, watch resourcequotas)."


class Counting:
    """Follows a cluster from `start` to `stop`, and counts it whenever asked.

    Parameters
    ----------
    api
        The cluster.
    spaces
        Its namespaces that are watched for jobs, by name; more may come.
    tell
        Called when something has changed that is counted, or how well it is seen.
    """

    def __init__(self, api: KubeApi, spaces: Mapping[str, NamespaceWatch], tell: Callable[[], None]) -> None:
        self.api = api
        self._spaces = spaces
        self._tell = tell
        self._nodes = Informer(
            api, "/api/v1/nodes", self._node_changed, keep=kept_of_node, from_cache=True, state_changed=tell
        )
        self._pods = Informer(
            api,
            "/api/v1/pods",
            self._pod_changed,
            params=_PLACED,
            keep=kept_of_pod,
            from_cache=True,
            state_changed=tell,
        )
        self._quotas: dict[str, Informer] = {}
        self._by_name: dict[str, Json] = {}
        self._held: dict[str, dict[str, Held]] = {}
        self._own = OwnPods()
        self._knows_own = False
        self._of_own_alone = False
        self._counted: dict[str, NodeCapacity] = {}
        self._due: set[str] = set()
        self._room: ClusterRoom | None = None

    # -- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to follow nodes and pods."""
        self._nodes.start()
        self._pods.start()

    def follow_quotas(self) -> None:
        """Follow the quotas of the namespaces that have come."""
        for namespace in self._spaces.keys() - self._quotas.keys():
            path, changed = _quotas_path(namespace), lambda _before, _after: self._tell()
            watch = self._quotas[namespace] = Informer(self.api, path, changed, state_changed=self._tell)
            watch.start()

    async def stop(self) -> None:
        """Follow nothing any more."""
        await asyncio.gather(*(watch.stop() for watch in self._watches()))

    async def ready(self, seconds: float) -> None:
        """Wait until quotas and all that is counted from was read once, or could not be, but not for long."""
        with anyio.move_on_after(seconds):
            for watch in self._watches():
                await watch.listed()
            for watch in self._sources():  # only now it is known which these are
                await watch.listed()

    # -- what is known ------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[NodeCapacity]:
        """All nodes as they were last counted, by name; none where this account may not see them."""
        return [self._counted[name] for name in sorted(self._counted)]

    @property
    def mine(self) -> list[Counter[str]] | None:
        """What this user's jobs hold, of each node where they hold anything; None where their pods are not known."""
        return list(self._own.mine.values()) if self._knows_own else None

    @property
    def namespaces(self) -> list[str]:
        """Those whose quotas are followed."""
        return list(self._quotas)

    @property
    def room(self) -> ClusterRoom | None:
        """What decides whether a pod can be placed; None if nodes are not known, or were never counted."""
        if self._room is None and self._counted and self._nodes.known and (self._pods.known or self._pods.denied):
            nodes = [
                Node(node, part(self._by_name.get(name, {}), "metadata", "labels"))
                for name, node in self._counted.items()
            ]
            self._room = ClusterRoom(nodes, exact=not self._pods.denied)
        return self._room

    @property
    def limited(self) -> str | None:
        """Why not all is known."""
        own = [_NO_OWN_PODS.format(space.name) for space in self._spaces.values() if space.pods.denied]
        if self._nodes.denied:
            known = "quotas and what its own jobs hold" if self._knows_own else "quotas"
            return " ".join([_NO_NODES.format(known), *own])
        found = [_NO_PODS, *own] if self._pods.denied else []
        unknown: dict[str, list[str]] = {}
        for watch, what in ((self._nodes, "nodes"), (self._pods, "pods")):
            if not watch.known and not watch.denied:
                why = f": {answer_of(watch.error)}" if watch.error is not None else " yet."
                unknown.setdefault(why, []).append(what)
        found += [f"The cluster's {' and '.join(what)} are not known{why}" for why, what in unknown.items()]
        return " ".join(found) or None

    @property
    def begins(self) -> bool:
        """Whether what is counted from is being read for the first time, so that more is known soon."""
        return any(not watch.known and watch.error is None for watch in self._sources())

    @property
    def right_at(self) -> float:
        """When all that is told was right, seconds since the epoch."""
        watches = [*self._watches(), *(space.pods for space in self._spaces.values())]
        times = [watch.stale_since for watch in watches if not watch.denied]
        return min((since for since in times if since is not None), default=time.time())

    async def quota(self, namespace: str) -> NamespaceQuota:
        """Return the quotas of a namespace; of one that is not watched they are asked for."""
        watch = self._quotas.get(namespace)
        objects: list[Json] = []
        error: ApiError | Unreachable | None = None
        if watch is not None:
            if not watch.known and watch.error is None:
                return NamespaceQuota(namespace=namespace, limited="Quotas are not known yet.")
            objects, error = list(watch.objects.values()), watch.error if watch.denied or not watch.known else None
        else:
            try:
                objects, _version = await self.api.list(_quotas_path(namespace))
            except (ApiError, Unreachable) as refusal:
                error = refusal
        if isinstance(error, ApiError) and error.status == 403:
            return NamespaceQuota(namespace=namespace, limited=_NO_QUOTAS.format(namespace))
        if error is not None:
            return NamespaceQuota(namespace=namespace, limited=f"Quotas are not known: {answer_of(error)}")
        return NamespaceQuota(namespace=namespace, lines=[line for quota in objects for line in quota_of(quota)])

    # -- counting -----------------------------------------------------------------------------------------------------

    async def count(self) -> None:
        """Count anew what has changed; several may do so at the same time."""
        self._of_own_alone, before = self._pods.denied, self._of_own_alone
        self._due |= self._own.count(self._spaces.values(), whole=self._of_own_alone)
        self._knows_own = any(space.knows_own_pods for space in self._spaces.values())
        if self._nodes.denied:
            self._counted.clear()
            self._due.clear()
            self._room = None
            return
        if self._of_own_alone != before:
            self._due |= self._counted.keys()
        self._due |= self._counted.keys() ^ self._by_name.keys()
        for number, name in enumerate(list(self._due), 1):
            self._count_node(name)
            if number % BATCH == 0:
                await asyncio.sleep(0)

    def _count_node(self, name: str) -> None:
        if name not in self._due:
            return  # whoever else counts was here
        self._due.discard(name)
        self._room = None
        node = self._by_name.get(name)
        if node is None:
            self._counted.pop(name, None)
            return
        held = self._own.all if self._of_own_alone else self._held
        self._counted[name] = node_of(node, held.get(name, {}).values(), self._own.mine.get(name))

    # -- changes ------------------------------------------------------------------------------------------------------

    def _node_changed(self, before: Json | None, after: Json | None) -> None:
        metadata = (after or before or {})["metadata"]
        name = metadata["name"]
        if after is not None:
            self._by_name[name] = after
        elif name in self._by_name and self._by_name[name]["metadata"]["uid"] == metadata["uid"]:
            del self._by_name[name]  # else there is another one of this name by now
        self._due.add(name)
        self._tell()

    def _pod_changed(self, before: Json | None, after: Json | None) -> None:
        was, held = (pod["held"] if pod is not None else None for pod in (before, after))
        if was == held:
            return
        uid = (after or before or {})["metadata"]["uid"]
        if was is not None:
            on_node = self._held.get(was.node, {})
            on_node.pop(uid, None)
            if not on_node:
                self._held.pop(was.node, None)
            self._due.add(was.node)
        if held is not None:
            self._held.setdefault(held.node, {})[uid] = held
            self._due.add(held.node)
        self._tell()

    def _watches(self) -> list[Informer]:
        return [self._nodes, self._pods, *self._quotas.values()]

    def _sources(self) -> list[Informer]:
        """Return what is counted from: nodes and pods, and what the namespaces have only where either is denied."""
        if not (self._nodes.denied or self._pods.denied):
            return [self._nodes, self._pods]
        spaces = self._spaces.values()
        return [*self._watches(), *(watch for space in spaces for watch in (space.pods, *space.jobs.values()))]


def _quotas_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/resourcequotas"
