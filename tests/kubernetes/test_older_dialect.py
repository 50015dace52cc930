"""The manifests of T9k's older page of the module, as they are written there, in the dialect that has `enable`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import yaml

from jupyterlab_t9kjob.core.errors import Conflict
from jupyterlab_t9kjob.core.spec import Entrypoint, Torchrun
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.alone, pytest.mark.usefixtures("older_dialect")]

DATA = Path(__file__).parents[1] / "unit" / "manifests" / "data"
TRAINING = Path(__file__).with_name("cpu_training.py")


@pytest.fixture(scope="module")
def image_with_script(kube: Kube, image: str) -> None:
    """Image with the script in its working directory, as the documentation page assumes."""
    kube.create("configmaps", {"metadata": {"name": "files"}, "data": {"dist_mnist.py": TRAINING.read_text()}})
    kube.choose(image=image, files="files/dist_mnist.py", fit="true")


def logs(kube: Kube, job: str) -> str:
    return "".join(
        kube.log(pod["metadata"]["name"]) for pod in kube.list("pods", labels=f"tensorstack.dev/owner-name={job}")
    )


def test_seed_004(kube: Kube, image_with_script: None) -> None:
    kube.apply(DATA / "seed004.yaml")
    job = kube.until_phase("pytorch-example", "Succeeded", "Failed")
    log = logs(kube, "pytorch-example")
    assert job["status"]["phase"] == "Succeeded", log
    for rank in range(4):
        assert f"rank {rank} of 4, local rank None\n" in log


def test_seed_004_with_torchrun(kube: Kube, image_with_script: None) -> None:
    """The page's best practice, switched over to torchrun: the command is ignored, the arguments are the script."""
    head = yaml.safe_load((DATA / "seed004.yaml").read_text()) | {"metadata": {"name": "best-practice"}}
    text = (DATA / "seed004-best-practice.txt").read_text().replace("...", "")
    kube.apply(
        head | yaml.safe_load(text.replace("enable: false", "enable: true").replace("replicas: 4", "replicas: 1"))
    )
    job = kube.until_phase("best-practice", "Succeeded", "Failed")
    log = logs(kube, "best-practice")
    assert job["status"]["phase"] == "Succeeded", log
    assert "rank 0 of 1, local rank 0\n" in log


def test_what_the_schema_does_not_know_is_pruned(kube: Kube) -> None:
    """The page as a whole passes; the other dialect's spelling is dropped without a word, unless one is strict."""
    whole = (DATA / "seed004-whole.yaml").read_text()
    kube.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=whole)
    other = whole.replace("enable: true", "enabled: true")
    with pytest.raises(AssertionError, match=r'unknown field "spec.torchrunConfig.enabled"'):
        kube.kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", text=other)
    kept = yaml.safe_load(
        kube.kubectl("apply", "--dry-run=server", "--validate=false", "-o", "yaml", "-f", "-", text=other)
    )
    assert "enabled" not in kept["spec"]["torchrunConfig"]
    assert kept["spec"]["torchrunConfig"]["minNodes"] == 1


@pytest.mark.asyncio
async def test_the_engine_speaks_it(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        engine = bench.engines["t9k"]
        info = await engine.info()
        assert info.cluster is not None
        assert "older spelling" in info.cluster.found
        assert not info.capabilities["pause"].supported
        program = Entrypoint(kind="command", value="sleep")
        job = await bench.submit("t9k", bench.spec(torchrun=Torchrun(), entrypoint=program, args=["1000"]))
        there = await asyncio.to_thread(kube.find, "pytorchtrainingjobs", job.name)
        assert there["spec"]["torchrunConfig"]["enable"] is True
        running = await bench.until_phase(job, "Running")
        assert "pause" not in running.actions
        assert "stop" not in running.actions
        with pytest.raises(Conflict) as refused:
            await engine.act(job.uid, "stop")
        assert "delete it" in (refused.value.hint or "")
        # a manifest in the current spelling is put into the cluster's
        other = await bench.submit(
            "t9k",
            bench.spec("true", torchrun=Torchrun(proc_per_node=2)),
            edit=lambda manifest: manifest["spec"].update(torchrunConfig={"enabled": True, "procPerNode": "1"}),
        )
        there = await asyncio.to_thread(kube.find, "pytorchtrainingjobs", other.name)
        assert there["spec"]["torchrunConfig"]["enable"] is True
        await engine.act(job.uid, "delete")
        await engine.act(other.uid, "delete")
