"""What is known of each log in a spool beside its bytes: whose it is, and what is missing. One small file each."""

from __future__ import annotations

import contextlib
from pathlib import Path

from pydantic import Field, ValidationError

from ...core.job import MissingSpan, Time
from ...core.spec import Model
from ...core.system.files import write_atomically

SUFFIX = ".json"
LOG_SUFFIX = ".log"


class SpoolRecord(Model):
    """One life of a container of a pod."""

    replica: str
    number: int = Field(description="Which attempt of the replica it is, from 1.")
    pod: str
    pod_uid: str
    container: str
    container_id: str
    source: str = Field(description="“container” or “init”.")
    main: bool
    restart: int = Field(description="Restarts before it in its pod.")
    started_at: Time | None = None
    ended_at: Time | None = None
    complete: bool = False
    missing: list[MissingSpan] = Field(default_factory=list)

    @property
    def key(self) -> str:
        """Its name among the files of its folder."""
        return key_of(self.pod_uid, self.container, self.restart)


def key_of(pod_uid: str, container: str, restart: int) -> str:
    """Return the name of a record; its parts are safe in a path."""
    return f"{pod_uid}.{container}.{restart}"


def read_records(folder: Path) -> dict[str, SpoolRecord]:
    """Return all records of a folder by their keys (blocking)."""
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

    Raises
    ------
    OSError
        If the disk is full or gone.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(folder / (record.key + SUFFIX), record.model_dump_json().encode())
