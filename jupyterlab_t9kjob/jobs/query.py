"""Selection of the jobs of a list."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.job import JobSummary


@dataclass(frozen=True)
class Query:
    """Filter of the list of jobs.

    Attributes
    ----------
    name, engine
        Exact name of the job, and of its engine; None for all.
    phases
        Phases of the jobs; empty for all.
    deleted
        True to include the records of deleted jobs.
    """

    name: str | None = None
    phases: frozenset[str] = frozenset()
    engine: str | None = None
    deleted: bool = False

    def takes(self, job: JobSummary) -> bool:
        """Return True if the list includes a job."""
        return (
            (self.deleted or listed(job))
            and self.name in (None, job.name)
            and self.engine in (None, job.engine)
            and (not self.phases or job.phase in self.phases)
        )


def listed(job: JobSummary) -> bool:
    """Return True if a job is in the page's list; a deleted job is in it until it has ended."""
    return not job.deleted or job.pending_action is not None
