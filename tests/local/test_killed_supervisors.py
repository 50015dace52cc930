"""Supervisors and guardians that are killed at random moments of a job's life.

``T9KJOB_KILLS`` sets how many jobs lose theirs, ``T9KJOB_SEED`` repeats a run.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict
from jupyterlab_t9kjob.core.system.processes import alive, process_id
from jupyterlab_t9kjob.engines.local.supervisor.records.job_files import JobFiles
from tests.local.harness import ENDED, Bench, carrying, eventually, kill

KILLS = int(os.environ.get("T9KJOB_KILLS", "6"))
pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(900 + 30 * KILLS)]

RESTLESS = """
import os, pathlib, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
time.sleep(float(sys.argv[1]))
sys.exit(1)
"""
"""Leaves a process behind that has to be killed, fails, and is restarted."""


@pytest.fixture
def settings() -> dict[str, Any]:
    return {"grace_seconds": 1.0}


def caretakers(directory: Path) -> list[int]:
    """Return the guardian and the supervisor of a job, parent first."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdecimal() else []
            if str(directory).encode() in command and not any(b"/sampler/" in part for part in command):
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return sorted(found, key=lambda pid: found[pid] in found)


async def test_whenever_its_caretakers_die_a_job_ends_and_leaves_nothing(bench: Bench) -> None:
    seed = int(os.environ.get("T9KJOB_SEED") or time.time_ns() % 10**6)
    print(f"T9KJOB_SEED={seed}")
    chance = random.Random(seed)
    ends: collections.Counter[Any] = collections.Counter()
    for _ in range(KILLS):
        job = await bench.submit(
            RESTLESS,
            args=[str(chance.uniform(0, 0.3))],
            replica_specs=[{"restart_policy": "OnFailure", "replicas": chance.choice([1, 2])}],
            run_policy={"backoff_limit": 1000},
        )
        action = chance.choice([None, None, "pause", "stop", "delete"])
        await asyncio.sleep(chance.uniform(0, 1.5))
        if action is not None:
            await bench.engine.act(job.uid, action)
            await asyncio.sleep(chance.uniform(0, 1.2))
        who = chance.choice(["guardian", "supervisor", "both"])
        before = await bench.engine.job(job.uid)
        found = caretakers(bench.home / "jobs" / job.uid)
        for pid in {"guardian": found[:1], "supervisor": found[1:], "both": found}[who]:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                kill(pid)
        goes_on = who == "guardian" or before.phase == "Pending"  # or starts anew if it had not got to start
        if goes_on and action != "pause" and (await bench.engine.job(job.uid)).phase not in ENDED:
            with contextlib.suppress(Conflict):  # it has just ended
                await bench.engine.act(job.uid, "stop")
        done = await bench.until(job.uid, lambda job: job.phase in (*ENDED, "Paused") and job.pending_action is None)
        code = done.reason.code if done.reason else None
        allowed = {"SupervisorLost", "Stopped"} | ({"PausedByUser"} if action == "pause" else set())
        assert code in allowed, (action, who, code)
        assert done.deleted == (action == "delete")
        assert carrying(job.uid) == []
        for replica in await bench.engine.replicas(job.uid):
            assert (replica.pid, replica.ready) == (None, False)
        ends[action, who, code] += 1
    print(ends)


DAEMON = """
import os, subprocess, sys, time
subprocess.Popen(
    ["setsid", "--fork", "sh", "-c", "echo $$ > daemon; while :; do sleep 1; done"],
    env={"PATH": os.environ["PATH"]}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
child = subprocess.Popen(
    [sys.executable, "-c", "import time; open('child', 'w').write('x'); time.sleep(600)"],
    env={}, start_new_session=True,
)
open("pids", "w").write(str(child.pid))
time.sleep(600)
"""
"""Has a daemon and a child that have shed all marks of the job."""


@pytest.mark.parametrize("who", ["supervisor", "both"])
async def test_processes_without_marks_end_with_their_caretakers(bench: Bench, who: str) -> None:
    job = await bench.submit(DAEMON)
    daemon = int(await bench.written(bench.root / "daemon"))
    await bench.written(bench.root / "child")
    pids = {daemon, int(await bench.written(bench.root / "pids"))}
    processes = [process_id(pid) for pid in pids]
    directory = bench.home / "jobs" / job.uid
    await eventually(lambda: all(one in JobFiles(directory).read_strays() for one in processes))
    guardian, supervisor = caretakers(directory)
    os.kill(supervisor, signal.SIGSTOP)  # so that neither sees the other die
    for pid in [guardian, supervisor] if who == "both" else [supervisor]:
        kill(pid)
    done = await bench.ended(job.uid)
    assert done.reason and done.reason.code == "SupervisorLost"
    assert done.reason.hint and ("Nothing is left running" in done.reason.hint) == (who == "supervisor")
    assert ("may still run" in done.reason.hint) == (who == "both")
    assert [one for one in processes if alive(one)] == []
