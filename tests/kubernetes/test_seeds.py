"""The manifest of T9k's get-started page, as it is written there, in the current dialect."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.kubernetes.harness import Kube, Volumes

pytestmark = pytest.mark.cluster

SEED = Path(__file__).parents[1] / "unit" / "manifests" / "data" / "seed003.yaml"
TRAINING = Path(__file__).with_name("cpu_training.py")


def test_seed_003(kube: Kube, volumes: Volumes, image: str, controller: object) -> None:
    kube.choose(image=image, fit="true")
    data = volumes.make("mnist").path
    shutil.copy(TRAINING, data / "torch_mnist_trainingjob.py")
    kube.apply(SEED)
    job = kube.until_phase("mnist", "Succeeded", "Failed")
    replica = job["status"]["tasks"][0]["replicas"][0]
    log = kube.log(replica["name"])
    assert job["status"]["phase"] == "Succeeded", log
    for rank in range(4):
        assert f"rank {rank} of 4, local rank {rank}\n" in log
    assert (data / "model_state_dict.pt").stat().st_uid == 1000
    assert list((data / "log").glob("events.out.tfevents.*"))

    pod = kube.find("pods", replica["name"])
    assert pod["metadata"]["uid"] == replica["uid"]
    assert pod["metadata"]["labels"]["job-role"] == "master"
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"nvidia.com/gpu": "4"}
    board = job["status"]["tensorboard"]
    assert (board["ready"], board["reason"], board["action"]) == (True, "DependentReady", "NOP")
    assert kube.find("tensorboards", board["dependent"]["name"])["spec"]["logDir"]["pvc"][0]["subPath"] == ["./log"]
