"""Formats of the files in a local job's directory: plan, record and events.

`JobFiles` in `job_files` reads and writes them. The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import time
from typing import Any, Literal, TypedDict

from .....core.system.processes import MachineId, ProcessId

DESIRED = ("run", "pause", "stop", "delete", "remove")
"""States that a user can ask for; `remove` is a delete after which the job's directory is removed as well."""
DELETING = frozenset({"delete", "remove"})
ACTIVE = frozenset({"Pending", "Running", "Paused", "Resuming"})

Phase = Literal["Pending", "Running", "Paused", "Resuming", "Succeeded", "Failed"]
EndedBy = Literal["itself", "user", "platform", "deadline"]


class _LaterAttemptFields(TypedDict, total=False):
    """Fields of attempts that records of earlier versions lack."""

    signaled: bool
    clock: float
    ran_seconds: float


class AttemptRecord(_LaterAttemptFields):
    """One attempt of a replica.

    Attributes
    ----------
    number
        1 for the first attempt.
    started_at, ended_at
        Seconds since the epoch; `ended_at` is null while the attempt runs.
    exit_code
        Exit code of the main process, 128 + n after signal n.
    cause
        Why the attempt was ended from outside: the code of an outcome, or ``Restarting``; null if it ended by itself.
    worker_restarts
        Number of times that torchrun restarted the ranks within the attempt.
    first_rank
        Global rank of the replica's local rank 0; null while it is unknown.
    signaled
        True if a signal ended the main process.
    clock
        Start by the machine's monotonic clock, which does not follow changes of the time of day.
    ran_seconds
        Duration by the monotonic clock.
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
    """A phase and its reason: a code, and the facts from which the server makes the sentence (`jobs.reasons`).

    `ended_by` is null while the job is active.
    """

    phase: Phase
    code: str
    facts: dict[str, Any]
    ended_by: EndedBy | None


class Record(TypedDict):
    """State of a job (`record.json`), written only by its supervisor while the supervisor runs.

    `ending` is the outcome that the supervisor has decided on while the job's processes still end. A process that
    finishes the job after a crash of the supervisor uses it. Times are seconds since the epoch.
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


class _LaterReplicaFields(TypedDict, total=False):
    """Fields that plans of earlier versions lack, and plans without debug mode."""

    debugged_launcher: list[str] | None
    debugged_program: list[str]
    debugged_rank: list[str]


class ReplicaPlan(_LaterReplicaFields):
    """Plan of one replica: its command, environment and files.

    Attributes
    ----------
    launcher
        torchrun's part of the command, without the options that each attempt chooses; null when torchrun is off.
    program
        Rest of the command.
    resumed_program
        Rest of the command after a pause.
    env
        Environment variables that are added to the supervisor's own.
    processes
        Number of ranks; null if torchrun decides.
    devices
        Number of accelerators that the replica claims.
    debugged_launcher, debugged_program
        Command that debug mode keeps from running, in the same two parts.
    debugged_rank
        The part of that command which one rank runs.
    """

    name: str
    restart_policy: str
    launcher: list[str] | None
    program: list[str]
    resumed_program: list[str]
    env: dict[str, str]
    processes: int | None
    devices: int


class SweepPlan(TypedDict):
    """The job's place in its sweep, see `sweep_turn`.

    Attributes
    ----------
    queue
        Name of the queue of the sweep's jobs on this machine.
    number
        The job's place in the queue.
    at_a_time
        Number of jobs that have their turn together.
    on_failure
        Effect of a failed job on the others.
    """

    queue: str
    number: int
    at_a_time: int
    on_failure: str


class ClonePlan(TypedDict):
    """The git repository that a job runs, see `clone_program`.

    Attributes
    ----------
    folder
        Folder in which the clone is made, as ``files``.
    address, ref, commit
        The repository and its commit; the commit is reached from the ref, empty for the default branch.
    submodules, history
        True to clone these too.
    protocols
        Protocols that git may use.
    """

    folder: str
    address: str
    ref: str
    commit: str
    submodules: bool
    history: bool
    protocols: list[str]


class DiagnosticsPlan(TypedDict):
    """The diagnostics of the job's processes, see `core.stacks.diagnostics`."""

    stacks: bool
    collectives: bool


class _LaterPlanFields(TypedDict, total=False):
    """Fields that plans of earlier versions lack, and plans of most jobs."""

    sweep: SweepPlan
    code: ClonePlan
    niceness: int
    diagnostics: DiagnosticsPlan


class RunPlan(_LaterPlanFields):
    """Everything that a supervisor needs to run a job (`run.json`); never changed after creation.

    `devices` is the pool of accelerators in the order in which they are claimed: names for ``CUDA_VISIBLE_DEVICES``
    with the names of their locks; null on a machine without accelerators. `niceness` is added to that of all processes.
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
    """Return the record of a job that was just created.

    Parameters
    ----------
    plan
        The job's plan.
    machine
        Machine on which the job runs.
    paused
        True if the job waits to be resumed.
    rerun_of
        Id of the job that this one repeats.
    """
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
    """Return the replica with global rank 0; the first one that has started while ranks are unknown.

    Under torchrun any of several replicas can have rank 0. None if no replica has started.
    """
    begun = [replica for replica in record["replicas"] if replica["attempts"]]
    holders = [replica for replica in begun if replica["attempts"][-1]["first_rank"] == 0]
    return next(iter(holders or begun), None)


class _OlderEventFields(TypedDict, total=False):
    """Field of events that earlier versions wrote instead of `facts`."""

    message: str


class EventRecord(_OlderEventFields):
    """One line of `events.jsonl`: `reason` is the event's code; `jobs.events` makes the sentence from the facts."""

    time: float
    type: Literal["Normal", "Warning"]
    reason: str
    facts: dict[str, Any]
    replica: str | None
