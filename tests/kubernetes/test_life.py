"""The life of a job in a cluster, through the engines' own interface."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube, Volume

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

DDP = """
import os, time
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
total = torch.ones(1)
dist.all_reduce(total)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}: {int(total)}", flush=True)
if dist.get_rank() == 0:
    open(os.environ["T9KJOB_NAME"] + ".done", "w").write(os.environ["USER"])
dist.destroy_process_group()
"""


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_two_pods_train_together(engine: str, kube: Kube, volume: Volume, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path, volume) as bench:
        spec = bench.training(bench.script(DDP), replicas=2, processes=2)
        job = await bench.submit(engine, spec)
        assert job.mine
        assert job.replicas == 2
        assert job.processes == 4
        assert job.entrypoint_path == "train.py"
        done = await bench.ended(job)
        assert done.phase == "Succeeded", done.reason
        assert (volume.path / f"{spec.name}.done").read_text() == getpass.getuser()
        assert done.started_at is not None
        assert done.ended_at is not None
        assert done.created_at <= done.started_at <= done.ended_at
        assert done.ran_seconds > 0
        replicas = await bench.engines[engine].replicas(job.uid)
        assert [replica.attempts[0].exit_code for replica in replicas] == [0, 0]
        assert job.id in [known.id for known in await bench.engines[engine].jobs()]
        assert {summary.phase for ident, summary in bench.heard if ident == job.id and summary} >= {"Succeeded"}
