"""A job in a cluster through the API of a server within the test: every answer and message keeps to the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jupyterlab_t9kjob.core.capacity import Capacity
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.paper import GPU, Paper, container, pool_of
from tests.patience import PATIENCE
from tests.server.conftest import Api, Page, ended

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]


async def until_available(api: Api, engine: str) -> None:
    """Wait for the engine: a server looks for clusters once it runs, and does not call when it has found one."""
    end = asyncio.get_running_loop().time() + PATIENCE
    while True:
        engines = {each["name"]: each for each in (await api("GET", "engines")).json["engines"]}
        if engines[engine]["available"]:
            return
        assert asyncio.get_running_loop().time() < end, engines
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_a_job_from_script_to_log(engine: str, api: Api, open_page: Any, volume: Volume, image: str) -> None:
    await until_available(api, engine)
    (volume.path / f"{engine}.py").write_text("import os; print('hello from', os.environ['RANK'])")
    form = (await api("POST", "launch", "prefill", body={"path": f"{engine}.py", "engine": engine})).json
    spec = form["spec"] | {"torchrun": None, "runtime": {"image": image}}
    spec["replica_specs"] = [spec["replica_specs"][0] | {"replicas": 2}]
    answer = await api("POST", "jobs", body={"engine": engine, "spec": spec, "request_id": f"request-{engine}"})
    assert answer.status == 201, answer.json
    ident = answer.json["id"]

    page = await open_page("stream")
    page.patience = PATIENCE
    job = await ended(page, ident)
    assert job["phase"] == "Succeeded", job["reason"]
    assert ident in [each["id"] for each in (await api("GET", "jobs", engine=engine)).json["jobs"]]
    for part in ("replicas", "events", "manifest", "logs"):
        answer = await api("GET", "jobs", ident, part)
        assert answer.status == 200, answer.json
    streams = (await api("GET", "jobs", ident, "logs")).json["streams"]
    texts = [(await api("GET", "jobs", ident, "logs", each["id"])).body.decode() for each in streams]
    assert "hello from 0\n" in texts  # the job ends with its master, whether the other has begun or not

    assert (await api("DELETE", "jobs", ident)).status < 300


@pytest.mark.alone
async def test_pages_are_told(kube: Kube, paper: Paper, open_page: Callable[..., Awaitable[Page]], api: Api) -> None:
    product = f"A10-of-{kube.namespace}"
    node = paper.node("one", labels={"nvidia.com/gpu.product": product}, **{GPU: "8"})
    await until_available(api, "kubeflow")
    pages = [await open_page("stream") for _ in range(5)]

    async def until_free(page: Page, free: float) -> None:
        while True:
            pool = pool_of(Capacity(**((await page.receive())["capacity"] or {"time": 1})), product)
            if pool is not None and pool.amount.free == free:
                return

    for page in pages:
        await page.send(type="subscribe", capacity=True)
    for page in pages:
        await until_free(page, 8)
    paper.pod("some", node, container(**{GPU: "3"}))
    for page in pages:
        await until_free(page, 5)
    told = (await api("GET", "cluster", "nodes", engine="kubeflow")).json["nodes"]
    (amount,) = [one for each in told if each["name"] == node for one in each["amounts"] if one["resource"] == GPU]
    assert amount == {"resource": GPU, "total": 8, "unhealthy": 0, "allocated": 3, "free": 5}
