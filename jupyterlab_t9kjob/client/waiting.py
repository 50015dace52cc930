"""Waits until a job has ended, or is in a state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..core.job import ENDED_PHASES, JobSummary
from .session import Session


def is_over(job: JobSummary, state: str) -> bool:
    """Return True if a job is in a state, or can't come into it any more.

    Parameters
    ----------
    job
        The job.
    state
        A state, or ``ended``.
    """
    return job.phase in ENDED_PHASES or job.state == state or (job.deleted and not job.pending_action)


async def wait_for(
    session: Session, job: JobSummary, state: str = "ended", show: Callable[[JobSummary], None] = lambda _job: None
) -> JobSummary:
    """Return a job when it is in a state, or has ended.

    Parameters
    ----------
    session
        The services.
    job
        The job.
    state
        A state, or ``ended``.
    show
        Called with each state before that.
    """
    changes: asyncio.Queue[JobSummary | None] = asyncio.Queue()

    def note(ident: str, now: JobSummary | None) -> None:
        if ident == job.id:
            changes.put_nowait(now)

    end = session.jobs.listen(note)
    try:
        current = (await session.jobs.job(job.id)).summary()
        while not is_over(current, state):
            show(current)
            changed = await changes.get()
            if changed is None:  # The job was removed.
                return current.model_copy(update={"deleted": True, "pending_action": None})
            current = changed
        return current
    finally:
        end()
