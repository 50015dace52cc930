"""A metric in short: its summary, and an overview of at most `MOST_BUCKETS` buckets that keeps every extreme value."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

MOST_BUCKETS: Final = 1024
PART_BYTES: Final = 4 * 1024 * 1024
"""Bytes of a file of metrics that are read at once."""
BOUNDED_BYTES: Final = 4 * PART_BYTES
"""Size of a file from which the positions of its parts are noted; smaller files are read quickly."""
NAN: Final = float("nan")
_MANY: Final = 16
"""Number of buckets, and of values in each, from which numpy is faster."""


class Position(NamedTuple):
    """Position in the training at which a value was measured."""

    step: float | None
    epoch: float | None
    time: float | None


NOWHERE: Final = Position(None, None, None)


class Sample(NamedTuple):
    """One value, with its number among the values of the metric."""

    number: int
    position: Position
    value: float


Locate = Callable[[int], Position]
"""Returns the position of a value by its index; called for few values only, since reading a position takes time."""


class LocateMany(Protocol):
    """A `Locate` that also returns positions of many values at once."""

    def __call__(self, index: int, /) -> Position:
        """Return the position of a value by its index."""

    def many(self, indexes: Any, /) -> tuple[Any, Any] | None:
        """Return steps and times of values as arrays of numpy, NaN where they are not known; None if that is slow.

        Parameters
        ----------
        indexes
            Array of numpy with the indexes in rising order.
        """


class Part(NamedTuple):
    """A part of a file in which a metric has values.

    Attributes
    ----------
    file
        Name of the file.
    begin, end
        Offsets in bytes; a record begins at `begin`.
    first, values
        Number of the first value among the values of the metric, and number of values.
    low, high
        No position in the part is less or greater; None where that is not known.
    """

    file: str
    begin: int
    end: int
    first: int
    values: int
    low: Position = NOWHERE
    high: Position = NOWHERE


class Samples:
    """Samples as columns. Positions that are not known are NaN."""

    __slots__ = ("epochs", "numbers", "steps", "times", "values")

    def __init__(self) -> None:
        self.numbers = array("d")
        self.steps = array("d")
        self.epochs = array("d")
        self.times = array("d")
        self.values = array("d")

    def __len__(self) -> int:
        return len(self.numbers)

    def columns(self) -> tuple[array[float], ...]:
        """Return the columns in the order in which the index keeps them."""
        return self.numbers, self.values, self.steps, self.times, self.epochs

    def append(self, sample: Sample) -> None:
        """Add a sample."""
        number, (step, epoch, time), value = sample
        self.numbers.append(number)
        self.steps.append(NAN if step is None else step)
        self.epochs.append(NAN if epoch is None else epoch)
        self.times.append(NAN if time is None else time)
        self.values.append(value)

    def take(self, other: Samples, at: int) -> None:
        """Add a sample of another object.

        Parameters
        ----------
        other
            Object with the sample.
        at
            Index of the sample.
        """
        for mine, its in zip(self.columns(), other.columns(), strict=True):
            mine.append(its[at])

    def cut(self, length: int) -> None:
        """Remove all samples but some at the begin."""
        for column in self.columns():
            del column[length:]

    def at(self, index: int) -> Sample:
        """Return a sample."""
        step, epoch, time = self.steps[index], self.epochs[index], self.times[index]
        position = Position(
            None if step != step else step, None if epoch != epoch else epoch, None if time != time else time
        )
        return Sample(int(self.numbers[index]), position, self.values[index])


@dataclass
class Series:
    """A metric, to which values are added as they are read.

    Values are put into buckets of `size` consecutive values. A bucket keeps its smallest and its largest value in the
    order of appearance, and the sum of its values. If there are too many buckets, neighbours are joined.

    Attributes
    ----------
    lengths
        Number of samples of each bucket: 0 without a finite value, at most 2.
    kept
        The samples of all buckets.
    sums, finite
        Sum and number of the finite values of each bucket. Empty while a bucket is one value.
    parts
        Parts of files with the values; empty if they are not known.
    most
        Largest number of buckets.
    """

    count: int = 0
    last: Sample | None = None
    low: Sample | None = None
    high: Sample | None = None
    bad: int = 0
    first_bad: float | None = None
    last_bad: float | None = None
    size: int = 1
    lengths: bytearray = field(default_factory=bytearray)
    kept: Samples = field(default_factory=Samples)
    sums: array[float] = field(default_factory=lambda: array("d"))
    finite: array[float] = field(default_factory=lambda: array("d"))
    parts: list[Part] = field(default_factory=list)
    most: int = MOST_BUCKETS

    @property
    def complete(self) -> bool:
        """True if the buckets hold every finite value."""
        return self.size <= 2

    def samples(self) -> Iterator[Sample]:
        """Return the kept values in the order of appearance."""
        return map(self.kept.at, range(len(self.kept)))

    def means(self) -> tuple[list[float] | None, list[float] | None]:
        """Return mean and number of the values for which each kept one stands; None if each is one value."""
        if self.size == 1:
            return None, None
        buckets = list(zip(self.lengths, self.sums, self.finite, strict=True))
        means = [total / finite for length, total, finite in buckets for _sample in range(length)]
        return means, [finite / length for length, _total, finite in buckets for _sample in range(length)]

    def note(self, part: Part) -> None:
        """Note where the next values are, before they are added. Small parts that follow each other are joined."""
        part = part._replace(first=self.count)
        last = self.parts[-1] if self.parts else None
        if last is not None and last.file == part.file and part.end - last.begin <= PART_BYTES:
            part = Part(
                last.file,
                last.begin,
                part.end,
                last.first,
                last.values + part.values,
                Position(*map(least, zip(last.low, part.low, strict=True))),
                Position(*map(greatest, zip(last.high, part.high, strict=True))),
            )
            self.parts.pop()
        self.parts.append(part)

    def extend(self, values: Sequence[float], locate: Locate) -> None:
        """Add values.

        Parameters
        ----------
        values
            The values in the order of appearance.
        locate
            Returns the position of a value by its index in `values`.
        """
        while self.count + len(values) > self.size * self.most:
            self._halve()
        at = 0
        while at < len(values):
            filled = self.count % self.size
            if not filled and isinstance(values, array):
                taken = self._add_buckets(values, at, locate)
                at += taken
                if taken:
                    continue
            taken = min(self.size - filled, len(values) - at)
            part = values[at : at + taken]
            kept = self._extremes(part, at, locate)
            if filled:
                kept = _outermost((*self._pop(), *kept))
            elif self.size > 1:
                self.sums.append(0.0)
                self.finite.append(0.0)
            if self.size > 1:
                self._add_up(part)
            self.lengths.append(len(kept))
            for sample in kept:
                self.kept.append(sample)
            self.count += taken
            at += taken
        if len(values):
            self.last = Sample(self.count - 1, locate(len(values) - 1), values[-1])

    def _add_buckets(self, values: array[float], at: int, locate: Locate) -> int:
        """Add the values of many full buckets at once, where numpy can; return their number."""
        buckets = (len(values) - at) // self.size
        if buckets < _MANY or self.size < _MANY or (numpy := _numpy()) is None:
            return 0
        taken = buckets * self.size
        rows = numpy.frombuffer(values, values.typecode)[at : at + taken].reshape(buckets, self.size)
        if not numpy.isfinite(rows).all():
            return 0
        self.sums.frombytes(rows.sum(1, "d").tobytes())
        self.finite.extend([float(self.size)] * buckets)
        ends = numpy.stack((rows.argmin(1), rows.argmax(1)), 1)
        ends.sort(1)
        ends += numpy.arange(buckets)[:, None] * self.size
        self._keep(ends, values, at, locate, numpy)
        self.count += taken
        return taken

    def _keep(self, ends: Any, values: array[float], at: int, locate: Locate, numpy: Any) -> None:
        """Keep the extremes of full buckets.

        Parameters
        ----------
        ends
            Array with two indexes of each bucket, counted from `at`; equal ones for a bucket of equal values.
        values, at, locate
            The values, the index of the first one, and their positions.
        numpy
            The module.
        """
        two = ends[:, 0] != ends[:, 1]
        self.lengths += (two + numpy.uint8(1)).tobytes()
        wanted = ends[numpy.stack((numpy.ones_like(two), two), 1)]
        found = numpy.frombuffer(values, values.typecode)[at + wanted]
        many = getattr(locate, "many", None)
        places = many(at + wanted) if many is not None else None
        if places is None:
            for index, value in zip(wanted.tolist(), found.tolist(), strict=True):
                self.kept.append(Sample(self.count + index, locate(at + index), value))
        else:
            nowhere = numpy.full(len(wanted), NAN)
            columns = (self.count + wanted, found, *places, nowhere)
            for column, numbers in zip(self.kept.columns(), columns, strict=True):
                column.frombytes(numpy.asarray(numbers, "d").tobytes())
        for number, is_low in ((int(found.argmin()), True), (int(found.argmax()), False)):
            value, index = float(found[number]), int(wanted[number])
            best = self.low if is_low else self.high
            if best is None or (value < best.value if is_low else value > best.value):
                sample = Sample(self.count + index, locate(at + index), value)
                if is_low:
                    self.low = sample
                else:
                    self.high = sample

    def _add_up(self, values: Sequence[float]) -> None:
        """Add values to the sum of the last bucket."""
        numbers = values if math.isfinite(sum(values)) else [value for value in values if math.isfinite(value)]
        self.sums[-1] += sum(numbers)
        self.finite[-1] += len(numbers)

    def _pop(self) -> list[Sample]:
        """Remove the last bucket and return its samples."""
        begin = len(self.kept) - self.lengths.pop()
        found = [self.kept.at(index) for index in range(begin, len(self.kept))]
        self.kept.cut(begin)
        return found

    def _extremes(self, values: Sequence[float], at: int, locate: Locate) -> tuple[Sample, ...]:
        """Return the smallest and the largest of some values; update the summary of the metric with them."""
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
        old, lengths = self.kept, self.lengths
        if self.size == 1:
            each = iter(old.values)
            self.sums = array("d", (next(each) if length else 0.0 for length in lengths))
            self.finite = array("d", list(lengths))
        self.sums, self.finite = _paired(self.sums), _paired(self.finite)
        self.kept, self.lengths = Samples(), bytearray()
        values, begin = old.values, 0
        for first in range(0, len(lengths), 2):
            end = begin + sum(lengths[first : first + 2])
            wanted: Sequence[int] = range(begin, end)
            if len(wanted) > 1:
                low, high = min(wanted, key=values.__getitem__), max(wanted, key=values.__getitem__)
                wanted = sorted({low, high})
            for index in wanted:
                self.kept.take(old, index)
            self.lengths.append(len(wanted))
            begin = end
        self.size *= 2


def _paired(numbers: array[float]) -> array[float]:
    """Return the sums of each two numbers, and the last one of an odd number of them."""
    return array("d", (sum(numbers[at : at + 2]) for at in range(0, len(numbers), 2)))


@cache
def _numpy() -> Any:
    """Return numpy, which TensorBoard requires; None if it is not installed. It is imported for large files only."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def least(numbers: Iterable[float | None]) -> float | None:
    """Return the smallest of some numbers; None if one is not known."""
    each = list(numbers)
    return None if None in each else min(number for number in each if number is not None)


def greatest(numbers: Iterable[float | None]) -> float | None:
    """Return the largest of some numbers; None if one is not known."""
    each = list(numbers)
    return None if None in each else max(number for number in each if number is not None)


def _outermost(samples: tuple[Sample, ...]) -> tuple[Sample, ...]:
    """Return the smallest and the largest of some samples in the order of appearance."""
    if len(samples) <= 1:
        return samples
    low = min(samples, key=lambda sample: sample.value)
    high = max(samples, key=lambda sample: sample.value)
    return (low,) if low is high else (low, high) if low.number < high.number else (high, low)
