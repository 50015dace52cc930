"""What Kubeflow Trainer tells: the images of training runtimes, which the form offers, and the progress of a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.job import Progress
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.trainjob import TrainJob
from tests.kubernetes.fakeapi import Json, refuse
from tests.kubernetes.fakecluster import JOBS, FakeCluster, kubeflow, training

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

    gpus = {"resources": {"limits": {"nvidia.com/gpu": 4, "cpu": "8"}}}
    jobs = [
        job("dataset-initializer", "dataset-initializer", [{"name": "dataset-initializer", "image": "loads:1"}]),
        job(
            "node",
            "trainer",
            [{"name": "node", "image": image, **gpus}, {"name": "side", "image": "side:1"}],
        ),
    ]
    metadata: Json = {"name": name, "labels": {"trainer.kubeflow.org/framework": framework} if framework else {}}
    if namespace is not None:
        metadata["namespace"] = namespace
    policy = {"numNodes": 2, "torch": {"numProcPerNode": "auto"}}
    return {"metadata": metadata, "spec": {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": jobs}}}}


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
        assert [(each.framework, each.nodes, each.processes, each.gpus) for each in cluster.images] == [
            ("torch", 2, "auto", 4),
            (None, 2, "auto", 4),
        ]
        del server.instead[own]
        server.items[own] = [runtime("ours", "ours:1", namespace="lab")]
        await engine.refresh()
        assert (cluster := (await engine.info()).cluster) is not None
        assert (cluster.images[0].image, cluster.images[0].namespace) == ("ours:1", "lab")


class Reporting(Kubeflow):
    """A kind whose objects have the progress, as those of Trainer have it."""

    def progress(self, manifest: Json) -> Progress | None:
        return TrainJob().progress(manifest)


async def test_the_progress_in_an_object_counts_more_than_the_log(tmp_path: Path) -> None:
    told = {"progressPercentage": 40, "lastUpdatedTime": "2026-01-01T00:10:00Z"}
    read = Progress(text=Text.verbatim("Epoch 1 of 3"), updated_at=1.8e9)
    async with FakeCluster() as server:
        jobs = [training("told") | {"status": {"trainerStatus": told}}, training("silent")]
        server.items[JOBS] = jobs
        async with kubeflow(server, tmp_path, Reporting) as engine:
            for job in jobs:
                engine._table.note_progress(job["metadata"]["uid"], read)
            seen = {row.name: (await engine.job(row.uid)).progress for row in await engine.jobs()}
            assert seen["silent"] == read
            assert seen["told"] is not None and seen["told"].fraction == 0.4
