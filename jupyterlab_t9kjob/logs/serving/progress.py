"""Progress of a run, read from its log files as they grow."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ...core.progress import ProgressReader, Reading
from .sources import open_log

_MOST_BYTES: Final = 64 * 1024


class LogProgress:
    """Progress that a run reports in its log; each call of `read` reads at most the last 64 KiB of appended bytes."""

    def __init__(self) -> None:
        self._reader = ProgressReader()
        self._offsets: dict[str, int] = {}

    @property
    def reading(self) -> Reading | None:
        """The latest progress; None if the run has reported none."""
        return self._reader.reading

    def read(self, logs: Iterable[tuple[str, Path, Path | None]]) -> bool:
        """Read the bytes that were appended since the last call (blocking).

        Parameters
        ----------
        logs
            The log files: id, path, and the folder below which no symbolic link is followed (None follows all links).

        Returns
        -------
        bool
            True if `reading` has changed.
        """
        before = self._reader.reading
        for ident, path, within in logs:
            with contextlib.suppress(OSError):  # The file was removed in the meantime.
                self._read_on(ident, path, within)
        return self._reader.reading is not before

    def _read_on(self, ident: str, path: Path, within: Path | None) -> None:
        with os.fdopen(open_log(path, within), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            start = max(self._offsets.get(ident, 0), size - _MOST_BYTES)
            if size <= start:
                return
            file.seek(start)
            data = file.read(size - start)
        self._offsets[ident] = start + len(data)
        self._reader.feed(data)
