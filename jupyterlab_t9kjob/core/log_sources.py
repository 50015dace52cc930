"""Sources of log bytes: a file that this server can read, or a reader that returns bytes from an offset."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from .job import LogStream


@dataclass(frozen=True)
class LogFile:
    """A log stream in a file. Pages, searches and downloads read the file itself.

    Attributes
    ----------
    stream
        Description of the stream for the API.
    path
        The bytes as they were written.
    index
        (time, offset) pairs of the file, see `jupyterlab_t9kjob.logs.storage.index`; None if there is none.
    cuts
        Record of the bytes that were cut out, see `jupyterlab_t9kjob.logs.storage.cuts`; None if none ever are.
    within
        Folder below which other users may have made links: none are followed there. None if only this server and its
        jobs write to the folder.
    """

    stream: LogStream
    path: Path
    index: Path | None
    cuts: Path | None = None
    within: Path | None = None


@dataclass(frozen=True)
class LogChunk:
    """Consecutive bytes of a log stream.

    Attributes
    ----------
    data
        The bytes; empty if the stream has no bytes after the offset yet.
    time
        Time at which the bytes were written, in seconds since the epoch; ignored if the reader is not `timed`. Bytes
        that were written at different times belong to different chunks.
    """

    data: bytes
    time: float = 0.0


@dataclass(frozen=True)
class LogReader:
    """A log stream that is not a file of this server: in memory, or behind an API.

    While at least one client subscribes to the log, the server copies the stream into a temporary file and reads that.

    Attributes
    ----------
    stream
        Description of the stream for the API.
    read
        Returns the bytes from an offset on: as many as the engine likes to return at once. A stream only grows: the
        bytes before an offset never change.
    timed
        True if chunks have the time at which they were written; lines without one are shown without a time.
    """

    stream: LogStream
    read: Callable[[int], Awaitable[LogChunk]]
    timed: bool = True


LogSource = LogFile | LogReader
