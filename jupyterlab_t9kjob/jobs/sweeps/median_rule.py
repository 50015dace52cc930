"""The median rule of sweeps: ends jobs that are worse than the other jobs of their sweep."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Final

from ...core.engine.options import EndsForSweep
from ...core.errors import JobError
from ...core.job import JobSummary
from ...core.sweep import MedianRule, Verdict
from ...core.system.tasks import spawn
from ..metrics.reader import MetricReader, Metrics, Series
from ..query import Query
from ..service import JobService

log = logging.getLogger(__name__)

POLL_SECONDS = 5.0
"""Interval between reads of the metrics of running jobs."""
MOST_DIGITS: Final = 4


def verdict_on(own: Metrics, others: Sequence[Metrics], rule: MedianRule) -> Verdict | None:
    """Return why a job is to be stopped; None if it goes on.

    Parameters
    ----------
    own
        Metrics of the job.
    others
        Metrics of the other jobs of the sweep, also of ended ones.
    rule
        The rule.
    """
    points = own.find(rule.metric)
    step = max(points, default=0)
    if not points or step < rule.after:
        return None
    series = [other.find(rule.metric) for other in others if other.of == own.of]
    averages = [mean for each in series if (mean := _average(each, step)) is not None]
    if len(averages) < rule.least_jobs:
        return None
    sign = 1 if rule.goal == "minimize" else -1
    best = min((sign * value for value in points.values() if math.isfinite(value)), default=math.inf)
    middle = median(averages)
    if best <= sign * middle:
        return None
    value = _text(sign * best) if math.isfinite(best) else "NaN"
    return Verdict(metric=rule.metric, value=value, median=_text(middle), step=step, of=own.of)


def _average(points: Series, step: int) -> float | None:
    """Return the average of a series up to a step; None if the series has not reached the step."""
    if max(points, default=-1) < step:
        return None
    values = [value for at, value in points.items() if at <= step and math.isfinite(value)]
    return fmean(values) if values else None


def without_continued(jobs: Sequence[JobSummary], metrics: Sequence[Metrics]) -> tuple[list[JobSummary], list[Metrics]]:
    """Return the jobs of a sweep without those that another one continues, whose metrics count as that job's.

    Parameters
    ----------
    jobs
        Jobs of the sweep.
    metrics
        Metrics of each of them.
    """
    places = {job.id: place for place, job in enumerate(jobs)}
    earlier: dict[int, int] = {}
    for place, job in enumerate(jobs):
        following = places.get(job.continuation.job or "") if job.continuation is not None else None
        if following is not None:
            earlier[following] = place
    last = [place for place in range(len(jobs)) if place not in earlier.values()]
    found = []
    for place in last:
        joined, before = metrics[place], earlier.get(place)
        while before is not None:
            joined, before = _joined(metrics[before], joined), earlier.get(before)
        found.append(joined)
    return [jobs[place] for place in last], found


def _joined(earlier: Metrics, later: Metrics) -> Metrics:
    """Return the metrics of a job with those of the job that it continues, up to the step from which it resumed."""
    if "report" in (earlier.of, later.of):  # The reports in a log are counted from 1 again.
        return later
    series: dict[str, Series] = {}
    for name in {*earlier.series, *later.series}:
        points = later.series.get(name, {})
        begin = min(points, default=math.inf)
        before = {step: value for step, value in earlier.series.get(name, {}).items() if step < begin}
        series[name] = {**before, **points}
    return Metrics("step", series)


def _text(number: float) -> str:
    return f"{number:.{MOST_DIGITS}g}"


class SweepRules:
    """Applies the rules of sweeps while a server runs.

    Parameters
    ----------
    jobs
        All jobs.
    metrics
        Reads their metrics.
    """

    def __init__(self, jobs: JobService, metrics: MetricReader) -> None:
        self._jobs = jobs
        self._metrics = metrics
        self._changed = asyncio.Event()
        self._changed.set()  # For the jobs that run when the server starts.
        self._ended: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._end: Callable[[], None] | None = None

    async def start(self) -> None:
        """Begin to follow the jobs."""
        self._end = self._jobs.engines.listen(self._note)
        self._task = spawn(self._run(), "apply the rules of sweeps")

    async def stop(self) -> None:
        """Stop; the jobs go on."""
        if self._end is not None:
            self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, _ident: str, job: JobSummary | None) -> None:
        if job is not None and job.sweep is not None and job.sweep.rule is not None and job.phase == "Running":
            self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                if await self._look_through():
                    self._changed.set()
            except Exception:  # A sweep with unexpected data must not end the others.
                log.exception("The rules of sweeps could not be applied")
            await asyncio.sleep(POLL_SECONDS)

    async def _look_through(self) -> bool:
        """Apply the rules once; return True if a job with a rule runs."""
        rounds: dict[tuple[str, str, str], list[JobSummary]] = defaultdict(list)
        for job in await self._jobs.jobs(Query()):
            if job.sweep is not None and job.sweep.rule is not None and job.started_at is not None:
                rounds[job.engine, job.namespace, job.sweep.id].append(job)
        active = [members for members in rounds.values() if any(job.phase == "Running" for job in members)]
        for members in active:
            await self._apply(members)
        return bool(active)

    async def _apply(self, members: Sequence[JobSummary]) -> None:
        engine = self._jobs.engines.get(members[0].engine)
        if not isinstance(engine, EndsForSweep):
            return
        members, metrics = without_continued(members, [await self._metrics.of(job) for job in members])
        for index, job in enumerate(members):
            if job.phase != "Running" or "stop" not in job.actions or job.id in self._ended:
                continue
            assert job.sweep is not None and job.sweep.rule is not None  # noqa: S101 (`_look_through`)
            verdict = verdict_on(metrics[index], metrics[:index] + metrics[index + 1 :], job.sweep.rule)
            if verdict is None:
                continue
            try:
                await engine.end_for_sweep(job.uid, verdict)
            except JobError as error:  # The next check tries again.
                log.warning("Job %s of a sweep could not be stopped: %s", job.name, error.message)
            else:
                self._ended.add(job.id)
