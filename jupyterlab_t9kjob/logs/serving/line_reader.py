"""Reader of a log file's lines, forward and backward from any offset, which holds only small parts of it in memory.

A line ends with a newline. The text of a line with carriage returns (a progress bar) is its last update that is not
blank. Texts are cut after `MAX_TEXT` bytes. The search process uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import codecs
import copy
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

MAX_TEXT = 8192
SHORT_BLOCK = 1024
BLOCK = 64 * 1024
LONG_BLOCK = 1024 * 1024

# Terminal control sequences; a text of these alone is blank.
CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
UTF8 = codecs.getincrementaldecoder("utf-8")


class Line(NamedTuple):
    """One line of a file; see `LogLine` for the fields."""

    offset: int
    size: int
    text: str
    updates: int
    partial: bool
    cut: bool
    removed: int = 0


class _Update:
    """The shown text of a line whose bytes are fed in pieces."""

    def __init__(self) -> None:
        self._finished = 0
        self._last = b""
        self._last_size = 0
        self._current = b""
        self._current_size = 0

    def feed(self, data: bytes) -> None:
        """Add the next bytes of the line."""
        first, *rest = data.split(b"\r")
        self._grow(first)
        for part in rest:
            if not _blank(self._current):
                self._finished += 1
                self._last, self._last_size = self._current, self._current_size
            self._current, self._current_size = b"", 0
            self._grow(part)

    def _grow(self, part: bytes) -> None:
        self._current_size += len(part)
        if part and len(self._current) < MAX_TEXT:
            self._current += part[: MAX_TEXT - len(self._current)]

    def line(self, offset: int, size: int, *, partial: bool) -> Line:
        """Return the line.

        Parameters
        ----------
        offset, size
            The line's position and size in its file.
        partial
            True if the line may still grow.
        """
        shown, full, updates = self._current, self._current_size, self._finished + 1
        if _blank(shown) and self._finished:
            shown, full, updates = self._last, self._last_size, self._finished
        cut = full > len(shown)
        # An incomplete last character is left out, not shown as broken: the cut, or the writer, may have split it.
        text = UTF8("replace").decode(shown, final=not (cut or (partial and shown is self._current)))
        return Line(offset, size, text, updates, partial, cut)


def _blank(data: bytes) -> bool:
    return not data.strip() or (data[:1] == b"\x1b" and not CONTROL.sub(b"", data).strip())


def last_update(body: bytes) -> bytes:
    """Return the last update of a line that is not blank, given the line without its newline."""
    *updates, last = body.split(b"\r")
    return next((update for update in reversed([*updates, last]) if not _blank(update)), last)


def line_of(offset: int, data: bytes, *, growing: bool = True) -> Line:
    """Return the line with the given bytes.

    Parameters
    ----------
    offset
        Offset of the line in its file.
    data
        Bytes of the line, with the newline if there is one.
    growing
        True if a line without a newline may still grow.
    """
    ended = data[-1:] == b"\n"
    body = data[:-1] if ended else data
    if b"\r" in body or len(body) > MAX_TEXT or not ended:
        update = _Update()
        update.feed(body)
        return update.line(offset, len(data), partial=growing and not ended)
    return Line(offset, len(data), body.decode("utf-8", "replace"), 1, False, False)


@dataclass(frozen=True)
class Tail:
    """State of reading a long line that still grows, so that later readers begin at `end` and not at `start`."""

    start: int
    end: int
    update: _Update


class LineReader:
    """Reader of the lines of an open file.

    Parameters
    ----------
    descriptor
        The open file.
    size
        Number of bytes to read; bytes that are appended in the meantime are ignored.
    tail
        The `tail` of an earlier reader of the same file.
    hole
        Start and end of the removed bytes, which are read as one line; None if there are none.

    Attributes
    ----------
    tail
        State for the next reader of the same file.
    bytes_read
        Number of bytes that were read so far.
    """

    def __init__(
        self, descriptor: int, size: int, tail: Tail | None = None, hole: tuple[int, int] | None = None
    ) -> None:
        self.size = size
        # A file without a hole is treated as one with an empty hole at its start.
        self.hole = (hole[0], min(hole[1], size)) if hole is not None and hole[0] < size else (0, 0)
        self.tail = tail if tail is not None and tail.start >= self.hole[1] else None
        self.bytes_read = 0
        self._descriptor = descriptor

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets, or fewer at the end of the file.

        Parameters
        ----------
        start
            Offset of the first byte.
        end
            Offset behind the last byte.

        Raises
        ------
        OSError
            If the file can't be read.
        """
        data = os.pread(self._descriptor, end - start, start)
        self.bytes_read += len(data)
        return data

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """Start and end of each part of the file that was not removed."""
        return [(start, end) for start, end in ((0, self.hole[0]), (self.hole[1], self.size)) if start < end]

    def line_start(self, offset: int) -> int:
        """Return the start of the line with the byte at `offset`; `offset` behind the file's last complete line."""
        offset = min(offset, self.size)
        if self.hole[0] <= offset < self.hole[1]:
            return self.hole[0]
        if self.tail is not None and self.tail.start < offset <= self.tail.end:
            return self.tail.start
        first = 0 if offset < self.hole[0] else self.hole[1]
        end, step = offset, SHORT_BLOCK
        while end > first:
            start = max(first, end - step)
            found = self.read(start, end).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end, step = start, LONG_BLOCK
        return first

    def line_end(self, offset: int) -> int:
        """Return the end of the line with bytes on both sides of `offset`; `offset` if it is between two lines."""
        if self.hole[0] < offset < self.hole[1]:
            return self.hole[1]
        if offset in (0, self.size, *self.hole) or self.read(offset - 1, offset) == b"\n":
            return offset
        last = self.hole[0] if offset < self.hole[0] else self.size
        start = offset
        while start < last:
            data = self.read(start, min(start + BLOCK, last))
            found = data.find(b"\n")
            if found >= 0:
                return start + found + 1
            if not data:
                break
            start += len(data)
        return last

    def forward(self, offset: int) -> Iterator[Line]:
        """Yield the lines from `offset` on, beginning with the whole line if the offset is within one."""
        if offset >= self.size:
            return
        start = self.line_start(offset)
        if start < self.hole[0]:
            yield from self._forward(start, self.hole[0])
            start = self.hole[0]
        if start < self.hole[1]:
            yield self._removed()
            start = self.hole[1]
        yield from self._forward(start, self.size)

    def backward(self, offset: int) -> Iterator[Line]:
        """Yield the lines before `offset`, the last one first, beginning with the whole line if it is within one."""
        end = self.line_end(min(offset, self.size))
        if end > self.hole[1]:
            yield from self._backward(self.hole[1], end)
            end = self.hole[1]
        if end > self.hole[0]:
            yield self._removed()
            end = self.hole[0]
        yield from self._backward(0, end)

    def _removed(self) -> Line:
        start, end = self.hole
        return Line(start, end - start, "", 1, partial=False, cut=False, removed=end - start)

    def _forward(self, start: int, last: int) -> Iterator[Line]:
        """Yield the lines from `start`, where a line begins, to `last`."""
        while start < last:
            data = self.read(start, min(start + BLOCK, last))
            if not data:
                return  # The file was truncated in the meantime.
            begin = 0
            while (end := data.find(b"\n", begin) + 1) > 0:
                yield line_of(start + begin, data[begin:end])
                begin = end
            if start + len(data) >= last:
                if begin < len(data):
                    yield line_of(start + begin, data[begin:], growing=last == self.size)
                return
            start += begin
            if not begin:
                line = self.long_line(start, last)
                yield line
                start += line.size

    def _backward(self, first: int, end: int) -> Iterator[Line]:
        """Yield the lines between `first` and `end`, at both of which a line begins, the last one first."""
        growing = end == self.size
        while end > first:
            start = max(first, end - BLOCK)
            data = self.read(start, end)
            if len(data) < end - start:
                return  # The file was truncated in the meantime.
            stop = len(data)
            while stop > 0:
                begin = data.rfind(b"\n", 0, stop - 1) + 1
                if begin == 0 and start > first:
                    break
                yield line_of(start + begin, data[begin:stop], growing=growing)
                stop = begin
            if stop == len(data):
                begin = self.line_start(end - 1)
                yield self.long_line(begin, end)
                end = begin
            else:
                end = start + stop

    def long_line(self, start: int, last: int) -> Line:
        """Return a line that is longer than a block.

        Parameters
        ----------
        start
            Offset of the line, in bytes.
        last
            Offset at which the line ends at the latest, in bytes.

        Raises
        ------
        OSError
            If the file can't be read.
        """
        tail = self.tail
        if tail is not None and tail.start == start and tail.end <= last:
            offset, update = tail.end, copy.copy(tail.update)
        else:
            offset, update = start, _Update()
        while offset < last:
            data = self.read(offset, min(offset + LONG_BLOCK, last))
            if not data:
                break
            found = data.find(b"\n")
            if found >= 0:
                update.feed(data[:found])
                return update.line(start, offset + found + 1 - start, partial=False)
            update.feed(data)
            offset += len(data)
        if last < self.size:
            return update.line(start, offset - start, partial=False)
        self.tail = Tail(start, offset, copy.copy(update))
        return update.line(start, offset - start, partial=True)
