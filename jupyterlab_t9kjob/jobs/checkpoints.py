"""Checkpoint files of a job: the API's models, and a search that is limited in time, depth and number of files."""

from __future__ import annotations

import heapq
import os
import re
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import Field

from ..contents_paths import ContentsRoot
from ..core.base_model import Model
from ..core.errors import FieldError, Unavailable
from ..core.job import Fix, Job, Time
from ..core.system.disk_threads import on_disk
from ..core.translation import Text

MOST_ENTRIES: Final = 20_000
MOST_SECONDS: Final = 1.0
DEEPEST: Final = 6
MOST_FILES: Final = 200
"""Files that an answer names."""
MARGIN_SECONDS: Final = 2.0
"""Tolerance in seconds, since a network disk's times and the record's times come from different clocks."""

_CHECKPOINT: Final = re.compile(r"\.(pt|pth|pth\.tar|ckpt|safetensors|distcp|pdparams)$|^pytorch_model.*\.bin$", re.I)
# Data sets are often kept in the same formats; environments and caches have thousands of files.
_LEFT_OUT: Final = frozenset(
    {"data", "dataset", "datasets", "raw", "processed", "node_modules", "site-packages", "__pycache__"}
)


class CheckpointFile(Model):
    """One checkpoint file."""

    path: str = Field(description="Path in the contents API.")
    time: Time = Field(description="Time of the last change.")
    size: int = Field(0, description="Bytes.")
    resume: Fix | None = Field(
        None,
        description="The change of the spec by which a clone of the job resumes from the file; null if none is known, "
        "and after the newest 20.",
    )


class Checkpoints(Model):
    """Checkpoint files in a job's folders that changed while the job ran."""

    folders: list[str] = Field(
        default_factory=list, description="Folders that were searched, as paths of the contents API."
    )
    count: int = 0
    size: int = Field(0, description="Bytes of all files together.")
    newest: CheckpointFile | None = None
    files: list[CheckpointFile] = Field(default_factory=list, description="The newest 200, newest first.")
    resume_option: str | None = Field(None, description="The script's option that takes the checkpoint.")
    resume_problem: Text | None = Field(None, description="Why no file has `resume`; null if one has, or no file is.")
    complete: bool = Field(True, description="False if there were too many files or folders to search all.")


async def checkpoints_of(job: Job, root: ContentsRoot) -> Checkpoints:
    """Return the checkpoint files that were changed while a job ran, in folders that JupyterLab shows.

    Parameters
    ----------
    job
        The job.
    root
        The contents root.

    Raises
    ------
    DiskSilent
        If the disk of a folder does not answer.
    """
    if job.started_at is None:
        return Checkpoints()
    folders = folders_of(job, root)
    if not folders:
        return Checkpoints()
    ended = job.ended_at if job.ended_at is not None else time.time()
    return await on_disk(folders, find, folders, root, job.started_at - MARGIN_SECONDS, ended + MARGIN_SECONDS)


def folders_of(job: Job, root: ContentsRoot) -> list[Path]:
    """Return the folders to which a job may have written checkpoints: from its arguments, log and working directories.

    Parameters
    ----------
    job
        The job. Arguments without a slash are ignored.
    root
        The contents root, in which the folders must be.
    """
    try:
        working = root.disk(job.working_dir_path) if job.working_dir_path is not None else None
        named = [_folder(argument, working) for argument in job.spec.args]
        logs = [root.disk(path) for path in job.log_dir_paths if path is not None]
    except (FieldError, Unavailable):  # A folder is outside the contents root.
        return []
    wanted = [*(folder for folder in named if folder is not None), *logs, *([working] if working else [])]
    return [folder for folder in dict.fromkeys(wanted) if root.contains(folder)]


def find(folders: Sequence[Path], root: ContentsRoot, since: float, until: float) -> Checkpoints:
    """Search folders for checkpoint files (blocking; about `MOST_SECONDS` at most, if the disk answers).

    Parameters
    ----------
    folders
        Absolute paths. They are searched to a depth of `DEEPEST` folders; symbolic links are not followed.
    root
        The contents root, for the paths of the files.
    since, until
        Range of the files' modification times, seconds since the epoch.
    """
    found = Checkpoints(folders=[name for name in map(root.api, folders) if name is not None])
    files: list[CheckpointFile] = []
    for entry in _files(folders, found):
        if not _CHECKPOINT.search(entry.name):
            continue
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:  # The file was removed in the meantime.
            continue
        if since <= status.st_mtime <= until:
            found.count += 1
            found.size += status.st_size
            path = root.api(entry.path)
            if path is not None:
                files.append(CheckpointFile(path=path, time=status.st_mtime, size=status.st_size))
    found.files = heapq.nlargest(MOST_FILES, files, key=lambda file: file.time)
    found.newest = found.files[0] if found.files else None
    return found


def _files(folders: Sequence[Path], found: Checkpoints) -> Iterator[os.DirEntry[str]]:
    """Yield the files below folders, the nearest first, each folder once; set `found.complete` if a limit ends it."""
    end = time.monotonic() + MOST_SECONDS
    left = MOST_ENTRIES
    queue = deque((str(folder), 0) for folder in folders)
    seen: set[str] = set()
    while queue:
        folder, depth = queue.popleft()
        if folder in seen:
            continue
        seen.add(folder)
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    left -= 1
                    if left < 0 or time.monotonic() > end:
                        found.complete = False
                        return
                    if entry.is_file(follow_symlinks=False):
                        yield entry
                    elif entry.is_dir(follow_symlinks=False) and not _is_left_out(entry.name):
                        if depth < DEEPEST:
                            queue.append((entry.path, depth + 1))
                        else:
                            found.complete = False
        except OSError:  # The folder does not exist, or may not be read.
            continue


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name.lower() in _LEFT_OUT


def _folder(argument: str, working: Path | None) -> Path | None:
    """Return the folder that an argument names, or the folder of the file that it names; None if it names neither."""
    value = argument.partition("=")[2] if argument.startswith("-") else argument
    if "/" not in value or "\0" in value or "://" in value or working is None:
        return None
    path = Path(os.path.normpath(working / value))
    return path.parent if path.suffix else path
