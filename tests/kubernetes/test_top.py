"""The command `top nodes` with a cluster whose nodes have devices of several kinds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.cli.__main__ import run_program
from tests.kubernetes.fakeapi import write_kubeconfig
from tests.kubernetes.fakecluster import FakeCluster

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]


def node(name: str, **devices: str) -> dict[str, Any]:
    amounts = {"cpu": "64", "memory": "512Gi", **{f"nvidia.com/{kind}": count for kind, count in devices.items()}}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"metadata": {"name": name, "uid": name, "resourceVersion": "1", "labels": {}}, "spec": {}, "status": status}


async def test_all_devices_of_a_node_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    async with FakeCluster() as server:
        mixed = node("mixed", **{"gpu": "0", "mig-1g.10gb": "2", "mig-3g.40gb": "4"})
        server.items["/api/v1/nodes"] = [mixed, node("whole", gpu="8"), node("none")]
        monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(tmp_path / "kubeconfig", {"server": server.url})))
        words = ["top", "nodes", "-E", "kubeflow", "--home", str(tmp_path / "home")]
        assert await asyncio.to_thread(run_program, words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0]: line.split()[2] for line in lines[1:-1]} == {"mixed": "0/6", "whole": "0/8", "none": "-"}
    assert lines[-1] == "GPUs in use: 0 of 14"
