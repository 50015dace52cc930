"""Cuts: the hole in the middle of a log file that was shortened, and the record of the hole.

The record file ``<log>.cuts`` lies beside the log. A record is appended before the bytes are removed, so a reader may
treat recorded bytes as removed even if they are still there. A log has one hole that only grows, so the last record is
valid. The supervisor uses this module, so it needs only the standard library.
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
"""Start, end and cap. The size divides a disk block's size, so a full disk takes a whole record or none of it."""
CHUNK = 256 * 1024


class Cut(NamedTuple):
    """Bytes from `start` to `end` of a log, which were removed to keep the job's log below `cap` bytes."""

    start: int
    end: int
    cap: int

    @property
    def words(self) -> bytes:
        """The line that a download has in place of the removed bytes."""
        return b"[jupyterlab_t9kjob: %d bytes were removed here to keep the log below %d bytes]\n" % (
            self.end - self.start,
            self.cap,
        )


def append(path: Path, cut: Cut) -> None:
    """Append a cut to a record and wait until the disk has it (blocking).

    Parameters
    ----------
    path
        The record.
    cut
        The cut, which includes all earlier cuts.

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
    """Return the cut of a log (blocking); None if nothing was removed.

    Parameters
    ----------
    path
        Record of the cut, which need not exist; None for a log that is never cut.

    Raises
    ------
    OSError
        If the server can't open more files, so that the cut is not known.
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
            raise
        return None
    except struct.error:
        return None
    return cut if cut.start < cut.end else None


def whole(
    descriptor: int, size: int, record: Path | None, notes: Iterable[tuple[int, bytes]] = ()
) -> Generator[bytes, None, None]:
    """Yield the bytes of a log in chunks (blocking), with a line in place of removed bytes.

    Bytes may be removed while the log is read.

    Parameters
    ----------
    descriptor
        The open log file.
    size
        Number of bytes to read.
    record
        Record of the log's cut; None for a log that is never cut.
    notes
        Lines to insert, each with the offset of the line before which it comes.
    """
    waiting = deque(sorted(notes))
    offset = 0
    while True:
        while waiting and waiting[0][0] <= offset:
            yield waiting.popleft()[1]
        if offset >= size:
            break
        end = min(offset + CHUNK, size, waiting[0][0] if waiting else size)
        data = os.pread(descriptor, end - offset, offset)
        if not data:
            break
        # The record is read after the bytes: bytes that were read before a cut was recorded are no zeros.
        cut = read(record)
        if cut is None or cut.end <= offset or cut.start >= offset + len(data):
            offset += len(data)
            yield data
            continue
        yield data[: max(0, cut.start - offset)] + cut._replace(start=max(cut.start, offset)).words
        offset = cut.end
    for _offset, note in waiting:
        yield note
