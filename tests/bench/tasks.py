"""The tasks of a page's main thread, by the clock and by the CPU time that they take."""

from __future__ import annotations

import json
import multiprocessing
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Browser, Page

LONG = 50.0
"""Milliseconds of a long task, as the web's Long Tasks API has it."""


@dataclass(frozen=True)
class Tasks:
    """The milliseconds of all tasks of one recording.

    Attributes
    ----------
    clock
        By the clock: on a machine that does other things as well, this counts how long the page waited for a processor.
    cpu
        The CPU time of the same tasks.
    """

    clock: tuple[float, ...]
    cpu: tuple[float, ...]


def record(browser: Browser, page: Page, act: Callable[[], None]) -> Tasks:
    """Return the tasks of the page's main thread while something is done, and half a second after it."""
    browser.start_tracing(page=page, categories=["toplevel"])
    act()
    page.wait_for_timeout(500)  # what it has asked for comes and is drawn
    events = json.loads(browser.stop_tracing())["traceEvents"]
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    tasks = [
        event
        for event in events
        if event["name"].endswith("::RunTask") and "dur" in event and (event["pid"], event["tid"]) in mains
    ]
    return Tasks(tuple(task["dur"] / 1000 for task in tasks), tuple(task.get("tdur", 0) / 1000 for task in tasks))


def describe(runs: Sequence[Tasks]) -> str:
    """Return in words what the worst of several runs had, and the median of their CPU time."""

    def of(name: str, times: Callable[[Tasks], tuple[float, ...]]) -> str:
        over = max(sum(time > LONG for time in times(run)) for run in runs)
        longest = max(max(times(run), default=0) for run in runs)
        return f"{over} tasks over {LONG:.0f} ms {name}, longest {longest:.0f} ms"

    total = statistics.median(sum(run.cpu) for run in runs)
    worst = f"{of('of CPU', lambda run: run.cpu)}; {of('by the clock', lambda run: run.clock)}"
    return f"{worst}; {total:.0f} ms of CPU in all"


def _spin() -> None:
    while True:
        pass


@contextmanager
def busy(loaded: bool) -> Iterator[None]:
    """Keep every core busy with a process of its own, if the machine is to be loaded."""
    processes = [multiprocessing.Process(target=_spin, daemon=True) for _ in range((os.cpu_count() or 1) * loaded)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join()
