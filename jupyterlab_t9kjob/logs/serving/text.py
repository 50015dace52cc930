"""Text of several streams, merged by time as in the log view, for copying and for a download as one file.

Long lines are complete; of a progress bar, the text has the last update only. Control sequences are kept.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import dropwhile, takewhile
from typing import NamedTuple

from ..failures.levels import Level
from ..storage.cuts import read as read_cut
from . import level_lines
from .line_reader import MAX_TEXT, Line, last_update
from .sources import OpenSource, Source, opened

PIECE = 256 * 1024
"""Number of bytes after which a chunk of the text is sent."""
LONGEST_LINE = 16 * 1024 * 1024
"""Number of bytes of a line that are held in memory; the text notes where the rest of a longer line is left out."""

Notes = Mapping[str, Sequence[tuple[int, bytes]]]
Order = tuple[float, int, int]


@dataclass(frozen=True)
class LinePosition:
    """Position of a line in the merged log: its stream, the offset of its first byte, and its time."""

    stream: str
    offset: int
    time: float | None = None


@dataclass(frozen=True)
class Passage:
    """The lines from `first` to `last`, with both; None stands for the log's start or end.

    Attributes
    ----------
    first, last
        The first and the last line.
    level
        Lowest level of the lines; None for all lines.
    """

    first: LinePosition | None = None
    last: LinePosition | None = None
    level: Level | None = None


class _Item(NamedTuple):
    order: Order
    file: OpenSource
    line: Line
    note: bytes | None


class Block(NamedTuple):
    """Consecutive whole lines of one stream, as they are shown.

    Attributes
    ----------
    text
        The lines, each with its newline.
    after
        Offset after them.
    at_end
        True if nothing followed them when they were read.
    """

    text: str
    after: int
    at_end: bool


def read_block(source: Source, start: int) -> Block | None:
    """Return whole lines of a stream at once, which takes a tenth of the time of reading them one by one (blocking).

    Parameters
    ----------
    source
        The stream.
    start
        Offset of the first line.

    Returns
    -------
    Block or None
        None if a line has to be read by itself: nothing is there, it has no end yet, it was updated in place, it is too
        long to be shown in full, or bytes were removed.
    """
    with opened([source]) as files:
        for file in files:
            stop = min(start + PIECE, file.size)
            if file.reader.hole[1] > start and file.reader.hole[0] < stop:
                return None
            data = file.reader.read(start, stop)
            end = data.rfind(b"\n") + 1
            if not end or b"\r" in data or file.was_cut or max(map(len, data.split(b"\n"))) > MAX_TEXT:
                return None
            return Block(data[:end].decode("utf-8", "replace"), start + end, start + end >= file.size)
    return None


def size_of_passage(sources: Sequence[Source], passage: Passage, limit: int) -> int:
    """Return the approximate size of a passage in bytes, without removed bytes (blocking).

    Lines of a level have to be read, so they are counted only until they exceed the limit.

    Parameters
    ----------
    sources
        The streams.
    passage
        The lines.
    limit
        Size in bytes above which lines of a level are not counted.
    """
    with opened(sources) as files:
        if passage.level is None:
            return sum(_size(file, files, passage) for file in files)
        size = 0
        for file in files:
            end = _end(file, passage.last)
            for line in _of_level(file, _start(file, files, passage.first), passage.level):
                size += line.size
                if size > limit:
                    return size
                if line.offset >= end:
                    break
    return size


def passage_text(
    sources: Sequence[Source], passage: Passage, *, labels: bool = False, notes: Notes | None = None
) -> Generator[bytes, None, None]:
    """Yield the text of a passage in chunks (blocking).

    Parameters
    ----------
    sources
        The streams; their order decides between lines of the same time.
    passage
        The lines.
    labels
        True to put the stream's id and the time (UTC, ISO 8601) before each line, each followed by a tab.
    notes
        Lines to insert, by stream, each with the offset of the line before which it comes.
    """
    reached: dict[str, int] = {}
    while True:
        with opened(sources) as files:
            for text, used, after in _pieces(_merged(files, passage, reached, notes or {}), labels):
                if any(file.was_cut for file in used):
                    break  # These bytes may be zeros of a hole: read again from the same position.
                reached.update(after)
                yield text
            else:
                return


def _pieces(items: Iterator[_Item], labels: bool) -> Iterator[tuple[bytes, list[OpenSource], dict[str, int]]]:
    """Yield chunks of text, each with its files and the offsets of the next lines of their streams."""
    text = bytearray()
    used: dict[str, OpenSource] = {}
    after: dict[str, int] = {}
    for _key, file, line, note in items:
        label = _label(file, line) if labels else b""
        if note is not None:
            text += label + note
        else:
            text += label + _whole(file, line) + b"\n"
            after[file.stream] = line.offset + line.size
        used[file.stream] = file
        if len(text) >= PIECE:
            yield bytes(text), list(used.values()), after
            text, used, after = bytearray(), {}, {}
    if text:
        yield bytes(text), list(used.values()), after


def _merged(files: Sequence[OpenSource], passage: Passage, reached: Mapping[str, int], notes: Notes) -> Iterator[_Item]:
    """Return the lines of the passage, in order, from the offsets in `reached` on."""
    lines = [_lines(file, files, passage, reached, notes.get(file.stream, ())) for file in files]
    return lines[0] if len(lines) == 1 else heapq.merge(*lines, key=lambda item: item.order)


def _lines(
    file: OpenSource,
    files: Sequence[OpenSource],
    passage: Passage,
    reached: Mapping[str, int],
    notes: Sequence[tuple[int, bytes]],
) -> Iterator[_Item]:
    """Return a file's lines in the passage.

    The stream of the passage's first or last line is cut at that line's offset, since the time of bytes that were just
    written may still change. The other streams are cut by the sort key of that line.
    """
    start = _start(file, files, passage.first)
    items = _ordered(file, max(start, reached.get(file.stream, 0)), notes, passage.level)
    first, last = passage.first, passage.last
    if first is not None and first.stream != file.stream:
        low = _order(first, files)
        items = dropwhile(lambda item: item.order < low, items)
    if last is not None and last.stream == file.stream:
        return takewhile(lambda item: item.line.offset <= last.offset, items)
    if last is not None:
        high = _order(last, files)
        return takewhile(lambda item: item.order <= high, items)
    return items


def _ordered(file: OpenSource, start: int, notes: Sequence[tuple[int, bytes]], level: Level | None) -> Iterator[_Item]:
    waiting = sorted(note for note in notes if note[0] >= start and level is None)
    for line in file.reader.forward(start) if level is None else _of_level(file, start, level):
        order = (file.time(line.offset) or 0.0, file.order, line.offset)
        while waiting and waiting[0][0] <= line.offset:
            yield _Item(order, file, line, waiting.pop(0)[1])
        yield _Item(order, file, line, None)
    if waiting:
        end = Line(file.size, 0, "", 1, partial=False, cut=False)
        order = (file.time(max(0, file.size - 1)) or 0.0, file.order, file.size)
        for _offset, note in waiting:
            yield _Item(order, file, end, note)


def _of_level(file: OpenSource, start: int, level: Level) -> Iterator[Line]:
    for step in level_lines.forward(file.reader, start, level, level_lines.step_sizes(1)):
        yield from (line for line, _leveled in step.found)


def _order(position: LinePosition, files: Sequence[OpenSource]) -> Order:
    """Return the sort key of a line."""
    number = next((file.order for file in files if file.stream == position.stream), -1)
    return (position.time or 0.0, number, position.offset)


def _start(file: OpenSource, files: Sequence[OpenSource], first: LinePosition | None) -> int:
    """Return an offset at or before the file's first line in the passage."""
    if first is None:
        return 0
    if first.stream == file.stream:
        return min(first.offset, file.size)
    if first.time is None or file.size == 0 or file.time(file.size - 1) is None:
        return 0
    return file.position(first.time)


