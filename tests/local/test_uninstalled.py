"""The package is uninstalled while a job runs: the job goes on to its end, and a later installation finds it."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.local.harness import ENDED, Bench, carrying, eventually, kill, make_engine, remove
from tests.local.test_survival import SERVER, record

pytestmark = pytest.mark.asyncio

ROOT = Path(__file__).parents[2]
WAITS = """
import pathlib, time
print("epoch 1/2, accuracy: 0.5", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.02)
print("epoch 2/2, accuracy: 0.9")
"""


@pytest.mark.parametrize("end", ["success", "failure", "killed supervisor"])
async def test_a_job_goes_on_to_its_end(bench: Bench, tmp_path: Path, end: str) -> None:
    site = tmp_path / "site"
    ignored = shutil.ignore_patterns("__pycache__", "labextension", "node_modules")
    shutil.copytree(ROOT / "jupyterlab_t9kjob", site / "jupyterlab_t9kjob", ignore=ignored)
    spec = bench.spec(WAITS + ("raise ValueError('no good')" if end == "failure" else ""))
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", SERVER, str(bench.home), str(bench.root), spec.model_dump_json()),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)]), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
    )
    assert server.stdout is not None
    uid = (await server.stdout.readline()).decode().strip()
    bench.uids.append(uid)
    await bench.written(bench.home / "jobs" / uid / "logs" / "worker-0.1" / "container.log")
    await bench.prepared(uid)
    server.kill()
    await server.wait()
    remove(site)  # in which the job's sampler may write byte code
    await bench.engine.stop()  # no server is left that could help

    if end == "killed supervisor":
        kill(record(bench, uid)["supervisor"]["pid"])
    else:
        (bench.root / "go").touch()
    await eventually(lambda: record(bench, uid)["outcome"]["phase"] in ENDED)
    await eventually(lambda: carrying(uid) == [])

    bench.engine = make_engine(bench.home, bench.root)
    bench.engine.listen(bench.hear)
    await bench.engine.start()
    done = await bench.ended(uid)
    code = {"success": "Succeeded", "failure": "ExitCode", "killed supervisor": "SupervisorLost"}[end]
    assert done.reason is not None
    assert done.reason.code == code
    assert done.progress is not None
    assert done.progress.metrics == {"accuracy": 0.5 if end == "killed supervisor" else 0.9}
    if end == "failure":
        assert done.reason.sentence == "The script failed with exit code 1: ValueError: no good"
    assert (await bench.output(uid, "worker-0.1.container.out")).startswith(b"epoch 1/2")
