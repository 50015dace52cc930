r"""Parser of container logs with timestamps, as the API server sends them: an RFC 3339 time, a space, the line."""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple

SECOND = 10**9
LONGEST_STAMP = 40
"""Largest number of bytes of a timestamp."""
LONGEST_NOTICE = 500
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")
MOST_DIGITS = 9
_SCALES = tuple(10 ** (MOST_DIGITS - digits) for digits in range(MOST_DIGITS + 1))
"""Nanoseconds of the last digit of a fraction, by its number of digits."""


class Piece(NamedTuple):
    r"""A line, or a part of a line.

    Attributes
    ----------
    time
        Time of the line, nanoseconds since the epoch.
    data
        Bytes of the part, without the timestamp, with the line's ``\n`` if the part has it.
    begins, ends
        True if the part has the line's first byte, and if it has the line's ``\n``.
    """

    time: int
    data: bytes
    begins: bool
    ends: bool


class StampedLines:
    r"""Parser of one answer of the API server, which is fed in pieces of any size. Only ``\n`` ends a line.

    The kubelet puts a timestamp at the start of each line, once even if the container runtime stored a long line in
    parts. A line without a timestamp is either the rest of a line that began before the requested second, or a message
    of the kubelet (“unable to retrieve container logs …”). Both are left out.

    Attributes
    ----------
    notice
        The last line without a timestamp; None if there was none.
    """

    def __init__(self) -> None:
        self.notice: str | None = None
        self._rest = b""
        self._time: int | None = None
        self._foreign = False
        # The last timestamp before and after the fraction of its second, and its time without the fraction.
        self._same, self._zone, self._nanoseconds = b"", b"", 0

    def feed(self, data: bytes) -> list[Piece]:
        """Return the lines and parts of lines in the next bytes."""
        if self._rest:
            data = self._rest + data
        pieces: list[Piece] = []
        place, size = 0, len(data)
        while place < size:
            begins = self._time is None and not self._foreign
            if begins and (after := self._same_second(data, place, pieces)) > place:
                place = after
                continue
            if begins:
                end = data.find(b"\n", place) + 1
                match = _STAMP.match(data, place, min(end or size, place + LONGEST_STAMP))
                if match is None and not end and size - place < LONGEST_STAMP:
                    break  # The timestamp may be incomplete.
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

    def _same_second(self, data: bytes, place: int, pieces: list[Piece]) -> int:
        """Read whole lines of the same second as the last timestamp, without a regular expression for each.

        Nearly all lines of a busy log are such ones.

        Returns
        -------
        int
            The offset after them.
        """
        same, zone, nanoseconds = self._same, self._zone, self._nanoseconds
        size = len(same)
        while size and data.startswith(same, place):
            end = data.find(b"\n", place) + 1
            digits = place + size
            stop = data.find(zone, digits, min(end, digits + MOST_DIGITS + len(zone)))
            fraction = data[digits:stop]
            if stop <= digits or not fraction.isdigit():
                break
            time = nanoseconds + int(fraction) * _SCALES[stop - digits]
            pieces.append(Piece(time, data[stop + len(zone) : end], True, True))
            place = end
        return place

    def _begin(self, data: bytes, place: int, end: int, match: re.Match[bytes] | None) -> int:
        """Read the timestamp at `place`, and return the offset of the line's text."""
        time = self._read(*match.groups()) if match is not None else None
        if match is None or time is None:
            self._foreign = True
            self.notice = data[place : min(end, place + LONGEST_NOTICE)].decode("utf-8", "replace").strip()
            return place
        self._time = time
        return match.end()

    def _read(self, second: bytes, fraction: bytes | None, zone: bytes) -> int | None:
        try:
            moment = datetime.fromisoformat((second + (b"+00:00" if zone == b"Z" else zone)).decode())
        except ValueError:
            return None
        nanoseconds = int(moment.timestamp()) * SECOND
        self._same, self._zone, self._nanoseconds = second + b".", zone + b" ", nanoseconds
        return nanoseconds + (int(fraction) * _SCALES[len(fraction)] if fraction else 0)
