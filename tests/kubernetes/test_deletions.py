"""Deletions that the cluster refuses, does not answer or made while no lab watched, and what is kept of the jobs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import JobError
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.engines.kubernetes.engine import KubernetesEngine
from tests.kubernetes.fakeapi import Act, Call, cut, refuse
from tests.kubernetes.fakecluster import JOBS, FakeCluster, kubeflow, training
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

ONE = f"{JOBS}/one"


async def deleted(call: Call) -> None:
    await call.answer(200, {"kind": "Status", "status": "Success"})


def to_be_removed(home: Path) -> bool:
    """Return what the job's record on disk says."""
    (path,) = home.rglob("record.json")
    remove = json.loads(path.read_bytes())["remove"]
    assert isinstance(remove, bool)
    return remove


@pytest.mark.parametrize(
    "answer",
    [refuse(403, "Forbidden", "pytorchjobs is forbidden"), refuse(500, "InternalError", "boom"), cut],
    ids=["forbidden", "error", "unreachable"],
)
async def test_one_that_failed_removes_no_record_later(answer: Act, tmp_path: Path) -> None:
    async with FakeCluster() as server:
        server.items[JOBS] = [training("one")]
        async with kubeflow(server, tmp_path) as engine:
            await server.watched(3)
            server.instead[ONE] = answer
            with pytest.raises(JobError):
                await engine.act("one", "delete", remove=True)
            assert not to_be_removed(tmp_path)
            server.instead[ONE] = deleted
            assert (await engine.act("one", "delete")).deleted
            assert (await engine.job("one")).deleted
        assert not to_be_removed(tmp_path)


async def test_the_last_one_says_whether_the_record_is_removed(tmp_path: Path) -> None:
    """The object stays for a while, since something holds it."""
    held = training("one", deletionTimestamp="2026-01-01T00:01:00Z", finalizers=["example.org/held"])

    async def hold(call: Call) -> None:
        await call.answer(200, held)

    async with FakeCluster() as server:
        server.items[JOBS] = [training("one")]
        async with kubeflow(server, tmp_path) as engine:
            await server.watched(3)
            server.instead[ONE] = hold
            await engine.act("one", "delete", remove=True)
            assert to_be_removed(tmp_path)
            assert (await engine.act("one", "delete")).pending_action == "deleting"
            assert not to_be_removed(tmp_path)


def running(**policy: int) -> dict[str, Any]:
    started = {"type": "Running", "status": "True", "lastTransitionTime": "2026-01-01T00:00:10Z"}
    job = training("one") | {"status": {"conditions": [started], "startTime": "2026-01-01T00:00:10Z"}}
    job["spec"]["runPolicy"] = policy
    return job


async def until_deleted(engine: KubernetesEngine) -> Job:
    gone = asyncio.Event()
    stop = engine.listen(lambda _ident, summary: gone.set() if summary is not None and summary.deleted else None)
    try:
        if not (await engine.job("one")).deleted:
            await asyncio.wait_for(gone.wait(), PATIENCE)
        return await engine.job("one")
    finally:
        stop()


async def test_of_an_active_job_that_is_deleted_it_is_said(tmp_path: Path) -> None:
    async with FakeCluster() as server:
        server.items[JOBS] = [running()]
        async with kubeflow(server, tmp_path) as engine:
            await server.watched(3)
            assert (await engine.job("one")).phase == "Running"
            await server.tell(JOBS, "DELETED", running())
            seen = await until_deleted(engine)
            assert (seen.phase, seen.ended_by) == ("Failed", "user")


@pytest.mark.parametrize(
    ("policy", "hint"),
    [
        ({}, "Its log may tell how it ended."),
        (
            {"ttlSecondsAfterFinished": 3600},
            "The cluster was to remove the job 1 h after its end. Its log may tell how it ended.",
        ),
    ],
    ids=["plain", "ttl"],
)
async def test_the_end_of_one_that_nobody_saw_is_not_known(policy: dict[str, int], hint: str, tmp_path: Path) -> None:
    """It may have succeeded and been removed by the cluster."""
    async with FakeCluster() as server:
        server.items[JOBS] = [running(**policy)]
        async with kubeflow(server, tmp_path) as engine:
            await server.watched(3)
            assert (await engine.job("one")).phase == "Running"
            server.instead[ONE] = refuse(403, "Forbidden", "pytorchjobs is forbidden")
            with pytest.raises(JobError):
                await engine.act("one", "delete")  # Now it has a record.
        server.items[JOBS] = []
        async with kubeflow(server, tmp_path) as engine:
            seen = await until_deleted(engine)
            assert (seen.phase, seen.ended_by, seen.ended_at) == ("Unknown", None, None)
            assert seen.reason is not None
            assert (seen.reason.code, seen.reason.hint) == ("DeletedUnseen", hint)
            assert "no lab watched" in seen.reason.sentence
            assert "remove" in seen.actions


async def test_the_end_that_a_broken_watch_missed_is_not_known(tmp_path: Path) -> None:
    """A laptop slept: the versions since its last event are forgotten, and the new list lacks the job."""
    async with FakeCluster() as server:
        server.items[JOBS] = [running()]
        async with kubeflow(server, tmp_path) as engine:
            await server.watched(3)
            server.instead[ONE] = refuse(403, "Forbidden", "pytorchjobs is forbidden")
            with pytest.raises(JobError):
                await engine.act("one", "delete")  # Now it has a record.
            server.items[JOBS] = []
            expired = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old", "metadata": {}}
            await server.tell(JOBS, "ERROR", expired)
            seen = await until_deleted(engine)
            assert (seen.phase, seen.ended_by, seen.ended_at) == ("Unknown", None, None)
            assert seen.reason is not None and seen.reason.code == "DeletedUnseen"
