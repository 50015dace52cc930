"""Which rank of an attempt failed first, and of which error, from what torchrun and its ranks have written.

torchrun itself always ends with 1 and a report of its own; what a person needs is the error of the rank. That is in
the rank's own logs where there are any, else among the lines of the launcher's log, by the prefix that says whose a
line is. An error is returned only where it is known to have ended the process (see `endings`); otherwise the last lines
are returned as what they are. Standard library only: the local engine's supervisor uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...core import wording
from .endings import ECHO, TIMEOUT, ending_of, last_output, lines_of_text, shell_saw_signal
from .error_forms import CRASHES, STILL_WORKED
from .script_check import ScriptCheck
from .tracebacks import Line

__all__ = ["STILL_WORKED", "TAIL_BYTES", "LogEnd", "error_in", "first_failure", "told_by_message"]

ENDED_BY_TORCHRUN: Final = 143
"""What torchrun's report says of a rank that it ended because another one had failed."""
TAIL_BYTES: Final = 256 * 1024
"""How much of the end of a log is read, if the error begins in it."""

_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_LINES: Final = 4000
_MOST_RANKS: Final = 16
_CLOSE_SECONDS: Final = 5.0
_AT_ONCE_SECONDS: Final = 5.0
_HEADS: Final = (b"Traceback (most recent call last)", b"Fatal Python error", b"terminate called after throwing")
_REPORTED = re.compile(
    r"time\s*: (\S+)\s+host\s*: .*\n\s*rank\s*: (\d{1,9}) \(local_rank: (\d{1,9})\)"
    r"\s+exitcode\s*: (-?\d{1,9}) \(pid: \d+\)"
)
# torchrun's own words about its ranks, after which nothing of theirs stands.
_LAUNCHER_LINE = re.compile(r"^\[?[EWI]\d{4} .*torch/distributed/elastic/|^torch\.distributed\.elastic\.")


@dataclass(frozen=True)
class LogEnd:
    """A log of an attempt that has ended.

    Attributes
    ----------
    id
        The stream's.
    local_rank
        Whose it is; None for that of torchrun, or of the whole container.
    stderr
        Whether it is a rank's standard error.
    worker_restart
        torchrun's own restart count within the attempt.
    size, modified
        In bytes, and when it was last written to, in seconds since the epoch.
    read
        Returns its bytes from an offset on, at most so many.
    """

    id: str
    local_rank: int | None
    stderr: bool
    worker_restart: int
    size: int
    modified: float
    read: Callable[[int, int], bytes]


@dataclass(frozen=True)
class _Rank:
    """A rank that failed: by torchrun's report or by its own log."""

    rank: int | None
    local_rank: int
    exit_code: int
    signaled: bool
    time: float
    seconds: float
    logs: Sequence[LogEnd]


def first_failure(
    logs: Sequence[LogEnd],
    *,
    exit_code: int,
    first_rank: int | None,
    utc: bool = False,
    check: ScriptCheck | None = None,
    signaled: bool | None = None,
) -> dict[str, Any]:
    """Return what the logs of one attempt of a replica say: who failed first, with which error, and where that stands.

    Parameters
    ----------
    logs
        All of that attempt.
    exit_code
        The attempt's.
    first_rank
        Global rank of its local rank 0, if that is known.
    utc
        Whether the clocks of whoever wrote them show UTC; else this machine's time.
    check
        The script's source, where it can be read.
    signaled
        Whether a signal ended the replica's main process; None if that is not known.

    Returns
    -------
    dict
        ``rank``, ``local_rank``, ``exit_code``, ``time`` where a rank was found, ``signaled``, ``error``, ``frames``,
        ``note``, ``stream``, ``offset``, ``last_output`` as `core.job.Failure` and its link have them; what is not
        known is missing.

    Raises
    ------
    OSError
        If a log can't be read.
    """
    main = next((log for log in logs if log.local_rank is None), None)
    ranks = [log for log in logs if log.local_rank is not None]
    main_lines = _lines(main) if main is not None else []
    failed = _reported(main_lines, ranks, utc=utc) or _with_traceback(ranks, exit_code, first_rank, check)
    if not failed:
        told = _of_logs([main], exit_code, check) if main is not None else {}
        crashed = signaled is None and exit_code in CRASHES and told.get("error") is not None
        return told | {"signaled": crashed or shell_saw_signal(main_lines, exit_code) or signaled}
    words = {one.local_rank: _words(one, main, main_lines, check) for one in failed[:_MOST_RANKS]}
    found = _first(failed, words)
    told = {"rank": found.rank, "local_rank": found.local_rank, "exit_code": found.exit_code}
    told |= {"signaled": found.signaled, "time": found.time}
    said = words.get(found.local_rank, {})
    if TIMEOUT.search(said.get("error") or ""):
        said = said | {"note": _who_did_not_wait(found, failed, ranks) or said.get("note")}
    return told | said


