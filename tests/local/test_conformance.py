"""The local engine is held to the suite of all engines, see `tests.conformance`."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, ReplicaSpec, Torchrun
from tests.conformance import Subject, hold
from tests.local.harness import Bench

pytestmark = pytest.mark.asyncio


async def test_it_holds_the_suite(bench: Bench) -> None:
    def spec(program: str, **fields: Any) -> JobSpec:
        own: dict[str, Any] = {
            "name": f"job-{uuid.uuid4().hex[:6]}",
            "entrypoint": Entrypoint(kind="command", value="sh"),
            "args": ["-c", program],
            "torchrun": None,
            "working_dir": str(bench.root),
        }
        return JobSpec(**{**own, **fields})

    def training(program: str) -> JobSpec:
        two = [ReplicaSpec(replicas=2)]
        return bench.spec(program, torchrun=Torchrun(proc_per_node=1), replica_specs=two)

    try:
        await hold(Subject(bench.engine, "", spec, training, bench.root, str(bench.root)))
    finally:
        bench.uids += [job.uid for job in await bench.engine.jobs()]
