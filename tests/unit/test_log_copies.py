"""Copies of log streams that are no files: errors of engines, cancelled reads, and the end of the copies."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from jupyterlab_t9kjob.core.job import LogStream
from jupyterlab_t9kjob.core.log_sources import LogChunk, LogFile, LogReader
from jupyterlab_t9kjob.logs.serving.follow import LogService
from jupyterlab_t9kjob.logs.serving.mirror import LogMirror
from jupyterlab_t9kjob.logs.storage import index
from tests.local.harness import eventually
from tests.patience import PATIENCE

JOB = "simple::train:1"


class Memory:
    """A stream in memory, whose reads can fail."""

    def __init__(self, ident: str, data: bytes = b"") -> None:
        self.stream = LogStream(id=ident, replica="worker-0", attempt=1, source="rank", size=0, complete=False)
        self.data = data
        self.error: Exception | None = None

    async def read(self, offset: int) -> LogChunk:
        await asyncio.sleep(0)
        if self.error is not None:
            raise self.error
        return LogChunk(self.data[offset : offset + 4], 1.0)

    @property
    def reader(self) -> LogReader:
        return LogReader(self.stream, self.read)


class Logs:
    """The logs of one job, as `JobService` gives them to `LogService`."""

    def __init__(self, *streams: Memory) -> None:
        self.mirror = LogMirror()
        self.streams = list(streams)
        self.error: Exception | None = None
        self.moved: Callable[[], None] = lambda: None

    async def log_files(self, ident: str, **options: bool) -> list[LogFile]:
        if self.error is not None:
            raise self.error
        return await self.mirror.files(ident, [stream.reader for stream in self.streams], **options)

    async def follow_logs(self, ident: str, grown: Callable[[], None]) -> Callable[[], None]:
        self.moved, close = self.mirror.open(ident, grown)
        return close


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def content(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@pytest.fixture
def slow_index(monkeypatch: pytest.MonkeyPatch) -> tuple[Event, Event]:
    """Appends wait after the bytes were written: (set by an append that waits, lets all appends go on)."""
    waits, goes_on, plain = Event(), Event(), index.append

    def append(descriptor: int, time: float, size: int) -> None:
        waits.set()
        assert goes_on.wait(PATIENCE)
        plain(descriptor, time, size)

    monkeypatch.setattr(index, "append", append)
    return waits, goes_on


async def test_stream_that_fails_hides_no_other(caplog: pytest.LogCaptureFixture):
    bad, good = Memory("bad"), Memory("good", b"first\n")
    bad.error = RuntimeError("no such buffer")
    logs = Logs(bad, good)
    async with LogService(logs).subscribe(JOB) as log:
        assert [stream.id for stream in log.streams] == ["bad", "good"]
        page = await log.page(None, "start", "forward", 10)
        assert [line.text for line in page.lines] == ["first"]
        good.data += b"second\n"
        logs.moved()
        waiting = asyncio.create_task(log.wait_for_growth(log.grown.count))
        await asyncio.wait_for(waiting, PATIENCE)
        page = await log.page(None, "start", "forward", 10)
        assert [line.text for line in page.lines] == ["first", "second"]
        assert f"The log stream bad of {JOB} can't be read" in caplog.text and "no such buffer" in caplog.text
        with pytest.raises(RuntimeError, match="no such buffer"):  # A download is whole, or it fails.
            await logs.log_files(JOB, strict=True)


async def test_listing_that_fails_is_repeated(caplog: pytest.LogCaptureFixture):
    logs = Logs(Memory("first"))
    async with LogService(logs).subscribe(JOB) as log:
        logs.error = RuntimeError("no list")
        await eventually(lambda: "no list" in caplog.text)
        logs.error = None
        logs.streams.append(Memory("second"))
        await eventually(lambda: [stream.id for stream in log.streams] == ["first", "second"])


async def test_read_that_failed_is_repeated_when_the_log_grows(caplog: pytest.LogCaptureFixture):
    stream = Memory("out", b"one\n")
    logs = Logs(stream)
    grown: list[int] = []
    close = await logs.follow_logs(JOB, lambda: grown.append(1))
    [file] = await logs.log_files(JOB)
    stream.data, stream.error = b"one\ntwo\n", RuntimeError("no answer")
    logs.moved()
    await asyncio.sleep(0)
    logs.moved()  # The stream grows while the read goes on that fails.
    await eventually(lambda: "no answer" in caplog.text)
    stream.error = None
    logs.moved()
    await eventually(lambda: file.path.read_bytes() == stream.data)
    await eventually(lambda: grown)
    close()


async def test_cancelled_read_writes_no_bytes_twice(slow_index: tuple[Event, Event]):
    waits, goes_on = slow_index
    logs = Logs(Memory("out", b"0123456789"))
    close = await logs.follow_logs(JOB, lambda: None)
    cancelled = asyncio.create_task(logs.log_files(JOB))
    await eventually(waits.is_set)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    again = asyncio.create_task(logs.log_files(JOB))
    await asyncio.sleep(0.1)
    goes_on.set()
    [file] = await again
    assert (file.path.read_bytes(), file.stream.size) == (b"0123456789", 10)
    close()


async def test_append_that_failed_is_repeated(monkeypatch: pytest.MonkeyPatch):
    def full(descriptor: int, time: float, size: int) -> None:
        raise OSError(28, "No space left on device")

    logs = Logs(Memory("out", b"0123456789"))
    close = await logs.follow_logs(JOB, lambda: None)
    with monkeypatch.context() as disk:
        disk.setattr(index, "append", full)
        [file] = await logs.log_files(JOB)
        assert file.stream.size == 0
    [file] = await logs.log_files(JOB)
    assert (file.path.read_bytes(), file.stream.size) == (b"0123456789", 10)
    close()


async def test_readers_at_a_time_share_one_folder(temporary: Path):
    logs = Logs(Memory("out", b"0123456789"), Memory("err", b"warning\n"))
    close = await logs.follow_logs(JOB, lambda: None)
    found = await asyncio.gather(*(logs.log_files(JOB) for _number in range(4)))
    assert len({tuple(file.path for file in files) for files in found}) == 1
    assert [file.path.read_bytes() for file in found[0]] == [b"0123456789", b"warning\n"]
    assert len(content(temporary)) == 1
    close()
    await eventually(lambda: not content(temporary))


async def test_nothing_is_left_of_a_log_that_is_closed_during_an_append(
    slow_index: tuple[Event, Event], temporary: Path
):
    waits, goes_on = slow_index
    logs = Logs(Memory("out", b"0123456789"))
    close = await logs.follow_logs(JOB, lambda: None)
    reading = asyncio.create_task(logs.log_files(JOB))
    await eventually(waits.is_set)
    close()
    await asyncio.sleep(0.1)
    goes_on.set()
    await reading
    await eventually(lambda: not content(temporary))
    await asyncio.sleep(0.1)
    assert not content(temporary)