class Told(NamedTuple):
    """The error that ended a process, and whether a signal did; None where that is not known."""

    error: str | None
    signaled: bool | None


@lru_cache(maxsize=256)
def told_by_message(text: str, exit_code: int) -> Told:
    """Return what the message says that a container left for its cluster: a few lines, often the end of its log."""
    data = text.encode(errors="replace")
    message = LogEnd("", None, False, 0, len(data), 0.0, lambda start, size: data[start : start + size])
    told = first_failure([message], exit_code=exit_code, first_rank=None)
    of_a_rank = told.get("exit_code", exit_code) != exit_code  # torchrun, whose rank it is, ended in another way
    return Told(told.get("error"), None if of_a_rank else told.get("signaled"))


def error_in(text: str, exit_code: int) -> str | None:
    """Return the error that a short text ends with; None if it has none."""
    error: str | None = ending_of(lines_of_text(text.encode()), exit_code, None).get("error")
    return error


# -- who --------------------------------------------------------------------------------------------------------------


def _reported(main: Sequence[Line], ranks: Sequence[LogEnd], *, utc: bool) -> list[_Rank]:
    """Return the ranks that torchrun's report lists; some of them it has ended itself because of the first."""
    newest = max((log.worker_restart for log in ranks), default=0)
    found = []
    for noted, rank, local_rank, number in _REPORTED.findall("\n".join(line.text for line in main)):
        logs = [log for log in ranks if log.local_rank == int(local_rank) and log.worker_restart == newest]
        when = seconds = _seconds(noted, utc=utc)
        # The report's times are whole seconds; the last words of a rank tell more exactly, if it wrote any then.
        errors = next((log for log in logs if log.stderr), None)
        if errors is not None and errors.size and abs(errors.modified - seconds) < _CLOSE_SECONDS:
            when = errors.modified
        code = wording.exit_code(int(number))
        found.append(_Rank(int(rank), int(local_rank), code, int(number) < 0, when, seconds, logs))
    return found


def _first(failed: Sequence[_Rank], words: dict[int, dict[str, Any]]) -> _Rank:
    """Return the rank that failed first: none that torchrun ended, or that lost its connection to another one."""
    first = min(one.seconds for one in failed)

    def order(one: _Rank) -> tuple[object, ...]:
        error = words.get(one.local_rank, {}).get("error") or ""
        late = one.seconds - first > _AT_ONCE_SECONDS
        return late, one.exit_code == ENDED_BY_TORCHRUN, bool(ECHO.search(error)), one.time, one.rank or 0

    return min(failed, key=order)


def _with_traceback(
    ranks: Sequence[LogEnd], exit_code: int, first_rank: int | None, check: ScriptCheck | None
) -> list[_Rank]:
    """Return the ranks that failed by their own logs, for a launcher that could not report.

    It can't when the replica at whose port they meet was gone before.
    """
    if exit_code != 1:
        return []
    newest = max((log.worker_restart for log in ranks), default=0)
    found = []
    for log in ranks[: 2 * _MOST_RANKS]:
        if log.stderr and log.worker_restart == newest and log.local_rank is not None:
            words = ending_of(_lines(log), 1, check)
            if words.get("error") is not None:
                rank = None if first_rank is None else first_rank + log.local_rank
                own = [one for one in ranks if (one.local_rank, one.worker_restart) == (log.local_rank, newest)]
                found.append(_Rank(rank, log.local_rank, 1, False, log.modified, log.modified, own))
    return found


