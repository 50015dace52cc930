"""Which jobs a list has."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.job import JobSummary


@dataclass(frozen=True)
class Query:
    """Which jobs a list has.

    Attributes
    ----------
    name, engine
        Exact; None for any.
    phases
        Any of these; empty for all.
    deleted
        Whether records of deleted jobs are in the list as well.
    """

    name: str | None = None
    phases: frozenset[str] = frozenset()
    engine: str | None = None
    deleted: bool = False

    def takes(self, job: JobSummary) -> bool:
        """Whether the job belongs into the list."""
        return (
            (self.deleted or listed(job))
            and self.name in (None, job.name)
            and self.engine in (None, job.engine)
            and (not self.phases or job.phase in self.phases)
        )


def listed(job: JobSummary) -> bool:
    """Whether the job is in the list that people see: a deleted one is as long as it still ends."""
    return not job.deleted or job.pending_action is not None
