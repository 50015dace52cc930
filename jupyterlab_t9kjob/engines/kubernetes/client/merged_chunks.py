"""Turns the many small chunks of an HTTP answer into few large ones, before an HTTP library reads them.

An API server sends a log with a chunk for each line. In h11, httpcore and httpx, handling a chunk takes many times as
long as handling its line. The sizes of chunks mean nothing (RFC 9112, section 7.1).
"""

from __future__ import annotations

import re
from typing import Final, Literal

_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,15})\r\n")
_LONGEST_SIZE: Final = 17
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)
_UPGRADED: Final = b"HTTP/1.1 101"
"""Start of the answer after which the connection no longer speaks HTTP."""
_INFORMATION: Final = b"HTTP/1.1 1"
"""Start of an informational answer, which precedes the final one."""
_MOST_HEAD: Final = 128 * 1024


class MergedChunks:
    """The bytes that a server sends on one connection.

    All other bytes, and malformed chunks, are passed on unchanged; the HTTP library reports the error.
    """

    def __init__(self) -> None:
        self._part: Literal["head", "chunks", "other", "upgraded"] = "head"
        self.begin()

    def begin(self) -> None:
        """Expect the head of the next answer; to be called when something is sent."""
        if self._part == "upgraded":
            return
        self._part = "head"
        self._held = b""  # The start of a head, or of the size or the end of a chunk.
        self._left = 0  # Bytes of the chunk that have not come.
        self._ends = False  # True if the chunk's end, a line break, comes next.

    def feed(self, data: bytes) -> bytes:
        """Return the next bytes with the chunks that they contain as one; it may be empty before the end."""
        if self._part == "chunks":
            return self._merged(data)
        return self._after_head(data) if self._part == "head" else data

    def _after_head(self, data: bytes) -> bytes:
        known = len(self._held)
        self._held += data
        end = self._held.find(b"\r\n\r\n") + 4
        if end < 4:
            if len(self._held) > _MOST_HEAD:
                self._part, self._held = "other", b""
            return data
        head, self._held = self._held[:end], b""
        before, body = data[: end - known], data[end - known :]
        if head.startswith(_UPGRADED):
            self._part = "upgraded"
            return data
        if head.startswith(_INFORMATION):
            return before + self._after_head(body)
        self._part = "chunks" if _CHUNKED.search(head) else "other"
        return before + self.feed(body)

    def _merged(self, data: bytes) -> bytes:
        if self._held:
            data, self._held = self._held + data, b""
        parts: list[bytes] = []
        place, size = 0, len(data)
        while place < size:
            if self._left:
                part = data[place : place + self._left]
                parts.append(part)
                place += len(part)
                self._left -= len(part)
                self._ends = self._left == 0
            elif self._ends:
                end = data[place : place + 2]
                if end == b"\r":
                    break
                if end != b"\r\n":
                    # A line break in place of a size is an error too.
                    return self._as_it_is(parts, b"\r\n" + data[place:])
                place += 2
                self._ends = False
            else:
                match = _SIZE.match(data, place)
                if match is None and size - place < _LONGEST_SIZE and b"\n" not in data[place:]:
                    break
                if match is None or (length := int(match[1], 16)) == 0:
                    return self._as_it_is(parts, data[place:])
                start = match.end()
                if data.startswith(b"\r\n", start + length):
                    parts.append(data[start : start + length])
                    place = start + length + 2
                else:
                    place, self._left = start, length
        self._held = data[place:]
        return _chunk(parts)

    def _as_it_is(self, parts: list[bytes], rest: bytes) -> bytes:
        """Return the chunks so far, and after them the end of the answer or what is wrong in it."""
        self._part = "other"
        return _chunk(parts) + rest


def _chunk(parts: list[bytes]) -> bytes:
    data = b"".join(parts)
    return b"%x\r\n%b\r\n" % (len(data), data) if data else b""
