"""A Jupyter server that is connected to a cluster, through its API."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.harness import Volume
from tests.local.lab import Lab
from tests.server.conftest import Api, ended

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]

SCRIPT = Path(__file__).parents[2] / "examples" / "mnist_ddp" / "train.py"


def test_a_server_of_its_own_finds_both_engines(start_lab: Callable[..., Lab]) -> None:
    lab = start_lab()
    lab.until_available("t9k", "kubeflow")


async def until_available(api: Api, engine: str) -> None:
    """A server looks for clusters once it runs; nothing calls when it has found one."""
    end = asyncio.get_running_loop().time() + 60
    while True:
        engines = {each["name"]: each for each in (await api("GET", "engines")).json["engines"]}
        if engines[engine]["available"]:
            return
        assert asyncio.get_running_loop().time() < end, engines
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_from_script_to_model(engine: str, api: Api, open_page: Any, volume: Volume, image: str) -> None:
    await until_available(api, engine)
    folder = volume.path / f"on-{engine}"
    folder.mkdir()
    shutil.copy(SCRIPT, folder)
    form = (await api("POST", "launch", "prefill", body={"path": f"on-{engine}/train.py", "engine": engine})).json
    spec = {**form["spec"], "torchrun": {**form["spec"]["torchrun"], "proc_per_node": 1}}
    spec["args"] = [*spec["args"], "--epochs", "1"]
    spec["runtime"] = {**spec["runtime"], "image": image}
    spec["replica_specs"] = [{**spec["replica_specs"][0], "replicas": 2}]
    body = {"engine": engine, "spec": spec, "request_id": f"request-{engine}"}
    answer = await api("POST", "jobs", body=body)
    assert answer.status == 201, answer.json
    page = await open_page("stream")
    page.patience = 180
    job = await ended(page, answer.json["id"])
    assert job["phase"] == "Succeeded", job["reason"]
    (model,) = folder.glob("runs/*/model.pt")
    assert model.stat().st_size > 10_000
    assert list(folder.glob("runs/*/events.out.tfevents.*"))
