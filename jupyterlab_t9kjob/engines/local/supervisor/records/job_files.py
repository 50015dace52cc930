"""Reads and writes the files of a local job's directory.

Files are written so that a process that is killed leaves none half written. The supervisor uses this module, so it
needs only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .....core.system.disk import no_room
from .....core.system.files import write_all, write_atomically
from .....core.system.processes import ProcessId
from .record import DESIRED, EventRecord, Record, RunPlan

_RESERVED_BYTES = 256 * 1024
_MOST_UNWRITTEN = 1000


class JobFiles:
    """The files of one job.

    Parameters
    ----------
    path
        The job's directory.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spec = path / "spec.json"
        self.run = path / "run.json"
        self.record = path / "record.json"
        self.events = path / "events.jsonl"
        self.desired = path / "desired"
        self.request_id = path / "request_id"
        self.heartbeat = path / "heartbeat"
        self.reserve = path / "reserve"
        self.words = path / "supervisor.log"
        self.strays = path / "strays.json"
        self.logs = path / "logs"
        self.samples = path / "resources"
        self.diagnostics = path / "diagnostics"
        self._unwritten: list[bytes] = []

    def attempt_logs(self, replica: str, attempt: int) -> Path:
        """Return the directory with the logs of one attempt of a replica.

        Parameters
        ----------
        replica
            Name of the replica, such as ``worker-0``.
        attempt
            Number of the attempt, from 1.
        """
        return self.logs / f"{replica}.{attempt}"

    def read_record(self) -> Record:
        """Read the job's state.

        Raises
        ------
        OSError
            If it can't be read.
        ValueError
            If it is not a record.
        """
        record: Record = json.loads(self.record.read_bytes())
        if not isinstance(record, dict) or record.get("version") != 1 or "outcome" not in record:
            raise ValueError("record.json is not a record that this version knows")
        return record

    def write_record(self, record: Record, *, last: bool = False, before: Callable[[], None] | None = None) -> None:
        """Write the job's state.

        Parameters
        ----------
        record
            The job's state.
        last
            True for the record of the job's end, which may use the reserved space if the disk is full.
        before
            Writes what a reader of this state must find, such as its event; after the record if the disk is full. If
            the record can't be written, or the process is killed, it may have run without the new state.

        Raises
        ------
        OSError
            If the record can't be written; the previous one is kept then.
        """
        data = json.dumps(record).encode()
        try:
            write_atomically(self.record, data, before=before)
        except OSError as error:
            if not (last and no_room(error) and self.reserve.exists()):
                raise
            self._write_into_reserve(data)
            if before is not None:
                before()

    def read_plan(self) -> RunPlan:
        """Read the job's plan; raises `OSError` or `ValueError` if it can't be read."""
        plan: RunPlan = json.loads(self.run.read_bytes())
        return plan

    def read_desired(self) -> str:
        """Return the state that the user asked for; ``run`` if the file can't be read."""
        try:
            text = self.desired.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return "run"
        return text if text in DESIRED else "run"

    def write_desired(self, desired: str) -> None:
        """Write the state that the user asks for, which the job's supervisor brings about.

        On a full disk the file is overwritten in place, since stopping or deleting a job may be what makes room.
        """
        text = f"{desired:<{max(map(len, DESIRED))}}".encode()
        try:
            write_atomically(self.desired, text)
        except OSError as error:
            if not no_room(error):
                raise
            descriptor = os.open(self.desired, os.O_WRONLY)
            try:
                os.pwrite(descriptor, text, 0)
            finally:
                os.close(descriptor)

    def add_event(
        self, code: str, facts: Mapping[str, Any] | None = None, *, replica: str | None = None, warning: bool = False
    ) -> None:
        """Append an event.

        Parameters
        ----------
        code
            The event's code, from which `jobs.events` makes the sentence.
        facts
            Parameters of the sentence.
        replica
            Name of the replica that the event is about.
        warning
            True for an event of type ``Warning``.

        Raises
        ------
        OSError
            If the event can't be written now. It is kept in memory and written with the next one.
        """
        event = EventRecord(
            time=time.time(),
            type="Warning" if warning else "Normal",
            reason=code,
            facts=dict(facts or {}),
            replica=replica,
        )
        self._unwritten = [*self._unwritten[-_MOST_UNWRITTEN:], json.dumps(event).encode() + b"\n"]
        self.write_events()

    def write_events(self) -> None:
        """Write the events that could not be written before.

        Raises
        ------
        OSError
            If they still can't be written.
        """
        if not self._unwritten:
            return
        descriptor = os.open(self.events, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            # A line that a crash cut short must not spoil the next one.
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            try:
                write_all(descriptor, b"\n" * torn + b"".join(self._unwritten))
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        self._unwritten = []

    def last_code(self) -> str | None:
        """Return the code of the newest event, which may not be written yet; None if there is none."""
        if self._unwritten:
            return str(json.loads(self._unwritten[-1])["reason"])
        events = self.read_events()
        return events[-1]["reason"] if events else None

    def read_events(self) -> list[EventRecord]:
        """Return all readable events, oldest first; an empty list if the file can't be read."""
        try:
            lines = self.events.read_bytes().splitlines()
        except OSError:  # The job's reason reports the disk's trouble.
            return []
        events: list[EventRecord] = []
        for line in lines:
            with contextlib.suppress(ValueError):
                events.append(json.loads(line))
        return events

    def beat(self) -> None:
        """Write the time of the heartbeat in place, which works on a full disk and is never seen half written."""
        descriptor = os.open(self.heartbeat, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, f"{time.time():.3f}".encode(), 0)
        finally:
            os.close(descriptor)

    def write_strays(self, processes: list[ProcessId]) -> None:
        """Record processes without the job's mark, so that they are found if supervisor and guardian are killed.

        Raises
        ------
        OSError
            If they can't be written.
        """
        write_atomically(self.strays, json.dumps(processes).encode())

    def read_strays(self) -> list[ProcessId]:
        """Return the recorded processes without a mark; an empty list if they can't be read."""
        try:
            found = json.loads(self.strays.read_bytes())
            return [ProcessId(pid=int(process["pid"]), started=str(process["started"])) for process in found]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def reserve_space(self) -> None:
        """Reserve disk space for the record of the job's end.

        Raises
        ------
        OSError
            If the disk has not enough space.
        """
        if self.reserve.exists():
            return
        with open(self.reserve, "xb", opener=owners_only) as file:
            file.write(os.urandom(_RESERVED_BYTES))  # Zeros take no space on file systems that compress.

    def _write_into_reserve(self, data: bytes) -> None:
        """Write the record over the reserve and rename it: overwriting needs no new space."""
        try:
            descriptor = os.open(self.reserve, os.O_WRONLY)
            try:
                write_all(descriptor, data)
                os.ftruncate(descriptor, len(data))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self.reserve.replace(self.record)
        except OSError:  # File systems that copy on write need new space even for overwriting.
            self.reserve.unlink(missing_ok=True)
            write_atomically(self.record, data)


def owners_only(path: str, flags: int) -> int:
    """Open a file for `open(opener=…)`; a new file is readable by its owner only.

    Parameters
    ----------
    path, flags
        As in `os.open`.

    Returns
    -------
    int
        The file descriptor.

    Raises
    ------
    OSError
        If the file can't be opened.
    """
    return os.open(path, flags, 0o600)
