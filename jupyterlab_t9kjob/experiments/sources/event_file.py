"""Reads TensorBoard event files from an offset on: scalars, hyperparameters of the HParams plug-in, texts.

Events of one scalar, which are nearly all events of most files, are read without a protobuf parser.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ...tensorboard.event_records import (
    CHECKSUM_BYTES,
    HEADER_BYTES,
    LONGEST_RECORD,
    SUMMARY,
    VALUE,
    NotEvents,
    fields,
    messages,
)
from ..series import Position

_LENGTH = struct.Struct("<Q")
_DOUBLE = struct.Struct("<d")
_SINGLE = struct.Struct("<f")
_FRAME: Final = HEADER_BYTES + CHECKSUM_BYTES
_LONGEST_TAG: Final = 500
_MOST_TAGS: Final = 60

# Numbers of fields of the messages Event, Summary.Value, TensorProto, SummaryMetadata and HParamsPluginData.
_WALL_TIME, _STEP = 1, 2
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_DTYPE, _CONTENT, _FLOATS, _DOUBLES, _STRINGS = 1, 4, 5, 6, 8
_FLOAT, _DOUBLE_TYPE, _STRING = 1, 2, 7
_PLUGIN_DATA, _PLUGIN_CONTENT = 1, 2
_SESSION_START, _SESSION_END = 3, 4
_START_INFO, _END_INFO = b"_hparams_/session_start_info", b"_hparams_/session_end_info"

_SCALAR: Final = re.compile(
    rb"\x09(.{8})(?:\x10([\x80-\xff]{0,8}[\x00-\x7f]))?\x2a(.)\x0a(.)\x0a(.)(.{1,120})\x15(.{4})\Z", re.DOTALL
)


@dataclass
class Events:
    """Events of a part of a file.

    Attributes
    ----------
    values, positions
        Scalars by tag, in the order of appearance, with their steps and times.
    parameters, texts
        Hyperparameters, and texts by tag.
    first_time
        Time of the first event.
    ended
        Time of the end that the HParams plug-in noted; None without one.
    end
        Number of bytes that were read.
    damaged
        True if the bytes at `end` are no event.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    positions: dict[str, list[tuple[bytes, bytes]]] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    first_time: float | None = None
    ended: float | None = None
    end: int = 0
    damaged: bool = False

    def position(self, tag: str, index: int) -> Position:
        """Return the position of a scalar."""
        step, packed = self.positions[tag][index]
        (time,) = _DOUBLE.unpack(packed)
        return Position(float(_varint(step)), None, time if math.isfinite(time) else None)

    def add(self, tag: str, step: bytes, time: bytes, value: float) -> None:
        """Add a scalar; step and time are as the file has them."""
        self.values.setdefault(tag, []).append(value)
        self.positions.setdefault(tag, []).append((step, time))


def read_events(content: bytes) -> Events:
    """Read the events of a part of a file.

    Parameters
    ----------
    content
        A part that begins with a record. An event that is cut off at its end is left for the next part.
    """
    found = Events()
    at, size = 0, len(content)
    names: dict[bytes, str] = {}
    match = _SCALAR.match
    run = _Run()
    while at + HEADER_BYTES <= size:
        at = run.read(content, at, found)
        if at + HEADER_BYTES > size:
            break
        (length,) = _LENGTH.unpack_from(content, at)
        if length > LONGEST_RECORD:
            found.damaged = True
            break
        end = at + HEADER_BYTES + length
        if end + CHECKSUM_BYTES > size:
            break
        simple = match(content, at + HEADER_BYTES, end) if length < 200 else None
        if simple is not None and simple[5][0] == len(simple[6]):
            name = names.get(simple[6]) or names.setdefault(simple[6], _decoded(simple[6]))
            found.add(name, simple[2] or b"", simple[1], _SINGLE.unpack(simple[7])[0])
            run.learn(simple[5] + simple[6])
        else:
            try:
                _note(content[at + HEADER_BYTES : end], found)
            except (NotEvents, struct.error, ValueError):
                found.damaged = True
                break
        at = end + CHECKSUM_BYTES
    found.end = at
    return found


class _Run:
    """Reads events of known tags that follow each other, all at once."""

    def __init__(self) -> None:
        self._tags: dict[bytes, str] = {}
        self._pattern: re.Pattern[bytes] | None = None

    def learn(self, tag: bytes) -> None:
        """Note a tag, with its length before it, that a single event has."""
        if tag in self._tags or len(self._tags) >= _MOST_TAGS:
            return
        self._tags[tag] = _decoded(tag[1:])
        tags = b"|".join(map(re.escape, self._tags))
        self._pattern = re.compile(
            rb"(.{8}).{4}\x09(.{8})(?:\x10([\x80-\xff]{0,8}[\x00-\x7f]))?\x2a.\x0a.\x0a(" + tags + rb")\x15(.{4}).{4}",
            re.DOTALL,
        )

    def read(self, content: bytes, at: int, found: Events) -> int:
        """Read events from an offset on; return the offset behind them."""
        if self._pattern is None:
            return at
        rows = [match.groups() for match in iter(self._pattern.scanner(content, at).match, None)]  # type: ignore[attr-defined]
        kinds = {(row[0], len(row[2] or b""), row[3]) for row in rows}
        sizes = {kind: _size(kind[1], kind[2]) for kind in kinds}
        if any(_LENGTH.unpack(kind[0])[0] != size for kind, size in sizes.items()):
            return at  # Other fields follow: these events are read one by one.
        by_tag: dict[bytes, list[tuple[bytes, ...]]] = {}
        if len(self._tags) == 1:
            by_tag = {next(iter(self._tags)): rows} if rows else {}
        else:
            for row in rows:
                by_tag.setdefault(row[3], []).append(row)
        for tag, same in by_tag.items():
            name = self._tags[tag]
            values = struct.unpack(f"<{len(same)}f", b"".join([row[4] for row in same]))
            found.values.setdefault(name, []).extend(values)
            found.positions.setdefault(name, []).extend([(row[2] or b"", row[1]) for row in same])
        return at + sum(sizes[row[0], len(row[2] or b""), row[3]] + _FRAME for row in rows)


