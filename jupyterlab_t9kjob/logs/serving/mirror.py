"""Temporary copies of log streams that are no files of this server, so that all logs are read in one way.

A copy exists while at least one client subscribes to the job's log. It has the times that the engine gave, in an index
beside it. Pages, searches and downloads then read the copy as they read the log file of any other engine.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from uuid import uuid4

from ...core.errors import JobError
from ...core.log_sources import LogChunk, LogFile, LogReader, LogSource
from ...core.system.tasks import spawn
from ..storage import index

log = logging.getLogger(__name__)


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
        copies = self._copies.setdefault(ident, _JobCopies(ident))
        copies.listeners.append(grown)

        def moved() -> None:
            if copies.has_readers:
                copies.moved()
            else:
                grown()

        def close() -> None:
            copies.listeners.remove(grown)
            if not copies.listeners:
                del self._copies[ident]
                copies.remove()

        return moved, close

    async def files(self, ident: str, sources: Iterable[LogSource], *, strict: bool = False) -> list[LogFile]:
        """Return the streams as files: copies, brought up to date, of those that are none.

        Parameters
        ----------
        ident
            The job's id.
        sources
            The job's streams, in order. Streams that need a copy are left out unless the job was opened.
        strict
            True to raise the error of a stream that can't be read. Otherwise the error is logged, and the copy of the
            stream has the bytes that were read before.
        """
        found = []
        for source in sources:
            if isinstance(source, LogFile):
                found.append(source)
            elif ident in self._copies:  # The job may be closed while a stream is read.
                found.append(await self._copies[ident].file(source, strict))
        return found


class _JobCopies:
    """Copies of one job's streams, kept up to date by one task.

    Parameters
    ----------
    ident
        The job's id.

    Attributes
    ----------
    listeners
        Called after the copies have grown.
    """

    def __init__(self, ident: str) -> None:
        self.listeners: list[Callable[[], None]] = []
        self._ident = ident
        # The first append creates the folder. The random name prevents that another user creates it before.
        self._folder = Path(tempfile.gettempdir()) / f"t9kjob-log-{uuid4().hex}"
        self._streams: dict[str, _Copy] = {}
        self._due = False
        self._task: asyncio.Task[None] | None = None

    @property
    def has_readers(self) -> bool:
        """True if the job has streams that are copied."""
        return bool(self._streams)

    async def file(self, source: LogReader, strict: bool) -> LogFile:
        """Return the copy of a stream, brought up to date."""
        known = self._streams.get(source.stream.id)
        if known is None:
            # the id of a stream is not necessarily a file name
            known = self._streams[source.stream.id] = _Copy(self._folder / f"{len(self._streams)}.log", source)
        known.source = source
        await (known.catch_up() if strict else self._catch_up(known))
        return LogFile(source.stream.model_copy(update={"size": known.size}), known.path, known.index)

    def moved(self) -> None:
        """Copy what the streams have grown by, then notify the listeners."""
        self._due = True
        if self._task is None or self._task.done():
            self._task = spawn(self._copy(), "copy a log")

    async def _copy(self) -> None:
        while self._due:
            self._due = False
            await asyncio.gather(*(self._catch_up(stream) for stream in self._streams.values()))
            for grown in list(self.listeners):
                grown()

    async def _catch_up(self, stream: _Copy) -> None:
        """Bring a copy up to date; log errors, since the other streams may be readable."""
        try:
            await stream.catch_up()
        except JobError as error:
            log.warning("The log stream %s of %s can't be read: %s", stream.id, self._ident, error.message)
        except Exception:
            log.exception("The log stream %s of %s can't be read", stream.id, self._ident)

    def remove(self) -> None:
        """End the task and remove the files."""
        if self._task is not None:
            self._task.cancel()
        asyncio.get_running_loop().run_in_executor(None, self._remove)

    def _remove(self) -> None:
        for stream in self._streams.values():
            stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)


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
        self._reading = asyncio.Lock()
        self._writing = threading.Lock()
        self._closed = False

    @property
    def id(self) -> str:
        """Id of the stream."""
        return self.source.stream.id

    async def catch_up(self) -> None:
        """Append what the stream has grown by."""
        async with self._reading:
            while not self._closed:
                offset = self.size
                chunk = await self.source.read(offset)
                if not chunk.data:
                    return
                await asyncio.to_thread(self._append, chunk, offset)

    def close(self) -> None:
        """Wait for the append that runs now, and prevent more (blocking)."""
        with self._writing:
            self._closed = True

    def _append(self, chunk: LogChunk, offset: int) -> None:
        """Append a chunk that was read from an offset on (blocking).

        The thread goes on if its caller is cancelled. It alone changes the size, together with the files.
        """
        with self._writing:
            if self._closed or offset != self.size:  # The thread of a cancelled call has appended these bytes.
                return
            end = offset + len(chunk.data)
            self.path.parent.mkdir(0o700, exist_ok=True)
            with self.path.open("ab") as file:
                file.truncate(offset)  # Drop the bytes of an append that failed.
                file.write(chunk.data)
            if self.index is not None:
                descriptor = os.open(self.index, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
                try:
                    index.append(descriptor, chunk.time, end)
                finally:
                    os.close(descriptor)
            self.size = end
