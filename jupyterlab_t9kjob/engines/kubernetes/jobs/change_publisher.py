"""Publishes changes of jobs in rounds: a job that changes several times between two rounds is published once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import Final

from ....core.job import JobSummary
from ....core.system.pace import rest

log = logging.getLogger(__name__)

ROUND_SECONDS: Final = 0.05
"""Shortest time between the beginnings of two rounds."""
TICK_SECONDS: Final = 10.0
"""Interval between publications of a waiting job, whose reason has the duration of the wait."""
TICK_SECONDS_PER_JOB: Final = 0.05
"""Lower limit of the interval for each of many waiting jobs.

To publish a job takes about half a millisecond, so waiting jobs take about a hundredth of a processor.
"""
TICK_JOBS: Final = 20
"""Most waiting jobs of one round; jobs that change meanwhile wait for the end of the round."""


def waits(row: JobSummary) -> bool:
    """Return True if a job waits for its pods: its reason depends on the time."""
    starts = row.phase in ("Pending", "Resuming")
    return starts or (row.phase == "Running" and row.replicas_running < row.replicas)


class ChangePublisher:
    """Collects changed jobs and publishes them in rounds.

    Parameters
    ----------
    publish
        Publishes the jobs of a round. Its argument maps uids to True if more has changed than the list of jobs shows.
    before
        Called before each round; it may mark more jobs.

    Attributes
    ----------
    waiting
        Uids of the jobs that are published again from time to time, because their reasons depend on the time.
    """

    def __init__(self, publish: Callable[[Mapping[str, bool]], Awaitable[None]], before: Callable[[], None]) -> None:
        self.waiting: set[str] = set()
        self._publish = publish
        self._before = before
        self._due: dict[str, bool] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Start the rounds."""
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._tick())]

    async def stop(self) -> None:
        """Stop the rounds; changes that are still due are not published."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def mark(self, uid: str, *, detail: bool) -> None:
        """Mark a job as changed.

        Parameters
        ----------
        uid
            The job's uid.
        detail
            True if more has changed than the list of jobs shows.
        """
        self._due[uid] = detail or self._due.get(uid, False)
        self._wake.set()

    def hurry(self) -> None:
        """Start a round soon, even if no job is marked."""
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            begun = time.monotonic()
            try:
                self._before()
                due, self._due = self._due, {}
                await self._publish(due)
            except Exception:
                log.exception("Changes of jobs could not be published")
            await rest(begun, ROUND_SECONDS)

    async def _tick(self) -> None:
        """Mark the waiting jobs in turn, a few at a time."""
        done: set[str] = set()
        while True:
            waiting = max(len(self.waiting), 1)
            await asyncio.sleep(max(TICK_SECONDS / waiting, TICK_SECONDS_PER_JOB) * min(waiting, TICK_JOBS))
            uids = list(islice(self.waiting - done, TICK_JOBS))
            done.update(uids)
            if len(uids) < TICK_JOBS:  # All waiting jobs had their turn; the next turn begins.
                done = set(islice(self.waiting.difference(uids), TICK_JOBS - len(uids)))
                uids += done
            for uid in uids:
                self.mark(uid, detail=False)
