"""The runs that are known: found by a search, read by their sources, watched while a page shows them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from ...contents_paths import ContentsRoot
from ...core.system.disk_threads import on_disk
from ...core.system.tasks import spawn
from ...core.translation import Text
from ..facts import Source
from ..sources.all import SOURCES
from .finder import changed_folders, find, find_changes
from .index import Entry
from .known import NOT_LOADED, Area, Known, by_area, is_active, run_id
from .reading import read_facts
from .store import Store, is_idle

log = logging.getLogger(__name__)

CHECKED_AT_ONCE: Final = 300
REST: Final = 10.0
"""Folders that have changed are listed again after this many times the time that it took."""
MANY_RUNS: Final = 2000
HEAD_START_SECONDS: Final = 1.0
KEPT_REMOVALS: Final = 5000


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
        self._store = Store(root.folder, cache)
        # Revisions of an earlier server are smaller, so that a page that has one gets a complete answer.
        self.revision = self.first_revision = time.time_ns() // 1_000_000
        self.runs: dict[Path, Known] = {}
        self.jobs: dict[str, Known] = {}
        self.by_id: dict[str, Known] = {}
        self.areas: dict[Path, Area] = {}
        self.outside: dict[Path, Area] = {}
        self._stored_outside: dict[Path, Known] = {}
        self.removed: dict[str, tuple[int, Path]] = {}
        self._searches: dict[Path, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()
        self._opened = asyncio.Event()
        self._opening = threading.Lock()

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
            await self.find(top)
            await self._read_all_metrics(self.below(top))
            area.searched_at = time.monotonic()
        finally:
            area.searching = False
            self.publish()

    async def find(self, top: Path) -> None:
        """Search a folder and read the facts of its runs. Searches of a folder that overlap are one."""
        search = self._searches.get(top)
        if search is None or search.done():
            search = self._searches[top] = spawn(self._find(self.area(top)), f"search {top}")
        await asyncio.shield(search)  # A request that is cancelled does not end the search of others.

    async def _find(self, area: Area) -> None:
        if not self._opened.is_set():
            await asyncio.to_thread(self._open_index)
            self._opened.set()
            self.publish(list(self.runs.values()))
            if len(self.runs) >= MANY_RUNS:  # Waiting requests are answered before the search.
                await asyncio.sleep(HEAD_START_SECONDS)
        await self._search_all(area)
        await self._by_disk(self.below(area.top), self._read_facts)

    async def _search_all(self, area: Area) -> None:
        """Search a folder, and bring the list of its runs up to date."""
        if area.outside:
            before = [known for known in self.runs.values() if known.outside and known.folder.is_relative_to(area.top)]
        else:
            before = [known for known in self.below(area.top) if not known.outside]
        found = await on_disk(area.top, find, area.top, SOURCES, area.limits)
        area.folders, area.links, area.complete = found.folders, found.links, found.complete
        for folder, source in found.runs.items():
            self._add(folder, source, outside=area.outside)
        if found.complete:  # Another search may have added runs that began during this one.
            self._drop([known for known in before if known.folder not in found.runs])

    async def _search_changes(self, area: Area, folders: Sequence[Path]) -> list[Known]:
        """Search those of some folders that have changed; return the runs in them. A busy folder takes a rest.

        Parameters
        ----------
        area
            The area of the folders.
        folders
            The folders.
        """
        begun = time.monotonic()
        if begun < area.rests_until or not folders:
            return []
        changed = await on_disk(area.top, changed_folders, folders, area.folders)
        changed = [folder for folder in changed if folder not in self.runs or not self.runs[folder].source.closed]
        if not changed:
            return []
        found = await on_disk(area.top, find_changes, area.top, SOURCES, area.limits, changed, area.folders)
        now = time.monotonic()
        area.rests_until = now + REST * (now - begun)
        gone = area.merge(found) | (found.folders.keys() - found.runs.keys())
        lost = [known for folder in gone if (known := self.runs.get(folder)) is not None]
        for folder, source in found.runs.items():
            self._add(folder, source, outside=area.outside)
        if lost:
            self._drop(lost)
            self.publish()
        return [self.runs[folder] for folder in found.runs if folder in self.runs]

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
            area = self.outside.setdefault(folder, Area(folder, outside=True))
            try:
                if area.is_due:
                    await self._search_all(area)
                    area.searched_at = time.monotonic()
                else:
                    await self._search_changes(area, list(area.folders))
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

    def _open_index(self) -> None:
        """Take over the runs that the index has, once (blocking)."""
        with self._opening:  # Searches of several folders may begin together.
            if not self._store.is_open:
                self._take_over(self._store.open())

    def _take_over(self, entries: Iterable[Entry]) -> None:
        """Add the runs that the index has."""
        sources: dict[str, Source] = {source.origin: source for source in SOURCES}
        top = self._root.folder
        found: dict[Path, Known] = {}
        for num, path, origin, files, facts, epoch, names in entries:
            source = sources.get(origin)
            folder = top / path  # An absolute path stays as it is: the run is outside.
            if source is None or folder in self.runs:
                continue
            outside = path.startswith("/")
            within = None if outside else path
            known = Known(run_id(path), folder, within, source, files, facts, NOT_LOADED, loaded=False, stored=True)
            known.outside = outside
            known.read, known.num, known.epoch, known.names = True, num, epoch, names
            (self._stored_outside if outside else found)[folder] = known
        # All runs are added at once, so that no answer has only some of them.
        self.runs |= found
        self.by_id |= {known.id: known for known in found.values()}

    @property
    def index_problem(self) -> Text | None:
        """Why the index can't be used now; None if it can."""
        return self._store.problem

    async def stop(self) -> None:
        """End the searches and close the index."""
        for search in self._searches.values():
            search.cancel()
        await asyncio.gather(*self._searches.values(), return_exceptions=True)
        await asyncio.to_thread(self.close)

    def close(self) -> None:
        """Close the index (blocking)."""
        self._store.close()

    def load(self, known: Known) -> None:
        """Read the metrics of a run from the index, if they are not in memory (blocking)."""
        self._store.load(known)

    def unload(self, known: Known) -> None:
        """Forget the metrics of a run if the index has them (blocking)."""
        self._store.unload(known)

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
        return self._store.cells(name, runs, curves=curves)

    def _add(self, folder: Path, source: Source, *, outside: bool) -> None:
        path = self._root.api(folder)
        if folder in self.runs or (path is None) != outside:
            return
        stored = self._stored_outside.pop(folder, None)
        known = stored or Known(run_id(path or str(folder)), folder, path, source, outside=outside)
        self.runs[folder] = self.by_id[known.id] = known
        if stored is not None:
            self.publish([stored])

    def _drop(self, gone: Iterable[Known]) -> None:
        gone = list(gone)
        for known in gone:
            self.runs.pop(known.folder, None)
        self._store.remove(gone)
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
        await self._by_disk(runs, self._read_facts)
        await self._read_all_metrics(runs)
        return self.revision != begun

    async def _read_all_metrics(self, runs: Sequence[Known]) -> None:
        """Read on in the metrics of runs, and in those of all runs that the index has lost."""
        await self._by_disk(runs, self._read_metrics)
        if self._store.has_lost:
            lost = await asyncio.to_thread(self._store.lost, [*self.runs.values(), *self._stored_outside.values()])
            await self._by_disk(lost, self._read_metrics)

    async def _by_disk(self, runs: Sequence[Known], read: Callable[[Sequence[Known]], Awaitable[None]]) -> None:
        """Read runs on each disk by themselves."""
        for area, part in by_area(runs, list(self.outside.values())):
            try:
                await read(part)
            except OSError as problem:
                if area is None:
                    raise
                _note_silent(area, problem)

    async def _read_facts(self, runs: Sequence[Known]) -> None:
        """Read the facts that have changed of runs on one disk."""
        for begin in range(0, len(runs), CHECKED_AT_ONCE):
            part = runs[begin : begin + CHECKED_AT_ONCE]
            changed, gone = await on_disk(part[0].folder, read_facts, part)
            if changed or gone:
                self._drop(gone)
                self.publish(changed)

    async def _read_metrics(self, runs: Sequence[Known]) -> None:
        """Read on in the metrics of runs on one disk."""
        waiting = [known for known in runs if known.is_waiting and self.runs.get(known.folder) is known]
        while waiting:
            done = await on_disk(waiting[0].folder, self._store.read, waiting)
            self.publish(waiting[:done] or waiting[:1])
            # A run with more to read goes to the end.
            waiting = [*waiting[max(done, 1) :], *(known for known in waiting[: max(done, 1)] if known.is_waiting)]

    async def check(self, top: Path, rolling: int) -> None:
        """Check once for changes below a folder, without searching all of it.

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
        if idle := [known for known in others if is_idle(known)]:
            kept = await asyncio.to_thread(self._store.keep, idle)
            if kept:  # An answer that is written at the same time may have them without metrics.
                self.publish(kept)
        folders = list(area.folders)
        homes = {known.folder.parent for known in runs}
        share = max(1, len(folders) // (10 * CHECKED_AT_ONCE))
        wanted = [folder for at, folder in enumerate(folders) if folder in homes or at % share == rolling % share]
        await self.refresh(await self._search_changes(area, wanted))


def _note_silent(area: Area, problem: OSError) -> None:
    """Log once that the disk of a folder outside the contents root does not answer: the next round tries again."""
    if not area.silent:
        log.warning("The runs in %s can't be read now: %s", area.top, problem)
    area.silent = True
