"""Detects jobs that make no progress: steps that take far longer than those before, and jobs that write nothing.

All durations are measured by the monotonic clock, so a clock change or a sleep of the machine raises no stall.
Wall-clock times are only compared for what happened before this server first saw a job.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final

from ..core.engine.options import HasEvents, KnowsOutput
from ..core.engine.protocol import Listener
from ..core.errors import JobError
from ..core.job import JobSummary, Stall
from ..core.progress import is_last_of_unit
from ..core.system.tasks import spawn
from .engines import Engines

log = logging.getLogger(__name__)

CHECK_SECONDS: Final = 5.0
CHECK_SHARE: Final = 20.0
"""The pause between two checks is at least this many times as long as one check: a disk may be slow."""
LONGEST_STEPS: Final = 10.0
"""A step is too long if it takes this many times the median of the steps before it."""
KEPT_STEPS: Final = 100
FEWEST_STEPS: Final = 3
"""Measured steps before the median counts. Until then, and after the last step of an epoch, output counts."""


@dataclass(frozen=True)
class Patience:
    """Settings of the administrator.

    Attributes
    ----------
    step_seconds
        Shortest time without a step that counts as no progress.
    silent_seconds
        Time without a line or an event that counts as no output, before the first steps.
    """

    step_seconds: float = 300.0
    silent_seconds: float = 600.0


@dataclass
class _Watched:
    """A running job. Times are of the monotonic clock.

    Attributes
    ----------
    run
        Attempt and number of restarts; steps of another run do not count.
    report
        The last progress that the job reported.
    moved_at
        When the job last reported a step, or was last known to write something.
    steps
        Seconds between the last reports.
    output
        Time of the last output, as the engine names it.
    began_at
        When the run began, for a report that was there before this server first saw the job, whose time is unknown;
        else None.
    """

    run: tuple[int, int]
    moved_at: float
    report: Any = None
    steps: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT_STEPS))
    output: float | None = None
    began_at: float | None = None
    summary: JobSummary | None = None

    @property
    def measured(self) -> bool:
        """True if enough steps were measured to judge the job by them, and a step is due."""
        progress = self.summary.progress if self.summary is not None else None
        return len(self.steps) >= FEWEST_STEPS and not (progress is not None and is_last_of_unit(progress.text))


class StallWatch:
    """Watches all running jobs; adds `JobSummary.stalled` to their summaries.

    Parameters
    ----------
    engines
        All engines.
    patience
        Limits.
    clock, wall_clock
        Only tests pass other clocks.
    """

    def __init__(
        self,
        engines: Engines,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        self._engines = engines
        self._patience = patience or Patience()
        self._clock, self._wall_clock = clock, wall_clock
        self._pause = min(CHECK_SECONDS, self._patience.step_seconds / 4, self._patience.silent_seconds / 4)
        self._watched: dict[str, _Watched] = {}
        self._stalls: dict[str, Stall] = {}
        self._listeners: list[Listener] = []
        self._end: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to watch."""
        self._subscribe()
        self._task = spawn(self._run(), "look for jobs without progress")

    async def stop(self) -> None:
        """Stop watching."""
        if self._end is not None:
            self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each changed summary, with its stall; return a function that ends this."""
        self._subscribe()
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def stall_of(self, ident: str) -> Stall | None:
        """Return why a job counts as stuck; None if it does not."""
        return self._stalls.get(ident)

    def explain(self, ident: str, since: float, finding: Any) -> None:
        """Add what the stacks of a job have shown to its stall, if it is still the same one.

        Parameters
        ----------
        ident
            Id of the job.
        since
            `Stall.since` of the stall that the stacks belong to.
        finding
            The sentence.
        """
        stall = self._stalls.get(ident)
        if stall is not None and stall.since == since:
            self._stalls[ident] = stall.model_copy(update={"finding": finding})
            self._announce(ident)

    def _subscribe(self) -> None:
        if self._end is None:
            self._end = self._engines.listen(self._heard)

    # -- reports ------------------------------------------------------------------------------------------------------

    def _heard(self, ident: str, job: JobSummary | None) -> None:
        self.note(ident, job)
        shown = job if job is None or ident not in self._stalls else self._with_stall(job)
        for listener in list(self._listeners):
            listener(ident, shown)

    def note(self, ident: str, job: JobSummary | None) -> None:
        """Update the watch with a job's new state. A job that does not run is not watched.

        Parameters
        ----------
        ident
            Id of the job.
        job
            The job's summary; None if the job was removed.
        """
        idle = job is not None and job.reason is not None and job.reason.code == "Debug"
        if job is None or job.phase != "Running" or job.deleted or idle:
            self._watched.pop(ident, None)
            self._stalls.pop(ident, None)
            return
        now, run = self._clock(), (job.attempt, job.restarts)
        report = None if job.progress is None else (str(job.progress.text), job.progress.metrics)
        watched = self._watched.get(ident)
        if watched is None or watched.run != run:
            known = watched is not None
            since = now if known else now - self._seconds_since(job.running_since)
            self._watched[ident] = _Watched(run, since, report, summary=job)
            if report is not None:
                self._watched[ident].moved_at = now
                self._watched[ident].began_at = None if known else since
            self._stalls.pop(ident, None)
            return
        watched.summary = job
        if report is not None and report != watched.report:
            if watched.report is not None:
                watched.steps.append(now - watched.moved_at)
            watched.report, watched.moved_at, watched.began_at = report, now, None
            self._stalls.pop(ident, None)

    def _seconds_since(self, moment: float | None) -> float:
        """Return the seconds since a wall-clock time; 0 for an unknown one and for one in the future."""
        return 0.0 if moment is None else max(0.0, self._wall_clock() - moment)

    # -- checks -------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            begun = time.monotonic()
            try:
                await self.check()
            except Exception:  # A job with unexpected data must not end the watch.
                log.exception("Jobs without progress could not be looked for")
            await asyncio.sleep(max(self._pause, CHECK_SHARE * (time.monotonic() - begun)))

    async def check(self) -> None:
        """Check all running jobs once."""
        for ident, watched in list(self._watched.items()):
            if watched.measured:
                limit = max(self._patience.step_seconds, LONGEST_STEPS * median(watched.steps))
                if self._clock() - watched.moved_at >= limit:
                    self._raise(ident, watched, "progress")
            elif self._clock() - watched.moved_at >= self._patience.silent_seconds:
                await self._check_output(ident, watched)

    async def _check_output(self, ident: str, watched: _Watched) -> None:
        """Raise or end “No output”, by the times of the last line and the last event."""
        engine, uid = self._engines.find(ident)
        if not isinstance(engine, KnowsOutput):
            return
        now = self._clock()
        try:
            output = await engine.last_output(uid)
            if output is None:  # No reader follows the log, so the last output is unknown.
                self._drop(ident)
                return
            if (
                watched.began_at is not None
            ):  # The report came with the output or before it, not when the server started.
                watched.moved_at = max(watched.began_at, now - self._seconds_since(output))
                watched.began_at = None
            elif watched.output is None:
                watched.moved_at = max(watched.moved_at, now - self._seconds_since(output))
            elif output != watched.output:
                watched.moved_at = now
            watched.output = output
            if ident not in self._stalls and isinstance(engine, HasEvents):
                events = await engine.events(uid)
                last = max((event.time for event in events), default=None)
                if last is not None:
                    watched.moved_at = max(watched.moved_at, now - self._seconds_since(last))
        except JobError:  # The next check tries again.
            return
        if self._watched.get(ident) is not watched:
            return
        if now - watched.moved_at >= self._patience.silent_seconds:
            self._raise(ident, watched, "output")
        else:
            self._drop(ident)

    def _raise(self, ident: str, watched: _Watched, kind: Any) -> None:
        if ident not in self._stalls:
            since = self._wall_clock() - (self._clock() - watched.moved_at)
            self._stalls[ident] = Stall(kind=kind, since=since)
            self._announce(ident)

    def _drop(self, ident: str) -> None:
        if self._stalls.pop(ident, None) is not None:
            self._announce(ident)

    def _announce(self, ident: str) -> None:
        watched = self._watched.get(ident)
        if watched is not None and watched.summary is not None:
            shown = self._with_stall(watched.summary)
            for listener in list(self._listeners):
                listener(ident, shown)

    def _with_stall(self, job: JobSummary) -> JobSummary:
        return job.model_copy(update={"stalled": self._stalls.get(job.id)})
