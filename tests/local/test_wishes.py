"""Requested actions on a job are carried out even if processes die; a weaker one never replaces a stronger one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, NotFound
from tests.local.harness import Bench, carrying, eventually, kill, make_engine

pytestmark = pytest.mark.asyncio

DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); open('ready', 'w').write('x'); time.sleep(600)"


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"grace_seconds": 4.0}  # time for a second request before the deaf process is killed


def supervisor(bench: Bench, uid: str) -> int:
    found: int = json.loads((bench.home / "jobs" / uid / "record.json").read_bytes())["supervisor"]["pid"]
    return found


async def deaf(bench: Bench) -> str:
    """Start a job whose process has to be killed."""
    job = await bench.submit(DEAF)
    await bench.written(bench.root / "ready")
    return job.uid


async def removed(bench: Bench, uid: str) -> None:
    """Wait until a job, its directory and its processes are gone and the pages know it."""
    await eventually(lambda: not list((bench.home / "jobs").iterdir()))
    await eventually(lambda: bench.heard[-1][1] is None)
    assert [job.uid for job in await bench.engine.jobs()] == []
    assert carrying(uid) == []


@pytest.mark.parametrize("dies", ["server", "server and supervisor"])
async def test_a_removal_is_finished_by_the_next_server(bench: Bench, dies: str) -> None:
    uid = await deaf(bench)
    pid = supervisor(bench, uid)
    if dies != "server":
        os.kill(pid, signal.SIGSTOP)  # so that it can't be done before it is killed
    assert (await bench.engine.act(uid, "delete", remove=True)).pending_action == "deleting"
    await bench.engine.stop()  # as good as killed: nothing of the removal is in its memory
    if dies != "server":
        kill(pid)
    bench.engine = make_engine(bench.home, bench.root)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    await removed(bench, uid)


async def test_an_ended_job_is_removed_at_once(bench: Bench) -> None:
    job = await bench.submit("open('model.pt', 'w').write('weights')")
    await bench.ended(job.uid)
    await bench.engine.act(job.uid, "delete", remove=True)
    await removed(bench, job.uid)
    assert (bench.root / "model.pt").read_text() == "weights"


async def test_deleting_twice_is_deleting_once(bench: Bench) -> None:
    uid = await deaf(bench)
    await bench.engine.act(uid, "delete")
    assert (await bench.engine.act(uid, "delete")).pending_action == "deleting"
    with pytest.raises(Conflict, match="being deleted"):
        await bench.engine.act(uid, "pause")
    await bench.engine.act(uid, "delete", remove=True)
    await removed(bench, uid)


async def test_a_stop_does_not_keep_what_another_server_deletes(bench: Bench) -> None:
    other = make_engine(bench.home, bench.root)
    await other.start()
    uid = await deaf(bench)
    seen = await other.job(uid) if uid in {job.uid for job in await other.jobs()} else None
    while seen is None or seen.phase != "Running":
        await asyncio.sleep(0.05)
        seen = next((job for job in await other.jobs() if job.uid == uid), None)
    results: list[Any] = await asyncio.gather(
        bench.engine.act(uid, "delete", remove=True), other.act(uid, "stop"), other.act(uid, "pause"),
        return_exceptions=True,
    )  # fmt: skip
    assert all(not isinstance(result, BaseException) or isinstance(result, (Conflict, NotFound)) for result in results)
    assert not isinstance(results[0], BaseException)
    await removed(bench, uid)
    await other.stop()


async def test_a_job_that_is_deleted_while_it_pauses(bench: Bench) -> None:
    uid = await deaf(bench)
    await bench.engine.act(uid, "pause")
    record = bench.home / "jobs" / uid / "record.json"
    await eventually(lambda: json.loads(record.read_bytes())["ending"] is not None)
    pid = supervisor(bench, uid)
    os.kill(pid, signal.SIGSTOP)
    await bench.engine.act(uid, "delete")
    kill(pid)
    done = await bench.until(uid, lambda job: job.deleted)
    assert (done.phase, done.reason and done.reason.code, done.pending_action) == ("Failed", "Stopped", None)
    assert carrying(uid) == []


async def test_it_is_said_that_processes_had_to_be_killed(bench: Bench) -> None:
    uid = await deaf(bench)
    await bench.engine.act(uid, "stop")
    done = await bench.ended(uid)
    words = "1 process did not end within 4 s and was killed."
    assert done.reason and done.reason.sentence.startswith("Stopped by you after")
    assert done.reason.hint == words
    events = [(event.reason, event.message) for event in await bench.engine.events(uid)]
    assert events[:2] == [("Stopped", "Stopped by you."), ("ProcessesKilled", words)]


async def test_nothing_is_said_of_processes_that_end_when_asked(bench: Bench) -> None:
    job = await bench.submit("import time; open('ready', 'w').write('x'); time.sleep(600)")
    await bench.written(bench.root / "ready")
    await bench.engine.act(job.uid, "stop")
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.hint is None
    assert "ProcessesKilled" not in await bench.codes(job.uid)


async def paused(bench: Bench, uid: str) -> None:
    await bench.until(uid, lambda job: job.phase == "Paused" and job.pending_action is None)


async def test_a_resume_while_it_pauses_lets_it_run_again(bench: Bench) -> None:
    uid = await deaf(bench)
    pausing = await bench.engine.act(uid, "pause")
    assert (pausing.pending_action, pausing.actions[0]) == ("pausing", "resume")
    assert (await bench.engine.act(uid, "pause")).pending_action == "pausing"
    record = bench.home / "jobs" / uid / "record.json"
    await eventually(lambda: json.loads(record.read_bytes())["ending"] is not None)
    resuming = await bench.engine.act(uid, "resume")
    assert (resuming.pending_action, resuming.actions[0]) == ("resuming", "pause")
    again = await bench.until(uid, lambda job: job.attempt == 2)
    assert (again.phase, again.pending_action) == ("Running", None)
    with pytest.raises(Conflict, match="is running already"):
        await bench.engine.act(uid, "resume")


async def test_a_pause_while_it_resumes_keeps_it_paused(bench: Bench) -> None:
    uid = await deaf(bench)
    await bench.engine.act(uid, "pause")
    await paused(bench, uid)
    with pytest.raises(Conflict, match="is paused already"):
        await bench.engine.act(uid, "pause")
    resuming = await bench.engine.act(uid, "resume")
    if resuming.phase == "Paused":  # else it runs by now
        assert (resuming.pending_action, resuming.actions[0]) == ("resuming", "pause")
    await bench.engine.act(uid, "pause")
    await paused(bench, uid)
    assert carrying(uid) == []


async def test_a_resume_before_the_pause_was_seen_changes_nothing(bench: Bench) -> None:
    uid = await deaf(bench)
    pid = supervisor(bench, uid)
    os.kill(pid, signal.SIGSTOP)
    await bench.engine.act(uid, "pause")
    job = await bench.engine.act(uid, "resume")
    os.kill(pid, signal.SIGCONT)
    assert (job.phase, job.pending_action, job.attempt) == ("Running", None, 1)


async def test_a_stop_while_it_pauses_names_what_is_on_its_way(bench: Bench) -> None:
    uid = await deaf(bench)
    await bench.engine.act(uid, "pause")
    await bench.engine.act(uid, "stop")
    with pytest.raises(Conflict, match=r"is stopping\. It can't be resumed"):
        await bench.engine.act(uid, "resume")
    assert (await bench.ended(uid)).phase == "Failed"
