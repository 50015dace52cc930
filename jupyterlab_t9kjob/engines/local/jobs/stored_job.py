"""One local job as its directory tells it, read again when it changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ....core.job import JobSummary
from ....core.spec import NAME_PATTERN, JobSpec
from ....core.system.disk import DiskTrouble
from ..supervisor.record import ACTIVE, JobFiles, Record, RunPlan
from ..supervisor.record_schema import check_of
from .progress_reader import LiveProgress

T = TypeVar("T")

_is_record = check_of(Record)
_is_plan = check_of(RunPlan)


class StoredJob:
    """One job as it is on disk.

    Attributes
    ----------
    record
        Its state; None if that can't be read, and `problem` says why.
    spec
        The spec as plain JSON; None if that can't be read.
    desired
        What the user wants of it.
    silent_since
        When another machine's job was last heard of, if that is too long ago.
    progress
        What its log says while it runs.
    summary
        Its row in the list, kept by whoever made it; None after a change.
    disk_trouble
        Why its directory takes no writing at present, while it is active.
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
        self.progress = LiveProgress(self.files)
        self.started_at = 0.0
        self.starts = 0
        self.attended_at = 0.0
        self.trouble: str | None = None
        self.disk_trouble: DiskTrouble | None = None
        self.summary: JobSummary | None = None
        self._stamps: tuple[object, ...] = ()
        self._load_static()

    @property
    def name(self) -> str:
        """The job's name; its uid's beginning if nothing on disk tells it."""
        if self.record is not None:
            return self.record["name"]
        return str((self.spec or {}).get("name") or f"job-{self.uid[:8]}")

    @property
    def active(self) -> bool:
        """Whether something may still happen to it by itself."""
        return self.record is None or self.record["outcome"]["phase"] in ACTIVE

    @property
    def unfinished_wish(self) -> bool:
        """Whether a delete has not been brought about; a removed job is gone, so here it has not been removed."""
        if self.record is None:
            return False
        return self.desired == "remove" or (self.desired == "delete" and not self.record["deleted"])

    def refresh(self) -> bool:
        """Read what has changed; return whether anything has."""
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
            # else its disk has a trouble, or nobody may look: what was known holds until more is
        return True

    def last_heartbeat(self) -> float | None:
        """Return when the supervisor last said that it lives, in seconds since the epoch."""
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
            raise ValueError("run.json is not a plan that this version knows")
        return plan


def _readable(read: Callable[[], T]) -> T | None:
    """Return what is read; None if that is not there, or not what it should be."""
    try:
        return read()
    except (OSError, ValueError):
        return None


def _sound(record: Record) -> Record:
    """Return a record that may be relied upon.

    Raises
    ------
    ValueError
        If something in it is missing or of another kind.
    """
    if not (_is_record(record) and record["replicas"] and re.fullmatch(NAME_PATTERN, record["name"])):
        raise ValueError("record.json lacks something, or has something else in its place")
    return record


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Return what tells one state of a file from the next; None if it isn't there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
