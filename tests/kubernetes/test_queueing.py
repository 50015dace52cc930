"""The stored fields of queue objects, and the order in which their jobs start."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests.names import KUEUE, T9K_SCHEDULER
from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi
from jupyterlab_t9kjob.engines.kubernetes.cluster import queue_objects
from jupyterlab_t9kjob.engines.kubernetes.cluster.queue_objects import Queueing
from tests.kubernetes.fakecluster import FakeCluster
from tests.kubernetes.test_transport import connect
from tests.patience import PATIENCE
from tests.unit.kubernetes.queues import condition, pending, workload

pytestmark = pytest.mark.asyncio

WORKLOADS = "/apis/kueue.x-k8s.io/v1beta1/namespaces/lab/workloads"
GROUPS = "/apis/scheduler.tensorstack.dev/v1beta1/namespaces/lab/podgroups"


def waiting(name: str, priority: int = 0, *conditions: Any, created: str = "2026-11-22T05:00:00Z") -> dict[str, Any]:
    item = workload(*(conditions or (pending("full"),)), job=f"job-{name}", spec={"priority": priority})
    item["metadata"] |= {"uid": name, "name": name, "creationTimestamp": created}
    return item


@dataclass
class Bench:
    server: FakeCluster
    queueing: Queueing
    told: asyncio.Event

    async def change(self, item: dict[str, Any], kind: str = "MODIFIED") -> None:
        self.told.clear()
        await self.server.tell(WORKLOADS, kind, item)
        await asyncio.wait_for(self.told.wait(), PATIENCE)

    def ahead(self, *names: str) -> list[int]:
        found = [self.queueing.of(KUEUE, f"job-{name}") for name in names]
        return [self.queueing.ahead(one) for one in found if one is not None]


@asynccontextmanager
async def following(*workloads: dict[str, Any], **groups: list[dict[str, Any]]) -> AsyncIterator[Bench]:
    told = asyncio.Event()

    def note(*_what: Any) -> None:
        told.set()

    async with FakeCluster() as server:
        server.items |= {WORKLOADS: list(workloads), GROUPS: groups.get("groups", [])}
        api = KubeApi(connect(server))
        found = Queueing(api, "lab", note, note)
        await found.follow(KUEUE, "v1beta1")
        await found.follow(T9K_SCHEDULER, "v1beta1")
        try:
            await until(lambda: found.knows(KUEUE) and found.knows(T9K_SCHEDULER), told)
            await server.watched(2)
            yield Bench(server, found, told)
        finally:
            await found.stop()
            await api.close()


async def until(reached: Callable[[], bool], told: asyncio.Event) -> None:
    while not reached():
        told.clear()
        await asyncio.wait_for(told.wait(), PATIENCE)


async def test_who_is_ahead() -> None:
    first, second = waiting("first"), waiting("second", created="2026-11-22T05:00:01Z")
    async with following(second, first, waiting("important", 9)) as bench:
        names = "important", "first", "second"
        assert bench.ahead(*names) == [0, 1, 2]
        await bench.change(waiting("important", 9, condition("QuotaReserved", True, "QuotaReserved")))
        assert bench.ahead(*names) == [0, 0, 1]
        await bench.change(waiting("late", created="2026-11-22T06:00:00Z"), "ADDED")
        assert bench.ahead(*names, "late") == [0, 0, 1, 2]
        await bench.change({**second, "spec": {**second["spec"], "priority": 5}})
        assert bench.ahead(*names, "late") == [0, 1, 0, 2]
        await bench.change({**first, "spec": {**first["spec"], "queueName": "team-b"}})
        assert bench.ahead(*names, "late") == [0, 0, 0, 1]
        await bench.change(second, "DELETED")
        assert bench.ahead("late") == [0]


async def test_what_an_answer_has_brought_is_not_counted_twice() -> None:
    first, second = waiting("first"), waiting("second", created="2026-11-22T05:00:01Z")
    async with following(first, second) as bench:
        out = {**first, "spec": {**first["spec"], "active": False}}
        bench.queueing.note(KUEUE, deepcopy(out))
        assert bench.ahead("first", "second") == [0, 0]
        await bench.change(out)
        assert bench.ahead("first", "second") == [0, 0]
        await bench.change(first)
        assert bench.ahead("first", "second") == [0, 1]


async def test_a_change_makes_nobody_look_at_all_workloads(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [str(number) for number in range(100)]
    async with following(*map(waiting, names)) as bench:
        looked: list[str] = []
        look = queue_objects.conditions
        monkeypatch.setattr(
            queue_objects, "conditions", lambda item: looked.append(item["metadata"]["uid"]) or look(item)
        )
        await bench.change(waiting("0", 0, pending("still full")))
        bench.queueing.ahead(waiting("1"))
        assert set(looked) == {"0"}


async def test_a_group_that_is_spoken_to_in_another_version() -> None:
    newer = WORKLOADS.replace("v1beta1", "v1beta2")
    async with following(waiting("first")) as bench:
        bench.server.items[newer] = [waiting("second")]
        await bench.queueing.follow(KUEUE, "v1beta1")
        assert bench.queueing.of(KUEUE, "job-first") is not None
        await bench.queueing.follow(KUEUE, "v1beta2")
        await until(lambda: bench.queueing.knows(KUEUE), bench.told)
        assert bench.queueing.of(KUEUE, "job-first") is None
        assert bench.queueing.of(KUEUE, "job-second") is not None


async def test_what_is_kept_is_little() -> None:
    heavy = waiting("heavy")
    heavy["metadata"]["annotations"] = {"what": "x" * 10_000}
    for pods in heavy["spec"]["podSets"]:
        pods["template"]["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": "x" * 10_000}]
    group = deepcopy(heavy)
    group["spec"] |= {"queue": "q", "minMember": 2}
    async with following(heavy, groups=[group]) as bench:
        for system in (KUEUE, T9K_SCHEDULER):
            assert "xxxx" not in repr(bench.queueing.of(system, "job-heavy"))
        bench.queueing.note(KUEUE, heavy)
        assert "xxxx" not in repr(bench.queueing.of(KUEUE, "job-heavy"))
