"""The commands `list`, `get` and `events`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from ...client.times import ran_seconds
from ...core.texts.command_lines import typed
from ...core.texts.states import STATES, state_word
from ...core.texts.wording import without_progress
from ...core.translation import Text, _, translated
from ..base import (
    Command,
    Place,
    all_namespaces_option,
    job_argument,
    output_option,
    placed,
    run,
    see_all_namespaces,
    t,
    the_job,
    warn_of_troubles,
)
from ..errors import say
from ..output import Column, age, clock, print_data, print_fields, print_table, short_duration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...client.session import Session
    from ...core.job import Event, Job, JobSummary, Replica


@click.command(
    "list",
    cls=Command,
    help=t(_("List jobs, newest first.")),
    examples=[
        "t9kjob list",
        "t9kjob list --phase Running --phase Pending",
        "t9kjob list -E kubeflow -n team-a -o wide",
        "t9kjob list -A --phase Running",
        "t9kjob list -o json | jq '.jobs[].name'",
    ],
)
@click.option(
    "--phase",
    "states",
    multiple=True,
    type=click.Choice(list(STATES), case_sensitive=False),
    help=t(_("Only jobs in this state. A stopped job is not among the failed ones.")),
)
@click.option("--mine", is_flag=True, help=t(_("Only my own jobs.")))
@all_namespaces_option
@click.option("--deleted", is_flag=True, help=t(_("Also deleted jobs whose record is kept.")))
@output_option()
@placed
def list_command(
    place: Place, states: tuple[str, ...], mine: bool, all_namespaces: bool, deleted: bool, form: str | None
) -> None:
    """List jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    states
        States of the jobs to list; empty for all states.
    mine
        True to leave out the jobs of other people.
    all_namespaces
        True for the jobs of all namespaces that the account may list.
    deleted
        True to include the records of deleted jobs.
    form
        ``json``, ``yaml``, ``wide``, ``name``, or None for a table.
    """

    async def work(session: Session) -> int:
        from ...client.lookup import matching
        from ...jobs.query import Query

        chosen = await see_all_namespaces(session, place) if all_namespaces else place
        if form not in (None, "name"):  # The table has nothing that takes long to read.
            await session.jobs.engines.read()
        known = await session.jobs.jobs(Query(deleted=True))
        query = Query(deleted=deleted)
        found = matching(filter(query.takes, known), chosen.engine, chosen.namespace)
        jobs = [job for job in found if (job.mine or not mine) and (not states or job.state in states)]
        await warn_of_troubles(session, place)
        # Another command may find other jobs by these names than those that the options choose.
        print_jobs(jobs, form, known, filtered=bool(mine or states or chosen.engine or chosen.namespace))
        return 0

    run(place, work, alone=form != "name", once=True)


def print_jobs(
    jobs: Sequence[JobSummary], form: str | None, among: Sequence[JobSummary] = (), *, filtered: bool = False
) -> None:
    """Print jobs.

    Parameters
    ----------
    jobs
        The jobs.
    form
        ``json``, ``yaml``, ``wide``, ``name``, or None for a table.
    among
        For ``name``: all jobs, with the records of deleted ones. A job whose name is not unique has its id printed.
    filtered
        True if options choose the jobs, so that there may be others.
    """
    if form in ("json", "yaml"):
        print_data({"jobs": [job.model_dump(mode="json") for job in jobs]}, form)
        return
    if form == "name":
        from ...client.lookup import short_name

        for job in jobs:
            click.echo(short_name(job, among or jobs))
        return
    if not jobs:
        say(t(_("No job matches.") if filtered else _("There are no jobs.")))
        return
    columns = [
        Column("NAME"),
        Column("STATUS", colored=True),
        Column("ENGINE", rank=3),
        Column("NODES", rank=4, right=True),
        Column("GPUS", rank=2, right=True),
        Column("DURATION", rank=5, right=True),
        Column("AGE", rank=1, right=True),
    ]
    rows = [_row(job) for job in jobs]
    if form == "wide":
        columns += [Column("NODE", rank=7), Column("OWNER", rank=8), Column("REASON", rank=6)]
        rows = [[*row, *_wide(job)] for row, job in zip(rows, jobs, strict=True)]
    print_table(columns, rows)


def _row(job: JobSummary) -> list[str]:
    where = f"{job.engine}/{job.namespace}" if job.namespace else job.engine
    ran = short_duration(ran_seconds(job))
    return [job.name, status_of(job), where, _nodes(job), _gpus(job), ran, age(job.created_at)]


def _wide(job: JobSummary) -> list[str]:
    return [", ".join(job.nodes), job.owner or "", reason_of(job) or ""]


def status_of(job: JobSummary) -> Text:
    """Return what a job does or how it ended, and whether it is deleted."""
    word = state_word(job)
    return _("{state} (deleted)", state=word) if job.deleted and not job.pending_action else word


def reason_of(job: JobSummary) -> str | None:
    """Return the sentence that says why a job is in its state, or its progress."""
    if job.stalled is not None:
        return translated(without_progress(job.stalled, time.time()))
    if job.phase == "Running" and job.progress is not None:
        return translated(job.progress.text)
    return translated(job.reason.sentence) if job.reason is not None else None


def _nodes(job: JobSummary) -> str:
    active = job.phase in ("Running", "Pending", "Resuming")
    return f"{job.replicas_running}/{job.replicas}" if active else str(job.replicas)


def _gpus(job: JobSummary) -> str:
    """Return the GPUs that a job requests, and before them those that it has if these are fewer."""
    if job.devices is None or not job.devices.count:
        return "0"
    held = job.devices_held
    return str(job.devices.count) if held in (None, job.devices.count) else f"{held}/{job.devices.count}"


@click.command(
    "get",
    cls=Command,
    help=t(_("Show a job: its state with the reason, its replicas, its command. Without a name, the newest job.")),
    examples=["t9kjob get train-1", "t9kjob get train-1 --events", "t9kjob get train-1 -o yaml"],
)
@job_argument(required=False)
@click.option("--events", "-e", "with_events", is_flag=True, help=t(_("Show events as well.")))
@click.option("--manifest", is_flag=True, help=t(_("Print the job's manifest as it was submitted.")))
@output_option("json", "yaml", "name")
@placed
def get_command(place: Place, name: str | None, with_events: bool, manifest: bool, form: str | None) -> None:
    """Show a job.

    Parameters
    ----------
    place
        Options that choose the jobs.
    name
        Name or id of the job; None for the newest job.
    with_events
        True to show the events as well.
    manifest
        True to print only the manifest as it was submitted.
    form
        ``json``, ``yaml``, ``name``, or None for text; a manifest is YAML then.
    """

    async def work(session: Session) -> int:
        summary = await the_job(session, place, name)
        if form == "name":
            click.echo(summary.id)
            return 0
        if manifest:
            view = await session.jobs.manifest(summary.id)
            print_data(view.submitted, form or "yaml")
            return 0
        job = await session.jobs.job(summary.id)
        replicas = await session.jobs.replicas(summary.id)
        events = await session.jobs.events(summary.id) if with_events else []
        if form is not None:
            data: dict[str, Any] = job.model_dump(mode="json")
            data["replicas_view"] = [replica.model_dump(mode="json") for replica in replicas]
            if with_events:
                data["events"] = [event.model_dump(mode="json") for event in events]
            print_data(data, form)
            return 0
        _print_job(job, replicas)
        if with_events:
            click.echo()
            print_events(events)
        return 0

    run(place, work)


def _print_job(job: Job, replicas: Sequence[Replica]) -> None:
    fields = [
        (t(_("Name")), job.name),
        (t(_("Status")), status_of(job)),
        (t(_("Reason")), reason_of(job)),
        (t(_("Hint")), translated(job.reason.hint) if job.reason is not None and job.reason.hint else None),
        (t(_("Engine")), job.engine),
        (t(_("Namespace")), job.namespace),
        (t(_("Queue")), job.queue),
        (t(_("Owner")), job.owner),
        (t(_("Processes")), str(job.processes) if job.processes is not None else None),
        (t(_("GPUs")), _gpus(job) if job.devices is not None else None),
        (t(_("Created")), clock(job.created_at)),
        (t(_("Started")), clock(job.started_at) if job.started_at else None),
        (t(_("Ended")), clock(job.ended_at) if job.ended_at else None),
        (t(_("Duration")), short_duration(ran_seconds(job))),
        (t(_("Restarts")), str(job.restarts) if job.restarts else None),
        (t(_("Command")), typed(job.command)),
        (t(_("Folder")), job.working_dir),
        (t(_("Log folder")), job.log_location),
        ("TensorBoard", ", ".join(job.log_dirs)),
        ("Id", job.id),
    ]
    print_fields(fields, t(_("Status")))
    click.echo()
    print_replicas(replicas)


def print_replicas(replicas: Sequence[Replica]) -> None:
    """Print the table of replicas: status, ranks, node, devices."""
    columns = [
        Column("REPLICA"),
        Column("STATUS", colored=True),
        Column("RANKS", rank=3),
        Column("AGE", rank=2, right=True),
        Column("RESTARTS", rank=5, right=True),
        Column("EXIT", rank=4, right=True),
        Column("GPUS", rank=6),
        Column("NODE", rank=1),
    ]
    rows = [
        [
            replica.name,
            replica.status,
            _spans(replica.ranks),
            age(replica.started_at),
            str(replica.restarts),
            "" if replica.exit_code is None else str(replica.exit_code),
            ",".join(replica.devices),
            replica.node or "",
        ]
        for replica in replicas
    ]
    print_table(columns, rows)


def _spans(ranks: Sequence[int]) -> str:
    """Return ranks as spans: “0-3,8”."""
    spans: list[list[int]] = []
    for rank in sorted(ranks):
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


@click.command(
    "events",
    cls=Command,
    help=t(_("List the events of a job, newest first. Without a name, of the newest job.")),
    examples=["t9kjob events train-1", "t9kjob events train-1 -o json"],
)
@job_argument(required=False)
@output_option("json", "yaml")
@placed
def events_command(place: Place, name: str | None, form: str | None) -> None:
    """List the events of a job.

    Parameters
    ----------
    place
        Options that choose the jobs.
    name
        Name or id of the job; None for the newest job.
    form
        ``json``, ``yaml``, or None for a table.
    """

    async def work(session: Session) -> int:
        job = await the_job(session, place, name)
        events = await session.jobs.events(job.id)
        if form is not None:
            print_data({"events": [event.model_dump(mode="json") for event in events]}, form)
        else:
            print_events(events)
        return 0

    run(place, work)


def print_events(events: Sequence[Event]) -> None:
    """Print the table of events."""
    if not events:
        say(t(_("There are no events.")))
        return
    columns = [
        Column("AGE", right=True),
        Column("TYPE", rank=2),
        Column("REASON", rank=1),
        Column("OBJECT", rank=3),
        Column("MESSAGE"),
    ]
    rows = [
        [
            age(event.time),
            event.type,
            event.reason,
            event.object or event.replica or "",
            translated(event.message) + (f" (x{event.count})" if event.count > 1 else ""),
        ]
        for event in events
    ]
    print_table(columns, rows)
