"""GPUs as the API gives them, told by a pretended driver."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.local.harness import pretended_driver
from tests.server.conftest import Api


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with pretended_driver(monkeypatch) as module:
        yield module


async def test_a_notebook_that_uses_a_gpu_is_named(driver: Any, api: Api, jp_fetch: Any, jp_serverapp: Any) -> None:
    body = '{"path": "work/eda.ipynb", "name": "eda.ipynb", "type": "notebook", "kernel": {"name": "python3"}}'
    await jp_fetch("api", "sessions", method="POST", body=body)
    kernels = jp_serverapp.kernel_manager
    (ident,) = kernels.list_kernel_ids()
    pid = kernels.get_kernel(ident).provisioner.pid
    driver.State.devices = [driver.Device("GPU-a", compute=[pid]), driver.Device("GPU-b")]
    try:
        (engine,) = (await api("GET", "engines")).json["engines"]
        devices = engine["machine"]["devices"]
        assert [device["used_by"] for device in devices] == ["a notebook kernel: eda.ipynb", None]
    finally:
        await kernels.shutdown_all()
