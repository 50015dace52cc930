"""Records of event files that have one scalar: their layout, and the values of many of them at once.

A training writes the same metrics again and again, so that the lengths, tags and other fixed bytes of its records
repeat. Where they do, columns of bytes are compared and copied as strided slices, without looking at single records.
"""

from __future__ import annotations

import re
import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice, takewhile
from operator import eq
from typing import Any, Final, NamedTuple

from ...tensorboard.event_records import CHECKSUM_BYTES, HEADER_BYTES
from ..series import Position

FRAME: Final = HEADER_BYTES + CHECKSUM_BYTES
LONGEST_SCALAR: Final = 400
"""Size in bytes from which a record is not looked at as one scalar."""

TIME_AT: Final = HEADER_BYTES + 1
STEP_TAG_AT: Final = TIME_AT + 8
STEP_TAG: Final = 0x10
STEP_AT: Final = STEP_TAG_AT + 1
"""Positions of time and step in a record that has a layout."""

_LENGTH = struct.Struct("<Q")
_DOUBLE = struct.Struct("<d")
_INFINITE: Final = 0x7FF << 52
"""Eight bytes below this number are a double that is not negative; these have the order of their bytes."""
_SINGLE_BYTES: Final = 4
_LONGEST_STEP: Final = 9
_REPEATED: Final = 32
"""Number of records in a row that shows that layouts repeat."""
_BLOCK: Final = 256 * 1024
"""Bytes that are looked at together; they should fit into the processor's cache."""
_LEAST_ROUNDS: Final = 256
_TOP_BIT: Final = bytes(byte & 0x80 for byte in range(256))

# Event: wall_time, step, summary. Summary: value. Value: tag, then simple_value or a tensor of one float, metadata.
_SCALAR: Final = re.compile(
    rb"\x09.{8}(?:\x10([\x80-\xff]{0,8}[\x00-\x7f]))?"
    rb"\x2a([\x00-\x7f])\x0a([\x00-\x7f])\x0a([\x00-\x7f])(.{1,120}?)"
    rb"(?:\x15(.{4})|\x42([\x00-\x7f])\x08\x01(?:\x12\x00)?[\x22\x2a]\x04(.{4}))(?:\x4a([\x00-\x7f]).*)?\Z",
    re.DOTALL,
)
_STEP, _SUMMARY, _VALUE, _TAG_SIZE, _TAG, _SIMPLE, _TENSOR, _OF_TENSOR, _METADATA = range(1, 10)
_HPARAMS: Final = b"_hparams_/"


class Layout(NamedTuple):
    """Offsets of the parts of a record of one scalar, in bytes from the begin of the record.

    Attributes
    ----------
    size
        Size with length and checksums.
    step
        Size of the step, 0 without one.
    value
        Offset of the value, a float of four bytes.
    tag_at
        Offset of the tag.
    tag
        The tag as it is in the file.
    """

    size: int
    step: int
    value: int
    tag_at: int
    tag: bytes

    def fixed(self) -> list[int]:
        """Return the columns whose bytes are the same in all records of this layout with the same tag."""
        after = STEP_TAG_AT + 1 + self.step if self.step else STEP_TAG_AT
        ranges = (
            range(_LENGTH.size),
            range(HEADER_BYTES, TIME_AT),
            range(STEP_TAG_AT, STEP_TAG_AT + 1 if self.step else STEP_TAG_AT),
            range(after, self.value),
            range(self.value + _SINGLE_BYTES, self.size - CHECKSUM_BYTES),
        )
        return [column for each in ranges for column in each]


def layout_of(content: bytes, at: int, end: int) -> Layout | None:
    """Return the layout of a record, or None if it is no record of one scalar in one of the two usual forms.

    Parameters
    ----------
    content
        Content of the file.
    at, end
        Begin of the record, and of its last checksum.
    """
    match = _SCALAR.match(content, at + HEADER_BYTES, end)
    if match is None or content[match.start(_TAG_SIZE)] != len(match[_TAG]) or match[_TAG].startswith(_HPARAMS):
        return None
    begin = match.start
    tensor, metadata = begin(_TENSOR), begin(_METADATA)
    if (
        content[begin(_SUMMARY)] != end - begin(_SUMMARY) - 1
        or content[begin(_VALUE)] != end - begin(_VALUE) - 1
        or (tensor >= 0 and content[tensor] != match.end(_OF_TENSOR) - tensor - 1)
        or (metadata >= 0 and content[metadata] != end - metadata - 1)
    ):
        return None
    value = begin(_SIMPLE) if tensor < 0 else begin(_OF_TENSOR)
    return Layout(end + CHECKSUM_BYTES - at, len(match[_STEP] or b""), value - at, begin(_TAG) - at, match[_TAG])


