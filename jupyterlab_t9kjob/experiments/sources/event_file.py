"""Reads TensorBoard event files from an offset on: scalars, hyperparameters of the HParams plug-in, texts.

Events of one scalar, which are nearly all events of most files, are read without a protobuf parser.
"""

from __future__ import annotations

import math
import struct
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...tensorboard.event_records import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    LONGEST_RECORD,
    SUMMARY,
    VALUE,
    NotEvents,
    fields,
    messages,
)
from ..series import Position, greatest, least
from .hparams import END_INFO, START_INFO, decoded, parameters_of
from .mixed_records import MixedRecords
from .scalar_records import (
    FRAME,
    LONGEST_SCALAR,
    STEP_AT,
    STEP_TAG,
    STEP_TAG_AT,
    TIME_AT,
    Round,
    bounds_of,
    layout_of,
    period_of,
    positions_at,
)

_LENGTH = struct.Struct("<Q")
_DOUBLE = struct.Struct("<d")
_SINGLE = struct.Struct("<f")
_AGAIN: Final = 64
"""Number of records that are read one by one before layouts that repeat are looked for again; twice as many each time
that none are found."""
_MOST_AGAIN: Final = 2048
_FEW: Final = 128
_MANY: Final = 2048
"""Numbers of records among which layouts that repeat are looked for."""

# Numbers of fields of the messages Event, Summary.Value, TensorProto, SummaryMetadata.
_WALL_TIME, _STEP = 1, 2
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_DTYPE, _CONTENT, _FLOATS, _DOUBLES, _STRINGS = 1, 4, 5, 6, 8
_FLOAT, _DOUBLE_TYPE, _STRING = 1, 2, 7


class Scalars:
    """Scalars of one tag, in the order of appearance.

    Attributes
    ----------
    values
        The values.
    records
        Offsets of their records, in groups: a range where records repeat, else a list. A negative number is the
        position -1 - n in the list of positions of records that have no layout.
    """

    def __init__(self) -> None:
        self.values: array[float] = array("f")
        self.records: list[range | list[int]] = []
        self._firsts: list[int] = []

    def add(self, values: Sequence[float], records: range | list[int]) -> None:
        """Add values with the offsets of their records.

        Parameters
        ----------
        values
            The values.
        records
            Offset of the record of each value, in bytes.
        """
        last = self.records[-1] if self.records else None
        if isinstance(last, list) and isinstance(records, list):
            last += records
        else:
            self.records.append(records)
            self._firsts.append(len(self.values))
        if isinstance(values, array) and values.typecode == self.values.typecode:
            self.values += values
            return
        if self.values.typecode == "f" and not isinstance(values, array):
            self.values = array("d", self.values)  # A tensor may have a number of eight bytes.
        self.values.extend(values.tolist() if isinstance(values, array) else values)

    def records_at(self, indexes: Any, numpy: Any) -> Any:
        """Return the offsets of the records of many values as an array.

        Parameters
        ----------
        indexes
            Array of indexes in rising order.
        numpy
            The module.
        """
        found = numpy.empty(len(indexes), numpy.int64)
        bounds = numpy.searchsorted(indexes, [*self._firsts[1:], len(self.values)]).tolist()
        begin = 0
        for first, records, end in zip(self._firsts, self.records, bounds, strict=True):
            if end > begin:
                inner = indexes[begin:end] - first
                if isinstance(records, range):
                    found[begin:end] = records.start + inner * records.step
                else:
                    found[begin:end] = [records[index] for index in inner.tolist()]
            begin = end
        return found

    def record(self, index: int) -> int:
        """Return the offset of the record of a value."""
        group = bisect_right(self._firsts, index) - 1
        return self.records[group][index - self._firsts[group]]


