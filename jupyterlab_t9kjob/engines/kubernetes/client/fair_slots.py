"""How many logs are followed at the same time: so many get a turn, and who waits gets the next one in order."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncIterator

HOLD_SECONDS = 20.0
"""How long one may be sure of its turn while others wait."""


class Slot:
    """A turn.

    Attributes
    ----------
    asked_back
        Set when others wait and it was held long enough: nothing is lost by giving it back.
    """

    def __init__(self) -> None:
        self.asked_back = asyncio.Event()
        self.since = time.monotonic()


class Slots:
    """A number of turns, first come first served.

    Parameters
    ----------
    number
        How many at the same time.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._held: deque[Slot] = deque()
        self._waiting: deque[asyncio.Future[None]] = deque()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[Slot]:
        """Wait for a turn."""
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
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            while not place.done():
                left = self._ask_back()
                await asyncio.wait({place}, timeout=left)
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._pass_on()
            else:
                self._waiting.remove(place)
            raise

    def _ask_back(self) -> float:
        """Ask as many holders as there are waiting for their turns; returns when to look again."""
        now = time.monotonic()
        asked = sum(slot.asked_back.is_set() for slot in self._held)
        for slot in self._held:
            if asked >= len(self._waiting):
                break
            if not slot.asked_back.is_set() and now - slot.since >= HOLD_SECONDS:
                slot.asked_back.set()
                asked += 1
        return 1.0

    def _pass_on(self) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self._free += 1
