"""A metric in short: its summary, and an overview of at most `MOST_BUCKETS` buckets that keeps every extreme value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

MOST_BUCKETS: Final = 1024


class Position(NamedTuple):
    """Where in the training a value was measured."""

    step: float | None
    epoch: float | None
    time: float | None


class Sample(NamedTuple):
    """One value, with its number among the values of the metric."""

    number: int
    position: Position
    value: float


Locate = Callable[[int], Position]
"""Returns the position of a value by its index; called for few values only, since reading a position takes time."""


@dataclass
class Series:
    """A metric, to which values are added as they are read.

    Values are put into buckets of `size` consecutive values. A bucket keeps its smallest and its largest value in the
    order of appearance. If there are too many buckets, neighbours are joined.
    """

    count: int = 0
    last: Sample | None = None
    low: Sample | None = None
    high: Sample | None = None
    bad: int = 0
    first_bad: float | None = None
    last_bad: float | None = None
    size: int = 1
    buckets: list[tuple[Sample, ...]] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """True if the buckets hold every finite value."""
        return self.size <= 2

    def samples(self) -> Iterable[Sample]:
        """Return the kept values in the order of appearance."""
        return (sample for bucket in self.buckets for sample in bucket)

    def extend(self, values: Sequence[float], locate: Locate) -> None:
        """Add values.

        Parameters
        ----------
        values
            The values in the order of appearance.
        locate
            Returns the position of a value by its index in `values`.
        """
        while self.count + len(values) > self.size * MOST_BUCKETS:
            self._halve()
        at = 0
        while at < len(values):
            filled = self.count % self.size
            taken = min(self.size - filled, len(values) - at)
            kept = self._extremes(values[at : at + taken], at, locate)
            if filled:
                kept = _outermost((*self.buckets.pop(), *kept))
            self.buckets.append(kept)
            self.count += taken
            at += taken
        if len(values):
            self.last = Sample(self.count - 1, locate(len(values) - 1), values[-1])

    def _extremes(self, values: Sequence[float], at: int, locate: Locate) -> tuple[Sample, ...]:
        """Return the smallest and the largest of some values; note what they mean for the whole."""
        if not math.isfinite(sum(values)):
            finite = [(value, index) for index, value in enumerate(values) if math.isfinite(value)]
            self._note_bad([at + index for index, value in enumerate(values) if not math.isfinite(value)], locate)
            if not finite:
                return ()
            (lowest, first), (highest, second) = min(finite), max(finite)
        else:
            lowest, highest = min(values), max(values)
            first, second = values.index(lowest), values.index(highest)
        low = Sample(self.count + first, locate(at + first), lowest)
        high = low if first == second else Sample(self.count + second, locate(at + second), highest)
        if self.low is None or lowest < self.low.value:
            self.low = low
        if self.high is None or highest > self.high.value:
            self.high = high
        return (low,) if low is high else (low, high) if first < second else (high, low)

    def _note_bad(self, indexes: list[int], locate: Locate) -> None:
        if indexes:
            self.bad += len(indexes)
            self.last_bad = locate(indexes[-1]).step
            if self.first_bad is None:
                self.first_bad = locate(indexes[0]).step

    def _halve(self) -> None:
        """Join each two buckets; the last one may be filled in part."""
        pairs = zip(self.buckets[::2], [*self.buckets[1::2], ()], strict=False)
        self.buckets = [_outermost((*first, *second)) for first, second in pairs]
        self.size *= 2


def _outermost(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    """Return the smallest and the largest of some samples in the order of appearance."""
    if len(samples) <= 1:
        return samples
    low = min(samples, key=lambda sample: sample.value)
    high = max(samples, key=lambda sample: sample.value)
    return (low,) if low is high else (low, high) if low.number < high.number else (high, low)


def reduced(points: Sequence[tuple[float, float]], width: int) -> list[tuple[float, float]]:
    """Return points of a curve reduced to the smallest and the largest of each pixel, in the order of appearance.

    Consecutive points in one pixel are reduced together, so that steps that go backwards stay as they are.

    Parameters
    ----------
    points
        Pairs of x and y.
    width
        Number of pixels between the smallest and the largest x.
    """
    if len(points) <= 2 * width:
        return list(points)
    least = min(x for x, _y in points)
    span = (max(x for x, _y in points) - least) or 1.0
    found: list[tuple[float, float]] = []
    group: list[tuple[float, float]] = []
    pixel = -1
    for point in points:
        own = min(int((point[0] - least) / span * width), width - 1)
        if own != pixel and group:
            found += _ends(group)
            group = []
        pixel = own
        group.append(point)
    return found + _ends(group)


def _ends(group: list[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(group) <= 2:
        return group
    low = min(range(len(group)), key=lambda index: group[index][1])
    high = max(range(len(group)), key=lambda index: group[index][1])
    return [group[index] for index in sorted({low, high})]


def small_curve(series: Series, most: int = 44) -> list[float]:
    """Return at most `most` values of a metric, reduced by extremes, for a curve in a table."""
    points = [(float(sample.number), sample.value) for sample in series.samples()]
    return [value for _x, value in reduced(points, most // 2)]
