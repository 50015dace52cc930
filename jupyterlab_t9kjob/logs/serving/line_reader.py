"""Lines of one log file, forward and backward from any offset, without ever holding a large part of it.

A line ends with a newline. Of a line with carriage returns (a progress bar) the last update that shows something is
the text; of a text longer than `MAX_TEXT` bytes the beginning. The module needs only the standard library, because
the search process uses it.
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

# Terminal control sequences: text that has nothing else shows nothing.
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
    """Collects a line's bytes, given in any pieces, down to what is shown of it."""

    def __init__(self) -> None:
        self._finished = 0
        self._last = b""
        self._last_size = 0
        self._current = b""
        self._current_size = 0

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
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
        """Return what is shown."""
        shown, full, updates = self._current, self._current_size, self._finished + 1
        if _blank(shown) and self._finished:
            shown, full, updates = self._last, self._last_size, self._finished
        cut = full > len(shown)
        # a character that is cut, or not yet written, in the middle is left out rather than shown as broken
        text = UTF8("replace").decode(shown, final=not (cut or (partial and shown is self._current)))
        return Line(offset, size, text, updates, partial, cut)


def _blank(data: bytes) -> bool:
    return not data.strip() or (data[:1] == b"\x1b" and not CONTROL.sub(b"", data).strip())


def last_update(body: bytes) -> bytes:
    """Return the last update of a line (without its newline) that shows something; the line itself if it has one."""
    *updates, last = body.split(b"\r")
    return next((update for update in reversed([*updates, last]) if not _blank(update)), last)


def line_of(offset: int, data: bytes, *, growing: bool = True) -> Line:
    """Return the line that `data` is, its newline included if it has one; without one it is partial while `growing`."""
    ended = data[-1:] == b"\n"
    body = data[:-1] if ended else data
    if b"\r" in body or len(body) > MAX_TEXT or not ended:
        update = _Update()
        update.feed(body)
        return update.line(offset, len(data), partial=growing and not ended)
    return Line(offset, len(data), body.decode("utf-8", "replace"), 1, False, False)


@dataclass(frozen=True)
class Tail:
    """How far an unfinished long line has been read, so that it is not read again whenever it grows."""

    start: int
    end: int
    update: _Update


class LineReader:
    """Reads the lines of one open file.

    Parameters
    ----------
    descriptor
        The open file.
    size
        Bytes that are read; what is written behind that meanwhile is not there.
    tail
        What a reader before this one kept in `tail`.
    hole
        Start and end of the bytes that have been removed, if any: one line stands for them.

    Attributes
    ----------
    tail
        To be given to the next reader of the same file.
    """

    def __init__(
        self, descriptor: int, size: int, tail: Tail | None = None, hole: tuple[int, int] | None = None
    ) -> None:
        self.size = size
        # in a file without a hole everything lies behind an empty one at its start
        self.hole = (hole[0], min(hole[1], size)) if hole is not None and hole[0] < size else (0, 0)
        self.tail = tail if tail is not None and tail.start >= self.hole[1] else None
        self.bytes_read = 0
        self._descriptor = descriptor

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, or as many as there are."""
        data = os.pread(self._descriptor, end - start, start)
        self.bytes_read += len(data)
        return data

    @property
    def pieces(self) -> list[tuple[int, int]]:
        """Start and end of what is still there."""
        return [(start, end) for start, end in ((0, self.hole[0]), (self.hole[1], self.size)) if start < end]

    def line_start(self, offset: int) -> int:
        """Return where the line that has the byte at `offset` begins; `size` at the end of a finished line."""
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
        """Return where the line that has bytes on both sides of `offset` ends; `offset` if there is none."""
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
        """Return the lines from `offset` on.

        An offset within a line stands for that line, unless nothing is behind it.
        """
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
        """Return the lines before `offset`, the last first; one that has bytes on both sides belongs to them."""
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
        """Return the lines from `start`, where one begins, to `last`."""
        while start < last:
            data = self.read(start, min(start + BLOCK, last))
            if not data:
                return  # the file has been cut meanwhile
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
        """Return the lines between `first` and `end`, at both of which one begins, the last first."""
        growing = end == self.size
        while end > first:
            start = max(first, end - BLOCK)
            data = self.read(start, end)
            if len(data) < end - start:
                return  # the file has been cut meanwhile
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
        """Return the line at `start`, which is longer than a block and ends before `last`, or there."""
        tail = self.tail
        if tail is not None and tail.start == start and tail.end <= last:
            place, update = tail.end, copy.copy(tail.update)
        else:
            place, update = start, _Update()
        while place < last:
            data = self.read(place, min(place + LONG_BLOCK, last))
            if not data:
                break
            found = data.find(b"\n")
            if found >= 0:
                update.feed(data[:found])
                return update.line(start, place + found + 1 - start, partial=False)
            update.feed(data)
            place += len(data)
        if last < self.size:
            return update.line(start, place - start, partial=False)
        self.tail = Tail(start, place, copy.copy(update))
        return update.line(start, place - start, partial=True)
