"""The log of a job that ends before its streams are listed a second time, or long before its log has arrived."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.client import log_lines
from jupyterlab_t9kjob.client.log_lines import LogChoice, read_lines
from jupyterlab_t9kjob.core.job import JobSummary, LogStream, job_id
from jupyterlab_t9kjob.logs.serving.model import LogLine

STREAM = LogStream(id="out", replica="worker-0", attempt=1, source="rank", rank=0, size=6, complete=True)
JOB = JobSummary(
    id=job_id("local", "", "a", "u"), engine="local", namespace="", name="a", uid="u", phase="Pending", created_at=0.0
)
ENDED = JOB.model_copy(update={"phase": "Succeeded"})


class Logs:
    """Logs that are listed only on request, of a job that ends while they are waited for."""

    def __init__(self, end: Callable[[], None]) -> None:
        self.streams: list[LogStream] = []
        self.grown = SimpleNamespace(count=0)
        self._end = end

    async def refresh(self) -> None:
        self.streams = [STREAM]

    async def wait_for_growth(self, _count: int) -> None:
        self._end()

    async def page(self, streams: list[str], anchor: Any, _direction: str, _limit: int) -> Any:
        new = bool(streams) and (anchor == "start" or not anchor.get("out"))
        lines = [LogLine(stream="out", offset=0, size=6, text="short")] if new else []
        return SimpleNamespace(lines=lines, before={}, after={"out": 6} if streams else {}, at_end=True)


class SlowLogs(Logs):
    """Logs of a job that has ended, of which a line arrives at each look."""

    LINES = 6

    def __init__(self, end: Callable[[], None]) -> None:
        super().__init__(end)
        self.looks = 0

    async def refresh(self) -> None:
        self.streams = [STREAM.model_copy(update={"complete": self.looks > self.LINES})]

    async def page(self, streams: list[str], anchor: Any, _direction: str, _limit: int) -> Any:
        if anchor == "start":
            return SimpleNamespace(lines=[], before={"out": 0}, after={"out": 0}, at_end=True)
        self.looks += 1
        number = min(self.looks, self.LINES)
        lines = [LogLine(stream="out", offset=number, size=1, text=str(number))] if anchor["out"] < number else []
        return SimpleNamespace(lines=lines, before={}, after={"out": number}, at_end=True)


def followed(logs: Logs, listeners: list[Callable[[str, JobSummary], None]], found: JobSummary) -> list[str]:
    """Return the lines that a command prints that follows a job."""

    def listen(listener: Callable[[str, JobSummary], None]) -> Callable[[], None]:
        listeners.append(listener)
        return listeners.clear

    async def job(_ident: str) -> JobSummary:
        return found

    @contextlib.asynccontextmanager
    async def subscribe(_ident: str) -> AsyncIterator[Logs]:
        yield logs

    session: Any = SimpleNamespace(
        logs=SimpleNamespace(subscribe=subscribe), jobs=SimpleNamespace(listen=listen, job=job)
    )

    async def follow() -> list[str]:
        return [line.text async for _stream, line in read_lines(session, JOB, LogChoice(follow=True))]

    return asyncio.run(follow())


@pytest.mark.parametrize("known", [True, False], ids=["ends while it is followed", "has ended before"])
def test_a_short_job_shows_its_lines(known: bool) -> None:
    listeners: list[Callable[[str, JobSummary], None]] = []
    logs = Logs(lambda: listeners[0](JOB.id, ENDED))
    assert followed(logs, listeners, JOB if known else ENDED) == ["short"]


def test_a_long_log_is_whole_although_its_job_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "LAST_SECONDS", 0.0)
    lines = followed(SlowLogs(lambda: None), [], ENDED)
    assert lines == [str(number) for number in range(1, SlowLogs.LINES + 1)]
