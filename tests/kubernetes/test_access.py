"""Permissions of an account, kinds of a cluster, and what the API returns while they change."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.engine.info import EngineInfo
from jupyterlab_t9kjob.core.errors import NotAllowed
from jupyterlab_t9kjob.core.spec import RunPolicy
from jupyterlab_t9kjob.engines.kubernetes.cluster import connection, kind_availability
from tests.kubernetes.accounts import Account
from tests.kubernetes.between import Between, not_there
from tests.kubernetes.engines import WAIT, Bench, serving
from tests.kubernetes.fakeapi import Call, Request, refuse
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

GROUP = "kubeflow.org"
LOOK = {"apiGroups": [GROUP], "resources": ["pytorchjobs"], "verbs": ["list", "watch", "get"]}
CREATE = {"apiGroups": [GROUP], "resources": ["pytorchjobs"], "verbs": ["create"]}
CHANGE = {"apiGroups": [GROUP], "resources": ["pytorchjobs"], "verbs": ["patch", "delete"]}
PODS = {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch", "get"]}


async def until_info(bench: Bench, engine: str, reached: Callable[[EngineInfo], Any]) -> EngineInfo:
    """Wait for what an engine says of itself; the cluster tells when that changes."""
    changed = asyncio.Event()
    end = bench.cluster.listen(changed.set)
    bench.engines[engine].listen(lambda *_: changed.set())

    async def wait() -> EngineInfo:
        while True:
            changed.clear()
            info = await bench.engines[engine].info()
            if reached(info):
                return info
            await changed.wait()

    try:
        return await asyncio.wait_for(wait(), WAIT)
    finally:
        end()


async def why_not_continued(bench: Bench) -> str | None:
    """Return the warning at the form's box for the time after an eviction; None if there is none."""
    spec = bench.spec("true", run_policy=RunPolicy(resume_evicted=True))
    checks = (await bench.engines["kubeflow"].preview(spec, bench.kube.namespace)).checks
    found = [check for check in checks if check.field == "/spec/run_policy/resume_evicted"]
    assert [check.level for check in found] == ["warning"] * len(found)
    return f"{found[0].message} {found[0].hint}" if found else None


async def test_rights_are_asked_and_what_is_missing_breaks_nothing_else(kube: Kube, image: str, tmp_path: Path) -> None:
    account = await asyncio.to_thread(Account, kube, "little", tmp_path)
    await account.may(LOOK)
    async with serving(kube, image, tmp_path / "admin") as admin:
        job = await admin.submit("kubeflow", admin.spec("sleep 1000"))
        await admin.until_phase(job, "Running")
        async with serving(kube, image, tmp_path / "little", kubeconfig=account.kubeconfig) as bench:
            engine = bench.engines["kubeflow"]
            info = await engine.info()
            assert info.available
            assert info.namespaces == [kube.namespace]
            assert info.cluster is not None
            rights = info.cluster.rights
            for name in ("create_jobs", "change_jobs", "delete_jobs", "list_pods", "read_logs", "list_events"):
                assert not rights[name].supported, name
                assert kube.namespace in (rights[name].reason or "")
            # without pods and events jobs are still listed and read
            seen = await bench.until(job, lambda found: found.phase == "Running")
            assert seen.actions == []
            assert set(seen.refused) == {"pause", "stop", "delete", "rerun"}
            assert (await engine.replicas(job.uid))[0].pod is None
            with pytest.raises(NotAllowed) as refused:
                await engine.act(job.uid, "delete")
            assert refused.value.code == "Forbidden"
            with pytest.raises(NotAllowed):
                await bench.submit("kubeflow", bench.spec("true"))
            assert "You don't have permission to change PyTorchJobs" in (await why_not_continued(bench) or "")
            # somebody grants more
            await account.may(LOOK, CREATE, CHANGE, PODS)
            await engine.refresh()
            rights = (await engine.info()).cluster.rights
            assert all(rights[name].supported for name in ("create_jobs", "delete_jobs", "list_pods", "list_events"))
            await bench.until(job, lambda found: found.replicas_running == 1 and "delete" in found.actions)
            assert await why_not_continued(bench) is None
            # and takes it away again: what was thought to be allowed is refused, and then known
            await account.may(LOOK)
            with pytest.raises(NotAllowed):
                await bench.submit("kubeflow", bench.spec("true"))
            await until_info(bench, "kubeflow", lambda info: not info.cluster.rights["create_jobs"].supported)
        await admin.engines["kubeflow"].act(job.uid, "delete")


