"""The commands that change jobs: `stop`, `pause`, `resume`, `rerun`, `delete` and `prune`."""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import click

from ...core.translation import Text, _, _n, translated
from ..base import (
    Command,
    Place,
    all_namespaces_option,
    duration,
    job_argument,
    jobs_of,
    output_option,
    placed,
    run,
    see_all_namespaces,
    t,
    the_job,
    the_jobs,
)
from ..errors import say
from ..output import is_terminal, paint, plain, short_duration

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.job import JobSummary

Action = Literal["stop", "pause", "resume", "delete", "remove"]


async def act_on(
    session: Session, jobs: Sequence[JobSummary], action: Action, done: Text, *, remove: bool = False
) -> int:
    """Act on jobs, print each outcome, and return the exit code. A job that can't be changed does not stop the others.

    Parameters
    ----------
    session
        The services.
    jobs
        The jobs.
    action
        The action.
    done
        Sentence about a job, with the parameter ``job``.
    remove
        For `delete`: remove record and logs as well.
    """
    from ...core.errors import JobError

    failed = 0
    for job in jobs:
        try:
            only_removed = job.deleted or ("remove" in job.actions and "delete" not in job.actions)
            if action == "remove" or (action == "delete" and remove and only_removed):
                await session.jobs.remove(job.id)
            elif action == "delete":
                await session.jobs.delete(job.id, remove=remove)
            else:
                await session.jobs.act(job.id, action)
        except JobError as error:
            failed = 1
            said = plain(translated(error.message))
            about = said if _names(error.message, job.name) else f"{job.name}: {said}"
            say(paint(t(_("Error:")), "Failed", sys.stderr), about)
            if error.hint:
                say(f"  {plain(translated(error.hint))}")
        else:
            click.echo(t(done.with_params(job=job.name)))
    return failed


def _names(text: object, name: str) -> bool:
    """Return True if a name is among the parameters of a text, or of the texts among these."""
    return isinstance(text, Text) and any(each == name or _names(each, name) for each in text.params.values())


@click.command(
    "stop",
    cls=Command,
    help=t(_("End jobs. Their logs and records stay.")),
    examples=["t9kjob stop train-1", "t9kjob stop train-1 train-2"],
)
@job_argument(several=True)
@placed
def stop_command(place: Place, names: tuple[str, ...]) -> None:
    """End jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    names
        Names or ids of the jobs.
    """

    async def work(session: Session) -> int:
        jobs = await the_jobs(session, place, names)
        return await act_on(session, jobs, "stop", _("{job} is being stopped.", job=""))

    run(place, work)


@click.command(
    "pause",
    cls=Command,
    help=t(_("Pause jobs: their processes end, and a resumed job starts again from its checkpoint.")),
    examples=["t9kjob pause train-1"],
)
@job_argument(several=True)
@placed
def pause_command(place: Place, names: tuple[str, ...]) -> None:
    """Pause jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    names
        Names or ids of the jobs.
    """

    async def work(session: Session) -> int:
        jobs = await the_jobs(session, place, names)
        return await act_on(session, jobs, "pause", _("{job} is being paused.", job=""))

    run(place, work)


@click.command("resume", cls=Command, help=t(_("Resume paused jobs.")), examples=["t9kjob resume train-1"])
@job_argument(several=True)
@placed
def resume_command(place: Place, names: tuple[str, ...]) -> None:
    """Resume jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    names
        Names or ids of the jobs.
    """

    async def work(session: Session) -> int:
        return await act_on(session, await the_jobs(session, place, names), "resume", _("{job} is resumed.", job=""))

    run(place, work)


