"""The rank of an attempt that failed first, and its error, read from the logs of torchrun and its ranks.

torchrun itself always ends with exit code 1 and a report of its own, but users need the error of the rank. The rank's
own logs have it, or the launcher's log, where prefixes tell the ranks' lines apart. An error is returned only if it
certainly ended the process (see `endings`); the last lines of the output are returned otherwise. The supervisor uses
this module, so it needs only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...core.texts import wording
from ...core.translation import Text, _, _n, listing, sentences
from .endings import ECHO, TIMEOUT, ending_of, last_output, lines_of_text, shell_saw_signal
from .error_forms import CRASHES, STILL_WORKED
from .script_check import ScriptCheck
from .tracebacks import Line

__all__ = ["STILL_WORKED", "TAIL_BYTES", "LogEnd", "cause_in_message", "error_in", "first_failure"]

ENDED_BY_TORCHRUN: Final = 143
"""Exit code in torchrun's report of a rank that torchrun ended because another rank had failed."""
TAIL_BYTES: Final = 256 * 1024
"""Number of bytes at a log's end that are read first. More are read if the error begins before them."""

_MOST_BYTES: Final = 8 * 1024 * 1024
_MOST_LINES: Final = 4000
_MOST_RANKS: Final = 16
_MOST_NAMED: Final = 8
_CLOSE_SECONDS: Final = 5.0
_AT_ONCE_SECONDS: Final = 5.0
_HEADS: Final = (b"Traceback (most recent call last)", b"Fatal Python error", b"terminate called after throwing")
_REPORTED = re.compile(
    r"time\s*: (\S+)\s+host\s*: .*\n\s*rank\s*: (\d{1,9}) \(local_rank: (\d{1,9})\)"
    r"\s+exitcode\s*: (-?\d{1,9}) \(pid: \d+\)"
)
# Lines of torchrun about its ranks; the ranks write nothing after them.
_LAUNCHER_LINE = re.compile(r"^\[?[EWI]\d{4} .*torch/distributed/elastic/|^torch\.distributed\.elastic\.")


