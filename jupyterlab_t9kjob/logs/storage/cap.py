"""Size cap of a job's log: the middle of its largest files is removed, also while they are written.

Bytes are removed by freeing blocks of the file (a hole), which disturbs no writer, since all offsets stay the same. The
supervisor of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from pathlib import Path
from typing import NamedTuple

from . import cuts
from .cuts import Cut

KEPT_SHARE = 0.75
"""Share of the cap that a cut leaves, so that cuts are rare: the next one comes after a quarter of the cap."""
LINE_BYTES = 1024 * 1024
"""Distance from the target within which a cut looks for the end of a line, in bytes; else it splits a line."""

NO_CUT = Cut(0, 0, 0)
NOT_SUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.ENODEV, errno.ENOTTY})
"""Error numbers of file systems that can't make holes in files."""

_KEEP_SIZE = 1
_PUNCH_HOLE = 2
_F_PUNCHHOLE = 99
_DARWIN_BLOCK = 4096


class CappedLog(NamedTuple):
    """A log file, the record of its cut, its size in bytes, and the cut."""

    path: Path
    record: Path
    size: int
    cut: Cut

    @classmethod
    def of(cls, path: Path, record: Path) -> CappedLog | None:
        """Return the state of a log file; None if there is no such file.

        Parameters
        ----------
        path
            The log file.
        record
            The record of its cut, which need not exist.
        """
        try:
            size = path.stat().st_size
        except OSError:
            return None
        return cls(path, record, size, cuts.read(record) or NO_CUT)

    @property
    def kept(self) -> int:
        """Number of bytes of the log that have not been removed."""
        return self.size - (self.cut.end - self.cut.start)


def shorten_to(files: list[CappedLog], cap: int) -> None:
    """Shorten the largest files to one size, at which all files together are well below the cap (blocking).

    Parameters
    ----------
    files
        All log files of the job.
    cap
        Largest size of the job's log in bytes.

    Raises
    ------
    OSError
        If the cut can't be recorded, or the file system can't make holes (`NOT_SUPPORTED`). Nothing was cut then.
    """
    level = _level([file.kept for file in files], int(cap * KEPT_SHARE))
    for file in files:
        if file.kept > level:
            _shorten(file, level, cap)


def _level(sizes: list[int], total: int) -> int:
    """Return the size to which all larger files have to shrink, so that all files together have `total` bytes."""
    left = total
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return left


def _shorten(file: CappedLog, level: int, cap: int) -> None:
    """Remove the middle of a file, so that about `level` bytes stay, half of them on each side of the hole."""
    descriptor = os.open(file.path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        start = file.cut.start
        if file.cut is NO_CUT or level // 2 < start:
            start = _line_end_before(descriptor, level // 2)
        end = max(file.cut.end, _line_end_behind(descriptor, file.size - (level - start), file.size))
        if start < end:
            _remove(descriptor, file, Cut(start, end, cap))
    finally:
        os.close(descriptor)


def _remove(descriptor: int, file: CappedLog, cut: Cut) -> None:
    # The cut is recorded first: readers must never take the zeros of a hole for output of the job.
    cuts.append(file.record, cut)
    try:
        punch(descriptor, cut.start, cut.end)
    except OSError:
        cuts.append(file.record, file.cut)
        raise


def _line_end_before(descriptor: int, offset: int) -> int:
    first = max(0, offset - LINE_BYTES)
    found = os.pread(descriptor, offset - first, first).rfind(b"\n")
    return first + found + 1 if found >= 0 else offset


def _line_end_behind(descriptor: int, offset: int, size: int) -> int:
    found = os.pread(descriptor, min(LINE_BYTES, size - 1 - offset), offset).find(b"\n")
    return offset + found + 1 if found >= 0 else offset


def punch(descriptor: int, start: int, end: int) -> None:
    """Free the disk space of a range of bytes, which then read as zeros; the file's size stays the same.

    Parameters
    ----------
    descriptor
        The file, open for writing.
    start, end
        Offset of the first byte, and the offset behind the last byte.

    Raises
    ------
    OSError
        If the file system can't make holes.
    """
    if sys.platform == "darwin":
        import fcntl

        first = -(-start // _DARWIN_BLOCK) * _DARWIN_BLOCK
        last = end // _DARWIN_BLOCK * _DARWIN_BLOCK
        if first < last:
            fcntl.fcntl(descriptor, _F_PUNCHHOLE, struct.pack("=IIqq", 0, 0, first, last - first))
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if libc.fallocate(descriptor, _PUNCH_HOLE | _KEEP_SIZE, start, end - start) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def size_in_words(size: int) -> str:
    """Return a number of bytes with three digits and a unit: “1.5 GB”."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
