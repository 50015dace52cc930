"""Parts for ZIP files that are made in chunks while they are sent."""

from __future__ import annotations

import io
import time
from typing import Final

_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
_LATEST: Final = (2107, 12, 31, 23, 59, 58)


def zip_time(seconds: float) -> tuple[int, int, int, int, int, int]:
    """Return a time, in seconds since the epoch, as a ZIP file stores it: the nearest of the years 1980 to 2107."""
    try:
        moment = time.localtime(seconds)[:6]
    except (OverflowError, OSError, ValueError):  # The time is outside the system's range.
        return _LATEST if seconds > 0 else _EARLIEST
    return min(max(moment, _EARLIEST), _LATEST)


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