async def test_a_kind_comes_and_goes(kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_availability, "MISSING_SECONDS", 0.2)
    missing = True

    def rule(request: Any) -> Any:
        return not_there if missing and request.path.startswith(f"/apis/{GROUP}") else None

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        engine = bench.engines["kubeflow"]
        info = await engine.info()
        assert not info.available
        assert info.reason == "This cluster has no PyTorchJob (kubeflow.org/v1)."
        assert (await bench.engines["t9k"].info()).available
        missing = False
        await engine.refresh()
        assert (await engine.info()).available
        job = await bench.ended(await bench.submit("kubeflow", bench.spec("true")))
        missing = True
        await engine.refresh()
        await until_info(bench, "kubeflow", lambda info: not info.available)
        gone = await engine.job(job.uid)
        assert gone.deleted
        assert gone.phase == "Succeeded"
        missing = False
        await engine.refresh()
        await bench.until(job, lambda seen: not seen.deleted)


async def test_a_kind_that_is_not_there_for_a_moment_keeps_its_jobs(
    kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy or a starting API server answers 404 for a moment; users may refresh meanwhile."""
    monkeypatch.setattr(kind_availability, "MISSING_SECONDS", 600.0)
    missing = False

    def rule(request: Request) -> Any:
        return not_there if missing and request.path.startswith(f"/apis/{GROUP}") else None

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        engine = bench.engines["kubeflow"]
        job = await bench.submit("kubeflow", bench.spec("sleep 1000"))
        await bench.until_phase(job, "Running")
        missing = True
        for _ in range(kind_availability.MOST_MISSING + 1):
            await engine.refresh()
            assert (await engine.info()).available
            assert (await engine.job(job.uid)).phase == "Running"
        missing = False
        await engine.refresh()
        await engine.act(job.uid, "delete")
        await bench.until(job, lambda seen: seen.deleted)


async def test_a_kind_that_comes_later_is_asked_about_too(
    kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody refreshes; and the account may not even ask for the cluster's version."""
    missing = True

    def rule(request: Request) -> Any:
        if request.path == "/version":
            return lambda _between, call: refuse(403, "Forbidden", "forbidden")(call)
        if request.path.endswith("/selfsubjectaccessreviews"):
            return review
        return not_there if missing and request.path.startswith(f"/apis/{GROUP}") else None

    async def review(_between: Between, call: Call) -> None:
        wanted = json.loads(call.request.body)["spec"]["resourceAttributes"]
        await call.answer(201, {"status": {"allowed": wanted["verb"] != "create"}})

    monkeypatch.setattr(connection, "DISCOVERY_SECONDS", 0.5)
    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        assert (await bench.engines["t9k"].info()).available
        missing = False
        info = await until_info(bench, "kubeflow", lambda info: "create_jobs" in info.cluster.rights)
        assert info.available
        assert info.cluster is not None
        assert not info.cluster.rights["create_jobs"].supported
        assert info.cluster.version is None


async def test_an_interruption_is_said_and_over(kube: Kube, image: str, tmp_path: Path) -> None:
    async with (
        Between(kube=kube) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        engine = bench.engines["t9k"]
        job = await bench.submit("t9k", bench.spec("sleep 1000"))
        await bench.until_phase(job, "Running")
        await between.stop()
        info = await until_info(bench, "t9k", lambda info: info.cluster.stale_since is not None)
        assert info.available
        assert info.cluster is not None
        assert "can't be reached" in (info.cluster.stale_reason or "")
        assert (await engine.job(job.uid)).phase == "Running"
        await asyncio.to_thread(kube.delete, "pytorchtrainingjobs", job.name)
        await between.start()
        await bench.until(job, lambda seen: seen.deleted)
        await until_info(bench, "t9k", lambda info: info.cluster.stale_since is None)


async def test_the_page_says_why_there_is_no_cluster(kube: Kube, image: str, tmp_path: Path) -> None:
    nowhere = tmp_path / "no-such-kubeconfig"
    async with serving(kube, image, tmp_path, kubeconfig=nowhere) as bench:
        for engine in bench.engines.values():
            info = await engine.info()
            assert not info.available
            assert info.reason == f"KUBECONFIG names {nowhere}, which does not exist."
            assert info.cluster is None
        with contextlib.suppress(FileExistsError):
            nowhere.write_bytes(kube.kubeconfig.read_bytes())
        await bench.engines["t9k"].refresh()
        assert (await bench.engines["t9k"].info()).available


async def test_a_token_that_has_expired_is_said(kube: Kube, image: str, tmp_path: Path) -> None:
    config = json.loads(kube.kubeconfig.read_text())
    config["users"] = [{**each, "user": {"token": "of.last.year"}} for each in config["users"]]
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    async with serving(kube, image, tmp_path, kubeconfig=path) as bench:
        info = await until_info(bench, "kubeflow", lambda info: "expired" in (info.reason or ""))
        assert not info.available


async def test_what_is_refused_in_another_namespace_is_said_at_its_jobs(
    kube: Kube, cluster: Kube, image: str, tmp_path: Path
) -> None:
    other = f"{kube.namespace}-look"
    await asyncio.to_thread(cluster.create, "namespaces", {"metadata": {"name": other}})
    account = await asyncio.to_thread(Account, kube, "guest", tmp_path)
    await account.may(LOOK, CREATE, CHANGE, PODS)
    await asyncio.to_thread(account.bind, Kube(kube.kubeconfig, other, tmp_path), LOOK, PODS)
    try:
        async with (
            serving(kube, image, tmp_path / "admin") as admin,
            serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, namespaces=(other,)) as bench,
        ):
            there = await admin.submit("kubeflow", admin.spec("sleep 1000"), namespace=other)
            here = await bench.submit("kubeflow", bench.spec("sleep 1000"))
            assert (await bench.until_phase(here, "Running")).refused == {}
            seen = await bench.until_phase(there, "Running")
            assert seen.actions == []
            assert set(seen.refused) == {"pause", "stop", "delete", "rerun"}
            assert all(f"in namespace {other}" in reason for reason in seen.refused.values())
            with pytest.raises(NotAllowed, match=f"in namespace {other}"):
                await bench.engines["kubeflow"].act(there.uid, "stop")
            await bench.engines["kubeflow"].act(here.uid, "delete")
    finally:
        await asyncio.to_thread(cluster.delete, "namespaces", other)


async def test_other_namespaces(kube: Kube, cluster: Kube, image: str, tmp_path: Path) -> None:
    """A namespace is watched once a job of ours is in it, also after a restart; or because a trait says so."""
    other = f"{kube.namespace}-other"
    await asyncio.to_thread(cluster.create, "namespaces", {"metadata": {"name": other}})
    try:
        async with serving(kube, image, tmp_path) as bench:
            info = await bench.engines["t9k"].info()
            assert info.default_namespace == info.namespaces[0] == kube.namespace
            assert other in info.namespaces
            job = await bench.submit("t9k", bench.spec("sleep 5"), namespace=other)
            assert job.id.split(":")[1] == other
        async with serving(kube, image, tmp_path) as bench:
            assert (await bench.ended(job)).phase == "Succeeded"
            assert await bench.engines["t9k"].events(job.uid)
        async with serving(kube, image, tmp_path / "another") as bench:
            assert job.uid not in [known.uid for known in await bench.engines["t9k"].jobs()]
        async with serving(kube, image, tmp_path / "another", namespaces=(other,)) as bench:
            seen = await bench.until(job, lambda found: found.phase == "Succeeded")
            assert seen.mine
            await bench.engines["t9k"].act(job.uid, "delete")
            await bench.until(job, lambda found: found.deleted)
    finally:
        await asyncio.to_thread(cluster.delete, "namespaces", other)
