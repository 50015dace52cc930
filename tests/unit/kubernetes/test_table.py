"""The table of jobs, without a cluster."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import JobSummary
from jupyterlab_t9kjob.core.lab import Lab
from jupyterlab_t9kjob.core.manifests import Parsed, parse
from jupyterlab_t9kjob.core.manifests.names import OWNER
from jupyterlab_t9kjob.core.manifests.own_fields import LAST_APPLIED
from jupyterlab_t9kjob.engines.kubernetes.cluster.connection import Cluster
from jupyterlab_t9kjob.engines.kubernetes.cluster.namespace_watch import NamespaceWatch
from jupyterlab_t9kjob.engines.kubernetes.cluster.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.jobs import job_reading, record_keeper, records, tracked_job
from jupyterlab_t9kjob.engines.kubernetes.jobs import table as job_table
from jupyterlab_t9kjob.engines.kubernetes.jobs.api_views import summary
from jupyterlab_t9kjob.engines.kubernetes.jobs.record_keeper import Drop
from jupyterlab_t9kjob.engines.kubernetes.jobs.records import Records
from jupyterlab_t9kjob.engines.kubernetes.jobs.snapshot import JobSnapshot
from jupyterlab_t9kjob.engines.kubernetes.jobs.table import JobTable
from jupyterlab_t9kjob.engines.kubernetes.objects.arena import USER
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio


def job(uid: str, created: int) -> dict[str, Any]:
    when = f"2026-01-01T00:00:{created:02d}Z"
    return {"metadata": {"uid": uid, "name": uid, "resourceVersion": "1", "creationTimestamp": when}}


def training(uid: str, created: int) -> dict[str, Any]:
    pods = {"spec": {"containers": [{"name": "pytorch", "image": "i", "command": ["true"]}]}}
    specs = {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": pods}}}
    return {**job(uid, created), "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "spec": specs}


def with_gpus(manifest: dict[str, Any]) -> dict[str, Any]:
    container = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]["containers"][0]
    container["resources"] = {"limits": {"nvidia.com/gpu": "8"}}
    return manifest


def a_table(
    home: Path,
    told: Callable[[JobSnapshot], None] = lambda _seen: None,
    drop: Drop | None = None,
    cluster: Cluster | None = None,
    *,
    once: bool = False,
) -> JobTable:
    kept, cluster = Records(home), cluster or Cluster(Settings(enabled=False))
    forget = drop or kept.drop
    return JobTable(Kubeflow(), cluster, kept, lambda _path: None, owner="tester", changed=told, drop=forget, once=once)


async def test_one_job_s_oddity_ends_the_telling_of_no_other(tmp_path: Path) -> None:
    def told(seen: JobSnapshot) -> None:
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

    monkeypatch.setattr(job_reading, "parse", held)
    table = a_table(tmp_path)
    await table.start()
    table.note("lab", training("one", 1))
    assert await asyncio.to_thread(reading.wait, PATIENCE)
    asked = asyncio.create_task(table.get("one"))
    await asyncio.sleep(0)
    go_on.set()
    found = await asked
    assert found.spec is not None, found.problem
    await table.stop()


async def test_a_row_has_the_accelerators_before_its_job_is_read_and_all_facts_then(tmp_path: Path) -> None:
    cluster = Cluster(Settings(enabled=False))
    api: Any = SimpleNamespace(connection=SimpleNamespace(cluster="test"))
    cluster.spaces["lab"] = NamespaceWatch(api, "lab", lambda: None, lambda: None)
    table = a_table(tmp_path, cluster=cluster)  # It has not started, so nothing is read unless somebody asks.
    manifest = with_gpus(training("one", 1))
    template = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]
    manifest["spec"]["pytorchReplicaSpecs"]["Worker"] = {"replicas": 3, "template": template}
    table.note("lab", manifest)
    (row,) = table.summaries()
    assert row.devices is not None and (row.devices.name, row.devices.count) == ("nvidia.com/gpu", 32)
    assert "rerun" not in row.actions
    await table.read()
    (row,) = table.summaries()
    assert row.devices is not None and row.devices.count == 32
    assert "rerun" in row.actions


async def test_a_record_whose_job_is_gone_counts_as_deleted_as_soon_as_the_list_is_there(tmp_path: Path) -> None:
    before = a_table(tmp_path)
    job = before.note("lab", training("gone", 1))
    before.records.keep(job)
    await before.records.save(job)
    await before.stop()

    async def listed() -> None: ...

    cluster = Cluster(Settings(enabled=False))
    api: Any = SimpleNamespace(connection=SimpleNamespace(cluster=""))
    space = cluster.spaces["lab"] = NamespaceWatch(api, "lab", lambda: None, lambda: None)
    empty: Any = SimpleNamespace(listed=listed, complete=True, filling=False, objects={}, has_reached=lambda _at: True)
    space.jobs["kubeflow"] = space.pods = space.events = empty
    table = a_table(tmp_path, cluster=cluster)
    for record in await table.records.start():
        table.jobs[record.uid] = record
    await table.ready()
    (row,) = table.summaries()
    assert row.deleted
    await table.records.stop()


async def test_who_lists_jobs_once_reads_what_only_a_record_has_and_other_jobs_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = a_table(tmp_path)
    job = before.note("lab", with_gpus(training("gone", 1)))
    before.records.keep(job)
    await before.records.save(job)
    await before.stop()

    parsed: list[str] = []

    def noted(manifest: Any) -> Parsed:
        parsed.append(manifest["metadata"]["name"])
        return parse(manifest)

    monkeypatch.setattr(job_reading, "parse", noted)
    cluster = Cluster(Settings(enabled=False))
    api: Any = SimpleNamespace(connection=SimpleNamespace(cluster="test"))
    cluster.spaces["lab"] = NamespaceWatch(api, "lab", lambda: None, lambda: None)
    table = a_table(tmp_path, cluster=cluster, once=True)
    await table.start()
    manifest = with_gpus(training("one", 2))
    as_listed = json.dumps(manifest)
    table.note("lab", manifest)
    await table.ready()
    assert parsed == ["gone"]
    rows = {row.name: row for row in table.summaries()}
    assert [row.devices.count for row in rows.values() if row.devices is not None] == [8, 8]
    assert "rerun" not in rows["one"].actions
    await table.read()
    assert parsed == ["gone", "one"]
    rows = {row.name: row for row in table.summaries()}
    assert "rerun" in rows["one"].actions
    assert json.dumps(manifest) == as_listed
    await table.stop()


@pytest.mark.parametrize("once", [True, False])
async def test_who_lists_jobs_once_waits_for_all_of_them(
    once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_table, "READY_SECONDS", 0.01)
    whole = asyncio.Event()
    cluster = Cluster(Settings(enabled=False))
    api: Any = SimpleNamespace(connection=SimpleNamespace(cluster=""))
    space = cluster.spaces["lab"] = NamespaceWatch(api, "lab", lambda: None, lambda: None)
    slow: Any = SimpleNamespace(listed=whole.wait, complete=False, filling=True, objects={})
    space.jobs["kubeflow"] = space.pods = space.events = slow
    ready = asyncio.create_task(a_table(tmp_path, cluster=cluster, once=once).ready())
    await asyncio.wait({ready}, timeout=0.5 if once else PATIENCE)
    assert ready.done() is not once
    whole.set()
    await ready


async def test_a_job_that_changes_is_read_by_its_own_thread_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loop puts attempts into a job at any time: nobody else may look through them."""
    looked: set[threading.Thread] = set()
    find = tracked_job.failed_attempt

    def note(lives: Any) -> Any:
        looked.add(threading.current_thread())
        return find(lives)

    monkeypatch.setattr(tracked_job, "failed_attempt", note)
    table = a_table(tmp_path)
    table._cluster.lab = Lab()
    await table.start()
    found = table.note("lab", training("one", 1))
    found.attempts["master-0"] = []
    assert (await table.get("one")).spec is not None
    await table.stop()
    assert looked == {threading.main_thread()}


