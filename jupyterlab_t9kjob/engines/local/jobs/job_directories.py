"""Writes and removes the directories of jobs, which several servers of the user see."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path
from typing import Any, Final

from ....core.system.locks import held, runtime_directory, try_lock
from ..supervisor.records.job_files import JobFiles
from ..supervisor.records.record import Record, RunPlan

_GONE: Final = ".gone-"
"""Prefix of the directory of a job that is being removed."""


class Exclusive:
    """Lock that a server holds while it creates a job or writes a request, so that no two do so at once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def __enter__(self) -> None:
        self._descriptor = try_lock(self._path, wait=True)

    def __exit__(self, *_exception: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def write_job(draft: Path, spec: dict[str, Any], plan: RunPlan, record: Record, request_id: str) -> None:
    """Write a job into a draft directory and rename that to the job's uid, so that no job is seen half written.

    Parameters
    ----------
    draft
        Directory to create beside the directories of jobs.
    spec
        The spec as plain JSON.
    plan
        The job's plan.
    record
        The job's first record.
    request_id
        Id of the request that creates the job.

    Raises
    ------
    OSError
        If the disk is full or read-only; the draft is removed then.
    """
    draft.mkdir(mode=0o700)
    files = JobFiles(draft)
    try:
        files.logs.mkdir(mode=0o700)
        _write(files.spec, json.dumps(spec))
        _write(files.run, json.dumps(plan))
        _write(files.request_id, request_id)
        paused = record["outcome"]["phase"] == "Paused"
        _write(files.desired, "pause" if paused else "run")
        _write(files.record, json.dumps(record))
        files.reserve_space()
        # Files that exist are overwritten in place later, which needs no inode.
        files.beat()
        files.words.touch(0o600)
        files.add_event(record["outcome"]["code"], {"created": True})
        _sync(draft)
        draft.rename(draft.with_name(plan["uid"]))
        _sync(draft.parent)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _write(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_job(path: Path, lock: Path) -> bool:
    """Remove the directory of a job; return False, without removing it, while the job's supervisor runs.

    Parameters
    ----------
    path
        The directory.
    lock
        Lock file of the job's supervisor.
    """
    gone = path.with_name(f"{_GONE}{path.name}")
    with held(lock) as free:
        if not free:
            return False
        with contextlib.suppress(FileNotFoundError):  # Another server has removed it.
            path.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)  # Files that are left are removed at the next start.
    return True


def remove_leftovers(directory: Path, draft_prefix: str) -> None:
    """Remove what servers that were killed left of jobs that they were creating or removing.

    Parameters
    ----------
    directory
        Directory of the jobs, in which no server of this machine creates a job now.
    draft_prefix
        Prefix of the drafts of this machine's servers.
    """
    for path in directory.glob(f"{draft_prefix}*"):
        shutil.rmtree(path, ignore_errors=True)
    for path in directory.glob(f"{_GONE}*"):
        with held(runtime_directory() / f"{path.name.removeprefix(_GONE)}.lock"):
            shutil.rmtree(path, ignore_errors=True)
