"""Reduces samples to a number of points: minimum, mean and maximum of a column in each bucket of time.

The points are computed at once, the values of a column when they are asked for: most answers need few of the columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from ..core.resources import Column, Segment

Values = list[float | None]
"""A value for each point; None where there is none."""


@dataclass
class _Part:
    """Consecutive frames of a segment that are used.

    Attributes
    ----------
    segment, first, last
        The segment, its first frame, and the one after the last.
    point
        Index of the point to which the first frame belongs.
    frames
        Frames of each point, counted from the first one.
    """

    segment: Segment
    first: int
    last: int
    point: int
    frames: list[slice]

    @cached_property
    def numbers(self) -> dict[Column, int]:
        """Place of each column in a frame."""
        return {column: number for number, column in enumerate(self.segment.columns)}

    def series(self, column: Column, place: int) -> list[float]:
        """Return the minimum (0), mean (1) or maximum (2) of a column in each frame."""
        segment = self.segment
        size = len(segment.columns) * segment.width
        at = self.numbers[column] * segment.width + (place if segment.width == 3 else 0)
        return segment.values[self.first * size + at : self.last * size : size].tolist()

    def has(self, column: Column) -> bool:
        """Return True if a column has a value."""
        segment = self.segment
        middle = segment.width // 2
        at = (self.first * len(segment.columns) + self.numbers[column]) * segment.width + middle
        return math.isfinite(segment.values[at]) or any(map(math.isfinite, self.series(column, 1)))


class Reduced:
    """Columns at common points of time.

    Parameters
    ----------
    times, ends
        Start and end of each point, in seconds since the epoch.
    parts
        The frames of the points.
    """

    def __init__(
        self, times: list[float] | None = None, ends: list[float] | None = None, parts: Sequence[_Part] = ()
    ) -> None:
        self.times = times or []
        self.ends = ends or []
        self._parts = parts
        self._known: dict[tuple[Column, int], Values] = {}

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that have values."""
        found: dict[Column, bool] = {}
        for part in self._parts:
            for column in part.numbers:
                if not found.get(column):
                    found[column] = part.has(column)
        return [column for column, present in found.items() if present]

    def lows(self, column: Column) -> Values:
        """Return the smallest value of a column at each point."""
        return self._values(column, 0, min, min)

    def means(self, column: Column) -> Values:
        """Return the mean of a column at each point."""
        return self._values(column, 1, _mean, lambda before, after: (before + after) / 2)

    def highs(self, column: Column) -> Values:
        """Return the largest value of a column at each point."""
        return self._values(column, 2, max, max)

    def _values(
        self,
        column: Column,
        place: int,
        reduction: Callable[[list[float]], float],
        join: Callable[[float, float], float],
    ) -> Values:
        known = self._known.get((column, place))
        if known is not None:
            return known
        result: Values = [None] * len(self.times)
        for part in self._parts:
            if column not in part.numbers:
                continue
            found = _reduced(part.series(column, place), part.frames, reduction)
            before, first = result[part.point], found[0]
            if before is not None:  # The point began in an earlier part.
                found[0] = before if first is None else join(before, first)
            result[part.point : part.point + len(found)] = found
        self._known[column, place] = result
        return result


def span_of(tiers: Iterable[tuple[float, list[Segment]]]) -> tuple[float, float] | None:
    """Return start and end of all samples; None if there are none."""
    segments = [segment for _seconds, tier in tiers for segment in tier if segment.times]
    if not segments:
        return None
    return (
        min(segment.times[0] for segment in segments),
        max(segment.times[-1] + segment.seconds[-1] for segment in segments),
    )


def reduce(tiers: Sequence[tuple[float, list[Segment]]], first: float, last: float, points: int) -> Reduced:
    """Return the samples of a range.

    Parameters
    ----------
    tiers
        Tiers of `Samples`.
    first, last
        The range, in seconds since the epoch.
    points
        Largest number of points.
    """
    width = max(1e-3, (last - first) / points)
    parts = list(_parts(tiers, first, last, width))
    joins = sum(part.last - part.first for part in parts) > points
    times: list[float] = []
    ends: list[float] = []
    bucket: int | None = None
    for part in parts:
        starts, seconds = part.segment.times, part.segment.seconds
        at = part.first
        while at < part.last:
            begin = at
            at += 1
            slot = int((starts[begin] - first) / width)
            while joins and at < part.last and int((starts[at] - first) / width) == slot:
                at += 1
            if not joins or slot != bucket:
                times.append(starts[begin])
                ends.append(starts[begin])
            if begin == part.first:
                part.point = len(times) - 1
            bucket = slot
            ends[-1] = starts[at - 1] + seconds[at - 1]
            part.frames.append(slice(begin - part.first, at - part.first))
    return Reduced(times, ends, parts)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _reduced(values: list[float], frames: list[slice], reduction: Callable[[list[float]], float]) -> Values:
    pieces = map(values.__getitem__, frames)
    if reduction is _mean:  # Calls `sum` itself for each point: the means take most of the time of an answer.
        found = [total / (piece.stop - piece.start) for total, piece in zip(map(sum, pieces), frames, strict=True)]
    else:
        found = list(map(reduction, pieces))
    if math.isfinite(sum(found)):
        return [*found]
    return [
        value if math.isfinite(value) else _of_finite(values[piece], reduction)
        for value, piece in zip(found, frames, strict=True)
    ]


def _of_finite(values: list[float], reduction: Callable[[list[float]], float]) -> float | None:
    finite = [value for value in values if math.isfinite(value)]
    return reduction(finite) if finite else None


def _parts(tiers: Sequence[tuple[float, list[Segment]]], first: float, last: float, width: float) -> Iterator[_Part]:
    """Yield the frames to use: of the coarsest tier that is fine enough, and of the others where this one has none."""
    fitting = [index for index, (seconds, _tier) in enumerate(tiers) if seconds <= width]
    chosen = max(fitting, default=0)
    order = [chosen, *range(chosen - 1, -1, -1), *range(chosen + 1, len(tiers))]
    parts: list[_Part] = []
    covered: list[tuple[float, float]] = []
    for index in order:
        found = [part for segment in tiers[index][1] for part in _outside(segment, covered, first, last)]
        parts += found
        ends = [
            (part.segment.times[part.first], part.segment.times[part.last - 1] + part.segment.seconds[part.last - 1])
            for part in found
        ]
        if ends:
            covered.append((min(start for start, _end in ends), max(end for _start, end in ends)))
    yield from sorted(parts, key=lambda part: part.segment.times[part.first])


def _outside(segment: Segment, covered: Sequence[tuple[float, float]], first: float, last: float) -> Iterator[_Part]:
    """Yield the frames of a segment in a range that no other tier covers."""
    begin: int | None = None
    for index, time in enumerate(segment.times):
        middle = time + segment.seconds[index] / 2
        end = time + segment.seconds[index]
        inside = end >= first and time <= last and not any(start <= middle < stop for start, stop in covered)
        if inside and begin is None:
            begin = index
        elif not inside and begin is not None:
            yield _Part(segment, begin, index, 0, [])
            begin = None
    if begin is not None:
        yield _Part(segment, begin, len(segment.times), 0, [])
