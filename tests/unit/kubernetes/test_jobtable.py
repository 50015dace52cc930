"""The table of jobs, without a cluster."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import JobSummary
from jupyterlab_t9kjob.core.manifests import Parsed, parse
from jupyterlab_t9kjob.engines.kubernetes import jobtable, known, records
from jupyterlab_t9kjob.engines.kubernetes.cluster import Cluster
from jupyterlab_t9kjob.engines.kubernetes.jobtable import Drop, JobTable
from jupyterlab_t9kjob.engines.kubernetes.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.records import Records
from jupyterlab_t9kjob.engines.kubernetes.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.views import Seen, summary

pytestmark = pytest.mark.asyncio


def job(uid: str, created: int) -> dict[str, Any]:
    when = f"2026-01-01T00:00:{created:02d}Z"
    return {"metadata": {"uid": uid, "name": uid, "resourceVersion": "1", "creationTimestamp": when}}


def training(uid: str, created: int) -> dict[str, Any]:
    pods = {"spec": {"containers": [{"name": "pytorch", "image": "i", "command": ["true"]}]}}
    specs = {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": pods}}}
    return {**job(uid, created), "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": specs}


def a_table(home: Path, told: Callable[[Seen], None] = lambda _seen: None, drop: Drop | None = None) -> JobTable:
    kept, cluster = Records(home), Cluster(Settings(enabled=False))
    return JobTable(Kubeflow(), cluster, kept, lambda _path: None, owner="tester", told=told, drop=drop or kept.drop)


async def test_one_job_s_oddity_ends_the_telling_of_no_other(tmp_path: Path) -> None:
    def told(seen: Seen) -> None:
        if seen.job.uid == "odd":
            raise ValueError("nobody thought of this")

    table = a_table(tmp_path, told)
    heard: set[str] = set()
    news = asyncio.Event()

    def listen(_ident: str, row: JobSummary | None) -> None:
        assert row is not None
        heard.add(row.uid)
        news.set()

    table.listen(listen)
    await table.start()
    for number, uid in enumerate(("old", "odd", "new")):
        table.note("lab", job(uid, number))
    while heard != {"old", "new"}:
        await news.wait()
        news.clear()
    assert [row.uid for row in table.summaries()] == ["new", "odd", "old"]
    await table.stop()


async def test_who_asks_while_a_job_is_read_waits_for_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, go_on = threading.Event(), threading.Event()

    def held(manifest: Any) -> Parsed:
        reading.set()
        assert go_on.wait(30)
        return parse(manifest)

    monkeypatch.setattr(known, "parse", held)
    table = a_table(tmp_path)
    await table.start()
    table.note("lab", training("one", 1))
    assert await asyncio.to_thread(reading.wait, 30)
    asked = asyncio.create_task(table.get("one"))
    await asyncio.sleep(0)
    go_on.set()
    found = await asked
    assert found.spec is not None, found.problem
    await table.stop()


async def test_a_row_is_made_without_unpacking_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = a_table(tmp_path)
    await table.start()
    manifest = training("one", 1)
    manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team-a"}
    table.note("lab", manifest)
    found = await table.get("one")
    seen = table.observer.seen(found)
    monkeypatch.setattr(known.KnownJob, "spec", property(lambda _job: pytest.fail("the spec was unpacked")))
    assert summary(table.kind, seen).queue == "team-a"
    await table.stop()


async def test_others_get_their_turn_while_many_jobs_are_told(tmp_path: Path) -> None:
    happened: list[str] = []
    all_told = asyncio.Event()

    def told(seen: Seen) -> None:
        time.sleep(0.02)  # as long as it takes to find room for a job on many nodes
        happened.append(seen.job.uid)
        if seen.job.uid == "0":
            all_told.set()

    async def others() -> None:
        while True:
            await asyncio.sleep(0)
            if happened and happened[-1] != "turn":
                happened.append("turn")

    table = a_table(tmp_path, told)
    await table.start()
    other = asyncio.create_task(others())
    for number in range(4):
        table.note("lab", job(str(number), number))
    await asyncio.wait_for(all_told.wait(), 30)
    other.cancel()
    await table.stop()
    assert happened[:7] == ["3", "turn", "2", "turn", "1", "turn", "0"]


@pytest.mark.parametrize("in_haste", [False, True])
async def test_a_server_that_is_stopped_within_a_removal_writes_what_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_haste: bool
) -> None:
    monkeypatch.setattr(records, "WRITE_SECONDS", 1000.0)  # what changes after a first write is due until the stop
    monkeypatch.setattr(jobtable, "DROP_SECONDS", 0.1)
    removing, go_on = threading.Event(), threading.Event()

    def hang(*_arguments: Any, **_options: Any) -> None:
        removing.set()
        assert go_on.wait(60)

    monkeypatch.setattr(records.shutil, "rmtree", hang)
    table = a_table(tmp_path)
    await table.start()
    kept, going = (table.note("lab", training(uid, 1)) for uid in ("kept", "going"))
    for known_job in (kept, going):
        table.keep(known_job)
        await table.save(known_job)
    assert going.record is not None
    going.record.remove = True
    for uid in ("kept", "going"):
        table.job_gone("lab", uid)
    assert await asyncio.to_thread(removing.wait, 30)
    stopping = asyncio.create_task(table.stop())
    if in_haste:
        await asyncio.sleep(0)
        stopping.cancel()
    await asyncio.wait({stopping}, timeout=30)
    assert stopping.done()
    assert stopping.cancelled() == in_haste
    go_on.set()
    again = Records(tmp_path)
    found = {record.uid: record.deleted for record in await again.start()}
    await again.stop()
    assert found["kept"]
