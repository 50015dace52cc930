"""Selection of the jobs of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from ..core.errors import BadRequest
from ..core.job import JobSummary, Phase
from ..core.translation import _, listing

PHASES: Final[tuple[str, ...]] = get_args(Phase)


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

    Raises
    ------
    BadRequest
        If there is no such phase.
    """

    name: str | None = None
    phases: frozenset[str] = frozenset()
    engine: str | None = None
    deleted: bool = False

    def __post_init__(self) -> None:
        if unknown := self.phases.difference(PHASES):
            raise BadRequest(
                _("There is no phase {phase}.", phase=repr(min(unknown)[:40])),
                hint=_("The phases are {phases}.", phases=listing(PHASES)),
            )

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