@pytest.mark.parametrize("withheld", [False, True])
@pytest.mark.parametrize(("owner", "left_out"), [("tester", False), ("alice", True), (None, True)])
async def test_secrets_of_others_are_not_kept(
    tmp_path: Path, owner: str | None, *, left_out: bool, withheld: bool
) -> None:
    manifest = training("one", 1)
    pods = manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["spec"]
    secret = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    pods["containers"][0]["env"] = [{"name": "TOKEN", "value": "hush"}, secret]
    pods["containers"][0]["args"] = ["--api-key", "hush", "--token=hush", "--lr", "0.1", "HF_TOKEN='hush' python x"]
    pods["initContainers"] = [{"name": "fetch", "image": "i", "env": [{"name": "PASSWORD", "value": "hush"}]}]
    manifest["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(manifest["spec"])}
    if owner is not None:
        manifest["metadata"]["annotations"][OWNER] = owner
    table = a_table(tmp_path)
    await table.start()
    found = table.note("lab", manifest)
    table.opened(found)
    await table.records.save(found)
    written = tmp_path / "lab" / "one" / "record.json"
    assert ("hush" in written.read_text()) != left_out
    assert "--api-key" in written.read_text() and "0.1" in written.read_text() and "python x" in written.read_text()
    assert '"TOKEN"' in written.read_text() and '"secretKeyRef"' in written.read_text()
    assert "hush" in str(found.manifest), "as long as the cluster shows it, it is shown"
    table.job_gone("lab", "one")
    assert ("hush" in str(found.manifest)) != left_out
    row = summary(table.kind, table.observer.snapshot(await table.get("one")))
    assert ("rerun" in row.refused) == left_out
    assert ("rerun" in row.actions) != left_out
    await table.stop()
    assert ("hush" in written.read_text()) != left_out
    # a record that was written before this was so
    shown = {"name": "x", "uid": "x", "created_at": 0.0, "command": ["train", "--token", "hush"]}
    replica = {"name": "master-0", "type": "master", "index": 0, "status": "Error", "pod": shown}
    older = json.loads(written.read_text()) | {
        "last": manifest,
        "withheld": withheld and left_out,
        "replicas": [replica],
    }
    written.write_text(json.dumps(older))
    table = a_table(tmp_path)
    await table.start()
    row = summary(table.kind, table.observer.snapshot(await table.get("one")))
    assert ("rerun" in row.refused) == left_out
    await table.stop()
    assert ("hush" in written.read_text()) != left_out


async def test_a_job_of_others_without_values_can_be_run_again(tmp_path: Path) -> None:
    manifest = training("one", 1)
    manifest["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(manifest["spec"])}
    table = a_table(tmp_path)
    await table.start()
    table.opened(table.note("lab", manifest))
    table.job_gone("lab", "one")
    assert "rerun" in summary(table.kind, table.observer.snapshot(await table.get("one"))).actions
    await table.stop()


def recorded(home: Path) -> list[str]:
    """Return the uids of the jobs with a record."""
    return [path.parent.name for path in home.rglob("record.json")]


async def test_a_record_that_another_lab_has_removed_stays_removed(tmp_path: Path) -> None:
    here, there = a_table(tmp_path), a_table(tmp_path)
    forgotten, gone = asyncio.Event(), asyncio.Event()
    for table, event in ((here, forgotten), (there, gone)):
        table.listen(lambda _ident, row, event=event: event.set() if row is None else None)  # type: ignore[misc]
        await table.start()
        table.opened(table.note("lab", training("one", 1)))
        found = await table.get("one")
        await table.records.save(found)
    record = there.jobs["one"].record
    assert record is not None
    record.remove = True
    there.job_gone("lab", "one")
    await asyncio.wait_for(gone.wait(), PATIENCE)
    await there.stop()  # which waits for the removal
    assert recorded(tmp_path) == []
    here.job_gone("lab", "one")
    await asyncio.wait_for(forgotten.wait(), PATIENCE)
    assert "one" not in here.jobs
    await here.stop()
    assert recorded(tmp_path) == []


WORKED = "system:serviceaccount:kube-ai:carol"


@pytest.mark.parametrize(
    ("on_job", "on_pods", "owner", "mine"),
    [
        ({OWNER: "tester"}, {USER: "carol"}, "tester", True),
        ({USER: "carol"}, {}, "carol", False),
        ({}, {USER: WORKED}, "carol", False),
        ({}, {USER: "tester"}, "tester", False),  # a kubeconfig may call anybody that
        ({}, {}, None, False),
    ],
)
async def test_who_submitted_it_with_arena(
    tmp_path: Path, on_job: dict[str, str], on_pods: dict[str, str], owner: str | None, *, mine: bool
) -> None:
    manifest = training("one", 1)
    manifest["metadata"]["annotations"] = on_job
    manifest["spec"]["pytorchReplicaSpecs"]["Master"]["template"]["metadata"] = {"annotations": on_pods}
    table = a_table(tmp_path)
    await table.start()
    row = summary(table.kind, table.observer.snapshot(table.note("lab", manifest)))
    assert (row.owner, row.mine) == (owner, mine)
    await table.stop()


async def test_a_row_is_made_without_unpacking_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = a_table(tmp_path)
    await table.start()
    manifest = training("one", 1)
    manifest["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "team-a"}
    table.note("lab", manifest)
    found = await table.get("one")
    seen = table.observer.snapshot(found)
    monkeypatch.setattr(tracked_job.TrackedJob, "spec", property(lambda _job: pytest.fail("the spec was unpacked")))
    assert summary(table.kind, seen).queue == "team-a"
    await table.stop()


async def test_others_get_their_turn_while_many_jobs_are_told(tmp_path: Path) -> None:
    happened: list[str] = []
    all_told = asyncio.Event()

    def told(seen: JobSnapshot) -> None:
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
    await asyncio.wait_for(all_told.wait(), PATIENCE)
    other.cancel()
    await table.stop()
    assert happened[:7] == ["3", "turn", "2", "turn", "1", "turn", "0"]


@pytest.mark.parametrize("in_haste", [False, True])
async def test_a_server_that_is_stopped_within_a_removal_writes_what_is_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_haste: bool
) -> None:
    monkeypatch.setattr(records, "WRITE_SECONDS", 1000.0)  # what changes after a first write is due until the stop
    monkeypatch.setattr(record_keeper, "REMOVE_SECONDS", 0.1)
    removing, go_on = threading.Event(), threading.Event()

    def hang(*_arguments: Any, **_options: Any) -> None:
        removing.set()
        assert go_on.wait(60)

    monkeypatch.setattr(records.shutil, "rmtree", hang)
    table = a_table(tmp_path)
    await table.start()
    kept, going = (table.note("lab", training(uid, 1)) for uid in ("kept", "going"))
    for known_job in (kept, going):
        table.records.keep(known_job)
        await table.records.save(known_job)
    assert going.record is not None
    going.record.remove = True
    for uid in ("kept", "going"):
        table.job_gone("lab", uid)
    assert await asyncio.to_thread(removing.wait, PATIENCE)
    stopping = asyncio.create_task(table.stop())
    if in_haste:
        await asyncio.sleep(0)
        stopping.cancel()
    await asyncio.wait({stopping}, timeout=PATIENCE)
    assert stopping.done()
    assert stopping.cancelled() == in_haste
    go_on.set()
    again = Records(tmp_path)
    found = {record.uid: record.deleted for record in await again.start()}
    await again.stop()
    assert found["kept"]
