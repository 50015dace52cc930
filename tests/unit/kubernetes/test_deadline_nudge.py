"""Jobs whose controller is reminded of a deadline, and the times."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest

from jupyterlab_t9kjob.core.manifests.names import OWNER
from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError
from jupyterlab_t9kjob.engines.kubernetes.cluster.connection import Cluster
from jupyterlab_t9kjob.engines.kubernetes.jobs import deadline_nudge
from jupyterlab_t9kjob.engines.kubernetes.jobs.deadline_nudge import DeadlineNudge
from jupyterlab_t9kjob.engines.kubernetes.jobs.records import Record
from jupyterlab_t9kjob.engines.kubernetes.jobs.tracked_job import TrackedJob
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio


class Kind(Kubeflow):
    """Takes note of the states of which it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def remind_at(self, manifest: dict[str, Any]) -> float | None:
        self.asked.append(manifest["metadata"]["resourceVersion"])
        return super().remind_at(manifest)


def state(revision: str, *, suspended: bool) -> dict[str, Any]:
    """Return an object whose deadline is long over."""
    metadata = {"name": "train", "uid": "uid-1", "resourceVersion": revision, "annotations": {OWNER: "tester"}}
    policy = {"activeDeadlineSeconds": 60, "suspend": suspended}
    return {"metadata": metadata, "spec": {"runPolicy": policy}, "status": {"startTime": "2020-01-01T00:00:00Z"}}


async def test_a_job_is_read_again_only_in_another_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline_nudge, "TICK_SECONDS", 0.0)
    job = TrackedJob("uid-1", "lab", state("1", suspended=True))
    job.record = Record(cluster="here", server="here:6443", uid="uid-1", namespace="lab", phase="Running")
    looked, reminded = asyncio.Semaphore(0), asyncio.Event()
    patched: list[str] = []

    async def patch(path: str, _body: dict[str, Any]) -> None:
        patched.append(path.rpartition("/")[2])
        reminded.set()

    def jobs() -> list[TrackedJob]:
        looked.release()
        return [job]

    kind = Kind()
    cluster = SimpleNamespace(api=SimpleNamespace(patch=patch), rights=lambda _kind, _namespace: {})
    table = DeadlineNudge(kind, cast(Cluster, cluster), jobs)
    table.start()
    with anyio.fail_after(PATIENCE):
        for _ in range(3):
            await looked.acquire()
        assert (kind.asked, patched) == (["1"], [])
        assert job.update(state("2", suspended=False))
        await reminded.wait()
    await table.stop()
    assert kind.asked == ["1", "2"]
    assert set(patched) == {"train"}


@pytest.mark.parametrize(("status", "again"), [(500, True), (429, True), (409, True), (403, False), (422, False)])
async def test_a_refusal_that_passes_is_no_last_word(status: int, again: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline_nudge, "TICK_SECONDS", 0.0)
    monkeypatch.setattr(deadline_nudge, "FIRST_DELAY", 0.0)
    job = TrackedJob("uid-1", "lab", state("1", suspended=False))
    job.record = Record(cluster="here", server="here:6443", uid="uid-1", namespace="lab", phase="Running")
    looked = asyncio.Semaphore(0)
    patches = 0

    async def patch(_path: str, _body: dict[str, Any]) -> None:
        nonlocal patches
        patches += 1
        raise ApiError(status, {"message": "failed calling webhook"})

    def jobs() -> list[TrackedJob]:
        looked.release()
        return [job]

    cluster = SimpleNamespace(api=SimpleNamespace(patch=patch), rights=lambda _kind, _namespace: {})
    table = DeadlineNudge(Kind(), cast(Cluster, cluster), jobs)
    table.start()
    with anyio.fail_after(PATIENCE):
        for _ in range(4):
            await looked.acquire()
    await table.stop()
    assert (patches > 1) == again


async def test_the_next_attempts_are_rarer_and_rarer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline_nudge, "TICK_SECONDS", 0.0)
    job = TrackedJob("uid-1", "lab", state("1", suspended=False))
    job.record = Record(cluster="here", server="here:6443", uid="uid-1", namespace="lab", phase="Running")
    clock = 1000.0
    times: list[float] = []
    enough = asyncio.Event()

    async def patch(_path: str, _body: dict[str, Any]) -> None:
        times.append(clock - 1000.0)
        raise ApiError(503, {})

    def jobs() -> list[TrackedJob]:
        nonlocal clock
        clock += 1.0
        if clock > 2000.0:
            enough.set()
        return [job]

    monkeypatch.setattr(deadline_nudge, "monotonic", lambda: clock)
    cluster = SimpleNamespace(api=SimpleNamespace(patch=patch), rights=lambda _kind, _namespace: {})
    table = DeadlineNudge(Kind(), cast(Cluster, cluster), jobs)
    table.start()
    with anyio.fail_after(PATIENCE):
        await enough.wait()
    await table.stop()
    assert times == [1.0, 11.0, 31.0, 71.0, 151.0, 311.0, 611.0, 911.0]
