"""JobSets: all replicas of a job start again together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict
from jupyterlab_t9kjob.core.manifests.kinds.indexed_job import COMPLETION_INDEX
from jupyterlab_t9kjob.core.spec import ReplicaSpec, RunPolicy
from jupyterlab_t9kjob.engines.kubernetes.objects.jobset.jobset import JobSet
from jupyterlab_t9kjob.engines.kubernetes.objects.trainjob import TrainJob
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_indexed_job import (
    IDLES,
    assert_trained,
    end,
    pause_and_resume,
    submit_training,
    until_started,
    without,
)
from tests.kubernetes.test_rights import rules
from tests.local.lab import Lab

pytestmark = [pytest.mark.cluster]

ENGINE = "jobset"
ONLY = {ENGINE: JobSet}
NAME = "jobset.sigs.k8s.io/jobset-name"


def plain(name: str, image: str) -> dict[str, Any]:
    """Return a suspended JobSet that is none of ours."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": image, "command": ["true"]}]}
    jobs = [{"name": "worker", "template": {"spec": {"template": {"spec": pod}}}}]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"suspend": True, "replicatedJobs": jobs},
    }


@pytest.fixture(autouse=True)
def webhook(trainer: None, kube: Kube, image: str) -> None:
    """Wait until JobSet's webhook answers, which takes a while on a loaded machine."""
    kube.ask("POST", kube.path("jobsets"), plain("asked", image), dryRun="All")


def test_two_nodes_train(kube: Kube, volume: Volume, image: str, start_lab: Callable[..., Lab]) -> None:
    """From the form to the model, through a pause, a killed pod and a deletion."""
    lab = start_lab(kubernetes_owner="tester")
    made = submit_training(lab, ENGINE, volume, image)
    job, name = made["id"], made["name"]
    until_started(volume)

    pause_and_resume(lab, job)
    until_started(volume)

    (second,) = kube.list("pods", labels=f"{NAME}={name},{COMPLETION_INDEX}=1")
    kube.delete("pods", second["metadata"]["name"])
    lab.until_part((job, "replicas"), lambda part: all(len(each["attempts"]) == 3 for each in part["replicas"]))
    again = lab.until(job, lambda seen: seen["phase"] == "Running" and seen["replicas_running"] == 2)
    assert (again["attempt"], again["restarts"]) == (3, 1)
    until_started(volume)
    (volume.path / "go").touch()
    done = lab.until(job, lambda seen: seen["phase"] in ("Succeeded", "Failed"))
    assert (done["phase"], done["restarts"]) == ("Succeeded", 1), done["reason"]
    assert_trained(lab, job, volume)
    events = lab.ask("GET", "jobs", job, "events").json["events"]
    assert {(each["object"] or "").partition(" ")[0] for each in events} >= {"JobSet", "Job", "Pod"}

    assert lab.ask("DELETE", "jobs", job).status == 202
    kube.until("jobsets", name, lambda found: found is None)
    kube.until_gone("pods", labels=f"{NAME}={name}")


@pytest.mark.asyncio
async def test_how_jobs_end(kube: Kube, image: str, tmp_path: Path) -> None:
    """By exit codes, restarts and deadlines, all at once."""
    by_code = "trap 'exit 143' TERM; until [ -s /tmp/code ]; do sleep 0.2; done; exit $(cat /tmp/code)"
    async with serving(kube, image, tmp_path, kinds=ONLY) as bench:
        late = await bench.submit(ENGINE, bench.spec(IDLES, run_policy=RunPolicy(active_deadline_seconds=12)))
        once = await bench.submit(ENGINE, bench.spec("exit 3"))
        group, limit = ReplicaSpec(restart_policy="OnFailure"), RunPolicy(backoff_limit=1)
        often = await bench.submit(ENGINE, bench.spec("exit 3", replica_specs=[group], run_policy=limit))
        group = ReplicaSpec(replicas=2, restart_policy="ExitCode")
        codes = await bench.submit(ENGINE, bench.spec(by_code, replica_specs=[group]))
        await bench.until(codes, lambda seen: seen.replicas_running == 2)
        await end(kube, bench, codes, 1, 138)
        await bench.until(codes, lambda seen: seen.restarts == 1 and seen.attempt == 2 and seen.replicas_running == 2)
        await end(kube, bench, codes, 1, 1)
        expected = [
            (codes, "ExitCode", "worker-1 ended with exit code 1", "itself", 1),
            (once, "ExitCode", "The command ended with exit code 3", "itself", 0),
            (often, "BackoffLimitExceeded", "The command ended with exit code 3", "itself", 1),
            (late, "DeadlineExceeded", "Ended at its deadline of 12 s", "deadline", 0),
        ]
        for job, code, sentence, by, restarts in expected:
            ended = await bench.until(job, lambda seen: seen.phase == "Failed" and seen.replicas_running == 0)
            assert ended.reason is not None
            assert (ended.reason.code, ended.reason.sentence, ended.ended_by) == (code, sentence, by)
            assert ended.restarts == restarts


@pytest.mark.asyncio
async def test_names_and_jobs_of_others(kube: Kube, image: str, tmp_path: Path) -> None:
    theirs = plain("theirs", image)
    uid = (await asyncio.to_thread(kube.create, "jobsets", theirs))["metadata"]["uid"]
    async with serving(kube, image, tmp_path, kinds=ONLY) as bench:
        engine = bench.engines[ENGINE]
        with pytest.raises(Conflict):
            await bench.submit(ENGINE, bench.spec("true", name="theirs"))
        job = await bench.submit(ENGINE, bench.spec(IDLES, paused=True))
        # The manifest makes the same job for somebody who applies it.
        manifest = (await engine.manifest(job.uid)).submitted
        metadata = {**manifest["metadata"], "name": f"{job.name}-2"}
        made = await asyncio.to_thread(kube.create, "jobsets", {**manifest, "metadata": metadata})
        await bench.until_known(ENGINE, made["metadata"]["uid"])
        listed = [each.uid for each in await engine.jobs()]
        assert job.uid in listed and uid not in listed


@pytest.mark.asyncio
async def test_rights(kube: Kube, image: str, tmp_path: Path) -> None:
    account = await asyncio.to_thread(Account, kube, "lab", tmp_path)
    await account.may(*without(("create", "services"), ("get", "services"), ("list", "jobs"), ("create", "jobs")))
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, kinds=ONLY) as bench:
        job = await bench.submit(ENGINE, bench.spec("true", replica_specs=[ReplicaSpec(replicas=2)]))
        await bench.engines[ENGINE].act(job.uid, "delete")
    await account.may(*rules())
    kinds = {ENGINE: JobSet, "trainer": TrainJob}
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, kinds=kinds) as bench:
        info = await bench.engines[ENGINE].info()
        assert not info.available
        assert info.reason == "You don't have permission to see or create JobSets (jobset.x-k8s.io)."
        assert info.cluster is not None and info.cluster.stale_since is None
        assert (await bench.engines["trainer"].info()).available
