"""Records of jobs are written whatever happens to one of them, or while they are."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyterlab_t9kjob.engines.kubernetes.records import Record, Records

pytestmark = pytest.mark.asyncio

UIDS = [f"uid-{number}" for number in range(20)]


def record(uid: str) -> Record:
    return Record(cluster="here", server="here:6443", uid=uid, namespace="lab")


async def kept(path: Path) -> set[str]:
    again = Records(path)
    found = await again.start()
    await again.stop()
    return {known.uid for known in found}


async def begun(records: Records) -> None:
    """Have all of them written, and return while the first one is."""
    for uid in UIDS:
        records.put(uid, lambda uid=uid: record(uid))  # type: ignore[misc]
    for _ in range(3):
        await asyncio.sleep(0)


async def test_one_that_can_t_be_made_keeps_no_other_from_being_written(tmp_path: Path) -> None:
    records = Records(tmp_path)
    await records.start()

    def odd() -> Record:
        raise ValueError("nobody thought of this")

    records.put("odd", odd)
    await records.put_now("good", lambda: record("good"))
    written = asyncio.Event()

    def later() -> Record:
        written.set()
        return record("later")

    records.put("later", later)
    await written.wait()
    await records.stop()
    assert await kept(tmp_path) == {"good", "later"}


async def test_a_server_that_stops_within_writing_writes_all(tmp_path: Path) -> None:
    records = Records(tmp_path)
    await records.start()
    await begun(records)
    await records.stop()
    assert await kept(tmp_path) == set(UIDS)


async def test_what_is_dropped_within_writing_stays_dropped(tmp_path: Path) -> None:
    records = Records(tmp_path)
    await records.start()
    await begun(records)
    for uid in (UIDS[0], UIDS[-1]):
        await records.drop(record(uid))
    await records.stop()
    assert await kept(tmp_path) == set(UIDS[1:-1])


async def test_what_is_told_of_a_job_while_it_is_dropped_brings_nothing_back(tmp_path: Path) -> None:
    records = Records(tmp_path)
    await records.start()
    await records.put_now("uid-1", lambda: record("uid-1"))
    dropping = asyncio.create_task(records.drop(record("uid-1")))
    await asyncio.sleep(0)
    records.put("uid-1", lambda: record("uid-1"))
    await dropping
    await records.stop()
    assert await kept(tmp_path) == set()
