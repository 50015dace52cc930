"""Writes the time index of each log file of an attempt while the file grows.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from .....logs.storage import index
from .log_files import INDEX_SUFFIX, matching


class LogWatch:
    """Finds and indexes the log files of one attempt of a replica.

    Parameters
    ----------
    main
        Log file of the main process.
    ranks
        torchrun's ``--log-dir``, in which it makes ``<id>_<random>/attempt_<n>/<local rank>/`` with ``stdout.log``
        and ``stderr.log``; None without torchrun.
    """

    def __init__(self, main: Path, ranks: Path | None) -> None:
        self.main = main
        self.worker_restarts = 0
        self._ranks = ranks
        self._run: Path | None = None
        self._files = {main: _IndexedFile(main)}

    @property
    def ranks_started(self) -> bool:
        """True if torchrun has started ranks."""
        return len(self._files) > 1

    def poll(self) -> None:
        """Find new files and index the growth of each file."""
        if self._ranks is not None:
            with contextlib.suppress(OSError):  # A directory that can't be read now is read at the next poll.
                self._discover(self._ranks)
        now = time.time()
        for file in self._files.values():
            file.poll(now)

    def close(self) -> None:
        """Index the final sizes and close the indexes."""
        self.poll()
        for file in self._files.values():
            file.close()

    def _discover(self, ranks: Path) -> None:
        if self._run is None:
            self._run = next(iter(matching(ranks, "*_*")), None)
            if self._run is None:
                return
        while (self._run / f"attempt_{self.worker_restarts + 1}").exists():
            self._add_files(self._run / f"attempt_{self.worker_restarts}")
            self.worker_restarts += 1
        self._add_files(self._run / f"attempt_{self.worker_restarts}")

    def _add_files(self, attempt: Path) -> None:
        added = any(path.parent.parent == attempt for path in self._files)
        # torchrun makes the directories of all ranks before the first file.
        if added or not matching(attempt, "*/stdout.log"):
            return
        for path in matching(attempt, "[0-9]*"):
            for name in ("stdout.log", "stderr.log"):
                self._files[path / name] = _IndexedFile(path / name)


class _IndexedFile:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._size = 0
        self._descriptor: int | None = None

    def poll(self, now: float) -> None:
        try:
            size = self._path.stat().st_size
            if size <= self._size:
                return
            if self._descriptor is None:
                self._descriptor = os.open(f"{self._path}{INDEX_SUFFIX}", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            index.append(self._descriptor, now, size)
        except OSError:
            # The file does not exist yet, or the disk is full: the next poll indexes the same bytes.
            return
        self._size = size

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
