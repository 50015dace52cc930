"""A pod is evicted, and one of two labs continues its job from the newest checkpoint."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import JobSpec, RunPolicy, TensorBoardSpec
from jupyterlab_t9kjob.jobs.admission import Admission
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.resuming.evictions import Evictions
from tests.kubernetes.engines import MOUNT, Bench, serving
from tests.kubernetes.harness import Kube, Volume
from tests.server.conftest import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

SCRIPT = """import argparse, os, signal, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--resume")
parser.add_argument("--out")
args = parser.parse_args()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
if args.resume:
    sys.exit(0 if open(args.resume).read() == "weights" else 3)
if args.out:
    os.makedirs(args.out)
    with open(os.path.join(args.out, "epoch-1.pt"), "w") as file:
        file.write("weights")
time.sleep(600)
"""


async def admit(spec: JobSpec, *_: object) -> Admission:
    return Admission(spec)


def evicting(bench: Bench) -> Evictions:
    assert bench.volume is not None
    return Evictions(JobService(Engines(bench.engines)), ContentsRoot(bench.volume.path), admit)


async def test_an_evicted_job_is_continued_by_one_lab(kube: Kube, image: str, volume: Volume, tmp_path: Path) -> None:
    async with (
        serving(kube, image, tmp_path / "a", volume) as bench,
        serving(kube, image, tmp_path / "b", volume) as other,
    ):
        labs = [evicting(bench), evicting(other)]
        await asyncio.gather(*(lab.start() for lab in labs))
        try:
            await one_is_continued(bench, kube)
        finally:
            await asyncio.gather(*(lab.stop() for lab in labs))


async def one_is_continued(bench: Bench, kube: Kube) -> None:
    assert bench.volume is not None
    script = bench.script(SCRIPT)

    async def submit(name: str, *args: str) -> Job:
        spec = bench.training(
            script,
            name=name,
            replicas=1,
            torchrun=None,
            args=list(args),
            working_dir=MOUNT,
            run_policy=RunPolicy(resume_evicted=True),
            tensorboard=TensorBoardSpec(log_dirs=[f"{MOUNT}/runs/{name}"]),
        )
        return await bench.submit("kubeflow", spec)

    async def run(name: str, *args: str) -> Job:
        job = await submit(name, *args)
        return await bench.until(job, lambda seen: seen.phase == "Running" and seen.replicas_running == 1)

    saves_not = await run("saves-not-1")  # It runs while the other job writes.
    saves = await run("saves-1", "--out", "runs/saves-1")
    checkpoint = bench.volume.path / "runs/saves-1/epoch-1.pt"
    await eventually(lambda: checkpoint.exists() and checkpoint.read_text() == "weights")
    for job in (saves, saves_not):
        pod = f"{job.name}-master-0"
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
        await asyncio.to_thread(kube.ask, "POST", f"{kube.path('pods')}/{pod}/eviction", eviction)
    ended, without = await asyncio.gather(
        *(bench.until(job, lambda seen: seen.continuation is not None) for job in (saves, saves_not))
    )
    assert without.continuation is not None and without.continuation.job is None
    assert without.continuation.problem == (
        "Other jobs may have written the checkpoints in its folders: they ran there at the same time."
    )
    assert ended.continuation is not None and ended.continuation.job is not None
    new = await bench.ended(await bench.engines["kubeflow"].job(ended.continuation.job.rpartition(":")[2]))
    assert (new.name, new.phase, new.rerun_of) == ("saves-2", "Succeeded", saves.id)
    assert new.spec.args == ["--out", "runs/saves-2", "--resume", f"{MOUNT}/runs/saves-1/epoch-1.pt"]
    assert new.continues is not None and (new.continues.job, new.continues.number) == (saves.id, 1)
    assert new.spec.run_policy.resume_evicted and not new.spec.annotations
    assert sorted(job.name for job in await bench.engines["kubeflow"].jobs()) == ["saves-1", "saves-2", "saves-not-1"]
