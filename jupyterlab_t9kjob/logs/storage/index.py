"""The time index beside a log file: when had it how many bytes.

The index is a file of fixed records, (time in seconds since the epoch, size in bytes) as a
little-endian double and unsigned 64-bit integer. It is appended to while the log grows, so a torn
last record is possible and ignored. The module needs only the standard library, because the
supervisor uses it.
"""

from __future__ import annotations

import bisect
import os
import struct
import sys
from array import array
from itertools import accumulate, islice
from pathlib import Path

RECORD = struct.Struct("<dQ")


def append(descriptor: int, time: float, size: int) -> None:
    """Append one record to an index file that is open for appending.

    Parameters
    ----------
    descriptor
        File descriptor opened with ``O_APPEND``.
    time
        Seconds since the epoch, UTC.
    size
        Bytes that the log had at `time`.

    Raises
    ------
    OSError
        If the disk is full or gone.
    """
    os.write(descriptor, RECORD.pack(time, size))


def span(path: Path) -> tuple[float, float] | None:
    """Return the first and last time of an index, reading no more than these (blocking); None if there are none."""
    try:
        with path.open("rb") as file:
            records = file.seek(0, os.SEEK_END) // RECORD.size  # first of all, for it may grow meanwhile
            if not records:
                return None
            file.seek(0)
            first = file.read(RECORD.size)
            file.seek((records - 1) * RECORD.size)
            last = file.read(RECORD.size)
    except OSError:
        return None
    return RECORD.unpack(first)[0], RECORD.unpack(last)[0]


class TimeIndex:
    """A log file's index in memory (16 bytes a record); `refresh` reads what was appended since.

    Times never go back, whatever the machine's clock did: a record that is earlier than the one
    before it counts as written at the same time.

    Parameters
    ----------
    path
        The index file; it need not exist yet. None for a log that has no index.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._times = array("d")
        self._sizes = array("Q")

    def refresh(self) -> None:
        """Read the records that were appended since the last time (blocking)."""
        if self.path is None:
            return
        try:
            with self.path.open("rb") as file:
                file.seek(len(self._sizes) * RECORD.size)
                data = file.read()
        except FileNotFoundError:
            return
        data = data[: len(data) // RECORD.size * RECORD.size]
        if not data:
            return
        times, sizes = array("d", data)[::2], array("Q", data)[1::2]
        if sys.byteorder == "big":
            times.byteswap()
            sizes.byteswap()
        last_time, last_size = (self._times[-1], self._sizes[-1]) if self._times else (times[0], 0)
        # times first: another thread that finds a size finds its time as well
        self._times.extend(islice(accumulate(times, max, initial=last_time), 1, None))
        self._sizes.extend(islice(accumulate(sizes, max, initial=last_size), 1, None))

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last time, or None if nothing is indexed."""
        return (self._times[0], self._times[-1]) if self._times else None

    @property
    def size(self) -> int:
        """Size that the log had at the last record."""
        return self._sizes[-1] if self._sizes else 0

    def time_at(self, offset: int) -> float | None:
        """Return when the byte at `offset` was written, to the index's resolution."""
        place = bisect.bisect_right(self._sizes, offset)
        if place < len(self._times):
            return self._times[place]
        return self._times[-1] if self._times else None

    def offset_at(self, time: float) -> int:
        """Return an offset before which everything was written before `time`."""
        place = bisect.bisect_left(self._times, time)
        return self._sizes[place - 1] if place else 0