def _size(step: int, tag: bytes) -> int:
    """Return the size of an event of one scalar.

    Parameters
    ----------
    step
        Size of the step; 0 without one.
    tag
        The tag, with its length before it.
    """
    return 9 + (1 + step if step else 0) + 5 + len(tag) + 5


def record_size(content: bytes) -> int:
    """Return the size in bytes of the record at the begin of a part, or 0 if that is cut off."""
    return _LENGTH.unpack_from(content)[0] + _FRAME if len(content) >= HEADER_BYTES else 0


def _note(event: bytes, found: Events) -> None:
    step, time = 0, _DOUBLE.pack(0.0)
    for number, value in fields(event):
        if number == _STEP and isinstance(value, int):
            step = value
        elif number == _WALL_TIME and isinstance(value, bytes) and len(value) == _DOUBLE.size:
            time = value
            if found.first_time is None:
                found.first_time = _DOUBLE.unpack(value)[0]
    for summary in messages(event, SUMMARY):
        for message in messages(summary, VALUE):
            _note_value(dict(fields(message)), _packed(step if step < 2**63 else 0), time, found)


def _note_value(parts: dict[int, int | bytes], step: bytes, time: bytes, found: Events) -> None:
    tag, simple, tensor = parts.get(_TAG), parts.get(_SIMPLE_VALUE), parts.get(_TENSOR)
    if not isinstance(tag, bytes):
        return
    if tag in (_START_INFO, _END_INFO):
        _note_session(parts.get(_METADATA), found)
        return
    value = _SINGLE.unpack(simple)[0] if isinstance(simple, bytes) and len(simple) == _SINGLE.size else None
    if value is None and isinstance(tensor, bytes):
        value = _of_tensor(tensor)
    if isinstance(value, str):
        found.texts.setdefault(_decoded(tag), value)
    elif value is not None:
        found.add(_decoded(tag), step, time, value)


def _of_tensor(tensor: bytes) -> float | str | None:
    """Return the value of a tensor of one number or text; None for other tensors."""
    parts = dict(fields(tensor))
    kind, content = parts.get(_DTYPE), parts.get(_CONTENT)
    if kind == _FLOAT:
        value = content or parts.get(_FLOATS)
        return _SINGLE.unpack(value)[0] if isinstance(value, bytes) and len(value) == _SINGLE.size else None
    if kind == _DOUBLE_TYPE:
        value = content or parts.get(_DOUBLES)
        return _DOUBLE.unpack(value)[0] if isinstance(value, bytes) and len(value) == _DOUBLE.size else None
    if kind == _STRING:
        value = parts.get(_STRINGS)
        return value.decode(errors="replace") if isinstance(value, bytes) else None
    return None


def _note_session(metadata: int | bytes | None, found: Events) -> None:
    """Note hyperparameters, and the end of the session, of the HParams plug-in."""
    if not isinstance(metadata, bytes):
        return
    for plugin in messages(metadata, _PLUGIN_DATA):
        for content in messages(plugin, _PLUGIN_CONTENT):
            for start in messages(content, _SESSION_START):
                for entry in messages(start, 1):  # A map: each entry has a key and a google.protobuf.Value.
                    parts = dict(fields(entry))
                    key, value = parts.get(1), parts.get(2)
                    if isinstance(key, bytes) and isinstance(value, bytes):
                        found.parameters[_decoded(key)] = _protobuf_value(value)
            for end in messages(content, _SESSION_END):
                seconds = dict(fields(end)).get(2)
                if isinstance(seconds, bytes) and len(seconds) == _DOUBLE.size:
                    found.ended = _DOUBLE.unpack(seconds)[0]


def _protobuf_value(value: bytes) -> Any:
    for number, content in fields(value):
        if number == 2 and isinstance(content, bytes):
            return _DOUBLE.unpack(content)[0]
        if number == 3 and isinstance(content, bytes):
            return content.decode(errors="replace")
        if number == 4:
            return bool(content)
    return None


def _decoded(tag: bytes) -> str:
    return tag.decode(errors="replace")[:_LONGEST_TAG]


def _packed(value: int) -> bytes:
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def _varint(data: bytes) -> int:
    value = 0
    for shift, byte in enumerate(data):
        value |= (byte & 0x7F) << (7 * shift)
    return value if value < 2**63 else 0


def tags_of(events: Events) -> Iterator[str]:
    """Return the tags of scalars; those that the HParams plug-in needs for itself are left out."""
    return (tag for tag in events.values if not tag.startswith("_hparams_/"))
