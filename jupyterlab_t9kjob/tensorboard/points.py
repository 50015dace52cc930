"""Number of points in event files; each count reads a limited number of bytes that were appended since the last one."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .event_records import CHECKSUM_BYTES, HEADER_BYTES, SUMMARY, VALUE, fields, messages, read_record

MAX_SECONDS: Final = 0.2
MAX_BYTES: Final = 8 * 1024 * 1024
_STEP = 2
_HPARAMS = b"_hparams_/"


@dataclass
class _File:
    """Offset up to which a file has been read, and the numbers of points and of different steps before it."""

    offset: int = 0
    points: int = 0
    steps: int = 0
    last_step: int | None = None


class PointCounter:
    """Count of the points in event files that is continued at each call."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    @property
    def steps(self) -> int:
        """Number of different training steps with points, in the file that has the most."""
        return max((file.steps for file in self._files.values()), default=0)

    def count(self, files: Iterable[tuple[str, int]]) -> int | None:
        """Continue the count (blocking).

        Parameters
        ----------
        files
            Paths and sizes (bytes) of all event files.

        Returns
        -------
        int | None
            Number of points; None if not all bytes have been read yet.

        Raises
        ------
        OSError
            If a file can't be read.
        NotEvents
            If a file is not an event file.
        """
        end = time.monotonic() + MAX_SECONDS
        left = MAX_BYTES
        known, self._files = self._files, {}
        complete = True
        for path, size in files:
            file = self._files[path] = known.get(path) or _File()
            if size < file.offset:  # The file was replaced.
                file = self._files[path] = _File()
            if size == file.offset:
                continue
            if left <= 0 or time.monotonic() > end:
                complete = False
                continue
            begun = file.offset
            complete = _read(path, file, left, end) and complete
            left -= file.offset - begun
        return sum(file.points for file in self._files.values()) if complete else None


def _read(path: str, file: _File, most: int, end: float) -> bool:
    """Continue to read a file; return True at its end, which may be within a record that is still being written."""
    stop = file.offset + most
    with Path(path).open("rb") as opened:
        opened.seek(file.offset)
        while file.offset < stop and time.monotonic() < end:
            record = read_record(opened)
            if record is None:
                return True
            length, data = record
            points = _points(data) if data is not None else 1
            file.points += points
            step = _step(data) if data is not None and points else file.last_step
            if step != file.last_step:
                file.last_step, file.steps = step, file.steps + 1
            file.offset += HEADER_BYTES + length + CHECKSUM_BYTES
    return False


def _points(event: bytes) -> int:
    """Return the number of values in an event, without those for the table of hyperparameters."""
    return sum(
        not value[2:].startswith(_HPARAMS)  # The tag is the first field; these tags are shorter than 128 bytes.
        for summary in messages(event, SUMMARY)
        for value in messages(summary, VALUE)
    )


def _step(event: bytes) -> int:
    """Return the step of an event; events of step 0 do not have the field."""
    return next((value for number, value in fields(event) if number == _STEP and isinstance(value, int)), 0)
