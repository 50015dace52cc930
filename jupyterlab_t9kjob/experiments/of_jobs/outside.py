"""Folders outside the contents root in which a job records runs or writes event files.

Only folders that the job itself names are searched: its `EM_RUN_PARENT_DIR`, `.em/runs` in its working directory and on
its volume, and its log directories. The lab's own account reads them, so that permissions of files hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from ...core.job import Job
from ...core.lab import Lab
from ...core.manifests.entrypoints import RECORD_FOLDER, record_directory, working_directory
from ...core.manifests.names import ENV_ARTIFACTS, ENV_RUNS
from ...core.system.disk_threads import real_path

_MOST_LOG_DIRS: Final = 10


def folders_of(job: Job, lab: Lab | None, root: Path) -> tuple[Path, ...]:
    """Return the folders, with links followed (blocking). They need not exist.

    Raises
    ------
    DiskSilent
        If the disk of a folder does not answer.

    Parameters
    ----------
    job
        The job. Jobs of other accounts have none.
    lab
        Volumes that the lab and its jobs share; None if jobs see the lab's own files.
    root
        The contents root, which is searched anyway.
    """
    if not job.mine:
        return ()
    found: list[Path] = []
    for path in _in_job(job):
        here = Path(path) if lab is None else lab.in_lab(path, job.spec.mounts, job.namespace)
        if here is not None:
            found.append(here)
    found += [Path(path) for path in job.log_dirs[:_MOST_LOG_DIRS]]
    real_root = Path(real_path(str(root)))
    real = (Path(real_path(str(folder))) for folder in found)
    return tuple(dict.fromkeys(folder for folder in real if _is_outside(folder, root, real_root)))


def artifact_folders_of(job: Job, lab: Lab | None, root: Path, runs: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders outside the contents root in which a job puts artifacts (blocking). They need not exist.

    Parameters
    ----------
    job
        The job. Jobs of other accounts have none.
    lab
        Volumes that the lab and its jobs share; None if jobs see the lab's own files.
    root
        The contents root.
    runs
        The answer of `folders_of`: the recorder puts artifacts beside a folder of runs.

    Raises
    ------
    DiskSilent
        If the disk of a folder does not answer.
    """
    found = [folder.parent / "artifacts" for folder in runs if folder.name == "runs"]
    for path in _named(job, ENV_ARTIFACTS) if job.mine else ():
        here = Path(path) if lab is None else lab.in_lab(path, job.spec.mounts, job.namespace)
        if here is not None:
            found.append(Path(real_path(str(here))))
    real_root = Path(real_path(str(root)))
    return tuple(dict.fromkeys(folder for folder in found if _is_outside(folder, root, real_root)))


def _named(job: Job, name: str) -> Iterator[str]:
    """Yield the absolute path that a variable of a job names, as the job sees it."""
    working = job.working_dir or working_directory(job.spec) or ""
    for variable in job.spec.env:
        if variable.name == name and variable.value and "\0" not in variable.value:
            path = os.path.normpath(os.path.join(working, variable.value))  # noqa: PTH118 (it may be in a pod)
            if path.startswith("/"):
                yield path
            return


def _is_outside(folder: Path, *roots: Path) -> bool:
    """Return True if a folder neither lies in a root nor holds one, as `/` does."""
    return not any(folder.is_relative_to(root) or root.is_relative_to(folder) for root in roots)


def _in_job(job: Job) -> Iterator[str]:
    """Yield the absolute paths of folders for runs as the job sees them."""
    working = job.working_dir or working_directory(job.spec) or ""
    if any(variable.name == ENV_RUNS and variable.value and "\0" not in variable.value for variable in job.spec.env):
        yield from _named(job, ENV_RUNS)
        return
    if working.startswith("/"):
        yield f"{working}/{RECORD_FOLDER}/runs"
    record = record_directory(job.spec)
    if record is not None:
        yield f"{record}/runs"
