"""Log directories for which a TensorBoard is opened: a job's own, or folders that must be in the contents root."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..contents_paths import DRIVE, NUL_BYTE, ContentsRoot, outside
from ..core.engine.info import EngineFacts
from ..core.errors import FieldError
from ..core.job import Job
from ..core.lab import on_volume
from ..core.translation import _

MAX_FOLDERS = 50


def folders_of(job: Job, facts: EngineFacts) -> list[Path]:
    """Return the log directories of a job on this machine. They may not exist yet.

    Parameters
    ----------
    job
        The job.
    facts
        Facts about the jobs of its engine.

    Raises
    ------
    FieldError
        If the job has no log directory, or this machine does not see it: then with the place where it can be opened.
    """
    if job.log_dirs:
        return [Path(folder) for folder in job.log_dirs]
    wanted = job.spec.tensorboard.log_dirs
    field = "/job_id"
    if not wanted or facts.shares_lab_filesystem:
        raise FieldError(_("{job} has no log directory.", job=job.name), code="NoLogDirectory", field=field)
    folder, found = wanted[0], on_volume(wanted[0], job.spec.mounts)
    if found:
        message = _(
            "{folder} is not on this machine: it is on the PVC {claim}, which is not mounted here.",
            folder=folder,
            claim=found[0],
        )
        hint = _("Open it in a JupyterLab that has this PVC mounted.")
    else:
        message = _("{folder} is not on this machine: it is on none of the job's volumes.", folder=folder)
        hint = _("Choose a log directory on a volume for the next job.")
    if job.tensorboard_url:
        hint = _("Open the cluster's own TensorBoard: {url}", url=job.tensorboard_url)
    raise FieldError(message, code="LogDirectoryElsewhere", field=field, hint=hint)


def resolve(root: ContentsRoot, paths: Sequence[str], own: Iterable[str] = ()) -> list[Path]:
    """Return log directories as absolute paths (blocking).

    Parameters
    ----------
    root
        The contents root, in which the directories must be after symbolic links were followed.
    paths
        Contents API paths or absolute paths. The directories need not exist yet.
    own
        Log directories of jobs, which may be outside the root.

    Raises
    ------
    FieldError
        If a path is outside the root, the path of a file, or no valid path; if there are no paths, or too many.
    Unavailable
        If the contents root is not on this machine's disk.
    """
    field = "/paths"
    if not 0 < len(paths) <= MAX_FOLDERS:
        raise FieldError(_("Give 1 to {most} log directories.", most=MAX_FOLDERS), field=field)
    allowed = {os.path.normpath(path) for path in own}
    found: list[Path] = []
    for index, text in enumerate(paths):
        field = f"/paths/{index}"
        text = text.strip()
        if "\0" in text:
            raise FieldError(NUL_BYTE, field=field)
        path = Path(os.path.normpath(text)) if text.startswith("/") else root.disk(text, field)
        if str(path) not in allowed:
            check(root, [path], field)
        if os.path.exists(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112 (Path raises at long names)
            raise FieldError(
                _("{path} is a file.", path=str(path)),
                code="NotAFolder",
                field=field,
                hint=_("Choose the folder that the event files are in."),
            )
        found.append(path)
    return list(dict.fromkeys(found))


def disks(root: ContentsRoot, paths: Sequence[str]) -> list[Path]:
    """Return folders on the disks that `resolve` reads, without access to any disk.

    Parameters
    ----------
    root
        The contents root.
    paths
        Contents API paths or absolute paths.

    Raises
    ------
    Unavailable
        If the contents root is not on this machine's disk.
    """
    texts = [text.strip() for text in paths[:MAX_FOLDERS] if "\0" not in text]
    found = [text if text.startswith("/") else f"{root.folder}/{DRIVE.sub('', text)}" for text in texts]
    return [root.folder, *(Path(os.path.normpath(text)) for text in found)]


def canonical(paths: Iterable[Path]) -> frozenset[str]:
    """Return the real paths of log directories, by which two sets of them are compared (blocking)."""
    return frozenset(os.path.realpath(path) for path in paths)


def check(root: ContentsRoot, paths: Iterable[Path], field: str = "/paths") -> None:
    """Check that log directories are in the root after symbolic links were followed (blocking).

    Links inside the directories are not checked. TensorBoard follows them as the file browser does, since runs are
    often kept on another disk.

    Parameters
    ----------
    root
        The contents root.
    paths
        Absolute paths.
    field
        JSON pointer of the request's field, for the error.

    Raises
    ------
    FieldError
        If a directory is outside the root.
    """
    for path in paths:
        real = Path(os.path.realpath(path))
        if not root.contains(path) or not real.is_relative_to(os.path.realpath(root.folder)):
            raise outside(path, root.folder, field, target=None if real == path else real)
