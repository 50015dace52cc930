"""The logs of the jobs that somebody looks at: shared reading, and waiting for more.

All who look at a job share one `JobLogs`: one look at its files' sizes at a time, and one reading and one encoding of
lines that several want from the same place.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import Protocol

import anyio
from pydantic import TypeAdapter

from ...core.engine import LogFile
from ...core.errors import JobError, NotFound, Unavailable
from ...core.job import LogStream
from ...core.system.disk_threads import on_disk
from ...core.system.pace import SHARE
from ...core.system.tasks import spawn
from ..storage.index import TimeIndex
from .model import LogLine
from .pages import Direction, Page, read_page
from .sources import Anchor, Source, places, status_of

INTERVAL = 0.1
"""Seconds between two looks at files that somebody follows."""
SOON = 0.02
"""The same while they grow, for one page; several pages get no more messages by that than one does."""
GATHERING = 0.005
"""Seconds in which lines are gathered once some were sent, for one page, where whoever writes them tells of it."""
FLOOD = 16 * 1024
"""Bytes at once; they are gathered for longer, as reading them in small pieces holds up who writes them."""
STREAMS_INTERVAL = 1.0
"""Seconds between two looks for new streams."""
BATCH_LINES = 2000
KEPT_BATCHES = 8

LINES: TypeAdapter[list[LogLine]] = TypeAdapter(list[LogLine])

log = logging.getLogger(__name__)


class LogFiles(Protocol):
    """Log files of jobs, by the id of the job."""

    async def log_files(self, ident: str) -> list[LogFile]:
        """Return a job's log streams on disk, in a stable order."""
        ...

    async def look_at_logs(self, ident: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Keep a job's logs up to date until the returned function is called; `grown` is called when they grow."""
        ...


class Pulse:
    """A count that can be waited for."""

    def __init__(self) -> None:
        self.count = 0
        self._event = asyncio.Event()

    def beat(self) -> None:
        """Count one and wake who waits."""
        self.count += 1
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, count: int) -> None:
        """Return when the count is another than `count`."""
        while self.count == count:
            await self._event.wait()


class Batch:
    """Lines that follow a position, encoded once for all who send them.

    Attributes
    ----------
    lines
        JSON list of `LogLine`.
    after
        The position behind them.
    caught_up
        Nothing was behind them when they were read, at the count `growth`.
    """

    def __init__(self, page: Page, cursor: Mapping[str, int], growth: int) -> None:
        self.growth = growth
        self.lines = LINES.dump_json(page.lines).decode()
        self.empty = not page.lines
        self.after = {**cursor, **page.after}
        self.caught_up = page.at_end


