"""The command `wait`, and the wait for the end of a job."""

from __future__ import annotations

import asyncio
import shutil
import sys
from typing import TYPE_CHECKING, Final

import click

from ...core.translation import _, translated
from ..base import Command, Place, duration, job_argument, placed, run, t, the_jobs
from ..errors import say
from ..output import cut, is_terminal, paint, plain

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.job import JobSummary

FAILED: Final = 1
TIMED_OUT: Final = 124


@click.command(
    "wait",
    cls=Command,
    help=t(
        _(
            "Wait until jobs have ended, or are in a state. The exit code is 1 if a job failed or was stopped, and 124"
            " if the time is over."
        )
    ),
    examples=["t9kjob wait train-1 && t9kjob submit evaluate.py", "t9kjob wait train-1 --for Running --timeout 10m"],
)
@job_argument(several=True)
@click.option(
    "--for",
    "state",
    default="ended",
    type=click.Choice(["ended", "Running", "Succeeded", "Failed", "Stopped", "Paused"], case_sensitive=False),
    help=t(_("State to wait for.")),
)
@click.option("--timeout", callback=duration, help=t(_("Longest time to wait, such as 10m.")))
@placed
def wait_command(place: Place, names: tuple[str, ...], state: str, timeout: int | None) -> None:
    """Wait for jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    names
        Names or ids of the jobs.
    state
        A state, or ``ended``.
    timeout
        Longest time to wait, in seconds; None for no limit.
    """

    async def work(session: Session) -> int:
        from ...client.waiting import is_over

        ended = wanted = await the_jobs(session, place, names)
        try:
            if not all(is_over(job, state) for job in wanted):  # With no time to wait, ended jobs have ended.
                waits = (wait_shown(session, job, state, shown=len(wanted) == 1) for job in wanted)
                ended = await asyncio.wait_for(asyncio.gather(*waits), timeout)
        except asyncio.TimeoutError:
            say(t(_("The time is over. The jobs go on.")))
            return TIMED_OUT
        for job in ended:
            say_end(job)
        return int(not all(is_reached(job, state) for job in ended)) and FAILED

    run(place, work)


def is_reached(job: JobSummary, state: str) -> bool:
    """Return True if a job is in a state; a job that ended has only succeeded if nothing failed.

    Parameters
    ----------
    job
        The job.
    state
        A state, or ``ended``.
    """
    return job.state == ("Succeeded" if state == "ended" else state) and not job.deleted


async def wait_shown(session: Session, job: JobSummary, state: str = "ended", *, shown: bool = False) -> JobSummary:
    """Return a job when it is in a state, or has ended.

    Parameters
    ----------
    session
        The services.
    job
        The job.
    state
        A state, or ``ended``.
    shown
        True to print the job's states: in one line on a terminal.
    """
    from ...client.waiting import wait_for

    status = Status(shown=shown)
    try:
        return await wait_for(session, job, state, status.show)
    finally:
        status.clear()


class Status:
    """The state of a job while a command waits: one line that changes on a terminal, a line for each state in a pipe.

    Parameters
    ----------
    shown
        False to print nothing.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._last = ""
        self._live = is_terminal(sys.stderr)

    def show(self, job: JobSummary) -> None:
        """Print the state of a job, if it differs from the last one."""
        from .jobs import reason_of, status_of

        reason = reason_of(job)
        # The progress of a job in a pipe would be a line for each step.
        status = t(status_of(job))
        text = status if not self._live or not reason else f"{status}: {plain(reason)}"
        if not self._shown or text == self._last:
            return
        self._last = text
        if self._live:
            width, bar = shutil.get_terminal_size().columns, _bar(job)
            sys.stderr.write(f"\r\x1b[K{bar}{cut(f'{job.name} {text}', max(10, width - len(bar) - 1))}")
            sys.stderr.flush()
        else:
            say(f"{job.name}: {text}")

    def clear(self) -> None:
        """Remove the line from the terminal."""
        if self._live and self._last:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _bar(job: JobSummary) -> str:
    """Return a progress bar; empty if the job's progress is not known."""
    fraction = job.progress.fraction if job.progress is not None and job.phase == "Running" else None
    if fraction is None:
        return ""
    full = round(fraction * 10)
    return f"[{'#' * full}{'.' * (10 - full)}] {fraction:4.0%} "


def say_end(job: JobSummary) -> None:
    """Print the state of a job that ended, with the reason."""
    from .jobs import status_of

    reason, state = job.reason, job.state
    words = [f"{job.name}:", paint(t(status_of(job)), state, sys.stderr)]
    if reason is not None and reason.sentence != state:
        words.append(f"- {plain(translated(reason.sentence))}")
    say(*words)
    if reason is not None and reason.hint and job.phase == "Failed":
        say(f"  {plain(translated(reason.hint))}")
