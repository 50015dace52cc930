"""Finds the job that wrote a folder of event files."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ...core.job import JobSummary

MARGIN_SECONDS: Final = 5.0


class Owners:
    """Jobs by their log directories. A look-up takes microseconds: there may be thousands of folders and of jobs.

    Parameters
    ----------
    jobs
        All jobs.
    """

    def __init__(self, jobs: Sequence[JobSummary]) -> None:
        self._written: dict[str, _Jobs] = {}
        for job in sorted(jobs, key=lambda job: job.created_at):
            if job.started_at is not None:
                for folder in {str(Path(each)).rstrip("/") for each in job.log_dirs}:
                    self._written.setdefault(folder, _Jobs()).add(job)

    def of(self, folder: Path, started: float | None) -> JobSummary | None:
        """Return the newest job in whose log directory a folder is, and whose time fits.

        Parameters
        ----------
        folder
            The folder, an absolute path.
        started
            Time of its first event; None if it is not known.
        """
        found: list[JobSummary] = []
        path, more = str(folder), "/"
        while more:
            jobs = self._written.get(path)
            job = jobs.at(started) if jobs is not None else None
            if job is not None:
                found.append(job)
            path, more, _name = path.rpartition("/")
        return max(found, key=lambda job: job.created_at, default=None)


class _Jobs:
    """Jobs of one log directory, in the order of their creation."""

    def __init__(self) -> None:
        self._jobs: list[JobSummary] = []
        self._created: list[float] = []
        self._last_end: list[float] = []
        """The greatest time at which a job up to this one may have written."""

    def add(self, job: JobSummary) -> None:
        ended = _end_of(job)
        self._jobs.append(job)
        self._created.append(job.created_at - MARGIN_SECONDS)
        self._last_end.append(max(ended, self._last_end[-1]) if self._last_end else ended)

    def at(self, started: float | None) -> JobSummary | None:
        """Return the newest job that may have written at a time."""
        if started is None:
            return self._jobs[-1]
        place = bisect_right(self._created, started) - 1
        while place >= 0 and self._last_end[place] >= started:
            if _end_of(self._jobs[place]) >= started:
                return self._jobs[place]
            place -= 1
        return None


def _end_of(job: JobSummary) -> float:
    return (job.ended_at if job.ended_at is not None else time.time()) + MARGIN_SECONDS
