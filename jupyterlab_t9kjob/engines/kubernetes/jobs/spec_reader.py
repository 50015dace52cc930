"""Reads the specifications of jobs in a thread, away from the event loop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from ....core.lab import Lab
from .job_reading import ContentsPath, Reading, Unread
from .tracked_job import TrackedJob

log = logging.getLogger(__name__)


class SpecReader:
    """Reads those jobs that are marked as unread; each job is read once, however many ask for it.

    Parameters
    ----------
    contents
        Returns the contents API's path of a file.
    """

    def __init__(self, contents: ContentsPath) -> None:
        self._contents = contents
        self._lock = asyncio.Lock()

    async def read(self, jobs: Iterable[TrackedJob], lab: Lab | None) -> None:
        """Read unread jobs, and wait for those that are being read.

        Parameters
        ----------
        jobs
            The jobs.
        lab
            The lab; None if it is not known yet.
        """
        async with self._lock:
            unread = [(job, job.unread_part()) for job in jobs if job.unread]
            if not unread:
                return
            try:
                found = await asyncio.to_thread(self._read, unread, lab)
            except BaseException:  # Cancelled, for example: the next call reads these jobs.
                for job, _part in unread:
                    job.unread = True
                raise
            for (job, _part), reading in zip(unread, found, strict=True):
                if reading is not None:
                    job.apply(reading)

    def _read(self, unread: Iterable[tuple[TrackedJob, Unread]], lab: Lab | None) -> list[Reading | None]:
        """Read jobs (blocking). Only their unread parts are used: the jobs themselves change meanwhile."""
        found: list[Reading | None] = []
        for job, part in unread:
            try:
                found.append(part.read(lab, self._contents))
            except Exception:
                log.exception("The job %s could not be read", job.uid)
                found.append(None)
        return found
