"""The package is upgraded while jobs of the previous version run: they end, fail, are stopped and are deleted.

Their supervisors go on with the code that they were started with, and import from the new package whatever they have
not imported yet. `previous.zip` has the modules of the version before this one that the local engine needs, as
``git archive`` gives them; a release replaces it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import zipfile
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.local.harness import ENDED, Bench, carrying, eventually, make_engine, remove
from tests.local.test_survival import record

pytestmark = pytest.mark.asyncio

ROOT = Path(__file__).parents[2]
PREVIOUS = Path(__file__).with_name("previous.zip")
SERVER = """
import asyncio, sys
from pathlib import Path
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.local.command import Interpreter
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from jupyterlab_t9kjob.engines.local.settings import Settings

async def this_python(name):
    return Interpreter(sys.executable, {}, name or "python3")

async def main():
    settings = Settings(backoff_seconds=0.1)
    engine = LocalEngine(Path(sys.argv[1]), Path(sys.argv[2]), this_python, settings)
    await engine.start()
    job = await engine.create(JobSpec.model_validate_json(sys.argv[3]), namespace="", request_id="before")
    print(job.uid, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""
WAITS = """
import pathlib, time
print("epoch 1/2, accuracy: 0.5", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.02)
print("epoch 2/2, accuracy: 0.9")
"""
FAILS = "raise ValueError('no good')\n"

Start = Callable[..., Coroutine[Any, Any, str]]


@pytest_asyncio.fixture
async def start(bench: Bench, tmp_path: Path) -> AsyncIterator[Start]:
    """Start a job of the previous version, and upgrade the package below it."""
    site = tmp_path / "site"

    async def started(script: str = WAITS) -> str:
        with zipfile.ZipFile(PREVIOUS) as previous:
            previous.extractall(site)
        spec = bench.spec(script).model_dump_json(exclude_unset=True)
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", SERVER, str(bench.home), str(bench.root), spec),
            env={**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"},
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
        )
        assert server.stdout is not None
        uid = (await server.stdout.readline()).decode().strip()
        assert uid, "the previous version did not start"
        bench.uids.append(uid)
        await bench.written(bench.home / "jobs" / uid / "logs" / "worker-0.1" / "container.log")
        await bench.prepared(uid)
        server.kill()
        await server.wait()
        remove(site)
        ignored = shutil.ignore_patterns("__pycache__", "labextension", "node_modules")
        # where the job's sampler may have written byte code since
        shutil.copytree(ROOT / "jupyterlab_t9kjob", site / "jupyterlab_t9kjob", ignore=ignored, dirs_exist_ok=True)
        await bench.engine.stop()
        bench.engine = make_engine(bench.home, bench.root)
        bench.engine.listen(bench.hear)
        await bench.engine.start()
        assert (await bench.running(uid)).reason is not None
        return uid

    yield started


async def test_it_ends(bench: Bench, start: Start) -> None:
    uid = await start()
    (bench.root / "go").touch()
    done = await bench.ended(uid)
    assert done.phase == "Succeeded"
    assert done.progress is not None
    assert done.progress.metrics == {"accuracy": 0.9}
    assert (await bench.output(uid, "worker-0.1.container.out")).startswith(b"epoch 1/2")


async def test_it_fails_while_there_is_no_server(bench: Bench, start: Start) -> None:
    uid = await start(WAITS + FAILS)
    await bench.engine.stop()
    (bench.root / "go").touch()
    await eventually(lambda: record(bench, uid)["outcome"]["phase"] in ENDED)
    await eventually(lambda: carrying(uid) == [])
    bench.engine = make_engine(bench.home, bench.root)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    done = await bench.ended(uid)
    assert done.reason is not None
    assert done.reason.code == "ExitCode"
    assert done.reason.sentence == "The script failed with exit code 1: ValueError: no good"


async def test_it_is_stopped(bench: Bench, start: Start) -> None:
    uid = await start()
    await bench.engine.act(uid, "stop")
    assert (await bench.ended(uid)).ended_by == "user"
    await eventually(lambda: carrying(uid) == [])


async def test_it_is_deleted(bench: Bench, start: Start) -> None:
    uid = await start()
    await bench.engine.act(uid, "delete", remove=True)
    await eventually(lambda: not (bench.home / "jobs" / uid).exists())
    assert carrying(uid) == []
