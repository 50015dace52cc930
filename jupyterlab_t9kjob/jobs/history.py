"""Disk space of the records of jobs, and the limit above which the oldest records are removed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pydantic import Field

from ..core.engine.options import KeepsHistory
from ..core.errors import JobError, Unavailable
from ..core.job import JobSummary, Phase, Time
from ..core.spec import Model
from ..core.system.disk_threads import on_disk
from ..core.system.trees import size_of_tree
from .query import Query
from .service import JobService

log = logging.getLogger(__name__)

CLEANING_SECONDS: Final = 600.0
"""Interval between removals of records above the limit."""
CHUNK: Final = 100
"""Number of jobs that are measured in one call of a thread."""


class KeptSizes(Model):
    """Bytes of the files that are kept of a job."""

    record: int = Field(0, description="Record, specification, events.")
    logs: int = 0
    samples: int = Field(0, description="Use of CPU, memory and GPUs.")
    stacks: int = 0


class KeptJob(Model):
    """A job whose files are kept on this disk."""

    id: str
    name: str
    engine: str
    phase: Phase
    created_at: Time
    ended_at: Time | None = None
    deleted: bool = False
    sizes: KeptSizes
    size: int = Field(description="Bytes of all files.")
    removable: bool = Field(description="True if the files can be removed now.")


class Space(Model):
    """Disk space of the records of all jobs, the largest first."""

    jobs: list[KeptJob]
    size: int = Field(description="Bytes of all jobs.")
    limit: int | None = Field(None, description="Bytes above which the oldest records are removed; null for no limit.")


class History:
    """Measures the records of all jobs, and removes the oldest ones above the limit.

    Parameters
    ----------
    jobs
        The jobs.
    stacks
        Returns the folder with the stacks of a job, by the job's id.
    limit
        Bytes of all records; None for any number.
    """

    def __init__(self, jobs: JobService, stacks: Callable[[str], Path], limit: int | None) -> None:
        self._jobs = jobs
        self._stacks = stacks
        self._limit = limit
        self._task: asyncio.Task[None] | None = None
        self._known: dict[str, tuple[JobSummary, KeptSizes]] = {}

    async def start(self) -> None:
        """Begin to remove records above the limit."""
        if self._limit is not None:
            self._task = asyncio.create_task(self._clean(), name="history limit")

    async def stop(self) -> None:
        """Stop."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def space(self, *, fresh: bool = True) -> Space:
        """Return the sizes of the records of all jobs.

        Parameters
        ----------
        fresh
            False to use the known sizes of ended jobs, whose files rarely change.
        """
        folders = {
            (engine.name, uid): folder
            for engine in self._jobs.engines.all()
            if isinstance(engine, KeepsHistory)
            for uid, folder in engine.history_folders().items()
        }
        jobs = [job for job in await self._jobs.jobs(Query(deleted=True)) if (job.engine, job.uid) in folders]
        sizes: dict[str, KeptSizes] = {}
        due = []
        for job in jobs:
            known = self._known.get(job.id)
            if not fresh and known is not None and known[0] == job and job.ended_at is not None:
                sizes[job.id] = known[1]
            else:
                due.append(job)
        for at in range(0, len(due), CHUNK):
            chunk = due[at : at + CHUNK]
            paths = [(folders[job.engine, job.uid], self._stacks(job.id)) for job in chunk]
            found = await on_disk(paths[0][0], _measured, paths)
            sizes |= {job.id: each for job, each in zip(chunk, found, strict=True)}
        self._known = {job.id: (job, sizes[job.id]) for job in jobs}
        kept = sorted((_kept(job, sizes[job.id]) for job in jobs), key=lambda each: -each.size)
        return Space(jobs=kept, size=sum(each.size for each in kept), limit=self._limit)

    async def clean(self) -> list[str]:
        """Remove the records of the jobs that ended first until the others are within the limit; return their ids."""
        space = await self.space(fresh=False)
        removed: list[str] = []
        size = space.size
        oldest = sorted((job for job in space.jobs if job.removable), key=lambda job: job.ended_at or job.created_at)
        for job in oldest:
            if self._limit is None or size <= self._limit:
                break
            try:
                await self._jobs.remove(job.id)
            except JobError as error:
                log.warning("The record of %s could not be removed: %s", job.id, error.message)
                continue
            size -= job.size
            removed.append(job.id)
        if removed:
            log.info(
                "Removed the records of %d jobs, which were above the limit of %s bytes", len(removed), self._limit
            )
        return removed

    async def _clean(self) -> None:
        while True:
            await asyncio.sleep(CLEANING_SECONDS)
            try:
                await self.clean()
            except (JobError, OSError, Unavailable) as error:  # A disk that does not answer, for example.
                log.warning("Old records of jobs could not be removed: %s", error)


def _kept(job: JobSummary, sizes: KeptSizes) -> KeptJob:
    return KeptJob(
        id=job.id,
        name=job.name,
        engine=job.engine,
        phase=job.phase,
        created_at=job.created_at,
        ended_at=job.ended_at,
        deleted=job.deleted,
        sizes=sizes,
        size=sizes.record + sizes.logs + sizes.samples + sizes.stacks,
        removable="remove" in job.actions,
    )


def _measured(paths: list[tuple[Path, Path]]) -> list[KeptSizes]:
    """Return the sizes of the files in folders of jobs (blocking)."""
    return [_sizes(folder, stacks) for folder, stacks in paths]


def _sizes(folder: Path, stacks: Path) -> KeptSizes:
    logs, samples = size_of_tree(folder / "logs"), size_of_tree(folder / "resources")
    return KeptSizes(
        record=size_of_tree(folder) - logs - samples, logs=logs, samples=samples, stacks=size_of_tree(stacks)
    )
