"""Records of jobs on disk: they add what the cluster has forgotten, and a damaged one does no harm."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.engine.info import EngineInfo
from jupyterlab_t9kjob.core.errors import Conflict
from tests.kubernetes.between import Between
from tests.kubernetes.engines import PLURALS, serving
from tests.kubernetes.fakeapi import Call, Certificates, Request, hang
from tests.kubernetes.harness import Kube
from tests.kubernetes.test_access import until_info
from tests.local.disks import small_disk

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]


async def test_a_record_is_its_owners_only_and_small(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.ended(await bench.submit("t9k", bench.spec("true")))
    folder = tmp_path / "cluster" / "t9k" / kube.namespace / job.uid
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    record = folder / "record.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert record.stat().st_size < 64 * 1024
    kept = json.loads(record.read_text())
    assert kept["phase"] == "Succeeded"
    assert kept["submitted"]["metadata"]["name"] == job.name
    assert "managedFields" not in kept["last"]["metadata"]


async def test_what_else_lies_there_is_passed_over(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.ended(await bench.submit("t9k", bench.spec("true")))
    place = tmp_path / "cluster" / "t9k" / kube.namespace
    good = (place / job.uid / "record.json").read_text()
    for name, text in {
        "empty": "",
        "cut": good[: len(good) // 2],
        "other-uid": good,
        "list": "[]",
        "nan": good.replace('"version":1', '"version":NaN'),
        "later": good.replace('"version":1', '"version":99'),
    }.items():
        (place / name).mkdir()
        (place / name / "record.json").write_text(text)
    (place / "a-file").write_text("")
    (place / "a-pipe").mkdir()
    (place / "a-pipe" / "record.json").mkdir()
    (place / "loop").symlink_to(place)
    async with serving(kube, image, tmp_path) as bench:
        uids = [known.uid for known in await bench.engines["t9k"].jobs()]
        assert uids.count(job.uid) == 1
        assert {"empty", "cut", "other-uid", "list", "nan", "later"}.isdisjoint(uids)


async def test_a_full_disk_stands_in_nobody_s_way(kube: Kube, image: str, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        disk.fill()
        async with serving(kube, image, disk.path) as bench:
            job = await bench.submit("kubeflow", bench.spec("sleep 1000"))
            await bench.until_phase(job, "Running")
            await bench.engines["kubeflow"].act(job.uid, "pause")
            await bench.until_phase(job, "Paused")
            disk.free()
        # what could not be written is written as the server goes
        async with serving(kube, image, disk.path) as bench:
            assert (await bench.engines["kubeflow"].manifest(job.uid)).submitted["metadata"]["name"] == job.name
            await bench.engines["kubeflow"].act(job.uid, "delete")
            await bench.until(job, lambda seen: seen.deleted)


async def test_a_job_of_another_cluster_is_not_taken_for_deleted(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit("t9k", bench.spec("sleep 1000"))
        await bench.until_phase(job, "Running")
    record = tmp_path / "cluster" / "t9k" / kube.namespace / job.uid / "record.json"
    await asyncio.to_thread(kube.delete, PLURALS["t9k"], job.name)
    elsewhere = {"cluster": "elsewhere", "server": "elsewhere.example:6443"}
    record.write_text(json.dumps(json.loads(record.read_text()) | elsewhere))
    async with serving(kube, image, tmp_path) as bench:
        seen = await bench.until(job, lambda seen: seen.phase == "Unknown")
        assert not seen.deleted
        assert "elsewhere.example:6443" in (seen.read_only or "")
        assert seen.actions == ["rerun", "remove"]


def empty(request: Request) -> Any:
    """Make a proxy look like another cluster, which has no jobs."""
    if not request.path.endswith(PLURALS["t9k"]):
        return None
    return follow if request.query.get("watch") == "true" else nothing


def elsewhere(request: Request) -> Any:
    """… in which this account may do nothing."""
    return denied if request.path.endswith("selfsubjectaccessreviews") else empty(request)


def may_create(info: EngineInfo) -> bool:
    assert info.cluster is not None
    right = info.cluster.rights.get("create_jobs")
    return right is None or right.supported


async def denied(_between: Between, call: Call) -> None:
    await call.answer(201, {"status": {"allowed": False}})


async def nothing(_between: Between, call: Call) -> None:
    await call.answer(200, {"metadata": {"resourceVersion": "1"}, "items": []})


async def follow(_between: Between, call: Call) -> None:
    await call.begin()
    await hang(call)


async def test_clusters_at_the_same_address_are_not_mixed(kube: Kube, image: str, tmp_path: Path) -> None:
    """Two port-forwards use one address in turn; the clusters differ in their certificate authority."""
    here, there = (Certificates(tmp_path / name) for name in ("here", "there"))
    async with Between(kube=kube, certificates=here) as one:
        kubeconfig = one.kubeconfig(tmp_path)
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            job = await bench.submit("t9k", bench.spec("sleep 1000"))
            await bench.until_phase(job, "Running")
            await one.stop()
            async with Between(kube=kube, certificates=there, rule=elsewhere, port=one.port) as other:
                other.kubeconfig(tmp_path)
                seen = await bench.until(job, lambda seen: seen.read_only is not None)
                assert not seen.deleted
                assert "another cluster" in (seen.read_only or "")
                # nor is what this account may do there
                await until_info(bench, "t9k", lambda info: not may_create(info))
        async with (
            Between(kube=kube, certificates=there, rule=empty, port=one.port),
            serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench,
        ):
            seen = await bench.until(job, lambda seen: seen.phase == "Unknown")
            assert not seen.deleted
            assert "another cluster" in (seen.read_only or "")
    # the same cluster at another address
    async with Between(kube=kube, certificates=here) as again:
        again.kubeconfig(tmp_path)
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            await bench.until(job, lambda seen: seen.phase == "Running" and seen.read_only is None)
            await asyncio.to_thread(kube.delete, PLURALS["t9k"], job.name)
            await bench.until(job, lambda seen: seen.deleted)


async def test_a_cluster_that_is_left_keeps_its_jobs(kube: Kube, image: str, tmp_path: Path) -> None:
    """The kubeconfig leads to another cluster, which has the namespace, too, and not the job."""
    async with Between(kube=kube) as one, Between(kube=kube, rule=empty) as other:
        kubeconfig = one.kubeconfig(tmp_path)
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            engine = bench.engines["t9k"]
            job = await bench.submit("t9k", bench.spec("sleep 1000"))
            await bench.until_phase(job, "Running")
            await one.stop()
            other.kubeconfig(tmp_path)
            while one.url.rpartition("/")[2] == bench.cluster.server:
                await engine.refresh()
            seen = await bench.until(job, lambda seen: seen.read_only is not None)
            assert not seen.deleted
            assert one.url.rpartition("/")[2] in seen.read_only
            with pytest.raises(Conflict):
                await engine.act(job.uid, "delete")
            # back, at another address of the same cluster
            await other.stop()
            async with Between(kube=kube) as again:
                again.kubeconfig(tmp_path)
                while other.url.rpartition("/")[2] == bench.cluster.server:
                    await engine.refresh()
                await bench.until(job, lambda seen: seen.phase == "Running" and seen.read_only is None)
                await engine.act(job.uid, "delete")
                await bench.until(job, lambda seen: seen.deleted)
