"""What a job gets from the lab beside what its form says: user, home, a place to work, room for its logs."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

from ....core.checks import Check
from ....core.lab import Lab
from ....core.manifests import Context, rank_logs
from ....core.spec import JobSpec, Security


def inherit(
    spec: JobSpec, context: Context, lab: Lab, *, root: Path | None, keep_logs: bool
) -> tuple[JobSpec, Context, list[Check]]:
    """Return a job as it is submitted from this lab, and what there is to say about that (blocking).

    Parameters
    ----------
    context
        With the job's namespace; returned with the user and the home.
    root
        The contents root: where a module is run.
    keep_logs
        Whether jobs may keep their rank files on a volume.
    """
    namespace = context.namespace or ""
    notes: list[Check] = []
    if spec.working_dir is None and spec.entrypoint.kind in ("module", "command") and root is not None:
        place = lab.seen_by(root, spec.mounts, namespace)
        if place is not None:
            spec = spec.model_copy(update={"working_dir": str(place)})
    if not keep_logs:
        spec = spec.model_copy(update={"keep_logs": False})
    folder = rank_logs(spec)
    here = lab.in_lab(folder, spec.mounts, namespace) if folder is not None else None
    if here is not None and not _may_write(here, spec.security):
        spec = spec.model_copy(update={"keep_logs": False})
        message = f"The job may not write to {folder}, so its logs are kept only as long as its pods are followed."
        hint = "Let the job run as the user that the folder belongs to, or make the folder writable."
        notes.append(Check(level="warning", code="LogsNotKept", message=message, field="/spec/keep_logs", hint=hint))
    home = lab.home_in_job(spec.mounts, namespace)
    return spec, replace(context, home=home), notes


def _may_write(folder: Path, ids: Security) -> bool:
    """Whether a process with these ids may make something in a folder, or where that is to be made."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        found = folder.stat()
    except OSError:
        return True  # the job may see more of it than we do
    if ids.uid in (None, 0):
        return True  # the image's own user, mostly root
    if ids.uid == found.st_uid:
        return bool(found.st_mode & stat.S_IWUSR)
    if found.st_gid in (ids.gid, ids.fs_group):
        return bool(found.st_mode & stat.S_IWGRP)
    return bool(found.st_mode & stat.S_IWOTH)
