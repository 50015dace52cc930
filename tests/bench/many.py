"""Many jobs in a namespace, as labs submit them and training leaves them, and a gate between a lab and the cluster."""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quiet import KUBECTL

from jupyterlab_t9kjob.core.manifests import Context, render
from jupyterlab_t9kjob.core.spec import JobSpec
from tests.kubernetes.harness import Kube

CONNECTIONS = 12
# Kubeflow's operator leaves alone what another manages (training-operator 1.9, `spec.runPolicy.managedBy`).
ELSEWHERE = "kueue.x-k8s.io/multikueue"


def kubectl(kube: Kube, *arguments: str) -> float:
    """Return the seconds that kubectl takes for something; what it says is not kept."""
    started = time.monotonic()
    command = [*KUBECTL, "--kubeconfig", str(kube.kubeconfig), *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - started


def job(number: int, owner: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the manifest of a job as a lab submits it, and the status that it has; most have succeeded."""
    name = f"train-{number:05d}"
    folder = f"/t9k/mnt/projects/vision/{name}"
    spec = JobSpec.model_validate({
        "name": name,
        "display_name": f"resnet50 sweep {number}.py",
        "entrypoint": {"kind": "script", "value": f"{folder}/train.py"},
        "args": ["--epochs", "90", "--batch-size", "256", "--lr", f"0.{number % 97:04d}", f"--log_dir={folder}/runs"],
        "working_dir": folder,
        "env": [{"name": "NCCL_DEBUG", "value": "WARN"}, {"name": "OMP_NUM_THREADS", "value": "8"}],
        "runtime": {"image": "registry.example/team/pytorch:2.8.0-cuda12.8"},
        "replica_specs": [{
            "type": "worker", "replicas": 1 + number % 8,
            "resources": {
                "cpu": {"request": "8", "limit": "16"}, "memory": {"request": "32Gi", "limit": "64Gi"},
                "device": {"name": "nvidia.com/gpu", "count": 8},
            },
        }],
        "torchrun": {"proc_per_node": 8},
        "run_policy": {"backoff_limit": 3, "clean_up": "Unfinished"},
        "tensorboard": {"log_dirs": [f"{folder}/runs"]},
        "mounts": [{"claim": "t9k-mnt", "mount_path": "/t9k/mnt"}],
        "paused": number % 10 == 9,
    })  # fmt: skip
    manifest = render(spec, "kubeflow", context=Context(owner=owner, request_id=uuid.uuid4().hex))
    manifest["spec"]["runPolicy"]["managedBy"] = ELSEWHERE
    return manifest, _status(name, number, 1 + number % 8)


def _status(name: str, number: int, replicas: int) -> dict[str, Any]:
    begun = datetime.now(timezone.utc) - timedelta(minutes=200_000 - 20 * number)
    ended = begun + timedelta(hours=2)

    def condition(kind: str, at: datetime, words: str, status: str = "True") -> dict[str, Any]:
        time = f"{at:%Y-%m-%dT%H:%M:%SZ}"
        said = {"reason": f"PyTorchJob{kind}", "message": f"PyTorchJob {name} {words}."}
        return {"type": kind, "status": status, "lastTransitionTime": time, "lastUpdateTime": time, **said}

    if number % 10 == 9:
        return {
            "conditions": [condition("Created", begun, "is created"), condition("Suspended", begun, "is suspended")]
        }
    end, words = ("Failed", "is failed because 1 Worker replica(s) failed")
    if number % 10 < 8:
        end, words = ("Succeeded", "is successfully completed")
    counts = {"succeeded" if end == "Succeeded" else "failed": 1}
    return {
        "conditions": [
            condition("Created", begun, "is created"),
            condition("Running", begun, "is running", "False"),
            condition(end, ended, words),
        ],
        "replicaStatuses": {"Master": {**counts, "selector": f"training.kubeflow.org/job-name={name}"}}
        | ({"Worker": {counts.popitem()[0]: replicas - 1}} if replicas > 1 else {}),
        "startTime": f"{begun:%Y-%m-%dT%H:%M:%SZ}",
        "completionTime": f"{ended:%Y-%m-%dT%H:%M:%SZ}",
    }


def create_jobs(kube: Kube, owners: Iterable[str]) -> None:
    """Create a job with its status for each owner, many at a time."""

    def create(number: int, owner: str) -> None:
        manifest, status = job(number, owner)
        kube.create("pytorchjobs", manifest)
        kube.patch("pytorchjobs", manifest["metadata"]["name"], {"status": status}, "status")

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for _done in pool.map(create, itertools.count(), owners):
            pass


class Gate:
    """A port of this machine that leads to a cluster on this machine while it is open, and refuses while it is shut."""

    def __init__(self, kube: Kube) -> None:
        self._config = json.loads(kube.kubeconfig.read_text())
        server = urlsplit(self._config["clusters"][0]["cluster"]["server"])
        self._target = (str(server.hostname), server.port or 443)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.open = False
        threading.Thread(target=self._accept, daemon=True).start()

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig that leads through it."""
        self._config["clusters"][0]["cluster"]["server"] = f"https://{self._target[0]}:{self.port}"
        path = folder / "kubeconfig"
        path.write_text(json.dumps(self._config))
        path.chmod(0o600)
        return path

    def _accept(self) -> None:
        while True:
            ours, _ = self._listening.accept()
            if not self.open:
                ours.close()
                continue
            theirs = socket.create_connection(self._target)
            for one, other in ((ours, theirs), (theirs, ours)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        try:
            while data := one.recv(1 << 20):
                other.sendall(data)
        except OSError:
            pass
        finally:
            for each in (one, other):
                each.close()
