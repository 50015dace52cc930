"""Nothing is left of a job that is deleted; and a job is there, and goes on, when the extension is not."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import ClusterTensorBoard, TensorBoardSpec
from tests.kubernetes.engines import MOUNT, PLURALS, WAIT, Bench, serving
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_actions import WAITS

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]
both = pytest.mark.parametrize("engine", ["t9k", "kubeflow"])

# Both ranks say something, and wait until they may end.
SCRIPT = """
import os, sys, time
print("rank", os.environ["RANK"], "is here", flush=True)
while not os.path.exists(sys.argv[0] + ".go"):
    time.sleep(0.1)
print("rank", os.environ["RANK"], "ends", flush=True)
"""
HISTORY = {"events"}
"""What stays of everything for a while."""


def objects(kube: Kube) -> set[str]:
    """Return all objects of the namespace, of every kind that can be made in it."""
    groups = ["/api/v1"]
    groups += [f"/apis/{each['preferredVersion']['groupVersion']}" for each in kube.ask("GET", "/apis")["groups"]]
    found = set()
    for group in groups:
        with suppress(httpx.HTTPStatusError):  # an API whose server is not there just now, or that has just gone
            for kind in kube.ask("GET", group)["resources"]:
                name = kind["name"]
                if kind["namespaced"] and {"list", "create"} <= {*kind["verbs"]} and name not in HISTORY:
                    items = kube.ask("GET", f"{group}/namespaces/{kube.namespace}/{name}")["items"]
                    found |= {f"{name} {item['metadata']['name']}" for item in items}
    return found


async def until_left(kube: Kube, wanted: set[str]) -> None:
    """Wait until the namespace has these objects and no others: what an object owned is collected after it."""
    end = asyncio.get_running_loop().time() + WAIT
    while (there := await asyncio.to_thread(objects, kube)) != wanted:
        assert asyncio.get_running_loop().time() < end, there ^ wanted
        await asyncio.sleep(0.5)


async def until_running(bench: Bench, job: Job) -> Job:
    return await bench.until(job, lambda seen: seen.phase == "Running" and seen.replicas_running == seen.replicas == 2)


async def until_logged(bench: Bench, job: Job, text: str) -> None:
    """Look at the logs until each replica's has a text."""
    engine = bench.engines[job.engine]

    async def wait() -> None:
        while True:
            files = [file for file in await engine.log_sources(job.uid) if file.stream.source == "container"]
            having = {file.stream.replica for file in files if file.path.exists() and text in file.path.read_text()}
            if len(having) == 2:
                return
            await asyncio.sleep(0.1)

    stop = await engine.follow_logs(job.uid, lambda: None)
    try:
        await asyncio.wait_for(wait(), WAIT)
    finally:
        stop()


@both
async def test_of_a_deleted_job_nothing_is_left(
    engine: str, kube: Kube, volume: Volume, image: str, tmp_path: Path
) -> None:
    """While it runs, with its pods, its Service and, of T9k's, its TensorBoard; and when it has ended."""
    boards = ClusterTensorBoard() if engine == "t9k" else None
    board = TensorBoardSpec(log_dirs=[f"{MOUNT}/runs"], cluster=boards)
    async with serving(kube, image, tmp_path, volume) as bench:
        before = await asyncio.to_thread(objects, kube)
        running = await bench.submit(engine, bench.spec(WAITS, replicas=2, tensorboard=board))
        ended = await bench.ended(await bench.submit(engine, bench.spec("true")))
        await until_running(bench, running)
        made = {each.partition(" ")[0] for each in await asyncio.to_thread(objects, kube) - before}
        assert made >= {PLURALS[engine], "pods", "services"} | ({"tensorboards"} if engine == "t9k" else set())
        for job in (running, ended):
            await bench.engines[engine].act(job.uid, "delete")
            await bench.until(job, lambda seen: seen.deleted)
        await until_left(kube, before)


@both
async def test_a_job_goes_on_without_the_extension_and_a_later_one_finds_it(
    engine: str, kube: Kube, volume: Volume, image: str, tmp_path: Path
) -> None:
    """With the home in which it was submitted, and with one that has never heard of it."""
    old, new = tmp_path / "old", tmp_path / "new"
    async with serving(kube, image, old, volume) as bench:
        script = bench.script(SCRIPT, f"found-{engine}.py")
        job = await until_running(bench, await bench.submit(engine, bench.training(script)))
        await until_logged(bench, job, "is here")
        started = [replica.attempts for replica in await bench.engines[engine].replicas(job.uid)]

    def there() -> tuple[Any, dict[str, str]]:
        found = kube.find(PLURALS[engine], job.name)
        assert found is not None
        pods = [pod for pod in kube.list("pods") if job.uid in str(pod["metadata"]["ownerReferences"])]
        return found["metadata"], {pod["metadata"]["uid"]: pod["status"]["phase"] for pod in pods}

    metadata, pods = await asyncio.to_thread(there)
    assert "deletionTimestamp" not in metadata
    assert list(pods.values()) == ["Running"] * 2

    async with serving(kube, image, new, volume) as bench:
        seen = await until_running(bench, job)
        assert (seen.mine, seen.deleted, seen.entrypoint_path) == (True, False, f"found-{engine}.py")
        assert seen.spec == job.spec
        assert job.uid in [each.uid for each in await bench.engines[engine].jobs()]
        await until_logged(bench, job, "is here")
        again, same = await asyncio.to_thread(there)
        assert (again["generation"], again["annotations"]) == (metadata["generation"], metadata["annotations"])
        assert same == pods

    (volume.path / f"found-{engine}.py.go").touch()
    reached = kube.until_phase if engine == "t9k" else kube.until_condition
    await asyncio.to_thread(reached, job.name, "Succeeded")
    for home in (old, new):
        async with serving(kube, image, home, volume) as bench:
            done = await bench.until_phase(job, "Succeeded")
            assert done.mine
            await until_logged(bench, job, "is here")
            replicas = await bench.engines[engine].replicas(job.uid)
            begun = [[attempt.started_at for attempt in replica.attempts] for replica in replicas]
            assert begun == [[attempt.started_at for attempt in attempts] for attempts in started]
            submitted = (await bench.engines[engine].manifest(job.uid)).submitted
            assert submitted is not None
            assert submitted["metadata"]["name"] == job.name
