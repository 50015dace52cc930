"""The tests of `test_devices` on real GPUs; one GPU is enough for most of them.

Jobs speak to CUDA through its library (`libcuda`), so only training needs a torch that has CUDA.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyterlab_t9kjob.core.engine.info import DeviceInfo
from jupyterlab_t9kjob.core.job import Job
from tests.local.harness import Bench, eventually, kill
from tests.local.test_devices import HOLD, gpus, let_go, waiting
from tests.local.test_survival import guardian_of, record

pytestmark = [pytest.mark.asyncio, pytest.mark.gpu]

EXAMPLE = Path(__file__).parents[2] / "examples" / "mnist_ddp" / "train.py"
SHARE = 0.6
"""Of a GPU's memory: two jobs that need so much can't share it."""

CUDA = """
import ctypes, os, pathlib, sys, time

cuda = ctypes.CDLL("libcuda.so.1")

def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code:
        sys.exit(f"{name} answers {code}")

def uuids():
    count = ctypes.c_int()
    code = cuda.cuInit(0)
    if code == 100:  # no device may be seen
        return []
    assert code == 0, code
    call("cuDeviceGetCount", ctypes.byref(count))
    found = []
    for number in range(count.value):
        device, uuid = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        call("cuDeviceGet", ctypes.byref(device), number)
        call("cuDeviceGetUuid", uuid, device)
        text = bytes(uuid).hex()
        found.append("GPU-" + "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]]))
    return found

def allocate(size):
    device, context, pointer = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))

def say(words):
    name = os.environ.get("T9KJOB_NAME", "stranger") + "." + os.environ.get("T9KJOB_REPLICA", "0")
    pathlib.Path(name + ".new").write_text(words + " ")
    os.replace(name + ".new", name)
