"""Keeps the time index of every log file of one attempt while it is written.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from ....logs.storage import index
from .log_files import INDEX_SUFFIX, matching


class LogWatch:
    """Finds and indexes the log files of one attempt of a replica.

    Parameters
    ----------
    main
        What the main process writes.
    ranks
        torchrun's ``--log-dir``, in which it makes ``<id>_<random>/attempt_<n>/<local rank>/``
        with ``stdout.log`` and ``stderr.log``; None without torchrun.
    """

    def __init__(self, main: Path, ranks: Path | None) -> None:
        self.main = main
        self.worker_restarts = 0
        self._ranks = ranks
        self._run: Path | None = None
        self._files = {main: _IndexedFile(main)}

    @property
    def ranks_started(self) -> bool:
        """Whether torchrun has got as far as starting ranks."""
        return len(self._files) > 1

    def poll(self) -> None:
        """Look for new files and note how far each one has grown."""
        if self._ranks is not None:
            with contextlib.suppress(OSError):  # while nobody may look, nothing new is found
                self._discover(self._ranks)
        now = time.time()
        for file in self._files.values():
            file.poll(now)

    def close(self) -> None:
        """Note the last sizes and let go of the files."""
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
        known = any(path.parent.parent == attempt for path in self._files)
        # torchrun makes the directories of all ranks before the first file.
        if known or not matching(attempt, "*/stdout.log"):
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
            # Not there yet, or the disk is full: what is missed now is indexed by the next record.
            return
        self._size = size

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
