"""Reads records of one scalar whose tags follow each other in no regular order."""

from __future__ import annotations

import re
import struct
from array import array
from itertools import accumulate
from typing import Final

from .scalar_records import FRAME, Layout

_LENGTH = struct.Struct("<Q")
_MOST_TAGS: Final = 60


class MixedRecords:
    """Reads records of known tags that follow each other."""

    def __init__(self) -> None:
        self._tags: dict[bytes, bytes] = {}
        self._pattern: re.Pattern[bytes] | None = None
        self._learned = False

    def learn(self, layout: Layout) -> None:
        """Note the tag of a record."""
        simple = layout.tag_at + len(layout.tag) + 1 == layout.value
        if not simple or layout.tag in self._tags or len(self._tags) >= _MOST_TAGS:
            return
        self._tags[layout.tag] = re.escape(bytes([len(layout.tag)]) + layout.tag)
        self._learned = True

    def read(self, content: bytes, at: int) -> tuple[int, list[tuple[bytes, array[float], list[int]]]]:
        """Read records; return the offset behind them, and tags with their values and the offsets of their records.

        Parameters
        ----------
        content
            Content of the file.
        at
            Begin of a record.
        """
        if self._learned:
            tags = b"|".join(self._tags.values())
            self._pattern = re.compile(
                rb"(.{8}).{4}\x09.{8}(?:\x10([\x80-\xff]{0,8}[\x00-\x7f]))?\x2a(.\x0a.)\x0a("
                + tags
                + rb")\x15(.{4}).{4}",
                re.DOTALL,
            )
            self._learned = False
        if self._pattern is None:
            return at, []
        rows = [match.groups() for match in iter(self._pattern.scanner(content, at).match, None)]  # type: ignore[attr-defined]
        kinds = [(length, len(step or b""), inner, tag) for length, step, inner, tag, _value in rows]
        sizes = {kind: _size(*kind) for kind in set(kinds)}
        if 0 in sizes.values():  # A record has other fields: it is read by itself.
            kinds = kinds[: next(number for number, kind in enumerate(kinds) if not sizes[kind])]
        offsets = list(accumulate(map(sizes.__getitem__, kinds), initial=at))
        by_tag: dict[bytes, tuple[list[bytes], list[int]]] = {}
        for row, offset in zip(rows, offsets, strict=False):  # The last offset is the end.
            values, records = by_tag.setdefault(row[3], ([], []))
            values.append(row[4])
            records.append(offset)
        return offsets[-1], [
            (tag[1:], array("f", struct.unpack(f"<{len(values)}f", b"".join(values))), records)
            for tag, (values, records) in by_tag.items()
        ]


def _size(length: bytes, step: int, inner: bytes, tag: bytes) -> int:
    """Return the size of a record, or 0 if its lengths do not fit.

    Parameters
    ----------
    length
        The length at its begin.
    step
        Size of the step; 0 without one.
    inner
        Length of the summary, a byte, length of the value.
    tag
        The tag, with its length before it.
    """
    value = 1 + len(tag) + 5
    payload = 9 + (1 + step if step else 0) + 4 + value
    fits = _LENGTH.unpack(length)[0] == payload and (inner[0], inner[2]) == (value + 2, value)
    return payload + FRAME if fits else 0
