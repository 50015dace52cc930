"""Follows the log of a running job's first rank to tell how far it is."""

from __future__ import annotations

import os
import time

from ...core.progress import ProgressReader, Reading
from .logfiles import FoundLog, logs_of_attempt
from .record import JobFiles, Record, holder_of_rank_0

_MOST_BYTES = 64 * 1024


class LiveProgress:
    """Reads only what was appended since, and of that at most the last 64 KiB.

    Parameters
    ----------
    files
        The job's directory.
    """

    def __init__(self, files: JobFiles) -> None:
        self._files = files
        self._read_at = 0.0
        self._run: tuple[str, int, int] | None = None
        self._logs: list[FoundLog] = []
        self._offsets: dict[str, int] = {}
        self._reader = ProgressReader()

    @property
    def reading(self) -> Reading | None:
        """What is known now."""
        return self._reader.reading

    def read(self, record: Record, interval: float) -> bool:
        """Read what is new, at most once in `interval` seconds; return whether that told anything."""
        now = time.monotonic()
        if now - self._read_at < interval:
            return False
        self._read_at = now
        self._choose(record)
        before = self._reader.reading
        for log in self._logs:
            self._read_on(log)
        return self._reader.reading is not before

    def _choose(self, record: Record) -> None:
        """Choose the logs of global rank 0, or of the first replica while that isn't known."""
        holder = holder_of_rank_0(record)
        if holder is None:
            return
        attempt = holder["attempts"][-1]
        run = (holder["name"], attempt["number"], attempt["worker_restarts"])
        if run == self._run and len(self._logs) > 0:
            return
        if run != self._run:
            self._run, self._reader, self._offsets = run, ProgressReader(), {}
        self._logs = [
            log
            for log in logs_of_attempt(self._files, holder["name"], attempt["number"])
            if log.source != "launcher"
            and log.local_rank in (0, None)
            and log.worker_restart == attempt["worker_restarts"]
        ]

    def _read_on(self, log: FoundLog) -> None:
        try:
            with log.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                start = max(self._offsets.get(log.id, 0), size - _MOST_BYTES)
                if size <= start:
                    return
                file.seek(start)
                data = file.read(size - start)
        except OSError:
            return  # removed meanwhile: there is nothing to read from
        self._offsets[log.id] = start + len(data)
        self._reader.feed(data)
