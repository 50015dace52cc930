"""Logs of the jobs to which pages subscribe: reading, and waiting for new lines.

All subscribers of a job share one `JobLogs`, which checks the sizes of the job's files once for all of them, and reads
and encodes once the lines that several subscribers request from the same position.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from typing import Protocol

import anyio

from ...core.errors import JobError, NotFound, Unavailable
from ...core.job import LogStream
from ...core.log_sources import LogFile
from ...core.system.disk_threads import on_disk
from ...core.system.pace import SHARE
from ...core.system.tasks import spawn
from ..failures.levels import Level
from ..storage.index import TimeIndex
from .batch import Batch
from .level_lines import ErrorSearch, FirstErrors, first_errors
from .pages import Direction, Page, read_page
from .sources import Anchor, Source, places, status_of
from .text import Block, read_block

INTERVAL = 0.1
"""Interval between checks of the sizes of followed files, in seconds."""
SOON = 0.02
"""Interval between these checks while the files grow, in seconds per follower."""
GATHERING = 0.005
"""Seconds for which lines are gathered before they are sent, per follower, if the engine notifies of growth."""
FLOOD = 16 * 1024
"""Growth in bytes from which lines are gathered for `SOON`: frequent small reads would slow the writer down."""
STREAMS_INTERVAL = 1.0
"""Interval between listings of a job's streams, in seconds."""
BATCH_LINES = 2000
KEPT_BATCHES = 8

log = logging.getLogger(__name__)