class JobLogs:
    """The log streams of one job, while somebody looks.

    Parameters
    ----------
    jobs
        Knows the files.
    ident
        The job's id.

    Attributes
    ----------
    listed
        Beats when there are other streams than before, or something but their size has changed.
    grown
        Beats when there may be more to read; only while somebody waits for it.
    """

    def __init__(self, jobs: LogFiles, ident: str) -> None:
        self.listed = Pulse()
        self.grown = Pulse()
        self._jobs = jobs
        self._ident = ident
        self._files: list[LogFile] = []
        self._sources: dict[str, Source] = {}
        self._reading = threading.Lock()
        self._followers = 0
        self._followed = asyncio.Event()
        self._told = asyncio.Event()
        self._batches: dict[object, asyncio.Task[Batch]] = {}
        self._start: asyncio.Task[None] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._end_look: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """Find the streams and begin to watch them, once for all who ask; whoever does not wait any more ends nothing.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        if self._start is None:
            self._start = spawn(self._begin(), "open a log")
        await asyncio.shield(self._start)

    async def _begin(self) -> None:
        self._end_look = await self._jobs.look_at_logs(self._ident, self._told.set)
        await self._list()
        self._watch = spawn(self._watch_files(), "watch the files of a log")

    async def stop(self) -> None:
        """Stop watching, or opening what is to be watched."""
        self._end_look()
        tasks = [*self._batches.values(), *(task for task in (self._start, self._watch) if task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def streams(self) -> list[LogStream]:
        """The streams as last seen."""
        return [file.stream for file in self._files]

    def sources(self, streams: Collection[str] | None) -> list[Source]:
        """Return the files of the chosen streams, in order; of all for None."""
        wanted = [file.stream.id for file in self._files if streams is None or file.stream.id in streams]
        return [self._sources[stream] for stream in wanted]

    async def page(self, streams: Collection[str] | None, anchor: Anchor, direction: Direction, limit: int) -> Page:
        """Read one page of merged lines."""
        sources = self.sources(streams)
        return await on_disk(places(sources), self._read, sources, anchor, direction, limit)

    async def batch(self, streams: frozenset[str] | None, cursor: Mapping[str, int]) -> Batch:
        """Return the lines behind `cursor`; all who ask for the same get the same, those who come late as well."""
        key = (streams, frozenset(cursor.items()))
        task = self._batches.get(key)
        if task is None or self._is_outdated(task):
            self._batches.pop(key, None)
            task = self._batches[key] = asyncio.create_task(self._read_batch(streams, cursor))
            if len(self._batches) > KEPT_BATCHES:
                del self._batches[next(iter(self._batches))]
        return await asyncio.shield(task)

    def _is_outdated(self, task: asyncio.Task[Batch]) -> bool:
        if not task.done():
            return False
        if task.cancelled() or task.exception() is not None:
            return True
        return task.result().empty and task.result().growth != self.grown.count

    async def _read_batch(self, streams: frozenset[str] | None, cursor: Mapping[str, int]) -> Batch:
        sources, growth = self.sources(streams), self.grown.count

        def read() -> Batch:
            return Batch(self._read(sources, cursor, "forward", BATCH_LINES), cursor, growth)

        return await on_disk(places(sources), read)

    def _read(self, sources: list[Source], anchor: Anchor, direction: Direction, limit: int) -> Page:
        with self._reading:  # the indexes and tails are shared
            return read_page(sources, anchor, direction, limit)

    def _sizes(self) -> list[int]:
        """Return how much of each file can be read (blocking)."""
        sizes = []
        with self._reading:
            for source in self.sources(None):
                try:
                    sizes.append(source.settle(status_of(source.path, source.within)))
                except OSError:
                    sizes.append(0)
        return sizes

    # -- waiting ------------------------------------------------------------------------------------------------------

    async def wait_for_growth(self, count: int) -> None:
        """Return when `self.grown` has another count than `count`; the files are watched meanwhile."""
        self._followers += 1
        self._followed.set()
        try:
            await self.grown.wait(count)
        finally:
            self._followers -= 1

    async def _wait_to_be_told(self, seconds: float) -> None:
        """Return when files are told to have grown, or after so long; what is written from then on is told again."""
        timer = asyncio.get_running_loop().call_later(seconds, self._told.set)
        try:
            await self._told.wait()
        finally:
            timer.cancel()
        self._told.clear()

    async def _watch_files(self) -> None:
        loop = asyncio.get_running_loop()
        sizes: list[int] = []
        listed = loop.time()
        rest, pause = 0.0, INTERVAL
        while True:
            if self._followers:
                await asyncio.sleep(rest)
                await self._wait_to_be_told(pause - rest)
                begun = loop.time()
                try:
                    now = await on_disk(places(self.sources(None)), self._sizes)
                except Unavailable:  # which whoever reads on is told
                    now = sizes
                pause = min(INTERVAL, 2 * pause)
                least = SHARE * (loop.time() - begun)
                if now != sizes:
                    grown, sizes = sum(now) - sum(sizes), now
                    pause = min(INTERVAL, SOON * max(1, self._followers))
                    least = max(least, pause if grown > FLOOD else GATHERING * self._followers)
                    self.grown.beat()
                rest = min(pause, least)
            else:
                self._followed.clear()
                # not `asyncio.wait_for`, which before Python 3.12 may swallow a cancellation
                with anyio.move_on_after(STREAMS_INTERVAL):
                    await self._followed.wait()
            if loop.time() - listed >= STREAMS_INTERVAL:
                listed = loop.time()
                try:
                    await self._list()
                except JobError as error:
                    log.warning("The log streams of %s can't be listed: %s", self._ident, error.message)

    async def _list(self) -> None:
        before = [_steady(file) for file in self._files]
        try:
            self._files = await self._jobs.log_files(self._ident)
        except NotFound:
            if self._watch is None:
                raise
            self._files = []  # the job has been removed while somebody looked
        for file in self._files:
            known = self._sources.get(file.stream.id)
            if known is None or (known.path, known.index.path, known.cuts) != (file.path, file.index, file.cuts):
                self._sources[file.stream.id] = Source(
                    file.stream.id, file.path, TimeIndex(file.index), file.cuts, file.within
                )
        if [_steady(file) for file in self._files] != before:
            self.listed.beat()
            self.grown.beat()


def _steady(file: LogFile) -> LogStream:
    """Return what of a stream is worth a message; lines tell that it grows."""
    return file.stream.model_copy(update={"size": 0, "first_time": None, "last_time": None})


class LogService:
    """The logs of all jobs that somebody looks at.

    Parameters
    ----------
    jobs
        Knows the jobs.
    """

    def __init__(self, jobs: LogFiles) -> None:
        self._jobs = jobs
        self._looks: dict[str, list[JobLogs]] = {}

    @contextlib.asynccontextmanager
    async def look(self, ident: str) -> AsyncIterator[JobLogs]:
        """Give a job's logs to one who looks; they are watched as long as anybody does.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        looks = self._looks.setdefault(ident, [])
        logs = looks[0] if looks else JobLogs(self._jobs, ident)
        looks.append(logs)
        try:
            await logs.start()
            yield logs
        finally:
            looks.pop()
            if not looks:
                del self._looks[ident]
                await logs.stop()
