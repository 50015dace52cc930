"""Writes the hook of a job's diagnostics to its volume, from which the job's Pythons load it."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Final

from ...core.errors import FieldError
from ...core.lab import Lab
from ...core.manifests.diagnostics import hook_folder
from ...core.spec import JobSpec
from ...core.stacks.diagnostics import HOOK, HOOK_FILE
from ...core.system.disk import trouble_of
from ...core.system.disk_threads import on_disk
from ...core.system.files import write_atomically
from ...core.translation import _
from ...jobs.service import JobService

FIELD: Final = "/spec/diagnostics"


async def place_hook(jobs: JobService, spec: JobSpec, engine: str, namespace: str) -> None:
    """Write the hook if a job in a cluster has diagnostics.

    Parameters
    ----------
    jobs
        All engines.
    spec, engine, namespace
        The job and its location.

    Raises
    ------
    FieldError
        If the job has no volume that this lab can write, or the hook can't be written.
    """
    if not spec.diagnostics.any or not jobs.engines.facts(engine).has_pods:
        return
    folder = hook_folder(spec)
    if folder is None:
        return  # The manifest's own checks refuse the job.
    lab = await jobs.engines.lab(engine, namespace) or Lab()
    here = await asyncio.to_thread(lab.in_lab, folder, spec.mounts, namespace)
    if here is None:
        message = _(
            "Diagnostics need a file on the job's volume, which JupyterLab does not have at {path}.", path=folder
        )
        hint = _("Mount a volume that JupyterLab has as well, or switch the diagnostics off.")
        raise FieldError(message, field=FIELD, hint=hint, code="NoVolume")
    try:
        await on_disk(here, _write, here)
    except OSError as error:
        trouble = trouble_of(error, here)
        message = _("The diagnostics can't be put on the job's path: {problem}.", problem=trouble.sentence)
        raise FieldError(message, code=trouble.code, field=FIELD, hint=trouble.hint, verbatim=error.strerror) from error


def _write(folder: Path) -> None:
    content = (HOOK / HOOK_FILE).read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / HOOK_FILE
    with contextlib.suppress(FileNotFoundError):
        if path.read_bytes() == content:
            return
    write_atomically(path, content)
