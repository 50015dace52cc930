"""DDP over two pods through kubectl alone, for each kind: the other tests of this folder rely on it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.harness import Kube, Volume

pytestmark = pytest.mark.cluster

SCRIPT = Path(__file__).parents[2] / "examples" / "mnist_ddp" / "train.py"


def container(image: str, name: str, **more: Any) -> dict[str, Any]:
    mounts = [{"name": "data", "mountPath": "/t9k/mnt"}, {"name": "shm", "mountPath": "/dev/shm"}]
    # Without a request a container gets next to no CPU beside the tests whose containers have one.
    small = {"requests": {"cpu": "50m", "memory": "128Mi"}}
    fields = {"workingDir": f"/t9k/mnt/{name}", "volumeMounts": mounts, "resources": small}
    return {"name": name, "image": image, **fields, **more}


def template(*containers: dict[str, Any]) -> dict[str, Any]:
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]
    return {"spec": {"securityContext": {"runAsUser": 1000}, "containers": list(containers), "volumes": volumes}}


def place_script(volume: Volume, folder: str) -> Path:
    place = volume.path / folder
    place.mkdir(exist_ok=True)  # a repeated test finds it
    place.chmod(0o777)
    shutil.copy(SCRIPT, place)
    return place


def assert_trained(place: Path, log: str) -> None:
    assert "test accuracy" in log
    assert (place / "model.pt").stat().st_size > 10_000
    assert (place / "model.pt").stat().st_uid == 1000
    assert list(place.glob("runs/mnist/events.out.tfevents.*"))


def test_pytorchtrainingjob(kube: Kube, volume: Volume, image: str, controller: object) -> None:
    place = place_script(volume, "t9k")
    pod = template(container(image, "t9k", args=["train.py", "--epochs", "1"]))
    kube.apply({
        "apiVersion": "batch.tensorstack.dev/v1beta1",
        "kind": "PyTorchTrainingJob",
        "metadata": {"name": "mnist"},
        "spec": {
            "torchrunConfig": {"enabled": True, "procPerNode": "1", "maxRestarts": 0},
            "replicaSpecs": [{"type": "worker", "replicas": 2, "restartPolicy": "Never", "template": pod}],
        },
    })  # fmt: skip
    job = kube.until_phase("mnist", "Succeeded", "Failed")
    pods = kube.list("pods", labels="tensorstack.dev/owner-name=mnist")
    log = "".join(kube.log(each["metadata"]["name"]) for each in pods)
    assert job["status"]["phase"] == "Succeeded", log
    assert len(pods) == 2
    for rank in range(2):
        assert f"rank {rank} of 2: gloo on cpu" in log
    assert_trained(place, log)


def test_pytorchjob(kube: Kube, volume: Volume, image: str, kubeflow: None) -> None:
    place = place_script(volume, "pytorch")
    torchrun = ["torchrun", "--nnodes=2", "--nproc-per-node=1", "--rdzv-backend=c10d", "--rdzv-id=mnist"]
    torchrun += ["--rdzv-endpoint=$(MASTER_ADDR):$(MASTER_PORT)", "train.py", "--epochs=1"]
    replica = {
        "replicas": 1,
        "restartPolicy": "Never",
        "template": template(container(image, "pytorch", command=torchrun)),
    }
    kube.apply({
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "mnist"},
        "spec": {
            "runPolicy": {"cleanPodPolicy": "None", "backoffLimit": 0},
            "pytorchReplicaSpecs": {"Master": replica, "Worker": replica},
        },
    })  # fmt: skip
    kube.until_condition("mnist", "Succeeded", "Failed")
    pods = kube.list("pods", labels="training.kubeflow.org/job-name=mnist")
    log = "".join(kube.log(each["metadata"]["name"]) for each in pods)
    job = kube.find("pytorchjobs", "mnist")
    assert [each["type"] for each in job["status"]["conditions"] if each["status"] == "True"][-1] == "Succeeded", log
    assert len(pods) == 2
    for rank in range(2):
        assert f"rank {rank} of 2: gloo on cpu" in log
    assert_trained(place, log)
