"""Why a rank failed, in its own words: from the rank files on a job's volume, or from what its pods have printed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ....core.job import Failure, Frame, LastOutput, Link, Reason
from ....core.log_sources import LogFile
from ....core.system import disk
from ....core.wording import failed
from ....logs.failures.advice import advice, next_step
from ....logs.failures.endings import ECHO
from ....logs.failures.failure_text import LogEnd, first_failure
from ....logs.failures.script_check import ScriptCheck
from ....logs.serving.sources import open_log, size_of
from ..objects.attempts import AttemptRecord
from ..objects.text import joined, made, plain
from .exits import Ending

_CLOSE_SECONDS: Final = 2.0
"""Pods tell times in whole seconds."""
_LATE_SECONDS: Final = 60.0
_MOST_FRAMES: Final = 100


def failed_life(lives: Sequence[AttemptRecord]) -> AttemptRecord | None:
    """Return the newest attempt of a replica, if it has failed by itself."""
    last = lives[-1] if lives else None
    return last if last is not None and last["exit_code"] and last["cause"] is None else None


def read_failure(
    files: Iterable[LogFile], replica: str, life: AttemptRecord, *, alone: bool, check: ScriptCheck | None = None
) -> Failure:
    """Return who failed in an attempt, as far as its logs tell (blocking).

    Parameters
    ----------
    files
        The job's log streams.
    replica, life
        Whose attempt, and which.
    alone
        Whether the job has one replica only.
    check
        The script's source, where the lab has it.
    """
    code = life["exit_code"] or 0
    streams = [file for file in files if (file.stream.replica, file.stream.attempt) == (replica, life["number"])]
    told: dict[str, Any] = {}
    with contextlib.suppress(OSError):  # logs that are gone, or that may not be read, tell nothing
        ends = list(_ends(streams))
        newest = max(streams, key=lambda file: file.stream.worker_restart, default=None)
        one = newest.stream if newest is not None else None
        first = 0 if alone else None
        if not alone and one is not None and one.rank is not None and one.local_rank is not None:
            first = one.rank - one.local_rank
        told = first_failure(ends, exit_code=code, first_rank=first, utc=True, check=check)
    stream, offset = told.pop("stream", None), told.pop("offset", None)
    link = Link(kind="log", label="Show in log", stream=stream, offset=offset or 0) if stream is not None else None
    frames = [Frame(**frame) for frame in told.pop("frames", [])[-_MOST_FRAMES:]]
    time = _time(told.pop("time", None), life)
    error, note = told.pop("error", None), told.pop("note", None)
    output = told.pop("last_output", None)
    known = {"exit_code": code, **told, "replica": replica, "attempt": life["number"]}
    return Failure(
        **known,
        time=time,
        error=plain(error, 1000) if error else None,
        note=plain(note, 1000) if note else None,
        frames=frames,
        link=link,
        last_output=LastOutput(**output) if output is not None else None,
    )


def cause_of(failures: Iterable[Failure]) -> Failure | None:
    """Return the failure that came first, of those of all replicas: what others say of lost connections is its echo."""
    found = list(failures)
    first = min((one.time for one in found if one.time is not None), default=0.0)

    def order(one: Failure) -> tuple[object, ...]:
        time = first if one.time is None else one.time
        echo = one.error is None or bool(ECHO.search(one.error))
        return time - first > _CLOSE_SECONDS, echo, one.rank is None, time, one.replica

    return min(found, key=order, default=None)


def reason_of_failure(failure: Failure, who: str, code: str, used_up: str | None) -> Reason:
    """Return a failure as the job's reason: “Rank 3 failed: ValueError: …”.

    Parameters
    ----------
    failure
        With a rank or an error in it.
    who
        Failed, where no rank is known.
    code
        Of the reason.
    used_up
        That there are no restarts left, a sentence.
    """
    if failure.rank is not None:
        who = f"Rank {failure.rank}"
    trouble = disk.told_by(failure.error or "")
    if trouble is not None:
        code, words = trouble.code, failed(failure.exit_code, trouble.sentence, signaled=failure.signaled)
        hint = f"{trouble.hint} Then run it again."
    else:
        words = failed(failure.exit_code, failure.error, signaled=failure.signaled)
        what_to_do = advice(failure.exit_code, failure.error, failure.note, signaled=failure.signaled)
        what_to_do = what_to_do or next_step(
            failure.exit_code, failure.error, traceback=bool(failure.frames), signaled=failure.signaled
        )
        hint = joined(failure.note, used_up, what_to_do) or ""
    reason = made(code, f"{who} {words}", hint or None, verbatim=failure.error)
    return reason.model_copy(update={"links": links_of(failure)})


def with_signal(ending: Ending, failure: Failure) -> Ending:
    """Return how a replica ended, as a signal's doing if its log has a shell's words for that.

    The cluster tells the shell's exit code only, which a program may choose as well.
    """
    same = (ending.code, ending.place.name, ending.exit_code) == ("ExitCode", failure.replica, failure.exit_code)
    if not (same and failure.signaled):
        return ending
    hint = advice(failure.exit_code, None, signaled=True) or ending.hint
    return replace(ending, words=failed(failure.exit_code, None, signaled=True), hint=hint)


def links_of(failure: Failure | None) -> list[Link]:
    """Return where a failure is in the log."""
    return [failure.link] if failure is not None and failure.link is not None else []


def with_paths(failure: Failure | None, paths: Callable[[str], str | None]) -> Failure | None:
    """Return a failure with its files as the contents API names them."""
    if failure is None:
        return None
    frames = [frame.model_copy(update={"path": paths(frame.file)}) for frame in failure.frames]
    return failure.model_copy(update={"frames": frames})


def _time(told: float | None, life: AttemptRecord) -> float | None:
    """Return when it was, where the clock of whoever told agrees with the cluster's; else the end of the attempt."""
    start, end = life["started_at"], life["ended_at"]
    if told is None or end is None:
        return told or end
    return told if (start or 0.0) - _LATE_SECONDS <= told <= end + _LATE_SECONDS else end


def _ends(files: Iterable[LogFile]) -> Iterator[LogEnd]:
    for file in files:
        stream = file.stream
        if stream.source not in ("rank", "container") or stream.container is not None:
            continue
        try:
            descriptor = open_log(file.path, file.within)
        except FileNotFoundError:
            continue  # nothing was ever printed
        with os.fdopen(descriptor, "rb") as opened:
            status = os.fstat(opened.fileno())
        yield LogEnd(
            id=stream.id,
            local_rank=stream.local_rank,
            stderr=stream.output == "stderr",
            worker_restart=stream.worker_restart,
            size=size_of(status),
            modified=status.st_mtime,
            read=partial(_read, file),
        )


def _read(file: LogFile, start: int, size: int) -> bytes:
    with os.fdopen(open_log(file.path, file.within), "rb") as opened:
        opened.seek(start)
        return opened.read(size)
