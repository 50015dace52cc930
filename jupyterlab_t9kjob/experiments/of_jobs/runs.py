"""Runs of jobs whose script recorded nothing: from the job's own record, its event files or its log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ...contents_paths import ContentsRoot
from ...core.errors import JobError
from ...core.job import ACTIVE_PHASES, Job, JobSummary
from ...core.lab import Lab
from ...core.system.disk_threads import DiskSilent, on_disk
from ...jobs.metrics.reader import MetricReader
from ...jobs.service import JobService
from ..facts import Facts
from ..joined import prefixed
from ..library.known import Known, run_id
from ..library.library import Library
from ..places import Places
from ..series import Position, Series
from ..sources.of_job import JobSource
from ..status import Jobs
from .job_facts import facts_of
from .outside import artifact_folders_of, folders_of
from .owners import Owners
from .packages import packages_of

log = logging.getLogger(__name__)

MOST_JOBS: Final = 500
READ_AGAIN_SECONDS: Final = 5.0
"""Interval between reads of a running job's log for metrics."""

_SOURCE: Final = JobSource()


class JobRuns:
    """Runs of jobs without recorder.

    Parameters
    ----------
    jobs
        The jobs.
    library
        The known runs, to which these are added.
    root
        The contents root.
    job_root
        Folder to which the paths of the jobs are relative; None for the contents root.

    Attributes
    ----------
    owners
        Ids of jobs by the ids of their runs, for runs that do not name their job.
    """

    def __init__(self, jobs: JobService, library: Library, root: ContentsRoot, job_root: Path | None = None) -> None:
        self._jobs = jobs
        self._library = library
        self._root = root
        self._job_root = job_root or root.folder
        self._metrics = MetricReader(jobs.engines)
        self.owners: dict[str, str] = {}
        self._versions: dict[str, tuple[Any, ...]] = {}
        self._read_at: dict[str, float] = {}
        self._outside: dict[str, tuple[Path, ...]] = {}
        self._artifacts: dict[str, tuple[Path, ...]] = {}
        self._silent: set[str] = set()
        self._lock = asyncio.Lock()

    async def update(self) -> None:
        """Bring the runs of all jobs up to date."""
        async with self._lock:
            summaries = (await self._jobs.jobs())[:MOST_JOBS]
            jobs = Jobs(summaries)
            files = [known for known in self._library.runs.values() if known.facts is not None]
            recorded = {job.id for known in files if _is_recorder(known) and (job := _job_of(known, jobs))}
            events: dict[str, list[Known]] = {}
            owners = Owners(summaries)
            for known in files:
                if known.source.origin == "events" and (owner := owners.of(known.folder, _started(known))):
                    events.setdefault(owner.id, []).append(known)
            self.owners = {known.id: owner for owner, each in events.items() for known in each}
            wanted = {job.id: job for job in summaries if job.id not in recorded and job.started_at is not None}
            self._library.drop_jobs(set(self._library.jobs) - set(wanted))
            self.owners |= {run_id(f"job:{ident}"): ident for ident in wanted}
            runs = [await self._run(job, events.get(job.id, [])) for job in wanted.values()]
            changed = [run for run in runs if run is not None]
            joined = {known.id for job_id, each in events.items() for known in each if job_id in wanted}
            changed += self._library.join(joined)
            if changed:
                self._library.publish(changed)
            known_jobs = {job.id for job in summaries}
            self._outside = {ident: folders for ident, folders in self._outside.items() if ident in known_jobs}
            self._artifacts = {ident: folders for ident, folders in self._artifacts.items() if ident in known_jobs}
            self._silent &= known_jobs
            for ident in list(self._silent):
                with contextlib.suppress(JobError, OSError):
                    await self._find_outside(await self._jobs.job(ident))
            await self._library.search_outside({folder for each in self._outside.values() for folder in each})

    async def _run(self, job: JobSummary, events: Sequence[Known]) -> Known | None:
        """Return the run of a job if it has changed."""
        version = (
            job.phase,
            job.started_at,
            job.ended_at,
            job.display_name,
            tuple((known.id, known.revision) for known in events),
        )
        known = self._library.jobs.get(job.id)
        same = known is not None and self._versions.get(job.id) == version
        if same and (events or not self._is_due(job)):
            return None
        if known is None:
            known = self._library.add_job(job.id, Known(run_id(f"job:{job.id}"), self._folder(job), None, _SOURCE))
        if not same:
            try:
                full = await self._jobs.job(job.id)
                known.facts = await self._facts(full)
                await self._find_outside(full)
            except (JobError, OSError):  # The job was removed, or its engine is unavailable.
                known.facts = known.facts or Facts("job", job.display_name or job.name, started=job.started_at)
        self._versions[job.id] = version
        self._read_at[job.id] = time.monotonic()
        before = sum(series.count for series in known.log.series.values())
        for part in events:
            await asyncio.to_thread(self._library.load, part)
        series = merged(events) if events else await self._from_log(job)
        with known.lock:
            known.log.series = series
            known.parts = tuple(events)
            known.names, known.epoch = tuple(series), known.log.epoch()
        known.read = True
        return known if not same or sum(each.count for each in series.values()) != before else None

    async def _facts(self, job: Job) -> Facts:
        facts = facts_of(job)
        python = job.command[0] if job.command else ""
        if self._jobs.engines.facts(job.engine).runs_in_kernel and python.startswith("/"):
            version, facts.packages = await asyncio.to_thread(packages_of, Path(python))
            known = {"python": version, "torch": facts.packages.get("torch")}
            facts.environment |= {name: value for name, value in known.items() if value is not None}
        return facts

    async def _find_outside(self, job: Job) -> None:
        """Note the folders outside the contents root that a job names, in a later round if a disk does not answer."""
        lab = None
        if not self._jobs.engines.facts(job.engine).shares_lab_filesystem:
            lab = await self._jobs.engines.lab(job.engine, job.namespace) or Lab()
        try:
            folders = await asyncio.to_thread(folders_of, job, lab, self._root.folder)
            self._outside[job.id] = folders
            self._artifacts[job.id] = await asyncio.to_thread(artifact_folders_of, job, lab, self._root.folder, folders)
            self._silent.discard(job.id)
        except DiskSilent as problem:
            if job.id not in self._silent:
                log.warning("The folders of job %s outside the contents root are not searched now: %s", job.id, problem)
            self._silent.add(job.id)

    async def places(self) -> Places:
        """Return the folders of artifacts, without those outside the contents root that are on a silent disk."""
        outside = []
        for folder in dict.fromkeys(folder for each in self._artifacts.values() for folder in each):
            with contextlib.suppress(OSError):
                if await on_disk(folder, folder.is_dir):
                    outside.append(folder)
        return await on_disk(self._root.folder, Places, self._root.folder, outside)

    def _is_due(self, job: JobSummary) -> bool:
        """Return True if the log of a running job may have new metrics."""
        return job.phase in ACTIVE_PHASES and time.monotonic() - self._read_at.get(job.id, 0) > READ_AGAIN_SECONDS

    async def _from_log(self, job: JobSummary) -> dict[str, Series]:
        """Return the metrics that the job's log reports, by number of the report."""
        return {name: series_of(points) for name, points in (await self._metrics.of(job)).series.items()}

    def _folder(self, job: JobSummary) -> Path:
        """Return the folder of the job's script; the contents root for a script outside it."""
        root = self._root.folder
        folder = (self._job_root / job.entrypoint_path).parent if job.entrypoint_path else root
        return folder if folder.is_relative_to(root) else root


def merged(events: Sequence[Known]) -> dict[str, Series]:
    """Return the metrics of the folders of event files of one job."""
    return {
        f"{prefix}{name}": series
        for prefix, known in prefixed(events)
        for name, series in list(known.log.series.items())
    }


def series_of(points: Mapping[int, float]) -> Series:
    """Return a metric of values by number."""
    numbers, series = sorted(points), Series()
    series.extend([points[number] for number in numbers], lambda index: Position(float(numbers[index]), None, None))
    return series


def _started(known: Known) -> float | None:
    return known.facts.started if known.facts is not None else None


def _is_recorder(known: Known) -> bool:
    return known.source.origin == "recorder"


def _job_of(known: Known, jobs: Jobs) -> JobSummary | None:
    return jobs.of(known.facts) if known.facts is not None else None
