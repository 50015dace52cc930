"""Log files as sources of lines with times. Standard library only: the search process uses it."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...core.errors import Unavailable
from ...core.system.disk import no_descriptor
from ..storage import cuts
from ..storage.index import TimeIndex
from .line_reader import LineReader, Tail

if TYPE_CHECKING:
    from ...core.engine import LogFile

Anchor = Literal["start", "end"] | Mapping[str, int] | float

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

SETTLING = 2.0
"""Seconds in which bytes that were written get into the index, if there is anybody who keeps it; a tenth is usual."""


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
    cuts
        The record of what was cut out; None if nothing ever is.
    within
        Folder below which no link is followed; None for any.
    tail
        How far an unfinished long line has been read.
    shown
        How many bytes have been shown.
    """

    stream: str
    path: Path
    index: TimeIndex
    cuts: Path | None = None
    within: Path | None = None
    tail: Tail | None = None
    shown: int = 0

    def settle(self, status: os.stat_result) -> int:
        """Return how many bytes can be shown: those that have a time, which they then keep (blocking).

        What was written since the index was last appended to is held back until it is in it, unless that has taken so
        long that nobody seems to keep the index.

        Parameters
        ----------
        status
            The file's, of this moment.
        """
        size = size_of(status)
        if size > self.index.size:
            self.index.refresh()
        if self.index.path is not None and abs(time.time() - status.st_mtime) < SETTLING:
            size = min(size, max(self.shown, self.index.size))
        self.shown = size
        return size


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
        status = os.fstat(descriptor)
        cut = cuts.read(source.cuts)
        self.source = source
        self.stream = source.stream
        self.order = order
        self.reader = LineReader(descriptor, source.settle(status), source.tail, cut and cut[:2])
        self._index = source.index
        self._modified = status.st_mtime
        self._cut = cut

    @property
    def size(self) -> int:
        """Bytes that the file had when it was opened, without those that have no time yet."""
        return self.reader.size

    @property
    def was_cut(self) -> bool:
        """Whether something was cut out since it was opened: what was read may have been gone already."""
        return cuts.read(self.source.cuts) != self._cut

    def time(self, offset: int) -> float | None:
        """Return when a byte was written; of bytes that are not indexed, when the file was last written to."""
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


def places(files: Iterable[Source | LogFile]) -> list[Path]:
    """Return folders whose disks hold these files: a job's own volume, and where this server keeps logs."""
    return list({file.within: file.within or file.path.parent for file in files}.values())


def open_log(path: Path, within: Path | None = None) -> int:
    """Return a descriptor to read a log file; a pipe that was put in its place does not block us.

    Parameters
    ----------
    path
        The file.
    within
        Folder below which it lies and no link is followed, whoever puts one there meanwhile.

    Raises
    ------
    OSError
        If there is no such file, or it can't be read.
    """
    if within is None:
        return os.open(path, _READ)
    *folders, name = path.relative_to(within).parts
    folder = os.open(within, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in folders:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, _READ | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)


def status_of(path: Path, within: Path | None = None) -> os.stat_result:
    """Return a log file's status; of a link that must not be followed its own, which is that of no file.

    Raises
    ------
    OSError
        If there is no such file.
    """
    return path.stat(follow_symlinks=within is None)


def size_of(status: os.stat_result) -> int:
    """Return the bytes of a log file; 0 if it is no file."""
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


@contextlib.contextmanager
def opened(sources: Sequence[Source]) -> Iterator[list[OpenSource]]:
    """Open the files; those that are not there are left out.

    Raises
    ------
    Unavailable
        If no more files can be opened, here or in the body of the `with` statement.
    """
    try:
        with contextlib.ExitStack() as stack:
            found = []
            for order, source in enumerate(sources):
                try:
                    descriptor = open_log(source.path, source.within)
                except OSError as error:
                    if no_descriptor(error):
                        raise
                    continue
                stack.callback(os.close, descriptor)
                found.append(OpenSource(source, order, descriptor))
            yield found
    except OSError as error:
        if not no_descriptor(error):
            raise
        streams = f"{len(sources)} {'stream' if len(sources) == 1 else 'streams'}"
        raise Unavailable(
            f"The log has {streams}, and this server may not open as many files more.",
            code="TooManyFiles",
            hint="Choose fewer streams, or raise the limit on open files (ulimit -n) and start JupyterLab again.",
            verbatim=error.strerror,
        ) from error
