"""Work on files, in threads of their own for each mount; with a disk that really does not answer."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.errors import Unavailable
from jupyterlab_t9kjob.core.system import disk_threads
from jupyterlab_t9kjob.core.system.disk_threads import DiskSilent, lane_of, on_disk, real_path
from tests.local.disks import HungDisk, hung_disk, small_disk
from tests.local.harness import eventually

pytestmark = pytest.mark.asyncio

BOUND = 60.0
"""Far more than the limits below add up to, and a call on a hung disk never returns."""


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    # A disk that answers has the product's time to answer a probe: a loaded machine may need it.
    monkeypatch.setattr(disk_threads, "ANSWER_SECONDS", 0.3)
    monkeypatch.setattr(disk_threads, "IDLE_SECONDS", 0.05)


@pytest.fixture
def hung(tmp_path: Path) -> Iterator[HungDisk]:
    with hung_disk(tmp_path / "a\nnetwork folder") as disk:
        yield disk


def threads(disk: HungDisk) -> int:
    return sum(thread.name in (f"disk {disk.path}", "disk probe") for thread in threading.enumerate())


async def test_a_disk_that_does_not_answer_holds_up_itself_alone(
    hung: HungDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = hung.path / "train.py"
    begun = time.monotonic()
    answers = await asyncio.gather(*(on_disk(script, script.read_text) for _ in range(50)), return_exceptions=True)
    assert time.monotonic() - begun < BOUND
    assert {type(answer) for answer in answers} == {DiskSilent}
    first = answers[0]
    assert isinstance(first, Unavailable) and isinstance(first, OSError)
    assert (first.status, first.code) == (503, "DiskSilent")
    assert str(hung.path) in first.message and "has been waiting for" in first.message
    assert threads(hung) <= disk_threads.WIDTH + 1
    # from now on it is known
    begun = time.monotonic()
    with monkeypatch.context() as patient, pytest.raises(Unavailable, match="does not answer"):
        patient.setattr(disk_threads, "ANSWER_SECONDS", 2 * BOUND)
        await on_disk(script, script.read_text)
    assert time.monotonic() - begun < BOUND
    # all else goes on
    (tmp_path / "other.py").write_text("pass")
    assert await on_disk(tmp_path / "other.py", (tmp_path / "other.py").read_text) == "pass"
    assert await asyncio.wait_for(asyncio.get_running_loop().getaddrinfo("localhost", 80), BOUND)
    # and so does the disk, once it answers
    hung.answer()
    await eventually(lambda: threads(hung) == 0)
    with pytest.raises(OSError, match="not connected"):
        await on_disk(script, script.read_text)


@pytest.mark.parametrize("target", ["{disk}", "{disk}/data", "../{name}/data", "./loop/../{disk}/x"])
async def test_links_are_followed_up_to_a_disk_that_does_not_answer(
    hung: HungDisk, tmp_path: Path, target: str
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "work").symlink_to(target.format(disk=hung.path, name=hung.path.name))
    path = tmp_path / "home" / "work" / "train.py"
    if not target.startswith("./"):  # which leads nowhere
        with pytest.raises(Unavailable, match="does not answer"):
            await on_disk(path, path.read_text)
        with pytest.raises(Unavailable, match="does not answer"):
            real_path(str(path), 0.3)
    assert sum(thread.name == "disk /" for thread in threading.enumerate()) <= disk_threads.WIDTH
    assert await on_disk(tmp_path, os.listdir, tmp_path / "home") == ["work"]


async def test_every_disk_of_a_call_must_answer(hung: HungDisk, tmp_path: Path) -> None:
    called: list[str] = []
    with pytest.raises(Unavailable, match="a\nnetwork folder does not answer"):
        await on_disk([tmp_path, hung.path], called.append, "called")
    assert called == []


async def test_a_disk_that_answers_may_be_slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    call = asyncio.create_task(on_disk(tmp_path, go_on.wait))
    await asyncio.sleep(2 * disk_threads.ANSWER_SECONDS)
    go_on.set()
    assert await call
    go_on.clear()
    monkeypatch.setattr(disk_threads, "LONGEST_SECONDS", 1.0)
    with pytest.raises(Unavailable, match="was not done after") as slow:
        await on_disk(tmp_path, go_on.wait)
    go_on.set()
    assert slow.value.code == "DiskSlow"


async def test_a_file_that_hangs_on_a_disk_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with small_disk(tmp_path / "disk"):
        inner = tmp_path / "disk" / "pipe"
        os.mkfifo(inner)
        with monkeypatch.context() as short, pytest.raises(Unavailable, match="was not done after"):
            short.setattr(disk_threads, "LONGEST_SECONDS", 1.0)
            await on_disk(inner, inner.read_bytes)
        assert await on_disk(pipe, pipe.is_fifo)
        os.close(os.open(inner, os.O_WRONLY))


async def test_a_link_that_leads_to_another_disk_is_followed_soon(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(".")
    await lane_of(link / "train.py")
    with small_disk(tmp_path / "disk"):
        link.unlink()
        link.symlink_to("disk")
        end = time.monotonic() + BOUND
        while (await lane_of(link / "train.py")).point != str(tmp_path / "disk"):
            assert time.monotonic() < end
            await asyncio.sleep(0.05)


async def test_real_paths(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "train.py").touch()
    links = {"link": "real", "up": "../" + tmp_path.name + "/./link", "loop": "loop", "far": str(tmp_path / "up")}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    paths = ["link/train.py", "up/train.py", "far/../real/train.py", "far/gone/x", "real/./train.py", "", "up/.."]
    with small_disk(tmp_path / "disk"):
        (tmp_path / "disk" / "back").symlink_to("../far/train.py")
        (tmp_path / "disk" / "absolute").symlink_to(tmp_path / "far")
        for path in [*paths, "disk/back", "disk/absolute/train.py", "disk/../far/train.py"]:
            found = real_path(f"{tmp_path}/{path}", BOUND)
            assert found == os.path.realpath(f"{tmp_path}/{path}"), path  # noqa: ASYNC240
    for odd in ["loop", "loop/x", "real/train.py/x", "nul\0", "\ud800", "a" * 5000, "a/" * 5000]:
        assert real_path(f"{tmp_path}/{odd}", BOUND).startswith("/")
        with pytest.raises((OSError, ValueError)):
            await on_disk(f"{tmp_path}/{odd}", os.stat, f"{tmp_path}/{odd}")