@click.command(
    "rerun",
    cls=Command,
    help=t(_("Start a job again as a new job, with the next number at the end of its name.")),
    examples=["t9kjob rerun train-1", "t9kjob rerun train-1 -o name"],
)
@job_argument()
@output_option("json", "yaml", "name")
@placed
def rerun_command(place: Place, name: str, form: str | None) -> None:
    """Repeat a job.

    Parameters
    ----------
    place
        Options that choose the jobs.
    name
        Name or id of the job.
    form
        ``json``, ``yaml``, ``name``, or None for a sentence.
    """

    async def work(session: Session) -> int:
        from .submit import print_created

        old = await the_job(session, place, name)
        print_created(await session.jobs.rerun(old.id, admit=session.launch.admit), form)
        return 0

    run(place, work)


@click.command(
    "delete",
    cls=Command,
    help=t(
        _("End and delete jobs. Their logs and records stay in “t9kjob list --deleted”, unless --purge removes them.")
    ),
    examples=[
        "t9kjob delete train-1 train-2",
        "t9kjob delete --purge train-1",
        "t9kjob list --mine --phase Failed -o name | xargs t9kjob delete",
    ],
)
@job_argument(several=True)
@click.option("--purge", is_flag=True, help=t(_("Remove logs and records as well.")))
@placed
def delete_command(place: Place, names: tuple[str, ...], purge: bool) -> None:
    """Delete jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    names
        Names or ids of the jobs.
    purge
        True to remove logs and records as well.
    """

    async def work(session: Session) -> int:
        jobs = await the_jobs(session, place, names)
        return await act_on(session, jobs, "delete", _("{job} is deleted.", job=""), remove=purge)

    run(place, work)


@click.command(
    "prune",
    cls=Command,
    help=t(_("Delete jobs that ended some time ago. Jobs that have not ended are never deleted.")),
    examples=["t9kjob prune --finished-before 10h", "t9kjob prune --finished-before 7d --purge --yes"],
)
@click.option(
    "--finished-before", "--since", "-s", "before", required=True, callback=duration,
    help=t(_("Time since the end of the jobs, such as 10h or 7d.")),
)  # fmt: skip
@click.option("--purge", is_flag=True, help=t(_("Remove logs and records as well.")))
@click.option("--all-owners", is_flag=True, help=t(_("Also jobs of other people.")))
@all_namespaces_option
@click.option("--dry-run", is_flag=True, help=t(_("Only list the jobs.")))
@click.option("--yes", "-y", is_flag=True, help=t(_("Do not ask.")))
@placed
def prune_command(
    place: Place, before: int, purge: bool, all_owners: bool, all_namespaces: bool, dry_run: bool, yes: bool
) -> None:
    """Delete jobs that ended some time ago.

    Parameters
    ----------
    place
        Options that choose the jobs.
    before
        Shortest time since the end of a job, in seconds.
    purge
        True to remove logs and records as well.
    all_owners
        True to include the jobs of other people.
    all_namespaces
        True for the jobs of all namespaces that the account may list.
    dry_run
        True to list the jobs only.
    yes
        True to delete without a question. Without a terminal there is no question either.
    """

    async def work(session: Session) -> int:
        from .jobs import print_jobs

        chosen = await see_all_namespaces(session, place) if all_namespaces else place
        jobs = [job for job in await jobs_of(session, chosen) if is_old(job, before) and (job.mine or all_owners)]
        if not jobs:
            say(t(_("No job ended more than {time} ago.", time=short_duration(before))))
            return 0
        if dry_run:
            print_jobs(jobs, None)
            return 0
        if not yes and is_terminal(sys.stdin):
            print_jobs(jobs, None)
            with interruptible():
                click.confirm(t(_n("Delete this job?", "Delete these {n} jobs?", len(jobs))), abort=True, err=True)
        return await act_on(session, jobs, "delete", _("{job} is deleted.", job=""), remove=purge)

    run(place, work)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end a question at once: asyncio would only cancel the task, which the question blocks."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def is_old(job: JobSummary, seconds: float) -> bool:
    """Return True if a job ended before some time.

    Parameters
    ----------
    job
        The job.
    seconds
        The time since the end.
    """
    from ...core.job import ENDED_PHASES

    ended = job.phase in ENDED_PHASES and not job.pending_action
    return ended and job.ended_at is not None and job.ended_at < time.time() - seconds
