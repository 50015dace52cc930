"""Log files as sources of lines with times.

The search process uses this module, so it imports little.
"""

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
from ...core.translation import _, _n
from ..storage import cuts
from ..storage.index import TimeIndex
from .line_reader import LineReader, Tail

if TYPE_CHECKING:
    from ...core.log_sources import LogFile

Anchor = Literal["start", "end"] | Mapping[str, int] | float

_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK

SETTLING = 2.0
"""Seconds after which written bytes are shown even if the index does not have them; it usually has them in 0.1 s."""


@dataclass
class Source:
    """A log file, with state that is kept between two reads.

    Attributes
    ----------
    stream
        Id of the stream.
    path
        The log file.
    index
        Time index of the file.
    cuts
        Record of the file's cut; None if the file is never cut.
    within
        Folder below which no symbolic link is followed; None follows all links.
    tail
        State of reading a long line that still grows.
    shown
        Number of bytes that have been shown.
    """

    stream: str
    path: Path
    index: TimeIndex
    cuts: Path | None = None
    within: Path | None = None
    tail: Tail | None = None
    shown: int = 0

    def settle(self, status: os.stat_result) -> int:
        """Return the number of bytes that can be shown (blocking).

        A byte is shown once the index has its time, so that the time does not change afterwards. All bytes are shown if
        the file was not written to for `SETTLING` seconds, since the index may have no writer any more.

        Parameters
        ----------
        status
            Current status of the file.
        """
        size = size_of(status)
        if size > self.index.size:
            self.index.refresh()
        if self.index.path is not None and abs(time.time() - status.st_mtime) < SETTLING:
            size = min(size, max(self.shown, self.index.size))
        self.shown = size
        return size


class OpenSource:
    """A source whose file is open.

    Parameters
    ----------
    source
        The source.
    order
        Rank of the source among the streams, which decides between lines of the same time.
    descriptor
        The open file.

    Attributes
    ----------
    reader
        Reader of the file's lines.
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
        """Number of bytes that could be shown when the file was opened."""
        return self.reader.size

    @property
    def was_cut(self) -> bool:
        """True if bytes were removed since the file was opened; bytes read since then may be zeros of the hole."""
        return cuts.read(self.source.cuts) != self._cut

    def time(self, offset: int) -> float | None:
        """Return when a byte was written, in seconds since the epoch; the file's last change if it is not indexed."""
        if offset < self._index.size or self._index.path is None:
            return self._index.time_at(offset)
        return max(self._modified, self._index.span[1] if self._index.span else 0.0)

    def position(self, anchor: Anchor) -> int:
        """Return the offset of an anchor: “start” or “end”, an offset by stream, or a time."""
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
    """Return folders on the disks of these files: the job's own volume, and this server's folder of logs."""
    return list({file.within: file.within or file.path.parent for file in files}.values())


def open_log(path: Path, within: Path | None = None) -> int:
    """Return a descriptor to read a log file. Opening never blocks, even if the file was replaced by a pipe.

    Parameters
    ----------
    path
        The file.
    within
        Folder with the file, below which no symbolic link is followed, not even one that is made at the same time.

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
    """Return the status of a log file, or of a symbolic link that must not be followed.

    Parameters
    ----------
    path
        The file.
    within
        Folder below which no symbolic link is followed; None follows all links.

    Raises
    ------
    OSError
        If there is no such file.
    """
    return path.stat(follow_symlinks=within is None)


def size_of(status: os.stat_result) -> int:
    """Return the size of a log file in bytes; 0 if it is not a regular file."""
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


@contextlib.contextmanager
def opened(sources: Sequence[Source]) -> Iterator[list[OpenSource]]:
    """Open the files; files that can't be opened are left out.

    Raises
    ------
    Unavailable
        If the server has too many open files, here or in the body of the `with` statement.
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
        raise Unavailable(
            _n(
                "The log has {n} stream, and this server can't open so many more files.",
                "The log has {n} streams, and this server can't open so many more files.",
                len(sources),
            ),
            code="TooManyFiles",
            hint=_("Choose fewer streams, or raise the limit on open files (ulimit -n) and start JupyterLab again."),
            verbatim=error.strerror,
        ) from error
