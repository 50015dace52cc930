"""Lines of a level in log files of any size, and the first error of each stream.

The search process uses this module, so it imports little. A file is read in steps of limited size. A step knows a few
kilobytes before it, so that it recognizes the lines of a traceback that began earlier; both directions find the same
lines.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from ..failures.levels import CANDIDATES, RANK, Level, Leveled, Records
from .line_reader import Line, LineReader, line_of
from .prefilter import Prefilter
from .sources import OpenSource, Source, opened

LOOK_BACK: Final = 16 * 1024
"""Number of bytes before a step in which the record of its first lines may begin."""
FIRST_STEP: Final = 64 * 1024
LONGEST_STEP: Final = 1024 * 1024
ALL_STEPS: Final = 16 * 1024 * 1024
"""Number of bytes of all files together that the steps of a page hold at a time."""
SEARCH_BYTES: Final = 64 * 1024 * 1024
SEARCH_SECONDS: Final = 0.5
"""Size and time of one part of a search for errors."""
_TEXT: Final = 500
"""Number of characters of an error that are kept."""

_PREFILTERS: Final = {level: Prefilter(pattern) for level, pattern in CANDIDATES.items()}


class Found(NamedTuple):
    """A line with at least the level that is searched for."""

    line: Line
    leveled: Leveled


class Step(NamedTuple):
    """Lines that were found between two offsets, in the order of reading, and the offset that was reached."""

    found: list[Found]
    reached: int


@dataclass
class FirstError:
    """The first error in a stream, with the fields of `LogError`."""

    stream: str
    offset: int
    time: float | None
    text: str
    traceback: bool


def step_sizes(files: int) -> tuple[int, int]:
    """Return the size of the first step and of the longest step if so many files are read together, in bytes."""
    share = ALL_STEPS // max(1, files)
    return max(1024, min(FIRST_STEP, share // 4)), max(1024, min(LONGEST_STEP, share))


def forward(reader: LineReader, offset: int, level: Level, sizes: tuple[int, int]) -> Iterator[Step]:
    """Yield the steps from an offset to the end of a file, beginning with the whole line if the offset is within one.

    Parameters
    ----------
    reader
        The file.
    offset
        Offset of the first byte.
    level
        Lowest level.
    sizes
        Size of the first and of the longest step, in bytes.
    """
    size, longest = sizes
    for first, last in reader.pieces:
        start = max(first, reader.line_start(offset) if first <= offset < last else offset)
        while start < last:
            data = reader.read(start, min(start + size, last))
            if not data:
                return
            end = start + len(data)
            if end < last:
                end = start + data.rfind(b"\n") + 1
            if end == start:
                line = reader.long_line(start, last)
                yield Step(_alone(line, level), start + line.size)
                start += line.size
            else:
                yield Step(_lines(reader, first, start, data[: end - start], level), end)
                start = end
            size = min(4 * size, longest)


def backward(reader: LineReader, offset: int, level: Level, sizes: tuple[int, int]) -> Iterator[Step]:
    """Yield the steps from an offset to the start of a file, beginning with the whole line if it is within one.

    Parameters
    ----------
    reader
        The file.
    offset
        Offset behind the last byte.
    level
        Lowest level.
    sizes
        Size of the first and of the longest step, in bytes.
    """
    size, longest = sizes
    stop = reader.line_end(min(offset, reader.size))
    for first, last in reversed(reader.pieces):
        end = min(stop, last)
        while end > first:
            start = max(first, reader.line_start(max(first, end - size)))
            if end - start > 2 * longest:
                line = reader.long_line(start, end)
                if start + line.size >= end:
                    yield Step(_alone(line, level), start)
                    end = start
                    continue
                start += line.size
            yield Step(_lines(reader, first, start, reader.read(start, end), level)[::-1], start)
            end = start
            size = min(4 * size, longest)


def _alone(line: Line, level: Level) -> list[Found]:
    found = Found(line, Records().feed(line.text))
    return [found] if RANK[found.leveled.level] >= RANK[level] else []


def _lines(reader: LineReader, first: int, start: int, data: bytes, level: Level) -> list[Found]:
    """Return the lines of a level in a step's data, given its offset and the offset at which the file's part begins."""
    base = reader.line_start(start - LOOK_BACK) if start - LOOK_BACK > first else first
    if start - base > 2 * LOOK_BACK:  # A very long line is before the step.
        base = start
    if base < start:
        data = reader.read(base, start) + data
    found: list[Found] = []
    position = 0
    for begin, _stop in _PREFILTERS[level].lines(data):
        if begin < position:
            continue
        position = begin
        records = Records()
        while position < len(data):
            stop = data.find(b"\n", position) + 1 or len(data)
            line = line_of(base + position, data[position:stop], growing=base + stop == reader.size)
            leveled = records.feed(line.text)
            if line.offset >= start and RANK[leveled.level] >= RANK[level]:
                found.append(Found(line, leveled))
            position = stop
            if not records.is_open:
                break
    return found


class ErrorSearch:
    """Search for the first error of one stream, which goes on where it was when the stream has grown.

    Attributes
    ----------
    reached
        Offset up to which the stream was searched.
    found
        The first error; None if there is none up to `reached`.
    is_complete
        True if `found` will not change: the end of its traceback is known.
    """

    def __init__(self) -> None:
        self.reached = 0
        self.found: FirstError | None = None
        self.is_complete = False

    def go_on(self, file: OpenSource, end: float) -> int:
        """Search further until an error is found, or a part of the search is done (blocking).

        Parameters
        ----------
        file
            The stream.
        end
            Time of `time.monotonic` at which this part ends.

        Returns
        -------
        int
            Number of bytes that were read.
        """
        if file.size < self.reached:  # The log was begun anew.
            self.found, self.reached, self.is_complete = None, 0, False
        removed = file.reader.hole
        if self.found is not None and removed[0] <= self.found.offset < removed[1]:
            self.found, self.reached, self.is_complete = None, removed[1], False
        if self.is_complete:
            return 0
        if self.found is not None:
            self.reached = self.found.offset
        before = file.reader.bytes_read
        for step in forward(file.reader, self.reached, "error", step_sizes(16)):
            for line, leveled in step.found:
                self._take(file, line, leveled)
                if self.is_complete:
                    break
            self.reached = step.reached
            if self.is_complete or file.reader.bytes_read - before > SEARCH_BYTES or time.monotonic() > end:
                break
        return file.reader.bytes_read - before

    def _take(self, file: OpenSource, line: Line, leveled: Leveled) -> None:
        """Take a found line into the result. A traceback is found by its head; its text is its last line."""
        text = line.text.strip()[:_TEXT]
        if self.found is None or line.offset <= self.found.offset:
            is_traceback = leveled.part == "traceback"
            self.found = FirstError(
                stream=file.stream, offset=line.offset, time=file.time(line.offset), text=text, traceback=is_traceback
            )
            self.is_complete = not is_traceback
        elif leveled.part == "exception":
            self.found.text = text
            self.is_complete = True
        elif leveled.part in ("first", "traceback"):
            self.is_complete = True


class FirstErrors(NamedTuple):
    """First errors that were found so far. `searched` of the `size` bytes of all streams have been searched."""

    errors: list[FirstError]
    searched: int
    size: int
    complete: bool


def first_errors(sources: Sequence[Source], searches: dict[str, ErrorSearch]) -> FirstErrors:
    """Search one part of the streams for their first errors (blocking).

    Parameters
    ----------
    sources
        The streams.
    searches
        The searches so far, by stream; they are continued.
    """
    end, total = time.monotonic() + SEARCH_SECONDS, 0
    errors: list[FirstError] = []
    searched = size = 0
    complete = True
    with opened(sources) as files:
        for file in files:
            search = searches.setdefault(file.stream, ErrorSearch())
            if total <= SEARCH_BYTES and time.monotonic() <= end:
                total += search.go_on(file, end)
            if search.found is not None:
                errors.append(replace(search.found))
            is_done = search.is_complete or search.reached >= file.size
            complete = complete and is_done
            searched += file.size if is_done else search.reached
            size += file.size
    return FirstErrors(errors, searched, size, complete)
