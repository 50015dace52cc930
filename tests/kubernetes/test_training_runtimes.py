"""Images of the training runtimes of a cluster, which the form offers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kubernetes.fakeapi import Json, refuse
from tests.kubernetes.fakecluster import FakeCluster, kubeflow

pytestmark = pytest.mark.asyncio

BASE = "/apis/trainer.kubeflow.org/v1alpha1"


def runtime(name: str, image: object, framework: str | None = "torch", namespace: str | None = None) -> Json:
    """Return a runtime as Kubeflow Trainer installs it, with a job that loads a dataset first."""

    def job(name: str, step: str, containers: object) -> Json:
        metadata = {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": step}}
        return {
            "name": name,
            "template": {"metadata": metadata, "spec": {"template": {"spec": {"containers": containers}}}},
        }

    jobs = [
        job("dataset-initializer", "dataset-initializer", [{"name": "dataset-initializer", "image": "loads:1"}]),
        job("node", "trainer", [{"name": "node", "image": image}, {"name": "side", "image": "side:1"}]),
    ]
    metadata: Json = {"name": name, "labels": {"trainer.kubeflow.org/framework": framework} if framework else {}}
    if namespace is not None:
        metadata["namespace"] = namespace
    return {"metadata": metadata, "spec": {"template": {"spec": {"replicatedJobs": jobs}}}}


async def test_the_images_of_training_runtimes(tmp_path: Path) -> None:
    async with FakeCluster() as server, kubeflow(server, tmp_path) as engine:
        assert (cluster := (await engine.info()).cluster) is not None and cluster.images == []
        groups = [{"name": "trainer.kubeflow.org", "versions": [{"version": "v1alpha1"}]}]
        server.instead["/apis"] = lambda call: call.answer(200, {"groups": groups})
        server.items[f"{BASE}/clustertrainingruntimes"] = [
            runtime("torch-distributed", "torch:2"),
            runtime("jax-distributed", "jax:1", "jax"),
            runtime("unlabelled", "own:1", None),
            runtime("broken", ["a"]),
            {"metadata": {"name": "empty"}, "spec": {"template": {"spec": {"replicatedJobs": "none"}}}},
        ]
        own = f"{BASE}/namespaces/lab/trainingruntimes"
        server.instead[own] = refuse(403, "Forbidden", "no")
        await engine.refresh()
        assert (cluster := (await engine.info()).cluster) is not None
        assert [(each.image, each.runtime) for each in cluster.images] == [
            ("torch:2", "torch-distributed"),
            ("own:1", "unlabelled"),
        ]
        del server.instead[own]
        server.items[own] = [runtime("ours", "ours:1", namespace="lab")]
        await engine.refresh()
        assert (cluster := (await engine.info()).cluster) is not None
        assert (cluster.images[0].image, cluster.images[0].namespace) == ("ours:1", "lab")
