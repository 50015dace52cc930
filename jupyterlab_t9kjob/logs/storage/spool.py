r"""A container's log that is written to disk as it arrives from the cluster: each byte once, even if the stream breaks.

The API server sends lines with timestamps (`stamped`), and can be asked for all lines since a given second. After a
break, it therefore repeats lines. A spool stores the bytes as the container wrote them, and beside them two files:

``<log>.index``
    The time index, see `index`.
``<log>.lines``
    Time (nanoseconds) and end offset of each of the last lines, by which repeated lines are recognized. It is written
    after the bytes. Bytes whose line is not recorded in it, because the writer was killed or because the line is not
    complete, are compared with the repeated bytes.
"""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from . import cuts
from .index import RECORD
from .stamped import SECOND, Piece, StampedLines

INDEX_SUFFIX = ".index"
LINES_SUFFIX = ".lines"
SIFTED_SUFFIX = ".launcher"
"""Beginning of the suffixes of the files that `serving.sift` makes from a log."""
GRAIN = SECOND // 100
"""Lines within so many nanoseconds share a record of the index."""
LINE_OVERHEAD = 45
"""Number of bytes that the node's log file has for each line besides its text: time, stream and tag."""
MOST_LINES = 64 * 1024
"""Number of lines in ``.lines`` above which lines that can't be repeated any more are dropped from it."""
_LINE = struct.Struct("<qQ")


class Gap(NamedTuple):
    """A missing part of a log: its offset, and the times between which it was written (nanoseconds)."""

    offset: int
    since: int | None
    until: int


class Apart(Exception):
    """The answer begins after the end of the spool, so that lines in between may be lost."""