def _end(file: OpenSource, last: LinePosition | None) -> int:
    """Return an offset near the end of the file's last line in the passage."""
    if last is None or last.time is None:
        return file.size
    return file.reader.line_end(last.offset + 1) if last.stream == file.stream else file.position(last.time)


def _size(file: OpenSource, files: Sequence[OpenSource], passage: Passage) -> int:
    start, end = _start(file, files, passage.first), _end(file, passage.last)
    hole = file.reader.hole
    removed = max(0, min(end, hole[1]) - max(start, hole[0]))
    return max(0, end - start - removed)


def _label(file: OpenSource, line: Line) -> bytes:
    time = file.time(line.offset)
    when = "" if time is None else datetime.fromtimestamp(time, timezone.utc).isoformat(timespec="milliseconds")
    return f"{file.stream}\t{when.replace('+00:00', 'Z')}\t".encode()


def _whole(file: OpenSource, line: Line) -> bytes:
    """Return a line's complete text without the newline; for removed bytes, the line that stands for them."""
    if line.removed:
        cut = read_cut(file.source.cuts)
        return cut.words.rstrip(b"\n") if cut is not None else b""
    if not line.cut:
        return line.text.encode("utf-8", "replace")
    data = file.reader.read(line.offset, line.offset + min(line.size, LONGEST_LINE))
    text = last_update(data.rstrip(b"\n")).decode("utf-8", "replace").encode()
    if line.size > LONGEST_LINE:
        text += b" [jupyterlab_t9kjob: the line goes on; it has %d bytes]" % line.size
    return text
