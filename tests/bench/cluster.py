"""A namespace of its own in the cluster of KUBECONFIG, many jobs in it, and a gate that cuts a lab off from it."""

from __future__ import annotations

import json
import os
import shlex
import socket
import ssl
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

sys.path.insert(0, str(Path(__file__).parents[2]))  # as `lab` finds it: the tree that this file is in

from jupyterlab_t9kjob.core.manifests import Context, render
from jupyterlab_t9kjob.core.spec import JobSpec

KUBECTL = shlex.split(os.environ.get("T9KJOB_KUBECTL", "kubectl"))
JOBS = "/apis/kubeflow.org/v1/namespaces/{}/pytorchjobs"
CONNECTIONS = 12
# Kubeflow's operator leaves alone what another manages (training-operator 1.9, `spec.runPolicy.managedBy`).
ELSEWHERE = "kueue.x-k8s.io/multikueue"


class Cluster:
    """The cluster, and a namespace of it; several threads may ask at once."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.kubeconfig = Path(os.environ["KUBECONFIG"])
        self.config = yaml.safe_load(self.kubeconfig.read_text())
        self.host = urlsplit(self.config["clusters"][0]["cluster"]["server"])
        self._context = ssl.create_default_context(
            cafile=self.config["clusters"][0]["cluster"]["certificate-authority"]
        )
        self._token = self.config["users"][0]["user"]["token"]
        self._local = threading.local()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask for a path; raises RuntimeError where the server refuses."""
        if not hasattr(self._local, "connection"):
            self._local.connection = HTTPSConnection(self.host.hostname, self.host.port, context=self._context)
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        self._local.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self._local.connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500]!r}")
        return json.loads(content)

    def raw(self, path: str) -> float:
        """Return the seconds that `kubectl get --raw` takes."""
        started = time.monotonic()
        command = [*KUBECTL, "--kubeconfig", str(self.kubeconfig), "get", "--raw", path]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - started

    def file(self, folder: Path, port: int | None = None) -> Path:
        """Write a kubeconfig whose default namespace is this one, through another port of this machine if need be."""
        config = json.loads(json.dumps(self.config))
        config["contexts"][0]["context"]["namespace"] = self.namespace
        if port is not None:
            config["clusters"][0]["cluster"]["server"] = f"https://{self.host.hostname}:{port}"
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config))
        path.chmod(0o600)
        return path


@contextmanager
def namespace(what: str) -> Iterator[Cluster]:
    """Make a namespace, and delete it with what is in it."""
    cluster = Cluster(f"bench-{what}-{uuid.uuid4().hex[:5]}")
    cluster.ask("POST", "/api/v1/namespaces", {"metadata": {"name": cluster.namespace}})
    try:
        yield cluster
    finally:
        cluster.ask("DELETE", JOBS.format(cluster.namespace), {"propagationPolicy": "Background"})
        cluster.ask("DELETE", f"/api/v1/namespaces/{cluster.namespace}")


# -- jobs --------------------------------------------------------------------------------------------------------------


def job(number: int, *, owner: str = "somebody") -> tuple[dict[str, Any], dict[str, Any] | None]:
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


def _status(name: str, number: int, replicas: int) -> dict[str, Any] | None:
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


def create(cluster: Cluster, numbers: Iterable[int], make: Callable[[int], tuple[Any, Any]]) -> None:
    """Create jobs with their statuses, many at a time."""
    path = JOBS.format(cluster.namespace)

    def one(number: int) -> None:
        manifest, status = make(number)
        cluster.ask("POST", path, manifest)
        if status is not None:
            cluster.ask("PATCH", f"{path}/{manifest['metadata']['name']}/status", {"status": status})

    with ThreadPoolExecutor(CONNECTIONS) as pool:
        for _done in pool.map(one, numbers):
            pass


# -- a cut -------------------------------------------------------------------------------------------------------------


class Gate:
    """A port of this machine that leads to the API server while it is open, and refuses while it is shut."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self.open = False
        threading.Thread(target=self._accept, daemon=True).start()

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
