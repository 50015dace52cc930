"""Finds out why a replica of a local job failed: which rank, with which words, and whether a disk is the reason.

Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

from ...core import disk
from ...logs import lastwords
from .agents import tail
from .logfiles import FoundLog, logs_of_attempt
from .record import AttemptRecord, JobFiles, ReplicaPlan

_PYTHONS_OWN = (1, 120)
"""Exit codes of an exception, and of output that can't be written at a process's end."""
_MOST_TEXT = 1000
# torch.save's words for a write that failed, whatever the reason.
_FAILED_WRITE = re.compile(r"inline_container\.cc|PytorchStreamWriter failed|file write failed")


def find(files: JobFiles, plan: ReplicaPlan, attempt: AttemptRecord, cwd: Path) -> dict[str, Any]:
    """Return what `core.job.Failure` says, without the link's wording, for an ended attempt.

    `disk` in it is the trouble with a disk (`core.disk.DiskTrouble`) that the replica failed of, if it did.

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
        "time": attempt["ended_at"],
        "error": None,
        "frames": [],
        "stream": None,
        "offset": None,
        "disk": None,
    }
    with contextlib.suppress(OSError):  # logs that are gone, or that may not be read, tell nothing
        failed |= _told_by_logs(logs_of_attempt(files, plan["name"], attempt["number"]), plan, attempt)
    if failed["error"] is not None:
        failed["error"] = failed["error"][:_MOST_TEXT]
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
    code = failed["exit_code"]
    if failed["disk"]:
        return f"{who} failed: {failed['disk']['sentence']} (exit code {code})."
    if failed["error"]:
        return f"{who} failed: {failed['error']} (exit code {code})."
    return f"{who} ended with exit code {code}."


def _told_by_logs(logs: list[FoundLog], plan: ReplicaPlan, attempt: AttemptRecord) -> dict[str, Any]:
    """Return what the logs say: who failed first, with which error, and where that stands."""
    assert attempt["exit_code"] is not None  # noqa: S101
    found = {log.id: log for log in logs}
    told = lastwords.first_failure(
        [_end(log) for log in logs],
        launched=plan["launcher"] is not None,
        exit_code=attempt["exit_code"],
        first_rank=attempt["first_rank"],
    )
    if told.get("error") is None and "stream" in told:
        told |= _error_file(found[told["stream"]].path.parent / "error.json")
    return told


def _end(log: FoundLog) -> lastwords.LogEnd:
    status = log.path.stat()
    return lastwords.LogEnd(
        id=log.id,
        local_rank=log.local_rank,
        stderr=log.output == "stderr",
        worker_restart=log.worker_restart,
        size=status.st_size,
        modified=status.st_mtime,
        read=lambda: tail(log.path, lastwords.TAIL_BYTES),
    )


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
        return {"error": str(message["message"] if isinstance(message, dict) else message)}
    except (OSError, ValueError, KeyError):
        return {}
