"""The command `open`: the address of a job's page in a running JupyterLab."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click

from ...core.errors import NotFound
from ...core.translation import _
from ..base import Command, Place, job_argument, placed, run, t, the_job

if TYPE_CHECKING:
    from ...client.session import Session


@click.command(
    "open",
    cls=Command,
    help=t(_("Print the address of a job's page in the JupyterLab that runs on this machine.")),
    examples=["t9kjob open train-1", "t9kjob open train-1 --browser"],
)
@job_argument(required=False)
@click.option("--browser", is_flag=True, help=t(_("Open the page in a browser of this machine.")))
@placed
def open_command(place: Place, name: str | None, browser: bool) -> None:
    """Print the address of a job's page.

    Parameters
    ----------
    place
        Options that choose the jobs.
    name
        Name or id of the job; None for the newest job.
    browser
        True to open the page in a browser of this machine as well.

    Raises
    ------
    NotFound
        If there is no such job, or no JupyterLab of the user runs on this machine.
    """

    async def work(session: Session) -> int:
        job = await the_job(session, place, name)
        address = f"{running_lab().rstrip('/')}/lab?t9kjob-job={quote(job.id, safe='')}"
        click.echo(address)
        if browser:
            webbrowser.open(address)
        return 0

    run(place, work)


def running_lab() -> str:
    """Return the address of the Jupyter server of this user that was started last.

    Raises
    ------
    NotFound
        If no server runs.
    """
    found = running_servers()
    if not found:
        raise NotFound(
            _("No JupyterLab of yours runs on this machine."), code="NoLab", hint=_("Start one: jupyter lab")
        )
    return str(found[0]["url"])


def running_servers() -> list[dict[str, Any]]:
    """Return the facts about the Jupyter servers of this user on this machine, the last one first (blocking)."""
    import psutil
    from jupyter_core.paths import jupyter_runtime_dir

    found: list[tuple[float, dict[str, Any]]] = []
    for path in Path(jupyter_runtime_dir()).glob("jpserver-*.json"):
        try:
            facts: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            if psutil.pid_exists(int(facts["pid"])) and facts["url"]:
                found.append((path.stat().st_mtime, facts))
        except (OSError, ValueError, KeyError, TypeError):
            continue  # The file of a server that ends, or that was killed.
    return [facts for _time, facts in sorted(found, key=lambda each: each[0], reverse=True)]