@dataclass
class Events:
    """Events of a part of a file.

    Attributes
    ----------
    content
        The part.
    scalars
        Scalars by tag.
    positions
        Positions of scalars whose records have no layout.
    parameters, texts
        Hyperparameters, and texts by tag.
    first_time
        Time of the first event.
    end
        Number of bytes that were read.
    damaged
        True if the bytes at `end` are no event.
    """

    content: bytes = b""
    scalars: dict[str, Scalars] = field(default_factory=dict)
    positions: list[Position] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    first_time: float | None = None
    end: int = 0
    damaged: bool = False

    def position(self, tag: str, index: int) -> Position:
        """Return the position of a scalar.

        Parameters
        ----------
        tag
            Tag of the scalar.
        index
            Index of the value.
        """
        at = self.scalars[tag].record(index)
        if at < 0:
            return self.positions[-1 - at]
        (time,) = _DOUBLE.unpack_from(self.content, at + TIME_AT)
        step = _varint(self.content, at + STEP_AT) if self.content[at + STEP_TAG_AT] == STEP_TAG else 0
        return Position(float(step), None, time if math.isfinite(time) else None)

    def _bounds(self, records: Sequence[int]) -> Iterator[tuple[Position, Position]]:
        yield from ((position, position) for position in (self.positions[-1 - at] for at in records if at < 0))
        content = self.content
        offsets = [at for at in records if at >= 0]
        if offsets:
            steps = [_varint(content, at + STEP_AT) if content[at + STEP_TAG_AT] == STEP_TAG else 0 for at in offsets]
            times = _DOUBLE.unpack_from
            seconds = [times(content, at + TIME_AT)[0] for at in offsets]
            known = math.isfinite(sum(seconds))
            yield tuple(  # type: ignore[misc]
                Position(float(one(steps)), None, one(seconds) if known else None) for one in (min, max)
            )

    def add(self, tag: str, values: Sequence[float], records: range | list[int]) -> None:
        """Add scalars with the offsets of their records.

        Parameters
        ----------
        tag
            Tag of the scalars.
        values
            The values.
        records
            Offset of the record of each value, in bytes.
        """
        scalars = self.scalars.get(tag)
        if scalars is None:
            scalars = self.scalars[tag] = Scalars()
        scalars.add(values, records)
        if self.first_time is None and values:
            self.first_time = self.position(tag, len(scalars.values) - len(values)).time

    def bounds(self, tag: str) -> tuple[Position, Position]:
        """Return lower and upper bounds of the positions of a tag's scalars; None where a bound is not known."""
        scalars = self.scalars[tag]
        each: list[tuple[Position, Position]] = []
        for records in scalars.records:
            if isinstance(records, range):
                each.append(bounds_of(self.content, records))
            else:
                each += self._bounds(records)
        lows, highs = zip(*each, strict=True)
        return Position(*map(least, zip(*lows, strict=True))), Position(*map(greatest, zip(*highs, strict=True)))


def read_events(content: bytes) -> Events:
    """Read the events of a part of a file.

    Parameters
    ----------
    content
        A part that begins with a record. An event that is cut off at its end is left for the next part.
    """
    found = Events(content)
    reader = _Reader(found)
    at, size = 0, len(content)
    while at + HEADER_BYTES <= size:
        at = reader.read_several(at)
        if at + HEADER_BYTES > size:
            break
        (length,) = _LENGTH.unpack_from(content, at)
        if length > LONGEST_RECORD:
            found.damaged = True
            break
        end = at + HEADER_BYTES + length
        if end + CHECKSUM_BYTES > size:
            break
        if not reader.read_scalar(at, end):
            try:
                _note(content[at + HEADER_BYTES : end], found)
            except (NotEvents, struct.error, ValueError):
                found.damaged = True
                break
        at = end + CHECKSUM_BYTES
    found.end = at
    return found


class _Reader:
    """Reads records of one scalar, several at once where their layouts repeat or their tags are known."""

    def __init__(self, found: Events) -> None:
        self._found = found
        self._round: Round | None = None
        self._singles = 0
        self._next = 2  # The first record names the version, the second one has no step.
        self._wait = _AGAIN
        self._irregular = False
        self._mixed = MixedRecords()

    def read_several(self, at: int) -> int:
        """Read records from an offset on; return the offset behind them."""
        content, found = self._found.content, self._found
        if self._irregular:
            at, mixed = self._mixed.read(content, at)
            for tag, values, offsets in mixed:
                found.add(decoded(tag), values, offsets)
            return at
        if self._round is None or not self._round.begins_at(content, at):
            if self._singles < self._next:
                return at
            layouts = period_of(content, at, _FEW if self._wait <= 2 * _AGAIN else _MANY)
            self._wait = _AGAIN if layouts else 2 * self._wait
            self._irregular = self._wait > _MOST_AGAIN
            self._next = self._singles + self._wait
            if not layouts:
                return at
            self._round = Round(content, at, layouts)
        count, columns = self._round.read(content, at)
        if not count:
            return at
        for tag, values, records in self._round.by_tag(at, count, columns):
            found.add(decoded(tag), values, records)
        return at + count * self._round.size

    def read_scalar(self, at: int, end: int) -> bool:
        """Read one record; return False if it is no record of one scalar."""
        self._singles += 1
        content = self._found.content
        layout = layout_of(content, at, end) if end - at < LONGEST_SCALAR else None
        if layout is None:
            return False
        self._found.add(decoded(layout.tag), array("f", _SINGLE.unpack_from(content, at + layout.value)), [at])
        self._mixed.learn(layout)
        return True


