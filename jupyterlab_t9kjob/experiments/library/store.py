"""The metrics of the known runs: in memory while they are needed, in the index otherwise."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from ...core.system.garbage import without_gc
from ...core.translation import Text
from ..facts import MetricLog
from .cells import described
from .index import Entry, Index
from .known import NOT_LOADED, Known, is_active
from .reading import problem_of

READ_SECONDS: Final = 0.3
"""Time for which one call in a thread reads; changes are published after it."""


class Store:
    """Reads the metrics of runs, and keeps those of runs that have ended in the index. All methods block.

    Parameters
    ----------
    root
        The folder that the runs are in.
    cache
        Folder on this machine for the index; None to keep it in memory.
    """

    def __init__(self, root: Path, cache: Path | None) -> None:
        self._root, self._cache = root, cache
        self._index: Index | None = None
        self._generation = 0
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}

    @property
    def is_open(self) -> bool:
        """True if the index is open."""
        return self._index is not None

    @property
    def problem(self) -> Text | None:
        """Why the index can't be used now; None if it can."""
        return self._index.problem if self._index is not None else None

    @property
    def has_lost(self) -> bool:
        """True if the index was made again, so that runs have to be read again."""
        return self._index is not None and self._index.generation != self._generation

    def open(self) -> list[Entry]:
        """Open the index, and return the runs in it."""
        index = Index(self._root, self._cache)
        with without_gc():
            entries = index.entries()
        self._index, self._generation = index, index.generation
        return [entry._replace(names=self._shape(entry.names)) for entry in entries]

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()

    def _shape(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the same object for the same names: most runs have the metrics of others."""
        return self._shapes.setdefault(names, names)

    def load(self, known: Known) -> None:
        """Read the metrics of a run from the index, if they are not in memory."""
        with known.lock:
            if known.loaded:
                return
            stored = self._index.metrics(known.num) if self._index is not None and known.num is not None else None
            # Without the index, the files are read again.
            known.log, known.loaded, known.read = stored or MetricLog(), True, known.read and stored is not None

    @staticmethod
    def unload(known: Known) -> None:
        """Forget the metrics of a run if the index has them."""
        with known.lock:
            if known.stored and not known.joined:
                known.log, known.loaded = NOT_LOADED, False

    def cells(self, name: str, runs: Collection[Known], *, curves: bool) -> dict[int, str]:
        """Return the JSON of a metric of runs that the index has, by the runs' numbers in it.

        Parameters
        ----------
        name
            Name of the metric.
        runs
            The runs.
        curves
            True to add the small curves.
        """
        numbers = [known.num for known in runs if known.num is not None]
        return self._index.cells(name, numbers, curves=curves) if self._index is not None and numbers else {}

    def remove(self, runs: Iterable[Known]) -> None:
        """Forget runs."""
        if self._index is not None:
            self._index.remove([known.num for known in runs if known.num is not None])

    def lost(self, runs: Iterable[Known]) -> list[Known]:
        """Return the runs whose metrics only an index had that was damaged or deleted; they have to be read again.

        Parameters
        ----------
        runs
            All runs. Their numbers in that index are forgotten.
        """
        if self._index is not None:
            self._generation = self._index.generation
        lost = []
        for known in runs:
            with known.lock:
                known.num, known.stored = None, False
                if not known.loaded:
                    known.log, known.loaded, known.read = MetricLog(), True, False
                    lost.append(known)
        return lost

    def read(self, runs: Sequence[Known]) -> int:
        """Read metrics of runs for a while; return the number of runs that were read to the end."""
        end = time.monotonic() + READ_SECONDS
        for number, known in enumerate(runs):
            with known.lock:
                if not known.is_waiting:  # Another request has read it meanwhile.
                    continue
                self.load(known)
                known.stored = False
                try:
                    known.read = known.source.metrics(known.folder, known.files, known.log, end)
                except Exception as error:
                    known.problem = problem_of(known, error)
                known.names, known.epoch = self._shape(tuple(known.log.series)), known.log.epoch()
                if is_idle(known):
                    self._put(known)
            if time.monotonic() > end:
                return number + (not known.is_waiting)
        return len(runs)

    def keep(self, runs: Iterable[Known]) -> list[Known]:
        """Store those runs for a while that nobody writes any more; return those that were stored."""
        end = time.monotonic() + READ_SECONDS
        kept = []
        for known in runs:
            with known.lock:
                if not is_idle(known):
                    continue
                if not self._put(known):
                    break
            kept.append(known)
            if time.monotonic() > end:
                break
        return kept

    def _put(self, known: Known) -> bool:
        """Store a run and forget its metrics; return False if the index does not take it now."""
        if self._index is None or known.facts is None:
            return False
        described(known.facts)
        num = self._index.put(known.place, known.source.origin, known.files, known.facts, known.log)
        if num is None:
            return False
        known.num, known.stored = num, True
        self.unload(known)
        return True


def is_idle(known: Known) -> bool:
    """Return True if a run was read, is not stored, and nobody writes it any more."""
    is_read = known.read and not known.stored and known.facts is not None and known.problem is None
    return is_read and known.has_files and not known.joined and not is_active(known) and _is_utf8(known.place)


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # SQLite does not keep names that are not UTF-8.
        return False
    return True
