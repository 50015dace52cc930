"""Parts for ZIP files that are made in chunks while they are sent."""

from __future__ import annotations

import io

EARLIEST = (1980, 1, 1, 0, 0, 0)
"""Earliest time that a ZIP file can store."""


class Sink(io.RawIOBase):
    """Buffer of the ZIP writer's output, which `take` empties."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: object) -> int:
        """Add bytes to the buffer."""
        piece = bytes(data)  # type: ignore[call-overload]
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        """Return the bytes in the buffer, and empty it."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
