"""Transitions of a job that has no processes, and the end of every job.

Used by the supervisor when it ends, by its guardian when it died, and by a server for jobs that
have no supervisor. Whoever calls these holds the job's lock. Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from ....core.system.disk import trouble_of
from ....core.system.processes import machine_id, same_boot
from .log_files import logs_of_attempt
from .record import ACTIVE, DELETING, JobFiles, Outcome, Record, ReplicaRecord, holder_of_rank_0
from .replica import tail

_EVENTS = {
    "Succeeded": "The job succeeded.",
    "Stopped": "Stopped by you.",
    "PausedByUser": "Paused by you.",
    "DeadlineExceeded": "The job ran longer than its deadline allows.",
    "BackoffLimitExceeded": "The job failed: its restarts are used up.",
    "ExitCode": "The job failed.",
    "StartFailed": "The job could not be started.",
    "SupervisorLost": "The job's supervisor ended before the job did.",
    "MachineRestarted": "The machine was restarted while the job ran.",
    "DirectoryRemoved": "The job's directory was removed while it ran.",
}
_STOPPED = Outcome(phase="Failed", code="Stopped", facts={}, ended_by="user")
_PAUSED = Outcome(phase="Paused", code="PausedByUser", facts={}, ended_by="user")
_RESTARTED = Outcome(phase="Failed", code="MachineRestarted", facts={}, ended_by="platform")
_LOST = Outcome(phase="Failed", code="SupervisorLost", facts={}, ended_by="platform")
_TAIL_BYTES = 64 * 1024


def conclude(files: JobFiles, record: Record, outcome: Outcome) -> None:
    """Write the end, or the pause, of a job that has no processes any more.

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
    files.write_record(record, last=True)
    if record["ended_at"] is None:
        with contextlib.suppress(OSError):  # a full disk; the next one to write the record tries again
            files.reserve_space()
    else:
        files.reserve.unlink(missing_ok=True)
    words, killed = outcome["facts"].get("words"), outcome["facts"].get("killed")
    if killed:
        _tell(files, "ProcessesKilled", killed, warning=True)
    message = _EVENTS[outcome["code"]] + (f" {words}" if words else "")
    good = outcome["code"] in ("Succeeded", "Stopped", "PausedByUser")
    _tell(files, outcome["code"], message, warning=not good)


def try_to_conclude(files: JobFiles, record: Record, outcome: Outcome) -> OSError | None:
    """Do the same; return what keeps the disk from taking it."""
    try:
        conclude(files, record, outcome)
    except OSError as error:
        # Removed while it ran, there is nothing left to write to.
        return error if os.path.lexists(files.path) else None
    return None


def settle(files: JobFiles, record: Record) -> bool:
    """Bring about what is desired of a job without processes; return whether that changed it.

    A job that is to run again is left alone: that needs a supervisor.
    """
    desired = files.read_desired()
    phase = record["outcome"]["phase"]
    if phase not in ACTIVE:
        if desired != "delete" or record["deleted"]:
            return False
        record["deleted"] = True
        files.write_record(record)
        _tell(files, "Deleted", "Deleted by you. The record and the logs are kept.")
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


def settle_lost(files: JobFiles, record: Record, killed: str | None = None, *, guarded: bool) -> None:
    """End a job whose supervisor died and whose processes are gone.

    What was decided before counts, then what the user asked for.

    Parameters
    ----------
    killed
        In words, how many of the processes had to be killed.
    guarded
        Whether all its processes are known to have ended.
    """
    record["supervisor"] = None
    if record["ending"] is not None:
        conclude(files, record, with_killed(record["ending"], killed))
    elif not settle(files, record):
        conclude(files, record, with_killed({**_LOST, "facts": {"guarded": guarded}}, killed))


def with_killed(outcome: Outcome, killed: str | None) -> Outcome:
    """Return an outcome that tells as well which processes had to be killed."""
    return outcome if killed is None else {**outcome, "facts": {**outcome["facts"], "killed": killed}}


def _tell(files: JobFiles, code: str, message: str, *, warning: bool = False) -> None:
    """Add the event of a change that is recorded already: without it the record still says all."""
    try:
        files.add_event(code, message, warning=warning)
    except OSError as error:
        sys.stderr.write(f"event {code} could not be written: {trouble_of(error, files.path).sentence}\n")


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
    """Import what only the end of a job needs, as long as it is there: the package may be uninstalled meanwhile.

    To be called when the job has been started, which waits for no import.
    """
    import dataclasses  # noqa: F401
    import traceback  # noqa: F401

    from ....core import progress  # noqa: F401
    from . import failure  # noqa: F401


def _last_progress(files: JobFiles, record: Record) -> dict[str, object] | None:
    from dataclasses import asdict  # both only at the end: the start of a job waits for every import

    from ....core.progress import ProgressReader

    holder = holder_of_rank_0(record)
    if holder is None:
        return None
    reader = ProgressReader()
    for log in logs_of_attempt(files, holder["name"], holder["attempts"][-1]["number"]):
        if log.source != "launcher" and log.local_rank in (0, None):
            reader.feed(tail(log.path, _TAIL_BYTES), record["started_at"] or 0.0)
    return asdict(reader.reading) if reader.reading is not None else None
