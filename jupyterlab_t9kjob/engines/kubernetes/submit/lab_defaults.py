"""Defaults that a job takes from the lab: user, home directory, working directory, and a folder for its logs."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

from ....core.checks import Check
from ....core.lab import Lab
from ....core.manifests import Context, rank_logs
from ....core.spec import JobSpec, Security
from ....core.translation import _


def inherit(
    spec: JobSpec, context: Context, lab: Lab, *, root: Path | None, keep_logs: bool
) -> tuple[JobSpec, Context, list[Check]]:
    """Complete a job's specification with the lab's defaults (blocking).

    Parameters
    ----------
    spec
        The specification as the form gives it.
    context
        Context of the manifest, with the job's namespace and user.
    lab
        The lab.
    root
        Contents root, the default working directory of modules and commands; None if files are not on this machine.
    keep_logs
        True if jobs may keep their ranks' log files on a volume.

    Returns
    -------
    spec : JobSpec
        The specification that is submitted.
    context : Context
        The context with the home directory.
    notes : list of Check
        Warnings about the defaults.
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
        check = Check(
            level="warning",
            code="LogsNotKept",
            message=_(
                "The job may not write to {folder}, so its logs are kept only while a lab follows its pods.",
                folder=str(folder),
            ),
            hint=_("Run the job as the user that owns the folder, or make the folder writable."),
            field="/spec/keep_logs",
        )
        notes.append(check)
    home = lab.home_in_job(spec.mounts, namespace)
    return spec, replace(context, home=home), notes


def _may_write(folder: Path, ids: Security) -> bool:
    """Return True if a process with these ids may create files in a folder, or may create the folder."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    try:
        found = folder.stat()
    except OSError:
        return True  # Not visible to the lab; the job may see it.
    if ids.uid in (None, 0):
        return True  # None is the image's own user, mostly root.
    if ids.uid == found.st_uid:
        return bool(found.st_mode & stat.S_IWUSR)
    if found.st_gid in (ids.gid, ids.fs_group):
        return bool(found.st_mode & stat.S_IWGRP)
    return bool(found.st_mode & stat.S_IWOTH)
