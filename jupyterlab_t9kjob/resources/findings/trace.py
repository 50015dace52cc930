"""The last minutes of a job's samples, as the rules read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from ...core.job import Job
from ...core.resources import Column, Samples
from ..reduction import reduce, span_of

WINDOW_SECONDS: Final = 900.0
EVIDENCE_SECONDS: Final = 600.0
"""Shortest time for which a rule needs values."""
_POINTS: Final = 90


class Point(NamedTuple):
    """Mean value of a column for some seconds."""

    seconds: float
    value: float


class Trace:
    """Values of the last `WINDOW_SECONDS` of a job's samples.

    Parameters
    ----------
    samples
        The samples.
    job
        The job.
    """

    def __init__(self, samples: Samples, job: Job) -> None:
        self.job = job
        self.levels = samples.levels
        known = span_of(samples.tiers)
        self.until = known[1] if known else 0.0
        self.since = self.until - WINDOW_SECONDS
        self._reduced = reduce(samples.tiers, self.since, self.until, _POINTS)
        self._points: dict[Column, list[Point]] = {}

    def columns(self, kind: str, metric: str) -> list[Column]:
        """Return the columns of a metric that have enough values for evidence.

        Parameters
        ----------
        kind
            Kind of part.
        metric
            Name of the metric.
        """
        return [
            column
            for column in self._reduced.columns
            if column.kind == kind
            and column.metric == metric
            and self.seconds(column, lambda _value: True) >= EVIDENCE_SECONDS
        ]

    def points(self, column: Column) -> list[Point]:
        """Return the values of a column, oldest first."""
        known = self._points.get(column)
        if known is None:
            reduced = self._reduced
            known = self._points[column] = [
                Point(end - start, value)
                for value, start, end in zip(reduced.means(column), reduced.times, reduced.ends, strict=True)
                if value is not None
            ]
        return known

    def series(self, column: Column) -> dict[int, float]:
        """Return the values of a column by the index of their point, which all columns share."""
        return {index: value for index, value in enumerate(self._reduced.means(column)) if value is not None}

    def seconds(self, column: Column, holds: Callable[[float], bool]) -> float:
        """Return for how long a condition on the value held.

        Parameters
        ----------
        column
            The column.
        holds
            The condition.
        """
        return sum(point.seconds for point in self.points(column) if holds(point.value))

    def mean(self, column: Column) -> float:
        """Return the mean of a column that has values."""
        points = self.points(column)
        return sum(point.seconds * point.value for point in points) / sum(point.seconds for point in points)

    def limit(self, metric: str, part: str) -> float | None:
        """Return the limit of a metric for a kind of part; None if there is none.

        Parameters
        ----------
        metric, part
            Metric and kind of part.
        """
        found = (
            level.value
            for level in self.levels
            if level.metric == metric and level.part == part and level.kind == "limit"
        )
        return next(found, None)
