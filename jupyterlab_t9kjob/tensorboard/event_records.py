"""Records of event files: their bytes, and the fields of the protobuf messages in them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

PARSED_BYTES: Final = 64 * 1024
"""Size in bytes from which a record is not parsed, since it is a single picture, tensor or histogram."""
LONGEST_RECORD: Final = 2**31
"""Largest size of a protobuf message in bytes; a greater length means that the file is not an event file."""
HEADER_BYTES: Final = 12
"""The record's length and the length's checksum."""
CHECKSUM_BYTES: Final = 4
SUMMARY: Final = 5
"""Number of the field in the message `Event`."""
VALUE: Final = 1
"""Number of the field in the message `Summary`."""

_LENGTH = struct.Struct("<Q")


class NotEvents(ValueError):
    """The file is not an event file, or is damaged."""


def read_record(opened: BinaryIO) -> tuple[int, bytes | None] | None:
    """Return the next record's length and its bytes (None for a large record); None if the record is incomplete."""
    header = opened.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    (length,) = _LENGTH.unpack_from(header)
    if length > LONGEST_RECORD:
        raise NotEvents
    if length > PARSED_BYTES:
        opened.seek(length + CHECKSUM_BYTES - 1, 1)
        return (length, None) if opened.read(1) else None
    data = opened.read(length + CHECKSUM_BYTES)
    return (length, data[:length]) if len(data) == length + CHECKSUM_BYTES else None


def messages(data: bytes, wanted: int) -> Iterator[bytes]:
    """Yield the values of those fields of a protobuf message that have a number and contain bytes.

    Parameters
    ----------
    data
        Bytes of the message.
    wanted
        Number of the fields.

    Raises
    ------
    NotEvents
        If the bytes are no message.
    """
    return (value for number, value in fields(data) if number == wanted and isinstance(value, bytes))


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield number and value of each field of a protobuf message; numbers of a fixed size as their bytes.

    Raises
    ------
    NotEvents
        If the bytes are no message.
    """
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind, number = key & 7, key >> 3
        if kind == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if kind == 2:
            length, at = _varint(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise NotEvents
        yield number, data[at : at + length]
        at += length


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
