"""Opens files that may be anything, and writes files so that readers never see half of the content.

The supervisor of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO


def open_regular(path: str | Path, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading, without waiting for the other end of a named pipe.

    Parameters
    ----------
    path
        The file.
    follow
        False to refuse a link in its place.

    Raises
    ------
    OSError
        If the file can't be opened, or is no regular file; `IsADirectoryError` for a folder.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    descriptor = os.open(path, flags)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def write_atomically(path: Path, data: bytes, *, before: Callable[[], None] | None = None) -> None:
    """Replace a file's content. Readers see the old or the new content, also after a crash.

    Parameters
    ----------
    path
        The file.
    data
        The new content.
    before
        Called when the new content is on the disk, before readers see it.

    Raises
    ------
    OSError
        If the disk is full, read-only or gone; the old content is kept then.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}-{time.time_ns()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if before is not None:
            before()
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes to an open file, in several writes if needed.

    Parameters
    ----------
    descriptor
        The open file.
    data
        Bytes to write.

    Raises
    ------
    OSError
        If a write fails; a part may have been written then.
    """
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class FileStamps:
    """Files and folders that something was read from, to notice that they have changed. All methods block."""

    def __init__(self) -> None:
        self._stamps: dict[str, tuple[int, int, int] | None] = {}

    def note(self, path: str) -> None:
        """Note a file or folder as it is now, or that it does not exist."""
        self._stamps[path] = _stamp_of(path)

    def are_current(self) -> bool:
        """Return True if all are as they were."""
        return all(_stamp_of(path) == stamp for path, stamp in self._stamps.items())


def _stamp_of(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
