"""Ends jobs, and changes the state of jobs without processes.

The supervisor uses this module when its job ends, the guardian after a crash of the supervisor, and a server for jobs
without a supervisor. The caller holds the job's lock. The module needs only the standard library.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ....core.system.disk import no_room, trouble_of
from ....core.system.processes import machine_id, same_boot
from ....core.translation import Text
from .logs.log_files import logs_of_attempt
from .records.job_files import JobFiles
from .records.record import ACTIVE, DELETING, Outcome, Record, ReplicaRecord, holder_of_rank_0
from .replica import tail

if TYPE_CHECKING:
    from .process_tree import Killed

_STOPPED = Outcome(phase="Failed", code="Stopped", facts={}, ended_by="user")
_PAUSED = Outcome(phase="Paused", code="PausedByUser", facts={}, ended_by="user")
_RESTARTED = Outcome(phase="Failed", code="MachineRestarted", facts={}, ended_by="platform")
_LOST = Outcome(phase="Failed", code="SupervisorLost", facts={}, ended_by="platform")
_TAIL_BYTES = 64 * 1024
RETRYABLE_CODES = frozenset({130, 137, 138, 143})
"""Exit codes that T9k's policy `ExitCode` restarts: ends by signal, and 138, with which a script asks for a restart."""


class _Event(NamedTuple):
    """An event that goes with a change of the record."""

    code: str
    facts: Mapping[str, Any] | None = None
    warning: bool = False


def conclude(files: JobFiles, record: Record, outcome: Outcome) -> None:
    """Record the end, or the pause, of a job whose processes have ended.

    Parameters
    ----------
    files
        The job's directory.
    record
        The job's state; changed in place.
    outcome
        Phase and reason of the end.

    Raises
    ------
    OSError
        If the record can't be written.
    """
    now = time.time()
    clock = time.monotonic() if same_boot(record["machine"], machine_id()) else None
    for replica in record["replicas"]:
        _close(replica, now, clock, outcome["code"])
    record["outcome"] = outcome
    record["ending"] = record["supervisor"] = None
    over = outcome["phase"] != "Paused"
    record["ended_at"] = now if over else None
    record["deleted"] = over and files.read_desired() in DELETING
    record["progress"] = _last_progress(files, record)
    if outcome["code"] not in ("ExitCode", "BackoffLimitExceeded"):
        record["failure"] = None
    files.write_record(record, last=True, before=lambda: _add_events(files, _end_events(outcome)))
    if record["ended_at"] is None:
        with contextlib.suppress(OSError):  # On a full disk, the next supervisor reserves the space.
            files.reserve_space()
    else:
        files.reserve.unlink(missing_ok=True)
    _write_events(files)


def try_to_conclude(files: JobFiles, record: Record, outcome: Outcome) -> OSError | None:
    """Call `conclude`; return the error if the record can't be written, None if it was or the directory is gone.

    Parameters
    ----------
    files, record, outcome
        See `conclude`.
    """
    try:
        conclude(files, record, outcome)
    except OSError as error:
        return error if os.path.lexists(files.path) else None
    return None


def settle(files: JobFiles, record: Record) -> bool:
    """Stop, pause or delete a job without processes if the user asked for that.

    A job that shall run again is not changed, since that needs a supervisor.

    Parameters
    ----------
    files
        The job's directory.
    record
        The job's state; changed in place.

    Returns
    -------
    bool
        True if the state changed.

    Raises
    ------
    OSError
        If the record can't be written.
    """
    desired = files.read_desired()
    phase = record["outcome"]["phase"]
    if phase not in ACTIVE:
        if desired != "delete" or record["deleted"]:
            return False
        record["deleted"] = True
        files.write_record(record, before=lambda: _add_events(files, [_Event("Deleted")]))
        _write_events(files)
        return True
    if desired == "stop" or desired in DELETING:
        conclude(files, record, _STOPPED)
        return True
    if desired == "pause" and phase != "Paused":
        conclude(files, record, _PAUSED)
        return True
    if phase != "Paused" and not same_boot(record["machine"], machine_id()):
        conclude(files, record, _RESTARTED)
        return True
    return False


