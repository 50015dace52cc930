"""Whether a log that was first requested late lacks its beginning, by what arrives of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyterlab_t9kjob.engines.kubernetes.logs.kubelet_rotation import LostStart
from jupyterlab_t9kjob.logs.storage.index import append
from jupyterlab_t9kjob.logs.storage.spool import INDEX_SUFFIX, Gap

pytestmark = pytest.mark.asyncio

STARTED = 1_790_000_000
FIRST = STARTED + 100
GAP = [Gap(0, STARTED * 10**9, FIRST * 10**9)]


def grow(log: Path, size: int, second: float = 0.0) -> Path:
    """Note that a log has so many bytes, so many seconds after its first line."""
    descriptor = os.open(log.with_name(log.name + INDEX_SUFFIX), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    append(descriptor, FIRST + second, size)
    os.close(descriptor)
    return log


async def test_the_rate_is_estimated_again_when_the_log_has_doubled(tmp_path: Path) -> None:
    start, log = LostStart(), tmp_path / "0.log"
    start.asked(log, 0)
    assert await start.gaps(log, 0, STARTED) == []
    assert await start.gaps(grow(log, 10_000), 10_000, STARTED) == []
    # 100 kB in the first second are 10 MiB in the 100 s before it, but the log has not doubled for all that is known
    grow(log, 100_000, 0.5)
    assert await start.gaps(log, 19_999, STARTED) == []
    assert await start.gaps(log, 100_000, STARTED) == GAP
    assert await start.gaps(log, 400_000, STARTED) == []


async def test_the_last_estimate_is_at_the_end(tmp_path: Path) -> None:
    start, log = LostStart(), tmp_path / "0.log"
    start.asked(log, 0)
    assert await start.gaps(grow(log, 30_000), 30_000, STARTED) == []
    grow(log, 55_000, 0.5)
    assert await start.gaps(log, 55_000, STARTED) == []
    assert await start.gaps(log, 55_000, STARTED, ended=True) == GAP


async def test_a_log_of_which_something_was_there_has_its_beginning(tmp_path: Path) -> None:
    start, log = LostStart(), grow(tmp_path / "0.log", 200_000)
    start.asked(log, 1)
    assert await start.gaps(log, 200_000, STARTED) == []


async def test_the_next_log_is_judged_by_itself(tmp_path: Path) -> None:
    start = LostStart()
    first, second = tmp_path / "0.log", tmp_path / "1.log"
    start.asked(grow(first, 1), 0)
    assert await start.gaps(grow(first, 20 * 1024 * 1024, 10_000.0), 20 * 1024 * 1024, STARTED) == []
    start.asked(second, 0)
    assert await start.gaps(first, 40 * 1024 * 1024, STARTED) == []
    assert await start.gaps(grow(second, 200_000), 200_000, STARTED) == GAP


async def test_lines_after_the_request_have_no_beginning_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A request that brought nothing does not count."""
    start, log = LostStart(), grow(tmp_path / "0.log", 200_000)
    monkeypatch.setattr("time.time", lambda: FIRST - 1.0)
    start.asked(log, 0)
    assert await start.gaps(log, 200_000, STARTED) == []
    monkeypatch.setattr("time.time", lambda: FIRST + 1.0)
    start.asked(log, 0)
    assert await start.gaps(log, 200_000, STARTED) == GAP
