"""Files of blocks with checksums. A cut or damaged file is readable before and after the damage.

A block has a head (magic, kind, length and CRC-32 of the payload) and a payload: the columns as JSON, or a frame. A
frame has its time, its duration and, for each column, one value, or minimum, mean and maximum, as 32-bit floats.
"""

from __future__ import annotations

import json
import math
import os
import struct
import sys
import zlib
from array import array
from pathlib import Path
from typing import Any, Final

from ...core.resources import Column, Segment
from ...core.system.files import write_all

MOST_BYTES: Final = 256 * 1024 * 1024
"""Largest file that is read; files are trimmed long before."""
_MAGIC: Final = b"T9S1"
_HEAD: Final = struct.Struct("<4sBII")
_FRAME: Final = struct.Struct("<dd")
_COLUMNS, _VALUES = 1, 2
_MOST_PAYLOAD: Final = 16 * 1024 * 1024


def columns_block(columns: list[Column], width: int, facts: dict[str, Any]) -> bytes:
    """Return the block that begins a segment.

    Parameters
    ----------
    columns
        The columns.
    width
        Values for each column: 1, or 3 for minimum, mean and maximum.
    facts
        Facts about the job and its machine, such as limits; plain JSON.
    """
    return _block(_COLUMNS, json.dumps({"columns": columns, "width": width, "facts": facts}).encode())


def frame_block(time: float, seconds: float, values: list[float]) -> bytes:
    """Return the block of one frame.

    Parameters
    ----------
    time, seconds
        Start and duration.
    values
        Values in the order of the columns; NaN for one that is missing.
    """
    data = array("f", values)
    if sys.byteorder == "big":
        data.byteswap()
    return _block(_VALUES, _FRAME.pack(time, seconds) + data.tobytes())


def append(path: Path, data: bytes) -> None:
    """Append blocks to a file.

    Parameters
    ----------
    path
        The file.
    data
        The blocks.

    Raises
    ------
    OSError
        If the disk is full or gone; a block that was written in part is removed if that is possible.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, data)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def read(path: Path) -> list[Segment]:
    """Return the segments of a file, without damaged blocks; an empty list if the file can't be read (blocking)."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES)
    except OSError:
        return []
    segments: list[Segment] = []
    at = 0
    while (found := _next(data, at)) is not None:
        kind, payload, at = found
        if kind == _COLUMNS:
            segment = _segment(payload)
            if segment is not None:
                segments.append(segment)
        elif segments:
            _add_frame(segments[-1], payload)
    if sys.byteorder == "big":
        for segment in segments:
            segment.values.byteswap()
    return [segment for segment in segments if segment.times]


def _block(kind: int, payload: bytes) -> bytes:
    return _HEAD.pack(_MAGIC, kind, len(payload), zlib.crc32(payload)) + payload


def _next(data: bytes, at: int) -> tuple[int, bytes, int] | None:
    """Return kind and payload of the next undamaged block, and the offset after it."""
    while True:
        at = data.find(_MAGIC, at)
        if at < 0 or at + _HEAD.size > len(data):
            return None
        _magic, kind, size, checksum = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + size
        if size <= _MOST_PAYLOAD and end <= len(data):
            payload = data[at + _HEAD.size : end]
            if zlib.crc32(payload) == checksum:
                return kind, payload, end
        at += 1


def _segment(payload: bytes) -> Segment | None:
    try:
        head = json.loads(payload)
        columns = [Column(*column) for column in head["columns"]]
        if head["width"] not in (1, 3) or not isinstance(head["facts"], dict) or not all(map(_is_sound, columns)):
            return None
        return Segment(columns, head["width"], head["facts"])
    except (ValueError, KeyError, TypeError):
        return None


def _is_sound(column: Column) -> bool:
    """Return True if the parts of a column have their types; the file may be from somebody else's archive."""
    return (
        isinstance(column.replica, str | None)
        and isinstance(column.kind, str)
        and isinstance(column.number, int | None)
        and isinstance(column.metric, str)
    )


def _add_frame(segment: Segment, payload: bytes) -> None:
    if len(payload) != _FRAME.size + 4 * len(segment.columns) * segment.width:
        return
    time, seconds = _FRAME.unpack_from(payload)
    if not (math.isfinite(time) and 0 < seconds < math.inf):
        return
    segment.times.append(time)
    segment.seconds.append(seconds)
    segment.values.frombytes(memoryview(payload)[_FRAME.size :])
