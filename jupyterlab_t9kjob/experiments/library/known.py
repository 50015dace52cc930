"""Runs that are known, and folders that were searched."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ...core.translation import Text
from ..facts import Facts, MetricLog, Source
from .finder import FEW, Folder, Found, Limits

ACTIVE_SECONDS: Final = 600.0
RUNNING_SECONDS: Final = 24 * 3600.0
"""Time for which event files, and runs without an end, are checked in each round although nothing is added to them."""

SEARCH_SECONDS: Final = 300.0
"""Interval between searches of a folder."""

NOT_LOADED: Final = MetricLog()
"""Metrics of runs whose metrics are not in memory. Nothing is added to it."""


@dataclass(slots=True, eq=False)
class Known:
    """A run that is known.

    Attributes
    ----------
    path
        Its folder in the contents API; None for a job without recorder, and outside the contents root.
    outside
        True if its folder is outside the contents root: a job wrote it there.
    files
        Modification times and sizes of its files when they were read.
    facts
        None until they were read.
    log
        The metrics, if `loaded`; otherwise the index has them under `num`.
    stored
        True if the index has all that was read.
    names
        Names of the metrics when they were read last.
    epoch
        The last epoch.
    read
        True once all metrics were read.
    problem
        Why the run, or a part of it, can't be read; None if it can.
    revision
        Revision of the last change.
    parts
        Folders of event files that a job's run is made of.
    joined
        True for such a folder, which is no run of its own then.
    lock
        Held while the metrics or `files` change, or the metrics are copied.
    """

    id: str
    folder: Path
    path: str | None
    source: Source
    files: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    facts: Facts | None = None
    log: MetricLog = field(default_factory=MetricLog)
    loaded: bool = True
    stored: bool = False
    num: int | None = None
    names: tuple[str, ...] = ()
    epoch: float | None = None
    read: bool = False
    problem: Text | None = None
    revision: int = 0
    parts: Sequence[Known] = ()
    joined: bool = False
    outside: bool = False
    lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def has_files(self) -> bool:
        """True if the run has a folder of its own."""
        return self.path is not None or self.outside

    @property
    def is_waiting(self) -> bool:
        """True if there are metrics to be read. After an error, nothing is read until the files change."""
        return not self.read and self.facts is not None and self.problem is None

    @property
    def place(self) -> str:
        """The folder's path in the contents API, or on disk if it is outside the contents root."""
        return self.path if self.path is not None else str(self.folder)

    @property
    def written_at(self) -> float:
        """Time of the last change of a file of the run, seconds since the epoch."""
        return max((modified for modified, _size in self.files.values()), default=0) / 1e9


@dataclass
class Area:
    """A folder that was searched.

    Attributes
    ----------
    outside
        True if the folder is outside the contents root: a job named it.
    folders
        The folder and those below it that were searched.
    links
        Links in place of runs.
    searched_at
        Time of the last complete search, of `time.monotonic`; None before the first one.
    rests_until
        Time of `time.monotonic` before which folders that have changed are not listed.
    silent
        True while the folder is outside the contents root and its disk does not answer.
    current
        True if the folder is watched, and was checked with the runs of jobs since the watch began.
    """

    top: Path
    outside: bool = False
    folders: dict[Path, Folder] = field(default_factory=dict)
    links: list[Path] = field(default_factory=list)
    complete: bool = True
    searching: bool = False
    searched_at: float | None = None
    rests_until: float = 0.0
    silent: bool = False
    current: bool = False

    @property
    def is_due(self) -> bool:
        """True if the folder was not searched for `SEARCH_SECONDS`."""
        return self.searched_at is None or time.monotonic() - self.searched_at > SEARCH_SECONDS

    @property
    def limits(self) -> Limits:
        """Limits of a search."""
        return FEW if self.outside else Limits()

    def merge(self, found: Found) -> set[Path]:
        """Take over what a search of some folders found; return the folders that are gone."""
        gone: set[Path] = set()
        for folder, now in found.folders.items():
            before = self.folders.get(folder)
            queue = [folder / name for name in set(before.inner).difference(now.inner)] if before is not None else []
            while queue:
                lost = queue.pop()
                gone.add(lost)
                inner = self.folders.pop(lost).inner if lost in self.folders else ()
                queue.extend(lost / name for name in inner)
        self.folders |= found.folders
        listed = gone | found.folders.keys()
        self.links = [*(link for link in self.links if link.parent not in listed), *found.links]
        self.complete = self.complete and found.complete
        return gone


def is_active(known: Known) -> bool:
    """Return True if the files of a run are likely to change."""
    if known.facts is None:
        return known.problem is None
    limit = {"Running": RUNNING_SECONDS, "Events": ACTIVE_SECONDS}.get(known.facts.status, 0.0)
    return time.time() - known.written_at < limit


def by_area(runs: Iterable[Known], outside: Iterable[Area]) -> list[tuple[Area | None, list[Known]]]:
    """Return runs by the folder outside the contents root that they are in; first, with None, the runs inside.

    Parameters
    ----------
    runs
        The runs.
    outside
        Folders outside the contents root. Runs outside of which none holds are left out.
    """
    inside: list[Known] = []
    left: list[Known] = []
    for known in runs:
        (left if known.outside else inside).append(known)
    parts: list[tuple[Area | None, list[Known]]] = [(None, inside)]
    for area in outside:
        parts.append((area, [known for known in left if known.folder.is_relative_to(area.top)]))
        left = [known for known in left if not known.folder.is_relative_to(area.top)]
    return [(area, part) for area, part in parts if part]


def run_id(path: str) -> str:
    """Return the id of a run: a hash of its folder's path in the contents API."""
    return hashlib.blake2b(path.encode("utf-8", "surrogateescape"), digest_size=10).hexdigest()
