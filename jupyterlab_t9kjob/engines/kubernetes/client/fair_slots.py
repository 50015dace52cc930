"""Limit of the logs that are followed at the same time; more logs take turns, in the order of their requests."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator

HOLD_SECONDS = 20.0
"""Least time for which a holder keeps its slot while others wait."""
CHECK_SECONDS = 1.0
"""Interval between two checks of a waiting task for holders that can give back their slots."""


class Slot:
    """One slot.

    Attributes
    ----------
    asked_back
        Set when other tasks wait and the slot was held for `HOLD_SECONDS`; the holder can release it without loss.
    """

    def __init__(self) -> None:
        self.asked_back = asyncio.Event()
        self.since = time.monotonic()


class Slots:
    """A number of slots, first come, first served.

    Parameters
    ----------
    number
        Number of slots.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._held: deque[Slot] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[Slot]:
        """Wait for a slot and hold it."""
        await self._wait()
        slot = Slot()
        self._held.append(slot)
        try:
            yield slot
        finally:
            self._held.remove(slot)
            self._pass_on()

    async def _wait(self) -> None:
        if self._free > 0:
            self._free -= 1
            return
        granted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(granted)
        try:
            while not granted.done():
                self._ask_back()
                await asyncio.wait({granted}, timeout=CHECK_SECONDS)
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self._pass_on()
            else:
                self._waiting.remove(granted)
            raise

    def _ask_back(self) -> None:
        """Ask back as many slots as tasks wait, those that were held for `HOLD_SECONDS`."""
        now = time.monotonic()
        asked = sum(slot.asked_back.is_set() for slot in self._held)
        for slot in self._held:
            if asked >= len(self._waiting):
                break
            if not slot.asked_back.is_set() and now - slot.since >= HOLD_SECONDS:
                slot.asked_back.set()
                asked += 1

    def _pass_on(self) -> None:
        while self._waiting:
            granted = self._waiting.popleft()
            if not granted.done():
                granted.set_result(None)
                return
        self._free += 1
