"""GPUs as the API gives them, told by a pretended driver."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.local.harness import pretended_driver
from tests.patience import PATIENCE
from tests.server.conftest import Api, Page


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "device_pool": None, "grace_seconds": 10.0}
    return jp_server_config


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with pretended_driver(monkeypatch) as module:
        yield module


async def test_a_notebook_that_uses_a_gpu_is_named(driver: Any, api: Api, jp_fetch: Any, jp_serverapp: Any) -> None:
    body = '{"path": "work/eda.ipynb", "name": "eda.ipynb", "type": "notebook", "kernel": {"name": "python3"}}'
    await jp_fetch("api", "sessions", method="POST", body=body, request_timeout=PATIENCE)
    kernels = jp_serverapp.kernel_manager
    (ident,) = kernels.list_kernel_ids()
    pid = kernels.get_kernel(ident).provisioner.pid
    driver.State.devices = [driver.Device("GPU-a", compute=[pid]), driver.Device("GPU-b")]
    try:
        engine = next(each for each in (await api("GET", "engines")).json["engines"] if each["name"] == "local")
        devices = engine["machine"]["devices"]
        assert [device["used_by"] for device in devices] == ["a notebook kernel: eda.ipynb", None]
    finally:
        await kernels.shutdown_all()


async def test_pages_hear_at_once_who_has_a_device(
    driver: Any,
    api: Api,
    open_page: Callable[..., Awaitable[Page]],
    jp_root_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from jupyterlab_t9kjob.jobs.feed import feed

    driver.State.devices = [driver.Device(f"GPU-{uuid.uuid4()}")]
    monkeypatch.setattr(feed, "ENGINES_INTERVAL", 3600.0)
    (jp_root_dir / "train.py").write_text("import time; time.sleep(600)")
    page = await open_page("stream")
    await page.send(type="subscribe")
    snapshot = await page.until(type="snapshot")

    async def used_by(name: str | None) -> None:
        while True:
            engines = (await page.until(type="delta"))["engines"]
            if engines and engines[0]["machine"]["devices"][0]["used_by"] == name:
                return

    form = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json
    groups = [{"resources": {"device": {"count": 1}}}]
    spec = {**form["spec"], "torchrun": None, "replica_specs": groups}
    answer = await api("POST", "jobs", body={"spec": spec, "request_id": "request-device"})
    assert answer.status == 201, answer.json
    job = answer.json
    assert snapshot["engines"][0]["machine"]["devices"][0]["used_by"] is None
    await used_by(job["name"])
    seen = (await api("GET", "jobs", job["id"])).json
    assert (seen["devices"]["count"], seen["devices_held"]) == (1, 1)
    capacity = (await api("GET", "cluster", "capacity", engine="local")).json
    amount = {"resource": "nvidia.com/gpu", "total": 1.0, "unhealthy": 0.0, "allocated": 1.0, "free": 0.0}
    assert [(pool["amount"], pool["mine"]) for pool in capacity["pools"]] == [(amount, 1.0)]
    assert [one["resource"] for one in capacity["amounts"]] == ["cpu", "memory"]
    (node,) = (await api("GET", "cluster", "nodes", engine="local")).json["nodes"]
    assert amount in node["amounts"]
    await api("POST", "jobs", job["id"], "stop")
    await used_by(None)
    assert (await api("GET", "jobs", job["id"])).json["devices_held"] == 0
