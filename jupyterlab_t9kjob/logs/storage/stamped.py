r"""Lines with a timestamp before each, as a cluster gives a container's log: RFC 3339, a blank, the line."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

SECOND = 10**9
LONGEST_STAMP = 40
"""Bytes at the start of a line in which a timestamp ends."""
LONGEST_NOTICE = 500
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")


class Piece(NamedTuple):
    r"""A line, or a part of a long one.

    Attributes
    ----------
    time
        Of the line, nanoseconds since the epoch.
    data
        Its bytes, without the timestamp, with the ``\n`` if that has come.
    begins, ends
        Whether its first byte and its ``\n`` are in it.
    """

    time: int
    data: bytes
    begins: bool
    ends: bool


class StampedLines:
    r"""Reads one answer, given in any pieces. Only ``\n`` ends a line.

    The kubelet puts a timestamp at each line's start, also where its runtime has kept a long line in parts. What has
    none is the rest of a line that began before the second that was asked for, or words of the kubelet's own (“unable
    to retrieve container logs …”); neither is the container's output from here on.

    Attributes
    ----------
    notice
        The last line without a timestamp.
    """

    def __init__(self) -> None:
        self.notice: str | None = None
        self._rest = b""
        self._time: int | None = None
        self._foreign = False
        self._second = (b"", b"", 0)

    def feed(self, data: bytes) -> list[Piece]:
        """Return what of the lines is in the next bytes."""
        if self._rest:
            data = self._rest + data
        pieces: list[Piece] = []
        place, size = 0, len(data)
        while place < size:
            begins = self._time is None and not self._foreign
            if begins:
                end = data.find(b"\n", place) + 1
                match = _STAMP.match(data, place, min(end or size, place + LONGEST_STAMP))
                if match is None and not end and size - place < LONGEST_STAMP:
                    break  # the timestamp may not be complete
                place = self._begin(data, place, end or size, match)
            else:
                end = data.find(b"\n", place) + 1
            stop = end or size
            if self._time is not None:
                pieces.append(Piece(self._time, data[place:stop], begins, bool(end)))
            if end:
                self._time, self._foreign = None, False
            place = stop
        self._rest = data[place:]
        return pieces

    def _begin(self, data: bytes, place: int, end: int, match: re.Match[bytes] | None) -> int:
        """Take the timestamp at `place`; returns where the line's text begins."""
        time = self._read(match) if match is not None else None
        if match is None or time is None:
            self._foreign = True
            self.notice = data[place : min(end, place + LONGEST_NOTICE)].decode("utf-8", "replace").strip()
            return place
        self._time = time
        return match.end()

    def _read(self, match: re.Match[bytes]) -> int | None:
        second, fraction, zone = match.groups()
        if (second, zone) != self._second[:2]:
            try:
                moment = datetime.fromisoformat((second + (b"+00:00" if zone == b"Z" else zone)).decode())
            except ValueError:
                return None
            self._second = (second, zone, int(moment.timestamp()))
        return self._second[2] * SECOND + int((fraction or b"0").ljust(9, b"0"))