def record_size(content: bytes) -> int:
    """Return the size in bytes of the record at the begin of a part, or 0 if that is cut off."""
    return _LENGTH.unpack_from(content)[0] + FRAME if len(content) >= HEADER_BYTES else 0


def _note(event: bytes, found: Events) -> None:
    step, time = 0, 0.0
    for number, value in fields(event):
        if number == _STEP and isinstance(value, int):
            step = value
        elif number == _WALL_TIME and isinstance(value, bytes) and len(value) == _DOUBLE.size:
            (time,) = _DOUBLE.unpack(value)
            if found.first_time is None:
                found.first_time = time
    for summary in messages(event, SUMMARY):
        for message in messages(summary, VALUE):
            position = Position(float(step if step < 2**63 else 0), None, time if math.isfinite(time) else None)
            _note_value(dict(fields(message)), position, found)


def _note_value(parts: dict[int, int | bytes], position: Position, found: Events) -> None:
    tag, simple, tensor = parts.get(_TAG), parts.get(_SIMPLE_VALUE), parts.get(_TENSOR)
    if not isinstance(tag, bytes):
        return
    if tag in (START_INFO, END_INFO):
        found.parameters |= parameters_of(parts.get(_METADATA))
        return
    value = _SINGLE.unpack(simple)[0] if isinstance(simple, bytes) and len(simple) == _SINGLE.size else None
    if value is None and isinstance(tensor, bytes):
        value = _of_tensor(tensor)
    if isinstance(value, str):
        found.texts.setdefault(decoded(tag), value)
    elif value is not None:
        found.positions.append(position)
        found.add(decoded(tag), [value], [-len(found.positions)])


def _of_tensor(tensor: bytes) -> float | str | None:
    """Return the value of a tensor of one number or text; None for other tensors."""
    parts = dict(fields(tensor))
    kind, content = parts.get(_DTYPE), parts.get(_CONTENT)
    if kind == _FLOAT:
        value = content or parts.get(_FLOATS)
        return _SINGLE.unpack(value)[0] if isinstance(value, bytes) and len(value) == _SINGLE.size else None
    if kind == _DOUBLE_TYPE:
        value = content or parts.get(_DOUBLES)
        return _DOUBLE.unpack(value)[0] if isinstance(value, bytes) and len(value) == _DOUBLE.size else None
    if kind == _STRING:
        value = parts.get(_STRINGS)
        return value.decode(errors="replace") if isinstance(value, bytes) else None
    return None


def _varint(data: bytes, at: int) -> int:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value if value < 2**63 else 0
        at, shift = at + 1, shift + 7


class Positions:
    """Positions of the scalars of a tag.

    Parameters
    ----------
    events, tag
        The events and the tag.
    """

    def __init__(self, events: Events, tag: str) -> None:
        self._events = events
        self._tag = tag

    def __call__(self, index: int) -> Position:
        """Return the position of a scalar."""
        return self._events.position(self._tag, index)

    def many(self, indexes: Any) -> tuple[Any, Any] | None:
        """Return the steps and times of many scalars; None if a record has no layout."""
        import numpy

        offsets = self._events.scalars[self._tag].records_at(indexes, numpy)
        return None if (offsets < 0).any() else positions_at(self._events.content, offsets, numpy)


def tags_of(events: Events) -> Iterator[str]:
    """Return the tags of scalars; those that the HParams plug-in needs for itself are left out."""
    return (tag for tag in events.scalars if not tag.startswith("_hparams_/"))