"""
SEE = CUDA + "say(','.join(uuids()))\n"
FILL = CUDA + "allocate(int(sys.argv[1]))\n" + HOLD


@pytest_asyncio.fixture
async def devices(bench: Bench) -> list[DeviceInfo]:
    found = await look(bench)
    if any(device.uuid and device.uuid.startswith("MIG-") for device in found):
        pytest.skip("gpu: this GPU is divided into parts")
    return found


async def look(bench: Bench) -> list[DeviceInfo]:
    machine = (await bench.engine.info()).machine
    assert machine is not None and machine.devices_problem is None
    return machine.devices


async def wait_for(bench: Bench, reached: Callable[[DeviceInfo], bool]) -> DeviceInfo:
    """Wait until the first GPU is as wanted; the driver announces nothing, and its answers are kept for a moment."""
    from jupyterlab_t9kjob.engines.local.devices import nvml

    pool = bench.engine._pool
    await eventually(lambda: reached(pool.describe({})[0]), 10 * nvml.FRESH_SECONDS)
    return (await look(bench))[0]


async def test_what_the_driver_says(devices: list[DeviceInfo]) -> None:
    assert devices
    assert [device.id for device in devices] == [str(number) for number in range(len(devices))]
    for device in devices:
        assert device.uuid and device.uuid.startswith("GPU-") and device.name
        assert device.memory_total and device.memory_total > 2**30
        assert device.memory_used is not None and device.memory_used < device.memory_total


async def test_cuda_sees_what_was_claimed(bench: Bench, devices: list[DeviceInfo]) -> None:
    job = await bench.submit(SEE, replica_specs=gpus(1, replicas=len(devices)))
    seen = [await bench.written(bench.root / f"{job.name}.worker-{number}") for number in range(len(devices))]
    assert sorted(uuid.strip() for uuid in seen) == sorted(str(device.uuid) for device in devices)
    everything = await bench.submit(SEE, replica_specs=gpus(len(devices)))
    seen = [await bench.written(bench.root / f"{everything.name}.worker-0")]
    assert seen[0].strip().split(",") == [device.uuid for device in devices]
    nothing = await bench.submit(SEE)
    assert (await bench.written(bench.root / f"{nothing.name}.worker-0")).strip() == ""
    for each in (job, everything, nothing):
        assert (await bench.ended(each.uid)).phase == "Succeeded"


async def test_uuids_do_as_well(
    bench: Bench, devices: list[DeviceInfo], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", str(devices[-1].uuid))
    (only,) = await look(bench)
    assert only.uuid == devices[-1].uuid
    job = await bench.submit(SEE, replica_specs=gpus(1))
    assert (await bench.written(bench.root / f"{job.name}.worker-0")).strip() == only.uuid
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert await look(bench) == []


async def test_exclusive_and_in_order(bench: Bench, devices: list[DeviceInfo]) -> None:
    count = len(devices)
    first = await bench.submit(HOLD, replica_specs=gpus(count))
    await bench.running(first.uid)
    second = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(count)))
    third = await waiting(bench, await bench.submit(HOLD, replica_specs=gpus(1)))
    assert third.reason and third.reason.sentence == f"Needs 1 GPU, 0 free; queued behind {second.name}"
    let_go(bench, first)
    await bench.running(second.uid)
    assert (await bench.engine.job(third.uid)).phase == "Pending"
    let_go(bench, second, third)
    done = [await bench.ended(job.uid) for job in (first, second, third)]
    begun = [job.started_at for job in done]
    assert begun == sorted(begun)


async def fill(bench: Bench, device: DeviceInfo, **fields: Any) -> Job:
    size = int((device.memory_total or 0) * SHARE)
    return await bench.submit(FILL, args=[str(size)], replica_specs=gpus(1), **fields)


@pytest.mark.parametrize("death", ["stop", "supervisor", "supervisor and guardian"])
async def test_the_memory_is_free_when_the_next_one_begins(
    bench: Bench, devices: list[DeviceInfo], death: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of two jobs fills more than half of the GPU; had they it at the same time, one would fail."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    holds = await fill(bench, devices[0])
    await bench.written(bench.root / f"{holds.name}.worker-0")
    waits = await waiting(bench, await fill(bench, devices[0]))
    if death == "stop":
        await bench.engine.act(holds.uid, "stop")
    else:
        supervisor = record(bench, holds.uid)["supervisor"]["pid"]
        guardian = guardian_of(supervisor)
        for pid in [supervisor] if death == "supervisor" else [guardian, supervisor]:
            kill(pid)
    await bench.written(bench.root / f"{waits.name}.worker-0")
    let_go(bench, waits)
    done = await bench.ended(waits.uid)
    assert done.phase == "Succeeded", done.reason


async def test_the_driver_shows_the_job_that_uses_it(
    bench: Bench, devices: list[DeviceInfo], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    job = await fill(bench, devices[0])
    await bench.written(bench.root / f"{job.name}.worker-0")
    size = (devices[0].memory_total or 0) * SHARE
    device = await wait_for(bench, lambda device: (device.memory_used or 0) >= size)
    assert (device.claimed_by, device.used_by) == (job.name, job.name)
    let_go(bench, job)
    await bench.ended(job.uid)
    device = await wait_for(bench, lambda device: (device.memory_used or 0) < size)
    assert device.claimed_by is None


@pytest.fixture
def stranger(bench: Bench, devices: list[DeviceInfo]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is no job of ours fills the first GPU."""
    script = bench.script(CUDA + "allocate(int(sys.argv[1]))\nsay('ready')\nsys.stdin.read()\n", "crunch.py")
    size = str(int((devices[0].memory_total or 0) * SHARE))
    command = [sys.executable, str(script), size]
    with subprocess.Popen(command, cwd=bench.root, stdin=subprocess.PIPE) as child:
        yield child
        child.communicate()


async def test_the_driver_shows_who_else_uses_it(bench: Bench, stranger: subprocess.Popen[bytes]) -> None:
    await bench.written(bench.root / "stranger.0")
    device = await wait_for(bench, lambda device: device.used_by is not None)
    assert device.claimed_by is None
    # In a container the driver may not tell whose the memory is.
    unseen = "a process that can't be seen from here"
    assert device.used_by in (f"{Path(sys.executable).name} crunch.py (pid {stranger.pid})", unseen)


async def test_training_with_nccl(bench: Bench, devices: list[DeviceInfo]) -> None:
    look = "import torch, sys; sys.exit(not (torch.cuda.is_available() and torch.distributed.is_nccl_available()))"
    sees = await bench.submit(look, replica_specs=gpus(1))
    if (await bench.ended(sees.uid)).phase != "Succeeded":
        pytest.skip("gpu: this Python's torch has no CUDA")
    shutil.copy(EXAMPLE, bench.root / "train.py")
    job = await bench.submit(
        entrypoint={"kind": "script", "value": str(bench.root / "train.py")},
        args=["--backend", "nccl", "--epochs", "2"],
        torchrun={"proc_per_node": "gpu"},
        replica_specs=gpus(len(devices)),
    )
    assert job.processes == len(devices)
    done = await bench.ended(job.uid)
    assert done.phase == "Succeeded", (done.reason, done.failure)
    text = b"".join(file.path.read_bytes() for file in await bench.engine.log_sources(job.uid)).decode()
    for rank in range(len(devices)):
        assert f"rank {rank} of {len(devices)}: nccl on cuda:{rank}" in text
