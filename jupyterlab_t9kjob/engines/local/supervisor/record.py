"""What a local job's directory holds, and how it is written so that no kill leaves half of it.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any, Literal, TypedDict

from ....core.system.disk import no_room
from ....core.system.files import write_all, write_atomically
from ....core.system.processes import MachineId, ProcessId

DESIRED = ("run", "pause", "stop", "delete", "remove")
"""What may be wanted of a job; `remove` is a delete after which its directory goes as well."""
DELETING = frozenset({"delete", "remove"})
ACTIVE = frozenset({"Pending", "Running", "Paused", "Resuming"})
_RESERVED_BYTES = 256 * 1024
_MOST_UNTOLD = 1000


Phase = Literal["Pending", "Running", "Paused", "Resuming", "Succeeded", "Failed"]
EndedBy = Literal["itself", "user", "platform", "deadline"]


class _Newer(TypedDict, total=False):
    """Fields that the records of earlier versions lack."""

    signaled: bool
    clock: float
    ran_seconds: float


class AttemptRecord(_Newer):
    """One life of a replica.

    `first_rank` is the global rank of its local rank 0; `cause` why it was ended from outside (the
    code of an outcome, or ``Restarting``), null if it ended by itself; `signaled` whether a signal ended it.
    `clock` is its start by the machine's monotonic clock, which no change of the time of day moves; `ran_seconds` is
    how long it ran by that clock.
    """

    number: int
    started_at: float
    ended_at: float | None
    exit_code: int | None
    cause: str | None
    worker_restarts: int
    first_rank: int | None


class ReplicaRecord(TypedDict):
    """One replica and all its attempts, oldest first."""

    name: str
    status: Literal["Pending", "Running", "Completed", "Error", "Restarting", "Terminated"]
    pid: int | None
    devices: list[str]
    restarts: int
    attempts: list[AttemptRecord]


class Outcome(TypedDict):
    """A phase with its reason; `facts` are what the sentence is made of."""

    phase: Phase
    code: str
    facts: dict[str, Any]
    ended_by: EndedBy | None


class Record(TypedDict):
    """State of a job (`record.json`); written by its supervisor alone while that lives.

    `ending` is the outcome that is decided while processes still end, so that whoever finds the
    job after a crash can finish it rightly.
    """

    version: int
    uid: str
    name: str
    outcome: Outcome
    ending: Outcome | None
    created_at: float
    started_at: float | None
    ended_at: float | None
    restarts: int
    deleted: bool
    rerun_of: str | None
    machine: MachineId
    supervisor: ProcessId | None
    replicas: list[ReplicaRecord]
    failure: dict[str, Any] | None
    progress: dict[str, Any] | None


class ReplicaPlan(TypedDict):
    """How one replica is started.

    `launcher` is torchrun's part of the command, without what is chosen at each attempt; null
    when torchrun is off. `program` is what comes behind it, `resumed_program` the same after a
    pause.
    """

    name: str
    restart_policy: str
    launcher: list[str] | None
    program: list[str]
    resumed_program: list[str]
    env: dict[str, str]
    processes: int | None
    devices: int


class RunPlan(TypedDict):
    """Everything that the supervisor must know (`run.json`); never changed after creation.

    `devices` is the pool of accelerators, those that are taken first in front: names as
    ``CUDA_VISIBLE_DEVICES`` takes them, with the names of their locks; null where there is none.
    """

    uid: str
    name: str
    lock: str
    cwd: str
    replicas: list[ReplicaPlan]
    backoff_limit: int
    backoff_seconds: float
    deadline_seconds: float | None
    grace_seconds: float
    rendezvous_port: int
    log_bytes: int | None
    devices: dict[str, str] | None


def new_record(plan: RunPlan, machine: MachineId, *, paused: bool, rerun_of: str | None) -> Record:
    """Return the first state of a job."""
    return Record(
        version=1,
        uid=plan["uid"],
        name=plan["name"],
        outcome=Outcome(
            phase="Paused" if paused else "Pending",
            code="PausedByUser" if paused else "Created",
            facts={},
            ended_by=None,
        ),
        ending=None,
        created_at=time.time(),
        started_at=None,
        ended_at=None,
        restarts=0,
        deleted=False,
        rerun_of=rerun_of,
        machine=machine,
        supervisor=None,
        replicas=[
            ReplicaRecord(name=replica["name"], status="Pending", pid=None, devices=[], restarts=0, attempts=[])
            for replica in plan["replicas"]
        ],
        failure=None,
        progress=None,
    )


def holder_of_rank_0(record: Record) -> ReplicaRecord | None:
    """Return the replica that has global rank 0, the first that has begun where that isn't known; None before.

    Under torchrun the first of several replicas need not have it.
    """
    begun = [replica for replica in record["replicas"] if replica["attempts"]]
    holders = [replica for replica in begun if replica["attempts"][-1]["first_rank"] == 0]
    return next(iter(holders or begun), None)


class EventRecord(TypedDict):
    """One line of `events.jsonl`."""

    time: float
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    replica: str | None


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
        self._untold: list[bytes] = []

    def attempt_logs(self, replica: str, attempt: int) -> Path:
        """Return the directory with the logs of one attempt of a replica."""
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

    def write_record(self, record: Record, *, last: bool = False) -> None:
        """Write the job's state; on a full disk the reserved space is given up for the `last` one.

        Raises
        ------
        OSError
            If it can't be written; the one before is still there then.
        """
        data = json.dumps(record).encode()
        try:
            write_atomically(self.record, data)
        except OSError as error:
            if not (last and no_room(error) and self.reserve.exists()):
                raise
            self._write_into_reserve(data)

    def read_plan(self) -> RunPlan:
        """Read how the job is run."""
        plan: RunPlan = json.loads(self.run.read_bytes())
        return plan

    def read_desired(self) -> str:
        """Return what the user wants of the job; ``run`` if nothing readable is there."""
        try:
            text = self.desired.read_text(encoding="ascii", errors="replace").strip()
        except OSError:
            return "run"
        return text if text in DESIRED else "run"

    def write_desired(self, desired: str) -> None:
        """Say what is wanted of the job; its supervisor, or the next one, brings it about.

        On a full disk it is written over what is there: to stop or delete a job may be what makes room.
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

    def add_event(self, reason: str, message: str, *, replica: str | None = None, warning: bool = False) -> None:
        """Append an event, in words.

        Raises
        ------
        OSError
            If it can't be written now. It is remembered, and written before the next one.
        """
        event = EventRecord(
            time=time.time(),
            type="Warning" if warning else "Normal",
            reason=reason,
            message=message,
            replica=replica,
        )
        self._untold = [*self._untold[-_MOST_UNTOLD:], json.dumps(event).encode() + b"\n"]
        self.tell_events()

    def tell_events(self) -> None:
        """Write the events that could not be written when they happened.

        Raises
        ------
        OSError
            If they still can't be written.
        """
        if not self._untold:
            return
        descriptor = os.open(self.events, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            # A line that was cut short by a crash must not take the next one with it.
            torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
            try:
                write_all(descriptor, b"\n" * torn + b"".join(self._untold))
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)
        self._untold = []

    def read_events(self) -> list[EventRecord]:
        """Return all events, oldest first; a line that was cut short is left out, none if they can't be read."""
        try:
            lines = self.events.read_bytes().splitlines()
        except OSError:  # the record's own trouble tells more of it
            return []
        events: list[EventRecord] = []
        for line in lines:
            with contextlib.suppress(ValueError):
                events.append(json.loads(line))
        return events

    def beat(self) -> None:
        """Say that the supervisor lives; in place, which readers never see half done and a full disk lets pass."""
        descriptor = os.open(self.heartbeat, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, f"{time.time():.3f}".encode(), 0)
        finally:
            os.close(descriptor)

    def write_strays(self, processes: list[ProcessId]) -> None:
        """Write down processes of the job that nothing else would tell should its supervisor and guardian be killed.

        Raises
        ------
        OSError
            If they can't be written.
        """
        write_atomically(self.strays, json.dumps(processes).encode())

    def read_strays(self) -> list[ProcessId]:
        """Return what was written down; nothing if that can't be read."""
        try:
            found = json.loads(self.strays.read_bytes())
            return [ProcessId(pid=int(one["pid"]), started=str(one["started"])) for one in found]
        except (OSError, ValueError, TypeError, KeyError):
            return []

    def reserve_space(self) -> None:
        """Keep some disk space for the record of the job's end, if it is not kept already.

        Raises
        ------
        OSError
            If there is not enough.
        """
        if self.reserve.exists():
            return
        with open(self.reserve, "xb", opener=owners_only) as file:
            file.write(os.urandom(_RESERVED_BYTES))  # zeros take no space on disks that compress

    def _write_into_reserve(self, data: bytes) -> None:
        """Make the reserve the record: what is overwritten needs no new space, and nobody can take it meanwhile."""
        try:
            descriptor = os.open(self.reserve, os.O_WRONLY)
            try:
                write_all(descriptor, data)
                os.ftruncate(descriptor, len(data))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            self.reserve.replace(self.record)
        except OSError:  # disks that copy on write need new space even so
            self.reserve.unlink(missing_ok=True)
            write_atomically(self.record, data)


def owners_only(path: str, flags: int) -> int:
    """Open a file, as `open` asks its opener to, that only its owner may read if it is made here."""
    return os.open(path, flags, 0o600)
