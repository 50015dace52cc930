"""A local engine on a home of its own."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from jupyterlab_t9kjob.core.errors import Conflict
from tests.local.harness import Bench, carrying, make_engine


@pytest.fixture
def settings() -> dict[str, Any]:
    """Settings of the engine; a test file or class may override this."""
    return {}


@pytest_asyncio.fixture
async def bench(tmp_path: Path, settings: dict[str, Any]) -> AsyncIterator[Bench]:
    root = tmp_path / "work"
    root.mkdir()
    home = tmp_path / "home"
    engine = make_engine(home, root, **settings)
    await engine.start()
    bench = Bench(engine, home, root)
    engine.listen(bench.hear)
    yield bench
    for job in await bench.engine.jobs():
        if job.uid in bench.uids and "stop" in job.actions:
            with contextlib.suppress(Conflict):  # it has just ended
                await bench.engine.act(job.uid, "stop")
            await bench.ended(job.uid)
    await bench.engine.stop()
    for uid in bench.uids:
        assert carrying(uid) == []
