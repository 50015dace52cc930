"""State of one local job, read from its directory whenever the files change."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ....core.job import JobSummary
from ....core.spec import NAME_PATTERN, JobSpec
from ....core.system.disk import DiskTrouble
from ..supervisor.records.job_files import JobFiles
from ..supervisor.records.record import ACTIVE, Record, RunPlan
from ..supervisor.records.record_schema import check_of
from .progress_reader import LiveProgress

T = TypeVar("T")

LONGEST_START_SECONDS = 60.0
"""Time that a supervisor whose process has not ended may take to appear in the record: a loaded machine is slow."""

LOST_SECONDS = 6 * 3600.0
"""Age of the last heartbeat from which a job of another machine may be removed: that machine may no longer exist."""

_is_record = check_of(Record)
_is_plan = check_of(RunPlan)


class StoredJob:
    """One job as it is on disk.

    Parameters
    ----------
    path
        The job's directory.

    Attributes
    ----------
    record
        The job's state; None if it can't be read.
    problem
        Error of reading the record; None if it can be read.
    spec
        The spec as plain JSON; None if it can't be read.
    plan
        The job's plan; None if it can't be read.
    desired
        State that the user asked for.
    silent_since
        Time of the last heartbeat of a job on another machine, in seconds since the epoch, if that is too long ago.
    lost
        True if the last heartbeat of a job on another machine is older than `LOST_SECONDS`.
    progress
        Progress that the log reports while the job runs.
    started_at
        When this server last started a supervisor, by the monotonic clock; 0 if it has not.
    child
        The supervisor that this server started last; None if it has started none.
    starts
        Number of supervisors that this server has started since the user's last request.
    attended_at
        When this server last checked on the job's supervisor, by the monotonic clock.
    trouble
        Disk error of the last check, so that it is logged once.
    disk_trouble
        Why the directory of the active job can't be written at present.
    summary
        The job's row in the list, cached by the engine; None after a change.
    """

    def __init__(self, path: Path) -> None:
        self.uid = path.name
        self.files = JobFiles(path)
        self.record: Record | None = None
        self.problem: str | None = None
        self.spec: dict[str, Any] | None = None
        self.plan: RunPlan | None = None
        self.request_id: str | None = None
        self.desired = "run"
        self.silent_since: float | None = None
        self.lost = False
        self.progress = LiveProgress(self.files)
        self.started_at = 0.0
        self.child: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.attended_at = 0.0
        self.trouble: str | None = None
        self.disk_trouble: DiskTrouble | None = None
        self.summary: JobSummary | None = None
        self._stamps: tuple[object, ...] = ()
        self._load_static()

    @property
    def name(self) -> str:
        """The job's name; made from its uid if neither record nor spec can be read."""
        if self.record is not None:
            return self.record["name"]
        return str((self.spec or {}).get("name") or f"job-{self.uid[:8]}")

    @property
    def holds_name(self) -> bool:
        """True if no other job may have the job's name: it is neither deleted, nor was it running on a lost machine."""
        if self.record is None:
            return True
        gone = self.lost and self.active and self.record["outcome"]["phase"] != "Paused"
        return not (self.record["deleted"] or gone)

    def is_starting(self, seconds: float) -> bool:
        """Return True while the supervisor that this server started last may still take the job over.

        Parameters
        ----------
        seconds
            Time that a supervisor which has ended, or which another server started, may have needed.
        """
        alive = self.child is not None and self.child.poll() is None
        return time.monotonic() - self.started_at < (LONGEST_START_SECONDS if alive else seconds)

    @property
    def active(self) -> bool:
        """True if the job has not ended, or its record can't be read."""
        return self.record is None or self.record["outcome"]["phase"] in ACTIVE

    @property
    def to_be_deleted(self) -> bool:
        """True if the user asked to delete or remove the job and that has not been done."""
        if self.record is None:
            return False
        return self.desired == "remove" or (self.desired == "delete" and not self.record["deleted"])

    def refresh(self) -> bool:
        """Read the files that have changed; return whether any has."""
        stamps = (stamp_of(self.files.record), stamp_of(self.files.desired))
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        self.summary = None
        self.desired = self.files.read_desired()
        try:
            self.record = _sound(self.files.read_record())
            self.problem = None
        except (OSError, ValueError) as error:
            if self.record is None or isinstance(error, FileNotFoundError | ValueError):
                self.record, self.problem = None, str(error)
            # Otherwise the disk has an error or permission is missing: the record read before is kept.
        return True

    def last_heartbeat(self) -> float | None:
        """Return the time of the supervisor's last heartbeat, in seconds since the epoch; None if there is none."""
        try:
            return float(self.files.heartbeat.read_text())
        except (OSError, ValueError):
            return None

    def _load_static(self) -> None:
        self.spec = _readable(self._read_spec)
        self.plan = _readable(self._read_plan)
        self.request_id = _readable(self.files.request_id.read_text)

    def _read_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = json.loads(self.files.spec.read_bytes())
        JobSpec.model_validate(spec)
        return spec

    def _read_plan(self) -> RunPlan:
        plan = self.files.read_plan()
        if not _is_plan(plan):
            raise ValueError("run.json has the wrong format")
        return plan


def _readable(read: Callable[[], T]) -> T | None:
    """Return the result of a read; None if the file is missing or has the wrong format."""
    try:
        return read()
    except (OSError, ValueError):
        return None


def _sound(record: Record) -> Record:
    """Return a record after a check of its format.

    Raises
    ------
    ValueError
        If a field is missing or has another type.
    """
    if not (_is_record(record) and record["replicas"] and re.fullmatch(NAME_PATTERN, record["name"])):
        raise ValueError("record.json lacks something, or has something else in its place")
    return record


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return a value that changes whenever a file changes; None if the file does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
