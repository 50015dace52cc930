"""The cap of a job's log: the middle goes while ranks write, beginnings and ends stay, and every reader says so."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.engines.local.supervisor.logs import log_cap
from jupyterlab_t9kjob.engines.local.supervisor.logs.log_cap import LogCap
from jupyterlab_t9kjob.engines.local.supervisor.records.job_files import JobFiles
from jupyterlab_t9kjob.logs.serving.pages import read_page
from jupyterlab_t9kjob.logs.serving.sources import Source
from jupyterlab_t9kjob.logs.storage import cap as capping
from jupyterlab_t9kjob.logs.storage import cuts
from jupyterlab_t9kjob.logs.storage.index import TimeIndex
from tests.local.disks import small_disk
from tests.local.harness import Bench

pytestmark = pytest.mark.asyncio

CAP = 1_000_000
LINES = 100_000


def on_disk(path: Path) -> int:
    return path.stat().st_blocks * 512


class TestWhileItRuns:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"log_bytes": CAP}

    async def test_the_middle_goes_and_the_job_does_not_notice(self, bench: Bench) -> None:
        job = await bench.submit(
            f"""
            import os, sys, time
            for number in range({LINES}):
                print(f"{{os.environ['RANK']}} {{number:06d}}")
                if number % 5000 == 0:
                    sys.stdout.flush()
                    time.sleep(0.1)
            print("a quiet one", file=sys.stderr)
            """,
            torchrun={"proc_per_node": 2},
        )
        done = await bench.ended(job.uid)
        assert done.phase == "Succeeded"
        codes = await bench.codes(job.uid)
        assert codes.count("LogCut") == 1
        files = {file.stream.id: file for file in await bench.engine.log_sources(job.uid)}
        assert sum(on_disk(file.path) for file in files.values()) < 1.1 * CAP
        for rank in (0, 1):
            file = files[f"worker-0.1.rank-{rank}.out"]
            assert file.stream.size == LINES * 9
            assert 0 < file.stream.removed < file.stream.size
            source = Source("s", file.path, TimeIndex(file.index), file.cuts)
            lines, cursor = [], "start"
            while True:
                page = read_page([source], cursor, "forward", 5000)
                lines += page.lines
                cursor = page.after
                if page.at_end:
                    break
            place = next(index for index, line in enumerate(lines) if line.removed)
            hole = lines[place]
            assert (hole.text, hole.size, hole.removed) == ("", hole.removed, file.stream.removed)
            expected = [f"{rank} {number:06d}" for number in range(LINES)]
            behind = (hole.offset + hole.size) // 9
            assert [line.text for line in lines[:place]] == expected[: hole.offset // 9]
            assert [line.text for line in lines[place + 1 :]] == expected[behind:]
            assert place * 9 > 100_000 and (LINES - behind) * 9 > 100_000  # both ends are kept
        quiet = files["worker-0.1.rank-1.err"]
        assert quiet.path.read_bytes() == b"a quiet one\n"
        assert quiet.stream.removed == 0


# -- what is cut ------------------------------------------------------------------------------------------------------


class Logs:
    """The directory of a job whose log files are written by the test."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(log_cap, "CHECK_SECONDS", 0.0)
        self.files = JobFiles(path)
        self.written: dict[str, bytes] = {}

    def write(self, replica: str, data: bytes) -> Path:
        path = self.files.attempt_logs(replica, 1) / "container.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data)
        self.written[replica] = self.written.get(replica, b"") + data
        return path

    def check(self, replica: str) -> cuts.Cut | None:
        """Hold the file against what was written; return its cut."""
        path = self.files.attempt_logs(replica, 1) / "container.log"
        data, cut = path.read_bytes(), cuts.read(path.with_name("container.log.cuts"))
        written = self.written[replica]
        if cut is None:
            assert data == written
        else:
            assert data == written[: cut.start] + b"\0" * (cut.end - cut.start) + written[cut.end :]
        return cut


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Logs:
    return Logs(tmp_path / "job", monkeypatch)


