"""Watches of nodes, pods and quotas, and the free amounts that follow from them.

Nodes and the pods of all namespaces are reduced to the counted fields while they are read. An account that may not see
them gets quotas and the usage of its own namespaces.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import anyio

from .....core.capacity import NamespaceQuota, NodeCapacity
from .....core.translation import Text, _, sentences
from ...client.api import ApiError, Json, KubeApi, Unreachable
from ...client.json_access import part
from ...client.watch.informer import Informer
from ...objects.pods.requests import Held, kept_of_pod
from ...objects.text import answer_of
from ...scheduling.node_capacity import kept_of_node, node_of, quota_of
from ...scheduling.node_fit import ClusterRoom, Node
from ..namespace_watch import NamespaceWatch
from .own_usage import OwnPods

BATCH: Final = 100
"""Number of nodes that are counted before the event loop serves other tasks."""

_PLACED: Final = {"fieldSelector": "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"}
_ONLY_QUOTAS: Final = _("You don't have permission to see nodes (list, watch nodes). Only quotas are known.")
_ONLY_QUOTAS_AND_OWN: Final = _(
    "You don't have permission to see nodes (list, watch nodes). Only quotas and the usage of your jobs are known."
)
_NO_PODS: Final = _(
    "You don't have permission to see the pods of all namespaces (list, watch pods)."
    " The usage of other users is not counted, so less may be free."
)
_NO_OWN_PODS: Final = _(
    "You don't have permission to see the pods of namespace {namespace} (list, watch pods)."
    " The usage of your jobs there is not known.",
    namespace="",
)


class Counting:
    """Watches of a cluster's nodes, pods and quotas from `start` to `stop`; `count` counts on demand.

    Parameters
    ----------
    api
        Client of the API server.
    spaces
        Watches of the namespaces, by name; more namespaces may be added.
    notify
        Called when a counted object, or the health of a watch, has changed.
    """

    def __init__(self, api: KubeApi, spaces: Mapping[str, NamespaceWatch], notify: Callable[[], None]) -> None:
        self.api = api
        self._spaces = spaces
        self._notify = notify
        self._nodes = Informer(
            api, "/api/v1/nodes", self._node_changed, keep=kept_of_node, from_cache=True, state_changed=notify
        )
        self._pods = Informer(
            api,
            "/api/v1/pods",
            self._pod_changed,
            params=_PLACED,
            keep=kept_of_pod,
            from_cache=True,
            state_changed=notify,
        )
        self._quotas: dict[str, Informer] = {}
        self._by_name: dict[str, Json] = {}
        self._held: dict[str, dict[str, Held]] = {}
        self._own = OwnPods()
        self._knows_own = False
        self._only_watched_namespaces = False
        self._counted: dict[str, NodeCapacity] = {}
        self._due: set[str] = set()
        self._room: ClusterRoom | None = None

    # -- life cycle ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the watches of nodes and pods."""
        self._nodes.start()
        self._pods.start()

    def follow_quotas(self) -> None:
        """Start the watches of the quotas of namespaces that were added."""
        for namespace in self._spaces.keys() - self._quotas.keys():
            path, changed = _quotas_path(namespace), lambda _before, _after: self._notify()
            watch = self._quotas[namespace] = Informer(self.api, path, changed, state_changed=self._notify)
            watch.start()

    async def stop(self) -> None:
        """Stop all watches."""
        await asyncio.gather(*(watch.stop() for watch in self._watches()))

    async def ready(self, seconds: float) -> None:
        """Wait, at most so many seconds, until each watch that is counted from was read once or refused."""
        with anyio.move_on_after(seconds):
            for watch in self._watches():
                await watch.listed()
            for watch in self._sources():  # The sources depend on which watches were refused.
                await watch.listed()

    # -- results ------------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> list[NodeCapacity]:
        """All nodes of the last count, by name; none if this account may not see nodes."""
        return [self._counted[name] for name in sorted(self._counted)]

    @property
    def mine(self) -> list[Counter[str]] | None:
        """Usage of this user's jobs on each node that they use; None if their pods are not known."""
        return list(self._own.mine.values()) if self._knows_own else None

    @property
    def namespaces(self) -> list[str]:
        """Namespaces whose quotas are watched."""
        return list(self._quotas)

    @property
    def room(self) -> ClusterRoom | None:
        """Nodes that decide whether a pod fits; None if nodes are not known or were never counted."""
        if self._room is None and self._counted and self._nodes.known and (self._pods.known or self._pods.denied):
            nodes = [
                Node(node, part(self._by_name.get(name, {}), "metadata", "labels"))
                for name, node in self._counted.items()
            ]
            self._room = ClusterRoom(nodes, exact=not self._pods.denied)
        return self._room

    @property
    def limited(self) -> Text | None:
        """Sentences that say why the results are not complete; None if they are."""
        spaces = self._spaces.values()
        own = [_NO_OWN_PODS.with_params(namespace=space.name) for space in spaces if space.pods.denied]
        if self._nodes.denied:
            return sentences(_ONLY_QUOTAS_AND_OWN if self._knows_own else _ONLY_QUOTAS, *own)
        denied = [_NO_PODS, *own] if self._pods.denied else []
        unknown = [
            (name, answer_of(watch.error) if watch.error is not None else None)
            for name, watch in (("nodes", self._nodes), ("pods", self._pods))
            if not watch.known and not watch.denied
        ]
        if len(unknown) == 2 and unknown[0][1] == unknown[1][1]:
            unknown = [("both", unknown[0][1])]
        return sentences(*denied, *(_not_known(name, answer) for name, answer in unknown))

    @property
    def begins(self) -> bool:
        """True while a source is read for the first time, so that the results will change soon."""
        return any(not watch.known and watch.error is None for watch in self._sources())

    @property
    def right_at(self) -> float:
        """Time at which all results were current, in seconds since the epoch."""
        watches = [*self._watches(), *(space.pods for space in self._spaces.values())]
        times = [watch.stale_since for watch in watches if not watch.denied]
        return min((since for since in times if since is not None), default=time.time())

    async def quota(self, namespace: str) -> NamespaceQuota:
        """Return the quotas of a namespace; request them if they are not watched."""
        watch = self._quotas.get(namespace)
        objects: list[Json] = []
        error: ApiError | Unreachable | None = None
        if watch is not None:
            if not watch.known and watch.error is None:
                return NamespaceQuota(namespace=namespace, limited=_("Quotas are not known yet."))
            objects, error = list(watch.objects.values()), watch.error if watch.denied or not watch.known else None
        else:
            try:
                objects, _version = await self.api.list(_quotas_path(namespace))
            except (ApiError, Unreachable) as refusal:
                error = refusal
        if isinstance(error, ApiError) and error.status == 403:
            limited = _(
                "You don't have permission to see the quotas of namespace {namespace} (list, watch resourcequotas).",
                namespace=namespace,
            )
            return NamespaceQuota(namespace=namespace, limited=limited)
        if error is not None:
            limited = _("Quotas are not known: {answer}", answer=answer_of(error))
            return NamespaceQuota(namespace=namespace, limited=limited)
        return NamespaceQuota(namespace=namespace, lines=[line for quota in objects for line in quota_of(quota)])

    # -- counting -----------------------------------------------------------------------------------------------------

    async def count(self) -> None:
        """Count the nodes that have changed; several tasks may do so at the same time."""
        self._only_watched_namespaces, before = self._pods.denied, self._only_watched_namespaces
        self._due |= self._own.count(self._spaces.values(), whole=self._only_watched_namespaces)
        self._knows_own = any(space.knows_own_pods for space in self._spaces.values())
        if self._nodes.denied:
            self._counted.clear()
            self._due.clear()
            self._room = None
            return
        if self._only_watched_namespaces != before:
            self._due |= self._counted.keys()
        self._due |= self._counted.keys() ^ self._by_name.keys()
        for number, name in enumerate(list(self._due), 1):
            self._count_node(name)
            if number % BATCH == 0:
                await asyncio.sleep(0)

    def _count_node(self, name: str) -> None:
        if name not in self._due:
            return  # Another task has counted it meanwhile.
        self._due.discard(name)
        self._room = None
        node = self._by_name.get(name)
        if node is None:
            self._counted.pop(name, None)
            return
        held = self._own.all if self._only_watched_namespaces else self._held
        self._counted[name] = node_of(node, held.get(name, {}).values(), self._own.mine.get(name))

    # -- changes ------------------------------------------------------------------------------------------------------

    def _node_changed(self, before: Json | None, after: Json | None) -> None:
        metadata = (after or before or {})["metadata"]
        name = metadata["name"]
        if after is not None:
            self._by_name[name] = after
        elif name in self._by_name and self._by_name[name]["metadata"]["uid"] == metadata["uid"]:
            del self._by_name[name]  # Otherwise a new node already has the name.
        self._due.add(name)
        self._notify()

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
        self._notify()

    def _watches(self) -> list[Informer]:
        return [self._nodes, self._pods, *self._quotas.values()]

    def _sources(self) -> list[Informer]:
        """Return the watches that are counted from: nodes and pods; if either is denied, also those of namespaces."""
        if not (self._nodes.denied or self._pods.denied):
            return [self._nodes, self._pods]
        spaces = self._spaces.values()
        return [*self._watches(), *(watch for space in spaces for watch in (space.pods, *space.jobs.values()))]


def _not_known(collection: str, answer: str | None) -> Text:
    """Return the sentence that says that nodes, pods or both are not known, with the API server's answer if any."""
    match collection, answer:
        case "nodes", None:
            return _("The cluster's nodes are not known yet.")
        case "pods", None:
            return _("The cluster's pods are not known yet.")
        case _both, None:
            return _("The cluster's nodes and pods are not known yet.")
        case "nodes", said:
            return _("The cluster's nodes are not known: {answer}", answer=said)
        case "pods", said:
            return _("The cluster's pods are not known: {answer}", answer=said)
        case _both, said:
            return _("The cluster's nodes and pods are not known: {answer}", answer=said)


def _quotas_path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/resourcequotas"
