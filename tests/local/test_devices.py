"""Accelerators shared among jobs; the pool is pretended, so only claims and their order are real."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import FieldError
from tests.local.harness import Bench, kill
from tests.local.test_survival import guardian_of, record

pytestmark = pytest.mark.asyncio

HOLD = """
import os, pathlib, time
pathlib.Path(os.environ["T9KJOB_NAME"] + "." + os.environ["T9KJOB_REPLICA"]).write_text(
    os.environ.get("CUDA_VISIBLE_DEVICES", "not set") + " ")
while not pathlib.Path("go-" + os.environ["T9KJOB_NAME"]).exists():
    time.sleep(0.02)
"""


@pytest.fixture
def settings() -> dict[str, Any]:
    mark = uuid.uuid4().hex[:6]
    return {"device_pool": [f"pretended-{mark}-{number}" for number in range(3)]}


def gpus(count: int, replicas: int = 1) -> list[dict[str, Any]]:
    return [{"replicas": replicas, "resources": {"device": {"count": count}}}]


async def seen(bench: Bench, name: str, replica: str = "worker-0") -> list[str]:
    text = await bench.written(bench.root / f"{name}.{replica}")
    return [device.rsplit("-", 1)[1] for device in text.strip().split(",") if device]


async def test_each_replica_sees_its_own(bench: Bench) -> None:
    job = await bench.submit(HOLD, replica_specs=gpus(1, replicas=2))
    devices = await seen(bench, job.name) + await seen(bench, job.name, "worker-1")
    assert sorted(devices) == ["0", "1"]
    none = await bench.submit(HOLD)
    assert await seen(bench, none.name) == []
    await bench.running(job.uid)
    machine = (await bench.engine.info()).machine
    assert machine and [device.used_by for device in machine.devices] == [job.name, job.name, None]
    replicas = await bench.engine.replicas(job.uid)
    assert [len(replica.devices) for replica in replicas] == [1, 1]
    for name in (job.name, none.name):
        (bench.root / f"go-{name}").touch()
    await bench.ended(job.uid)
    await bench.ended(none.uid)


async def test_who_came_first_is_served_first(bench: Bench) -> None:
    first = await bench.submit(HOLD, replica_specs=gpus(2))
    await bench.running(first.uid)
    second = await bench.submit(HOLD, replica_specs=gpus(3))
    waiting = await bench.until(second.uid, lambda job: bool(job.reason and job.reason.code == "WaitingForDevices"))
    assert waiting.reason and waiting.reason.sentence == "Needs 3 GPUs, 1 is free"
    third = await bench.submit(HOLD, replica_specs=gpus(1))  # could run, but must not overtake
    waiting = await bench.until(third.uid, lambda job: bool(job.reason and job.reason.code == "WaitingForDevices"))
    assert waiting.reason and waiting.reason.sentence == "Needs 1 GPU, 1 is free, 1 job is ahead"
    (bench.root / f"go-{first.name}").touch()
    await bench.running(second.uid)
    assert await seen(bench, second.name) == ["0", "1", "2"]
    assert (await bench.engine.job(third.uid)).phase == "Pending"
    (bench.root / f"go-{second.name}").touch()
    await bench.running(third.uid)
    (bench.root / f"go-{third.name}").touch()
    await bench.ended(third.uid)


@pytest.mark.parametrize("death", ["pause", "stop", "supervisor", "supervisor and guardian"])
async def test_claims_and_tickets_are_freed_on_every_kind_of_death(bench: Bench, death: str) -> None:
    holds = await bench.submit(HOLD, replica_specs=gpus(3))
    await bench.running(holds.uid)
    waits = await bench.submit(HOLD, replica_specs=gpus(3))
    last = await bench.submit(HOLD, replica_specs=gpus(3))
    for job in (waits, last):
        await bench.until(job.uid, lambda job: bool(job.reason and job.reason.code == "WaitingForDevices"))
    for job in (waits, holds):
        supervisor = record(bench, job.uid)["supervisor"]["pid"]
        guardian = guardian_of(supervisor)
        if death in ("pause", "stop"):
            await bench.engine.act(job.uid, death)  # type: ignore[arg-type]
        else:
            if "guardian" in death:
                kill(guardian)
            kill(supervisor)
        await bench.until(job.uid, lambda job: job.phase in ("Failed", "Paused"))
    await bench.running(last.uid)
    assert await seen(bench, last.name) == ["0", "1", "2"]


async def test_more_than_there_are_is_refused(bench: Bench) -> None:
    with pytest.raises(FieldError, match="asks for 4 GPUs, and this machine has 3"):
        await bench.submit(HOLD, replica_specs=gpus(2, replicas=2))


@pytest.mark.gpu
async def test_a_real_one(tmp_path: Path) -> None:
    from tests.local.harness import make_engine

    root = tmp_path / "work"
    root.mkdir()
    engine = make_engine(tmp_path / "home", root, device_pool=None)
    await engine.start()
    bench = Bench(engine, tmp_path / "home", root)
    engine.listen(bench.hear)
    machine = (await engine.info()).machine
    assert machine and machine.devices and machine.devices[0].memory_total
    job = await bench.submit(HOLD, replica_specs=gpus(1))
    text = await bench.written(bench.root / f"{job.name}.worker-0")
    assert text.strip() == "0"
    (root / f"go-{job.name}").touch()
    await bench.ended(job.uid)
    await engine.stop()
