"""Number of points in event files; each count reads a limited number of bytes that were appended since the last one."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

MAX_SECONDS: Final = 0.2
MAX_BYTES: Final = 8 * 1024 * 1024
PARSED_BYTES: Final = 64 * 1024
"""Size in bytes from which a record is not parsed, since it is a single picture, tensor or histogram."""
LONGEST_RECORD: Final = 2**31
"""Largest size of a protobuf message in bytes; a greater length means that the file is not an event file."""

_LENGTH = struct.Struct("<Q")
_HEADER_BYTES = 12  # The record's length and the length's checksum.
_CHECKSUM_BYTES = 4
_SUMMARY = 5  # Number of the field in the message `Event`.
_VALUE = 1  # Number of the field in the message `Summary`.
_HPARAMS = b"_hparams_/"


class NotEvents(ValueError):
    """The file is not an event file, or is damaged."""


@dataclass
class _File:
    """Offset up to which a file has been read, and the number of points before it."""

    offset: int = 0
    points: int = 0


class PointCounter:
    """Count of the points in event files that is continued at each call."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def count(self, files: Iterable[tuple[str, int]]) -> int | None:
        """Continue the count (blocking).

        Parameters
        ----------
        files
            Paths and sizes (bytes) of all event files.

        Returns
        -------
        int | None
            Number of points; None if not all bytes have been read yet.

        Raises
        ------
        OSError
            If a file can't be read.
        NotEvents
            If a file is not an event file.
        """
        end = time.monotonic() + MAX_SECONDS
        left = MAX_BYTES
        known, self._files = self._files, {}
        complete = True
        for path, size in files:
            file = self._files[path] = known.get(path) or _File()
            if size < file.offset:  # The file was replaced.
                file = self._files[path] = _File()
            if size == file.offset:
                continue
            if left <= 0 or time.monotonic() > end:
                complete = False
                continue
            begun = file.offset
            complete = _read(path, file, left, end) and complete
            left -= file.offset - begun
        return sum(file.points for file in self._files.values()) if complete else None


def _read(path: str, file: _File, most: int, end: float) -> bool:
    """Continue to read a file; return True at its end, which may be within a record that is still being written."""
    stop = file.offset + most
    with Path(path).open("rb") as opened:
        opened.seek(file.offset)
        while file.offset < stop and time.monotonic() < end:
            record = _record(opened)
            if record is None:
                return True
            length, data = record
            file.points += _points(data) if data is not None else 1
            file.offset += _HEADER_BYTES + length + _CHECKSUM_BYTES
    return False


def _record(opened: BinaryIO) -> tuple[int, bytes | None] | None:
    """Return the next record's length and its bytes (None for a large record); None if the record is incomplete."""
    header = opened.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        return None
    (length,) = _LENGTH.unpack_from(header)
    if length > LONGEST_RECORD:
        raise NotEvents
    if length > PARSED_BYTES:
        opened.seek(length + _CHECKSUM_BYTES - 1, 1)
        return (length, None) if opened.read(1) else None
    data = opened.read(length + _CHECKSUM_BYTES)
    return (length, data[:length]) if len(data) == length + _CHECKSUM_BYTES else None


def _points(event: bytes) -> int:
    """Return the number of values in an event, without those for the table of hyperparameters."""
    return sum(
        not value[2:].startswith(_HPARAMS)  # The tag is the first field; these tags are shorter than 128 bytes.
        for summary in _messages(event, _SUMMARY)
        for value in _messages(summary, _VALUE)
    )


def _messages(data: bytes, wanted: int) -> Iterator[bytes]:
    """Yield the values of a protobuf message's fields with the number `wanted`."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            _value, at = _varint(data, at)
        elif kind == 2:
            length, at = _varint(data, at)
            if key >> 3 == wanted:
                yield data[at : at + length]
            at += length
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise NotEvents


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a variable-length integer, and the offset behind it."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise NotEvents
