"""Which rank of an attempt failed first, and its own words, from what torchrun and its ranks have written.

torchrun itself always ends with 1 and a report of its own; what a person needs is the traceback of the rank. That is in
the rank's own log where there is one, else among the lines of the launcher's log, by the prefix that says whose a line
is. Standard library only: the local engine's supervisor uses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final, NamedTuple

from ..core import wording

ENDED_BY_TORCHRUN: Final = 143
"""What torchrun's report says of a rank that it ended because another one had failed."""
STILL_WORKED: Final = "terminate called without an active exception"
"""What C++ says of a thread that ends too late; gloo's may at a process's end (pytorch#190489, pytorch#179291)."""
TAIL_BYTES: Final = 256 * 1024
"""How much of the end of a log is read."""

_MOST_TEXT = 1000
_LONGEST_PATH = 4096
_CLOSE_SECONDS = 5.0
_HEAD = b"Traceback (most recent call last):"
_REPORTED = re.compile(
    r"time\s*: (\S+)\s+host\s*: .*\n\s*rank\s*: (\d{1,9}) \(local_rank: (\d{1,9})\)"
    r"\s+exitcode\s*: (-?\d{1,9}) \(pid: \d+\)"
)
# “[default3]:” by torchrun's --tee, the number is the local rank; “[rank3]: ” by torch before every line of a
# traceback once a process group exists, the number is the global rank.
_PREFIX = re.compile(rb"(?:\[(?!rank\d)[^\]\s\d][^\]\s]{0,63}?(?P<teed>\d{1,6})\]:)?(?:\[rank(?P<rank>\d{1,9})\]: ?)?")
# Colours and the like, which programs write for terminals.
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_FRAME = re.compile(r'^\s+File "(?P<file>.+)", line (?P<line>\d{1,9})(?:, in (?P<function>.+))?$')
_LIBRARY = re.compile(r"(^<frozen |/(site|dist)-packages/|/lib(64)?/python3[^/]*/)")
_LAUNCHER = re.compile(r"/torch/distributed/(run|launcher/api)\.py$")
_NOISE = re.compile(r"^(\[[WI]\d*|\s*warnings\.warn\(|.*Warning: )")


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
        Returns its last `TAIL_BYTES`, or all if it has fewer.
    """

    id: str
    local_rank: int | None
    stderr: bool
    worker_restart: int
    size: int
    modified: float
    read: Callable[[], bytes]


class _Line(NamedTuple):
    offset: int
    teed: int | None
    rank: int | None
    text: bytes


def first_failure(
    logs: Sequence[LogEnd], *, launched: bool, exit_code: int, first_rank: int | None, utc: bool = False
) -> dict[str, Any]:
    """Return what the logs of one attempt of a replica say: who failed first, with which error, and where that stands.

    Parameters
    ----------
    logs
        All of that attempt.
    launched
        Whether torchrun started its processes.
    exit_code
        The attempt's.
    first_rank
        Global rank of its local rank 0, if that is known.
    utc
        Whether the clocks of whoever wrote them show UTC; else this machine's time.

    Returns
    -------
    dict
        ``rank``, ``local_rank``, ``exit_code``, ``time`` where a rank was found, ``error``, ``frames``, ``stream``,
        ``offset`` as `core.job.Failure` and its link have them; what is not known is missing.

    Raises
    ------
    OSError
        If a log can't be read.
    """
    main = next((log for log in logs if log.local_rank is None), None)
    ranks = [log for log in logs if log.local_rank is not None]
    if launched:
        found = _reported(main, ranks, utc=utc) if main is not None else None
        found = found or _first_with_traceback(ranks, exit_code, first_rank)
        if found is not None:
            told, own = found
            if own is not None:
                return told | {"stream": own.id} | _last_words(_lines(own))
            if main is not None:
                return told | {"stream": main.id} | _words_among(_lines(main), told["local_rank"], told["rank"])
            return told
    if main is None:
        return {}
    return {"stream": main.id} | _last_words(_lines(main))


def advice(exit_code: int, error: str | None) -> str | None:
    """Return what to do about a well-known end, a sentence."""
    if exit_code == 134 and error == STILL_WORKED:
        return (
            "PyTorch's gloo can crash a process that ends right after its last exchange of tensors. "
            "Run it again, or let it end with os._exit(0) after all that it has to write."
        )
    return None


def has_traceback(log: LogEnd) -> bool:
    """Whether the end of a log has a traceback."""
    return any(_is_head(line) for line in _lines(log))


# -- who --------------------------------------------------------------------------------------------------------------


def _reported(main: LogEnd, ranks: Sequence[LogEnd], *, utc: bool) -> tuple[dict[str, Any], LogEnd | None] | None:
    """Return the rank that failed first by torchrun's report, and its log if it has one.

    The report lists also those that it ended because of the first. Its times are whole seconds, so what decides among
    close ones is whether SIGTERM ended a rank, then when each rank wrote its last words.
    """
    report = main.read().decode(errors="replace")
    newest = max((log.worker_restart for log in ranks), default=0)
    errors = {log.local_rank: log for log in ranks if log.stderr and log.worker_restart == newest}
    failures = []
    for noted, rank, local_rank, number in _REPORTED.findall(report):
        log = errors.get(int(local_rank))
        code = wording.exit_code(int(number))
        when = seconds = _seconds(noted, utc=utc)
        # What it wrote last tells more exactly when it failed, if it wrote anything then.
        if log is not None and log.size and abs(log.modified - seconds) < _CLOSE_SECONDS:
            when = log.modified
        found = {"rank": int(rank), "local_rank": int(local_rank), "exit_code": code, "time": when}
        failures.append((seconds, code == ENDED_BY_TORCHRUN, when, int(rank), found, log))
    if not failures:
        return None
    first = min(failure[0] for failure in failures)
    *_, found, log = min(failures, key=lambda failure: (failure[0] - first > 2, *failure[1:4]))
    return found, log


def _first_with_traceback(
    ranks: Sequence[LogEnd], exit_code: int, first_rank: int | None
) -> tuple[dict[str, Any], LogEnd] | None:
    """Return the rank that failed first by its own log, for a launcher that could not report.

    It can't when the replica at whose port they meet was gone before.
    """
    if exit_code != 1:
        return None
    failed = [log for log in ranks if log.stderr and has_traceback(log)]
    if not failed:
        return None
    log = min(failed, key=lambda log: (-log.worker_restart, log.modified))
    assert log.local_rank is not None  # noqa: S101
    rank = None if first_rank is None else first_rank + log.local_rank
    return {"rank": rank, "local_rank": log.local_rank, "exit_code": 1, "time": log.modified}, log


def _seconds(noted: str, *, utc: bool) -> float:
    try:
        moment = datetime.strptime(noted, "%Y-%m-%d_%H:%M:%S")
    except ValueError:
        return 0.0
    return moment.replace(tzinfo=timezone.utc if utc else None).timestamp()


# -- with which words -------------------------------------------------------------------------------------------------


def _lines(log: LogEnd) -> list[_Line]:
    data = log.read()
    found = []
    offset = max(0, log.size - len(data))
    for line in data.splitlines(keepends=True):
        prefix = _PREFIX.match(line)
        assert prefix is not None  # noqa: S101 (it matches nothing as well)
        teed, rank = prefix["teed"], prefix["rank"]
        text = line[prefix.end() :]
        found.append(_Line(offset, None if teed is None else int(teed), None if rank is None else int(rank), text))
        offset += len(line)
    return found


def _words_among(lines: Sequence[_Line], local_rank: int, rank: int) -> dict[str, Any]:
    """Return the last words of one rank from a log that several of them and torchrun have written to."""
    teed = [line for line in lines if line.teed == local_rank]
    own = teed or [line for line in lines if line.teed is None and line.rank == rank]
    if own:
        return _last_words(own)
    unsigned = [words for words in _tracebacks(lines) if not _is_launchers(words)]
    return unsigned[-1] if unsigned else {}


def _last_words(lines: Sequence[_Line]) -> dict[str, Any]:
    """Return the last traceback, or at least the last line."""
    head = max((number for number, line in enumerate(lines) if _is_head(line)), default=-1)
    for line in reversed(lines[head + 1 :]):
        place = line.text.find(STILL_WORKED.encode())
        if place >= 0:
            return {"error": STILL_WORKED, "frames": [], "offset": line.offset + place}
    if head >= 0:
        return next(_tracebacks(lines[head:]))
    for line in reversed(lines):
        text = _plain(line.text).strip()
        if text and not _NOISE.match(text):
            return {"error": text[:_MOST_TEXT], "frames": [], "offset": line.offset}
    return {}


def _is_head(line: _Line) -> bool:
    return line.text.rstrip() == _HEAD


def _is_launchers(words: dict[str, Any]) -> bool:
    return any(_LAUNCHER.search(frame["file"]) for frame in words["frames"])


def _tracebacks(lines: Sequence[_Line]) -> Iterator[dict[str, Any]]:
    """Yield the tracebacks, each with its frames, its last line, and where it begins."""
    heads = [number for number, line in enumerate(lines) if _is_head(line)]
    for start, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        text = [_plain(line.text).rstrip("\r\n") for line in lines[start + 1 : end]]
        frames, error = _parse(text)
        yield {"error": error, "frames": frames, "offset": lines[start].offset}


def _parse(lines: Sequence[str]) -> tuple[list[dict[str, Any]], str | None]:
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
            return frames, line.strip()[:_MOST_TEXT]
        elif frames and frames[-1]["code"] is None and line.strip(" ~^"):
            frames[-1]["code"] = line.strip()[:_MOST_TEXT]
    return frames, None


def _plain(words: bytes) -> str:
    return _ESCAPE.sub("", words.decode(errors="replace"))
