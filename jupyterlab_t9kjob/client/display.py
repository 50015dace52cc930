"""The display of a job in a notebook's cell: a few lines of HTML that are updated until the job ends."""

from __future__ import annotations

import asyncio
import html
import time
from collections.abc import Callable
from typing import Any, Final

from ..core.job import JobSummary
from ..core.texts.states import STATES
from ..core.texts.wording import duration
from ..core.translation import _, translated
from .session import Session
from .times import ran_seconds
from .waiting import wait_for

COLORS: Final = {
    "Running": "var(--jp-info-color1, #1976d2)",
    "Succeeded": "var(--jp-success-color1, #388e3c)",
    "Failed": "var(--jp-error-color1, #d32f2f)",
    "Stopped": "var(--jp-ui-font-color2, #757575)",
}
OTHER: Final = "var(--jp-warn-color1, #f57c00)"
INTERVAL: Final = 1.0
"""Shortest time between two updates of a cell, in seconds: each is stored in the notebook."""


def show(
    session: Session, loop: asyncio.AbstractEventLoop, job: JobSummary, ended: Callable[[JobSummary], None]
) -> None:
    """Show a job in the cell that runs, and update it in the background until the job ends.

    Parameters
    ----------
    session
        The services.
    loop
        The event loop on which they run.
    job
        The job.
    ended
        Called with the job's last state.
    """
    from IPython.display import display

    shown: Any = display(data(job), raw=True, display_id=True)  # type: ignore[no-untyped-call]
    if shown is not None:
        asyncio.run_coroutine_threadsafe(_update(session, job, shown, ended), loop)


async def _update(session: Session, job: JobSummary, shown: Any, ended: Callable[[JobSummary], None]) -> None:
    cell = _Cell(shown, data(job))
    try:
        final = await wait_for(session, job, show=cell.note)
    finally:
        cell.close()
    ended(final)
    shown.update(data(final), raw=True)


class _Cell:
    """The display in a cell. It shows each state within `INTERVAL`; states that come together are one update.

    Parameters
    ----------
    shown
        IPython's handle of the display.
    drawn
        What it shows.
    """

    def __init__(self, shown: Any, drawn: dict[str, str]) -> None:
        self._shown, self._drawn = shown, drawn
        self._job: JobSummary | None = None
        self._timer: asyncio.TimerHandle | None = None

    def note(self, job: JobSummary) -> None:
        """Take a new state of the job."""
        self._job = job
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(INTERVAL, self._draw)

    def close(self) -> None:
        """Draw no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _draw(self) -> None:
        self._timer = None
        if self._job is not None and (drawn := data(self._job)) != self._drawn:
            self._drawn = drawn
            self._shown.update(drawn, raw=True)


def data(job: JobSummary) -> dict[str, str]:
    """Return the display of a job by MIME type. All texts are escaped."""
    sentence = translated(job.reason.sentence) if job.reason is not None else ""
    fraction = None
    if job.phase == "Running" and job.progress is not None:
        sentence, fraction = translated(job.progress.text), job.progress.fraction
    facts = [job.engine, *([job.namespace] if job.namespace else [])]
    if job.started_at is not None and job.ended_at is not None:
        facts.append(translated(duration(max(0.0, ran_seconds(job) or 0.0))))
    elif job.started_at is not None:  # a duration would be old at once
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(job.started_at))
        facts.append(translated(_("since {time}", time=since)))
    hint = translated(job.reason.hint) if job.phase == "Failed" and job.reason is not None and job.reason.hint else ""
    bar = "" if fraction is None else f'<progress max="1" value="{fraction:.3f}" style="width: 20em"></progress>'
    word = translated(STATES[job.state])
    parts = [
        f"<strong>{html.escape(job.name)}</strong>"
        f' <span style="color: {COLORS.get(job.state, OTHER)}">● {html.escape(word)}</span>'
        f" <small>{html.escape(' · '.join(facts))}</small>",
        html.escape(sentence),
        bar,
        html.escape(hint),
    ]
    text = f"{job.name}: {word}{f', {sentence}' if sentence else ''}"
    return {"text/html": "<div>" + "<br>".join(filter(None, parts)) + "</div>", "text/plain": text}
