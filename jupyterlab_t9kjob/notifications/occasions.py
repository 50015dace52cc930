"""Events of jobs about which users can be notified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..core.job import ACTIVE_PHASES, JobSummary
from ..core.notices import NoticeKind
from .model import WebhookRules


@dataclass(frozen=True)
class Occasion:
    """An event of a job.

    Attributes
    ----------
    kind
        Kind of the notice.
    key
        Identifies the event; the same in every lab and after every restart.
    job
        The job; the last one that ended if the event is about a sweep.
    time
        Time of the event, in seconds since the epoch; None if it is not known.
    jobs
        The jobs of the sweep; empty if the event is about one job.
    """

    kind: NoticeKind
    key: str
    job: JobSummary
    time: float | None
    jobs: tuple[JobSummary, ...] = ()

    @property
    def ident(self) -> str:
        """Short id of the event, for receivers."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:16]


def occasions_of(job: JobSummary, rules: WebhookRules, now: float) -> Iterator[Occasion]:
    """Return the events that hold for a job of the user; none for a job of another user or a deleted one.

    Parameters
    ----------
    job
        The job.
    rules
        The user's numbers of minutes.
    now
        The present time, in seconds since the epoch.
    """
    if not job.mine or job.deleted:
        return
    if job.state == "Failed":
        yield Occasion("failed", f"{job.uid}:ended:{job.attempt}", job, job.ended_at)
    elif job.phase == "Succeeded":
        ran = (job.ended_at or 0) - (job.started_at or job.created_at)
        kind: NoticeKind = "succeeded_late" if ran > 60 * rules.late_minutes else "succeeded_soon"
        yield Occasion(kind, f"{job.uid}:ended:{job.attempt}", job, job.ended_at)
    elif job.stalled is not None:
        yield Occasion("no_progress", f"{job.uid}:stalled:{job.stalled.since:.0f}", job, None)
    elif is_paused_by_platform(job):
        yield Occasion("paused", f"{job.uid}:paused:{job.attempt}", job, None)
    elif job.phase == "Pending" and now - job.created_at > 60 * rules.waiting_minutes:
        yield Occasion("waiting", f"{job.uid}:waiting", job, job.created_at + 60 * rules.waiting_minutes)


def sweeps_that_ended(jobs: Iterable[JobSummary]) -> Iterator[Occasion]:
    """Return an event for each sweep of the user whose jobs have all ended."""
    sweeps: dict[str, list[JobSummary]] = {}
    for job in jobs:
        if job.mine and job.sweep is not None and not job.deleted:
            sweeps.setdefault(job.sweep.id, []).append(job)
    for ident, members in sweeps.items():
        if not any(job.phase in ACTIVE_PHASES or job.phase == "Unknown" for job in members):
            last = max(members, key=lambda job: job.ended_at or 0)
            # A retry is a new round, whose end is another event. Jobs of a round that are deleted later are none.
            latest = max(job.sweep.round for job in members if job.sweep is not None)
            # So is the end of a job that continues an evicted one. It counts instead of the evicted job.
            following = {job.continuation.job for job in members if job.continuation is not None} - {None}
            key = f"sweep:{ident}:{latest}" + (f":{len(following)}" if following else "")
            counted = [job for job in members if job.continuation is None or job.continuation.job is None]
            yield Occasion("sweep_ended", key, last, last.ended_at, tuple(counted))


def is_paused_by_platform(job: JobSummary) -> bool:
    """Return True if the platform paused a job, or took it back into its queue, after the job had started."""
    code = job.reason.code if job.reason is not None else None
    waits = job.phase == "Paused" or (job.phase == "Pending" and job.started_at is not None)
    return waits and job.pending_action is None and code in ("PausedByPlatform", "TakenOut", "Preempted")
