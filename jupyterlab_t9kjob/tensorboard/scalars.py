"""Scalars in event files, read on from the offset of the last call."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .event_records import CHECKSUM_BYTES, HEADER_BYTES, SUMMARY, VALUE, NotEvents, fields, messages, read_record
from .events import find_event_files

MAX_SECONDS: Final = 0.5
"""Time for which one call reads."""
MOST_SERIES: Final = 300
MOST_POINTS: Final = 4096
"""Points of a series; from a longer one, every second point is dropped."""

_STEP = 2  # Number of the field in the message `Event`.
_TAG, _SIMPLE_VALUE, _TENSOR = 1, 2, 8  # Numbers of fields in the message `Summary.Value`.
_DTYPE, _CONTENT, _FLOATS, _FLOAT = 1, 4, 5, 1  # Numbers of fields in the message `TensorProto`; its type “float”.
_SINGLE = struct.Struct("<f")


@dataclass
class Scalars:
    """Scalars of the event files below log directories.

    Attributes
    ----------
    series
        Values by step, by name: the tag, after the folder of the event file within its log directory (``val/loss``).
    complete
        False if the last call did not reach the end of all files.
    """

    series: dict[str, dict[int, float]] = field(default_factory=dict)
    complete: bool = True
    _offsets: dict[str, int] = field(default_factory=dict)
    _damaged: set[str] = field(default_factory=set)

    def read(self, log_dirs: Sequence[Path]) -> None:
        """Read what was appended since the last call (blocking). Files that can't be read are skipped."""
        end = time.monotonic() + MAX_SECONDS
        found = find_event_files(log_dirs)
        self.complete = found.complete
        for path, size in sorted(found.files):
            if path in self._damaged or size <= self._offsets.get(path, 0):
                continue
            try:
                self.complete = self._read_file(path, _folder(path, log_dirs), end) and self.complete
            except NotEvents:
                self._damaged.add(path)
            except OSError:  # The next call tries again.
                self.complete = False

    def _read_file(self, path: str, prefix: str, end: float) -> bool:
        with Path(path).open("rb") as opened:
            opened.seek(self._offsets.get(path, 0))
            while time.monotonic() < end:
                record = read_record(opened)
                if record is None:
                    return True
                length, data = record
                for step, tag, value in scalars_of(data) if data is not None else ():
                    self._add(f"{prefix}{tag}", step, value)
                self._offsets[path] = self._offsets.get(path, 0) + HEADER_BYTES + length + CHECKSUM_BYTES
        return False

    def _add(self, name: str, step: int, value: float) -> None:
        if name not in self.series and len(self.series) >= MOST_SERIES:
            return
        points = self.series.setdefault(name, {})
        points[step] = value
        if len(points) > MOST_POINTS:
            for each in sorted(points)[1:-1:2]:
                del points[each]


def scalars_of(event: bytes) -> Iterator[tuple[int, str, float]]:
    """Yield step, tag and value of the scalars in an event.

    Raises
    ------
    NotEvents
        If the bytes are no event.
    """
    step = next((value for number, value in fields(event) if number == _STEP and isinstance(value, int)), 0)
    for summary in messages(event, SUMMARY):
        for message in messages(summary, VALUE):
            parts = dict(fields(message))
            tag, simple, tensor = parts.get(_TAG), parts.get(_SIMPLE_VALUE), parts.get(_TENSOR)
            value = simple if isinstance(simple, bytes) else _of_tensor(tensor) if isinstance(tensor, bytes) else None
            if isinstance(tag, bytes) and value is not None and len(value) == _SINGLE.size and step < 2**63:
                yield step, tag.decode(errors="replace"), _SINGLE.unpack(value)[0]


def _of_tensor(tensor: bytes) -> bytes | None:
    """Return the bytes of a tensor of one float; None for other tensors."""
    parts = dict(fields(tensor))
    value = parts.get(_CONTENT) or parts.get(_FLOATS)
    return value if parts.get(_DTYPE) == _FLOAT and isinstance(value, bytes) else None


def _folder(path: str, log_dirs: Sequence[Path]) -> str:
    """Return the folder of an event file within its log directory, with a slash at the end; empty for the top."""
    for top in log_dirs:
        if Path(path).is_relative_to(top):
            relative = Path(path).parent.relative_to(top).as_posix()
            return "" if relative == "." else f"{relative}/"
    return ""
