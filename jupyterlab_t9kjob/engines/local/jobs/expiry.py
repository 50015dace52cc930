"""Removes the records and logs of jobs that ended long ago."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time

from ....core.errors import NotFound, Unavailable
from .store import Store
from .store_thread import StoreThread

log = logging.getLogger(__name__)

CLEANING_SECONDS = 600.0
"""Interval between removals of expired records."""
JUMP_SECONDS = 60.0
"""Largest difference between time of day and monotonic clock in a round of cleaning that removes records."""


async def remove_expired(store: Store, thread: StoreThread, keep_seconds: float) -> None:
    """Remove expired records in rounds, until cancelled; a round in which the time of day jumped removes none.

    A jump can also happen in the first round, since a machine's clock may be wrong until the network sets it.

    Parameters
    ----------
    store
        The jobs.
    thread
        Thread of the store.
    keep_seconds
        How long a record is kept after the end of its job.
    """
    wall, steady = time.time(), time.monotonic()
    while True:
        await asyncio.sleep(CLEANING_SECONDS)
        since, begun = wall, steady
        wall, steady = time.time(), time.monotonic()
        if abs((wall - since) - (steady - begun)) <= JUMP_SECONDS:
            await _remove_ended_before(store, thread, wall - keep_seconds)


async def _remove_ended_before(store: Store, thread: StoreThread, when: float) -> None:
    try:
        for uid in await thread.call(store.ended_before, when):
            with contextlib.suppress(NotFound):  # Another server has removed it.
                await thread.call(store.remove, uid)
    except (OSError, Unavailable) as error:  # A read-only disk, for example.
        log.warning("Old records of jobs could not be removed: %s", error)