class Spool:
    """The writer of one log; only one may exist at a time. All methods block.

    For each answer of the API server, call `begin`, then `feed` with its bytes.

    Parameters
    ----------
    path
        The log file. Its folder must exist.

    Attributes
    ----------
    last
        Time of the last whole line, nanoseconds since the epoch; None before the first one.
    taken
        Number of bytes that this writer has added, with `LINE_OVERHEAD` for each line: about the size that they have
        in the node's log file.

    Raises
    ------
    OSError
        If the disk is full or gone; from any method. Call `begin` when there is room again.
    """

    last: int | None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data = _Appended(path)
        self._index = _Appended(path.with_name(path.name + INDEX_SUFFIX), RECORD.size)
        self._lines = _Appended(path.with_name(path.name + LINES_SUFFIX), _LINE.size)
        self._gaps: list[Gap] = []
        self.taken = 0
        self.begin()

    def close(self) -> None:
        """Close the files."""
        for file in (self._data, self._index, self._lines):
            file.close()

    @property
    def size(self) -> int:
        """Size of the log in bytes."""
        return self._data.size

    @property
    def since(self) -> int | None:
        """The time from which the API server is to be asked for lines, seconds since the epoch; None for all lines."""
        return None if self.last is None else self.last // SECOND

    @property
    def first(self) -> float | None:
        """Time of the first lines, seconds since the epoch; None without lines."""
        record = self._index.read(0, RECORD.size)
        return RECORD.unpack(record)[0] if record else None

    @property
    def is_repeated(self) -> bool:
        """True if the answer has repeated a line of the log, as an answer with all lines from `since` on does."""
        return self._place > 0

    @property
    def notice(self) -> str | None:
        """The last line of the answer that is not a line of the log; see `StampedLines`."""
        return self._reader.notice

    def begin(self) -> None:
        """Prepare for a new answer of the API server, with all lines from `since` on."""
        for file in (self._data, self._index, self._lines):
            file.open()
        lines = [line for line in self.recent() if line[1] <= self._data.size]
        self.last, self._end = lines[-1] if lines else (None, 0)
        self._first = 0 if self.last is None else self.last // SECOND * SECOND
        lines = [line for line in lines if line[0] >= self._first]
        self._lines.replace(b"".join(_LINE.pack(*line) for line in lines))
        self._known = [line[0] for line in lines]
        self._place = 0
        self._apart = False
        self._line_start = self._end
        self._skips = False
        self._reader = StampedLines()
        self._waiting: deque[Piece] = deque()
        last_record = self._index.read(max(0, self._index.size - RECORD.size), self._index.size)
        self._indexed: int = RECORD.unpack(last_record)[1] if last_record else 0
        self._mark = 0
        if self.last is not None:
            self._write(_Batch(index=[(self.last, self._end)]))

    def clear(self) -> None:
        """Remove all lines, which are those of another log, and prepare for an answer with all lines of this one.

        The files that were made from those lines are removed with them.
        """
        for file in (self._lines, self._index, self._data):
            file.replace(b"")
        name = self._path.name
        for path in list(self._path.parent.iterdir()):
            if path.name.startswith(name + SIFTED_SUFFIX) or path.name == name + cuts.SUFFIX:
                path.unlink(missing_ok=True)
        self.begin()

    def feed(self, data: bytes) -> None:
        """Write the lines in the next bytes of the answer.

        Raises
        ------
        Apart
            If the next line may not be the one that follows the log's last line. Nothing of it has been written; call
            `join` to write it and all that follow.
        """
        pieces = self._reader.feed(data)
        batch = _Batch()
        if not self._waiting and self._place == len(self._known) and self._end == self._data.size:
            self._append(pieces, batch)
            return self._write(batch)
        self._waiting.extend(pieces)
        try:
            while self._waiting:
                self._take(self._waiting[0], batch)
                self._waiting.popleft()
        finally:
            self._write(batch)

    def join(self) -> None:
        """Write lines that `feed` refused with `Apart`; the missing part before them becomes one of the `gaps`."""
        self._known = []
        self._place = 0
        self._end = self._data.size
        self._set_aside(self._waiting[0].time)
        self.feed(b"")

    def gaps(self) -> list[Gap]:
        """Return the missing parts that were found since the last call."""
        gaps, self._gaps = self._gaps, []
        return gaps

    def recent(self) -> list[tuple[int, int]]:
        """Return time (nanoseconds) and end offset of each of the last lines."""
        return list(_LINE.iter_unpack(self._lines.read_all()))

    # -- lines --------------------------------------------------------------------------------------------------------

    def _take(self, piece: Piece, batch: _Batch) -> None:
        if piece.begins:
            self._skips = self._came_before(piece.time)
            self._line_start = self._end
        if self._skips:
            return
        data = piece.data
        if self._end < self._data.size:
            data = self._compare(data, piece.time)
        if data:
            batch.data.append(data)
            self._end += len(data)
            self.taken += len(data) + LINE_OVERHEAD * piece.begins
        if piece.ends:
            batch.lines.append((piece.time, self._end))
            self.last = piece.time
        batch.mark([(piece.time, self._end)])

    def _append(self, pieces: Iterable[Piece], batch: _Batch) -> None:
        """Take pieces of which none is compared with what is known: those after all that an answer has repeated."""
        end, data, lines = self._end, batch.data, batch.lines
        skips, first, begun = self._skips, self._first, 0
        places: list[tuple[int, int]] = []
        for time, text, begins, ends in pieces:
            if begins:
                skips = time < first
                self._line_start = end
                begun += not skips
            if skips:
                continue
            data.append(text)
            end += len(text)
            place = (time, end)
            places.append(place)
            if ends:
                lines.append(place)
        batch.mark(places)
        if lines:
            self.last = lines[-1][0]
        self.taken += end - self._end + LINE_OVERHEAD * begun
        self._end, self._skips = end, skips

    def _came_before(self, time: int) -> bool:
        """Return True if a line with this time is a repeated one.

        A line is also a repeated one if its time is not recorded, but later lines are still to be repeated: it is the
        second half of a line that the container runtime split when it began a new file. That half has a timestamp of
        its own only after the first half is gone.
        """
        if time < self._first:
            return True
        known, place = self._known, self._place
        if place == len(known):
            return False
        if known[place] != time:
            try:
                place = known.index(time, place)
            except ValueError:
                if time <= max(known[place:]):
                    return True
                if place == 0:
                    raise Apart from None
                self._place = len(known)
                return False
        self._place = place + 1
        return True

    def _compare(self, data: bytes, time: int) -> bytes:
        """Return the part of `data` that is not yet in the log, whose last bytes belong to no recorded line."""
        size = min(len(data), self._data.size - self._end)
        if self._data.read(self._end, self._end + size) == data[:size]:
            self._end += size
            return data[size:]
        begun = self._data.read(self._line_start, self._end)
        self._set_aside(time)
        return begun + data

    def _set_aside(self, time: int) -> None:
        """End the last line, whose rest does not come, and note a gap between it and the line written at `time`."""
        if self._data.size and self._data.read(self._data.size - 1, self._data.size) != b"\n":
            self._data.append(b"\n")
        self._end = self._line_start = self._data.size
        self._gaps.append(Gap(self._end, self.last, time))
        self._write(_Batch(lines=[(time if self.last is None else self.last, self._end)]))

    def _write(self, batch: _Batch) -> None:
        if batch.data:
            self._data.append(b"".join(batch.data))
        records = [(time / SECOND, size) for time, size in batch.index if size > self._indexed]
        if records:
            self._index.append(b"".join(RECORD.pack(*record) for record in records))
            self._indexed = records[-1][1]
        if batch.lines:
            self._lines.append(b"".join(_LINE.pack(*line) for line in batch.lines))
            if self._lines.size > MOST_LINES * _LINE.size:
                self._forget()

    def _forget(self) -> None:
        """Drop the records of lines that are not repeated, since no answer begins at or before their second."""
        lines = self.recent()
        first = lines[-1][0] // SECOND * SECOND
        self._lines.replace(b"".join(_LINE.pack(*line) for line in lines if line[0] >= first))


