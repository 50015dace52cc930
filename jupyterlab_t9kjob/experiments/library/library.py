"""The runs that are known: found by a search, read by their sources, watched while a page shows them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from ...contents_paths import ContentsRoot
from ...core.system import collection
from ...core.system.disk_threads import on_disk
from ...core.translation import Text
from ..facts import MetricLog, Source
from ..sources.event_folder import EventSource
from ..sources.mlflow import MlflowSource
from ..sources.recorder import RecorderSource
from ..sources.wandb import WandbSource
from .cells import described
from .finder import FEW, changed_folders, find
from .index import Index
from .known import NOT_LOADED, Area, Known, by_area, is_active, run_id
from .reading import read_facts

log = logging.getLogger(__name__)

READ_SECONDS: Final = 0.3
"""Time for which one call in a thread reads; changes are published after it."""
CHECKED_AT_ONCE: Final = 300
MANY_RUNS: Final = 2000
HEAD_START_SECONDS: Final = 1.0
KEPT_REMOVALS: Final = 5000

SOURCES: Final[tuple[Source, ...]] = (RecorderSource(), MlflowSource(), WandbSource(), EventSource())


class Library:
    """All known runs of this server.

    Parameters
    ----------
    root
        The contents root, in which all runs are.
    cache
        Folder on this machine for the index; None to keep it in memory.
    """

    def __init__(self, root: ContentsRoot, cache: Path | None) -> None:
        self._root = root
        self._cache = cache
        self._index: Index | None = None
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
        # Revisions of an earlier server are smaller, so that a page that has one gets a complete answer.
        self.revision = self.first_revision = time.time_ns() // 1_000_000
        self.runs: dict[Path, Known] = {}
        self.jobs: dict[str, Known] = {}
        self.by_id: dict[str, Known] = {}
        self.areas: dict[Path, Area] = {}
        self.outside: dict[Path, Area] = {}
        self._stored_outside: dict[Path, Known] = {}
        self.removed: dict[str, tuple[int, Path]] = {}
        self._changed = asyncio.Event()
        self._opened = asyncio.Event()

    # -- changes ------------------------------------------------------------------------------------------------------

    def publish(self, known: Iterable[Known] = ()) -> None:
        """Give changed runs a new revision, and wake the waiting requests."""
        self.revision += 1
        for run in known:
            run.revision = self.revision
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Return after the next change, or after some seconds."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    async def wait_for_index(self, seconds: float) -> None:
        """Return when the runs of the index are known, or after some seconds."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._opened.wait(), seconds)

    def below(self, top: Path) -> list[Known]:
        """Return the runs with files below a folder, or the run in it."""
        runs = list(self.runs.values())  # Other threads may add runs.
        if top == self._root.folder:
            return runs
        prefix = self._root.api(top)
        return [known for known in runs if known.path == prefix or str(known.path).startswith(f"{prefix}/")]

    def shown(self, top: Path) -> list[Known]:
        """Return the runs of the table of a folder: those with files and those of jobs."""
        jobs = (known for known in list(self.jobs.values()) if known.folder.is_relative_to(top))
        return [*(known for known in self.below(top) if not known.joined), *jobs]

    def add_job(self, job: str, known: Known) -> Known:
        """Add the run of a job, and return the run.

        Parameters
        ----------
        job
            Id of the job.
        known
            The run; it replaces an earlier run of the job.
        """
        self.jobs[job] = self.by_id[known.id] = known
        return known

    def drop_jobs(self, jobs: Iterable[str]) -> None:
        """Remove the runs of jobs."""
        gone = [known for job in jobs if (known := self.jobs.pop(job, None)) is not None]
        if gone:
            self._forget(gone)
            self.publish()

    def join(self, joined: Collection[str]) -> list[Known]:
        """Note which folders of event files belong to the runs of jobs; return those that changed."""
        changed = [known for known in self.runs.values() if known.joined != (known.id in joined)]
        for known in changed:
            known.joined = not known.joined
        self._forget([known for known in changed if known.joined])
        for known in changed:
            self.by_id[known.id] = known
        return changed

    def area(self, top: Path) -> Area:
        """Return the state of the search of a folder."""
        return self.areas.setdefault(top, Area(top))

    # -- search -------------------------------------------------------------------------------------------------------

    async def search(self, top: Path) -> None:
        """Search a folder and read what is new or has changed. Runs that the index has are published before that."""
        area = self.area(top)
        area.searching = True
        try:
            if self._index is None:
                await asyncio.to_thread(self._open_index)
                self._opened.set()
                self.publish()
                if len(self.runs) >= MANY_RUNS:  # Waiting requests are answered before the search.
                    await asyncio.sleep(HEAD_START_SECONDS)
            before = [known for known in self.below(top) if not known.outside]
            found = await on_disk(top, find, top, SOURCES)
            area.parents, area.links, area.complete = found.parents, found.links, found.complete
            for folder, source in found.runs.items():
                self._add(folder, source)
            if found.complete:  # Another search may have added runs that began during this one.
                self._drop([known for known in before if known.folder not in found.runs])
            await self.refresh(self.below(top))
        finally:
            area.searching, area.searched_at = False, time.monotonic()
            self.publish()

    async def search_outside(self, folders: Collection[Path]) -> None:
        """Read the runs in folders outside the contents root that jobs name; forget those of other folders.

        Parameters
        ----------
        folders
            Absolute paths without links. They need not exist.
        """
        for gone in set(self.outside) - set(folders):
            del self.outside[gone]
        for folder in folders:
            area = self.outside.setdefault(folder, Area(folder))
            try:
                await self._search_outside(area)
                area.silent = False
            except OSError as problem:
                area.complete = False
                _note_silent(area, problem)
        outside = [known for known in self.runs.values() if known.outside]
        lost = [known for known in outside if not any(known.folder.is_relative_to(top) for top in self.outside)]
        if lost:
            self._drop(lost)
            self.publish()
        await self.refresh([known for known in outside if known.folder in self.runs])

    async def _search_outside(self, area: Area) -> None:
        parents = [folder for folder in area.parents if folder not in self.runs]
        # A folder that is a run itself changes with each of its files, so it is searched only when it is due.
        if not area.is_due and not await on_disk(area.top, changed_folders, parents, area.parents):
            return
        found = await on_disk(area.top, find, area.top, SOURCES, FEW)
        area.parents, area.links, area.complete = found.parents, found.links, found.complete
        area.searched_at = time.monotonic()
        for folder, source in found.runs.items():
            if folder not in self.runs and not self._root.contains(folder):
                known = self._stored_outside.pop(folder, None)
                known = known or Known(run_id(str(folder)), folder, None, source, outside=True)
                self.runs[folder] = self.by_id[known.id] = known
        if found.complete:
            inner = [known for known in self.runs.values() if known.outside and known.folder.is_relative_to(area.top)]
            self._drop([known for known in inner if known.folder not in found.runs])
        self.publish(known for known in self.runs.values() if known.outside)

    def _open_index(self) -> None:
        """Take over the runs that the index has (blocking)."""
        self._index = Index(self._root.folder, self._cache)
        sources: dict[str, Source] = {source.origin: source for source in SOURCES}
        top = self._root.folder
        found: dict[Path, Known] = {}
        with collection.paused():
            entries = self._index.entries()
        for num, path, origin, files, facts, epoch, names in entries:
            source = sources.get(origin)
            folder = top / path  # An absolute path stays as it is: the run is outside.
            if source is None or folder in self.runs:
                continue
            outside = path.startswith("/")
            within = None if outside else path
            known = Known(run_id(path), folder, within, source, files, facts, NOT_LOADED, loaded=False, stored=True)
            known.outside = outside
            known.read, known.num, known.epoch = True, num, epoch
            known.names = self._shapes.setdefault(names, names)
            (self._stored_outside if outside else found)[folder] = known
        # All runs are added at once, so that no answer has only some of them.
        self.runs |= found
        self.by_id |= {known.id: known for known in found.values()}

    @property
    def index_problem(self) -> Text | None:
        """Why the index can't be used now; None if it can."""
        return self._index.problem if self._index is not None else None

    def close(self) -> None:
        """Close the index (blocking)."""
        if self._index is not None:
            self._index.close()

    def load(self, known: Known) -> None:
        """Read the metrics of a run from the index, if they are not in memory (blocking)."""
        with known.lock:
            self._load(known)

    def _load(self, known: Known) -> None:
        if known.loaded:
            return
        stored = self._index.metrics(known.num) if self._index is not None and known.num is not None else None
        # Without the index, the files are read again.
        known.log, known.loaded, known.read = stored or MetricLog(), True, known.read and stored is not None

    def unload(self, known: Known) -> None:
        """Forget the metrics of a run if the index has them (blocking)."""
        with known.lock:
            if known.stored and not known.joined:
                known.log, known.loaded = NOT_LOADED, False

    def cells(self, name: str, runs: Collection[Known], *, curves: bool) -> dict[int, str]:
        """Return the JSON of a metric of runs that the index has, by the runs' numbers in it (blocking).

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

    def _add(self, folder: Path, source: Source) -> None:
        path = self._root.api(folder)
        if path is None or folder in self.runs:
            return
        known = Known(run_id(path), folder, path, source)
        self.runs[folder] = self.by_id[known.id] = known

    def _drop(self, gone: Iterable[Known]) -> None:
        gone = list(gone)
        for known in gone:
            self.runs.pop(known.folder, None)
        if self._index is not None:
            self._index.remove([known.num for known in gone if known.num is not None])
        self._forget(gone)

    def _forget(self, gone: Iterable[Known]) -> None:
        """Note that runs are no longer in the table."""
        for known in gone:
            self.by_id.pop(known.id, None)
            # The table of the root has the runs outside.
            shown_in = self._root.folder if known.outside else known.folder
            self.removed[known.id] = self.revision + 1, shown_in
            while len(self.removed) > KEPT_REMOVALS:
                self.first_revision = self.removed.pop(next(iter(self.removed)))[0]

    async def refresh(self, runs: Sequence[Known]) -> bool:
        """Read what has changed in some runs, first all facts, then the metrics; return True for a change.

        The runs of each folder outside the contents root are read by themselves, since their disk may not answer.
        """
        begun = self.revision
        for area, part in by_area(runs, list(self.outside.values())):
            try:
                await self._refresh(part)
            except OSError as problem:
                if area is None:
                    raise
                _note_silent(area, problem)
        return self.revision != begun

    async def _refresh(self, runs: Sequence[Known]) -> None:
        """Read what has changed in runs on one disk."""
        waiting: list[Known] = []
        for begin in range(0, len(runs), CHECKED_AT_ONCE):
            part = runs[begin : begin + CHECKED_AT_ONCE]
            changed, gone = await on_disk(part[0].folder, read_facts, part)
            if changed or gone:
                self._drop(gone)
                self.publish(changed)
            waiting += [known for known in part if not known.read and known.facts is not None]
        while waiting:
            done = await on_disk(waiting[0].folder, self._read_metrics, waiting)
            self.publish(waiting[:done] or waiting[:1])
            # A run with more to read goes to the end.
            waiting = [*waiting[max(done, 1) :], *(known for known in waiting[: max(done, 1)] if not known.read)]

    def _read_metrics(self, runs: Sequence[Known]) -> int:
        """Read metrics of runs for a while (blocking); return the number of runs that were read to the end.

        Metrics of runs that have ended are in memory only while they are needed; the index keeps them.
        """
        end = time.monotonic() + READ_SECONDS
        for number, known in enumerate(runs):
            with known.lock:
                if known.read:  # Another request has read it meanwhile.
                    continue
                self._load(known)
                known.stored = False
                known.read = known.source.metrics(known.folder, known.files, known.log, end)
                names = tuple(known.log.series)
                known.names, known.epoch = self._shapes.setdefault(names, names), known.log.epoch()
                if known.read and not known.joined and not is_active(known):
                    self._store(known)
            if time.monotonic() > end:
                return number + known.read
        return len(runs)

    def _store(self, known: Known) -> None:
        if self._index is None or known.facts is None or not known.has_files or not _is_utf8(known.place):
            return
        described(known.facts)
        num = self._index.put(known.place, known.source.origin, known.files, known.facts, known.log)
        if num is not None:
            known.num, known.stored = num, True
            self.unload(known)

    async def check(self, top: Path, rolling: int) -> None:
        """Check once for changes below a folder, without searching it.

        Parameters
        ----------
        top
            The folder.
        rolling
            Number of the check; each check covers another part of the other runs and folders.
        """
        area, runs = self.area(top), self.below(top)
        others = [known for known in runs if not is_active(known)]
        share = max(1, len(others) // CHECKED_AT_ONCE)
        await self.refresh([*filter(is_active, runs), *others[rolling % share :: share]])
        folders = list(area.parents)
        homes = {known.folder.parent for known in runs}
        share = max(1, len(folders) // (10 * CHECKED_AT_ONCE))
        wanted = [folder for at, folder in enumerate(folders) if folder in homes or at % share == rolling % share]
        changed = await on_disk(top, changed_folders, wanted, area.parents) if wanted else []
        if any(folder not in self.runs for folder in changed):
            await self.search(top)


def _note_silent(area: Area, problem: OSError) -> None:
    """Log once that the disk of a folder outside the contents root does not answer: the next round tries again."""
    if not area.silent:
        log.warning("The runs in %s can't be read now: %s", area.top, problem)
    area.silent = True


def _is_utf8(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:  # SQLite does not keep names that are not UTF-8.
        return False
    return True
