"""Keeps the log of a job below its cap: cuts out the middle of its largest files while they are written.

Ranks write their files themselves, so nothing stands between them and the disk. What can be done without disturbing
them is to free blocks in the middle of a file: offsets stay as they are. The supervisor uses this module, so it needs
only the standard library.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ...logs import cuts
from ...logs.cuts import Cut
from .logfiles import find_logs
from .record import JobFiles

LOOK_SECONDS = 1.0
RETRY_SECONDS = 60.0
"""Between two attempts to cut where the disk does not take the record."""
KEPT_SHARE = 0.75
"""Of the cap, what a cut leaves: the next one comes when there is a quarter of it more."""
LINE_BYTES = 1024 * 1024
"""Where no line ends within so many bytes, a line is cut."""

NO_CUT = Cut(0, 0, 0)

_KEEP_SIZE = 1
_PUNCH_HOLE = 2
_F_PUNCHHOLE = 99
_DARWIN_BLOCK = 4096
_NOT_SUPPORTED = frozenset({errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.ENODEV, errno.ENOTTY})


class _File(NamedTuple):
    path: Path
    record: Path
    size: int
    cut: Cut

    @property
    def kept(self) -> int:
        return self.size - (self.cut.end - self.cut.start)


class LogCap:
    """Watches how large a job's log is.

    Parameters
    ----------
    files
        The job's directory.
    cap
        Bytes that its log may have on disk.
    """

    def __init__(self, files: JobFiles, cap: int) -> None:
        self._files = files
        self._cap: int | None = cap
        self._look_at = 0.0
        self._told = False

    def keep(self, *, at_once: bool = False) -> tuple[str, str] | None:
        """Cut the log if it has grown above the cap; return code and words of an event if there is news.

        Parameters
        ----------
        at_once
            Look now, else once in `LOOK_SECONDS`.

        Raises
        ------
        OSError
            If a cut can't be recorded; then nothing was cut.
        """
        now = time.monotonic()
        if self._cap is None or (now < self._look_at and not at_once):
            return None
        self._look_at = now + LOOK_SECONDS
        found = list(self._found())
        if sum(file.kept for file in found) <= self._cap:
            return None
        amount = _amount(self._cap)
        try:
            _shorten_to(found, self._cap)
        except OSError as error:
            if error.errno not in _NOT_SUPPORTED:
                self._look_at = now + RETRY_SECONDS
                raise
            self._cap = None
            return self._news(
                "LogNotCut",
                f"The log is larger than {amount}, but the file system that it is on can't remove parts of a file"
                f" ({error.strerror}), so it is left as it is.",
            )
        return self._news(
            "LogCut",
            f"The log became larger than {amount}, so lines from the middle of its largest files were removed, and will"
            " be whenever it does. Beginnings and ends are kept.",
        )

    def _news(self, code: str, words: str) -> tuple[str, str] | None:
        if self._told or any(event["reason"] == code for event in self._files.read_events()):
            return None
        self._told = True
        return code, words

    def _found(self) -> Iterable[_File]:
        for log in find_logs(self._files):
            try:
                size = log.path.stat().st_size
            except OSError:
                continue  # removed since it was listed
            yield _File(log.path, log.cuts_path, size, cuts.read(log.cuts_path) or NO_CUT)


def _shorten_to(files: list[_File], cap: int) -> None:
    """Cut the largest files down to one size at which all together are well below the cap."""
    level = _level([file.kept for file in files], int(cap * KEPT_SHARE))
    for file in files:
        if file.kept > level:
            _shorten(file, level, cap)


def _level(sizes: list[int], total: int) -> int:
    """Return the size down to which the larger ones have to shrink so that all together have `total`."""
    left = total
    for done, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - done)
        if size > share:
            return share
        left -= size
    return left


def _shorten(file: _File, level: int, cap: int) -> None:
    """Cut so much out of a file that about `level` bytes stay, half of them on each side of the hole."""
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


def _remove(descriptor: int, file: _File, cut: Cut) -> None:
    # recorded first: whoever reads must never take the zeros for what was written
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
    """Free the disk space of the bytes from `start` to `end`; they read as zeros, and the file's size stays.

    Raises
    ------
    OSError
        If the file system can't.
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


def _amount(size: int) -> str:
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"
