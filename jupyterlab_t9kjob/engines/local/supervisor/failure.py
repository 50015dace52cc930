"""Finds the cause of a replica's failure: the rank, its error, and whether a disk was the reason.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ....core.system import disk
from ....core.translation import Text
from ....logs.failures import failure_text
from ....logs.failures.script_check import ScriptCheck
from ....logs.failures.tracebacks import shortened
from .logs.log_files import FoundLog, logs_of_attempt
from .records.job_files import JobFiles
from .records.record import AttemptRecord, ReplicaPlan
from .records.record_keeper import log

_PYTHONS_OWN = (1, 120)
"""Exit codes of an exception, and of output that can't be written at a process's end."""
# Errors of torch.save for any write that failed.
_FAILED_WRITE = re.compile(r"inline_container\.cc|PytorchStreamWriter failed|file write failed")


def find(files: JobFiles, plan: ReplicaPlan, attempt: AttemptRecord, cwd: Path) -> dict[str, Any]:
    """Return the failure of an attempt as records keep it.

    The fields are those of `core.job.Failure` without the link, and ``disk``: the `DiskTrouble` that made the replica
    fail, as a dict; None if no disk was the reason.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The replica's plan.
    attempt
        Attempt that ended with an exit code other than 0.
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
    written = [Path(plan["env"].get("T9KJOB_LOG_DIR", cwd)), cwd]
    failed |= _found(lambda: _from_logs(files, plan, attempt, cwd))
    return failed | _found(lambda: _disk_trouble(failed, files.logs, written))


def is_cause(found: dict[str, Any], known: dict[str, Any] | None) -> bool:
    """Return True if a failure happened before the recorded one, which then was its consequence.

    Parameters
    ----------
    found
        Failure that was found now.
    known
        Failure that is recorded; None if there is none.
    """
    return known is None or (found["rank"] is not None and found["time"] < known["time"])


def facts_of(failed: dict[str, Any]) -> dict[str, Any]:
    """Return the facts from which a sentence about a failure is made (`jobs.reasons.failure_text`)."""
    return {name: failed[name] for name in ("replica", "rank", "exit_code", "signaled", "error", "stream", "disk")}


def readable(failed: dict[str, Any]) -> dict[str, Any]:
    """Return a failure of a record with the fields of this version.

    Supervisors of earlier versions took the last line of a log for the error if there was no traceback.
    """
    if "last_output" in failed:
        return failed
    error, stream = failed["error"], failed["stream"]
    known = error is None or bool(failed["frames"]) or failure_text.error_in(error, failed["exit_code"]) is not None
    output = None if known else {"stream": stream, "offset": failed["offset"] or 0, "lines": [error]}
    return failed | {"error": error if known else None, "note": None, "last_output": output if stream else None}


def _found(look: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what a search for the cause gives; nothing if it fails, which must not end the job."""
    try:
        return look()
    except Exception as error:
        log(f"a cause of the failure could not be searched for: {error!r}")
        return {}


def _from_logs(files: JobFiles, plan: ReplicaPlan, attempt: AttemptRecord, cwd: Path) -> dict[str, Any]:
    """Return the fields of a failure that the logs give: rank, error, frames and position."""
    assert attempt["exit_code"] is not None  # noqa: S101
    logs = logs_of_attempt(files, plan["name"], attempt["number"])
    found = {one.id: one for one in logs}
    read = failure_text.first_failure(
        [_end(one) for one in logs],
        exit_code=attempt["exit_code"],
        signaled=attempt.get("signaled"),
        first_rank=attempt["first_rank"],
        check=ScriptCheck(_script(plan, cwd), attempt["started_at"]),
    )
    if read.get("error") is None and "stream" in read:
        read |= _error_file(found[read["stream"]].path.parent / "error.json")
    if isinstance(read.get("note"), Text):
        read["note"] = read["note"].stored()
    return read


def _script(plan: ReplicaPlan, cwd: Path) -> str | None:
    """Return the absolute path of the script that a replica runs; None if it runs something else."""
    script = next((word for word in plan["program"] if word.endswith(".py")), None)
    return os.path.join(cwd, script) if script is not None else None  # noqa: PTH118 (`Path` rejects some names)


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
    """Return the disk's part of a failure if its error reports a disk, or its log could not be written to the end.

    Parameters
    ----------
    failed
        The failure.
    logs
        Directory of the logs.
    written
        Directories that the script may write to.
    """
    error = failed["error"] or ""
    reported = disk.told_by(error)
    full = next(filter(None, map(disk.full_disk, [logs, *written])), None)
    if reported is not None or _FAILED_WRITE.search(error):
        unplaced = reported is None or (reported.code == "DiskFull" and reported.path is None)
        found = full if full is not None and unplaced else reported
        return {"disk": found._asdict() if found is not None else None}
    log_full = disk.full_disk(logs)
    if log_full is not None and failed["exit_code"] in _PYTHONS_OWN and not (failed["frames"] and error):
        # The last line of a log that breaks off is not an error.
        return {"disk": log_full._asdict(), "error": None, "offset": None}
    return {}


def _error_file(path: Path) -> dict[str, Any]:
    """Return the error that torch's `@record` wrote, for a rank whose log has none."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    message = document.get("message") if isinstance(document, dict) else None
    if isinstance(message, dict):
        message = message.get("message")
    lines = message.splitlines() if isinstance(message, str) else []
    return {"error": shortened(lines[0]), "note": None} if lines else {}
