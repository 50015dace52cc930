"""What a node may have dropped of a log when it began a new file for it.

A kubelet begins a new file at 10 MiB and gives only the newest one. Who follows is handed from one to the next, but
what the container's runtime still writes into the old one after that, or a whole file for one who is slow, is passed
over without a word [seen on 1.34 with containerd]. What can be known is when the newest file begins.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from ....logs.storage.index import TimeIndex
from ....logs.storage.spool import INDEX_SUFFIX, Gap, Spool
from ....logs.storage.stamped import SECOND

UNFOLLOWED: Final = (
    "Lines may be missing here: nobody followed this log meanwhile, and its node keeps only the newest part."
)
ROTATED: Final = "Lines may be missing here: its node began a new file for this log, faster than it could be followed."
BEFORE: Final = "Lines may be missing before this: its node keeps only the newest part of a log."

FILE_BYTES: Final = 10 * 1024 * 1024
MOST_QUIET: Final = 3.0
"""So many times the usual distance of two lines is nothing to wonder about."""
_WINDOWS: Final = (1024 * 1024, FILE_BYTES)
"""Bytes; a log is judged by its busiest beginning."""

Ask = Callable[[], Coroutine[Any, Any, "int | None"]]


class Rotations:
    """Notices while a log is followed that the node has begun a new file.

    Parameters
    ----------
    ask
        Asks when the newest file begins, nanoseconds; None if it has nothing.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asked_at = 0
        self._asking: asyncio.Task[int | None] | None = None
        self._begun: set[int] = set()
        self._passed: set[int] = set()

    async def gaps(self, spool: Spool, *, ended: bool = False) -> list[Gap]:
        """Return where lines may have been passed over; to be called as the spool grows, and at its end."""
        if self._asking is not None and (ended or self._asking.done()):
            begun = (await asyncio.gather(self._asking, return_exceptions=True))[0]
            self._asking = None
            if isinstance(begun, int) and begun not in self._passed:
                self._begun.add(begun)
        if self._asking is None and spool.taken - self._asked_at >= FILE_BYTES:
            self._asked_at = spool.taken
            self._asking = asyncio.create_task(self._ask())
            if ended:
                return await self.gaps(spool, ended=True)
        found = []
        for begun in sorted(self._begun):
            if spool.last is None or spool.last < begun:
                break
            self._begun.discard(begun)
            self._passed.add(begun)
            gap = await asyncio.to_thread(_gap_before, spool, begun)
            if gap is not None:
                found.append(gap)
        return found

    def stop(self) -> None:
        """Ask no more."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None


def _gap_before(spool: Spool, begun: int) -> Gap | None:
    """Return what may be missing before a file's first line; None where lines go on as they did before."""
    times = [time for time, _ in spool.recent()]
    ends = [end for _, end in spool.recent()]
    if begun not in times:
        return None  # a line that began in the old file ends in the new one: nothing is between them
    place = times.index(begun)
    if place == 0:
        return None
    before = times[place - 1]
    near = [time for time in times[:place] if before - SECOND <= time <= before]
    usual = (near[-1] - near[0]) / (len(near) - 1) if len(near) > 1 else SECOND
    if begun - before <= MOST_QUIET * max(usual, 1):
        return None
    return Gap(ends[place - 1], before, begun)


def lost_start(path: Path, started_at: float | None, asked_at: float) -> Gap | None:
    """Return what may be missing before the first line of a log that was first asked for late (blocking).

    As much as a whole file must have fitted between the container's start and that line, had it written as much then as
    later.

    Parameters
    ----------
    path
        The log.
    started_at, asked_at
        When its container began, and when its log was first asked for; seconds since the epoch.
    """
    times = TimeIndex(path.with_name(path.name + INDEX_SUFFIX))
    times.refresh()
    first = times.time_at(0)
    if started_at is None or first is None or first >= asked_at:
        return None
    if max(_rate(times, first, window) for window in _WINDOWS) * (first - started_at) < FILE_BYTES / 2:
        return None
    return Gap(0, int(started_at * SECOND), int(first * SECOND))


def _rate(times: TimeIndex, first: float, window: int) -> float:
    """Return how fast a log's beginning was written, bytes a second."""
    size = min(times.size, window)
    return size / max(1.0, (times.time_at(size - 1) or first) - first)
