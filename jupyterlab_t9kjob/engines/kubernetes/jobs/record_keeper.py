"""Keeps the records of jobs up to date."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

import anyio

from ....core.job import ENDED_PHASES, JobSummary
from ..client.api import Json
from ..cluster.connection import Cluster
from ..objects.kinds import JobKind
from . import api_views
from .observer import Observer
from .records import (
    MOST_EVENTS,
    Record,
    Records,
    deleted_reason,
    unseen_reason,
    with_masked_commands,
    without_secrets,
)
from .tracked_job import TrackedJob

log = logging.getLogger(__name__)

REMOVE_SECONDS: Final = 2.0
"""Time that removals of records may take when the server stops; it has only a few seconds."""
WRITE_SECONDS: Final = 2.0
"""Time that the last records may take when the server stops: the disk may not answer."""

Drop = Callable[[Record], Awaitable[None]]
"""Removes a record and everything else that is kept of the job; raises OSError."""


class RecordKeeper:
    """Makes, updates and removes the records of the jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster of the jobs.
    records
        The records on disk.
    observer
        Makes snapshots of the jobs.
    drop
        Removes everything that is kept of a job.
    forget
        Removes a job from the table.
    """

    def __init__(
        self,
        kind: JobKind,
        cluster: Cluster,
        records: Records,
        observer: Observer,
        drop: Drop,
        forget: Callable[[TrackedJob], None],
    ) -> None:
        self._kind = kind
        self._cluster = cluster
        self._records = records
        self._observer = observer
        self._drop = drop
        self._forget = forget
        self._removals: set[asyncio.Task[None]] = set()

    async def start(self) -> list[TrackedJob]:
        """Load the records, and return their jobs."""
        jobs = []
        for record in await self._records.start():
            job = TrackedJob.recorded(record)
            jobs.append(job)
            # An earlier version may have written the record with secrets.
            if not self._observer.is_mine(job) and job.withhold():
                self._set_object(job, record)
                self.save_soon(job)
        return jobs

    async def stop(self) -> None:
        """Wait a short time for removals, and write the records that are due."""
        try:
            if self._removals:
                await asyncio.wait(self._removals, timeout=REMOVE_SECONDS)
        finally:
            await self._cancel_removals()
            with anyio.move_on_after(WRITE_SECONDS):
                await self._records.stop()
            await self._cancel_removals()  # The last writes may have found records that another lab has removed.

    async def _cancel_removals(self) -> None:
        for task in self._removals:
            task.cancel()
        await asyncio.gather(*self._removals, return_exceptions=True)

    def keep(self, job: TrackedJob, *, submitted: Json | None = None) -> Record:
        """Return the record of a job; it is made if the job has none.

        Parameters
        ----------
        job
            The job.
        submitted
            The manifest, if this lab has submitted the job.
        """
        if job.record is None:
            job.record = Record(
                cluster=self._cluster.identity,
                server=self._cluster.server,
                uid=job.uid,
                namespace=job.namespace,
            )
            self._set_object(job, job.record)
        if submitted is not None:
            job.record.submitted, job.record.mine = submitted, True
        return job.record

    async def save(self, job: TrackedJob) -> None:
        """Write a job's record now."""
        await self._records.put_now(job.uid, partial(self.update, job), partial(self.remove_soon, job))

    def save_soon(self, job: TrackedJob) -> None:
        """Write a job's record soon."""
        self._records.put(job.uid, partial(self.update, job), partial(self.remove_soon, job))

    def update(self, job: TrackedJob) -> Record:
        """Bring a job's record up to date, and return it; the last state of a job that is gone stays."""
        record = self.keep(job)
        if job.present:
            snapshot = self._observer.snapshot(job)
            summary = api_views.summary(self._kind, snapshot)
            self._set_object(job, record)
            record.phase, record.reason = summary.phase, summary.reason
            record.ended_by, record.lives, record.failures = summary.ended_by, job.attempts, job.failures
            record.progress, record.endings = job.progress, job.endings
            record.started_at, record.ended_at = job.started_at, job.ended_at
            replicas = api_views.replicas(snapshot, now=time.time())
            record.replicas = replicas if snapshot.mine else with_masked_commands(replicas)
            record.events = self._observer.events(snapshot)[:MOST_EVENTS]
        return record

    def mark_deleted(self, job: TrackedJob, record: Record, *, now: float | None) -> None:
        """Record that a job's object is gone.

        Parameters
        ----------
        job
            The job.
        record
            Its record.
        now
            Time of the deletion, in seconds since the epoch; None if no lab watched it, so
            that the job may have ended before.
        """
        if not self._observer.is_mine(job):
            job.withhold()
        if not record.deleted:
            record.deleted = True
            if record.phase not in ENDED_PHASES and now is None:
                record.phase, record.ended_by, record.reason = "Unknown", None, unseen_reason(record.last)
            elif record.phase not in ENDED_PHASES:
                record.phase, record.ended_by, record.reason = "Failed", "user", deleted_reason()
                job.ended_at = job.ended_at or now
                record.ended_at = job.ended_at

    def remove_soon(self, job: TrackedJob) -> None:
        """Forget a job, and remove everything that is kept of it in the background."""
        self._forget(job)
        if job.record is not None:
            task = asyncio.create_task(self._remove(job.record))
            self._removals.add(task)
            task.add_done_callback(self._removals.discard)

    async def _remove(self, record: Record) -> None:
        try:
            await self._drop(record)
        except OSError as error:
            log.warning("The record and logs of the job %s could not be removed: %s", record.uid, error)

    def _set_object(self, job: TrackedJob, record: Record) -> None:
        """Put a job's object into its record; without secrets if the job is another user's."""
        manifest = job.manifest
        record.last = manifest if self._observer.is_mine(job) else without_secrets(manifest)
        record.withheld = job.withheld or record.last.get("spec") != manifest.get("spec")


def lasting(summary: JobSummary | None) -> JobSummary | None:
    """Return the part of a row whose changes are written to the record: all but the progress."""
    return summary.model_copy(update={"progress": None}) if summary is not None else None
