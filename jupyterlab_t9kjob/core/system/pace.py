"""Throttles work that is repeated at every change, when changes come faster than the work can be done."""

from __future__ import annotations

import asyncio
import time
from typing import Final

SHARE: Final = 4.0
"""Duration of the rest after a round of work, as a multiple of the work's own duration."""


async def rest(begun: float, longest: float) -> None:
    """Sleep after a round of work, so that the next round handles all changes that come meanwhile.

    The first change is handled at once. Under many changes, the work takes at most a fifth of the time.

    Parameters
    ----------
    begun
        Start of the work, by the monotonic clock.
    longest
        Longest sleep, in seconds.
    """
    await asyncio.sleep(min(longest, SHARE * (time.monotonic() - begun)))
