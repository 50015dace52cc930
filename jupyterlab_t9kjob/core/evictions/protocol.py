"""Optional protocol of engines whose jobs can be evicted; see `core.engine.options`."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from .model import Continuation


@runtime_checkable
class ContinuesEvicted(Protocol):
    """The engine's jobs can be evicted, and it keeps which job continues an evicted one.

    It also keeps a lease for each job, so that of several labs only one continues the job.
    """

    async def lease_continuation(self, uid: str, holder: str, seconds: float) -> bool:
        """Take or renew the lease of an evicted job; return False if another lab holds it.

        Parameters
        ----------
        uid
            The job.
        holder
            Id of this lab.
        seconds
            Time after which another lab may take the lease.
        """

    async def note_continuation(self, uid: str, continuation: Continuation) -> None:
        """Keep which job continues an evicted job, or why none does.

        Parameters
        ----------
        uid
            The evicted job.
        continuation
            What `JobSummary.continuation` returns from now on.

        Raises
        ------
        JobError
            If the fact can't be kept now.
        """