async def test_the_largest_files_are_cut_at_line_ends(logs: Logs) -> None:
    cap = LogCap(logs.files, CAP)
    logs.write("worker-0", b"small\n" * 1000)
    logs.write("worker-1", b"0123456789\n" * 60_000)
    logs.write("worker-2", b"abc\n" * 100_000)
    assert cap.keep() == ("LogCut", {"cap": CAP})
    assert logs.check("worker-0") is None
    for replica, size in (("worker-1", 11), ("worker-2", 4)):
        cut = logs.check(replica)
        assert cut and (cut.start % size, cut.end % size, cut.cap) == (0, 0, CAP)
    assert cap.keep() is None


async def test_it_grows_with_the_log_and_is_told_once(logs: Logs) -> None:
    cap = LogCap(logs.files, CAP)
    news, starts, ends = [], [], []
    for number in range(40):
        path = logs.write("worker-0", b"%07d line\n" % number * 10_000)
        news.append(cap.keep())
        cut = logs.check("worker-0")
        if cut:
            starts.append(cut.start)
            ends.append(cut.end)
    assert [code for code, _facts in filter(None, news)] == ["LogCut"]
    assert len(set(starts)) == 1 and ends == sorted(ends) and len(set(ends)) > 3
    assert on_disk(path) < 1.1 * CAP
    # files that come later push those before together, at both ends
    for replica in ("worker-1", "worker-2", "worker-3"):
        logs.write(replica, b"another\n" * 100_000)
        cap.keep()
    cut = logs.check("worker-0")
    assert cut and cut.start < starts[0] and cut.end > ends[-1]
    assert sum(map(on_disk, logs.files.logs.glob("*/container.log"))) < 1.2 * CAP


async def test_the_next_supervisor_does_not_tell_it_again(logs: Logs) -> None:
    logs.write("worker-0", b"line\n" * 300_000)
    news = LogCap(logs.files, CAP).keep()
    assert news is not None
    logs.files.add_event(*news)
    logs.write("worker-0", b"line\n" * 300_000)
    assert LogCap(logs.files, CAP).keep() is None
    cut = logs.check("worker-0")
    assert cut and cut.end > 1_500_000


async def test_a_line_without_end_is_cut_within(logs: Logs) -> None:
    logs.write("worker-0", b"\r%06d" % 7 * 1_000_000)
    assert LogCap(logs.files, CAP).keep() is not None
    cut = logs.check("worker-0")
    assert cut and cut.start > 300_000 and cut.end < 7_000_000 - 300_000


async def test_a_file_system_without_holes_is_told_once_and_left_alone(
    logs: Logs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, os.strerror(95))

    monkeypatch.setattr(capping, "punch", refuse)
    cap = LogCap(logs.files, CAP)
    logs.write("worker-0", b"line\n" * 300_000)
    assert cap.keep() == ("LogNotCut", {"cap": CAP, "error": os.strerror(95)})
    logs.write("worker-0", b"line\n" * 300_000)
    assert cap.keep() is None
    assert logs.check("worker-0") is None


async def test_without_room_for_the_record_nothing_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_disk(tmp_path / "disk", size="4m") as disk:
        logs = Logs(disk.path / "job", monkeypatch)
        monkeypatch.setattr(log_cap, "RETRY_SECONDS", 0.0)
        logs.write("worker-0", b"line\n" * 300_000)
        disk.fill()
        cap = LogCap(logs.files, CAP)
        with pytest.raises(OSError, match="No space left"):
            cap.keep()
        assert logs.check("worker-0") is None
        disk.free()
        assert cap.keep() is not None
        assert logs.check("worker-0") is not None


async def test_killed_between_record_and_hole(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record counts: the bytes are still there, but nobody shows them, and the next cut frees them."""
    real = capping.punch

    def die(*_: object) -> None:
        raise asyncio.CancelledError

    monkeypatch.setattr(capping, "punch", die)
    path = logs.write("worker-0", b"line\n" * 300_000)
    with pytest.raises(asyncio.CancelledError):
        LogCap(logs.files, CAP).keep()
    cut = cuts.read(path.with_name("container.log.cuts"))
    assert cut is not None
    source = Source("s", path, TimeIndex(None), path.with_name("container.log.cuts"))
    page = read_page([source], {"s": cut.start}, "forward", 2)
    assert [line.removed for line in page.lines] == [cut.end - cut.start, 0]
    monkeypatch.setattr(capping, "punch", real)
    logs.write("worker-0", b"line\n" * 300_000)
    LogCap(logs.files, CAP).keep()
    assert on_disk(path) < 1.1 * CAP
