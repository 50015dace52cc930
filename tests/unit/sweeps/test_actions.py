"""Actions on all jobs of a sweep: a few at a time, and what one job does affects no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.sweep import SweepMember
from jupyterlab_t9kjob.jobs.bulk import AT_ONCE
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.metrics.reader import MetricReader
from jupyterlab_t9kjob.jobs.service import JobService
from jupyterlab_t9kjob.jobs.sweeps.service import SweepService
from tests.server.fakes import FakeEngine

pytestmark = pytest.mark.asyncio

JOBS = 40


class Watched(FakeEngine):
    """Counts the requests that it carries out at the same time, and fails in an odd way for some jobs."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.now = self.most = 0
        self.asked: list[str] = []
        self.odd: set[str] = set()

    async def act(self, uid: str, action: str, *, remove: bool = False) -> Job:
        name = self.known[uid].name
        self.asked.append(name)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(3):  # Others get their turn meanwhile.
            await asyncio.sleep(0)
        self.now -= 1
        if name in self.odd:
            raise ValueError("nobody thought of this")
        return await super().act(uid, action, remove=remove)


@pytest.fixture
def engine(tmp_path: Path) -> Watched:
    engine = Watched(tmp_path)
    for number in range(1, JOBS + 1):
        member = SweepMember(id="lr", name="lr", number=number, at_a_time=4)
        started = 1000.0 if number <= JOBS // 2 else None
        engine.put(
            f"lr-{number}",
            sweep=member,
            phase="Running" if started else "Pending",
            started_at=started,
            actions=["stop", "delete"],
        )
    return engine


@pytest.fixture
def service(engine: Watched) -> SweepService:
    engines = Engines({"local": engine})
    return SweepService(JobService(engines), MetricReader(engines))


@pytest.mark.parametrize("action", ["stop", "delete", "remove"])
async def test_a_few_at_a_time_and_those_that_have_not_started_first(
    action: str, engine: Watched, service: SweepService
) -> None:
    result = await (service.stop("lr") if action == "stop" else service.delete("lr", remove=action == "remove"))
    assert (len(result.jobs), result.problems) == (JOBS, [])
    assert engine.most == AT_ONCE
    waiting = {f"lr-{number}" for number in range(JOBS // 2 + 1, JOBS + 1)}
    assert set(engine.asked[: JOBS // 2]) == waiting


async def test_an_unexpected_error_of_one_job_is_a_problem_of_that_job(
    engine: Watched, service: SweepService, caplog: pytest.LogCaptureFixture
) -> None:
    engine.odd = {"lr-3", "lr-30"}
    result = await service.stop("lr")
    assert len(result.jobs) == JOBS - 2
    assert [(problem.name, problem.code) for problem in result.problems] == [
        ("lr-30", "Unexpected"),
        ("lr-3", "Unexpected"),
    ]
    assert "server's log" in result.problems[0].message
    assert "nobody thought of this" in caplog.text