def settle_lost(files: JobFiles, record: Record, killed: Killed | None = None, *, guarded: bool) -> None:
    """Record the end of a job whose supervisor died and whose processes have ended.

    The outcome is the one that the supervisor had decided on; otherwise the one that the user asked for; otherwise
    ``SupervisorLost``.

    Parameters
    ----------
    files
        The job's directory.
    record
        The job's state; changed in place.
    killed
        Processes that had to be killed.
    guarded
        True if all processes of the job are known to have ended.

    Raises
    ------
    OSError
        If the record can't be written.
    """
    record["supervisor"] = None
    if record["ending"] is not None:
        conclude(files, record, with_killed(record["ending"], killed))
    elif not settle(files, record):
        conclude(files, record, with_killed({**_LOST, "facts": {"guarded": guarded}}, killed))


def with_killed(outcome: Outcome, killed: Killed | None) -> Outcome:
    """Return an outcome whose facts include the processes that had to be killed.

    Parameters
    ----------
    outcome
        Phase and reason of the end.
    killed
        The killed processes; None if there were none.
    """
    return outcome if killed is None else {**outcome, "facts": {**outcome["facts"], "killed_processes": killed}}


def start_failure(error: OSError, cwd: str, directory: Path) -> dict[str, Any]:
    """Return the facts about a replica that could not be started.

    Parameters
    ----------
    error
        Error of the start.
    cwd
        Working directory of the job.
    directory
        The job's directory.
    """
    facts: dict[str, Any] = {"words": str(error)}
    if not os.path.isdir(cwd):  # noqa: PTH112 (`Path.is_dir` raises without permission)
        facts["working_dir"] = cwd
    elif no_room(error) or error.errno == errno.EROFS:
        facts["disk"] = trouble_of(error, directory)._asdict()
    return facts


def _end_events(outcome: Outcome) -> list[_Event]:
    facts = outcome["facts"]
    good = outcome["code"] in ("Succeeded", "Stopped", "PausedByUser")
    killed = facts.get("killed_processes")
    return [
        *([_Event("ProcessesKilled", killed, warning=True)] if killed is not None else []),
        _Event(outcome["code"], facts, warning=not good),
    ]


def _add_events(files: JobFiles, events: Sequence[_Event]) -> None:
    """Add the events of a change that is about to be recorded, unless they are there already.

    They are there if an earlier try could not record the change. `_write_events` tries again on a full disk.
    """
    if files.last_code() == events[-1].code:
        return
    for event in events:
        with contextlib.suppress(OSError):
            files.add_event(event.code, event.facts, warning=event.warning)


def _write_events(files: JobFiles) -> None:
    """Write the events that are not written yet. The record has the same facts, so a failure is only reported."""
    try:
        files.write_events()
    except OSError as error:
        sys.stderr.write(f"events could not be written: {trouble_of(error, files.path).sentence}\n")


def _close(replica: ReplicaRecord, now: float, clock: float | None, cause: str) -> None:
    replica["pid"] = None
    if replica["status"] in ("Running", "Restarting", "Pending"):
        replica["status"] = "Terminated"
    for attempt in replica["attempts"]:
        if attempt["ended_at"] is None:
            attempt["ended_at"] = now
            if clock is not None and "clock" in attempt:
                attempt["ran_seconds"] = clock - attempt["clock"]
            attempt["cause"] = cause


def prepare() -> None:
    """Import the modules that only the end of a job needs, since the package may be uninstalled while the job runs.

    It is called after the job has started, so that the start does not wait for these imports.
    """
    import dataclasses  # noqa: F401
    import traceback  # noqa: F401

    from ....core import progress  # noqa: F401
    from . import failure  # noqa: F401


def _last_progress(files: JobFiles, record: Record) -> dict[str, object] | None:
    from dataclasses import asdict  # Both imported late: the start of a job waits for every import.

    from ....core.progress import ProgressReader

    holder = holder_of_rank_0(record)
    if holder is None:
        return None
    reader = ProgressReader()
    for log in logs_of_attempt(files, holder["name"], holder["attempts"][-1]["number"]):
        if log.source != "launcher" and log.local_rank in (0, None):
            reader.feed(tail(log.path, _TAIL_BYTES), record["started_at"] or 0.0)
    if reader.reading is None:
        return None
    reading = asdict(reader.reading)
    return {name: value.stored() if isinstance(value, Text) else value for name, value in reading.items()}


def restarts(policy: str, code: int) -> bool:
    """Return True if a restart policy restarts a replica that ended with an exit code other than 0.

    Parameters
    ----------
    policy
        `OnFailure` restarts after every exit code, `ExitCode` after `RETRYABLE_CODES`, any other policy after none.
    code
        The exit code.
    """
    return policy == "OnFailure" or (policy == "ExitCode" and code in RETRYABLE_CODES)
