"""Seed 001's script, unchanged, as a DDP job of two processes; its `t9k.em` passes on `jupyterlab_t9kjob.em`."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.em.load import read_mapping, read_metrics
from jupyterlab_t9kjob.em_distribution import files
from tests.local.harness import Bench

SCRIPT = Path(__file__).with_name("seed001.py").read_text()


@pytest.mark.asyncio
async def test_seed_001_is_recorded_once_in_the_workspace(bench: Bench) -> None:
    library = bench.root / "library"
    for path, content in files().items():
        (library / path).parent.mkdir(parents=True, exist_ok=True)
        (library / path).write_bytes(content)
    env = [{"name": "PYTHONPATH", "value": str(library)}]
    job = await bench.submit(SCRIPT, torchrun={"proc_per_node": 2}, env=env)
    done = await bench.ended(job.uid)
    assert done.phase == "Succeeded", await bench.output(job.uid, "worker-0.1.rank-0.err")
    [run] = [
        folder
        for folder in (bench.root / ".em/runs").iterdir()
        if f"job-uid={job.uid}" in read_mapping(folder / "metadata.yaml")["labels"]
    ]
    metadata = read_mapping(run / "metadata.yaml")
    assert (metadata["status"], metadata["labels"][0]) == ("Complete", f"job={job.name}")
    hparams = read_mapping(run / "hyperparameters.yaml")
    assert (hparams["batch_size"], hparams["config"]) == (16, {"worker": 2, "backend": "gloo"})
    counts = {
        kind: len(read_metrics((run / path).read_bytes(), final=True).items)
        for kind, path in read_mapping(run / "index.yaml")["metrics"].items()
    }
    assert counts == {"train": 8, "val": 2, "test": 1}
    assert "torch" in read_mapping(run / "platform.yaml")["pypkgs"]
    [output] = metadata["associations"]["output"]
    assert (bench.root / ".em/artifacts" / output["name"] / "model_state_dict.pt").stat().st_size > 100_000
    assert (bench.root / ".em/uploads/em-examples/runs" / run.name / "metadata.yaml").exists()
    assert len(list((bench.root / ".em/runs").iterdir())) == 1
