"""A namespace of the cluster that KUBECONFIG names, with jobs that nobody runs, for the benchmarks."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.kubernetes.harness import Kube

OWNER = "bench"
MINE = f"--T9kJobApp.kubernetes_owner={OWNER}"
"""Makes a lab count these jobs as the user's own."""
KUBECTL = shlex.split(os.environ.get("T9KJOB_KUBECTL", "kubectl"))


@contextmanager
def namespace() -> Iterator[Kube]:
    """Make a namespace; what it gives has a kubeconfig with it. All that is in it goes with it."""
    kubeconfig = Path(os.environ["KUBECONFIG"])
    with tempfile.TemporaryDirectory() as folder:
        kube = Kube(kubeconfig, f"bench-{uuid.uuid4().hex[:5]}", Path(folder))
        kube.create("namespaces", {"metadata": {"name": kube.namespace}})
        try:
            kube.until("serviceaccounts", "default", lambda account: account is not None)
            yield kube
        finally:
            for kind in ("pytorchjobs", "pods"):
                _empty(kube, kind)
            kube.delete("namespaces", kube.namespace)
            kube.close()


def _empty(kube: Kube, kind: str) -> None:
    """Delete all of a kind; ten thousand are more than one request has time for."""
    while kube.ask("GET", kube.path(kind), limit=1)["items"]:
        try:
            kube.ask("DELETE", kube.path(kind), {"gracePeriodSeconds": 0})
        except httpx.RemoteProtocolError:
            continue  # the API server had no more time, and says nothing
        except httpx.HTTPStatusError as error:
            if error.response.status_code != 504:
                raise


def quiet_job(name: str) -> dict[str, Any]:
    """Return a PyTorchJob that the training operator leaves to somebody else: its status is what we write."""
    container = {"name": "pytorch", "image": "test.local/busybox:1", "command": ["sleep", "60"]}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name, "annotations": {"jupyterlab-t9kjob/owner": OWNER}},
        "spec": {
            "runPolicy": {"managedBy": "kueue.x-k8s.io/multikueue"},
            "pytorchReplicaSpecs": {
                "Master": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
            },
        },
    }


def make_quiet_jobs(kube: Kube, count: int) -> None:
    """Make so many of them, ``quiet-0000`` and on."""
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: kube.create("pytorchjobs", quiet_job(f"quiet-{number:04d}")), range(count)))
