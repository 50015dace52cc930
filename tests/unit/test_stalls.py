"""Jobs without progress, by clocks that the tests set."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import pytest

from jupyterlab_t9kjob.core.job import Event, JobSummary, Progress
from jupyterlab_t9kjob.core.progress import ProgressReader
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.jobs.engines import Engines
from jupyterlab_t9kjob.jobs.stalls import Patience, StallWatch

pytestmark = pytest.mark.asyncio
ID = "local::train:u1"


def _step_text(step: int, steps: int) -> Text:
    reader = ProgressReader()
    reader.feed(f"step {step}/{steps}\n".encode())
    assert reader.reading is not None
    return reader.reading.text


class Machine:
    """An engine with one job, and the clocks."""

    def __init__(self) -> None:
        self.mono, self.wall = 1000.0, 1_800_000_000.0
        self.output: float | None = self.wall
        self.asked = 0
        self.at_events: list[float] = []
        self.shown: list[JobSummary] = []
        self.step = 0
        self.watch = StallWatch(
            cast("Engines", self), Patience(300.0, 600.0), clock=lambda: self.mono, wall_clock=lambda: self.wall
        )
        self.watch.listen(lambda _ident, job: self.shown.append(cast("JobSummary", job)))
        self.started = self.wall

    def listen(self, listener: Any) -> Callable[[], None]:
        return lambda: None

    def find(self, ident: str) -> tuple[Any, str]:
        return self, ident

    async def last_output(self, uid: str) -> float | None:
        self.asked += 1
        return self.output

    async def events(self, uid: str) -> list[Event]:
        return [Event(time=at, reason="x", message=Text.verbatim("x")) for at in self.at_events]

    def job(self, **more: Any) -> JobSummary:
        text = _step_text(self.step, 100) if self.step else None
        progress = Progress(text=text, updated_at=self.wall) if text is not None else None
        fields = {"phase": "Running", "created_at": 1.0, "running_since": self.started, "progress": progress, **more}
        return JobSummary(id=ID, engine="local", namespace="", name="train", uid="u1", **fields)

    def says(self, **more: Any) -> None:
        self.watch._heard(ID, self.job(**more))

    def steps(self, count: int, seconds: float) -> None:
        for _number in range(count):
            self.step += 1
            self.says()
            self.passes(seconds)

    def passes(self, seconds: float) -> None:
        self.mono += seconds
        self.wall += seconds

    async def stalled(self) -> str | None:
        await self.watch.check()
        stall = self.watch.stall_of(ID)
        return None if stall is None else f"{stall.kind} since {self.wall - stall.since:.0f} s"


async def test_a_step_of_five_minutes_after_short_steps() -> None:
    machine = Machine()
    machine.steps(20, 2.0)
    machine.passes(290)
    assert await machine.stalled() is None
    machine.passes(10)
    assert await machine.stalled() == "progress since 302 s"
    stalled = machine.shown[-1].stalled
    assert stalled is not None and stalled.kind == "progress"
    machine.says()  # The engine sends the same state again.
    assert machine.shown[-1].stalled == stalled
    machine.steps(1, 1.0)
    assert machine.shown[-1].stalled is None
    assert await machine.stalled() is None
    assert machine.asked == 0


async def test_after_the_last_step_of_an_epoch_output_counts() -> None:
    """No step is due while a model is evaluated or saved, or the training begins after a bar of another kind."""
    machine = Machine()
    machine.steps(100, 2.0)
    machine.passes(500)
    machine.output = machine.wall
    assert await machine.stalled() is None
    machine.passes(590)
    assert await machine.stalled() is None
    machine.passes(10)
    assert await machine.stalled() == "output since 600 s"


async def test_long_steps_have_ten_times_their_median() -> None:
    machine = Machine()
    machine.steps(10, 60.0)
    machine.passes(530)
    assert await machine.stalled() is None
    machine.passes(20)
    assert await machine.stalled() == "progress since 610 s"


async def test_silence_before_the_first_step_and_its_end() -> None:
    machine = Machine()
    machine.says()
    machine.passes(600)
    machine.output = machine.wall - 500
    assert await machine.stalled() is None
    machine.passes(101)
    assert await machine.stalled() == "output since 601 s"
    machine.output = machine.wall
    assert await machine.stalled() is None
    assert machine.shown[-1].stalled is None


async def test_an_event_is_a_sign_of_life() -> None:
    machine = Machine()
    machine.says()
    machine.passes(650)
    machine.at_events = [machine.wall - 30]
    assert await machine.stalled() is None
    machine.passes(600)
    assert await machine.stalled() == "output since 630 s"


async def test_a_clock_that_is_set_and_a_machine_that_sleeps_raise_nothing() -> None:
    machine = Machine()
    machine.steps(5, 2.0)
    machine.wall += 7200  # The clock was set, or the machine slept: the monotonic clock did not go on.
    assert await machine.stalled() is None
    quiet = Machine()
    quiet.says()
    quiet.passes(601)
    quiet.output = quiet.wall - 1
    assert await quiet.stalled() is None
    quiet.wall += 7200
    assert await quiet.stalled() is None


@pytest.mark.parametrize(
    "change",
    [
        {"phase": "Paused"},
        {"phase": "Failed"},
        {"attempt": 2},
        {"restarts": 1},
    ],
)
async def test_a_pause_an_end_and_a_restart_begin_anew(change: dict[str, Any]) -> None:
    machine = Machine()
    machine.steps(5, 2.0)
    machine.passes(400)
    assert await machine.stalled() is not None
    machine.says(**change)
    assert machine.shown[-1].stalled is None
    machine.passes(1000)
    machine.step = 0
    machine.says(**({"phase": "Running"} if "phase" in change else change))
    machine.output = machine.wall
    assert await machine.stalled() is None


async def test_a_server_that_starts_finds_a_silent_job() -> None:
    machine = Machine()
    machine.passes(3600)
    machine.says()
    assert await machine.stalled() == "output since 3600 s"


async def test_a_server_that_starts_knows_since_when_a_job_with_steps_is_silent() -> None:
    machine = Machine()
    machine.step = 29
    machine.passes(1800)
    machine.output = machine.wall
    machine.passes(3600)
    machine.says()
    assert await machine.stalled() is None  # The report may be new: the time of a report is not known.
    machine.passes(600)
    assert await machine.stalled() == "output since 4200 s"
    machine.passes(60)
    assert await machine.stalled() == "output since 4260 s"
    machine.output = machine.wall
    assert await machine.stalled() is None


async def test_a_log_that_is_not_followed_says_nothing() -> None:
    machine = Machine()
    machine.says()
    machine.output = None
    machine.passes(3600)
    assert await machine.stalled() is None


async def test_a_thousand_jobs_cost_little() -> None:
    machine = Machine()
    template: Callable[..., JobSummary] = machine.job
    for number in range(1000):
        job = template().model_copy(update={"id": f"local::train:u{number}"})
        for step in range(100):
            progress = Progress(text=Text.verbatim(f"Step {step}"), updated_at=1.0)
            machine.watch.note(job.id, job.model_copy(update={"progress": progress}))
            machine.mono += 0.001
    begun = time.process_time()
    await machine.watch.check()
    assert time.process_time() - begun < 5
