"""How far a run says that it is, read from its log files as they grow."""

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
    """Reads only what was appended since, and of that at most the last 64 KiB."""

    def __init__(self) -> None:
        self._reader = ProgressReader()
        self._offsets: dict[str, int] = {}

    @property
    def reading(self) -> Reading | None:
        """What is known now."""
        return self._reader.reading

    def read(self, logs: Iterable[tuple[str, Path, Path | None]]) -> bool:
        """Read what is new (blocking); return whether that told anything.

        Parameters
        ----------
        logs
            Each with an id, its path, and the folder below which no link is followed (None for any).
        """
        before = self._reader.reading
        for ident, path, within in logs:
            with contextlib.suppress(OSError):  # removed meanwhile: there is nothing to read from
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
