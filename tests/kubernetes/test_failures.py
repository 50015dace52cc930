"""Why a rank failed: its own words are found, wherever its log is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Elastic
from tests.kubernetes.engines import KINDS, Bench, serving
from tests.kubernetes.harness import Kube, Volume
from tests.patience import PATIENCE

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

# Rank 3 fails, and all others then of their lost connections.
FAILING = """
import os, time
import torch, torch.distributed as dist

def train_step(batch):
    if dist.get_rank() == 3:
        raise ValueError(f"batch {batch} has no labels")
    dist.all_reduce(torch.ones(1))

dist.init_process_group("gloo")
dist.barrier()
for batch in range(2, 9):
    train_step(batch)
"""


async def _log_at(bench: Bench, job: Job) -> bytes:
    """Return what stands in the log where the job's failure points."""
    assert job.failure is not None
    link = job.failure.link
    assert link is not None
    files = {file.stream.id: file for file in await bench.engines[job.engine].log_sources(job.uid)}
    return files[link.stream or ""].path.read_bytes()[link.offset :]


async def _until_told(bench: Bench, job: Job, rank: int | None = None) -> Job:
    """Wait for the failure; it may be another rank's, or have no error, while the log is still on its way."""
    return await bench.until(
        job,
        lambda seen: (
            seen.phase == "Failed"
            and seen.failure is not None
            and seen.failure.rank == rank
            and seen.failure.error is not None
        ),
    )


def _is_the_cause(job: Job) -> None:
    failure = job.failure
    assert failure is not None
    assert job.reason is not None
    assert job.reason.sentence == "Rank 3 failed with exit code 1: ValueError: batch 2 has no labels"
    assert job.reason.links == [failure.link]
    assert (failure.rank, failure.exit_code) == (3, 1)
    assert failure.error == "ValueError: batch 2 has no labels"
    own = [frame for frame in failure.frames if not frame.library]
    assert [(frame.function, frame.code) for frame in own] == [
        ("<module>", "train_step(batch)"),
        ("train_step", 'raise ValueError(f"batch {batch} has no labels")'),
    ]
    assert own[1].line == 7


async def test_by_rank_files_on_the_volume(kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path, volume) as bench:
        spec = bench.training(bench.script(FAILING, "failing.py"), replicas=2, processes=2)
        job = await _until_told(bench, await bench.submit("t9k", spec), 3)
        _is_the_cause(job)
        assert job.failure is not None
        assert {frame.path for frame in job.failure.frames if not frame.library} == {"failing.py"}
        assert ".rank-" in ((job.failure.link and job.failure.link.stream) or "")
        assert (await _log_at(bench, job)).startswith(b"[rank3]: Traceback (most recent call last)")
    async with serving(kube, image, tmp_path, volume) as bench:
        await bench.engines["t9k"].act(job.uid, "delete")
        gone = await bench.until(job, lambda seen: seen.deleted)
        _is_the_cause(gone)
        assert gone.failure == job.failure


@pytest.mark.parametrize("keep_logs", [True, False], ids=["tee", "plain"])
async def test_by_what_the_pods_print(
    kube: Kube, volume: Volume, image: str, tmp_path: Path, *, keep_logs: bool
) -> None:
    async with serving(kube, image, tmp_path, volume, volumes=(), keep_logs=keep_logs) as bench:
        script = bench.script(FAILING, "failing.py")
        spec = bench.training(script, replicas=2, processes=2, keep_logs=keep_logs)
        job = await _until_told(bench, await bench.submit("kubeflow", spec), 3)
        _is_the_cause(job)
        assert job.failure is not None
        assert {frame.path for frame in job.failure.frames} == {None}
        head = b".default1]:[rank3]: Traceback" if keep_logs else b"[rank3]: Traceback"
        assert head in (await _log_at(bench, job)).partition(b"\n")[0]


async def test_without_torchrun(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        # A container's runtime reads both pipes on its own, so it may swap what is written in the same millisecond.
        program = """exec python -c 'import time; print("epoch 1"); time.sleep(1); {}["loss"]'"""
        job = await _until_told(bench, await bench.submit("t9k", bench.spec(program)))
        assert job.reason is not None
        assert job.reason.sentence == "The command failed with exit code 1: KeyError: 'loss'"
        assert (await _log_at(bench, job)).startswith(b"Traceback (most recent call last)")


async def test_by_the_scripts_source(kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    """A log does not tell what `sys.exit("text")` has written from any other line; the script on the volume does."""
    async with serving(kube, image, tmp_path, volume) as bench:
        script = bench.script(
            "import sys, traceback\ntry:\n    open('/none')\nexcept OSError:\n    traceback.print_exc()\n"
            "sys.exit(f'quota of {3} GiB exceeded')\n",
            "quota.py",
        )
        job = await _until_told(bench, await bench.submit("t9k", bench.training(script, replicas=1, torchrun=None)))
        assert job.failure is not None and job.reason is not None
        assert job.failure.error == "quota of 3 GiB exceeded"
        assert job.reason.sentence == "The script failed with exit code 1: quota of 3 GiB exceeded"


@pytest.mark.parametrize("engine", KINDS)
async def test_ranks_of_several_replicas_are_the_global_ones(
    engine: str, kube: Kube, volume: Volume, image: str, tmp_path: Path
) -> None:
    """Under c10d torchrun numbers the pods as they come, and only the prefixes of its lines tell how."""
    async with serving(kube, image, tmp_path, volume) as bench:
        script = bench.script(
            "import os\nprint('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'])\n", "ranks.py"
        )
        spec = bench.training(script, processes=2, elastic=Elastic(min=2, max=2, expected=2))
        job = await bench.ended(await bench.submit(engine, spec))
        assert job.phase == "Succeeded"
        news = asyncio.Event()
        stop = await bench.engines[engine].follow_logs(job.uid, news.set)
        while True:
            news.clear()
            files = await bench.engines[engine].log_sources(job.uid)
            printed = {file.stream.rank: file.path.read_text() for file in files if file.stream.output == "stdout"}
            if len(printed) == 4:
                break
            await asyncio.wait_for(news.wait(), PATIENCE)
        stop()
        assert printed == {rank: f"rank {rank} of 4\n" for rank in range(4)}
