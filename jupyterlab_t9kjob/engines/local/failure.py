"""Finds out which rank failed first, and its own words, from the log files.

torchrun itself always ends with 1 and a report of its own; what a person needs is the traceback
of the rank. Standard library only.
"""

from __future__ import annotations

import contextlib
import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from ...core import disk
from .agents import tail
from .logfiles import FoundLog, logs_of_attempt
from .process import exit_code
from .record import AttemptRecord, JobFiles, ReplicaPlan

ENDED_BY_TORCHRUN = 143
"""What torchrun's report says of a rank that it ended because another one had failed."""
STILL_WORKED = "terminate called without an active exception"
"""What C++ says when a thread is destroyed that still works; gloo's may at a process's end (pytorch#190489)."""

_PYTHONS_OWN = (1, 120)
"""Exit codes of an exception, and of output that can't be written at a process's end."""
_TAIL_BYTES = 256 * 1024
_MOST_TEXT = 1000
_LONGEST_PATH = 4096
_CLOSE_SECONDS = 5.0
_REPORTED = re.compile(
    r"time\s*: (\S+)\s+host\s*: .*\n\s*rank\s*: (\d{1,9}) \(local_rank: (\d{1,9})\)"
    r"\s+exitcode\s*: (-?\d{1,9}) \(pid: \d+\)"
)
# Colours and the like, which programs write for terminals.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# torch puts "[rank3]: " before every line of a traceback once a process group exists.
_PREFIX = re.compile(rb"^\[rank\d+\]: ?", re.MULTILINE)
_HEAD = re.compile(rb"^(?:\[rank\d+\]: ?)?Traceback \(most recent call last\):\s*$", re.MULTILINE)
_FRAME = re.compile(r'^\s+File "(?P<file>.+)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_LIBRARY = re.compile(r"(^<frozen |/(site|dist)-packages/|/lib(64)?/python3[^/]*/)")
# torch.save's words for a write that failed, whatever the reason.
_FAILED_WRITE = re.compile(r"inline_container\.cc|PytorchStreamWriter failed|file write failed")
_NOISE = re.compile(r"^(\[[WI]\d*|\s*warnings\.warn\(|.*Warning: )")


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
    told: dict[str, Any] = {}
    own = main = next((log for log in logs if log.local_rank is None), None)
    if plan["launcher"] is not None and main is not None:
        ranks = [log for log in logs if log.local_rank is not None]
        rank = _first_failed(main, ranks) or _first_with_traceback(ranks, attempt)
        if rank is not None:
            told |= rank[0]
            own = rank[1]
    if own is None:
        return told | {"stream": main.id if main is not None else None}
    told |= {"stream": own.id, **_last_words(own)}
    return told | _error_file(own.path.parent / "error.json", told.get("error"))


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


def _first_failed(launcher: FoundLog, ranks: list[FoundLog]) -> tuple[dict[str, Any], FoundLog | None] | None:
    """Return the rank that failed first and its log.

    torchrun's report lists also those that it ended because of the first. Its times are whole
    seconds, so what decides among close ones is whether SIGTERM ended a rank, then when each rank
    wrote its last words.
    """
    report = tail(launcher.path, _TAIL_BYTES).decode(errors="replace")
    newest = max((log.worker_restart for log in ranks), default=0)
    errors = {log.local_rank: log for log in ranks if log.output == "stderr" and log.worker_restart == newest}
    failures = []
    for noted, rank, local_rank, number in _REPORTED.findall(report):
        log = errors.get(int(local_rank))
        code = exit_code(int(number))
        when = seconds = _seconds(noted)
        # What it wrote last tells more exactly when it failed, if it wrote anything then.
        if log is not None and (status := log.path.stat()).st_size and abs(status.st_mtime - seconds) < _CLOSE_SECONDS:
            when = status.st_mtime
        found = {"rank": int(rank), "local_rank": int(local_rank), "exit_code": code, "time": when}
        failures.append((seconds, code == ENDED_BY_TORCHRUN, when, int(rank), found, log))
    if not failures:
        return None
    first = min(failure[0] for failure in failures)
    *_, found, log = min(failures, key=lambda failure: (failure[0] - first > 2, *failure[1:4]))
    return found, log


def _first_with_traceback(ranks: list[FoundLog], attempt: AttemptRecord) -> tuple[dict[str, Any], FoundLog] | None:
    """Return the rank that failed first by its own log, for a launcher that could not report.

    It can't when the replica at whose port they meet was gone before.
    """
    if attempt["exit_code"] != 1:
        return None
    failed = [log for log in ranks if log.output == "stderr" and _HEAD.search(tail(log.path, _TAIL_BYTES))]
    if not failed:
        return None
    log = min(failed, key=lambda log: (-log.worker_restart, log.path.stat().st_mtime))
    assert log.local_rank is not None  # noqa: S101
    rank = None if attempt["first_rank"] is None else attempt["first_rank"] + log.local_rank
    return {"rank": rank, "local_rank": log.local_rank, "exit_code": 1, "time": log.path.stat().st_mtime}, log


def _seconds(noted: str) -> float:
    try:
        return datetime.strptime(noted, "%Y-%m-%d_%H:%M:%S").timestamp()
    except ValueError:
        return 0.0


def _last_words(log: FoundLog) -> dict[str, Any]:
    """Return the last traceback of a log, or at least its last line."""
    data = tail(log.path, _TAIL_BYTES)
    start = max(0, log.path.stat().st_size - len(data))
    heads = list(_HEAD.finditer(data))
    aborted = data.rfind(STILL_WORKED.encode())
    if aborted > max((head.start() for head in heads), default=-1):
        return {"error": STILL_WORKED, "offset": start + aborted}
    if not heads:
        return _last_line(data, start)
    text = _plain(_PREFIX.sub(b"", data[heads[-1].start() :]))
    frames, error = _parse(text.splitlines()[1:])
    return {"error": error, "frames": frames, "offset": start + heads[-1].start()}


def _parse(lines: list[str]) -> tuple[list[dict[str, Any]], str | None]:
    frames: list[dict[str, Any]] = []
    for line in lines:
        frame = _FRAME.match(line)
        if frame is not None:
            frames.append(
                {
                    "file": frame["file"][:_LONGEST_PATH],
                    "line": int(frame["line"]),
                    "function": frame["function"] or "<module>",
                    "code": None,
                    "library": bool(_LIBRARY.search(frame["file"])),
                }
            )
        elif line and not line[0].isspace():
            return frames, line.strip()
        elif frames and frames[-1]["code"] is None and line.strip(" ~^"):
            frames[-1]["code"] = line.strip()[:_MOST_TEXT]
    return frames, None


def _last_line(data: bytes, start: int) -> dict[str, Any]:
    offset = len(data)
    for line in reversed(data.splitlines(keepends=True)):
        offset -= len(line)
        text = _plain(line).strip()
        if text and not _NOISE.match(text):
            return {"error": text, "offset": start + offset}
    return {}


def _plain(words: bytes) -> str:
    return _ESCAPE.sub("", words.decode(errors="replace"))


def _error_file(path: Path, error: str | None) -> dict[str, Any]:
    """Return the message that torch's `@record` left, for a rank whose log says nothing."""
    if error is not None:
        return {}
    try:
        message = json.loads(path.read_bytes())["message"]
        return {"error": str(message["message"] if isinstance(message, dict) else message)}
    except (OSError, ValueError, KeyError):
        return {}
