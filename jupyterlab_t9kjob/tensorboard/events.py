"""Which event files lie below log directories, found within bounds."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

MAX_ENTRIES = 50_000
MAX_SECONDS = 2.0
MARK = "tfevents"


@dataclass(frozen=True)
class Trouble:
    """Why a log directory itself can't be listed.

    Attributes
    ----------
    path
        The directory.
    missing
        Whether there is none.
    words
        The system's own.
    """

    path: Path
    missing: bool
    words: str


@dataclass(frozen=True)
class Found:
    """What a look found.

    Attributes
    ----------
    has_data
        Whether there is an event file with anything in it.
    newest
        Modification time of the newest one, seconds since the epoch; None if there is none.
    complete
        Whether everything was looked at. If not, there may be event files all the same.
    trouble
        With the first log directory that can't be listed; None if all can.
    files
        Paths and sizes of the event files that have anything in them.
    """

    has_data: bool = False
    newest: float | None = None
    complete: bool = True
    trouble: Trouble | None = None
    files: tuple[tuple[str, int], ...] = field(default=(), compare=False, repr=False)

    @property
    def runs(self) -> int:
        """Number of folders with event files, each of which is a run."""
        return len({os.path.dirname(path) for path, _ in self.files})  # noqa: PTH120 (50 000 of them)


def shape(log_dir: Path) -> tuple[bool, bool]:
    """Return whether a folder itself has event files, and whether it has folders. Blocks: call it in a thread.

    A folder that may not be read may have folders.
    """
    own = folders = False
    try:
        with os.scandir(log_dir) as entries:
            for entry in islice(entries, MAX_ENTRIES):
                own = own or (MARK in entry.name and entry.is_file())
                folders = folders or entry.is_dir()
                if own and folders:
                    break
    except FileNotFoundError:  # there is none yet: the watch says so
        pass
    except OSError:  # the watch says so
        return own, True
    return own, folders


def look(log_dirs: Sequence[Path]) -> Found:
    """Look for event files. Blocks, at most about `MAX_SECONDS` on a disk that answers: call it in a thread.

    Links to directories are followed, as TensorBoard does, each real directory once.
    """
    end = time.monotonic() + MAX_SECONDS
    left = MAX_ENTRIES
    newest: float | None = None
    trouble: Trouble | None = None
    files: list[tuple[str, int]] = []
    tops = {str(path) for path in log_dirs}
    seen: set[tuple[int, int]] = set()
    stack = [str(path) for path in reversed(log_dirs)]
    while stack and left > 0 and time.monotonic() < end:
        folder = stack.pop()
        try:
            status = os.stat(folder)  # noqa: PTH116
            if (status.st_dev, status.st_ino) in seen:
                continue
            seen.add((status.st_dev, status.st_ino))
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0:
                        break
                    if MARK in entry.name and entry.is_file() and (size := entry.stat().st_size):
                        newest = max(newest or 0.0, entry.stat().st_mtime)
                        files.append((entry.path, size))
                    elif entry.is_dir():
                        stack.append(entry.path)
        except OSError as error:  # below a log directory, TensorBoard shows nothing of it either
            if folder in tops and trouble is None:
                trouble = Trouble(Path(folder), isinstance(error, FileNotFoundError), error.strerror or str(error))
    return Found(newest is not None, newest, not stack and left >= 0, trouble, tuple(files))