@dataclass(frozen=True)
class LogEnd:
    """A log of an attempt that has ended.

    Attributes
    ----------
    id
        Id of the log stream.
    local_rank
        Local rank that wrote the log; None for the log of torchrun or of the whole container.
    stderr
        True if the log is a rank's standard error.
    worker_restart
        torchrun's own restart count within the attempt.
    size
        Size in bytes.
    modified
        When the log was last written to, in seconds since the epoch.
    read
        Returns bytes of the log, given an offset and the largest number of bytes.
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
    """A rank that failed, according to torchrun's report or to its own log."""

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
    """Return the rank that failed first in an attempt of a replica, its error, and the error's position in the log.

    Parameters
    ----------
    logs
        All logs of the attempt.
    exit_code
        Exit code of the attempt.
    first_rank
        Global rank of the replica's local rank 0; None if it is not known.
    utc
        True if the times in torchrun's report are UTC; False if they are in this machine's time zone.
    check
        Sources of the script; None if they can't be read.
    signaled
        True if a signal ended the replica's main process; None if that is not known.

    Returns
    -------
    dict
        Fields of `core.job.Failure` and of its link: ``rank``, ``local_rank``, ``exit_code`` and ``time`` if a rank was
        found, ``signaled``, ``error``, ``frames``, ``note``, ``stream``, ``offset``, ``last_output``. Unknown fields
        are missing.

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
        error = _error_in_logs([main], exit_code, check) if main is not None else {}
        crashed = signaled is None and exit_code in CRASHES and error.get("error") is not None
        return error | {"signaled": crashed or shell_saw_signal(main_lines, exit_code) or signaled}
    errors = {rank.local_rank: _error_of_rank(rank, main, main_lines, check) for rank in failed[:_MOST_RANKS]}
    first = _first(failed, errors)
    error = errors.get(first.local_rank, {})
    if TIMEOUT.search(error.get("error") or ""):
        error = error | {"note": _timeout_note(first, ranks)}
    return {
        "rank": first.rank,
        "local_rank": first.local_rank,
        "exit_code": first.exit_code,
        "signaled": first.signaled,
        "time": first.time,
    } | error


class MessageCause(NamedTuple):
    """End of a process according to its container's termination message.

    Attributes
    ----------
    error
        Error that ended the process; None if it is not known.
    signaled
        True if a signal ended the process; None if that is not known.
    """

    error: str | None
    signaled: bool | None


@lru_cache(maxsize=256)
def cause_in_message(text: str, exit_code: int) -> MessageCause:
    """Return the end of a process according to its container's termination message.

    Parameters
    ----------
    text
        The message: a few lines, often the end of the container's log.
    exit_code
        Exit code of the container.
    """
    data = text.encode(errors="replace")
    message = LogEnd("", None, False, 0, len(data), 0.0, lambda start, size: data[start : start + size])
    found = first_failure([message], exit_code=exit_code, first_rank=None)
    # With another exit code, the failure is a rank's, and it does not say how the container's process ended.
    of_a_rank = found.get("exit_code", exit_code) != exit_code
    return MessageCause(found.get("error"), None if of_a_rank else found.get("signaled"))


def error_in(text: str, exit_code: int) -> str | None:
    """Return the error at the end of a short text; None if there is none.

    Parameters
    ----------
    text
        Last lines of a log.
    exit_code
        Exit code of the process that wrote them.
    """
    error: str | None = ending_of(lines_of_text(text.encode()), exit_code, None).get("error")
    return error


# -- ranks that failed ------------------------------------------------------------------------------------------------


def _reported(main: Sequence[Line], ranks: Sequence[LogEnd], *, utc: bool) -> list[_Rank]:
    """Return the ranks in torchrun's report; torchrun itself ended some of them after the first one failed."""
    newest = max((log.worker_restart for log in ranks), default=0)
    found = []
    for noted, rank, local_rank, number in _REPORTED.findall("\n".join(line.text for line in main)):
        logs = [log for log in ranks if log.local_rank == int(local_rank) and log.worker_restart == newest]
        when = seconds = _seconds(noted, utc=utc)
        # The report's times are whole seconds. The rank's last output is more exact, if the rank wrote any then.
        errors = next((log for log in logs if log.stderr), None)
        if errors is not None and errors.size and abs(errors.modified - seconds) < _CLOSE_SECONDS:
            when = errors.modified
        code = wording.exit_code(int(number))
        found.append(_Rank(int(rank), int(local_rank), code, int(number) < 0, when, seconds, logs))
    return found


def _first(failed: Sequence[_Rank], errors: dict[int, dict[str, Any]]) -> _Rank:
    """Return the rank that failed first.

    Ranks that torchrun ended, and ranks that lost their connection to another rank, come after all others.
    """
    first = min(rank.seconds for rank in failed)

    def order(rank: _Rank) -> tuple[object, ...]:
        error = errors.get(rank.local_rank, {}).get("error") or ""
        late = rank.seconds - first > _AT_ONCE_SECONDS
        return late, rank.exit_code == ENDED_BY_TORCHRUN, bool(ECHO.search(error)), rank.time, rank.rank or 0

    return min(failed, key=order)


def _with_traceback(
    ranks: Sequence[LogEnd], exit_code: int, first_rank: int | None, check: ScriptCheck | None
) -> list[_Rank]:
    """Return the ranks whose own logs end with an error, if torchrun wrote no report.

    torchrun writes none if the replica with the rendezvous port ended before.
    """
    if exit_code != 1:
        return []
    newest = max((log.worker_restart for log in ranks), default=0)
    found = []
    for log in ranks[: 2 * _MOST_RANKS]:
        if log.local_rank is None or not log.stderr or log.worker_restart != newest:
            continue
        if ending_of(_lines(log), 1, check).get("error") is not None:
            rank = None if first_rank is None else first_rank + log.local_rank
            own = [other for other in ranks if (other.local_rank, other.worker_restart) == (log.local_rank, newest)]
            found.append(_Rank(rank, log.local_rank, 1, False, log.modified, log.modified, own))
    return found


def _timeout_note(found: _Rank, ranks: Sequence[LogEnd]) -> Text | None:
    """Return a note about a rank's timeout that names the ranks for which it may have waited.

    These are the ranks whose logs report no timeout.
    """
    waited = (
        _("The rank waited for other ranks until its time was over.")
        if found.rank is None
        else _("Rank {rank} waited for other ranks until its time was over.", rank=found.rank)
    )
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
        return sentences(waited, _("Look at the log of each rank that reports no such timeout."))
    named = listing([str(first + rank) for rank in silent], _MOST_NAMED)
    advice = _n(
        "Rank {ranks} did not report such a timeout: look at what it did last.",
        "Ranks {ranks} did not report such a timeout: look at what they did last.",
        len(silent),
        ranks=named,
    )
    return sentences(waited, advice)


