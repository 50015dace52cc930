"""Samples of real jobs: taken by the supervisor's sampler, for each rank, without a server."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.resources import SampleSpan
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.resources import ResourceService
from tests.local.harness import Bench, carrying, eventually

pytestmark = pytest.mark.asyncio

ALL = SampleSpan(None, None, 100)
WORKS = """
import os, time
held = bytearray(os.urandom(1000)) * 60_000
while not os.path.exists("enough"):
    if os.environ["RANK"] == "1":
        sum(range(10_000))
    else:
        time.sleep(0.01)
"""


def samplers(uid: str) -> list[int]:
    found = []
    for pid in carrying(uid):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # It may end meanwhile.
            if "engines/local/sampler/__main__.py" in Path(f"/proc/{pid}/cmdline").read_text():
                found.append(pid)
    return found


async def test_ranks_are_sampled_until_the_end_and_a_killed_sampler_is_replaced(bench: Bench) -> None:
    job = await bench.submit(WORKS, torchrun={"proc_per_node": 2}, working_dir=str(bench.root))
    await bench.running(job.uid)
    files = bench.home / "jobs" / job.uid / "resources"
    await eventually(lambda: samplers(job.uid))
    service = ResourceService(Engines({"local": bench.engine}))
    before = await service.view(job.id, ALL, "unit")
    assert before.unavailable is None
    for _attempt in range(20):  # A request waits for the next sample, but not as long as a loaded machine may take.
        view = await service.view(job.id, ALL, "unit", before.version)
        if view.version != before.version:
            break
    assert view.version != before.version

    def size() -> int:
        path = files / "samples"
        return path.stat().st_size if path.exists() else 0

    os.kill(samplers(job.uid)[0], signal.SIGKILL)
    await eventually(lambda: samplers(job.uid))
    known = size()
    await eventually(lambda: size() > known + 300)
    (bench.root / "enough").touch()
    await bench.ended(job.uid)
    assert not carrying(job.uid)

    view = await service.view(job.id, ALL, "unit")
    rows = {row.metric: row for row in view.rows}
    assert {"cpu", "memory", "disk", "network"} <= set(rows)
    cpu = {curve.number: max(value or 0 for value in curve.high) for curve in rows["cpu"].curves}
    assert set(cpu) == {0, 1} and cpu[1] > 2 * cpu[0]
    memory = [max(value or 0 for value in curve.high) for curve in rows["memory"].curves]
    assert all(60e6 < value < 500e6 for value in memory)
    assert view.source == "processes" and view.trouble is None and view.findings == []
    assert view.usage.gpu_hours is None
    by_replica = await service.view(job.id, ALL, "replica")
    assert [curve.replica for curve in by_replica.rows[0].curves] == ["worker-0"]
    await bench.engine.remove(job.uid)
    assert not files.exists()


async def test_a_job_without_samples_says_why(bench: Bench) -> None:
    job = await bench.submit("pass")
    await bench.ended(job.uid)
    folder = bench.home / "jobs" / job.uid / "resources"
    for file in folder.glob("*"):
        file.unlink()
    view = await ResourceService(Engines({"local": bench.engine})).view(job.id, ALL, "sum")
    assert view.unavailable is not None and view.unavailable.code == "NoSamples" and view.rows == []