class _Batch:
    """Data to write: bytes, lines as (time, end), and records of the index as (time, size)."""

    def __init__(self, lines: list[tuple[int, int]] | None = None, index: list[tuple[int, int]] | None = None) -> None:
        self.data: list[bytes] = []
        self.lines = lines or []
        self.index = index or []
        self._begun = 0

    def mark(self, places: Iterable[tuple[int, int]]) -> None:
        """Add each place, as (time, size), to the index, or extend its last record if that is less than `GRAIN` older.

        It is called once for many places, since a call for each line takes longer than what it does.
        """
        index, begun = self.index, self._begun
        for place in places:
            time, size = place
            if index and time - begun < GRAIN:
                last = index[-1][0]
                index[-1] = place if time >= last else (last, size)
            else:
                index.append(place)
                begun = time
        self._begun = begun


class _Appended:
    """A file to which whole records are appended."""

    def __init__(self, path: Path, record: int = 1) -> None:
        self._path = path
        self._record = record
        self._descriptor: int | None = None
        self.size = 0

    def open(self) -> None:
        """Open the file again, and drop an incomplete last record."""
        self.close()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        self._descriptor = os.open(self._path, flags, 0o600)
        size = os.fstat(self._descriptor).st_size
        self.size = size // self._record * self._record
        if self.size < size:
            os.ftruncate(self._descriptor, self.size)

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def append(self, data: bytes) -> None:
        assert self._descriptor is not None  # noqa: S101
        rest = memoryview(data)
        while rest:
            written = os.write(self._descriptor, rest)
            self.size += written
            rest = rest[written:]

    def read(self, start: int, end: int) -> bytes:
        assert self._descriptor is not None  # noqa: S101
        return os.pread(self._descriptor, end - start, start)

    def read_all(self) -> bytes:
        return self.read(0, self.size)

    def replace(self, data: bytes) -> None:
        """Replace all records atomically: if writing fails, the old ones stay."""
        if len(data) == self.size:
            return
        fresh = self._path.with_name(self._path.name + ".new")
        fresh.write_bytes(data)
        fresh.replace(self._path)
        self.open()
