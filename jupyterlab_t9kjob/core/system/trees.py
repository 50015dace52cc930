"""Folders with read-only copies of code.

The supervisor of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from pathlib import Path


def protect_tree(folder: Path) -> None:
    """Make a tree read-only, and readable for a job that runs as another user."""
    for path, _folders, files in os.walk(folder, topdown=False):
        for name in files:
            each = os.path.join(path, name)  # noqa: PTH118
            if not os.path.islink(each):  # noqa: PTH114
                mode = stat.S_IMODE(os.stat(each).st_mode)  # noqa: PTH116
                os.chmod(each, 0o555 if mode & stat.S_IXUSR else 0o444)  # noqa: PTH101
        os.chmod(path, 0o555)  # noqa: PTH101, S103


def remove_tree(folder: Path) -> None:
    """Remove a folder with read-only folders in it. Errors are ignored; links are not followed."""
    for path, _folders, _files in os.walk(folder):
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IRWXU)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)


def size_of_tree(folder: Path) -> int:
    """Return the size of all files in a folder, in bytes. Files that can't be read count nothing."""
    total = 0
    for path, _folders, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(path, name)).st_size  # noqa: PTH118
    return total
