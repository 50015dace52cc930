"""A lease on a folder that several servers share."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.system.processes import machine_id, process_id
from jupyterlab_t9kjob.logs.storage import lease as leases
from jupyterlab_t9kjob.logs.storage.lease import Lease
from tests.server.conftest import eventually

pytestmark = pytest.mark.asyncio


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.0)
    monkeypatch.setattr(leases, "SETTLE_SECONDS", 0.01)


def foreign(path: Path, beat: int = 1) -> None:
    content = {
        "holder": "x",
        "machine": {**machine_id(), "hostname": "other", "boot_id": "other"},
        "process": process_id(os.getpid()),
        "beat": beat,
    }
    path.write_text(json.dumps(content))


async def test_one_of_many_holds_it(tmp_path: Path):
    leases_ = [Lease(tmp_path / "lease") for _ in range(20)]
    held = await asyncio.gather(*(one.hold() for one in leases_))
    assert held.count(True) == 1
    holder = leases_[held.index(True)]
    assert await holder.hold()
    assert holder.valid
    other = leases_[held.index(False)]
    assert not await other.hold()
    holder.release()
    assert not holder.valid
    assert await other.hold()


async def test_one_whose_task_was_cancelled_is_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(leases, "SETTLE_SECONDS", 60.0)
    mine = Lease(tmp_path / "lease")
    task = asyncio.create_task(mine.hold())
    await eventually((tmp_path / "lease").exists)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    mine.release()
    assert not (tmp_path / "lease").exists()


async def test_one_whose_process_is_dead_is_taken_over_at_once(tmp_path: Path):
    script = (
        "import asyncio, os, signal, sys; from pathlib import Path;"
        "from jupyterlab_t9kjob.logs.storage.lease import Lease;"
        "print(asyncio.run(Lease(Path(sys.argv[1])).hold())); os.kill(os.getpid(), signal.SIGKILL)"
    )
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, str(tmp_path / "lease")])
    assert (tmp_path / "lease").exists()
    assert await Lease(tmp_path / "lease").hold()


async def test_one_of_another_machine_is_taken_over_when_it_has_not_changed_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "lease"
    foreign(path)
    mine = Lease(path)
    assert not await mine.hold()
    monkeypatch.setattr(leases, "STALE_SECONDS", 0.05)
    await asyncio.sleep(0.1)
    foreign(path, beat=2)
    assert not await mine.hold()
    await asyncio.sleep(0.1)
    assert await mine.hold()


async def test_one_who_slept_finds_that_it_was_taken_over(tmp_path: Path):
    path = tmp_path / "lease"
    mine = Lease(path)
    assert await mine.hold()
    foreign(path)
    assert not await mine.hold()
    assert not mine.valid
    mine.release()
    assert json.loads(path.read_text())["holder"] == "x"


async def test_nonsense_in_it_counts_as_stale_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "lease"
    path.write_text('[1, "nonsense')
    mine = Lease(path)
    assert not await mine.hold()
    monkeypatch.setattr(leases, "STALE_SECONDS", 0.0)
    assert await mine.hold()


async def test_a_disk_that_is_gone_is_an_error(tmp_path: Path):
    with pytest.raises(OSError):
        await Lease(tmp_path / "nowhere" / "lease").hold()
