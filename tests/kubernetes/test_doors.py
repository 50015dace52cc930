"""Requests that wait for a slow cluster, and those that do not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyterlab_t9kjob.engines.kubernetes.cluster.capacity import service as capacity_service
from tests.kubernetes.fakeapi import hang
from tests.kubernetes.fakecluster import JOBS, FakeCluster, kubeflow, training
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio


async def test_nobody_waits_for_nodes_to_look_at_a_job_or_to_act(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity_service, "ROOM_SECONDS", 1e6)
    async with FakeCluster() as server:
        server.items[JOBS] = [training("one")]
        server.instead["/api/v1/nodes"] = hang
        async with kubeflow(server, tmp_path) as engine:
            doors = [engine.job, engine.replicas, engine.events, engine.manifest, engine.log_sources]
            for door in doors:
                await asyncio.wait_for(door("one"), PATIENCE)
            assert (await asyncio.wait_for(engine.job("one"), PATIENCE)).phase == "Pending"
            await asyncio.wait_for(engine.act("one", "pause"), PATIENCE)
            patches = [request for request in server.requests if request.method == "PATCH"]
            assert [request.path for request in patches] == [f"{JOBS}/one"]
