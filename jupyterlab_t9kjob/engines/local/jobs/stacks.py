"""Stacks of a local job's ranks, which its supervisor takes on request."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Final

from ....core.checks import Capability
from ....core.errors import Conflict, Unavailable
from ....core.job import Job
from ....core.stacks.raw import RawStacks, TakenStacks
from ....core.system.disk_threads import on_disk
from ....core.system.files import open_regular, write_atomically
from ....core.system.processes import LINUX
from ....core.translation import _
from ..supervisor.records.record import RunPlan
from ..supervisor.stack_taker import ANSWER, REQUEST
from .stored_job import StoredJob

ANSWER_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.05
LARGEST_ANSWER: Final = 64 * 1024 * 1024
_NOT_RUNNING: Final = _("The job does not run.")


def stacks_capability(job: Job, plan: RunPlan | None) -> Capability:
    """Return whether stacks of a job can be taken, or why not.

    Parameters
    ----------
    job
        The job.
    plan
        The job's plan, which names its Python; None if it can't be read.
    """
    if not LINUX:
        return Capability(supported=False, reason=_("Stacks of local jobs can only be taken on Linux."))
    if job.read_only is not None:
        return Capability(supported=False, reason=job.read_only)
    if job.phase != "Running" or not job.replicas_running:
        return Capability(supported=False, reason=_NOT_RUNNING)
    if program_of(plan) is None and not _diagnosed(plan):
        reason = _(
            "py-spy is not installed. Install it in the Python of JupyterLab or of the job: {command}.",
            command="pip install py-spy",
        )
        return Capability(supported=False, reason=reason)
    return Capability(supported=True)


def program_of(plan: RunPlan | None) -> str | None:
    """Return the path of py-spy: in the job's Python environment, else in that of this server, else on the PATH."""
    commands = [] if plan is None else [replica["program"] for replica in plan["replicas"][:1]]
    folders = [Path(command[0]).parent for command in commands if command and Path(command[0]).is_absolute()]
    for folder in (*folders, Path(sys.executable).parent, Path(sys.prefix, "bin")):
        found = shutil.which("py-spy", path=str(folder))
        if found is not None:
            return found
    return shutil.which("py-spy")


def _diagnosed(plan: RunPlan | None) -> bool:
    """Return True if the job's processes give their stacks or collectives without py-spy."""
    return plan is not None and ("diagnostics" in plan or "T9KJOB_STACKS" in plan["replicas"][0]["env"])


async def take_stacks(job: StoredJob, *, native: bool) -> TakenStacks:
    """Let the job's supervisor take the stacks.

    Parameters
    ----------
    job
        The job.
    native
        True for frames of C as well.

    Raises
    ------
    Conflict
        If the job does not run.
    Unavailable
        If no answer comes.
    """
    if job.record is None or job.record["outcome"]["phase"] != "Running":
        raise Conflict(_NOT_RUNNING)
    folder = job.files.path
    request: dict[str, object] = {"program": program_of(job.plan), "native": native}
    await on_disk(folder, _ask, folder, request)
    end = time.monotonic() + ANSWER_SECONDS
    while time.monotonic() < end:
        await asyncio.sleep(POLL_SECONDS)
        answer = await on_disk(folder, _read, folder)
        if answer is not None:
            return TakenStacks(stacks=[("", answer)])
        if job.record is None or job.record["outcome"]["phase"] != "Running":
            raise Conflict(_("The job ended before its stacks were taken."))
    with contextlib.suppress(OSError):
        await on_disk(folder, (folder / REQUEST).unlink)
    raise Unavailable(
        _("The job's supervisor did not take the stacks in time."),
        hint=_("A job that an older version has started can't do it."),
    )


def _ask(folder: Path, request: dict[str, object]) -> None:
    (folder / ANSWER).unlink(missing_ok=True)
    write_atomically(folder / REQUEST, json.dumps(request).encode())


def _read(folder: Path) -> RawStacks | None:
    """Return the answer and remove its file; None while there is none."""
    path = folder / ANSWER
    try:
        with open_regular(path, follow=False) as file:
            data = file.read(LARGEST_ANSWER)
    except FileNotFoundError:
        return None
    path.unlink(missing_ok=True)
    try:
        return RawStacks.model_validate_json(data)
    except ValueError as error:
        raise Unavailable(_("The stacks can't be read."), verbatim=str(error)[:500]) from error
