"""GPUs of a machine and their users, as a fake driver reports them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyterlab_t9kjob.core.engine.info import DeviceInfo, Machine
from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.engines.local.devices import nvml
from jupyterlab_t9kjob.engines.local.engine import LocalEngine
from tests.local.harness import Bench, make_engine, pretended_driver
from tests.local.test_devices import HOLD, gpus, let_go

pytestmark = pytest.mark.asyncio

GIB = 1 << 30
UNSEEN = "a process that can't be seen from here"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with pretended_driver(monkeypatch) as module:
        yield module


@pytest.fixture
def engine(tmp_path: Path) -> LocalEngine:
    return make_engine(tmp_path / "home", tmp_path)


@pytest.fixture
def sleeper() -> Iterator[Callable[..., int]]:
    """Start a process that does nothing, under a name of one's choice; it is there when its id is returned."""
    started = []

    def start(name: str = "crunch.py", **variables: str) -> int:
        code = "import sys; print(flush=True); sys.stdin.read()"
        child = subprocess.Popen(
            [sys.executable, "-c", code, name],
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert child.stdout and child.stdout.readline()
        started.append(child)
        return child.pid

    yield start
    for child in started:
        child.communicate()


async def machine(engine: LocalEngine) -> Machine:
    found = (await engine.info()).machine
    assert found is not None
    return found


async def devices(engine: LocalEngine) -> list[DeviceInfo]:
    return (await machine(engine)).devices


@pytest.mark.parametrize("error", ["NVMLError_LibraryNotFound", "NVMLError_DriverNotLoaded"])
async def test_without_a_driver_there_are_no_gpus_and_no_words(
    driver: Any, engine: LocalEngine, error: str, caplog: pytest.LogCaptureFixture
) -> None:
    driver.State.error = getattr(driver, error)
    found = await machine(engine)
    assert (found.devices, found.devices_problem) == ([], None)
    assert caplog.records == []


async def test_what_a_gpu_is(driver: Any, engine: LocalEngine) -> None:
    driver.State.devices = [driver.Device("GPU-a", used=3 * GIB), driver.Device("GPU-b", name="Tesla K80", old=True)]
    first, second = await devices(engine)
    assert first == DeviceInfo(
        index=0, id="0", name="NVIDIA H200", uuid="GPU-a", memory_total=100 * GIB, memory_used=3 * GIB
    )
    assert (second.id, second.name, second.uuid, second.used_by) == ("1", "Tesla K80", "GPU-b", None)
    assert driver.State.initialized == 0  # the driver is let go


async def test_an_error_of_the_driver_is_told_and_soon_forgotten(
    driver: Any, engine: LocalEngine, tmp_path: Path
) -> None:
    driver.State.error = driver.NVMLError_LibRmVersionMismatch
    found = await machine(engine)
    assert found.devices == []
    assert found.devices_problem == "The GPU driver fails: Driver/library version mismatch"
    bench = Bench(engine, tmp_path, tmp_path)
    with pytest.raises(FieldError) as refusal:
        await bench.submit("pass", replica_specs=gpus(1))
    assert refusal.value.hint == found.devices_problem
    driver.State.error = None
    driver.State.devices = [driver.Device("GPU-a")]
    found = await machine(engine)
    assert (len(found.devices), found.devices_problem) == (1, None)


async def test_a_limit_on_threads_is_soon_forgotten(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    driver.State.devices = [driver.Device("GPU-a")]
    asked = nvml.Driver()
    with monkeypatch.context() as crowded:
        crowded.setattr(threading.Thread, "start", refuse)
        for _ in range(2):
            with pytest.raises(RuntimeError, match="can't start new thread"):
                asked.read()
    assert [gpu.uuid for gpu in asked.read().gpus] == ["GPU-a"]


async def test_a_gpu_may_be_unplugged(driver: Any, engine: LocalEngine) -> None:
    driver.State.devices = [driver.Device("GPU-a"), driver.Device("GPU-b"), driver.Device("GPU-c")]
    driver.State.devices[1].fails = driver.NVMLError_GpuIsLost
    driver.State.devices[2].fails = driver.NVMLError_NoPermission
    found = await machine(engine)
    assert [device.id for device in found.devices] == ["0"]
    driver.State.devices[0].fails = driver.NVMLError_GpuIsLost
    found = await machine(engine)
    assert (found.devices, found.devices_problem) == ([], "The GPU driver fails: GPU is lost")


async def test_a_driver_that_hangs_holds_nobody_up(
    driver: Any, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.State.devices = [driver.Device("GPU-a")]
    assert len(await devices(engine)) == 1
    driver.State.hangs = threading.Event()
    before = driver.State.looks
    with monkeypatch.context() as impatient:
        impatient.setattr(nvml, "ANSWER_SECONDS", 0.2)
        for _ in range(3):
            found = await machine(engine)
            assert len(found.devices) == 1  # as it was known
            assert found.devices_problem == "The GPU driver does not answer."
    assert driver.State.looks == before + 1  # it is not asked again meanwhile
    driver.State.hangs.set()
    driver.State.hangs = None
    for thread in threading.enumerate():
        if thread.name == "t9kjob-nvml":
            await asyncio.to_thread(thread.join)
    assert (await machine(engine)).devices_problem is None


async def test_who_uses_a_gpu(driver: Any, engine: LocalEngine, sleeper: Callable[..., int]) -> None:
    async def used_by(*pids: int, **fields: Any) -> str | None:
        driver.State.devices = [driver.Device("GPU-a", compute=list(pids), **fields)]
        (device,) = await devices(engine)
        return device.used_by

    python = Path(sys.executable).name
    stranger, job = sleeper("crunch.py"), sleeper(T9KJOB_UID="x", T9KJOB_NAME="train-1")
    assert await used_by(stranger) == f"{python} crunch.py (pid {stranger})"
    assert await used_by(job) == "train-1"
    assert await used_by(job, stranger, job) == f"{python} crunch.py (pid {stranger}) and train-1"
    kernel = sleeper("ipykernel_launcher")
    assert await used_by(kernel) == f"a kernel of another lab (pid {kernel})"
    assert await used_by(2**22 + 1) == UNSEEN
    assert await used_by(used=50 * GIB) == UNSEEN
    assert await used_by(used=4 * GIB) is None
    assert await used_by(used=50 * GIB, graphics=[1]) is None  # a desktop
    hostile = sleeper("\x1b[31m\u202e" + "x" * 200 + ".py")
    words = await used_by(hostile)
    assert words and words.isprintable() and len(words) < 200


@pytest.fixture
def strangers_process() -> Iterator[psutil.Process]:
    """Return a process of another user: a child of the user nobody if root runs the test, else process 1."""
    if os.geteuid() != 0:
        yield psutil.Process(1)
        return
    with subprocess.Popen(["sleep", "600"], user="nobody", stdin=subprocess.DEVNULL) as child:
        yield psutil.Process(child.pid)
        child.kill()


async def test_another_user_is_named(driver: Any, engine: LocalEngine, strangers_process: psutil.Process) -> None:
    driver.State.devices = [driver.Device("GPU-a", compute=[strangers_process.pid])]
    (device,) = await devices(engine)
    assert device.used_by
    assert device.used_by.endswith(f"(pid {strangers_process.pid}) of user {strangers_process.username()}")


async def test_the_kernels_of_the_lab_are_named(driver: Any, tmp_path: Path, sleeper: Callable[..., int]) -> None:
    kernel = sleeper()

    async def kernels() -> dict[int, str]:
        return {kernel: "a notebook kernel: eda.ipynb", os.getpid(): "the lab itself"}

    engine = LocalEngine(tmp_path, tmp_path, None, lab_kernels=kernels)  # type: ignore[arg-type]
    driver.State.devices = [driver.Device("GPU-a", compute=[kernel])]
    (device,) = await devices(engine)
    assert device.used_by == "a notebook kernel: eda.ipynb"
    child = sleeper()  # its parent is this process
    driver.State.devices = [driver.Device("GPU-a", compute=[child])]
    (device,) = await devices(engine)
    assert device.used_by == "the lab itself"


@pytest.mark.parametrize(
    ("visible", "expected"),
    [
        (None, ["0", "1", "2"]),
        ("1", ["1"]),
        ("2,0", ["2", "0"]),
        ("GPU-bb", ["GPU-bbbb"]),  # what CUDA takes for one: enough of a UUID
        ("GPU-", []),
        ("0,9,1", ["0"]),
        ("0,GPU-none,1", ["0"]),
        ("0,-1,1", ["0"]),
        ("1,1", ["1"]),
        ("", []),
        ("NoDevFiles", []),
        ("void", []),
    ],
)
async def test_the_servers_own_choice_bounds_the_pool(
    driver: Any, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch, visible: str | None, expected: list[str]
) -> None:
    driver.State.devices = [driver.Device("GPU-aaaa"), driver.Device("GPU-bbbb"), driver.Device("GPU-cccc")]
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [device.id for device in await devices(engine)] == expected


@pytest.mark.parametrize(
    ("visible", "expected"),
    [(None, ["GPU-cccc", "0"]), ("0", ["0"]), ("GPU-cccc,1", ["GPU-cccc"]), ("2", ["GPU-cccc"]), ("", [])],
)
async def test_an_administrators_choice_too(
    driver: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, expected: list[str]
) -> None:
    driver.State.devices = [driver.Device("GPU-aaaa"), driver.Device("GPU-bbbb"), driver.Device("GPU-cccc")]
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    engine = make_engine(tmp_path, tmp_path, device_pool=["GPU-cccc", "0", "2", "5"])
    assert [device.id for device in await devices(engine)] == expected


async def test_of_a_divided_gpu_its_parts_are_shared_out(driver: Any, bench: Bench) -> None:
    parts = [driver.Device(f"MIG-{letter}", name="NVIDIA H200 MIG 1g.18gb") for letter in "ab"]
    driver.State.devices = [driver.Device("GPU-a", parts=[parts[0], None, parts[1]]), driver.Device("GPU-b")]
    found = await devices(bench.engine)
    assert [(device.id, device.index) for device in found] == [("MIG-a", 0), ("MIG-b", 0), ("1", 1)]
    preview = await bench.engine.preview(bench.spec(replica_specs=gpus(2)), "")
    assert "OnePartEach" in {check.code for check in preview.checks}
    job = await bench.submit(HOLD, replica_specs=gpus(1, replicas=2))
    for number, part in enumerate(("MIG-a", "MIG-b")):
        assert (await bench.written(bench.root / f"{job.name}.worker-{number}")).strip() == part
    let_go(bench, job)
    await bench.ended(job.uid)


async def test_a_gpu_that_others_use_is_given_last(driver: Any, bench: Bench, sleeper: Callable[..., int]) -> None:
    driver.State.devices = [driver.Device("GPU-x", compute=[sleeper()]), driver.Device("GPU-y")]
    job = await bench.submit(HOLD, replica_specs=gpus(1))
    assert (await bench.written(bench.root / f"{job.name}.worker-0")).strip() == "1"
    other = await bench.submit(HOLD, replica_specs=gpus(1))
    assert (await bench.written(bench.root / f"{other.name}.worker-0")).strip() == "0"
    first, second = await devices(bench.engine)
    assert second.used_by == job.name
    assert first.claimed_by == other.name
    assert first.used_by and first.used_by.startswith(f"{other.name} and ")
    let_go(bench, job, other)


async def test_one_gpu_has_one_claim_under_all_its_names(driver: Any, bench: Bench, tmp_path: Path) -> None:
    driver.State.devices = [driver.Device("GPU-one")]
    job = await bench.submit(HOLD, replica_specs=gpus(1))
    await bench.running(job.uid)
    other = make_engine(tmp_path / "other", tmp_path, device_pool=["GPU-one"])
    (device,) = await devices(other)
    assert (device.id, device.claimed_by) == ("GPU-one", job.name)
    let_go(bench, job)
