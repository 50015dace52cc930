"""The commands `top` and `data`: what the nodes and jobs of a cluster have, and its volumes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final

import anyio
import click

from ...core.errors import Unavailable
from ...core.translation import _, translated
from ..base import Command, Place, all_namespaces_option, jobs_of, output_option, placed, run, see_all_namespaces, t
from ..errors import say
from ..output import Column, plain, print_data, print_table, short_duration

if TYPE_CHECKING:
    from ...client.session import Session
    from ...core.capacity import Amount, NodeCapacity, NodeList

COUNTING_SECONDS: Final = 10.0
GIB: Final = 1 << 30


@click.group("top", help=t(_("Show what nodes have, and what jobs hold.")))
def top_command() -> None:
    """Show nodes and jobs."""


@top_command.command(
    "nodes",
    cls=Command,
    help=t(_("Show the GPUs, CPU and memory of each node: in use, of all; and the sum.")),
    examples=["t9kjob top nodes", "t9kjob top nodes -E kubeflow -o json"],
)
@output_option("json", "yaml", "wide")
@placed
def nodes_command(place: Place, form: str | None) -> None:
    """Show the nodes of a cluster or this machine.

    Parameters
    ----------
    place
        Options, of which the engine chooses the nodes.
    form
        ``json``, ``yaml``, ``wide``, or None for a table.
    """

    async def work(session: Session) -> int:
        nodes = await _nodes(session, await _engine(session, place))
        if form in ("json", "yaml"):
            print_data(nodes.model_dump(mode="json"), str(form))
            return 0
        columns = [
            Column("NODE"),
            Column("STATUS", rank=3),
            Column("GPUS", rank=1, right=True),
            Column("UNHEALTHY", rank=6, right=True),
            Column("CPU", rank=4, right=True),
            Column("MEMORY", rank=5, right=True),
            Column("PODS", rank=7, right=True),
        ]
        rows = [_node_row(node) for node in nodes.nodes]
        if form == "wide":
            columns += [Column("GPU MODEL", rank=8), Column("ADDRESS", rank=9)]
            rows = [[*row, node.product or "", node.address or ""] for row, node in zip(rows, nodes.nodes, strict=True)]
        print_table(columns, rows)
        gpus = _gpus(*nodes.nodes)
        used, total = (0.0, 0.0) if gpus is None else (gpus.allocated, gpus.total)
        click.echo(t(_("GPUs in use: {used} of {total}", used=_number(used), total=_number(total))))
        for sentence in [nodes.limited, *([_("The nodes are still being counted.")] if nodes.counting else [])]:
            if sentence:
                say(plain(translated(sentence)))
        return 0

    run(place, work)


async def _engine(session: Session, place: Place) -> str:
    """Return the engine that is asked for, or else the first engine of a cluster that is available, or this machine."""
    if place.engine is not None:
        return place.engine
    infos = [info for info in await session.jobs.engines.infos() if info.available and info.facts.creates_jobs]
    if not infos:
        raise Unavailable(_("No engine can be used."), hint=_("`t9kjob doctor` says what is missing."))
    return next((info.name for info in infos if info.cluster is not None), infos[0].name)


async def _nodes(session: Session, engine: str) -> NodeList:
    """Return the nodes, when nodes and pods have been read, or after some seconds."""
    moved = asyncio.Event()
    end = session.jobs.engines.capacity_source().subscribe(moved.set)
    try:
        with anyio.move_on_after(COUNTING_SECONDS):
            while (await session.jobs.engines.nodes(engine)).counting:
                await moved.wait()
                moved.clear()
        return await session.jobs.engines.nodes(engine)
    finally:
        end()


def _amount(node: NodeCapacity, resource: str) -> Amount | None:
    return next((amount for amount in node.amounts if amount.resource == resource), None)


def _gpus(*nodes: NodeCapacity) -> Amount | None:
    """Return the accelerators of nodes, those of all kinds together; None if they have none."""
    from ...core.capacity import Amount

    found = [amount for node in nodes for amount in node.amounts if amount.resource not in ("cpu", "memory")]
    if not found:
        return None
    return Amount(
        resource="gpus",
        total=sum(amount.total for amount in found),
        unhealthy=sum(amount.unhealthy for amount in found),
        allocated=sum(amount.allocated for amount in found),
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _part(amount: Amount | None, unit: float = 1, name: str = "") -> str:
    """Return “3/8”: in use, of all."""
    return "" if amount is None else f"{_number(amount.allocated / unit)}/{_number(amount.total / unit)}{name}"


def _node_row(node: NodeCapacity) -> list[str]:
    gpus = _gpus(node)
    status = "Ready" if node.ready else "NotReady"
    return [
        node.name,
        f"{status},Cordoned" if node.cordoned else status,
        _part(gpus),
        "" if gpus is None else _number(gpus.unhealthy),
        _part(_amount(node, "cpu")),
        _part(_amount(node, "memory"), GIB, "Gi"),
        str(node.pods),
    ]


@top_command.command(
    "jobs",
    cls=Command,
    help=t(_("Show the GPUs of active jobs: requested and held, with GPU-hours; the largest jobs first.")),
    examples=["t9kjob top jobs", "t9kjob top jobs -E kubeflow -n team-a", "t9kjob top jobs -A"],
)
@all_namespaces_option
@output_option("json", "yaml")
@placed
def top_jobs_command(place: Place, all_namespaces: bool, form: str | None) -> None:
    """Show the GPUs of active jobs.

    Parameters
    ----------
    place
        Options that choose the jobs.
    all_namespaces
        True for the jobs of all namespaces that the account may list.
    form
        ``json``, ``yaml``, or None for a table.
    """

    async def work(session: Session) -> int:
        from ...client.times import ran_seconds
        from .jobs import status_of

        chosen = await see_all_namespaces(session, place) if all_namespaces else place
        jobs = [job for job in await jobs_of(session, chosen) if job.phase in ("Running", "Pending", "Resuming")]
        jobs.sort(key=lambda job: job.devices.count if job.devices else 0, reverse=True)
        if form is not None:
            print_data({"jobs": [job.model_dump(mode="json") for job in jobs]}, form)
            return 0
        if not jobs:
            say(t(_("No job is active.")))
            return 0
        now = time.time()
        rows: list[list[str]] = []
        for job in jobs:
            count = job.devices.count if job.devices else 0
            held = "" if job.devices_held is None else str(job.devices_held)
            hours = job.gpu_hours_until(now)
            spent = "" if hours is None else f"{hours:.1f}"
            ran = short_duration(ran_seconds(job))
            rows.append([job.name, status_of(job), str(count), held, spent, ran, ", ".join(job.nodes)])
        columns = [
            Column("NAME"),
            Column("STATUS", rank=2, colored=True),
            Column("GPUS(REQUESTED)", rank=1, right=True),
            Column("GPUS(HELD)", rank=3, right=True),
            Column("GPU-HOURS", rank=5, right=True),
            Column("DURATION", rank=4, right=True),
            Column("NODE", rank=6),
        ]
        print_table(columns, rows)
        return 0

    run(place, work)


@click.group("data", help=t(_("Show the volumes that jobs can mount.")))
def data_command() -> None:
    """Show volumes."""


@data_command.command(
    "list",
    cls=Command,
    help=t(_("List the volumes of a namespace, with what “submit --data” takes.")),
    examples=["t9kjob data list -E kubeflow -n team-a"],
)
@output_option()
@placed
def volumes_command(place: Place, form: str | None) -> None:
    """List the volumes of a namespace.

    Parameters
    ----------
    place
        Options, of which engine and namespace choose the volumes.
    form
        ``json``, ``yaml``, ``wide``, ``name``, or None for a table.
    """

    async def work(session: Session) -> int:
        engine = await _engine(session, place)
        volumes = await session.jobs.engines.volumes(engine, place.namespace or "")
        if form in ("json", "yaml"):
            print_data({"volumes": [volume.model_dump(mode="json") for volume in volumes]}, str(form))
        elif form == "name":
            for volume in volumes:
                click.echo(volume.claim)
        elif not volumes:
            say(t(_("There are no volumes.")))
        else:
            columns: list[Any] = [
                Column("CLAIM"),
                Column("SIZE", rank=2, right=True),
                Column("MODES", rank=1),
                Column("STATUS", rank=3),
                Column("IN THIS LAB", rank=5),
                Column("IN JOBS", rank=4),
            ]
            rows = [
                [
                    volume.claim,
                    volume.capacity or "",
                    ",".join(map(_mode, volume.access_modes)),
                    volume.phase or "",
                    volume.lab_path or "",
                    volume.mount_path or "",
                ]
                for volume in volumes
            ]
            print_table(columns, rows)
        return 0

    run(place, work)


def _mode(name: str) -> str:
    """Return kubectl's short form of an access mode: “RWX”."""
    short = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
    return short.get(name, name)
