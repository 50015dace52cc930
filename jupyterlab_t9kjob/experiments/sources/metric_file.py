"""Reads `metrics/<type>.yaml` of the recorder and of T9k's SDK from an offset on (t9k-facts.md, Recorder: files).

A file is a YAML list. Items that look like those of the recorder are read without a YAML parser, which would take a
hundred times as long. The last item of a file may be half written: it is read when it is complete, or when the run has
ended.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from ..series import NOWHERE, Locate, Position, greatest, least
from .yaml_files import NotReadable, parse, seconds, text

_ITEM: Final = re.compile(rb"^- ", re.MULTILINE)
_TIME: Final = b"\n    timestamp: "
_VALUE, _SEQUENCE = b"- value:", b"  sequence:"
_ZONE: Final = len("+00:00'")
_EPOCH, _STEP, _TIMESTAMP = b"    epoch: ", b"    step: ", b"    timestamp: "
_LONGEST_NAME: Final = 500
_WORDS: Final = {b".nan": float("nan"), b".inf": float("inf"), b"-.inf": float("-inf"), b"+.inf": float("inf")}


@dataclass
class Batch:
    """Items of a part of a metrics file.

    Attributes
    ----------
    values
        Values by the metric's name, each with a function that returns the position of a value by its index.
    end
        Number of bytes that were read; the next part begins after them.
    unreadable
        Number of items that could not be read.
    bounds
        Returns positions that no value is below or above; None where that is not known.
    """

    values: dict[str, tuple[Sequence[float], Locate]]
    end: int
    unreadable: int = 0
    bounds: Callable[[], tuple[Position, Position]] = lambda: (NOWHERE, NOWHERE)


def read_batch(content: bytes) -> Batch:
    """Read the complete items of a part of a file.

    Parameters
    ----------
    content
        A part that begins with an item.
    """
    end = _complete(content)
    return (_regular(content[:end]) or _any(content[:end])) if end else Batch({}, 0)


def _complete(content: bytes) -> int:
    """Return the number of bytes up to the end of the last complete item, whose last line is its timestamp."""
    time = content.rfind(_TIME)
    end = content.find(b"\n", time + 1) + 1 if time >= 0 else 0
    # The begin of another item follows, of which perhaps only one byte was written.
    if end and content[end : end + 1] in (b"", b"-"):
        return end
    return content.rfind(b"\n- ") + 1


def _regular(content: bytes) -> Batch | None:
    """Read items that all have the same lines; None if they have not."""
    lines = content.split(b"\n")
    if lines.pop() or lines[0] != _VALUE:
        return None
    try:
        period = lines.index(_VALUE, 1)
    except ValueError:
        period = len(lines)
    count, odd = divmod(len(lines), period)
    names = lines[1 : period - 4]
    if odd or not names or lines[::period].count(_VALUE) != count:
        return None
    if lines[period - 4 :: period].count(_SEQUENCE) != count:
        return None
    starts = ((period - 3, _EPOCH), (period - 2, _STEP), (period - 1, _TIMESTAMP))
    if not all(_all_start(lines[at::period], start) for at, start in starts):
        return None

    positions: dict[int, Position] = {}

    def locate(index: int) -> Position:
        known = positions.get(index)
        if known is not None:
            return known
        at = index * period + period
        epoch, step, time = lines[at - 3][11:], lines[at - 2][10:], lines[at - 1][15:]
        found = Position(_position(step), _position(epoch), seconds(time.decode(errors="replace").strip("'\"")))
        return positions.setdefault(index, found)

    found: dict[str, tuple[Sequence[float], Locate]] = {}
    for number, line in enumerate(names):
        prefix = line[: line.rfind(b": ") + 2]
        name = _name(prefix)
        column = lines[number + 1 :: period]
        if name is None or not _all_start(column, prefix):
            return None
        values = _numbers(column, len(prefix))
        if values is None:
            return None
        found[name] = values, locate
    bounds = partial(_bounds, *(lines[period - 3 + at :: period] for at in range(3)))
    return Batch(found, len(content), bounds=bounds) if len(found) == len(names) else None


def _bounds(epochs: Sequence[bytes], steps: Sequence[bytes], times: Sequence[bytes]) -> tuple[Position, Position]:
    """Return bounds of positions that are given by their lines."""
    step, epoch = (
        [_position(line[len(start) :]) for line in set(lines)] for lines, start in ((steps, _STEP), (epochs, _EPOCH))
    )
    # Times of one length and zone are in the order of their characters.
    alike = len({(len(line), line[-_ZONE:]) for line in times}) == 1
    time = [seconds(line[len(_TIMESTAMP) :].decode(errors="replace").strip("'\"")) for line in (min(times), max(times))]
    if not alike:
        time = [None]
    return Position(least(step), least(epoch), time[0]), Position(greatest(step), greatest(epoch), time[-1])


def _all_start(lines: Sequence[bytes], start: bytes) -> bool:
    length = len(start)
    return all(line[:length] == start for line in lines)


@lru_cache(maxsize=10_000)
def _name(prefix: bytes) -> str | None:
    """Return the name of the metric in the begin of a line; None if that is not `name: `."""
    if not prefix.startswith(b"    ") or prefix[4:5] in b" ?-":
        return None
    try:
        value = parse(prefix + b"0")
    except NotReadable:
        return None
    return text(next(iter(value)), _LONGEST_NAME) if isinstance(value, dict) and len(value) == 1 else None


def _numbers(lines: Sequence[bytes], start: int) -> list[float] | None:
    try:
        return [float(line[start:]) for line in lines]
    except ValueError:
        pass
    try:
        return [_WORDS[word] if (word := line[start:].lower()) in _WORDS else float(word) for line in lines]
    except ValueError:
        return None


def _position(word: bytes) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _any(content: bytes) -> Batch:
    """Read items that are not alike: in stretches of items that are, and one by one between them."""
    begins = [match.start() for match in _ITEM.finditer(content)]
    found = _Stretches()
    if not begins and content.strip():
        found.unreadable = 1
    ends = [*begins[1:], len(content)]
    waiting = [(0, len(begins))] if begins else []
    while waiting:
        first, last = waiting.pop()
        part = content[begins[first] : ends[last - 1]]
        read = _regular(part)
        if read is not None:
            found.add(read)
        elif last - first > 1:
            middle = (first + last) // 2
            waiting += [(middle, last), (first, middle)]
        else:
            found.parse(part)
    values: dict[str, tuple[Sequence[float], Locate]] = {
        name: (numbers, partial(found.locate, name)) for name, numbers in found.values.items()
    }
    return Batch(values, len(content), found.unreadable, found.bounds)


class _Stretches:
    """Values of stretches of items, each of which has its own positions."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}
        self.unreadable = 0
        self._firsts: dict[str, list[int]] = {}
        self._locates: dict[str, list[Locate]] = {}
        self._bounds: list[Callable[[], tuple[Position, Position]]] = []

    def add(self, batch: Batch) -> None:
        """Add items that are alike."""
        for name, (numbers, locate) in batch.values.items():
            self._add(name, numbers, locate)
        self._bounds.append(batch.bounds)

    def parse(self, item: bytes) -> None:
        """Add one item, which is read as YAML."""
        try:
            metrics, position = _item(parse(item))
        except NotReadable:
            self.unreadable += 1
            return
        for name, value in metrics.items():
            self._add(name, [value], lambda _index: position)
        self._bounds.append(lambda: (position, position))

    def _add(self, name: str, numbers: Sequence[float], locate: Locate) -> None:
        values = self.values.setdefault(name, [])
        self._firsts.setdefault(name, []).append(len(values))
        self._locates.setdefault(name, []).append(locate)
        values += numbers

    def locate(self, name: str, index: int) -> Position:
        """Return the position of a value."""
        firsts = self._firsts[name]
        stretch = bisect_right(firsts, index) - 1
        return self._locates[name][stretch](index - firsts[stretch])

    def bounds(self) -> tuple[Position, Position]:
        """Return positions that no value is below or above; None where that is not known."""
        if not self._bounds:
            return NOWHERE, NOWHERE
        lows, highs = zip(*(bounds() for bounds in self._bounds), strict=True)
        return Position(*map(least, zip(*lows, strict=True))), Position(*map(greatest, zip(*highs, strict=True)))


def _item(parsed: Any) -> tuple[Mapping[str, float], Position]:
    try:
        [item] = parsed
        sequence = item["sequence"]
        metrics = {text(name, _LONGEST_NAME): float(value) for name, value in item["value"].items()}
        return metrics, Position(
            _number(sequence.get("step")), _number(sequence.get("epoch")), seconds(sequence["timestamp"])
        )
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError) as problem:
        raise NotReadable(str(problem)) from None


def _number(value: Any) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except OverflowError:
        return None
    return number if number is not None and math.isfinite(number) else None
