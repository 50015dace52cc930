"""Jobs of Kubeflow Trainer on a real cluster, through the API of a server within the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_contract import until_available
from tests.patience import PATIENCE
from tests.server.conftest import Api, Page

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("trainer")]

TRAINING = Path(__file__).with_name("cpu_training.py")
WAITING = "trap 'exit 143' TERM; echo node $JOB_COMPLETION_INDEX; until [ -e go ]; do sleep 0.2; done"
ENGINE = "trainer"


class Watched:
    """A job on a page of the server."""

    def __init__(self, api: Api, page: Page, ident: str) -> None:
        self.api, self.page, self.ident = api, page, ident
        page.patience = PATIENCE
        self.last: dict[str, Any] | None = None
        self.subscribed = False

    async def until(self, reached: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        """Wait until the job is as wanted."""
        if not self.subscribed:
            await self.page.send(type="subscribe", details=[self.ident])
            self.subscribed = True
        while not (self.last is not None and reached(self.last) and self.last["pending_action"] is None):
            self.last = (await self.page.until(type="job", id=self.ident))["job"]
        return self.last

    async def until_phase(self, *phases: str) -> dict[str, Any]:
        return await self.until(lambda job: job["phase"] in phases)

    async def replicas(self) -> list[dict[str, Any]]:
        return (await self.api("GET", "jobs", self.ident, "replicas")).json["replicas"]

    async def logs(self, ending: str) -> str:
        """Return the logs of the streams whose ids end so."""
        streams = (await self.api("GET", "jobs", self.ident, "logs")).json["streams"]
        ids = [each["id"] for each in streams if each["id"].endswith(ending)]
        return "".join([(await self.api("GET", "jobs", self.ident, "logs", each)).body.decode() for each in ids])


async def submitted(api: Api, open_page: Any, spec: dict[str, Any]) -> Watched:
    answer = await api("POST", "jobs", body={"engine": ENGINE, "spec": spec, "request_id": f"request-{spec['name']}"})
    assert answer.status == 201, answer.json
    return Watched(api, await open_page("stream"), answer.json["id"])


async def prefilled(api: Api, path: str, **fields: Any) -> dict[str, Any]:
    """Return what the form makes of a script, for two small nodes."""
    await until_available(api, ENGINE)
    spec = (await api("POST", "launch", "prefill", body={"path": path, "engine": ENGINE})).json["spec"]
    small = {"cpu": {"request": "50m"}, "memory": {"request": "256Mi"}}
    return {**spec, "replica_specs": [spec["replica_specs"][0] | {"replicas": 2, "resources": small}], **fields}


async def test_two_nodes_of_two_processes(
    api: Api, open_page: Callable[..., Awaitable[Page]], volume: Volume, image: str
) -> None:
    """They train with DDP, in the image of the runtime, and each rank has its log."""
    (volume.path / "train.py").write_text(TRAINING.read_text())
    spec = await prefilled(api, "train.py", torchrun={"proc_per_node": 2}, runtime={}, args=[])
    job = await submitted(api, open_page, spec)
    done = await job.until_phase("Succeeded", "Failed")
    assert done["phase"] == "Succeeded", done["reason"]
    assert [each["name"] for each in await job.replicas()] == ["node-0", "node-1"]
    text = await job.logs(".out")
    for rank in range(4):
        assert f"rank {rank} of 4, local rank {rank % 2}\n" in text
    assert "trained on 4\n" in text
    events = (await api("GET", "jobs", job.ident, "events")).json["events"]
    assert {(each["object"] or "").partition(" ")[0] for each in events} >= {"Job", "Pod"}
    assert (await api("DELETE", "jobs", job.ident)).status < 300


async def test_a_lost_pod_a_pause_and_an_end(
    api: Api, open_page: Callable[..., Awaitable[Page]], volume: Volume, image: str, kube: Kube
) -> None:
    (volume.path / "wait.py").touch()
    entrypoint = {"kind": "command", "value": "sh"}
    spec = await prefilled(api, "wait.py", entrypoint=entrypoint, args=["-c", WAITING], torchrun=None, name="waits")
    job = await submitted(api, open_page, spec | {"working_dir": "/t9k/mnt", "runtime": {"image": image}})
    await job.until_phase("Running")
    pod = (await job.replicas())[1]["pod"]["name"]
    await asyncio.to_thread(kube.delete, "pods", pod, gracePeriodSeconds=0)
    await job.until(lambda one: one["replicas_running"] < 2)
    again = await job.until(lambda one: one["replicas_running"] == 2)
    assert again["phase"] == "Running"
    second = (await job.replicas())[1]
    assert len(second["attempts"]) == 2 and second["pod"]["name"] != pod

    assert (await api("POST", "jobs", job.ident, "pause")).status == 200
    await job.until_phase("Paused")
    assert (await api("POST", "jobs", job.ident, "resume")).status == 200
    await job.until_phase("Running")
    (volume.path / "go").touch()
    done = await job.until_phase("Succeeded", "Failed")
    assert done["phase"] == "Succeeded", done["reason"]
    assert {"node 0", "node 1"} <= set((await job.logs(".out")).splitlines())


async def test_others_jobs_and_refusals(
    api: Api, open_page: Callable[..., Awaitable[Page]], kube: Kube, image: str
) -> None:
    """A job that the `kubeflow` SDK would make is shown; a runtime that the cluster lacks is named."""
    await until_available(api, ENGINE)
    command = ["bash", "-c", "echo from node $JOB_COMPLETION_INDEX"]
    theirs = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "k1b2c3"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, "trainer": {"command": command}},
    }
    uid = (await asyncio.to_thread(kube.create, "trainjobs", theirs))["metadata"]["uid"]
    job = Watched(api, await open_page("stream"), f"{ENGINE}:{kube.namespace}:k1b2c3:{uid}")
    done = await job.until_phase("Succeeded")
    assert (done["owner"], done["spec"]["replica_specs"][0]["replicas"]) == (None, 1)
    assert "from node 0\n" in await job.logs(".out")

    other = {**theirs, "metadata": {"name": "other"}, "spec": {**theirs["spec"], "runtimeRef": {"name": "none-such"}}}
    body = {"engine": ENGINE, "manifest": json.dumps(other), "request_id": "request-none-such"}
    answer = await api("POST", "jobs", body=body)
    assert (answer.status, answer.json["field"]) == (422, "/manifest/spec/runtimeRef/name"), answer.json
    assert answer.json["message"] == "There is no runtime none-such in the cluster."
