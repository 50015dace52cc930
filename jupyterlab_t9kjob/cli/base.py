"""Parts of all commands: examples in their help, options that choose the jobs, and a session to run in."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
from click.core import ParameterSource

from ..core.errors import NotFound, Unavailable
from ..core.translation import Text, _, translated
from .errors import say
from .output import paint, plain

if TYPE_CHECKING:
    from ..client.session import Session
    from ..core.job import JobSummary

Function = TypeVar("Function", bound=Callable[..., Any])
Work = Callable[["Session"], Awaitable[int | None]]

COMPLETION_SECONDS: Final = 2.0
"""Longest wait for a cluster while a shell completes a word."""
FORMATS: Final = ("json", "yaml", "wide", "name")


def t(text: Text) -> str:
    """Return a text in the user's language; the language is chosen before commands are imported."""
    return translated(text)


class Command(click.Command):
    """A command with examples in its help.

    Parameters
    ----------
    examples
        Lines of a shell.
    """

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples. The parameters are those of `click.Command.format_epilog`."""
        if self.examples:
            formatter.write_paragraph()
            title = t(_("Examples:"))
            formatter.write(f"{title}\n")
            for line in self.examples:
                formatter.write(f"  {line}\n")


@dataclass(frozen=True)
class Place:
    """Options that choose the jobs of a command.

    Attributes
    ----------
    engine, namespace
        Where jobs are; None for everywhere.
    home
        Folder of the records of jobs; None for the configured one.
    context
        Context of the kubeconfig; None for the configured one.
    verbose
        True to print the log of the services.
    """

    engine: str | None
    namespace: str | None
    home: str | None
    context: str | None
    verbose: bool


def placed(function: Function) -> Function:
    """Give a command the options of `Place`, which it gets as `place`."""

    def wrapped(
        *args: Any,
        engine: str | None,
        namespace: str | None,
        home: str | None,
        context: str | None,
        verbose: bool,
        **kwargs: Any,
    ) -> Any:
        return function(*args, place=Place(engine, namespace, home, context, verbose), **kwargs)

    wrapped.__name__, wrapped.__doc__ = function.__name__, function.__doc__
    wrapped.__click_params__ = getattr(function, "__click_params__", [])  # type: ignore[attr-defined]
    options = [
        click.option(
            "--engine",
            "-E",
            envvar="T9KJOB_ENGINE",
            help=t(_("Where jobs run: local, t9k, kubeflow … (T9KJOB_ENGINE).")),
        ),
        click.option("--namespace", "-n", envvar="T9KJOB_NAMESPACE", help=t(_("Namespace of the cluster."))),
        click.option("--home", type=click.Path(), help=t(_("Folder of the records of jobs."))),
        click.option("--context", help=t(_("Context of the kubeconfig."))),
        click.option("--verbose", "-v", is_flag=True, help=t(_("Print the log of the program."))),
    ]
    result: Any = wrapped
    for option in reversed(options):
        result = option(result)
    return result  # type: ignore[no-any-return]


def output_option(*forms: str) -> Callable[[Function], Function]:
    """Return the option for the form of the output."""
    return click.option("--output", "-o", "form", type=click.Choice(forms or FORMATS), help=t(_("Form of the output.")))


def all_namespaces_option(function: Function) -> Function:
    """Give a command the option for the jobs of all namespaces."""
    text = t(_("Jobs of all namespaces that you may list."))
    return click.option("--all-namespaces", "-A", is_flag=True, help=text)(function)


async def see_all_namespaces(session: Session, place: Place) -> Place:
    """List the jobs of all namespaces, and say why some may be missing; return the options for all namespaces.

    Parameters
    ----------
    session
        The services.
    place
        Options of the command.

    Raises
    ------
    UsageError
        If one namespace is chosen as well.
    """
    source = click.get_current_context().get_parameter_source("namespace")
    if source is ParameterSource.COMMANDLINE:  # The default of the environment gives way.
        raise click.UsageError(t(_("Give either --namespace or --all-namespaces.")))
    for reason in dict.fromkeys(await session.watch_all_namespaces()):
        say(paint(t(_("Warning:")), "Pending", sys.stderr), plain(translated(reason)))
    return replace(place, namespace=None)


def run(
    place: Place, work: Work, connect_seconds: float | None = None, *, alone: bool = False, once: bool = False
) -> None:
    """Run a command's work in a session, and end the command with the code that the work returns.

    Parameters
    ----------
    place
        Options of the command.
    work
        Called with the session.
    connect_seconds
        Longest wait for clusters; None for that of a session.
    alone
        True if the work needs no other engine than that of `place`, so that the others are not even started.
    once
        True if the work reads the jobs once and nothing else, see `Session`.
    """
    if place.verbose:
        logging.basicConfig(level=logging.INFO)
    else:
        # Without a handler, Python would print warnings between the lines of the command.
        logging.getLogger("jupyterlab_t9kjob").addHandler(logging.NullHandler())

    async def within() -> int:
        from ..client.configuration import read_settings
        from ..client.session import CONNECT_SECONDS, Session
        from ..core.job import DEFAULT_ENGINE

        values: dict[str, Any] = {}
        if place.home is not None:
            values["home"] = place.home
        if place.context is not None:
            values["kubernetes_context"] = place.context
        settings = await asyncio.to_thread(read_settings, values)
        if place.namespace and place.namespace not in settings.kubernetes_namespaces:
            settings.kubernetes_namespaces = [*settings.kubernetes_namespaces, place.namespace]
        if place.engine == DEFAULT_ENGINE:
            settings.kubernetes = False  # No command about this machine has to wait for a cluster.
        seconds = CONNECT_SECONDS if connect_seconds is None else connect_seconds
        if once:
            # A tenth of the time of a list went into searching its jobs for cycles; the process ends soon.
            gc.disable()
        async with Session(settings, seconds, engine=place.engine if alone else None, once=once) as session:
            if place.engine is not None:
                await demand_engine(session, place.engine)
            return await work(session) or 0

    code = asyncio.run(within())
    if code:
        raise click.exceptions.Exit(code)


async def demand_engine(session: Session, name: str) -> None:
    """Raise the reason why an engine can't be used.

    Parameters
    ----------
    session
        The services.
    name
        Name of the engine.

    Raises
    ------
    FieldError
        If there is no such engine.
    Unavailable
        If the engine can't be reached.
    """
    info = await session.jobs.engines.get(name).info()
    if not info.available:
        raise Unavailable(
            info.reason or _("The engine {engine} can't be used.", engine=name),
            hint=_("`t9kjob doctor` says what is missing."),
        )


async def jobs_of(session: Session, place: Place, *, deleted: bool = False) -> list[JobSummary]:
    """Return the jobs that the options choose, newest first.

    Parameters
    ----------
    session
        The services.
    place
        Options of the command.
    deleted
        True to include the records of deleted jobs.
    """
    from ..client.lookup import matching
    from ..jobs.query import Query

    return matching(await session.jobs.jobs(Query(deleted=deleted)), place.engine, place.namespace)


async def the_job(session: Session, place: Place, word: str | None) -> JobSummary:
    """Return the job that a word names; without a word, the newest job.

    Parameters
    ----------
    session
        The services.
    place
        Options of the command.
    word
        Name or id; None for the newest job.

    Raises
    ------
    NotFound
        If there is no such job.
    """
    if word is not None:
        return (await the_jobs(session, place, [word]))[0]
    mine = [job for job in await jobs_of(session, place) if job.mine]
    if not mine:
        await warn_of_troubles(session, place)
        message = _("None of your jobs matches.") if place.engine or place.namespace else _("You have no jobs.")
        raise NotFound(message, hint=_("`t9kjob submit train.py` starts one."))
    return mine[0]


async def the_jobs(session: Session, place: Place, words: Sequence[str]) -> list[JobSummary]:
    """Return the jobs that words name, each word once.

    Parameters
    ----------
    session
        The services.
    place
        Options of the command.
    words
        Names or ids.

    Raises
    ------
    NotFound
        If there is no such job.
    """
    from ..client.lookup import find_job

    jobs = await jobs_of(session, place, deleted=True)
    try:
        return [find_job(word, jobs) for word in dict.fromkeys(words)]
    except NotFound:
        await warn_of_troubles(session, place)
        raise


async def warn_of_troubles(session: Session, place: Place) -> None:
    """Say why jobs may be missing; a machine without a cluster has no trouble.

    Parameters
    ----------
    session
        The services.
    place
        Options of the command.
    """
    found = []
    for engine in session.jobs.engines.all():
        if place.engine in (None, engine.name):
            info = await engine.info()
            reason = info.cluster.stale_reason if info.cluster is not None else None
            if reason is None and (info.looking or not (info.available or engine.facts.has_namespaces)):
                reason = info.reason
            found += [f"{translated(engine.label)}: {translated(reason)}"] if reason else []
    for trouble in dict.fromkeys(found):
        say(paint(t(_("Warning:")), "Pending", sys.stderr), plain(trouble))


def complete_job(ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    """Return the names of jobs that begin with a text, for the completion of the shell.

    Parameters
    ----------
    ctx
        Context of the command, with the options that the user has typed.
    _parameter
        Parameter of the command that is completed; not used.
    incomplete
        The text that the user has typed so far.

    Returns
    -------
    list
        The names, newest job first; empty if the jobs can't be read.
    """
    place = Place(
        ctx.params.get("engine"), ctx.params.get("namespace"), ctx.params.get("home"), ctx.params.get("context"), False
    )
    names: list[str] = []

    async def work(session: Session) -> int:
        names.extend(job.name for job in await jobs_of(session, place) if job.name.startswith(incomplete))
        return 0

    try:
        run(place, work, COMPLETION_SECONDS, once=True)
    except Exception:  # An error message would appear in the middle of the user's command.
        return []
    return list(dict.fromkeys(names))


def job_argument(*, required: bool = True, several: bool = False) -> Callable[[Function], Function]:
    """Return the argument for one or several jobs.

    Parameters
    ----------
    required
        False if the newest job is meant without it.
    several
        True for any number of jobs.
    """
    return click.argument(
        "names" if several else "name",
        metavar="JOB..." if several else "JOB" if required else "[JOB]",
        nargs=-1 if several else 1,
        required=required,
        shell_complete=complete_job,
    )


def duration(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    """Return the seconds of an option such as ``2h30m``; click calls this for each such option.

    Parameters
    ----------
    _ctx, _parameter
        Context and parameter of the command; not used.
    value
        The text that the user has typed; None if the option is missing, which gives None.

    Raises
    ------
    BadParameter
        If the text is not a duration.
    """
    from ..client.times import seconds_of

    if value is None:
        return None
    try:
        return seconds_of(value)
    except ValueError:
        message = _("“{text}” is no duration. Write it as 90s, 10m, 2h30m or 1d.", text=value[:40])
        raise click.BadParameter(t(message)) from None
