"""What was cut out of a log file to keep the job's log below its cap: one hole in its middle, recorded beside it.

The record, ``<log>.cuts``, is appended to before the bytes go, so whoever finds a record and still finds the bytes may
treat them as gone. A hole only grows: the last record tells all. The module needs only the standard library, because
the supervisor uses it.
"""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import NamedTuple

from ...core.system.disk import no_descriptor

SUFFIX = ".cuts"
RECORD = struct.Struct("<QQQ8x")
"""Start, end, the cap; of a size that never straddles two blocks of a disk that is full."""
CHUNK = 256 * 1024


class Cut(NamedTuple):
    """The bytes from `start` to `end` were removed to keep the job's log below `cap` bytes."""

    start: int
    end: int
    cap: int

    @property
    def words(self) -> bytes:
        """The line that a download has in their place."""
        return b"[jupyterlab_t9kjob: %d bytes were removed here to keep the log below %d bytes]\n" % (
            self.end - self.start,
            self.cap,
        )


def append(path: Path, cut: Cut) -> None:
    """Record a cut, durably; it includes the one before.

    Raises
    ------
    OSError
        If the disk is full or gone.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, RECORD.pack(*cut))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path | None) -> Cut | None:
    """Return what was cut out of a log, given its record; None if nothing was.

    Raises
    ------
    OSError
        If no more files can be opened.
    """
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            records = file.seek(0, os.SEEK_END) // RECORD.size
            if not records:
                return None
            file.seek((records - 1) * RECORD.size)
            cut = Cut(*RECORD.unpack(file.read(RECORD.size)))
    except OSError as error:
        if no_descriptor(error):
            raise  # nothing is known of what was cut out
        return None
    except struct.error:
        return None
    return cut if cut.start < cut.end else None


def whole(
    descriptor: int, size: int, record: Path | None, notes: Iterable[tuple[int, bytes]] = ()
) -> Generator[bytes, None, None]:
    """Return a log's bytes in pieces, with a line in words where some were removed, even if that happens meanwhile.

    Parameters
    ----------
    descriptor
        The open log file.
    size
        Bytes of it that are wanted.
    record
        The record of its cut; None if it has none.
    notes
        Lines that are put in at offsets, where lines begin.
    """
    waiting = deque(sorted(notes))
    place = 0
    while True:
        while waiting and waiting[0][0] <= place:
            yield waiting.popleft()[1]
        if place >= size:
            break
        end = min(place + CHUNK, size, waiting[0][0] if waiting else size)
        data = os.pread(descriptor, end - place, place)
        if not data:
            break
        cut = read(record)  # after the bytes: those before a hole that is not yet recorded are sound
        if cut is None or cut.end <= place or cut.start >= place + len(data):
            place += len(data)
            yield data
            continue
        yield data[: max(0, cut.start - place)] + cut._replace(start=max(cut.start, place)).words
        place = cut.end
    for _, words in waiting:
        yield words
