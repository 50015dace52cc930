"""Records and logs as they may be found: of other versions, damaged, or with anything at all in them."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict
from jupyterlab_t9kjob.core.system.files import write_atomically
from jupyterlab_t9kjob.core.system.locks import runtime_directory, try_lock
from jupyterlab_t9kjob.engines.local import engine as engine_module
from jupyterlab_t9kjob.engines.local.jobs import expiry
from jupyterlab_t9kjob.engines.local.jobs.stored_job import StoredJob
from jupyterlab_t9kjob.engines.local.supervisor.outcome import conclude
from jupyterlab_t9kjob.engines.local.supervisor.records.record import Outcome
from tests.local.harness import Bench, eventually, make_engine
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio


def directory(bench: Bench, uid: str) -> Path:
    return bench.home / "jobs" / uid


async def again(bench: Bench) -> None:
    """Let a new server look at the home."""
    await bench.engine.stop()
    bench.engine = make_engine(bench.home, bench.root)
    bench.engine.listen(bench.hear)
    await bench.engine.start()


async def test_a_record_that_can_not_be_read(bench: Bench) -> None:
    job = await bench.submit("print('kept')")
    done = await bench.ended(job.uid)
    (directory(bench, job.uid) / "record.json").write_text('{"version": 1, "outco')
    await again(bench)
    seen = await bench.engine.job(job.uid)
    assert seen.reason and (seen.phase, seen.reason.code) == ("Unknown", "BadRecord")
    assert seen.name == done.name
    assert await bench.output(job.uid, "worker-0.1.container.out") == b"kept\n"
    await bench.engine.remove(job.uid)
    assert await bench.engine.jobs() == []


@pytest.mark.parametrize(
    "change",
    [
        {"outcome": {}},
        {"outcome": None},
        {"outcome": {"phase": "Lost", "code": "x", "facts": {}, "ended_by": None}},
        {"machine": "here"},
        {"replicas": []},
        {"replicas": [{"name": "worker-0"}]},
        {"created_at": "yesterday"},
        {"name": "../../etc"},
        {"version": 2},
    ],
    ids=str,
)
async def test_one_bad_record_hides_no_other_job(bench: Bench, change: dict[str, Any]) -> None:
    bad, good = await bench.submit("pass"), await bench.submit("pass")
    for job in (bad, good):
        await bench.ended(job.uid)
    path = directory(bench, bad.uid) / "record.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    await again(bench)
    phases = {job.uid: (job.phase, job.reason and job.reason.code) for job in await bench.engine.jobs()}
    assert phases == {bad.uid: ("Unknown", "BadRecord"), good.uid: ("Succeeded", "Succeeded")}
    seen = await bench.engine.job(bad.uid)
    assert (seen.name, seen.actions) == (bad.name, ["remove"])
    assert await bench.engine.replicas(bad.uid) == []
    await bench.ended((await bench.submit("pass")).uid)  # the watch goes on


async def test_a_newer_supervisor_may_write_more_than_this_server_knows(bench: Bench) -> None:
    job = await bench.submit("raise ValueError('kept')")
    await bench.ended(job.uid)
    more = {"of a later version": 1}
    path = directory(bench, job.uid) / "record.json"
    record = json.loads(path.read_text())
    record["failure"] |= more
    record["failure"]["frames"] = [frame | more for frame in record["failure"]["frames"]]
    record["progress"] = {"text": "Step 1 of 2", "updated_at": 1.0} | more
    path.write_text(json.dumps(record | more))
    events = directory(bench, job.uid) / "events.jsonl"
    events.write_text("".join(json.dumps(json.loads(line) | more) + "\n" for line in events.read_text().splitlines()))
    await again(bench)
    seen = await bench.engine.job(job.uid)
    assert seen.failure and seen.failure.error == "ValueError: kept"
    assert seen.failure.frames and seen.progress
    assert "ExitCode" in {event.reason for event in await bench.engine.events(job.uid)}


@pytest.mark.parametrize("text", ["[]", "{}", '{"name": "x"}', "nonsense", '{"name": "a", "from": "a later version"}'])
async def test_a_spec_that_can_not_be_read_can_not_be_rerun(bench: Bench, text: str) -> None:
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    (directory(bench, job.uid) / "spec.json").write_text(text)
    await again(bench)
    (summary,) = await bench.engine.jobs()
    seen = await bench.engine.job(job.uid)
    assert (summary.name, summary.phase, summary.actions) == (job.name, "Succeeded", ["delete", "remove"])
    assert seen.actions == summary.actions


async def test_a_traceback_may_hold_anything(bench: Bench) -> None:
    job = await bench.submit(
        r"""
        import sys
        sys.stderr.write("Traceback (most recent call last):\n")
        for place in ["a\0b", "/" + "x/" * 5000, "~", "/loop"]:
            sys.stderr.write(f'  File "{place}", line 1, in f\n    {"c" * 10_000}\n')
        sys.stderr.write('  File "b", line ' + "9" * 5000 + '\nValueError: ' + "x" * 100_000 + "\n")
        sys.exit(1)
        """
    )
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "ExitCode"
    assert done.failure and done.failure.error and done.failure.error.startswith("ValueError: xxx")
    assert len(done.model_dump_json()) < 20_000
    assert sum(len(event.message) for event in await bench.engine.events(job.uid)) < 5000


async def test_a_loop_of_links_is_no_place_in_the_lab(bench: Bench) -> None:
    (bench.root / "loop").symlink_to(bench.root / "loop")
    outside = bench.root.parent / "loop"
    outside.symlink_to(outside)
    spec = bench.spec("pass", tensorboard={"log_dirs": [str(outside), str(bench.root / "loop")]})
    job = await bench.engine.create(spec, namespace="", request_id="a-loop-of-links")
    bench.uids.append(job.uid)
    assert job.log_dir_paths == [None, "loop"]
    await bench.ended(job.uid)


async def test_a_root_that_is_a_link_names_files_as_the_contents_api_does(bench: Bench, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(bench.root)
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("pass")
    (bench.root / "train.py").symlink_to(elsewhere)
    await bench.engine.stop()
    bench.engine = make_engine(bench.home, link)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    for path in (link / "train.py", bench.root / "train.py"):
        job = await bench.submit(entrypoint={"value": str(path)})
        assert job.entrypoint_path == "train.py"
        await bench.ended(job.uid)


async def test_removing_waits_for_the_supervisor_to_leave(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    plan = StoredJob(directory(bench, job.uid)).plan
    assert plan
    lock = try_lock(Path(plan["lock"]), wait=True)  # as a supervisor that has recorded its end and still exits
    assert lock is not None
    try:
        monkeypatch.setattr(engine_module, "LEAVING_SECONDS", 0.1)
        with pytest.raises(Conflict, match="still runs"):
            await bench.engine.remove(job.uid)
        monkeypatch.setattr(engine_module, "LEAVING_SECONDS", 20.0)
        removing = asyncio.create_task(bench.engine.remove(job.uid))
        await bench.engine.info()
        assert not removing.done()
    finally:
        os.close(lock)
    await asyncio.wait_for(removing, PATIENCE)
    assert await bench.engine.jobs() == []


async def test_a_removal_that_was_cut_short_is_finished_by_the_next_server(bench: Bench) -> None:
    """The server was killed when it had moved the job's directory away, and held the job's lock."""
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    lock = runtime_directory() / f"{job.uid}.lock"
    directory(bench, job.uid).rename(directory(bench, f".gone-{job.uid}"))
    lock.touch()
    await again(bench)
    assert await bench.engine.jobs() == []
    assert list((bench.home / "jobs").iterdir()) == []
    assert not lock.exists()


async def test_the_last_progress_is_rank_0s(bench: Bench) -> None:
    """Under torchrun with several replicas rank 0 may be any replica's."""
    job = await bench.submit("print('epoch 3/3, accuracy: 0.5')", replica_specs=[{"replicas": 2}])
    await bench.ended(job.uid)
    stored = StoredJob(directory(bench, job.uid))
    stored.refresh()
    assert stored.record
    for replica, first_rank in zip(stored.record["replicas"], (1, 0), strict=True):
        replica["attempts"][-1]["first_rank"] = first_rank
    stored.files.attempt_logs("worker-1", 1).joinpath("container.log").write_text("epoch 3/3, accuracy: 0.9\n")
    conclude(stored.files, stored.record, Outcome(phase="Succeeded", code="Succeeded", facts={}, ended_by="itself"))
    await again(bench)
    done = await bench.engine.job(job.uid)
    assert done.progress and done.progress.metrics == {"accuracy": 0.9}


