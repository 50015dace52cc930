"""What a cluster has and how much of it is free, followed only while somebody looks, however many do.

Nodes and the pods of all namespaces are reduced to what counts as they are read. Where this account may not see them,
what is left are quotas and its own namespaces.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio

from ...core.capacity import Capacity, NamespaceQuota, NodeCapacity, NodeList
from ...core.errors import Unavailable
from .capacity import (
    Held,
    kept_of_node,
    kept_of_pod,
    most_beside,
    node_of,
    pools_of,
    quota_of,
    sum_of,
    together,
)
from .fields import part
from .ownpods import OwnPods
from .placing import Node, Room
from .transport import ApiError, Json, KubeApi, Unreachable
from .watch import Collection

if TYPE_CHECKING:
    from .cluster import Cluster

LINGER_SECONDS = 60.0
"""How long the cluster is followed after the last one has looked."""
READY_SECONDS = 10.0
"""How long who looks first waits for nodes and pods to be counted."""
ROOM_SECONDS = 2.0
"""How long a form waits for that: it can be told without, and is soon told again."""
FRESH_SECONDS: Final = 60.0
"""How old what is known of nodes may be, and still be a reason."""
BATCH: Final = 100
"""Nodes that are counted before others get their turn."""

_PLACED: Final = {"fieldSelector": "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"}
_NO_NODES: Final = (
    "This account may not see nodes (list, watch nodes), so only quotas and what its own jobs hold are known."
)
_NO_PODS: Final = (
    "This account may not see the pods of all namespaces (list, watch pods),"
    " so what others hold is not counted, and less may be free."
)
_NO_QUOTAS: Final = "This account may not see the quotas of namespace {} (list, watch resourcequotas)."

Moved = Callable[[], None]


class CapacityReader:
    """Counts what is free in a cluster.

    Parameters
    ----------
    cluster
        The cluster.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: Collection | None = None
        self._pods: Collection | None = None
        self._quotas: dict[str, Collection] = {}
        self._ending: set[Collection] = set()
        self._counted: dict[str, NodeCapacity] = {}
        self._held: dict[str, dict[str, Held]] = {}
        self._own = OwnPods()
        self._is_partial = False
        self._due: set[str] = set()
        self._room: Room | None = None
        self._lookers: list[Moved] = []
        self._rest: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- life ---------------------------------------------------------------------------------------------------------

    def look(self, moved: Moved = lambda: None) -> Callable[[], None]:
        """Follow the cluster, and call `moved` at every change; return how to end that."""
        self._lookers.append(moved)
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        self.go_on()
        return partial(self._leave, moved)

    def go_on(self) -> None:
        """Begin, or go on with what is new, if somebody looks and there is a connection."""
        api = self._cluster.api
        if api is None or not (self._lookers or self._rest):
            return
        if self._nodes is None:
            self._nodes = Collection(
                api, "/api/v1/nodes", self._node_changed, keep=kept_of_node, state_changed=self.tell
            )
            self._pods = Collection(
                api, "/api/v1/pods", self._pod_changed, params=_PLACED, keep=kept_of_pod, state_changed=self.tell
            )
            self._nodes.start()
            self._pods.start()
        for namespace in self._cluster.spaces.keys() - self._quotas.keys():
            path, changed = _quotas_path(namespace), lambda _before, _after: self.tell()
            watch = self._quotas[namespace] = Collection(api, path, changed, state_changed=self.tell)
            watch.start()

    async def stop(self) -> None:
        """Let go of the cluster; `go_on` begins anew if somebody still looks."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._rest = None
        await self._end()

    def tell(self) -> None:
        """Tell who looks that something has changed that is counted, or how well it is seen."""
        for moved in list(self._lookers):
            moved()

    # -- what is known ------------------------------------------------------------------------------------------------

    async def now(self, namespace: str = "") -> Capacity:
        """Return what is free, and the quotas of a namespace, or of all that are watched.

        It is followed from now on for a while, so that who asks again gets the answer at once.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        with self._looking() as api:
            await self._ready()
            await self._count()
            quotas = [await self._quota(api, name) for name in ([namespace] if namespace else self._quotas)]
            nodes = list(self._counted.values())
            return Capacity(
                time=self._right_at(),
                server=self._cluster.server,
                nodes=len(nodes),
                amounts=sum_of(nodes),
                most_on_a_node=most_beside(nodes),
                pools=pools_of(nodes),
                mine=together(self._own.mine.values()),
                quotas=quotas,
                limited=self._limited(),
            )

    async def nodes(self) -> NodeList:
        """Return all nodes with what is free on each, by name; none where this account may not see them.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        with self._looking():
            await self._ready()
            await self._count()
            nodes = [self._counted[name] for name in sorted(self._counted)]
            return NodeList(time=self._right_at(), nodes=nodes, limited=self._limited())

    async def room(self, namespace: str) -> Room:
        """Return what decides whether a job can be placed in a namespace, as far as that is known soon.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        with self._looking() as api:
            await self.glance()
            quota = await self._quota(api, namespace)
            return replace(self.room_now or Room(), quotas={namespace: quota.lines})

    async def glance(self) -> None:
        """Count nodes, as far as they are known soon, for `room_now`; nothing without a cluster."""
        if self._cluster.api is not None:
            with self._looking():
                await self._ready(ROOM_SECONDS)
                await self._count()

    @property
    def room_now(self) -> Room | None:
        """What is known of nodes without asking: None unless somebody has looked lately."""
        if self._room is None and self._counted and self._nodes is not None and self._pods is not None:
            if not self._nodes.known or not (self._pods.known or self._pods.denied):
                return None
            labels = {
                node["metadata"]["name"]: part(node, "metadata", "labels") for node in self._nodes.objects.values()
            }
            nodes = [Node(node, labels.get(name, {})) for name, node in self._counted.items()]
            self._room = Room(nodes, exact=not self._pods.denied)
        return self._room if time.time() - self._right_at() < FRESH_SECONDS else None

    # -- changes ------------------------------------------------------------------------------------------------------

    def _node_changed(self, before: Json | None, after: Json | None) -> None:
        for node in (before, after):
            if node is not None:
                self._due.add(node["metadata"]["name"])
        self.tell()

    def _pod_changed(self, before: Json | None, after: Json | None) -> None:
        was, held = (pod["held"] if pod is not None else None for pod in (before, after))
        if was == held:
            return
        uid = (after or before or {})["metadata"]["uid"]
        if was is not None:
            self._held.get(was.node, {}).pop(uid, None)
            self._due.add(was.node)
        if held is not None:
            self._held.setdefault(held.node, {})[uid] = held
            self._due.add(held.node)
        self.tell()

    # -- counting -----------------------------------------------------------------------------------------------------

    async def _count(self) -> None:
        """Count anew what has changed."""
        whole = self._pods is None or self._pods.denied
        self._due |= self._own.count(self._cluster.spaces.values(), whole=whole)
        if self._nodes is None or self._nodes.denied:
            self._counted.clear()
            self._room = None
            return
        if whole != self._is_partial:
            self._is_partial = whole
            self._due |= self._counted.keys()
        held = self._own.all if whole else self._held
        nodes = {node["metadata"]["name"]: node for node in self._nodes.objects.values()}
        self._due |= self._counted.keys() ^ nodes.keys()
        for number, name in enumerate(list(self._due), 1):
            self._due.discard(name)
            if name in nodes:
                self._counted[name] = node_of(nodes[name], held.get(name, {}).values(), self._own.mine.get(name))
            else:
                self._counted.pop(name, None)
            self._room = None
            if number % BATCH == 0:
                await asyncio.sleep(0)

    async def _quota(self, api: KubeApi, namespace: str) -> NamespaceQuota:
        """Return the quotas of a namespace; of one that is not watched they are asked for."""
        watch = self._quotas.get(namespace)
        objects: list[Json] = []
        error: ApiError | Unreachable | None = None
        if watch is not None:
            objects, error = list(watch.objects.values()), watch.error if watch.denied or not watch.known else None
        else:
            try:
                objects, _version = await api.list(_quotas_path(namespace))
            except (ApiError, Unreachable) as refusal:
                error = refusal
        if isinstance(error, ApiError) and error.status == 403:
            return NamespaceQuota(namespace=namespace, limited=_NO_QUOTAS.format(namespace))
        if error is not None:
            return NamespaceQuota(namespace=namespace, limited=f"Quotas are not known: {_words(error)}")
        return NamespaceQuota(namespace=namespace, lines=[line for quota in objects for line in quota_of(quota)])

    def _limited(self) -> str | None:
        """Say why not all is known."""
        if self._nodes is None or self._pods is None:
            return "Nodes are not counted yet."
        if self._nodes.denied:
            return _NO_NODES
        found = [_NO_PODS] if self._pods.denied else []
        for watch, what in ((self._nodes, "nodes"), (self._pods, "pods")):
            if not watch.known and not watch.denied:
                why = f": {_words(watch.error)}" if watch.error is not None else " yet."
                found.append(f"The cluster's {what} are not known{why}")
        return " ".join(found) or None

    def _right_at(self) -> float:
        """Return when all that is told was right."""
        watches = [*self._watches(), *(space.pods for space in self._cluster.spaces.values())]
        times = [watch.stale_since for watch in watches if not watch.denied]
        return min((since for since in [*times, self._cluster.problem_since] if since is not None), default=time.time())

    # -- inside -------------------------------------------------------------------------------------------------------

    @contextmanager
    def _looking(self) -> Iterator[KubeApi]:
        if self._cluster.api is None:
            raise Unavailable(self._cluster.problem or "", hint="See to the kubeconfig and refresh.")
        leave = self.look()
        try:
            yield self._cluster.api
        finally:
            leave()

    def _leave(self, moved: Moved) -> None:
        self._lookers.remove(moved)
        if not self._lookers:
            self._rest = asyncio.create_task(self._linger(), name="follow the cluster's capacity a while longer")
            self._tasks.add(self._rest)
            self._rest.add_done_callback(self._tasks.discard)

    async def _linger(self) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        self._rest = None
        await self._end()

    async def _end(self) -> None:
        self._ending |= set(self._watches())
        self._nodes = self._pods = self._room = None
        self._own = OwnPods()
        for kept in (self._quotas, self._counted, self._held, self._due):
            kept.clear()
        for watch in list(self._ending):
            await watch.stop()
            self._ending.discard(watch)

    def _watches(self) -> list[Collection]:
        return [watch for watch in (self._nodes, self._pods, *self._quotas.values()) if watch is not None]

    async def _ready(self, seconds: float = READY_SECONDS) -> None:
        """Wait until what there is was read once, or could not be, but not for long."""
        with anyio.move_on_after(seconds):
            for watch in self._watches():
                await watch.listed()


def _quotas_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/resourcequotas"


def _words(error: ApiError | Unreachable) -> str:
    return error.message if isinstance(error, ApiError) else str(error)
