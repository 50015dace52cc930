"""Log files as sources of lines with times. Standard library only: the search process uses it."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from .index import TimeIndex
from .lines import LineReader, Tail

Anchor = Literal["start", "end"] | Mapping[str, int] | float


@dataclass
class Source:
    """A log file with what is remembered of it from page to page.

    Attributes
    ----------
    stream
        Id of the stream.
    path
        Its bytes.
    index
        When they were written.
    tail
        How far an unfinished long line has been read.
    """

    stream: str
    path: Path
    index: TimeIndex
    tail: Tail | None = None


class OpenSource:
    """A source while its file is open.

    Parameters
    ----------
    source
        The file.
    order
        Its place among files that have lines of the same time.
    descriptor
        The open file.

    Attributes
    ----------
    reader
        Its lines.
    """

    def __init__(self, source: Source, order: int, descriptor: int) -> None:
        size = size_of(descriptor)
        if size > source.index.size:
            source.index.refresh()
        self.source = source
        self.stream = source.stream
        self.order = order
        self.reader = LineReader(descriptor, size, source.tail)
        self._index = source.index
        self._modified = os.fstat(descriptor).st_mtime

    @property
    def size(self) -> int:
        """Bytes that the file had when it was opened."""
        return self.reader.size

    def time(self, offset: int) -> float | None:
        """Return when a byte was written; of bytes that are not indexed yet, when the file was last written to."""
        if offset < self._index.size or self._index.path is None:
            return self._index.time_at(offset)
        return max(self._modified, self._index.span[1] if self._index.span else 0.0)

    def position(self, anchor: Anchor) -> int:
        """Return the offset that an anchor stands for."""
        if anchor == "start":
            return 0
        if anchor == "end":
            return self.size
        if isinstance(anchor, Mapping):
            return max(0, min(anchor.get(self.stream, 0), self.size))
        time = self.time(self.size - 1)
        if time is None or time < float(anchor):
            return self.size
        return self.reader.line_end(self._index.offset_at(float(anchor)))


def open_log(path: Path) -> int:
    """Return a descriptor to read a log file; a pipe that was put in its place does not block us.

    Raises
    ------
    OSError
        If there is no such file, or it can't be read.
    """
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)


def size_of(descriptor: int) -> int:
    """Return the bytes of an open log file; 0 if it is no file."""
    status = os.fstat(descriptor)
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


@contextlib.contextmanager
def opened(sources: Sequence[Source]) -> Iterator[list[OpenSource]]:
    """Open the files; those that are not there are left out."""
    with contextlib.ExitStack() as stack:
        found = []
        for order, source in enumerate(sources):
            try:
                descriptor = open_log(source.path)
            except OSError:
                continue
            stack.callback(os.close, descriptor)
            found.append(OpenSource(source, order, descriptor))
        yield found
