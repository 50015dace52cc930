"""Starts the next jobs of sweeps on engines whose jobs do not wait for their turn by themselves.

The waiting jobs of such a sweep are paused in the cluster. Of all labs that see them, the one that holds the sweep's
lease resumes the next job when fewer than `at_a_time` are pending or running. If that lab ends, another one takes the
lease when it has expired.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from uuid import uuid4

import anyio

from ...core.engine.options import LeasesSweeps
from ...core.errors import JobError
from ...core.job import JobSummary
from ...core.sweep import SweepMember
from ...core.system.tasks import spawn
from ..query import Query
from ..service import JobService

log = logging.getLogger(__name__)

POLL_SECONDS = 10.0
"""Interval between checks of all sweeps for expired leases."""
PAUSE_SECONDS = 0.5
LEASE_SECONDS = 45.0

Member = tuple[JobSummary, SweepMember]


class SweepRunner:
    """Starts the next jobs of sweeps.

    Parameters
    ----------
    jobs
        All jobs.
    """

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs
        self._holder = uuid4().hex
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._end: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to follow changes of jobs, if an engine leaves waiting to the server."""
        if not any(isinstance(engine, LeasesSweeps) for engine in self._jobs.engines.all()):
            return
        self._end = self._jobs.engines.listen(self._note)
        self._task = spawn(self._run(), "start the next jobs of sweeps")

    async def stop(self) -> None:
        """Stop; another lab takes over when the leases have expired."""
        if self._end is not None:
            self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, _ident: str, job: JobSummary | None) -> None:
        if job is not None and job.sweep is not None:
            self._changed.set()

    async def _run(self) -> None:
        while True:
            try:
                await self._look_through()
            except Exception:  # A sweep with unexpected data must not end the others.
                log.exception("Sweeps could not be looked through")
            # `asyncio.wait_for` may swallow a cancellation before Python 3.12.
            with anyio.move_on_after(POLL_SECONDS):
                await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _look_through(self) -> None:
        rounds: dict[tuple[str, str, str], list[Member]] = defaultdict(list)
        for job in await self._jobs.jobs(Query()):
            if job.sweep is not None and not job.deleted and not self._jobs.engines.facts(job.engine).queues_sweeps:
                rounds[job.engine, job.namespace, job.sweep.queue].append((job, job.sweep))
        for members in rounds.values():
            await self._advance(sorted(members, key=lambda member: member[1].number))

    async def _advance(self, members: Sequence[Member]) -> None:
        """Start or stop jobs of one round of a sweep, if this lab has the round's lease."""
        sweep = members[0][1]
        stopped, next_jobs = next_steps([job for job, _member in members], sweep)
        if not (stopped or next_jobs):
            return
        engine = self._jobs.engines.get(members[0][0].engine)
        first = next((job for job, _member in members if "stop" in job.actions or is_waiting(job)), members[0][0])
        if not isinstance(engine, LeasesSweeps):
            return
        try:
            leased = await engine.lease_sweep(first.uid, self._holder, LEASE_SECONDS)
        except JobError as error:  # The next change or poll tries again.
            log.warning("The lease of sweep %s could not be taken: %s", sweep.id, error.message)
            return
        if not leased:
            return
        for job in stopped:
            await self._act(job, "stop")
        for job in next_jobs:
            await self._act(job, "resume")

    async def _act(self, job: JobSummary, action: str) -> None:
        try:
            await self._jobs.act(job.id, "stop" if action == "stop" else "resume")
        except JobError as error:  # The next change or poll tries again.
            log.warning("Job %s of a sweep: %s", job.name, error.message)


def next_steps(jobs: Sequence[JobSummary], sweep: SweepMember) -> tuple[list[JobSummary], list[JobSummary]]:
    """Return the jobs to stop and those to resume.

    A job that a user resumed out of its turn has one of the `at_a_time` places, like any other active job.

    Parameters
    ----------
    jobs
        Jobs of one round of the sweep, in the order of their numbers.
    sweep
        Membership of any of them.
    """
    waiting = [job for job in jobs if is_waiting(job)]
    active = [job for job in jobs if is_active(job)]
    if sweep.on_failure != "continue" and any(map(has_failed, jobs)):
        return [*waiting, *(active if sweep.on_failure == "stop_others" else [])], []
    return [], waiting[: max(0, sweep.at_a_time - len(active))]


def is_active(job: JobSummary) -> bool:
    """Return True if a job is pending or running, or will be soon."""
    return job.phase in ("Pending", "Running", "Resuming") or job.pending_action == "resuming"


def is_waiting(job: JobSummary) -> bool:
    """Return True if a job of a sweep waits for its turn: it was created paused, and no user paused it."""
    return (
        job.phase == "Paused"
        and job.started_at is None
        and job.pending_action is None
        and "resume" in job.actions
        and (job.reason is None or job.reason.code != "PausedByUser")
    )


def has_failed(job: JobSummary) -> bool:
    """Return True if a job failed, other than by a user's stop or the sweep's own."""
    return job.phase == "Failed" and job.ended_by in ("itself", "deadline")
