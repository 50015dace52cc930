"""Records of spooled container logs: the container run that wrote a log, and the parts that are missing.

Each log has a record file of its own beside it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from pydantic import Field, ValidationError

from ...core.job import MissingSpan, Time
from ...core.spec import Model
from ...core.system.files import write_atomically
from ...core.translation import STORED

SUFFIX = ".json"
LOG_SUFFIX = ".log"


class SpoolRecord(Model):
    """The log of one container run: one run of a container of a pod between two restarts."""

    replica: str
    number: int = Field(description="Number of the replica's attempt, from 1.")
    pod: str
    pod_uid: str
    container: str
    container_id: str
    source: str = Field(description="“container” or “init”.")
    main: bool = Field(description="True for the training container.")
    restart: int = Field(description="Number of the container's restarts before this run.")
    started_at: Time | None = None
    ended_at: Time | None = None
    complete: bool = False
    missing: list[MissingSpan] = Field(default_factory=list)

    @property
    def key(self) -> str:
        """Name of the record's files, without suffix."""
        return key_of(self.pod_uid, self.container, self.restart)


def key_of(pod_uid: str, container: str, restart: int) -> str:
    """Return the name of a record's files, without suffix. Kubernetes allows no path separators in its parts.

    Parameters
    ----------
    pod_uid
        The pod's uid.
    container
        Name of the container.
    restart
        Number of restarts of the container before this container run.
    """
    return f"{pod_uid}.{container}.{restart}"


def read_records(folder: Path) -> dict[str, SpoolRecord]:
    """Return all records of a folder by key (blocking); files that can't be understood are left out."""
    found = {}
    with contextlib.suppress(FileNotFoundError):
        for path in folder.iterdir():
            if path.name.endswith(SUFFIX):
                with contextlib.suppress(FileNotFoundError, ValidationError):
                    record = SpoolRecord.model_validate_json(path.read_bytes())
                    if record.key + SUFFIX == path.name:
                        found[record.key] = record
    return found


def write_record(folder: Path, record: SpoolRecord) -> None:
    """Write a record (blocking).

    Parameters
    ----------
    folder
        Folder of the spool, which is made if it does not exist.
    record
        The record.

    Raises
    ------
    OSError
        If the disk is full or gone.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(folder / (record.key + SUFFIX), record.model_dump_json(context=STORED).encode())
