"""Finds out why a replica of a local job failed: which rank, with which words, and whether a disk is the reason.

Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any

from ....core import wording
from ....core.system import disk
from ....logs.failures import failure_text
from ....logs.failures.script_check import ScriptCheck
from ....logs.failures.tracebacks import shortened
from .log_files import FoundLog, logs_of_attempt
from .record import AttemptRecord, JobFiles, ReplicaPlan

_PYTHONS_OWN = (1, 120)
"""Exit codes of an exception, and of output that can't be written at a process's end."""
# torch.save's words for a write that failed, whatever the reason.
_FAILED_WRITE = re.compile(r"inline_container\.cc|PytorchStreamWriter failed|file write failed")


def find(files: JobFiles, plan: ReplicaPlan, attempt: AttemptRecord, cwd: Path) -> dict[str, Any]:
    """Return what `core.job.Failure` says, without the link's wording, for an ended attempt.

    `disk` in it is the trouble with a disk (`core.system.disk.DiskTrouble`) that the replica failed of, if it did.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The replica's.
    attempt
        The attempt that ended with an exit code other than 0.
    cwd
        The job's working directory.
    """
    failed: dict[str, Any] = {
        "replica": plan["name"],
        "attempt": attempt["number"],
        "rank": None,
        "local_rank": None,
        "exit_code": attempt["exit_code"],
        "signaled": attempt.get("signaled"),
        "time": attempt["ended_at"],
        "error": None,
        "note": None,
        "frames": [],
        "stream": None,
        "offset": None,
        "disk": None,
        "last_output": None,
    }
    with contextlib.suppress(OSError):  # logs that are gone, or that may not be read, tell nothing
        failed |= _told_by_logs(logs_of_attempt(files, plan["name"], attempt["number"]), plan, attempt, cwd)
    return failed | _disk_trouble(failed, files.logs, [Path(plan["env"].get("T9KJOB_LOG_DIR", cwd)), cwd])


def is_cause(found: dict[str, Any], known: dict[str, Any] | None) -> bool:
    """Return whether a failure came before the one that was found first, which then is its echo."""
    return known is None or (found["rank"] is not None and found["time"] < known["time"])


def words(failed: dict[str, Any], *, alone: bool) -> str:
    """Say in a sentence who failed: “Rank 3 failed: ValueError: …”."""
    launched = ".launcher." in (failed["stream"] or "")
    who = ("torchrun" if launched else "The script") if alone else failed["replica"]
    if failed["rank"] is not None:
        who = f"Rank {failed['rank']}"
    trouble = failed["disk"]
    error = trouble["sentence"] if trouble else failed["error"]
    return f"{who} {wording.failed(failed['exit_code'], error, signaled=failed['signaled'])}."


def readable(failed: dict[str, Any]) -> dict[str, Any]:
    """Return a failure of a record as it is understood now.

    Supervisors of earlier versions took the last line of a log for the error where there was no traceback.
    """
    if "last_output" in failed:
        return failed
    error, stream = failed["error"], failed["stream"]
    known = error is None or bool(failed["frames"]) or failure_text.error_in(error, failed["exit_code"]) is not None
    output = None if known else {"stream": stream, "offset": failed["offset"] or 0, "lines": [error]}
    return failed | {"error": error if known else None, "note": None, "last_output": output if stream else None}


def _told_by_logs(logs: list[FoundLog], plan: ReplicaPlan, attempt: AttemptRecord, cwd: Path) -> dict[str, Any]:
    """Return what the logs say: who failed first, with which error, and where that stands."""
    assert attempt["exit_code"] is not None  # noqa: S101
    found = {log.id: log for log in logs}
    told = failure_text.first_failure(
        [_end(log) for log in logs],
        exit_code=attempt["exit_code"],
        signaled=attempt.get("signaled"),
        first_rank=attempt["first_rank"],
        check=ScriptCheck(_script(plan, cwd), attempt["started_at"]),
    )
    if told.get("error") is None and "stream" in told:
        told |= _error_file(found[told["stream"]].path.parent / "error.json")
    return told


def _script(plan: ReplicaPlan, cwd: Path) -> str | None:
    """Return the absolute path of the script that a replica runs; None if it runs something else."""
    script = next((word for word in plan["program"] if word.endswith(".py")), None)
    return os.path.join(cwd, script) if script is not None else None  # noqa: PTH118 (`Path` refuses some names)


def _end(log: FoundLog) -> failure_text.LogEnd:
    status = log.path.stat()
    return failure_text.LogEnd(
        id=log.id,
        local_rank=log.local_rank,
        stderr=log.output == "stderr",
        worker_restart=log.worker_restart,
        size=status.st_size,
        modified=status.st_mtime,
        read=lambda start, size: _read(log.path, start, size),
    )


def _read(path: Path, start: int, size: int) -> bytes:
    with path.open("rb") as file:
        file.seek(start)
        return file.read(size)


def _disk_trouble(failed: dict[str, Any], logs: Path, written: list[Path]) -> dict[str, Any]:
    """Say that a disk is the reason, if a failure tells that or its log could not be written to the end."""
    error = failed["error"] or ""
    told = disk.told_by(error)
    full = next(filter(None, map(disk.full_disk, [logs, *written])), None)
    if told is not None or _FAILED_WRITE.search(error):
        unplaced = told is None or (told.code == "DiskFull" and disk.SOME_DISK in told.sentence)
        found = full if full is not None and unplaced else told
        return {"disk": found._asdict() if found is not None else None}
    log_full = disk.full_disk(logs)
    if log_full is not None and failed["exit_code"] in _PYTHONS_OWN and not (failed["frames"] and error):
        # What stands at the end of a log that breaks off is no error.
        return {"disk": log_full._asdict(), "error": None, "offset": None}
    return {}


def _error_file(path: Path) -> dict[str, Any]:
    """Return the message that torch's `@record` left, for a rank whose log says nothing."""
    try:
        message = json.loads(path.read_bytes())["message"]
        told = str(message["message"] if isinstance(message, dict) else message).splitlines()
        return {"error": shortened(told[0]), "note": None} if told else {}
    except (OSError, ValueError, KeyError):
        return {}
