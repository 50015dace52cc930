"""Evicted jobs of which it is not decided yet whether another job continues them."""

from __future__ import annotations

from ..core.evictions.model import CONTINUED_SECONDS, EVICTIONS
from ..core.job import JobSummary


def is_evicted(job: JobSummary, now: float) -> bool:
    """Return True for a job of this user that was evicted lately, and of which it is not decided what follows.

    Parameters
    ----------
    job
        The job.
    now
        The present time, in seconds since the epoch.
    """
    return (
        job.phase == "Failed"
        and job.mine
        and not job.deleted
        and job.pending_action is None
        and job.continuation is None
        and job.reason is not None
        and job.reason.code in EVICTIONS
        and job.ended_at is not None
        and job.ended_at >= now - CONTINUED_SECONDS
    )