def _who_did_not_wait(found: _Rank, failed: Sequence[_Rank], ranks: Sequence[LogEnd]) -> str:
    """Say which rank the one that waited in vain may have waited for."""
    waited = f"Rank {found.rank}" if found.rank is not None else "The rank"
    waited = f"{waited} waited for other ranks until its time was over"
    newest = max((log.worker_restart for log in ranks), default=0)
    texts = {
        log.local_rank: log.read(max(0, log.size - TAIL_BYTES), TAIL_BYTES).decode(errors="replace")
        for log in ranks[: 4 * _MOST_RANKS]
        if log.stderr and log.worker_restart == newest
    }
    first = None if found.rank is None else found.rank - found.local_rank
    silent = sorted(rank for rank, text in texts.items() if rank is not None and not TIMEOUT.search(text))
    silent = [rank for rank in silent if rank != found.local_rank]
    if not texts or first is None or not silent:
        return f"{waited}. Look at the log of each rank that reports no such timeout."
    if len(silent) == 1:
        return f"{waited}. Rank {first + silent[0]} did not report such a timeout: look at what it did last."
    named = ", ".join(str(first + rank) for rank in silent[:8]) + (" …" if len(silent) > 8 else "")
    return f"{waited}. Ranks {named} did not report such a timeout: look at what they did last."


def _seconds(noted: str, *, utc: bool) -> float:
    try:
        moment = datetime.strptime(noted, "%Y-%m-%d_%H:%M:%S")
    except ValueError:
        return 0.0
    return moment.replace(tzinfo=timezone.utc if utc else None).timestamp()


# -- with which words -------------------------------------------------------------------------------------------------


def _words(rank: _Rank, main: LogEnd | None, main_lines: Sequence[Line], check: ScriptCheck | None) -> dict[str, Any]:
    if rank.logs:
        return _of_logs(rank.logs, rank.exit_code, check)
    if main is None:
        return {}
    lines = _lines_of_rank(main_lines, rank)
    return {"stream": main.id} | ending_of(lines, rank.exit_code, check) | last_output(main.id, lines)


def _of_logs(logs: Sequence[LogEnd], exit_code: int, check: ScriptCheck | None) -> dict[str, Any]:
    """Return the error of the logs of one process, and the last lines of the one that was written to last."""
    errors_first = sorted(logs, key=lambda log: not log.stderr)
    texts = [(log, _lines(log)) for log in errors_first]
    written = [(log, lines) for log, lines in texts if any(line.text.strip() for line in lines)]
    if not written:
        return {"stream": errors_first[0].id} if errors_first else {}
    last = max(written, key=lambda one: (one[0].modified, one[0].stderr))
    output = last_output(last[0].id, last[1])
    for log, lines in written:
        words = ending_of(lines, exit_code, check)
        if words.get("error") is not None:
            if words.get("frames") and _ends_with(lines, words["error"]):
                others = [(other.id, texts) for other, texts in written if other is not log]
                before = [line for line in lines if line.offset < words["offset"]]
                output = _output_beside(others, log.id, before) or output
            return {"stream": log.id} | words | output
    notes = next((words for log, lines in written if (words := ending_of(lines, exit_code, check)).get("note")), {})
    return {"stream": last[0].id, "offset": output["last_output"]["offset"]} | notes | output


def _ends_with(lines: Sequence[Line], error: str) -> bool:
    """Return whether the last line is the error's, so that the last lines are nothing but its traceback."""
    last = next((line.text.strip() for line in reversed(lines) if line.text.strip()), "")
    return last != "" and error.startswith(last[:100])


def _output_beside(others: Sequence[tuple[str, Sequence[Line]]], own: str, before: Sequence[Line]) -> dict[str, Any]:
    """Return the last lines that a process wrote to its other logs, else to the same one before its traceback."""
    for name, lines in (*others, (own, before)):
        output = last_output(name, lines)
        if output:
            return output
    return {}


def _lines_of_rank(lines: Sequence[Line], rank: _Rank) -> Sequence[Line]:
    """Return the lines of one rank of a log that several of them and torchrun have written to."""
    teed = [line for line in lines if line.teed == rank.local_rank]
    own = teed or [line for line in lines if line.teed is None and line.rank == rank.rank]
    if own:
        return own
    end = next((number for number, line in enumerate(lines) if _LAUNCHER_LINE.match(line.text)), len(lines))
    return [line for line in lines[:end] if line.teed is None]


def _lines(log: LogEnd) -> list[Line]:
    """Return the last lines of a log: as many as hold its last error, of which a very long one keeps its beginning."""
    start = max(0, log.size - TAIL_BYTES)
    data = log.read(start, TAIL_BYTES)
    if start == 0 or any(head in data for head in _HEADS):
        return lines_of_text(data, start)
    wide = max(0, log.size - _MOST_BYTES)
    data = log.read(wide, _MOST_BYTES)
    head = max(map(data.rfind, _HEADS))
    begin = data.rfind(b"\n", 0, max(0, head if head >= 0 else start - wide)) + 1
    return lines_of_text(data[begin:], wide + begin, most=_MOST_LINES)
