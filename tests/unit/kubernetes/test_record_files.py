"""Records of jobs are written whatever happens to one of them, or while they are."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.engines.kubernetes.jobs.records import Record, Records
from jupyterlab_t9kjob.engines.kubernetes.jobs.tracked_job import TrackedJob

pytestmark = pytest.mark.asyncio

UIDS = [f"uid-{number}" for number in range(20)]


def record(uid: str, *, deleted: bool = False) -> Record:
    return Record(cluster="here", server="here:6443", uid=uid, namespace="lab", deleted=deleted)


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


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_record_that_is_gone_is_written_again_only_for_a_job_in_the_cluster(
    tmp_path: Path, *, deleted: bool
) -> None:
    """Another lab removes records only of deleted jobs; anything else that removes one may be a mistake."""
    records = Records(tmp_path)
    await records.start()
    await records.put_now("uid-1", lambda: record("uid-1"))
    shutil.rmtree(tmp_path / "lab" / "uid-1")
    removed = asyncio.Event()
    await records.put_now("uid-1", lambda: record("uid-1", deleted=deleted), removed.set)
    assert removed.is_set() == deleted
    assert (await kept(tmp_path) == set()) == deleted
    if deleted:
        # A first record of a deleted job, and one on a disk that was away, are no such case.
        await records.put_now("uid-2", lambda: record("uid-2", deleted=True))
        shutil.rmtree(tmp_path)
        await records.put_now("uid-2", lambda: record("uid-2", deleted=True))
        assert await kept(tmp_path) == {"uid-2"}
    await records.stop()


def older(error: str, *, deleted: bool, ended: dict[str, Any] | None = None) -> Record:
    """Return a record as an earlier version wrote it, with the last line of the log as the error."""
    said = {"code": "ExitCode", "sentence": f"Rank 3 failed: {error}", "hint": "Mend it.", "verbatim": error}
    failure = {"replica": "worker-0", "attempt": 1, "rank": 3, "exit_code": 1, "error": error, "frames": []}
    failure["link"] = {"kind": "log", "label": "Show in log", "stream": "worker-0.1.rank-3.err", "offset": 7}
    replica = {"name": "worker-0", "type": "worker", "index": 0, "status": "Error"}
    return Record.model_validate_json(
        json.dumps(
            {
                **record("old").model_dump(mode="json"),
                **{"phase": "Failed", "deleted": deleted, "reason": said, "failures": {"worker-0": failure}},
                "endings": {"worker-0": ended} if ended is not None else {},
                "replicas": [{**replica, "reason": {"code": "ExitCode", "sentence": f"Failed: {error}"}}],
            }
        )
    )


@pytest.mark.parametrize("deleted", [True, False])
async def test_a_record_of_an_earlier_version_claims_no_false_cause(*, deleted: bool) -> None:
    line = "epoch 3 loss .2"
    ended = {"pod_uid": "p", "restart_count": 0, "code": "ExitCode", "words": f"failed: {line}", "exit_code": 1}
    ended |= {"at": 1.0, "error": line, "hint": None, "verbatim": f"epoch 2\n{line}", "rerun": False}
    job = TrackedJob.recorded(older(line, deleted=deleted, ended=ended))
    assert job.record is not None and job.record.reason is not None
    assert job.record.reason.sentence == "Rank 3 ended with exit code 1"
    (replica,) = job.record.replicas
    assert replica.reason is not None and replica.reason.sentence == "Ended with exit code 1"
    assert job.endings["worker-0"]["words"] == "ended with exit code 1"
    if not deleted:
        assert job.failures == {}  # it is read again
        return
    failure = job.failures["worker-0"]
    assert failure.error is None and failure.last_output is not None
    assert failure.last_output.lines == [line]


async def test_a_known_error_of_an_earlier_version_stays() -> None:
    known = older("free(): invalid pointer", deleted=True)
    known.failures["worker-0"].exit_code = 134
    job = TrackedJob.recorded(known)
    assert job.failures["worker-0"].error == "free(): invalid pointer"
    assert job.record is not None and job.record.reason is not None
    assert job.record.reason.sentence == "Rank 3 failed: free(): invalid pointer"