class LogFiles(Protocol):
    """Access to the log files of jobs, by job id."""

    async def log_files(self, ident: str) -> list[LogFile]:
        """Return the files of a job's log streams, in a stable order."""
        ...

    async def follow_logs(self, ident: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Keep a job's logs up to date until the returned function is called.

        Parameters
        ----------
        ident
            The job's id.
        grown
            Called after the logs have grown.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        ...


class Signal:
    """A counter of notifications, which tasks can wait for."""

    def __init__(self) -> None:
        self.count = 0
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Increment the counter and wake all waiting tasks."""
        self.count += 1
        self._event.set()
        self._event = asyncio.Event()

    async def wait(self, count: int) -> None:
        """Return as soon as the counter differs from `count`."""
        while self.count == count:
            await self._event.wait()


class JobLogs:
    """The log streams of one job while at least one client subscribes.

    Parameters
    ----------
    jobs
        Access to the job's log files.
    ident
        Id of the job.

    Attributes
    ----------
    listed
        Notified when streams were added or removed, or when more than the size of a stream changed.
    grown
        Notified when there may be new lines; only while a task waits in `wait_for_growth`.
    """

    def __init__(self, jobs: LogFiles, ident: str) -> None:
        self.listed = Signal()
        self.grown = Signal()
        self._jobs = jobs
        self._ident = ident
        self._files: list[LogFile] = []
        self._sources: dict[str, Source] = {}
        self._errors: dict[str, ErrorSearch] = {}
        self._reading = threading.Lock()
        self._followers = 0
        self._followed = asyncio.Event()
        self._notified = asyncio.Event()
        self._batches: dict[object, asyncio.Task[Batch]] = {}
        self._start: asyncio.Task[None] | None = None
        self._watch: asyncio.Task[None] | None = None
        self._unfollow: Callable[[], None] = lambda: None

    async def start(self) -> None:
        """List the streams and begin to watch them, once for all callers; a cancelled call does not stop that.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        if self._start is None:
            self._start = spawn(self._begin(), "open a log")
        await asyncio.shield(self._start)

    async def _begin(self) -> None:
        self._unfollow = await self._jobs.follow_logs(self._ident, self._notified.set)
        await self._list()
        self._watch = spawn(self._watch_files(), "watch the files of a log")

    async def stop(self) -> None:
        """Stop watching the streams, or the start of it."""
        self._unfollow()
        tasks = [*self._batches.values(), *(task for task in (self._start, self._watch) if task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def streams(self) -> list[LogStream]:
        """The streams of the last listing."""
        return [file.stream for file in self._files]

    def sources(self, streams: Collection[str] | None) -> list[Source]:
        """Return the files of the chosen streams, in order; of all streams for None."""
        wanted = [file.stream.id for file in self._files if streams is None or file.stream.id in streams]
        return [self._sources[stream] for stream in wanted]

    async def page(
        self,
        streams: Collection[str] | None,
        anchor: Anchor,
        direction: Direction,
        limit: int,
        level: Level | None = None,
    ) -> Page:
        """Return a page of merged lines.

        Parameters
        ----------
        streams
            Ids of the chosen streams; None for all.
        anchor, direction, limit, level
            See `read_page`.
        """
        sources = self.sources(streams)
        return await on_disk(places(sources), self._read, sources, anchor, direction, limit, level)

    async def block(self, stream: str, start: int) -> Block | None:
        """Return whole lines of a stream at once; None if they have to be read one by one.

        Parameters
        ----------
        stream
            Id of the stream.
        start
            See `read_block`.
        """
        sources = self.sources([stream])

        def read() -> Block | None:
            with self._reading:
                return read_block(sources[0], start) if sources else None

        return await on_disk(places(sources), read)

    async def first_errors(self, streams: Collection[str] | None) -> FirstErrors:
        """Search one part of the chosen streams for the first error of each; the next call continues the search.

        Parameters
        ----------
        streams
            Ids of the chosen streams; None for all.
        """
        sources = self.sources(streams)

        def read() -> FirstErrors:
            with self._reading:
                return first_errors(sources, self._errors)

        return await on_disk(places(sources), read)

    async def batch(
        self, streams: frozenset[str] | None, cursor: Mapping[str, int], level: Level | None = None
    ) -> Batch:
        """Return the lines after a position; equal requests share one batch, also after it was read.

        Parameters
        ----------
        streams
            Ids of the chosen streams; None for all.
        cursor
            The position: offset by stream.
        level
            Lowest level of the lines; None for all lines.
        """
        key = (streams, frozenset(cursor.items()), level)
        task = self._batches.get(key)
        if task is None or self._is_outdated(task):
            self._batches.pop(key, None)
            task = self._batches[key] = asyncio.create_task(self._read_batch(streams, cursor, level))
            if len(self._batches) > KEPT_BATCHES:
                del self._batches[next(iter(self._batches))]
        return await asyncio.shield(task)

    def _is_outdated(self, task: asyncio.Task[Batch]) -> bool:
        if not task.done():
            return False
        if task.cancelled() or task.exception() is not None:
            return True
        return task.result().empty and task.result().growth != self.grown.count

    async def _read_batch(
        self, streams: frozenset[str] | None, cursor: Mapping[str, int], level: Level | None
    ) -> Batch:
        sources, growth = self.sources(streams), self.grown.count

        def read() -> Batch:
            return Batch(self._read(sources, cursor, "forward", BATCH_LINES, level), cursor, growth)

        return await on_disk(places(sources), read)

    def _read(
        self, sources: list[Source], anchor: Anchor, direction: Direction, limit: int, level: Level | None
    ) -> Page:
        with self._reading:  # All readers share the indexes and tails of the sources.
            return read_page(sources, anchor, direction, limit, level)

    def _sizes(self) -> list[int]:
        """Return the number of bytes that can be read of each file (blocking)."""
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
        """Watch the files until the count of `grown` differs from `count`."""
        self._followers += 1
        self._followed.set()
        try:
            await self.grown.wait(count)
        finally:
            self._followers -= 1

    async def _wait_for_notification(self, seconds: float) -> None:
        """Return when the engine notifies of growth, at the latest after so many seconds."""
        timer = asyncio.get_running_loop().call_later(seconds, self._notified.set)
        try:
            await self._notified.wait()
        finally:
            timer.cancel()
        self._notified.clear()

    async def _watch_files(self) -> None:
        loop = asyncio.get_running_loop()
        sizes: list[int] = []
        listed = loop.time()
        rest, pause = 0.0, INTERVAL
        while True:
            if self._followers:
                await asyncio.sleep(rest)
                await self._wait_for_notification(pause - rest)
                begun = loop.time()
                try:
                    now = await on_disk(places(self.sources(None)), self._sizes)
                except Unavailable:  # The next reader gets this error.
                    now = sizes
                pause = min(INTERVAL, 2 * pause)
                least = SHARE * (loop.time() - begun)
                if now != sizes:
                    grown, sizes = sum(now) - sum(sizes), now
                    pause = min(INTERVAL, SOON * max(1, self._followers))
                    least = max(least, pause if grown > FLOOD else GATHERING * self._followers)
                    self.grown.notify()
                rest = min(pause, least)
            else:
                self._followed.clear()
                # `asyncio.wait_for` may swallow a cancellation before Python 3.12.
                with anyio.move_on_after(STREAMS_INTERVAL):
                    await self._followed.wait()
            if loop.time() - listed >= STREAMS_INTERVAL:
                listed = loop.time()
                try:
                    await self._list()
                except JobError as error:
                    log.warning("The log streams of %s can't be listed: %s", self._ident, error.message)
                except Exception:  # An engine's error must not end the watch.
                    log.exception("The log streams of %s can't be listed", self._ident)

    async def refresh(self) -> None:
        """List the streams now, without waiting for the next listing.

        Raises
        ------
        JobError
            If the streams can't be listed.
        """
        await self._list()

    async def _list(self) -> None:
        before = [_steady(file) for file in self._files]
        try:
            self._files = await self._jobs.log_files(self._ident)
        except NotFound:
            if self._watch is None:
                raise
            self._files = []  # The job was removed while its log was followed.
        for file in self._files:
            known = self._sources.get(file.stream.id)
            if known is None or (known.path, known.index.path, known.cuts) != (file.path, file.index, file.cuts):
                self._sources[file.stream.id] = Source(
                    file.stream.id, file.path, TimeIndex(file.index), file.cuts, file.within
                )
        if [_steady(file) for file in self._files] != before:
            self.listed.notify()
            self.grown.notify()


def _steady(file: LogFile) -> LogStream:
    """Return a stream without the fields that change whenever it grows, for which no message is sent."""
    return file.stream.model_copy(update={"size": 0, "first_time": None, "last_time": None})


class LogService:
    """The logs of all jobs to which at least one client subscribes.

    Parameters
    ----------
    jobs
        Access to the log files of jobs.
    """

    def __init__(self, jobs: LogFiles) -> None:
        self._jobs = jobs
        self._subscriptions: dict[str, list[JobLogs]] = {}

    @contextlib.asynccontextmanager
    async def subscribe(self, ident: str) -> AsyncIterator[JobLogs]:
        """Subscribe to the logs of a job; they are watched until the last subscriber leaves.

        Raises
        ------
        NotFound
            If there is no such job.
        """
        subscriptions = self._subscriptions.setdefault(ident, [])
        logs = subscriptions[0] if subscriptions else JobLogs(self._jobs, ident)
        subscriptions.append(logs)
        try:
            await logs.start()
            yield logs
        finally:
            subscriptions.pop()
            if not subscriptions:
                del self._subscriptions[ident]
                await logs.stop()
