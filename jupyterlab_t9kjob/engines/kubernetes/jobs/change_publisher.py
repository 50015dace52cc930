"""When changes are told: in rounds, so that what changes again meanwhile is told once."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from itertools import islice
from typing import Final

from ....core.system.pace import rest

log = logging.getLogger(__name__)

TELL_SECONDS: Final = 0.05
"""Between two rounds at most."""
TICK_SECONDS: Final = 10.0
"""Between two looks at jobs that wait: their reason says for how long."""
TICK_SECONDS_PER_JOB: Final = 0.05
"""The same where many wait: a look at one takes about half a millisecond, so this is a hundredth of a processor."""
TICK_JOBS: Final = 20
"""How many of them are looked at in one round, for what changes meanwhile waits for its end."""


class Rounds:
    """Rounds of telling.

    Parameters
    ----------
    tell
        Tells of a round's jobs, by uid; true for those of which more has changed than the list shows.
    before
        Called before each round; it may mark more jobs.

    Attributes
    ----------
    waiting
        Jobs that are told of again and again, for time alone changes what is said of them.
    """

    def __init__(self, tell: Callable[[Mapping[str, bool]], Awaitable[None]], before: Callable[[], None]) -> None:
        self.waiting: set[str] = set()
        self._tell = tell
        self._before = before
        self._due: dict[str, bool] = {}
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._tick())]

    async def stop(self) -> None:
        """End; what is still due is not told."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def mark(self, uid: str, *, detail: bool) -> None:
        """Take note that a job has changed; `detail`: in more than the list shows."""
        self._due[uid] = detail or self._due.get(uid, False)
        self._wake.set()

    def hurry(self) -> None:
        """Begin a round, even if no job is marked."""
        self._wake.set()

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            begun = time.monotonic()
            try:
                self._before()
                due, self._due = self._due, {}
                await self._tell(due)
            except Exception:
                log.exception("Telling of changes of jobs failed")
            await rest(begun, TELL_SECONDS)

    async def _tick(self) -> None:
        looked_at: set[str] = set()
        while True:
            waiting = max(len(self.waiting), 1)
            await asyncio.sleep(max(TICK_SECONDS / waiting, TICK_SECONDS_PER_JOB) * min(waiting, TICK_JOBS))
            uids = list(islice(self.waiting - looked_at, TICK_JOBS))
            looked_at.update(uids)
            if len(uids) < TICK_JOBS:  # all had their turn, and the next one begins
                looked_at = set(islice(self.waiting.difference(uids), TICK_JOBS - len(uids)))
                uids += looked_at
            for uid in uids:
                self.mark(uid, detail=False)
