"""The experiments' service: answers requests about runs. Nothing is searched before the first request."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from ..contents_paths import ContentsRoot
from ..core.errors import JobError
from ..core.job import JobSummary
from ..core.system.disk_threads import on_disk
from ..core.system.tasks import spawn
from ..core.translation import _
from ..jobs.checkpoints import Checkpoints, checkpoints_of
from ..jobs.service import JobService
from . import removal
from .at_step import values_at_steps
from .curves import curves_on_disks, values_of
from .detail import detail_of
from .library.known import Known, is_active
from .library.library import Library
from .lookup import Lookup
from .model import (
    Curves,
    CurvesRequest,
    EditRun,
    FileEntry,
    Points,
    Removal,
    RemoveRuns,
    RunDetail,
    RunRow,
    RunTable,
    ValuesAt,
    ValuesAtRequest,
)
from .notes import Note, Notes
from .of_jobs.runs import JobRuns
from .rows import Cells, Rows
from .status import Jobs, status_of
from .table import columns_of, metrics_of, unreadable_of

log = logging.getLogger(__name__)

HELD_SECONDS: Final = 15.0
LOOK_SECONDS: Final = 1.0
WATCH_SECONDS: Final = 60.0
"""Time for which a folder is watched after the last request."""
INDEX_SECONDS: Final = 3.0
"""Time that the first answer waits for the index, which takes less than a second for 10 000 runs."""
FIRST_SECONDS: Final = 0.5
"""Time that the first answer waits for the search."""
BATCH_SECONDS: Final = 0.5
"""Time for which changes are collected for one answer during a search."""
MOST_UNREADABLE: Final = 50
LEFT_OUT: Final = _("The search ended early: the folder has too many files or is too deep. Open a folder below it.")

FindTarget = Callable[[str], Awaitable[removal.Target | None]]
"""Returns the folder of an artifact by its id; None if there is no such artifact."""


class Experiments:
    """Runs below the contents root.

    Parameters
    ----------
    root
        The contents root.
    jobs
        The jobs, for the links between jobs and runs.
    home
        Directory of the extension's records.
    cache
        Folder on this machine for the index of runs; None to keep it in memory.
    job_root
        Folder to which the paths of the jobs are relative; None for the contents root.
    """

    def __init__(
        self,
        root: ContentsRoot,
        jobs: JobService,
        home: Path,
        cache: Path | None = None,
        *,
        job_root: Path | None = None,
    ) -> None:
        self.root = root
        self._jobs = jobs
        self.library = Library(root, cache)
        self.notes = Notes(home)
        self.job_runs = JobRuns(jobs, self.library, root, job_root)
        self.lookup = Lookup(root, self.library, self.job_runs)
        self._watches: dict[Path, asyncio.Task[None]] = {}
        self._asked: dict[Path, float] = {}
        self._states: dict[str, tuple[str, str | None]] = {}

    async def stop(self) -> None:
        """End the watches and searches."""
        tasks = list(self._watches.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, self.lookup.stop(), return_exceptions=True)
        await self.library.stop()

    # -- answers ------------------------------------------------------------------------------------------------------

    async def runs(self, folder: str, revision: int, metrics: list[str], curves: list[str]) -> bytes:
        """Return a `RunTable` of the runs below a folder, or of what changed since a revision, as JSON.

        Parameters
        ----------
        folder
            Path in the contents API.
        revision
            Revision of the last answer, for which the answer waits up to `HELD_SECONDS` for a change; -1 for all runs.
        metrics, curves
            Metrics whose summaries and small curves are wanted.
        """
        top = await self.lookup.folder(folder)
        self._watch(top)
        library = self.library
        if revision < 0 and library.area(top).searched_at is None:
            await library.wait_for_index(INDEX_SECONDS)
            if not library.runs:
                await library.wait(FIRST_SECONDS)
        end = time.monotonic() + HELD_SECONDS
        while revision == library.revision and (left := end - time.monotonic()) > 0:
            await library.wait(left)
            if library.area(top).searching:
                await asyncio.sleep(BATCH_SECONDS)
        jobs = Jobs(await self._jobs.jobs())
        return await asyncio.to_thread(self._table, top, revision, metrics, curves, jobs)

    async def searched(self, folder: str, metrics: list[str]) -> bytes:
        """Return a `RunTable` of the runs below a folder after one complete search, as JSON: for a program that ends.

        Parameters
        ----------
        folder
            Path in the contents API.
        metrics
            Metrics whose summaries are wanted.
        """
        top = await self.lookup.folder(folder)
        await self.library.search(top)
        await self.job_runs.update()
        self.library.area(top).current = True
        return await asyncio.to_thread(self._table, top, -1, metrics, [], Jobs(await self._jobs.jobs()))

    def _table(self, top: Path, revision: int, metrics: list[str], curves: list[str], jobs: Jobs) -> bytes:
        library = self.library
        current, area = library.revision, library.area(top)
        scanning = area.searching or not area.current  # Runs may be stored while their cells are collected.
        complete = not library.first_revision <= revision <= current
        below = library.below(top)
        readable = [known for known in library.shown(top) if known.facts is not None]
        names, counts = metrics_of(readable, [*metrics, *curves])
        shown = [known for known in readable if complete or known.revision > revision]
        cells = [self._cells(name, shown, curve=name in curves) for name in names]
        rows = Rows(lambda known: self._job(known, jobs), self.notes.all(), cells)
        unreadable = unreadable_of(library, self.root, top, below)
        gone = [] if complete else list(library.removed.items())
        table = RunTable.model_construct(
            revision=current,
            complete=complete,
            scanning=scanning,
            runs=[],
            removed=[
                ident
                for ident, (at, path) in gone
                if at > revision and path.is_relative_to(top) and ident not in library.by_id
            ],
            columns=columns_of(readable, counts),
            unreadable=unreadable[:MOST_UNREADABLE],
            unreadable_count=len(unreadable),
            left_out=None if area.complete else LEFT_OUT,
            index_problem=library.index_problem,
        )
        head = table.model_dump_json()
        # The first empty list is that of the runs. Names of files may have bytes that are no UTF-8. Each run is a line,
        # so that a page can parse a long answer in parts.
        texts = ",\n".join(map(rows.text, shown))
        return head.replace('"runs":[]', f'"runs":[\n{texts}\n]', 1).encode("utf-8", "replace")

    def _cells(self, metric: str, runs: Sequence[Known], *, curve: bool) -> Cells:
        return Cells(metric, self.library.cells(metric, runs, curves=curve), curve)

    async def run(self, ident: str) -> RunDetail:
        """Return a run in full."""
        known = await self.lookup.known(ident)
        if known.has_files:
            await self.library.refresh([known])
        jobs = Jobs(await self._jobs.jobs())
        row = await asyncio.to_thread(self._row, known, jobs)
        same = [each for each in self.library.runs.values() if row.job and self._job_id(each, jobs) == row.job.id]
        places = await self.job_runs.places()
        detail = await on_disk(known.folder, detail_of, known, row, same, self.root, places, self.library)
        if row.job is not None:
            found = await self._checkpoints(row.job.id)
            if found.newest is not None:
                newest = found.newest
                detail.checkpoints = [FileEntry(path=newest.path, size=found.size, modified_at=newest.time)]
            detail.checkpoint_files = [
                FileEntry(path=file.path, size=file.size, modified_at=file.time) for file in found.files
            ]
        return detail

    async def _checkpoints(self, job: str) -> Checkpoints:
        """Return the checkpoints that a job wrote."""
        try:
            return await checkpoints_of(await self._jobs.job(job), self.root)
        except (JobError, OSError):  # The job is gone, or a disk does not answer.
            return Checkpoints()

    async def edit(self, ident: str, request: EditRun) -> RunRow:
        """Change tags, note or archived state of a run.

        Parameters
        ----------
        ident
            Id of the run.
        request
            The changes.
        """
        known = await self.lookup.known(ident)

        def change(note: Note) -> Note:
            return Note(
                note.tags if request.tags is None else list(dict.fromkeys(request.tags)),
                note.note if request.note is None else request.note,
                note.archived if request.archived is None else request.archived,
            )

        await on_disk(self.notes.path, self.notes.change, ident, change)
        self.library.publish([known])
        return await asyncio.to_thread(self._row, known, Jobs(await self._jobs.jobs()))

    async def values(self, ident: str, metric: str, first: int, limit: int) -> Points:
        """Return the values of a metric as they are in the file.

        Parameters
        ----------
        ident
            Id of the run.
        metric
            Name of the metric.
        first
            Index of the first value.
        limit
            Largest number of values.
        """
        known = await self.lookup.known(ident)
        return await on_disk(known.folder, values_of, known, metric, first, limit, self.library)

    async def curves(self, request: CurvesRequest) -> Curves:
        """Return curves of several runs. Runs that are gone are left out."""
        return await curves_on_disks(await self.lookup.found(request.runs), request, self.library)

    async def values_at(self, request: ValuesAtRequest) -> ValuesAt:
        """Return values of metrics at a step."""
        runs = {known.id: known for known in await self.lookup.found(request.runs)}
        return await values_at_steps([runs.get(ident) for ident in request.runs], request.metrics, self.library)

    async def remove(self, request: RemoveRuns, find_artifact: FindTarget) -> Removal:
        """Delete the folders of runs and artifacts; or return what would be deleted.

        Parameters
        ----------
        request
            Ids of runs and artifacts.
        find_artifact
            Returns the folder of an artifact, or None.
        """
        runs: list[Known] = []
        targets: list[removal.Target] = []
        for ident in dict.fromkeys(request.ids):
            known = await self.lookup.find(ident)
            target = await find_artifact(ident) if known is None else None
            if target is None:
                known = known or await self.lookup.known(ident)
                if known.path is None:
                    raise removal.refusal(known.folder if known.outside else None)
                runs.append(known)
                target = removal.run_target(known)
            targets.append(target)
        folders = [target.folder for target in targets]
        if request.dry_run:
            return await on_disk(folders, removal.listed, targets)
        try:
            return await on_disk(folders, removal.removed, targets)
        finally:
            await self.library.refresh(runs)

    def _row(self, known: Known, jobs: Jobs) -> RunRow:
        names, _counts = metrics_of([known], [])
        cells = [self._cells(name, [known], curve=False) for name in names]
        return Rows(lambda run: self._job(run, jobs), self.notes.all(), cells).row(known)

    def _job(self, known: Known, jobs: Jobs) -> JobSummary | None:
        """Return the job of a run."""
        if known.source.origin != "recorder":
            return jobs.by_id(self.job_runs.owners.get(known.id))
        return jobs.of(known.facts) if known.facts is not None else None

    def _job_id(self, known: Known, jobs: Jobs) -> str | None:
        job = self._job(known, jobs)
        return None if job is None else job.id

    # -- watching -----------------------------------------------------------------------------------------------------

    def _watch(self, top: Path) -> None:
        self._asked[top] = time.monotonic()
        task = self._watches.get(top)
        if task is None or task.done():
            self.library.area(top).current = False  # Jobs that began since the last watch have no runs yet.
            self._watches[top] = spawn(self._follow(top), f"watch the runs below {top}")

    async def _follow(self, top: Path) -> None:
        """Search a folder and check it for changes until no page has asked for it for `WATCH_SECONDS`."""
        rolling = 0
        while time.monotonic() - self._asked[top] < WATCH_SECONDS:
            try:
                if self.library.area(top).is_due:
                    await self.library.search(top)
                else:
                    await self.library.check(top, rolling)
                await self._publish_states(top)
                await self.job_runs.update()
                if not self.library.area(top).current:
                    self.library.area(top).current = True
                    self.library.publish()
            except Exception:  # The folder does not count as searched before a round succeeds.
                log.exception("The runs below %s could not be read.", top)
            rolling += 1
            await asyncio.sleep(LOOK_SECONDS)

    async def _publish_states(self, top: Path) -> None:
        """Publish runs whose status has changed though their files have not: the job ended, or time has passed."""
        jobs = Jobs(await self._jobs.jobs())
        changed = []
        for known in self.library.below(top):
            if known.facts is not None and is_active(known):
                job = self._job(known, jobs)
                state = status_of(known.facts, job, known.written_at), job.id if job else None
                if self._states.setdefault(known.id, state) != state:
                    self._states[known.id] = state
                    changed.append(known)
        if changed:
            self.library.publish(changed)
