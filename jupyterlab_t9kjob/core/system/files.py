"""Writes files so that readers never see half of the content.

The supervisor of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import os
import time
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content. Readers see the old or the new content, also after a crash.

    Parameters
    ----------
    path
        The file.
    data
        The new content.

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
