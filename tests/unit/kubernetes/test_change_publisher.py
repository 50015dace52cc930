"""When jobs that wait are looked at again."""

import asyncio
from collections import Counter
from collections.abc import Mapping

import anyio
import pytest

from jupyterlab_t9kjob.engines.kubernetes.jobs import change_publisher
from jupyterlab_t9kjob.engines.kubernetes.jobs.change_publisher import ChangePublisher
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio


async def test_all_that_wait_have_their_turn_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_publisher, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(change_publisher, "TICK_SECONDS_PER_JOB", 0.0)
    monkeypatch.setattr(change_publisher, "TICK_JOBS", 3)
    # else a round rests, and gathers, by how long telling took
    monkeypatch.setattr(change_publisher, "ROUND_SECONDS", 0.0)
    told = Counter[str]()
    sizes: list[int] = []
    came = asyncio.Event()

    async def tell(due: Mapping[str, bool]) -> None:
        told.update(list(due))
        sizes.append(len(due))
        came.set()

    async def until_told(*uids: str, times: int) -> None:
        with anyio.fail_after(PATIENCE):
            while any(told[uid] < times for uid in uids):
                came.clear()
                await came.wait()

    table = ChangePublisher(tell, before=lambda: None)
    table.waiting = {str(number) for number in range(10)}
    table.start()
    await until_told(*table.waiting, times=2)
    assert max(told.values()) - min(told.values()) <= 1
    table.waiting.add("new")
    await until_told("new", times=1)
    assert max(sizes) == 3
    table.waiting.clear()
    await table.stop()
