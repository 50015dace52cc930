"""What a cluster has and how much of it is free, followed only while somebody looks, however many do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from ....core.capacity import Capacity, NodeList
from ....core.errors import Unavailable
from ....core.system.tasks import spawn
from ..client.api import KubeApi
from ..objects.resources import together
from ..scheduling.node_capacity import most_beside, pools_of, sum_of
from ..scheduling.node_fit import ClusterRoom
from .namespace_watch import NamespaceWatch
from .usage import Counting

LINGER_SECONDS = 60.0
"""How long the cluster is followed after the last one has looked."""
READY_SECONDS = 10.0
"""How long who looks first waits for quotas, and for what is counted from, to be read."""
ROOM_SECONDS = 2.0
"""How long a form waits for nodes and pods: it can be told without, and is soon told again."""
FRESH_SECONDS: Final = 60.0
"""How old what is known of nodes may be, and still be a reason."""

Moved = Callable[[], None]


class CountedCluster(Protocol):
    """The connection to a cluster, as far as counting needs it."""

    @property
    def api(self) -> KubeApi | None:
        """The API server; None while there is no connection."""
        ...

    @property
    def spaces(self) -> Mapping[str, NamespaceWatch]:
        """The namespaces that are followed, by name."""
        ...

    @property
    def problem(self) -> str | None:
        """Why there is no connection."""
        ...

    @property
    def problem_since(self) -> float | None:
        """Since when; Unix time in seconds."""
        ...


class CapacityService:
    """Has a cluster counted while somebody looks, and anew from the start where the connection is another one.

    Parameters
    ----------
    cluster
        The cluster.
    """

    def __init__(self, cluster: CountedCluster) -> None:
        self._cluster = cluster
        self._counting: Counting | None = None
        self._ending: set[Counting] = set()
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
        if self._counting is None:
            self._counting = Counting(api, self._cluster.spaces, self.tell)
            self._counting.start()
        self._counting.follow_quotas()

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
        with self._looking() as counting:
            await counting.ready(READY_SECONDS)
            await counting.count()
            quotas = [await counting.quota(name) for name in ([namespace] if namespace else counting.namespaces)]
            nodes, mine = counting.nodes, counting.mine
            return Capacity(
                time=self._right_at(counting),
                server=counting.api.connection.host,
                nodes=len(nodes),
                amounts=sum_of(nodes),
                most_on_a_node=most_beside(nodes),
                pools=pools_of(nodes),
                mine=None if mine is None else together(mine),
                quotas=quotas,
                counting=counting.begins,
                limited=counting.limited,
            )

    async def nodes(self) -> NodeList:
        """Return all nodes with what is free on each, by name; none where this account may not see them.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        with self._looking() as counting:
            await counting.ready(READY_SECONDS)
            await counting.count()
            return NodeList(
                time=self._right_at(counting),
                nodes=counting.nodes,
                counting=counting.begins,
                limited=counting.limited,
            )

    async def room(self, namespace: str) -> ClusterRoom:
        """Return what decides whether a job can be placed in a namespace, as far as that is known soon.

        Raises
        ------
        Unavailable
            If there is no cluster.
        """
        with self._looking() as counting:
            await self.glance()
            quota = await counting.quota(namespace)
            return replace(self.room_now or ClusterRoom(), quotas={namespace: quota.lines})

    async def glance(self) -> None:
        """Count nodes, as far as they are known soon, for `room_now`; nothing without a cluster."""
        if self._cluster.api is not None:
            with self._looking() as counting:
                await counting.ready(ROOM_SECONDS)
                await counting.count()

    @property
    def room_now(self) -> ClusterRoom | None:
        """What is known of nodes without asking: None unless somebody has looked lately."""
        counting = self._counting
        if counting is None or time.time() - self._right_at(counting) >= FRESH_SECONDS:
            return None
        return counting.room

    # -- inside -------------------------------------------------------------------------------------------------------

    def _right_at(self, counting: Counting) -> float:
        """Return when all that is told was right."""
        lost = self._cluster.problem_since
        return counting.right_at if lost is None else min(counting.right_at, lost)

    @contextmanager
    def _looking(self) -> Iterator[Counting]:
        leave = self.look()
        try:
            if self._counting is None:
                raise Unavailable(self._cluster.problem or "", hint="See to the kubeconfig and refresh.")
            yield self._counting
        finally:
            leave()

    def _leave(self, moved: Moved) -> None:
        self._lookers.remove(moved)
        if not self._lookers and self._counting is not None:
            self._rest = spawn(self._linger(), "follow the cluster's capacity a while longer")
            self._tasks.add(self._rest)
            self._rest.add_done_callback(self._tasks.discard, context=Context())

    async def _linger(self) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        self._rest = None
        await self._end()

    async def _end(self) -> None:
        if self._counting is not None:
            self._ending.add(self._counting)
            self._counting = None
        for counting in list(self._ending):
            await counting.stop()
            self._ending.discard(counting)