def _seconds(noted: str, *, utc: bool) -> float:
    try:
        moment = datetime.strptime(noted, "%Y-%m-%d_%H:%M:%S")
    except ValueError:
        return 0.0
    return moment.replace(tzinfo=timezone.utc if utc else None).timestamp()


# -- their errors -----------------------------------------------------------------------------------------------------


def _error_of_rank(
    rank: _Rank, main: LogEnd | None, main_lines: Sequence[Line], check: ScriptCheck | None
) -> dict[str, Any]:
    """Return the error of a rank from its own logs, or else from its lines in the main log."""
    if rank.logs:
        return _error_in_logs(rank.logs, rank.exit_code, check)
    if main is None:
        return {}
    lines = _lines_of_rank(main_lines, rank)
    return {"stream": main.id} | ending_of(lines, rank.exit_code, check) | last_output(main.id, lines)


def _error_in_logs(logs: Sequence[LogEnd], exit_code: int, check: ScriptCheck | None) -> dict[str, Any]:
    """Return the error in the logs of one process, with the last lines of the log that was written to last."""
    errors_first = sorted(logs, key=lambda log: not log.stderr)
    texts = [(log, _lines(log)) for log in errors_first]
    written = [(log, lines) for log, lines in texts if any(line.text.strip() for line in lines)]
    if not written:
        return {"stream": errors_first[0].id} if errors_first else {}
    last = max(written, key=lambda entry: (entry[0].modified, entry[0].stderr))
    output = last_output(last[0].id, last[1])
    for log, lines in written:
        error = ending_of(lines, exit_code, check)
        if error.get("error") is not None:
            if error.get("frames") and _ends_with(lines, error["error"]):
                others = [(other.id, texts) for other, texts in written if other is not log]
                before = [line for line in lines if line.offset < error["offset"]]
                output = _output_beside(others, log.id, before) or output
            return {"stream": log.id} | error | output
    notes = next((error for log, lines in written if (error := ending_of(lines, exit_code, check)).get("note")), {})
    return {"stream": last[0].id, "offset": output["last_output"]["offset"]} | notes | output


def _ends_with(lines: Sequence[Line], error: str) -> bool:
    """Return True if the last line is the error's, so that the last lines show only its traceback."""
    last = next((line.text.strip() for line in reversed(lines) if line.text.strip()), "")
    return last != "" and error.startswith(last[:100])


def _output_beside(others: Sequence[tuple[str, Sequence[Line]]], own: str, before: Sequence[Line]) -> dict[str, Any]:
    """Return the last lines of a process's other logs, or else those before the traceback in its own log."""
    for name, lines in (*others, (own, before)):
        output = last_output(name, lines)
        if output:
            return output
    return {}


def _lines_of_rank(lines: Sequence[Line], rank: _Rank) -> Sequence[Line]:
    """Return the lines of one rank in a log to which several ranks and torchrun wrote."""
    teed = [line for line in lines if line.teed == rank.local_rank]
    own = teed or [line for line in lines if line.teed is None and line.rank == rank.rank]
    if own:
        return own
    end = next((number for number, line in enumerate(lines) if _LAUNCHER_LINE.match(line.text)), len(lines))
    return [line for line in lines[:end] if line.teed is None]


def _lines(log: LogEnd) -> list[Line]:
    """Return the last lines of a log, from the beginning of its last error on.

    Lines are left out of the middle of a very long error.
    """
    start = max(0, log.size - TAIL_BYTES)
    data = log.read(start, TAIL_BYTES)
    if start == 0 or any(head in data for head in _HEADS):
        return lines_of_text(data, start)
    wide = max(0, log.size - _MOST_BYTES)
    data = log.read(wide, _MOST_BYTES)
    head = max(map(data.rfind, _HEADS))
    begin = data.rfind(b"\n", 0, max(0, head if head >= 0 else start - wide)) + 1
    return lines_of_text(data[begin:], wide + begin, most=_MOST_LINES)
