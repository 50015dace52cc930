"""Detects lines that a node may have skipped when it rotated a log.

A kubelet starts a new log file at 10 MiB and serves only the newest file. A follower is switched to the new file, but
lines that the container runtime still writes to the old file are skipped silently, and so is a whole file if the
follower is slow (seen on 1.34 with containerd). The start time of the newest file can be requested.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

from ....core.system.disk_threads import on_disk
from ....core.translation import _
from ....logs.storage.index import TimeIndex
from ....logs.storage.spool import INDEX_SUFFIX, Gap, Spool
from ....logs.storage.stamped import SECOND

UNFOLLOWED: Final = _(
    "Lines may be missing here: no lab followed this log at that time, and the node keeps only the newest part."
)
ROTATED: Final = _(
    "Lines may be missing here: the node started a new file for this log faster than the log could be followed."
)
BEFORE: Final = _("Lines may be missing before this point: the node keeps only the newest part of a log.")

FILE_BYTES: Final = 10 * 1024 * 1024
"""Size at which a kubelet starts a new file."""
MOST_QUIET: Final = 3.0
"""A pause between two lines of up to this many times the usual one is no sign of missing lines."""
_WINDOWS: Final = (1024 * 1024, FILE_BYTES)
"""Sizes in bytes of the beginnings of a log by which its output rate is estimated; the highest rate counts."""

Ask = Callable[[], Coroutine[Any, Any, "int | None"]]
"""Returns the start time of the newest file in nanoseconds since the epoch; None if the file is empty."""


class Rotations:
    """Detects rotations of a log that is followed.

    Parameters
    ----------
    ask
        Requests the start time of the newest file.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._asked_at = 0
        self._asking: asyncio.Task[int | None] | None = None
        self._begun: set[int] = set()
        self._passed: set[int] = set()

    async def gaps(self, spool: Spool, *, ended: bool = False) -> list[Gap]:
        """Return the gaps in which lines may be missing; to be called as the spool grows, and at its end.

        Parameters
        ----------
        spool
            The spool of the log.
        ended
            True at the end of the log.
        """
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
        """Cancel the pending request."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None


def _gap_before(spool: Spool, begun: int) -> Gap | None:
    """Return the gap before the first line of a new file; None if the lines continue without a long pause.

    Parameters
    ----------
    spool
        The spool of the log.
    begun
        Start time of the new file in nanoseconds since the epoch.
    """
    times = [time for time, _end in spool.recent()]
    ends = [end for _time, end in spool.recent()]
    if begun not in times:
        return None  # A line that began in the old file ends in the new one, so nothing is missing.
    position = times.index(begun)
    if position == 0:
        return None
    before = times[position - 1]
    near = [time for time in times[:position] if before - SECOND <= time <= before]
    usual = (near[-1] - near[0]) / (len(near) - 1) if len(near) > 1 else SECOND
    if begun - before <= MOST_QUIET * max(usual, 1):
        return None
    return Gap(ends[position - 1], before, begun)


class LostStart:
    """Detects that a log that was first requested late lacks its beginning.

    There is a gap before the first line if, at its later output rate, the container wrote at least half a file between
    its start and that line. The rate is estimated again whenever the log has doubled: the first answer may be slow.
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._asked_at = 0.0
        self._judged = 0

    def asked(self, path: Path, size: int) -> None:
        """Note that a log is requested now; the last request counts before which nothing of the log was there.

        Parameters
        ----------
        path
            The log.
        size
            Its size in bytes.
        """
        if size == 0:
            self._path, self._asked_at, self._judged = path, time.time(), 0

    async def gaps(self, path: Path, size: int, started_at: float | None, *, ended: bool = False) -> list[Gap]:
        """Return the gap, once, when it is found; an empty list before, and if there is none.

        Parameters
        ----------
        path
            The log.
        size
            Its size in bytes.
        started_at
            Start of the container in seconds since the epoch.
        ended
            True at the end of the log.

        Raises
        ------
        DiskSilent
            If the disk with the log does not answer.
        """
        due = size > 0 and self._judged < FILE_BYTES and (ended or size >= 2 * self._judged)
        if path != self._path or not due:
            return []
        gap = await on_disk(path, _gap_at_start, path, started_at, self._asked_at)
        self._judged = size
        if gap is None:
            return []
        self._path = None
        return [gap]


def _gap_at_start(path: Path, started_at: float | None, asked_at: float) -> Gap | None:
    """Return the gap before the first line of a log (blocking).

    Parameters
    ----------
    path
        The log.
    started_at
        Start of the container in seconds since the epoch.
    asked_at
        Time of the first request in seconds since the epoch.
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
    """Return the output rate at the beginning of a log, in bytes per second.

    Parameters
    ----------
    times
        Index of the log.
    first
        Time of the first line in seconds since the epoch.
    window
        Size of the beginning in bytes.
    """
    size = min(times.size, window)
    return size / max(1.0, (times.time_at(size - 1) or first) - first)
