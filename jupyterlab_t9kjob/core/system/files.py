"""Writing files so that nothing is lost or seen half. Standard library only: the supervisor uses it."""

from __future__ import annotations

import os
import time
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content so that a reader sees the old or the new, also after a crash.

    Raises
    ------
    OSError
        If the disk is full, read-only or gone; the old content is then still there.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}-{time.time_ns()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it, however often a write takes only a part; raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
