"""Work that is done again at every change: at once, and in rounds where changes come faster than it can be done."""

from __future__ import annotations

import asyncio
import time
from typing import Final

SHARE: Final = 4.0
"""What is done again rests so many times as long as it took."""


async def rest(begun: float, longest: float) -> None:
    """Rest after work, so that what changes meanwhile is done in one.

    A change that comes alone waits for nobody, and many of them leave most of the time to others.

    Parameters
    ----------
    begun
        When the work began (`time.monotonic`).
    longest
        Seconds that it rests at most.
    """
    await asyncio.sleep(min(longest, SHARE * (time.monotonic() - begun)))
