"""One job: a process, and its output in memory."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from jupyterlab_t9kjob.core.log_sources import LogChunk


class MemoryLog:
    """Output of a process: pieces with the time of their arrival."""

    def __init__(self) -> None:
        self.size = 0
        self._starts: list[int] = []
        self._chunks: list[LogChunk] = []
        self._followers: list[Callable[[], None]] = []

    def append(self, data: bytes) -> None:
        """Add a piece and notify followers."""
        self._starts.append(self.size)
        self._chunks.append(LogChunk(data, time.time()))
        self.size += len(data)
        for grown in list(self._followers):
            grown()

    async def read(self, offset: int) -> LogChunk:
        """Return bytes from an offset on, up to the end of their piece."""
        if offset >= self.size:
            return LogChunk(b"")
        number = bisect_right(self._starts, offset) - 1
        chunk = self._chunks[number]
        return LogChunk(chunk.data[offset - self._starts[number] :], chunk.time)

    def follow(self, grown: Callable[[], None]) -> Callable[[], None]:
        """Call `grown` after every new piece; return a function that ends the subscription."""
        self._followers.append(grown)
        return lambda: self._followers.remove(grown)


class JobProcess:
    """The process of a job.

    Parameters
    ----------
    changed
        Called after the process has started and after it has ended.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        self.log = MemoryLog()
        self.created_at = time.time()
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.exit_code: int | None = None
        self.stopping = False
        self.pid: int | None = None
        self._changed = changed

    async def run(self, command: Sequence[str], env: Mapping[str, str], folder: str | None) -> None:
        """Start the process and wait for its end."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env={**os.environ, **env, "PYTHONUNBUFFERED": "1"},
                cwd=folder,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            self.log.append(f"{command[0]} can't be started: {error}\n".encode())
            self.exit_code, self.ended_at = 127, time.time()
            self._changed()
            return
        self.pid, self.started_at = process.pid, time.time()
        self._changed()
        assert process.stdout is not None
        while data := await process.stdout.read(65536):
            self.log.append(data)
        self.exit_code, self.ended_at = await process.wait(), time.time()
        self._changed()

    def end(self) -> None:
        """Ask the process, and all that it started, to end."""
        self.stopping = True
        if self.pid is not None and self.ended_at is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGTERM)
        self._changed()
