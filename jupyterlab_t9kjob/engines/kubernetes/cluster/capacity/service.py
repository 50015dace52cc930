"""Capacity of a cluster: nodes, accelerators, quotas, and how much of them is free.

The capacity is kept current only while at least one client subscribes; all clients share the same watches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from .....core.capacity import Capacity, NodeList
from .....core.errors import Unavailable
from .....core.system.tasks import spawn
from .....core.translation import Text, _
from ...client.api import KubeApi
from ...objects.resources import together
from ...scheduling.node_capacity import most_beside, pools_of, sum_of
from ...scheduling.node_fit import ClusterRoom
from ..namespace_watch import NamespaceWatch
from .usage import Counting

LINGER_SECONDS = 60.0
"""Time for which the watches continue after the last client has left."""
READY_SECONDS = 10.0
"""Time that the first request waits until nodes, pods and quotas have been read."""
ROOM_SECONDS = 2.0
"""Time that a form's check waits for nodes and pods. Without them it checks less, and it is repeated soon."""
FRESH_SECONDS: Final = 60.0
"""Greatest age of the nodes' state that reasons may rely on."""

Listener = Callable[[], None]


class CountedCluster(Protocol):
    """Connection to a cluster, with the attributes that counting needs."""

    @property
    def api(self) -> KubeApi | None:
        """Client of the API server; None while there is no connection."""
        ...

    @property
    def spaces(self) -> Mapping[str, NamespaceWatch]:
        """Watches of the namespaces, by name."""
        ...

    @property
    def problem(self) -> Text | None:
        """Sentence that says why there is no connection."""
        ...

    @property
    def problem_since(self) -> float | None:
        """Since when the cluster does not answer, in seconds since the epoch."""
        ...


class CapacityService:
    """Keeps the capacity of a cluster current while at least one client subscribes.

    After `stop`, which a change of the cluster calls, `resume` counts the new cluster from the start.

    Parameters
    ----------
    cluster
        Connection to the cluster.
    """

    def __init__(self, cluster: CountedCluster) -> None:
        self._cluster = cluster
        self._counting: Counting | None = None
        self._ending: set[Counting] = set()
        self._listeners: list[Listener] = []
        self._lingering: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # -- subscriptions ------------------------------------------------------------------------------------------------

    def subscribe(self, moved: Listener = lambda: None) -> Callable[[], None]:
        """Subscribe: keep the capacity current and call `moved` after each change; return how to unsubscribe."""
        self._listeners.append(moved)
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        self.resume()
        return partial(self._leave, moved)

    def resume(self) -> None:
        """Start the watches that are missing, if a client subscribes and there is a connection."""
        api = self._cluster.api
        if api is None or not (self._listeners or self._lingering):
            return
        if self._counting is None:
            self._counting = Counting(api, self._cluster.spaces, self.notify)
            self._counting.start()
        self._counting.follow_quotas()

    async def stop(self) -> None:
        """Stop all watches; `resume` starts them again if clients still subscribe."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._lingering = None
        await self._end()

    def notify(self) -> None:
        """Notify the listeners of a change of the capacity, or of the health of its watches."""
        for listener in list(self._listeners):
            listener()

    # -- answers ------------------------------------------------------------------------------------------------------

    async def now(self, namespace: str = "") -> Capacity:
        """Return the capacity with the quotas of one namespace, or for an empty name of all watched namespaces.

        The watches continue for `LINGER_SECONDS`, so that the next request is answered at once.

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
        """Return all nodes by name, with the free amounts of each; none if this account may not see nodes.

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
        """Return the nodes and quotas that limit a job's placement, as far as they are read within `ROOM_SECONDS`.

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
        """Count the nodes for `room_now`, as far as they are read within `ROOM_SECONDS`; nothing without a cluster."""
        if self._cluster.api is not None:
            with self._looking() as counting:
                await counting.ready(ROOM_SECONDS)
                await counting.count()

    @property
    def room_now(self) -> ClusterRoom | None:
        """State of the nodes from the last count; None if it is older than `FRESH_SECONDS` or there was no count."""
        counting = self._counting
        if counting is None or time.time() - self._right_at(counting) >= FRESH_SECONDS:
            return None
        return counting.room

    # -- inside -------------------------------------------------------------------------------------------------------

    def _right_at(self, counting: Counting) -> float:
        """Return the time at which the whole answer was current, in seconds since the epoch."""
        lost = self._cluster.problem_since
        return counting.right_at if lost is None else min(counting.right_at, lost)

    @contextmanager
    def _looking(self) -> Iterator[Counting]:
        leave = self.subscribe()
        try:
            if self._counting is None:
                problem = self._cluster.problem or _("There is no connection to the cluster.")
                raise Unavailable(problem, hint=_("Correct the kubeconfig and refresh."))
            yield self._counting
        finally:
            leave()

    def _leave(self, listener: Listener) -> None:
        self._listeners.remove(listener)
        if not self._listeners and self._counting is not None:
            self._lingering = spawn(self._linger(), "keep the watches of the cluster's capacity for a while")
            self._tasks.add(self._lingering)
            self._lingering.add_done_callback(self._tasks.discard, context=Context())

    async def _linger(self) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        self._lingering = None
        await self._end()

    async def _end(self) -> None:
        if self._counting is not None:
            self._ending.add(self._counting)
            self._counting = None
        for counting in list(self._ending):
            await counting.stop()
            self._ending.discard(counting)
