"""Indexed Jobs with a headless Service: distributed training in a cluster without an operator."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, NotAllowed
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.manifests.kinds.indexed_job import COMPLETION_INDEX
from jupyterlab_t9kjob.core.spec import ReplicaSpec, RunPolicy
from jupyterlab_t9kjob.engines.kubernetes.objects.indexed_job import IndexedJob
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import Bench, serving
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_rights import RECIPES, rules
from tests.local.lab import Lab
from tests.patience import PATIENCE

pytestmark = [pytest.mark.cluster]

ENGINE = "indexed-job"
ONLY = {ENGINE: IndexedJob}
# Each run of the ranks trains when the test has seen it.
TRAIN = """
import os, time
open(f"/t9k/mnt/started-{os.uname().nodename}-{time.time()}", "w")
while not os.path.exists("/t9k/mnt/go"):
    time.sleep(0.1)
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
torch.set_num_threads(1)
print(f"rank {dist.get_rank()} of {dist.get_world_size()}", flush=True)
model = DistributedDataParallel(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(5):
    inputs = torch.randn(32, 8)
    (model(inputs) - inputs.sum(1, keepdim=True)).square().mean().backward()
    optimizer.step()
if dist.get_rank() == 0:
    torch.save(model.module.state_dict(), "/t9k/mnt/model.pt")
dist.barrier()
os._exit(0)  # pytorch#179291
"""
IDLES = "trap 'exit 143' TERM; sleep 600 & wait"


def until_started(volume: Volume) -> None:
    """Wait until four ranks have started, and forget them."""
    end = time.monotonic() + PATIENCE
    while len(started := list(volume.path.glob("started-*"))) < 4:
        assert time.monotonic() < end, started
        time.sleep(0.2)
    for each in started:
        each.unlink()


def submit_training(lab: Lab, engine: str, volume: Volume, image: str) -> dict[str, Any]:
    """Submit the filled form of `TRAIN` for two replicas of two ranks; return the job."""
    lab.until_available(engine)
    (volume.path / "train.py").write_text(TRAIN)
    filled = lab.ask("POST", "launch", "prefill", body={"path": "train.py", "engine": engine})
    assert filled.status == 200, filled.body
    small = {"cpu": {"request": "50m"}, "memory": {"request": "128Mi"}}
    spec = filled.json["spec"] | {
        "runtime": {"image": image, "pull_policy": "IfNotPresent"},
        "replica_specs": [{"type": "worker", "replicas": 2, "restart_policy": "OnFailure", "resources": small}],
        "torchrun": {"proc_per_node": 2},
    }
    made = lab.ask("POST", "jobs", body={"engine": engine, "spec": spec, "request_id": "two-nodes", "path": "train.py"})
    assert made.status == 201, made.body
    job: dict[str, Any] = made.json
    return job


def pause_and_resume(lab: Lab, job: str) -> None:
    assert lab.ask("POST", "jobs", job, "pause", body={}).status == 200
    lab.until(job, lambda seen: seen["phase"] == "Paused" and not seen["pending_action"])
    assert lab.ask("POST", "jobs", job, "resume", body={}).status == 200
    again = lab.until(job, lambda seen: seen["phase"] == "Running" and seen["replicas_running"] == 2)
    assert (again["attempt"], again["restarts"]) == (2, 0)


def assert_trained(lab: Lab, job: str, volume: Volume) -> None:
    """Look for the model, and for the lines of all ranks."""
    assert (volume.path / "model.pt").stat().st_size
    streams = lab.ask("GET", "jobs", job, "logs").json["streams"]
    texts = "".join(lab.ask("GET", "jobs", job, "logs", each["id"]).body.decode() for each in streams)
    assert all(f"rank {rank} of 4\n" in texts for rank in range(4)), texts


def test_two_nodes_train(kube: Kube, volume: Volume, image: str, start_lab: Callable[..., Lab]) -> None:
    """From the form to the model, through a pause, a killed pod and a deletion."""
    lab = start_lab(kubernetes_owner="tester")
    made = submit_training(lab, ENGINE, volume, image)
    job, name = made["id"], made["name"]
    assert kube.find("services", name)["metadata"]["ownerReferences"][0]["uid"] == made["uid"]
    until_started(volume)

    pause_and_resume(lab, job)

    # Both agents are in the rendezvous: that of the new pod has to be another one there.
    until_started(volume)
    (second,) = kube.list("pods", labels=f"batch.kubernetes.io/job-name={name},{COMPLETION_INDEX}=1")
    kube.delete("pods", second["metadata"]["name"])
    lab.until_part((job, "replicas"), lambda part: len(part["replicas"][1]["attempts"]) == 3)
    until_started(volume)
    (volume.path / "go").touch()
    done = lab.until(job, lambda seen: seen["phase"] in ("Succeeded", "Failed"))
    assert done["phase"] == "Succeeded", done["reason"]
    assert_trained(lab, job, volume)

    assert lab.ask("DELETE", "jobs", job).status == 202
    kube.until("services", name, lambda found: found is None)
    kube.until_gone("pods", labels=f"batch.kubernetes.io/job-name={name}")


async def end(kube: Kube, bench: Bench, job: Job, replica: int, code: int) -> None:
    """Let a replica end with a code."""
    pod = (await bench.engines[job.engine].replicas(job.uid))[replica].pod
    assert pod is not None
    await asyncio.to_thread(kube.write, pod.name, "/tmp/code", str(code))


@pytest.mark.asyncio
async def test_how_jobs_end(kube: Kube, image: str, tmp_path: Path) -> None:
    """By exit codes and restarts; all at once, since Kubernetes waits 10 s before it replaces a pod."""
    by_code = "trap 'exit 143' TERM; until [ -s /tmp/code ]; do sleep 0.2; done; exit $(cat /tmp/code)"
    async with serving(kube, image, tmp_path, kinds=ONLY) as bench:
        once = await bench.submit(ENGINE, bench.spec("exit 3"))
        group, limit = ReplicaSpec(restart_policy="OnFailure"), RunPolicy(backoff_limit=1)
        often = await bench.submit(ENGINE, bench.spec("exit 3", replica_specs=[group], run_policy=limit))
        group = ReplicaSpec(replicas=2, restart_policy="ExitCode")
        codes = await bench.submit(ENGINE, bench.spec(by_code, replica_specs=[group]))
        await bench.until(codes, lambda seen: seen.replicas_running == 2)
        await end(kube, bench, codes, 1, 138)
        seen = await bench.until(codes, lambda seen: seen.restarts == 1 and seen.replicas_running == 2)
        assert seen.phase == "Running"
        await end(kube, bench, codes, 1, 1)
        expected = [
            (codes, "ExitCode", "worker-1 ended with exit code 1", "itself"),
            (once, "ExitCode", "The command ended with exit code 3", "itself"),
            (often, "BackoffLimitExceeded", "The command ended with exit code 3", "itself"),
        ]
        for job, code, sentence, by in expected:
            ended = await bench.until(job, lambda seen: seen.phase == "Failed" and seen.replicas_running == 0)
            assert ended.reason is not None
            assert (ended.reason.code, ended.reason.sentence, ended.ended_by) == (code, sentence, by)
        attempts = (await bench.engines[ENGINE].replicas(codes.uid))[1].attempts
        assert [(one.number, one.exit_code, one.restart) for one in attempts] == [(1, 138, None), (2, 1, 1)]


@pytest.mark.asyncio
async def test_names_and_jobs_of_others(kube: Kube, image: str, tmp_path: Path) -> None:
    container = {"name": "main", "image": image, "command": ["true"]}
    pod = {"restartPolicy": "Never", "containers": [container]}
    theirs = {"metadata": {"generateName": "theirs-"}, "spec": {"suspend": True, "template": {"spec": pod}}}
    await asyncio.to_thread(kube.create, "jobs", theirs)
    service = {"metadata": {"generateName": "taken-"}, "spec": {"clusterIP": "None"}}
    name = (await asyncio.to_thread(kube.create, "services", service))["metadata"]["name"]
    two = [ReplicaSpec(replicas=2)]
    async with serving(kube, image, tmp_path, kinds=ONLY) as bench:
        engine = bench.engines[ENGINE]
        taken = bench.spec("true", name=name, replica_specs=two)
        preview = await engine.preview(taken, kube.namespace, dry_run=True)
        assert ("/spec/name", "NameTaken") in [(check.field, check.code) for check in preview.checks]
        with pytest.raises(Conflict):
            await bench.submit(ENGINE, taken)
        assert await asyncio.to_thread(kube.find, "jobs", name) is None
        # A server is killed before it has created the Service; the request is repeated.
        job = await bench.submit(ENGINE, bench.spec(IDLES, replica_specs=two), request_id="killed")
        await asyncio.to_thread(kube.delete, "services", job.name)
        known = await engine.created_by("killed")
        assert known is not None and known.uid == job.uid
        there = await asyncio.to_thread(kube.find, "services", job.name)
        assert there["metadata"]["ownerReferences"][0]["uid"] == job.uid
        listed = [each.name for each in await engine.jobs()]
        assert job.name in listed and not [each for each in listed if each.startswith("theirs-")]
        # The manifest makes the same job for somebody who applies it.
        manifest = (await engine.manifest(job.uid)).submitted
        made = await asyncio.to_thread(
            kube.create, "jobs", {**manifest, "metadata": {**manifest["metadata"], "name": f"{job.name}-2"}}
        )
        await bench.until_known(ENGINE, made["metadata"]["uid"])


def without(*rights: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the rules of a lab with Jobs and JobSets, without these verbs on these resources."""
    found = []
    for rule in [*rules(), *rules("rbac-jobs.yaml")]:
        for resource in rule["resources"]:
            verbs = [verb for verb in rule["verbs"] if (verb, resource) not in rights]
            found.append({"apiGroups": rule["apiGroups"], "resources": [resource], "verbs": verbs})
    return [rule for rule in found if rule["verbs"]]


@pytest.mark.asyncio
async def test_rights(kube: Kube, image: str, tmp_path: Path) -> None:
    account = await asyncio.to_thread(Account, kube, "lab", tmp_path)
    two = [ReplicaSpec(replicas=2)]
    await account.may(*without())
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, kinds=ONLY) as bench:
        job = await bench.submit(ENGINE, bench.spec("true", replica_specs=two))
        await bench.engines[ENGINE].act(job.uid, "delete")
    await account.may(*without(("create", "services")))
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, kinds=ONLY) as bench:
        engine = bench.engines[ENGINE]
        preview = await engine.preview(bench.spec("true", replica_specs=two), kube.namespace)
        (problem,) = [check for check in preview.checks if check.level == "error"]
        assert problem.field == "/spec/replica_specs/0/replicas" and "create services" in problem.message
        spec = bench.spec("true", replica_specs=two)
        with pytest.raises(NotAllowed, match="create services"):
            await bench.submit(ENGINE, spec)
        assert await asyncio.to_thread(kube.find, "jobs", spec.name) is None
        await bench.submit(ENGINE, bench.spec("true", paused=True))
    await account.may(*without(("get", "services")))
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig, kinds=ONLY) as bench:
        await bench.submit(ENGINE, bench.spec("true", replica_specs=two, paused=True))
    await account.may(*rules())
    async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig) as bench:
        info = await bench.engines[ENGINE].info()
        assert not info.available
        assert info.reason == "You don't have permission to see or create Jobs (batch)."
        assert info.cluster is not None and info.cluster.stale_since is None
        assert (await bench.engines["kubeflow"].info()).available


def test_every_rule_is_explained() -> None:
    text = (RECIPES / "README.md").read_text().partition("## JobSets and Kubernetes Jobs\n")[2].partition("\n## ")[0]
    rule = {
        (verb, resource) for one in rules("rbac-jobs.yaml") for resource in one["resources"] for verb in one["verbs"]
    }
    assert all(f"`{verb}`" in text and f"`{resource}`" in text for verb, resource in rule)
