"""The time index of a log file: how many bytes the log had at which time.

The index is a file beside the log. Its records have a fixed size: the time in seconds since the epoch as a
little-endian double, and the log's size in bytes as an unsigned 64-bit integer. Records are appended while the log
grows, so the last one may be incomplete, and is ignored then. The supervisor uses this module, so it needs only the
standard library.
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
    """Append a record to an index file.

    Parameters
    ----------
    descriptor
        The index file, opened with ``O_APPEND``.
    time
        Seconds since the epoch, UTC.
    size
        Size of the log at that time, in bytes.

    Raises
    ------
    OSError
        If the disk is full or gone.
    """
    os.write(descriptor, RECORD.pack(time, size))


def span(path: Path) -> tuple[float, float] | None:
    """Return the first and last time in an index file without reading all of it (blocking); None if it is empty."""
    try:
        with path.open("rb") as file:
            # The size is read first, since the file may grow in the meantime.
            records = file.seek(0, os.SEEK_END) // RECORD.size
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
    """A log file's index in memory (16 bytes a record); `refresh` reads appended records.

    Times never decrease, even if the machine's clock was set back: a record with an earlier time than the record before
    it counts as written at the same time.

    Parameters
    ----------
    path
        The index file, which need not exist yet. None for a log that has no index.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._times = array("d")
        self._sizes = array("Q")

    def refresh(self) -> None:
        """Read the records that were appended since the last call (blocking)."""
        if self.path is None:
            return
        try:
            with self.path.open("rb") as file:
                if file.seek(0, os.SEEK_END) < len(self._sizes) * RECORD.size:
                    self._times, self._sizes = array("d"), array("Q")  # The log was begun anew.
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
        # Times come first, so that another thread that finds a size also finds its time.
        self._times.extend(islice(accumulate(times, max, initial=last_time), 1, None))
        self._sizes.extend(islice(accumulate(sizes, max, initial=last_size), 1, None))

    @property
    def span(self) -> tuple[float, float] | None:
        """First and last time in seconds since the epoch; None if the index is empty."""
        return (self._times[0], self._times[-1]) if self._times else None

    @property
    def size(self) -> int:
        """Size of the log at the last record, in bytes."""
        return self._sizes[-1] if self._sizes else 0

    def time_at(self, offset: int) -> float | None:
        """Return the time of the record that includes the byte at `offset`; None if the index is empty."""
        record = bisect.bisect_right(self._sizes, offset)
        if record < len(self._times):
            return self._times[record]
        return self._times[-1] if self._times else None

    def offset_at(self, time: float) -> int:
        """Return the largest indexed offset whose preceding bytes were all written before `time`."""
        record = bisect.bisect_left(self._times, time)
        return self._sizes[record - 1] if record else 0
