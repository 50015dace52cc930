"""Counting what is free while nodes, pods and clusters change, at any moment of it."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError, KubeApi, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.watch import backoff
from jupyterlab_t9kjob.engines.kubernetes.cluster import connection as cluster_module
from jupyterlab_t9kjob.engines.kubernetes.cluster.capacity import service as capacity_service
from jupyterlab_t9kjob.engines.kubernetes.cluster.capacity.service import CapacityService
from jupyterlab_t9kjob.engines.kubernetes.cluster.connection import Cluster
from jupyterlab_t9kjob.engines.kubernetes.cluster.namespace_watch import NamespaceWatch
from jupyterlab_t9kjob.engines.kubernetes.cluster.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind

pytestmark = pytest.mark.asyncio

GPU = "nvidia.com/gpu"
NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
OWN_PODS, QUOTAS = "/api/v1/namespaces/lab/pods", "/api/v1/namespaces/lab/resourcequotas"
JOBS = "/apis/a/v1/namespaces/lab/jobs"
DENIED = ApiError(403, {"message": "It may not."})
TURNS = 30
"""Of the loop, within which all that is raced here ends."""

Json = dict[str, Any]


class Api:
    """A cluster's API without a network, so that each step is a turn of the loop.

    Attributes
    ----------
    watch_ends
        Called when somebody stops watching.
    refusals
        How lists are refused, by path.
    slow
        What lists wait for, by path.
    """

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.moved = False
        self.lost = False
        self.attended = asyncio.Event()
        self.streams_lists = False
        self.watch_ends: Callable[[], None] = lambda: None
        self.refusals: dict[str, ApiError | Unreachable] = {}
        self.slow: dict[str, asyncio.Event] = {}
        self._objects: dict[str, dict[str, Json]] = {}
        self._history: list[tuple[int, str, Json]] = []
        self._watches: list[tuple[str, asyncio.Queue[Json]]] = []
        self._version = 0

    def put(self, path: str, name: str, **more: Any) -> None:
        self._version += 1
        metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(self._version)}
        item = self._objects.setdefault(path, {})[name] = {"metadata": metadata, **more}
        self._tell(path, "MODIFIED", item)

    def put_node(self, name: str, **spec: Any) -> None:
        conditions = [{"type": "Ready", "status": "True"}]
        has = {GPU: "8"}
        self.put(NODES, name, spec=spec, status={"capacity": has, "allocatable": has, "conditions": conditions})

    def put_pod(self, name: str, node: str, path: str = PODS) -> None:
        containers = [{"resources": {"limits": {GPU: "4"}}}]
        self.put(path, name, spec={"nodeName": node, "containers": containers}, status={"phase": "Running"})

    def remove(self, path: str, name: str) -> None:
        self._version += 1
        item = self._objects[path].pop(name)
        metadata = {**item["metadata"], "resourceVersion": str(self._version)}
        self._tell(path, "DELETED", {**item, "metadata": metadata})

    def _tell(self, path: str, kind: str, item: Json) -> None:
        event = {"type": kind, "object": item}
        self._history.append((self._version, path, event))
        for watched, events in self._watches:
            if watched == path:
                events.put_nowait(event)

    def on_wake(self, _wake: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    async def read(self, path: str, take: Callable[[Json], None], _params: Any = None) -> str:
        await asyncio.sleep(0)
        if path in self.slow:
            await self.slow[path].wait()
        if path in self.refusals:
            raise self.refusals[path]
        for item in self._objects.get(path, {}).values():
            take(item)
        return str(self._version)

    @asynccontextmanager
    async def watch(self, path: str, params: Json, *, silence: float) -> AsyncIterator[AsyncIterator[Json]]:
        watch = (path, asyncio.Queue[Json]())
        for version, changed, event in self._history:
            if changed == path and version > int(params["resourceVersion"]):
                watch[1].put_nowait(event)
        self._watches.append(watch)

        async def events() -> AsyncIterator[Json]:
            while True:
                yield await watch[1].get()

        try:
            yield events()
        finally:
            self._watches.remove(watch)
            self.watch_ends()

    async def get(self, _path: str) -> Json:
        return {}

    async def find(self) -> None:
        """Do as `KubeApi` does."""

    async def close(self) -> None:
        """Do as `KubeApi` does."""

    def wake(self) -> None:
        """Do as `KubeApi` does."""


def reader_of(api: Api, spaces: dict[str, NamespaceWatch] | None = None) -> CapacityService:
    return CapacityService(cast(Cluster, SimpleNamespace(api=api, spaces=spaces or {}, problem_since=None, server="a")))


def a_space(api: Api) -> NamespaceWatch:
    """Return a namespace in which all jobs are one's own, and all pods are those of the job `job`."""
    space = NamespaceWatch(cast(KubeApi, api), "lab", lambda: None, lambda: None)
    space.start()
    jobs = set[str]()
    kind = SimpleNamespace(engine="kubeflow", group="a", version="v1", plural="jobs")
    kind.owner_of, kind.pod_uids = lambda _pod: "uid-job", lambda _manifest: set()
    sink = SimpleNamespace(kind=kind, is_mine=jobs.__contains__, touched=lambda _uid: None, space_changed=lambda: None)
    sink.job_changed = lambda _namespace, manifest: jobs.add(manifest["metadata"]["uid"])
    space.add(cast(Any, sink))
    return space


