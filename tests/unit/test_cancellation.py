"""Tasks that run in loops end when they are cancelled, also at the moment of an event."""

from __future__ import annotations

import asyncio

import pytest

from jupyterlab_t9kjob.jobs.feed.feed import Feed
from jupyterlab_t9kjob.logs.serving.follow import JobLogs
from tests.patience import PATIENCE

STEPS = range(6)
"""Turns of the event loop between something that happens and the end."""


class Nothing:
    """Jobs, TensorBoards and engines where there are none."""

    @property
    def engines(self):
        return self

    def listen(self, _listener):
        return lambda: None

    async def jobs(self):
        return []

    async def list(self):
        return []

    async def infos(self):
        return []

    async def follow_logs(self, _ident, _grown):
        return lambda: None

    async def log_files(self, _ident):
        return []


async def ends(stop) -> bool:
    """Return True if a task ends."""
    _, running = await asyncio.wait({asyncio.ensure_future(stop)}, timeout=PATIENCE)
    return not running


@pytest.mark.parametrize("steps", STEPS)
async def test_the_feed_stops_just_when_the_engines_have_moved(steps: int):
    feed = Feed(Nothing(), Nothing(), Nothing())
    await feed.start()
    for _ in range(10):
        await asyncio.sleep(0)
    feed.read_engines_soon()
    for _ in range(steps):
        await asyncio.sleep(0)
    assert await ends(feed.stop())


@pytest.mark.parametrize("steps", STEPS)
async def test_logs_are_let_go_of_just_when_somebody_begins_to_follow(steps: int):
    logs = JobLogs(Nothing(), "local:1")
    await logs.start()
    for _ in range(10):
        await asyncio.sleep(0)
    follower = asyncio.create_task(logs.wait_for_growth(logs.grown.count))
    for _ in range(steps):
        await asyncio.sleep(0)
    assert await ends(logs.stop())
    follower.cancel()
