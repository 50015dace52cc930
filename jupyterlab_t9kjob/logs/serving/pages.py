"""Pages: windows of the lines of several streams, merged by time."""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Literal

from ..failures.levels import Level
from . import level_lines
from .line_reader import Line
from .model import LogLine
from .sources import Anchor, OpenSource, Source, opened

MAX_PAGE_TEXT = 512 * 1024
"""Number of characters after which a page ends; its last line may exceed it."""
MAX_PAGE_READ = 64 * 1024 * 1024
"""Number of bytes read from disk after which a page ends; its first line alone may exceed it."""

MAX_LEVEL_SECONDS = 0.5
"""Time after which a page of a level ends."""

Direction = Literal["forward", "backward"]
Order = tuple[float, int, int]
Ordered = tuple[Order, str, LogLine | None, int]
"""Sort key, stream, line, and the offset that reading has reached with it. Without a line, lines were left out."""


@dataclass
class Page:
    """Lines in order, with the positions before and after them and the sizes of the streams."""

    lines: list[LogLine]
    before: dict[str, int]
    after: dict[str, int]
    sizes: dict[str, int] = field(repr=False)

    @property
    def at_start(self) -> bool:
        """True if no lines are before these ones."""
        return not any(self.before.values())

    @property
    def at_end(self) -> bool:
        """True if no lines were after these ones when they were read."""
        return all(offset >= self.sizes[stream] for stream, offset in self.after.items())


def read_page(
    sources: Sequence[Source], anchor: Anchor, direction: Direction, limit: int, level: Level | None = None
) -> Page:
    """Read one page (blocking).

    Parameters
    ----------
    sources
        The streams; their order decides between lines of the same time.
    anchor
        Position at which the page begins (forward) or ends (backward).
    direction
        Side of `anchor` on which the page lies.
    limit
        Largest number of lines; `MAX_PAGE_TEXT` and `MAX_PAGE_READ` limit the page as well.
    level
        Lowest level of the lines; None for all lines.

    Returns
    -------
    Page
        At least one line, unless there are none on that side. With a level, a page may have no lines although there are
        more lines: they are not found within `MAX_PAGE_READ` bytes
        and `MAX_LEVEL_SECONDS`.
    """
    while True:
        page, sound = _read(sources, anchor, direction, limit, level)
        if sound:
            return page


def _read(
    sources: Sequence[Source], anchor: Anchor, direction: Direction, limit: int, level: Level | None
) -> tuple[Page, bool]:
    """Return a page, and True if no bytes were removed from the files while it was read."""
    with opened(sources) as files:
        start = {file.stream: file.position(anchor) for file in files}
        near, far = dict(start), dict(start)
        lines: list[LogLine] = []
        for stream, line, reached in _take(files, start, direction, limit, level):
            far[stream] = reached
            if line is not None:
                lines.append(line)
        for line in reversed(lines):
            edge = line.offset if direction == "forward" else line.offset + line.size
            # With a level, lines may have been left out between the start and the first line of the page.
            if level is None:
                near[line.stream] = edge
            else:
                choose = min if direction == "forward" else max
                near[line.stream] = choose(near[line.stream], edge)
        for file in files:
            file.source.tail = file.reader.tail
        sizes = {file.stream: file.size for file in files}
        sound = not any(file.was_cut for file in files)
    if direction == "forward":
        return Page(lines, before=near, after=far, sizes=sizes), sound
    return Page(lines[::-1], before=far, after=near, sizes=sizes), sound


def _take(
    files: list[OpenSource], start: dict[str, int], direction: Direction, limit: int, level: Level | None
) -> Iterator[tuple[str, LogLine | None, int]]:
    """Yield the lines next to `start`, the nearest one first, each with its stream and the offset that is reached."""
    steps = level_lines.step_sizes(len(files))
    each = [
        _ordered(file, start[file.stream], direction)
        if level is None
        else _leveled(file, start[file.stream], direction, level, steps)
        for file in files
    ]
    merged = each[0] if len(each) == 1 else heapq.merge(*each, key=itemgetter(0), reverse=direction == "backward")
    count = text = 0
    end = time.monotonic() + MAX_LEVEL_SECONDS
    for _order, stream, line, reached in merged:
        yield stream, line, reached
        if line is not None:
            count += 1
            text += len(line.text)
        if count >= limit or text > MAX_PAGE_TEXT:
            return
        if line is None and time.monotonic() > end:
            return
        is_costly = line is None or line.size > MAX_PAGE_TEXT
        if is_costly and sum(file.reader.bytes_read for file in files) > MAX_PAGE_READ:
            return


def _ordered(file: OpenSource, position: int, direction: Direction) -> Iterator[Ordered]:
    """Yield a file's lines."""
    for line in file.reader.forward(position) if direction == "forward" else file.reader.backward(position):
        yield _item(file, line, direction)


def _leveled(
    file: OpenSource, position: int, direction: Direction, level: Level, sizes: tuple[int, int]
) -> Iterator[Ordered]:
    """Yield a file's lines of a level, and after each step of the search the offset that it has reached."""
    search = level_lines.forward if direction == "forward" else level_lines.backward
    for step in search(file.reader, position, level, sizes):
        for line, _level in step.found:
            yield _item(file, line, direction)
        order = (file.time(max(0, min(step.reached, file.size - 1))) or 0.0, file.order, step.reached)
        yield order, file.stream, None, step.reached
    end = file.size if direction == "forward" else 0
    if position != end:  # Each item makes progress, so that a page that ends after one item does.
        yield (file.time(max(0, min(end, file.size - 1))) or 0.0, file.order, end), file.stream, None, end


def _item(file: OpenSource, line: Line, direction: Direction) -> Ordered:
    """Return a line with its sort key: time, then stream, then offset."""
    when = file.time(line.offset)
    public = LogLine.of_all_fields(
        stream=file.stream,
        offset=line.offset,
        size=line.size,
        time=when,
        text=line.text,
        updates=line.updates,
        partial=line.partial,
        cut=line.cut,
        removed=line.removed,
    )
    reached = line.offset + line.size if direction == "forward" else line.offset
    return (when or 0.0, file.order, line.offset), file.stream, public, reached
