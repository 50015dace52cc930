"""Finds the log files of a job.

`logs/<replica>.<attempt>/` holds `launcher.log` and torchrun's own directory `ranks/`, or `container.log` when torchrun
is off. The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path
from typing import Literal, NamedTuple

from .....logs.storage import cuts
from ..records.job_files import JobFiles

INDEX_SUFFIX = ".index"
_OUTPUTS: dict[str, Literal["stdout", "stderr"]] = {"stdout.log": "stdout", "stderr.log": "stderr"}


class FoundLog(NamedTuple):
    """A log file of a job. `worker_restart` counts torchrun's own restarts before it within the attempt."""

    path: Path
    replica: str
    attempt: int
    source: Literal["rank", "launcher", "container"]
    output: Literal["stdout", "stderr", "both"]
    local_rank: int | None = None
    worker_restart: int = 0

    @property
    def id(self) -> str:
        """Id of the log stream, ``worker-0.1.rank-0.out``, with the local rank."""
        parts = [self.replica, str(self.attempt)]
        parts.append(self.source if self.local_rank is None else f"rank-{self.local_rank}")
        if self.worker_restart:
            parts.append(f"r{self.worker_restart}")
        parts.append("err" if self.output == "stderr" else "out")
        return ".".join(parts)

    @property
    def index_path(self) -> Path:
        """Path of the log's time index."""
        return self.path.with_name(self.path.name + INDEX_SUFFIX)

    @property
    def cuts_path(self) -> Path:
        """Path of the record of the bytes that were cut out of the log."""
        return self.path.with_name(self.path.name + cuts.SUFFIX)


def find_logs(files: JobFiles) -> list[FoundLog]:
    """Return all log files of a job, sorted by replica, attempt and rank; the launcher's come first."""
    found: list[FoundLog] = []
    for directory in matching(files.logs, "*.*"):
        replica, _, number = directory.name.rpartition(".")
        if number.isdecimal():
            found += logs_of_attempt(files, replica, int(number))
    return sorted(found, key=_order)


def logs_of_attempt(files: JobFiles, replica: str, attempt: int) -> list[FoundLog]:
    """Return the log files of one attempt of a replica.

    Parameters
    ----------
    files
        The job's directory.
    replica
        Name of the replica.
    attempt
        Number of the attempt.
    """
    directory = files.attempt_logs(replica, attempt)
    found: list[FoundLog] = []
    if (directory / "launcher.log").exists():
        found.append(FoundLog(directory / "launcher.log", replica, attempt, "launcher", "both"))
    if (directory / "container.log").exists():
        found.append(FoundLog(directory / "container.log", replica, attempt, "container", "both"))
    for path in matching(directory, "ranks/*/attempt_*/*/std*.log"):
        restart = path.parent.parent.name.removeprefix("attempt_")
        rank = path.parent.name
        if rank.isdecimal() and restart.isdecimal() and path.name in _OUTPUTS:
            output = _OUTPUTS[path.name]
            found.append(FoundLog(path, replica, attempt, "rank", output, int(rank), int(restart)))
    return sorted(found, key=_order)


def matching(folder: Path, pattern: str) -> list[Path]:
    """Return the paths below a folder that match a glob pattern.

    Files that are removed meanwhile are left out.

    Parameters
    ----------
    folder
        The folder. Without it, nothing matches.
    pattern
        Pattern relative to the folder, see `Path.glob`.

    Raises
    ------
    OSError
        For any other error of the disk.
    """
    try:
        return list(folder.glob(pattern))
    except FileNotFoundError:  # A folder was removed while `Path.glob` walked it; `glob` ignores that.
        return [folder / path for path in glob.glob(pattern, root_dir=folder)]  # noqa: PTH207


def _order(log: FoundLog) -> tuple[object, ...]:
    natural = tuple(int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", log.replica))
    rank = -1 if log.local_rank is None else log.local_rank
    return natural, log.attempt, log.worker_restart, rank, log.output == "stderr"
