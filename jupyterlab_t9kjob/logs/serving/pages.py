"""Pages: windows of the lines of several streams, merged by time."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .model import LogLine
from .sources import Anchor, OpenSource, Source, opened

MAX_PAGE_TEXT = 512 * 1024
"""Number of characters after which a page ends; its last line may exceed it."""
MAX_PAGE_READ = 64 * 1024 * 1024
"""Number of bytes read from disk after which a page ends; its first line alone may exceed it."""

Direction = Literal["forward", "backward"]
Ordered = tuple[tuple[float, int, int], LogLine]


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


def read_page(sources: Sequence[Source], anchor: Anchor, direction: Direction, limit: int) -> Page:
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

    Returns
    -------
    Page
        At least one line, unless there are none on that side.
    """
    while True:
        page, sound = _read(sources, anchor, direction, limit)
        if sound:
            return page


def _read(sources: Sequence[Source], anchor: Anchor, direction: Direction, limit: int) -> tuple[Page, bool]:
    """Return a page, and True if no bytes were removed from the files while it was read."""
    with opened(sources) as files:
        start = {file.stream: file.position(anchor) for file in files}
        lines = _take(files, start, direction, limit)
        near, far = dict(start), dict(start)
        for line in reversed(lines):
            near[line.stream] = line.offset if direction == "forward" else line.offset + line.size
        for line in lines:
            far[line.stream] = line.offset + line.size if direction == "forward" else line.offset
        for file in files:
            file.source.tail = file.reader.tail
        sizes = {file.stream: file.size for file in files}
        sound = not any(file.was_cut for file in files)
    if direction == "forward":
        return Page(lines, before=near, after=far, sizes=sizes), sound
    return Page(lines[::-1], before=far, after=near, sizes=sizes), sound


def _take(files: list[OpenSource], start: dict[str, int], direction: Direction, limit: int) -> list[LogLine]:
    """Return the lines next to `start`, the nearest one first."""
    merged = heapq.merge(
        *(_ordered(file, start[file.stream], direction) for file in files),
        key=lambda item: item[0],
        reverse=direction == "backward",
    )
    taken: list[LogLine] = []
    text = 0
    for _order, line in merged:
        taken.append(line)
        text += len(line.text)
        if len(taken) >= limit or text > MAX_PAGE_TEXT:
            break
        if line.size > MAX_PAGE_TEXT and sum(file.reader.bytes_read for file in files) > MAX_PAGE_READ:
            break
    return taken


def _ordered(file: OpenSource, position: int, direction: Direction) -> Iterator[Ordered]:
    """Yield a file's lines, each with its sort key: time, then stream, then offset."""
    for line in file.reader.forward(position) if direction == "forward" else file.reader.backward(position):
        time = file.time(line.offset)
        public = LogLine(
            stream=file.stream,
            offset=line.offset,
            size=line.size,
            time=time,
            text=line.text,
            updates=line.updates,
            partial=line.partial,
            cut=line.cut,
            removed=line.removed,
        )
        yield (time or 0.0, file.order, line.offset), public