async def rest(turns: int = TURNS) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


async def free_on(reader: CapacityService, name: str) -> float:
    (node,) = [node for node in (await reader.nodes()).nodes if node.name == name]
    return next(amount.free for amount in node.amounts if amount.resource == GPU)


async def test_a_node_that_changes_while_nodes_are_counted() -> None:
    names = [f"node-{number:03}" for number in range(350)]
    for turns in range(TURNS):
        api = Api(SimpleNamespace(host="a"))
        for name in names:
            api.put_node(name)
        reader = reader_of(api)
        counts = [asyncio.create_task(reader.nodes()) for _ in range(2)]
        await rest(turns)
        for name in names:
            api.put_node(name, unschedulable=True)
        await asyncio.gather(*counts)
        await rest()
        assert all(node.cordoned for node in (await reader.nodes()).nodes), f"after {turns} turns"
        await reader.stop()


async def test_a_node_that_is_made_anew_by_its_name() -> None:
    api = Api(SimpleNamespace(host="a"))
    api.put_node("one")
    reader = reader_of(api)
    assert await free_on(reader, "one") == 8
    api.remove(NODES, "one")
    api.put_node("one", unschedulable=True)
    await rest()
    assert await free_on(reader, "one") == 0
    api.remove(NODES, "one")
    await rest()
    assert (await reader.nodes()).nodes == []
    await reader.stop()


async def test_a_pod_that_comes_while_watching_ends_is_not_held_for_good() -> None:
    for turns in range(TURNS):
        api = Api(SimpleNamespace(host="a"))
        api.put_node("one")
        reader = reader_of(api)
        leave = reader.subscribe()
        assert await free_on(reader, "one") == 8
        stopped = asyncio.create_task(reader.stop())
        await rest(turns)
        api.put_pod("late", "one")
        await stopped
        api.remove(PODS, "late")
        reader.resume()
        assert await free_on(reader, "one") == 8, f"after {turns} turns"
        leave()
        await reader.stop()


async def test_who_looks_while_the_cluster_is_changed_sees_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    clusters = {name: Api(SimpleNamespace(cluster=name, host=name, namespace="lab")) for name in ("old", "new")}
    for name, api in clusters.items():
        api.put_node(f"{name}-node")
    connected = [clusters["old"].connection]
    monkeypatch.setattr(cluster_module, "load_connection", lambda _context: connected[0])
    monkeypatch.setattr(cluster_module, "KubeApi", lambda connection, _attended: clusters[connection.host])
    kind = cast(JobKind, SimpleNamespace(engine="kubeflow", group="a", version="v1", plural="jobs", kind="Job"))
    cluster = Cluster(Settings())
    cluster.start(cast(Any, SimpleNamespace(kind=kind)))
    await cluster.discovered()
    leave = cluster.capacity.subscribe()
    assert [node.name for node in (await cluster.capacity.nodes()).nodes] == ["old-node"]

    connected[0], clusters["old"].moved = clusters["new"].connection, True
    ends: list[Callable[[], None]] = []
    clusters["old"].watch_ends = lambda: ends.append(cluster.capacity.subscribe())
    await cluster.refresh()
    assert ends
    assert [node.name for node in (await cluster.capacity.nodes()).nodes] == ["new-node"]
    for end in (leave, *ends):
        end()
    await cluster.stop()


class Request:
    """Stands for all that a request of a page keeps."""


async def test_who_looks_is_not_kept_as_long_as_the_cluster_is_followed() -> None:
    request: ContextVar[Request] = ContextVar("request")
    api = Api(SimpleNamespace(host="a"))
    api.put_node("one")
    reader = reader_of(api)

    async def look() -> weakref.ref[Request]:
        request.set(Request())
        await reader.nodes()
        return weakref.ref(request.get())

    kept = await asyncio.create_task(look())
    await rest()
    gc.collect()
    assert kept() is None
    api.put_node("two")
    await rest()
    assert len((await reader.nodes()).nodes) == 2
    await reader.stop()


async def test_who_looks_while_the_cluster_is_read_is_told_that_it_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity_service, "READY_SECONDS", 0)
    api = Api(SimpleNamespace(host="a"))
    api.put_node("one")
    api.put_pod("first", "one")
    api.slow[PODS] = asyncio.Event()
    reader = reader_of(api)
    leave = reader.subscribe()
    await rest()
    assert (await reader.now()).counting and (await reader.nodes()).counting
    api.slow[PODS].set()
    await rest()
    seen = await reader.now()
    assert (seen.counting, seen.limited, seen.pools[0].amount.free) == (False, None, 4)
    leave()
    await reader.stop()


