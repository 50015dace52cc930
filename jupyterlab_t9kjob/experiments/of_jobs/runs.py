"""Runs of jobs whose script recorded nothing: from the job's own record, its event files or its log."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ...contents_paths import ContentsRoot
from ...core.errors import JobError
from ...core.job import ACTIVE_PHASES, Job, JobSummary
from ...core.lab import Lab
from ...core.system.disk_threads import DiskSilent, on_disk
from ...core.translation import translated
from ...jobs.metrics.reader import MetricReader
from ...jobs.service import JobService
from ..facts import Facts
from ..library.known import Known, run_id
from ..library.library import Library
from ..places import Places
from ..series import Position, Series
from ..sources.of_job import JobSource
from ..sources.yaml_files import plain
from ..status import Jobs
from .outside import artifact_folders_of, folders_of
from .packages import packages_of

log = logging.getLogger(__name__)

MOST_JOBS: Final = 500
READ_AGAIN_SECONDS: Final = 5.0
"""Interval between reads of a running job's log for metrics."""
MARGIN_SECONDS: Final = 5.0

_SECRET: Final = re.compile(r"token|secret|passw|api[-_]?key|credential|auth", re.I)
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\Z")
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

    Attributes
    ----------
    owners
        Ids of jobs by the ids of their runs, for runs that do not name their job.
    """

    def __init__(self, jobs: JobService, library: Library, root: ContentsRoot) -> None:
        self._jobs = jobs
        self._library = library
        self._root = root
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
            for known in files:
                owner = owner_of(known, summaries) if known.source.origin == "events" else None
                if owner is not None:
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
        path = job.entrypoint_path
        return (self._root.folder / path).parent if path else self._root.folder


def owner_of(known: Known, jobs: Sequence[JobSummary]) -> JobSummary | None:
    """Return the job that wrote a folder of event files: the folder is in a log directory, and the times fit.

    Parameters
    ----------
    known
        The folder.
    jobs
        All jobs, newest first.
    """
    started = known.facts.started if known.facts is not None else None
    for job in jobs:
        if job.started_at is None or not any(_within(known.folder, folder) for folder in job.log_dirs):
            continue
        ended = job.ended_at if job.ended_at is not None else time.time()
        if started is None or job.created_at - MARGIN_SECONDS <= started <= ended + MARGIN_SECONDS:
            return job
    return None


def merged(events: Sequence[Known]) -> dict[str, Series]:
    """Return the metrics of the folders of event files of one job; of several folders with the folder's name before."""
    if len(events) == 1:
        return dict(events[0].log.series)
    return {
        f"{known.folder.name}/{name}": series for known in events for name, series in list(known.log.series.items())
    }


def series_of(points: Mapping[int, float]) -> Series:
    """Return a metric of values by number."""
    numbers, series = sorted(points), Series()
    series.extend([points[number] for number in numbers], lambda index: Position(float(numbers[index]), None, None))
    return series


def facts_of(job: Job) -> Facts:
    """Return the facts of a run, read from the record of its job."""
    spec = job.spec
    environment: dict[str, Any] = {
        "image": spec.runtime.image,
        "kernel": spec.runtime.kernel,
        "processes": job.processes,
        "replicas": job.replicas,
        "devices": job.devices.count if job.devices else None,
        "exit": job.failure.exit_code if job.failure else None,
    }
    commit = getattr(spec.source, "commit", None) or getattr(getattr(spec.source, "taken", None), "commit", None)
    git: dict[str, Any] = {}
    if commit is not None:
        git = {"commit": commit.id, "branch": commit.branch, "is_dirty": commit.changed > 0}
        environment |= {"commit": commit.id, "branch": commit.branch, "dirty": commit.changed > 0}
    for variable in spec.env:
        if variable.value is not None and not _SECRET.search(variable.name):
            environment[f"env.{variable.name}"] = plain(variable.value)
    return Facts(
        origin="job",
        name=job.display_name or job.name,
        status="Job",
        started=job.started_at,
        ended=job.ended_at,
        description=translated(job.reason.sentence) if job.reason else "",
        parameters=parameters_of(spec.args),
        environment={name: value for name, value in environment.items() if value is not None},
        git=git,
    )


def parameters_of(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the options among the arguments of a script by name; values that look like secrets are left out.

    Parameters
    ----------
    arguments
        `--lr 0.1`, `--lr=0.1`, `-b 8`, `--amp`, `model.depth=3`.
    """
    found: dict[str, Any] = {}
    name: str | None = None
    for argument in arguments[:2000]:
        if argument.startswith("-") and not _NUMBER.match(argument) and argument.strip("-"):
            key, equals, value = argument.lstrip("-").partition("=")
            name = None if equals else key
            found[key] = _value(value) if equals else True
        elif name is not None:
            found[name] = _value(argument) if found[name] is True else plain(f"{found[name]} {argument}")
        elif "=" in argument:
            key, _equals, value = argument.partition("=")
            found[key.lstrip("+")] = _value(value)
    return {plain(key): value for key, value in found.items() if not _SECRET.search(key)}


def _value(word: str) -> Any:
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    if _NUMBER.match(word) and len(word) <= 30:
        return plain(int(word) if word.lstrip("+-").isdigit() else float(word))
    return plain(word)


def _within(folder: Path, log_dir: str) -> bool:
    return folder.is_relative_to(log_dir)


def _is_recorder(known: Known) -> bool:
    return known.source.origin == "recorder"


def _job_of(known: Known, jobs: Jobs) -> JobSummary | None:
    return jobs.of(known.facts) if known.facts is not None else None
