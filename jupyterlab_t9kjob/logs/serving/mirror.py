"""Temporary copies of log streams that are no files of this server, so that all logs are read in one way.

A copy exists while at least one client subscribes to the job's log. It has the times that the engine gave, in an index
beside it. Pages, searches and downloads then read the copy as they read the log file of any other engine.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from ...core.log_sources import LogChunk, LogFile, LogReader, LogSource
from ...core.system.tasks import spawn
from ..storage import index


class LogMirror:
    """The temporary copies of the log streams of all jobs, by job."""

    def __init__(self) -> None:
        self._copies: dict[str, _JobCopies] = {}

    def open(self, ident: str, grown: Callable[[], None]) -> tuple[Callable[[], None], Callable[[], None]]:
        """Keep copies of a job's streams until they are closed by all who opened them.

        Parameters
        ----------
        ident
            The job's id.
        grown
            Called after the copies have grown, or at once for a job whose streams are files.

        Returns
        -------
        moved
            To be called when the engine has more bytes.
        close
            Ends the copies.
        """
        copies = self._copies.setdefault(ident, _JobCopies())
        copies.users += 1
        tasks: set[asyncio.Task[None]] = set()
        due = False

        async def copy() -> None:
            nonlocal due
            while due:
                due = False
                await copies.catch_up()
                grown()

        def moved() -> None:
            nonlocal due
            if not copies.has_readers:
                grown()
            elif not due:
                due = True
                if not tasks:
                    task = spawn(copy(), "copy a log")
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)

        def close() -> None:
            for task in tasks:
                task.cancel()
            copies.users -= 1
            if copies.users == 0:
                del self._copies[ident]
                copies.remove()

        return moved, close

    async def files(self, ident: str, sources: Iterable[LogSource]) -> list[LogFile]:
        """Return the streams as files: copies, brought up to date, of those that are none.

        Parameters
        ----------
        ident
            The job's id.
        sources
            The job's streams, in order. Streams that need a copy are left out unless the job was opened.
        """
        copies = self._copies.get(ident)
        found = []
        for source in sources:
            if isinstance(source, LogFile):
                found.append(source)
            elif copies is not None:
                found.append(await copies.file(source))
        return found


class _JobCopies:
    """Copies of one job's streams."""

    def __init__(self) -> None:
        self.users = 0
        self._folder: Path | None = None
        self._streams: dict[str, _Copy] = {}

    @property
    def has_readers(self) -> bool:
        """True if the job has streams that are copied."""
        return bool(self._streams)

    async def file(self, source: LogReader) -> LogFile:
        """Return the copy of a stream, brought up to date."""
        if self._folder is None:
            self._folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="t9kjob-log-"))
        known = self._streams.get(source.stream.id)
        if known is None:
            # the id of a stream is not necessarily a file name
            known = self._streams[source.stream.id] = _Copy(self._folder / f"{len(self._streams)}.log", source)
        known.source = source
        await known.catch_up()
        return LogFile(source.stream.model_copy(update={"size": known.size}), known.path, known.index)

    async def catch_up(self) -> None:
        """Copy what the streams have grown by."""
        await asyncio.gather(*(stream.catch_up() for stream in self._streams.values()))

    def remove(self) -> None:
        """Remove the files."""
        if self._folder is not None:
            folder = self._folder
            asyncio.get_running_loop().run_in_executor(None, shutil.rmtree, folder, True)


class _Copy:
    """A copy of one stream.

    Parameters
    ----------
    path
        The file; its index lies beside it.
    source
        The stream.
    """

    def __init__(self, path: Path, source: LogReader) -> None:
        self.path = path
        self.index = path.with_suffix(".index") if source.timed else None
        self.source = source
        self.size = 0
        self._lock = asyncio.Lock()

    async def catch_up(self) -> None:
        """Append what the stream has grown by."""
        async with self._lock:
            while (chunk := await self.source.read(self.size)).data:
                await asyncio.to_thread(self._append, chunk)
                self.size += len(chunk.data)

    def _append(self, chunk: LogChunk) -> None:
        with self.path.open("ab") as file:
            file.write(chunk.data)
        if self.index is not None:
            descriptor = os.open(self.index, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                index.append(descriptor, chunk.time, self.size + len(chunk.data))
            finally:
                os.close(descriptor)