@pytest.mark.parametrize("slow", [OWN_PODS, JOBS])
async def test_a_slow_namespace_withholds_nothing_where_all_nodes_and_pods_are_seen(
    slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(SimpleNamespace(host="a", cluster="a"))
    api.put_node("one")
    api.slow = {slow: asyncio.Event(), QUOTAS: asyncio.Event()}
    space = a_space(api)
    reader = reader_of(api, {"lab": space})
    leave = reader.subscribe()
    await rest()
    monkeypatch.setattr(capacity_service, "READY_SECONDS", 0)
    seen = await reader.now()
    assert (seen.counting, seen.nodes, seen.mine) == (False, 1, None)
    assert seen.quotas[0].limited == "Quotas are not known yet."
    monkeypatch.setattr(capacity_service, "READY_SECONDS", 1000)
    api.slow[QUOTAS].set()
    asked = asyncio.create_task(reader.now())
    await rest()
    assert asked.done()
    seen = await asked
    assert (seen.counting, seen.quotas[0].limited) == (False, None)
    leave()
    await asyncio.gather(reader.stop(), space.stop())


@pytest.mark.parametrize("refused", [(NODES, PODS), (NODES,), (PODS,)])
@pytest.mark.parametrize("slow", [OWN_PODS, QUOTAS, JOBS])
async def test_what_little_rights_are_counted_from_is_waited_for(
    slow: str, refused: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    api = Api(SimpleNamespace(host="a", cluster="a"))
    api.refusals = dict.fromkeys(refused, DENIED)
    api.slow[slow] = asyncio.Event()
    api.put(JOBS, "job")
    api.put_pod("own", "one", OWN_PODS)
    api.put(QUOTAS, "team", status={"hard": {"pods": "9"}, "used": {"pods": "3"}})
    space = a_space(api)
    reader = reader_of(api, {"lab": space})
    leave = reader.subscribe()
    await rest()
    monkeypatch.setattr(capacity_service, "READY_SECONDS", 0)
    seen = await reader.now()
    assert (seen.counting, seen.mine) == (True, {GPU: 4} if slow == QUOTAS else None)
    monkeypatch.setattr(capacity_service, "READY_SECONDS", 1000)
    asked = asyncio.create_task(reader.now())
    await rest()
    assert not asked.done()
    api.slow[slow].set()
    seen = await asked
    assert (seen.counting, seen.mine, [line.used for line in seen.quotas[0].lines]) == (False, {GPU: 4}, [3])
    leave()
    await asyncio.gather(reader.stop(), space.stop())


async def test_what_own_jobs_hold_is_not_known_where_none_of_their_pods_are() -> None:
    api = Api(SimpleNamespace(host="a", cluster="a"))
    api.refusals = {NODES: DENIED, PODS: DENIED, OWN_PODS: DENIED}
    space = a_space(api)
    no_nodes = "You don't have permission to see nodes (list, watch nodes). Only quotas are known."
    no_pods = (
        "You don't have permission to see the pods of namespace lab (list, watch pods)."
        " The usage of your jobs there is not known."
    )
    for spaces, limited in (({"lab": space}, f"{no_nodes} {no_pods}"), ({}, no_nodes)):
        reader = reader_of(api, spaces)
        seen = await reader.now()
        assert (seen.counting, seen.mine, seen.limited) == (False, None, limited)
        await reader.stop()
    await space.stop()


async def test_jobs_that_may_not_be_seen_are_not_waited_for() -> None:
    api = Api(SimpleNamespace(host="a", cluster="a"))
    api.refusals = {NODES: DENIED, PODS: DENIED, JOBS: DENIED}
    space = a_space(api)
    reader = reader_of(api, {"lab": space})
    seen = await reader.now()
    assert (seen.counting, seen.mine) == (False, {})
    await asyncio.gather(reader.stop(), space.stop())


async def test_a_cluster_that_answers_again_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity_service, "READY_SECONDS", 0)
    monkeypatch.setattr(backoff, "FIRST_DELAY", 0.0)
    api = Api(SimpleNamespace(host="a"))
    api.put_node("one")
    api.refusals = {path: Unreachable("It can't be reached.") for path in (NODES, PODS)}
    reader = reader_of(api)
    leave = reader.subscribe()
    await rest()
    gone = await reader.now()
    assert not gone.counting and gone.limited == "The cluster's nodes and pods are not known: It can't be reached."
    api.slow = {NODES: asyncio.Event()}
    api.refusals = {}
    await rest()
    tried = await reader.now()  # it was not reached yet, and may take its time again
    assert not tried.counting and "not known" in (tried.limited or "")
    api.slow[NODES].set()
    await rest()
    seen = await reader.now()
    assert (seen.counting, seen.limited, seen.nodes) == (False, None, 1)
    leave()
    await reader.stop()


async def test_what_a_cluster_says_is_shown_as_one_line() -> None:
    api = Api(SimpleNamespace(host="a"))
    api.refusals[NODES] = ApiError(500, {"message": "etcd\x1b[31m is\n\u202egone" + "!" * 5000})
    reader = reader_of(api)
    limited = (await reader.nodes()).limited or ""
    assert limited.startswith("The cluster's nodes are not known: etcd") and "is gone!!!" in limited
    assert len(limited) < 400 and limited.isprintable()
    await reader.stop()