def layouts(content: bytes, at: int, most: int) -> list[Layout]:
    """Return the layouts of the records from an offset on, up to the first that has none.

    Parameters
    ----------
    content
        Content of the file.
    at
        Begin of a record.
    most
        Largest number of records.
    """
    found: list[Layout] = []
    size = len(content)
    while len(found) < most and at + HEADER_BYTES <= size:
        (length,) = _LENGTH.unpack_from(content, at)
        end = at + HEADER_BYTES + length
        layout = layout_of(content, at, end) if length < LONGEST_SCALAR and end + CHECKSUM_BYTES <= size else None
        if layout is None:
            break
        found.append(layout)
        at += layout.size
    return found


def period_of(content: bytes, at: int, most: int) -> list[Layout]:
    """Return the layouts of the records that repeat from an offset on, or nothing if that is not seen.

    Parameters
    ----------
    content
        Content of the file.
    at
        Begin of a record.
    most
        Number of records to look at.
    """
    for records in sorted({min(most, _REPEATED + 1), most}):  # Most periods are short.
        found = layouts(content, at, records)
        for period in range(1, len(found) // (2 if records == most else 4) + 1):
            same = sum(takewhile(bool, map(eq, found, islice(found, period, None))))
            # The layouts may change soon, because the steps get longer.
            if same + period >= min(len(found), max(4 * period, _REPEATED)):
                return found[:period]
        if len(found) < records:
            break
    return []


def positions_at(content: bytes, offsets: Any, numpy: Any) -> tuple[Any, Any]:
    """Return the steps and times of records that have a layout, as arrays; NaN for a time that is not finite.

    Parameters
    ----------
    content
        Content of the file.
    offsets
        Array with the offsets of the records.
    numpy
        The module.
    """
    raw = numpy.frombuffer(content, numpy.uint8)
    times = raw[offsets[:, None] + (TIME_AT + numpy.arange(_DOUBLE.size))].view("<f8")[:, 0]
    # The value and the checksums that follow a step are longer than a step may be.
    step = raw[offsets[:, None] + (STEP_AT + numpy.arange(_LONGEST_STEP))]
    continued = numpy.cumprod(step[:, :-1] >= 0x80, axis=1, dtype=bool)
    used = numpy.concatenate((numpy.ones((len(offsets), 1), bool), continued), 1)
    bits = (step & 0x7F).astype(numpy.uint64) << (7 * numpy.arange(_LONGEST_STEP, dtype=numpy.uint64))
    steps = numpy.where(used, bits, numpy.uint64(0)).sum(1, dtype=numpy.uint64)
    known = (raw[offsets + STEP_TAG_AT] == STEP_TAG) & (steps < 2**63)
    return numpy.where(known, steps.astype(float), 0.0), numpy.where(numpy.isfinite(times), times, numpy.nan)


class Round:
    """Records whose layouts and tags repeat.

    Parameters
    ----------
    content
        Content of the file.
    at
        Begin of the first record.
    layouts
        Layouts of the records that repeat.

    Attributes
    ----------
    size
        Size of the records in bytes.
    begins
        Their begins.
    """

    def __init__(self, content: bytes, at: int, layouts: Sequence[Layout]) -> None:
        self.layouts = layouts
        self.size = sum(layout.size for layout in layouts)
        self.begins = [0, *accumulate(layout.size for layout in layouts[:-1])]
        each = list(zip(self.begins, layouts, strict=True))
        columns = [begin + column for begin, layout in each for column in layout.fixed()]
        self._fixed = [(column, content[at + column : at + column + 1]) for column in columns]
        steps = [(begin + STEP_AT, layout.step) for begin, layout in each if layout.step]
        self._ends = [begin + length - 1 for begin, length in steps]
        self._continued = [column for begin, length in steps for column in range(begin, begin + length - 1)]
        self._head = content[at : at + _LENGTH.size]

    def begins_at(self, content: bytes, at: int) -> bool:
        """Return True if a record has the head and the tag of the first record.

        Parameters
        ----------
        content
            Content of the file.
        at
            Offset of the record, in bytes.
        """
        first = self.layouts[0]
        tag = at + first.tag_at
        return content[at : at + _LENGTH.size] == self._head and content[tag : tag + len(first.tag)] == first.tag

    def read(self, content: bytes, at: int) -> tuple[int, list[array[float]]]:
        """Return how often the records follow each other from an offset on, and the values of each.

        Parameters
        ----------
        content
            Content of the file.
        at
            Begin of the first record.
        """
        columns = [array("f") for _layout in self.layouts]
        most = (len(content) - at) // self.size
        block_rounds = max(_BLOCK // self.size, _LEAST_ROUNDS)
        done = 0
        while done < most:
            rounds = min(block_rounds, most - done)
            begin = at + done * self.size
            block = content[begin : begin + rounds * self.size]
            same = self._same(block, rounds)
            for column, begin, layout in zip(columns, self.begins, self.layouts, strict=True):
                column.frombytes(self._singles(block, begin + layout.value, same))
            done += same
            if same < rounds:
                break
        if sys.byteorder == "big":
            for column in columns:
                column.byteswap()
        return done, columns

    def by_tag(
        self, at: int, count: int, columns: Sequence[array[float]]
    ) -> Iterator[tuple[bytes, array[float], range | list[int]]]:
        """Yield tags with their values, and the offsets of the values' records, in the order of appearance.

        Parameters
        ----------
        at
            Begin of the first record.
        count, columns
            Result of `read`.
        """
        same: dict[bytes, list[int]] = {}
        for number, layout in enumerate(self.layouts):
            same.setdefault(layout.tag, []).append(number)
        for tag, numbers in same.items():
            offsets = [
                range(begin, begin + count * self.size, self.size) for begin in (at + self.begins[n] for n in numbers)
            ]
            if len(numbers) == 1:
                yield tag, columns[numbers[0]], offsets[0]
                continue
            # The tag is in several records of a round.
            records = [0] * (count * len(numbers))
            values = array("f", bytes(_SINGLE_BYTES * len(records)))
            for place, number in enumerate(numbers):
                values[place :: len(numbers)] = columns[number]
                records[place :: len(numbers)] = offsets[place]
            yield tag, values, records

    def _same(self, block: bytes, rounds: int) -> int:
        """Return how many rounds at the begin of a block have the fixed bytes, and steps of the same sizes."""
        size, found = self.size, rounds
        for column, byte in self._fixed:
            bytes_ = block[column::size]
            if bytes_ != byte * rounds:
                found = min(found, rounds - len(bytes_.lstrip(byte)))
        for columns, bit in ((self._continued, b"\x80"), (self._ends, b"\0")):
            for column in columns:
                bits = block[column::size].translate(_TOP_BIT)
                if bits != bit * rounds:
                    found = min(found, rounds - len(bits.lstrip(bit)))
        return found

    def _singles(self, block: bytes, at: int, rounds: int) -> bytearray:
        """Return the bytes of a value of each round."""
        found = bytearray(_SINGLE_BYTES * rounds)
        for byte in range(_SINGLE_BYTES):
            found[byte::_SINGLE_BYTES] = block[at + byte : rounds * self.size : self.size]
        return found


def bounds_of(content: bytes, records: range) -> tuple[Position, Position]:
    """Return positions that none of some records with one layout is below or above; None where that is not known.

    Only so many bytes of each number are looked at that the bounds are within 1/128 of it, or 17 minutes of a time.

    Parameters
    ----------
    content
        Content of the file.
    records
        Offsets of the records.
    """
    first, size = records.start, records.step

    def column(at: int) -> bytes:
        return content[first + at : records.stop - size + at + 1 : size]

    steps: tuple[float | None, float | None] = (0.0, 0.0)
    if content[first + STEP_TAG_AT] == STEP_TAG:
        end = first + STEP_AT
        while content[end] & 0x80:
            end += 1
        low, high = _bounds([column(at) for at in range(end - first, STEP_AT - 1, -1)], 7)
        steps = (float(low), float(high)) if high < 2**63 else (None, None)
    low, high = _bounds([column(at) for at in range(TIME_AT + 7, TIME_AT - 1, -1)], 8)
    times = [_DOUBLE.unpack(number.to_bytes(8, "little"))[0] if high < _INFINITE else None for number in (low, high)]
    return Position(steps[0], None, times[0]), Position(steps[1], None, times[1])


def _bounds(columns: Iterable[bytes], bits: int) -> tuple[int, int]:
    """Return bounds of numbers that are given by columns of bytes, those of the highest bits first."""
    low = high = 0
    left = [*columns]
    while left:
        column, *left = left
        smallest = largest = column[0]
        if column != column[:1] * len(column):
            smallest, largest = min(set(column)), max(set(column))
        mask = (1 << bits) - 1
        low, high = low << bits | smallest & mask, high << bits | largest & mask
        if low != high:
            rest = bits * len(left)
            return low << rest, (high + 1 << rest) - 1
    return low, high
