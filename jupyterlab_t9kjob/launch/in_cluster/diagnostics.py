"""Writes the hook of a job's diagnostics to its volume, from which the job's Pythons load it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from ...core.errors import FieldError
from ...core.manifests.diagnostics import hook_folder
from ...core.spec import JobSpec
from ...core.stacks.diagnostics import HOOK, HOOK_FILE
from ...core.system.disk import trouble_of
from ...core.system.disk_threads import on_disk
from ...core.system.files import open_regular, write_atomically
from ...core.translation import _
from ...jobs.service import JobService

FIELD: Final = "/spec/diagnostics"
_READABLE: Final = 0o444


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
    here = await jobs.engines.path_in_lab(engine, namespace, folder, spec)
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
    """Write the hook, which the job's pods may read as another user."""
    content = (HOOK / HOOK_FILE).read_bytes()
    path = folder / HOOK_FILE
    with contextlib.suppress(FileNotFoundError), open_regular(path, follow=False) as file:
        if file.read(len(content) + 1) == content and os.fstat(file.fileno()).st_mode & _READABLE == _READABLE:
            return
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, content)
    path.chmod(0o644)
    for made in (folder, folder.parent):
        with contextlib.suppress(PermissionError):  # It belongs to another user of the volume, who made it readable.
            made.chmod(made.stat().st_mode | 0o755)
