"""The ranks' log files that torchrun writes on a job's volume, if the lab has mounted the volume.

The files are ``<folder>/<pod uid>/<rendezvous id>_<random>/attempt_<n>/<local rank>/{stdout,stderr}.log``. Everything
below the folder was written by the job, so links are not followed and the number of entries is limited.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from ....logs.storage import index

MOST_ENTRIES: Final = 10_000
"""Most entries of a folder, and most files in all, that are read."""
INDEX_SUFFIX: Final = ".ranks.index"
_OUTPUTS: Final[dict[str, Literal["stdout", "stderr"]]] = {"stdout.log": "stdout", "stderr.log": "stderr"}
_POD: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9]{0,99}")
_ATTEMPT: Final = re.compile(r"attempt_(\d{1,6})")
_RANK: Final = re.compile(r"\d{1,6}")


@dataclass(frozen=True)
class RankLog:
    """A rank's log file.

    Attributes
    ----------
    path
        Path of the file.
    pod_uid
        Uid of the rank's pod.
    container_run
        Number of the container run that wrote the file, from 0, in the order in which the runs' folders were made.
    begun
        Start of the container run in seconds since the epoch.
    worker_restart, local_rank, output
        torchrun's restart count, local rank and output stream.
    size
        Size in bytes.
    modified
        Time of the last write in seconds since the epoch.
    """

    path: Path
    pod_uid: str
    container_run: int
    begun: float
    worker_restart: int
    local_rank: int
    output: Literal["stdout", "stderr"]
    size: int
    modified: float

    def index_in(self, folder: Path) -> Path:
        """Return the path of the file's index in a folder of the server: nothing is written to the user's volume."""
        name = f"{self.pod_uid}/{self.path.parts[-4]}/{self.worker_restart}/{self.local_rank}/{self.output}"
        return folder / (hashlib.sha256(name.encode()).hexdigest()[:32] + INDEX_SUFFIX)


def find_rank_logs(folder: Path) -> list[RankLog]:
    """Return the ranks' files below a folder, in the order of the container runs (blocking)."""
    found: list[RankLog] = []
    for pod in _folders(folder):
        if not _POD.fullmatch(pod.name):
            continue
        runs = sorted(_folders(Path(pod.path)), key=_begun)
        for container_run, run in enumerate(runs):
            for rank in _ranks_of(Path(run.path), pod.name, container_run, _begun(run)):
                found.append(rank)
                if len(found) >= MOST_ENTRIES:
                    return found
    return found


def _ranks_of(run: Path, pod_uid: str, container_run: int, begun: float) -> Iterator[RankLog]:
    for attempt in _folders(run):
        number = _ATTEMPT.fullmatch(attempt.name)
        if number is None:
            continue
        for rank in _folders(Path(attempt.path)):
            if not _RANK.fullmatch(rank.name):
                continue
            for name, output in _OUTPUTS.items():
                path = Path(rank.path, name)
                with contextlib.suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield RankLog(
                            path=path,
                            pod_uid=pod_uid,
                            container_run=container_run,
                            begun=begun,
                            worker_restart=int(number[1]),
                            local_rank=int(rank.name),
                            output=output,
                            size=status.st_size,
                            modified=status.st_mtime,
                        )


def _folders(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                (entry for entry in islice(entries, MOST_ENTRIES) if entry.is_dir(follow_symlinks=False)),
                key=lambda entry: entry.name,
            )
    except OSError:
        return []


def _begun(run: os.DirEntry[str]) -> float:
    """Return when torchrun started its first attempt; the folder does not change once all ranks have their folders."""
    for path in (Path(run.path, "attempt_0"), Path(run.path)):
        with contextlib.suppress(OSError):
            return path.lstat().st_mtime
    return 0.0


class RankIndexes:
    """Writes the time indexes of the ranks' files.

    Parameters
    ----------
    folder
        Folder of the indexes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[Path, int] = {}

    def note(self, logs: list[RankLog], now: float) -> bool:
        """Record the growth of files in their indexes; return True if a file has grown (blocking).

        Bytes that were written before the first call get the time of the last write to their file.

        Parameters
        ----------
        logs
            The files.
        now
            Seconds since the epoch.

        Raises
        ------
        OSError
            If the disk is full or gone.
        """
        have_grown = False
        for log in logs:
            path = log.index_in(self._folder)
            size = self._sizes.get(path)
            if size is None:
                times = index.TimeIndex(path)
                times.refresh()
                size = self._sizes[path] = times.size
            if log.size <= size:
                continue
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                index.append(descriptor, min(log.modified, now), log.size)
            finally:
                os.close(descriptor)
            self._sizes[path] = log.size
            have_grown = True
        return have_grown
