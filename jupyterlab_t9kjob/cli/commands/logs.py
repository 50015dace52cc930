"""The command `logs`, and the lines of a job that is followed."""

from __future__ import annotations

import asyncio
import contextlib
import re
import select
import sys
import time
from typing import TYPE_CHECKING, Final

import click

from ...core.translation import _, _n
from ..base import Command, Place, duration, job_argument, placed, run, t, the_job
from ..errors import say
from ..output import has_colors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...client.log_lines import LogChoice
    from ...client.session import Session
    from ...core.job import JobSummary, LogStream
    from ...logs.serving.model import LogLine

LOOK_SECONDS: Final = 0.1
"""Interval between looks for the reader of the output."""
RANKS: Final = re.compile(r"([0-9]{1,5})(?:\s*-\s*([0-9]{1,5}))?")
"""A rank or a range of ranks. Five digits keep a mistyped range from becoming a list of billions of ranks."""
RANK_COLORS: Final = ("cyan", "magenta", "yellow", "green", "blue", "red")


def since_time(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> float | None:
    """Return the time of the option ``--since-time`` in seconds since the epoch; click calls this.

    Parameters
    ----------
    _ctx, _parameter
        Context and parameter of the command; not used.
    value
        The text that the user has typed; None if the option is missing, which gives None.

    Raises
    ------
    BadParameter
        If the text is not a time.
    """
    from ...client.times import moment_of

    if value is None:
        return None
    try:
        return moment_of(value)
    except ValueError:
        message = _("“{text}” is no time. Write it as 2026-11-28T09:30:00Z.", text=value[:40])
        raise click.BadParameter(t(message)) from None


def rank_numbers(_ctx: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[int, ...]:
    """Return the ranks of the option ``--rank``, such as ``0-3,8``, each once; click calls this.

    Parameters
    ----------
    _ctx, _parameter
        Context and parameter of the command; not used.
    values
        The texts that the user has typed, one for each time that the option is given.

    Raises
    ------
    BadParameter
        If a text is not a list of ranks and ranges.
    """
    ranks: dict[int, None] = {}
    for value in values:
        for part in value.split(","):
            match = RANKS.fullmatch(part.strip())
            numbers = range(int(match[1]), int(match[2] or match[1]) + 1) if match else ()
            if not numbers:
                message = _("“{text}” is no list of ranks. Write ranks and ranges, such as 0-3,8.", text=value[:40])
                raise click.BadParameter(t(message))
            ranks.update(dict.fromkeys(numbers))
    return tuple(ranks)


@click.command(
    "logs",
    cls=Command,
    help=t(_("Print the log of a job: of rank 0, or of others. Without a name, of the newest job.")),
    examples=[
        "t9kjob logs train-1",
        "t9kjob logs train-1 -f -t 20",
        "t9kjob logs train-1 --rank 3 --since 10m",
        "t9kjob logs train-1 -i 0-3,8",
        "t9kjob logs train-1 --since-time 2026-11-28T09:30:00Z",
        "t9kjob logs train-1 --all-ranks --grep 'loss|error'",
        "t9kjob logs train-1 --replica worker-1 --timestamps",
    ],
)
@job_argument(required=False)
@click.option(
    "--rank", "-i", "ranks", multiple=True, callback=rank_numbers, metavar="RANKS",
    help=t(_("Ranks instead of rank 0, such as 3 or 0-3,8.")),
)  # fmt: skip
@click.option("--replica", "replicas", multiple=True, help=t(_("All output of a replica, such as worker-1.")))
@click.option("--container", "-c", help=t(_("Output of another container of the pods.")))
@click.option("--all-ranks", "every", is_flag=True, help=t(_("The output of everything, each line with its rank.")))
@click.option("--follow", "-f", is_flag=True, help=t(_("Wait for further lines until the job ends.")))
@click.option("--tail", "-t", type=click.IntRange(0), help=t(_("Only so many last lines.")))
@click.option("--since", callback=duration, help=t(_("Only lines of the last time, such as 10m or 2h.")))
@click.option(
    "--since-time", "moment", callback=since_time, metavar="TIME",
    help=t(_("Only lines since a time (RFC 3339; without a zone, of this machine).")),
)  # fmt: skip
@click.option("--grep", "pattern", help=t(_("Only lines that match a regular expression.")))
@click.option("--ignore-case", is_flag=True, help=t(_("Let --grep find small and capital letters alike.")))
@click.option("--timestamps", is_flag=True, help=t(_("Begin each line with its time.")))
@placed
def logs_command(
    place: Place,
    name: str | None,
    ranks: tuple[int, ...],
    replicas: tuple[str, ...],
    container: str | None,
    every: bool,
    follow: bool,
    tail: int | None,
    since: int | None,
    moment: float | None,
    pattern: str | None,
    ignore_case: bool,
    timestamps: bool,
) -> None:
    """Print the log of a job.

    Parameters
    ----------
    place
        Options that choose the jobs.
    name
        Name or id of the job; None for the newest job.
    ranks
        Ranks to print; empty for rank 0 if `replicas` is empty as well.
    replicas
        Names of replicas whose output is printed, such as ``worker-1``.
    container
        Name of a container of the pods; None for the training container.
    every
        True for all streams, each line with its rank.
    follow
        True to wait for further lines until the job ends.
    tail
        Number of last lines to print; None for all.
    since
        Age of the oldest lines to print, in seconds; None for all lines.
    moment
        Time of the oldest lines to print, in seconds since the epoch, instead of `since`.
    pattern
        Regular expression that a line must match; None for all lines.
    ignore_case
        True if `pattern` ignores the case of letters.
    timestamps
        True to begin each line with its time.
    """
    if since is not None and moment is not None:
        raise click.UsageError(t(_("Give either --since or --since-time.")))

    async def work(session: Session) -> int:
        from ...client.log_lines import LogChoice, pattern_of

        choice = LogChoice(
            ranks=ranks,
            replicas=replicas,
            every=every,
            container=container,
            tail=tail,
            since=moment if since is None else time.time() - since,
            pattern=None if pattern is None else pattern_of(pattern, ignore_case=ignore_case),
            follow=follow,
        )
        job = await the_job(session, place, name)
        with told_how_to_stop(job) if follow else contextlib.nullcontext():
            await print_log(session, job, choice, timestamps=timestamps)
        return 0

    run(place, work)


async def print_log(session: Session, job: JobSummary, choice: LogChoice, *, timestamps: bool = False) -> None:
    """Print lines of a job's log.

    Parameters
    ----------
    session
        The services.
    job
        The job.
    choice
        The wanted lines.
    timestamps
        True to begin each line with its time.
    """
    from ...client.log_lines import owner_of, read_text

    prefixed = choice.every or len(choice.ranks) > 1 or bool(choice.replicas)
    colors = has_colors(sys.stdout)

    def printed(stream: LogStream, line: LogLine) -> str:
        before = ""
        if prefixed:
            before = f"[{owner_of(stream)}] "
            if colors:
                before = click.style(before, fg=RANK_COLORS[(stream.rank or 0) % len(RANK_COLORS)])
        if timestamps:
            before += f"{_stamp(line.time)} "
        text = line.text
        if line.removed:
            text = t(_n("… {n} byte was removed here", "… {n} bytes were removed here", line.removed))
        return f"{before}{text}\n"

    async def print_lines() -> None:
        async for text in read_text(session, job, choice, printed, bare=not (prefixed or timestamps)):
            sys.stdout.write(text)
            sys.stdout.flush()

    tasks = [asyncio.create_task(print_lines()), asyncio.create_task(_watch_reader())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for failure in results:
        if isinstance(failure, Exception):
            raise failure
    sys.stdout.flush()


async def _watch_reader() -> None:
    """Fail soon after the reader of the output has left, also while the job writes nothing."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        if _reader_left():
            raise BrokenPipeError


def _reader_left() -> bool:
    """Return True if nobody reads the pipe of the standard output any more."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(state & select.POLLERR for _file, state in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # A stream without a file, or a system without `poll`.
        return False


def _stamp(moment: float | None) -> str:
    if moment is None:
        return "-"
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(moment)) + f".{int(moment % 1 * 1000):03d}"


@contextlib.contextmanager
def told_how_to_stop(job: JobSummary) -> Iterator[None]:
    """Say at an interruption that the job goes on, and how to stop it."""
    try:
        yield
    except (KeyboardInterrupt, asyncio.CancelledError):
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            say("")
            command = f"t9kjob stop {job.name}"
            say(t(_("{job} goes on. To stop it: {command}", job=job.name, command=command)))
        raise
