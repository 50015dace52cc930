"""The command `runs`: runs of experiments, as the lab's page of experiments shows them."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ...core.translation import _, _n, listing, translated
from ..base import Command, Place, output_option, placed, run, t, warn_of_troubles
from ..errors import say
from ..output import Column, age, clock, paint, plain, print_data, print_fields, print_table, short_duration
from . import lab

if TYPE_CHECKING:
    from ...client.session import Session
    from ...experiments.model import RunDetail
    from ...experiments.service import Experiments

STATUSES: Final = ("running", "complete", "error", "stale", "unknown")
METRICS: Final = 3
"""Metrics that the table has without --metric: those that most runs have."""
PARAMETERS: Final = 6
"""Parameters of the wide table: those that differ between runs."""
MOST_NAMED: Final = 5
FACTS: Final = {"started": "started_at", "ended": "ended_at", "seconds": "seconds", "name": "name", "status": "status"}
"""Words that --sort takes, beside the names of metrics and parameters, with the field of a run."""


class DefaultsToList(click.Group):
    """A group that lists if no command of it is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words after the group's name.

        Parameters
        ----------
        ctx
            Context of the call.
        args
            The words.
        """
        named = args[:1] and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if named or ctx.resilient_parsing else ["list", *args])


@click.group("runs", cls=DefaultsToList, help=t(_("Show the runs of experiments. Without a command, list them.")))
def runs_command() -> None:
    """Show runs."""


@runs_command.command(
    "list",
    cls=Command,
    help=t(_("List the runs below a folder, by default the working directory, newest first.")),
    examples=[
        "t9kjob runs",
        "t9kjob runs /data/experiments --status complete --metric loss --sort loss",
        "t9kjob runs --job train-1 -o wide",
        "t9kjob runs -o json | jq '.runs[].parameters.lr'",
    ],
)
@click.argument("folder", required=False, type=click.Path())
@click.option("--metric", "metrics", multiple=True, help=t(_("Show the last value of a metric.")))
@click.option(
    "--status", "statuses", multiple=True, type=click.Choice(STATUSES), help=t(_("Only runs of this status."))
)
@click.option("--job", help=t(_("Only runs of the job with this name or id.")))
@click.option("--tag", "tags", multiple=True, help=t(_("Only runs with this tag or label.")))
@click.option("--archived", is_flag=True, help=t(_("Also archived runs.")))
@click.option(
    "--sort",
    metavar="FIELD",
    help=t(_("Sort by a metric, best value first, by a parameter, or by started, ended, seconds, name or status.")),
)
@click.option("--reverse", is_flag=True, help=t(_("Reverse the order.")))
@output_option()
@placed
def list_command(
    place: Place,
    folder: str | None,
    metrics: tuple[str, ...],
    statuses: tuple[str, ...],
    job: str | None,
    tags: tuple[str, ...],
    archived: bool,
    sort: str | None,
    reverse: bool,
    form: str | None,
) -> None:
    """List runs.

    Parameters
    ----------
    place, folder, metrics, statuses, job, tags, archived, sort, reverse, form
        Values of the argument and the options, each of which has its help.
    """

    async def work(session: Session) -> int:
        wanted = [*metrics, *([sort] if sort and sort not in FACTS else [])]
        async with experiments_above(session, folder) as (experiments, path):
            table: dict[str, Any] = json.loads(await experiments.searched(path, wanted))
        found = [each for each in table["runs"] if is_at(each, place)]
        runs = [
            each
            for each in found
            if (not statuses or each["status"] in statuses)
            and (job is None or (each["job"] is not None and job in (each["job"]["name"], each["job"]["id"])))
            and all(tag in each["tags"] or tag in each["labels"] for tag in tags)
            and (archived or not each["archived"])
        ]
        runs = in_order(runs, sort, table["columns"], reverse=reverse)
        await warn_of_troubles(session, place)
        _warn_of_missing(table)
        if form in ("json", "yaml"):
            print_data({"runs": runs}, str(form))
        elif form == "name":
            for each in runs:
                click.echo(_short_name(each, found))
        elif not runs:
            say(t(_("There are no runs.")))
        else:
            _print_runs(runs, table["columns"], metrics, wide=form == "wide")
        return 0

    run(place, work)


@contextlib.asynccontextmanager
async def experiments_above(session: Session, folder: str | None) -> AsyncIterator[tuple[Experiments, str]]:
    """Return the experiments' service, and the path of a folder for the service.

    The service has the root of the lab that runs above the folder, if there is one: ids, tags and notes of runs belong
    to the paths below the root.

    Parameters
    ----------
    session
        The services.
    folder
        The folder; None for the working directory.
    """
    from ...client.session import ROOT
    from ...contents_paths import ContentsRoot
    from ...experiments.library.index import machine_folder
    from ...experiments.service import Experiments

    wanted = _absolute(folder or "")
    root = next((top for top in _lab_roots() if wanted.is_relative_to(top)), ROOT)
    experiments = Experiments(ContentsRoot(root), session.jobs, session.home, machine_folder(), job_root=ROOT)
    try:
        yield experiments, wanted.relative_to(root).as_posix()
    finally:
        await experiments.stop()


def _absolute(folder: str) -> Path:
    return Path(os.path.normpath(Path.cwd() / folder))


def _lab_roots() -> list[Path]:
    roots = [facts.get("root_dir") for facts in lab.running_servers()]
    return [Path(root) for root in roots if isinstance(root, str) and root.startswith("/")]


def is_at(row: dict[str, Any], place: Place) -> bool:
    """Return True if the job of a run is at the chosen engine and namespace; runs without a job are everywhere.

    Parameters
    ----------
    row
        The run.
    place
        Options of the command.
    """
    job = row["job"]
    if job is None:
        return True
    return place.engine in (None, job["engine"]) and (
        place.namespace in (None, job["namespace"]) or not job["namespace"]
    )


def in_order(
    runs: Sequence[dict[str, Any]], field: str | None, columns: Sequence[dict[str, Any]], *, reverse: bool
) -> list[dict[str, Any]]:
    """Return runs in an order; those without a value come last.

    Parameters
    ----------
    runs
        The runs.
    field
        Key of `FACTS`, or name of a metric or parameter; None for the time of the start.
    columns
        Columns of the table of runs.
    reverse
        True for the reverse order.

    Raises
    ------
    click.BadParameter
        If no run has this field.
    """
    name = field or "started"
    read: Callable[[dict[str, Any]], Any]
    if name in FACTS:
        key = FACTS[name]
        down = key.endswith("_at")

        def read(row: dict[str, Any]) -> Any:
            return row[key]
    else:
        column = next((each for each in columns if each["name"] == name and each["group"] != "environment"), None)
        if column is None:
            message = _("No run has a metric or parameter “{name}”.", name=name[:100])
            raise click.BadParameter(t(message), param_hint="--sort")
        down = column["goal"] == "max"

        def read(row: dict[str, Any]) -> Any:
            if column["group"] == "metrics":
                value = row["metrics"].get(name, {}).get("last")
                return None if isinstance(value, str) else value  # “nan”, “inf”
            return row["parameters"].get(name)

    known = [row for row in runs if read(row) is not None]
    known.sort(key=lambda row: _sort_key(read(row)), reverse=down != reverse)
    return [*known, *(row for row in runs if read(row) is None)]


def _sort_key(value: Any) -> tuple[bool, float, str]:
    """Return a key by which numbers come before texts."""
    if isinstance(value, str):
        return True, 0.0, value.casefold()
    return False, float(value), ""


def _warn_of_missing(table: dict[str, Any]) -> None:
    warnings = [text for text in (table["left_out"], table["index_problem"]) if text]
    if count := table["unreadable_count"]:
        names = listing([each["path"] for each in table["unreadable"]], MOST_NAMED)
        warnings.append(t(_n("{n} run can't be read: {names}", "{n} runs can't be read: {names}", count, names=names)))
    for text in warnings:
        say(paint(t(_("Warning:")), "Pending", sys.stderr), plain(text))


def _short_name(row: dict[str, Any], runs: Sequence[dict[str, Any]]) -> str:
    """Return the name of a run, or its id if another run has this name."""
    return str(row["name"] if sum(each["name"] == row["name"] for each in runs) == 1 else row["id"])


def _print_runs(
    runs: Sequence[dict[str, Any]], columns: Sequence[dict[str, Any]], metrics: Sequence[str], *, wide: bool
) -> None:
    shown = list(dict.fromkeys(metrics)) or [each["name"] for each in columns if each["group"] == "metrics"][:METRICS]
    differing = [each["name"] for each in columns if each["group"] == "parameters" and each["distinct"] > 1]
    parameters = differing[:PARAMETERS] if wide else []
    head = [
        Column("NAME"),
        Column("STATUS", rank=1, colored=True),
        Column("JOB", rank=4),
        *(Column(name, rank=2, right=True) for name in shown),
        *(Column(name, rank=5, right=True) for name in parameters),
        Column("DURATION", rank=4, right=True),
        Column("AGE", rank=3, right=True),
        *([Column("FOLDER", rank=6), Column("ID", rank=7)] if wide else []),
    ]
    rows = [
        [
            row["name"],
            row["status"].capitalize(),
            row["job"]["name"] if row["job"] else "",
            *(value_text(row["metrics"].get(name, {}).get("last")) for name in shown),
            *(value_text(row["parameters"].get(name)) for name in parameters),
            short_duration(row["seconds"]),
            age(row["started_at"]),
            *([row["path"] or "", row["id"]] if wide else []),
        ]
        for row in runs
    ]
    print_table(head, rows)


def value_text(value: Any) -> str:
    """Return a value of a metric or parameter for a table: numbers with 5 digits, “nan” as it is."""
    if value is None:
        return ""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


@runs_command.command(
    "get",
    cls=Command,
    help=t(_("Show a run: its state, parameters, metrics and files. A run is named by its name or its id.")),
    examples=["t9kjob runs get train-1", "t9kjob runs get train-1 --folder /data/experiments -o yaml"],
)
@click.argument("name", metavar="RUN")
@click.option("--folder", type=click.Path(), help=t(_("Folder above the run; by default the working directory.")))
@output_option("json", "yaml", "name")
@placed
def get_command(place: Place, name: str, folder: str | None, form: str | None) -> None:
    """Show a run.

    Parameters
    ----------
    place, name, folder, form
        Values of the argument and the options, each of which has its help.
    """

    async def work(session: Session) -> int:
        async with experiments_above(session, folder) as (experiments, path):
            table = json.loads(await experiments.searched(path, []))
            ident = find_run(name, [each for each in table["runs"] if is_at(each, place)])
            if form == "name":
                click.echo(ident)
                return 0
            detail = await experiments.run(ident)
        if form is not None:
            print_data(detail.model_dump(mode="json"), form)
        else:
            _print_run(detail)
        return 0

    run(place, work)


def find_run(word: str, runs: Sequence[dict[str, Any]]) -> str:
    """Return the id of the run that a word names: by id, or by name.

    Parameters
    ----------
    word
        Id or name.
    runs
        The runs to choose from.

    Raises
    ------
    NotFound
        If no run has this name or id.
    Conflict
        If several runs have this name.
    """
    from ...core.errors import Conflict, NotFound

    found = [row["id"] for row in runs if row["id"] == word] or [row["id"] for row in runs if row["name"] == word]
    if len(found) == 1:
        return str(found[0])
    if found:
        raise Conflict(
            _("Several runs have the name {name}: {ids}.", name=word[:200], ids=listing(found, MOST_NAMED)),
            code="Ambiguous",
            hint=_("Name the run by its id."),
        )
    raise NotFound(
        _("There is no run “{name}” below this folder.", name=word[:200]),
        code="NoSuchRun",
        hint=_("`t9kjob runs FOLDER` lists the runs below a folder."),
    )


def _print_run(detail: RunDetail) -> None:
    row = detail.run
    fields = [
        (t(_("Name")), row.name),
        (t(_("Status")), row.status.capitalize()),
        (t(_("Reason")), translated(row.sentence)),
        (t(_("Job")), row.job.name if row.job else None),
        (t(_("Folder")), row.path),
        (t(_("Started")), clock(row.started_at)),
        (t(_("Ended")), clock(row.ended_at)),
        (t(_("Duration")), short_duration(row.seconds)),
        (t(_("Tags")), ", ".join([*row.labels, *row.tags])),
        (t(_("Note")), row.note or detail.description),
        (t(_("Files")), str(len(detail.files)) if detail.files else None),
        (t(_("Checkpoint")), detail.checkpoints[0].path if detail.checkpoints else None),
        ("Id", row.id),
    ]
    print_fields(fields, t(_("Status")))
    if detail.parameters:
        click.echo()
        rows = [[each.name, value_text(each.value)] for each in detail.parameters]
        print_table([Column("PARAMETER"), Column("VALUE")], rows)
    if row.metrics:
        click.echo()
        head = [Column("METRIC"), *(Column(title, right=True) for title in ("LAST", "MIN", "MAX", "POINTS"))]
        rows = [
            [name, *map(value_text, (each["last"], each["min"], each["max"], each["count"]))]
            for name, each in row.metrics.items()
        ]
        print_table(head, rows)