async def test_a_heartbeat_is_never_half_written(bench: Bench) -> None:
    stored = StoredJob(directory(bench, (await bench.submit("pass")).uid))
    before = time.time()
    stored.files.beat()
    written = stored.files.heartbeat.stat()
    assert (stored.last_heartbeat() or 0) >= before - 1
    stored.files.beat()
    assert stored.files.heartbeat.stat().st_ino == written.st_ino  # in place: a full disk takes that as well
    assert stored.files.heartbeat.stat().st_size == written.st_size
    await bench.ended(stored.uid)


DAY = 86400.0


def age(bench: Bench, uid: str, seconds: float, **changes: Any) -> None:
    """Let a job have ended earlier."""
    path = directory(bench, uid) / "record.json"
    record = json.loads(path.read_bytes())
    record["ended_at"] -= seconds
    record["machine"] |= changes
    write_atomically(path, json.dumps(record).encode())  # The engine reads it at any moment.


async def test_old_records_go_and_nothing_else_does(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "CLEANING_SECONDS", 0.05)
    jobs = {
        name: await bench.submit(f"open('model-{name}', 'w').write('weights')")
        for name in ("old", "deleted", "elsewhere", "fresh")
    }
    paused = await bench.submit("pass", paused=True)
    for name, job in jobs.items():
        await bench.ended(job.uid)
        if name != "fresh":
            another = {"hostname": "another", "boot_id": "another"}
            age(bench, job.uid, 2 * DAY, **(another if name == "elsewhere" else {}))
    await bench.engine.act(jobs["deleted"].uid, "delete")
    await bench.until(jobs["deleted"].uid, lambda job: job.deleted)

    await again(bench)  # nothing is removed unless that is set
    assert len(await bench.engine.jobs()) == 5
    await bench.engine.stop()
    bench.engine = make_engine(bench.home, bench.root, keep_seconds=DAY)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    gone = {jobs["old"].id, jobs["deleted"].id}
    await eventually(lambda: gone <= {ident for ident, summary in bench.heard if summary is None})
    kept = {jobs["elsewhere"].uid, jobs["fresh"].uid, paused.uid}
    assert {job.uid for job in await bench.engine.jobs()} == kept
    assert {path.name for path in (bench.home / "jobs").iterdir()} == kept
    assert {path.name for path in bench.root.glob("model-*")} == {f"model-{name}" for name in jobs}


async def test_records_that_grow_old_go_as_well(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "CLEANING_SECONDS", 0.05)
    await bench.engine.stop()
    bench.engine = make_engine(bench.home, bench.root, keep_seconds=1.0)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    job = await bench.submit("pass")
    await eventually(lambda: bench.heard[-1] == (job.id, None))
    assert await bench.engine.jobs() == []


async def test_a_clock_that_jumps_for_a_moment_removes_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    await bench.engine.stop()
    moment = iter([0.0, 10 * DAY])
    ahead, looks = 0.0, 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return time.time() + next(moment, ahead)

    monkeypatch.setattr(expiry, "CLEANING_SECONDS", 0.05)
    monkeypatch.setattr(expiry, "time", SimpleNamespace(time=clock, monotonic=time.monotonic))
    bench.engine = make_engine(bench.home, bench.root, keep_seconds=DAY)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    await eventually(lambda: looks >= 6)
    assert [one.uid for one in await bench.engine.jobs()] == [job.uid]
    ahead = 2 * DAY  # from now on: the day has passed
    await eventually(lambda: bench.heard[-1] == (job.id, None))
    assert await bench.engine.jobs() == []
