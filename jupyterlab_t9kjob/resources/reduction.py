"""Reduces samples to a number of points: minimum, mean and maximum of each column in each bucket of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..core.resources import Column, Segment

GAP: float = 2.5
"""Frames further apart than this many durations have a gap between them."""

Value = tuple[float, float, float]
"""Minimum, mean and maximum."""


@dataclass
class Reduced:
    """Columns at common points of time.

    Attributes
    ----------
    times, ends
        Start and end of each point, in seconds since the epoch.
    values
        Values of each column by index of the point; a missing index has no value.
    """

    times: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    values: dict[Column, dict[int, Value]] = field(default_factory=dict)

    def means(self, column: Column) -> list[float | None]:
        """Return the means of a column; None where there is no value."""
        found = self.values.get(column, {})
        return [found[index][1] if index in found else None for index in range(len(self.times))]


@dataclass
class _Part:
    """Consecutive frames of a segment that are used."""

    segment: Segment
    first: int
    last: int


def span_of(tiers: Iterable[tuple[float, list[Segment]]]) -> tuple[float, float] | None:
    """Return start and end of all samples; None if there are none."""
    segments = [segment for _seconds, tier in tiers for segment in tier if segment.times]
    if not segments:
        return None
    return (
        min(segment.times[0] for segment in segments),
        max(segment.times[-1] + segment.seconds[-1] for segment in segments),
    )


def reduce(
    tiers: Sequence[tuple[float, list[Segment]]],
    first: float,
    last: float,
    points: int,
    wanted: Callable[[Column], bool] = lambda _column: True,
) -> Reduced:
    """Return the samples of a range.

    Parameters
    ----------
    tiers
        Tiers of `Samples`.
    first, last
        The range, in seconds since the epoch.
    points
        Largest number of points.
    wanted
        Returns True for the columns that are wanted.
    """
    width = max(1e-3, (last - first) / points)
    parts = list(_parts(tiers, first, last, width))
    count = sum(part.last - part.first for part in parts)
    result = Reduced()
    bucket: int | None = None
    for part in parts:
        times, seconds = part.segment.times, part.segment.seconds
        chosen = [
            (number * part.segment.width, result.values.setdefault(column, {}))
            for number, column in enumerate(part.segment.columns)
            if wanted(column)
        ]
        at = part.first
        while at < part.last:
            begin = at
            if count > points:
                slot = int((times[at] - first) / width)
                while at < part.last and int((times[at] - first) / width) == slot:
                    at += 1
                joins = slot == bucket
                bucket = slot
            else:
                at += 1
                joins = False
            if not joins:
                result.times.append(times[begin])
                result.ends.append(times[begin])
            result.ends[-1] = times[at - 1] + seconds[at - 1]
            _add(len(result.times) - 1, part.segment, begin, at, chosen)
    result.values = {column: values for column, values in result.values.items() if values}
    return result


def _add(index: int, segment: Segment, first: int, last: int, chosen: list[tuple[int, dict[int, Value]]]) -> None:
    size = len(segment.columns) * segment.width
    block = segment.values[first * size : last * size].tolist() if chosen else []
    middle = 0 if segment.width == 1 else 1
    for at, known in chosen:
        means = block[at + middle :: size]
        total = sum(means)
        if math.isfinite(total):
            mean = total / len(means)
            low = min(block[at::size])
            high = max(block[at + segment.width - 1 :: size])
        else:
            finite = [value for value in means if math.isfinite(value)]
            if not finite:
                continue
            mean = sum(finite) / len(finite)
            low = min(value for value in block[at::size] if math.isfinite(value))
            high = max(value for value in block[at + segment.width - 1 :: size] if math.isfinite(value))
        before = known.get(index)
        if before is not None:  # The bucket began in an earlier segment.
            low, mean, high = min(before[0], low), (before[1] + mean) / 2, max(before[2], high)
        known[index] = (low, mean, high)


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
            yield _Part(segment, begin, index)
            begin = None
    if begin is not None:
        yield _Part(segment, begin, len(segment.times))
