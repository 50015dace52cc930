"""Cause of a rank's failure, from its log: the rank files on a job's volume, or the pods' output.

What reads logs is imported for the first failure: it has many expressions to compile, and few lists need it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ....core.job import Failure, Frame, LastOutput, Link, Reason
from ....core.log_sources import LogFile
from ....core.system import disk
from ....core.texts.wording import failure as failure_text
from ....core.translation import Text, _, sentences
from ..objects.pods.attempts import AttemptRecord
from ..objects.text import cleaned, made, plain
from .exits import Ending

if TYPE_CHECKING:
    from ....logs.failures.failure_text import LogEnd
    from ....logs.failures.script_check import ScriptCheck

_CLOSE_SECONDS: Final = 2.0
"""Failures within this time count as simultaneous: pods report times in whole seconds."""
_LATE_SECONDS: Final = 60.0
"""Largest difference between the clocks of a log's writer and of the cluster."""
_MOST_FRAMES: Final = 100
_MOST_ERROR: Final = 1000


def failed_attempt(attempts: Sequence[AttemptRecord]) -> AttemptRecord | None:
    """Return the newest attempt of a replica if it has failed by itself; otherwise None."""
    last = attempts[-1] if attempts else None
    return last if last is not None and last["exit_code"] and last["cause"] is None else None


def read_failure(
    files: Iterable[LogFile], replica: str, attempt: AttemptRecord, *, alone: bool, check: ScriptCheck | None = None
) -> Failure:
    """Return which rank failed in an attempt, and why, as far as the logs tell (blocking).

    Parameters
    ----------
    files
        The job's log streams.
    replica, attempt
        Name of the replica, and the attempt that failed.
    alone
        True if the job has one replica only.
    check
        The script's source, if the lab has it.
    """
    from ....logs.failures.failure_text import first_failure

    code = attempt["exit_code"] or 0
    streams = [file for file in files if (file.stream.replica, file.stream.attempt) == (replica, attempt["number"])]
    found: dict[str, Any] = {}
    with contextlib.suppress(OSError):  # A log that is gone or not readable leaves the failure without details.
        ends = list(_ends(streams))
        newest = max(streams, key=lambda file: file.stream.worker_restart, default=None)
        one = newest.stream if newest is not None else None
        first = 0 if alone else None
        if not alone and one is not None and one.rank is not None and one.local_rank is not None:
            first = one.rank - one.local_rank
        found = first_failure(ends, exit_code=code, first_rank=first, utc=True, check=check)
    stream, offset = found.pop("stream", None), found.pop("offset", None)
    link = None
    if stream is not None:
        link = Link(kind="log", label=_("Show in log"), stream=stream, offset=offset or 0)
    frames = [Frame(**frame) for frame in found.pop("frames", [])[-_MOST_FRAMES:]]
    time = _time(found.pop("time", None), attempt)
    error, note = found.pop("error", None), found.pop("note", None)
    output = found.pop("last_output", None)
    known = {"exit_code": code, **found, "replica": replica, "attempt": attempt["number"]}
    return Failure(
        **known,
        time=time,
        error=plain(error, _MOST_ERROR) if error else None,
        note=cleaned(Text.restored(note), _MOST_ERROR) if note else None,
        frames=frames,
        link=link,
        last_output=LastOutput(**output) if output is not None else None,
    )


def cause_of(failures: Iterable[Failure]) -> Failure | None:
    """Return the failure that came first among those of all replicas; errors about lost connections come last."""
    found = list(failures)
    if not found:
        return None
    from ....logs.failures.endings import ECHO

    first = min((one.time for one in found if one.time is not None), default=0.0)

    def order(one: Failure) -> tuple[object, ...]:
        time = first if one.time is None else one.time
        echo = one.error is None or bool(ECHO.search(one.error))
        return time - first > _CLOSE_SECONDS, echo, one.rank is None, time, one.replica

    return min(found, key=order)


def reason_of_failure(failure: Failure, who: str, code: str, used_up: Text | None) -> Reason:
    """Return a failure as the job's reason: “Rank 3 failed with exit code 1: ValueError: …”.

    Parameters
    ----------
    failure
        The failure; it has a rank or an error.
    who
        Subject of the sentence if no rank is known.
    code
        Code of the reason.
    used_up
        Sentence that says that no restarts are left; None if some are, or if that does not matter.
    """
    from ....logs.failures.advice import advice, next_step

    if failure.rank is not None:
        who = _("Rank {rank}", rank=failure.rank)
    trouble = disk.told_by(failure.error or "")
    if trouble is not None:
        code, sentence = trouble.code, failure_text(who, failure.exit_code, trouble.sentence, signaled=failure.signaled)
        hint = sentences(trouble.hint, _("Then run it again."))
    else:
        sentence = failure_text(who, failure.exit_code, failure.error, signaled=failure.signaled)
        what_to_do = advice(failure.exit_code, failure.error, failure.note, signaled=failure.signaled) or next_step(
            failure.exit_code, failure.error, traceback=bool(failure.frames), signaled=failure.signaled
        )
        hint = sentences(failure.note, used_up, what_to_do)
    reason = made(code, sentence, hint, verbatim=failure.error)
    return reason.model_copy(update={"links": links_of(failure)})


def with_signal(ending: Ending, failure: Failure) -> Ending:
    """Return an end as the work of a signal if the log has a shell's message about the signal.

    The cluster reports only the shell's exit code, which a program may choose as well.

    Parameters
    ----------
    ending
        The replica's end.
    failure
        The failure that was read from its log.
    """
    same = (ending.code, ending.replica.name, ending.exit_code) == ("ExitCode", failure.replica, failure.exit_code)
    if not (same and failure.signaled):
        return ending
    from ....logs.failures.advice import advice

    hint = sentences(advice(failure.exit_code, None, signaled=True) or ending.hint)
    return replace(
        ending, sentence=failure_text(ending.replica.name, failure.exit_code, None, signaled=True), hint=hint
    )


def links_of(failure: Failure | None) -> list[Link]:
    """Return the link to a failure in the log."""
    return [failure.link] if failure is not None and failure.link is not None else []


def with_paths(failure: Failure | None, paths: Callable[[str], str | None]) -> Failure | None:
    """Return a failure whose frames have the paths of the contents API.

    Parameters
    ----------
    failure
        The failure; None returns None.
    paths
        Returns the contents API's path of a file; None if the file lies outside of it.
    """
    if failure is None:
        return None
    frames = [frame.model_copy(update={"path": paths(frame.file)}) for frame in failure.frames]
    return failure.model_copy(update={"frames": frames})


def _time(logged: float | None, attempt: AttemptRecord) -> float | None:
    """Return the time in the log if it lies within the attempt, else the end of the attempt."""
    start, end = attempt["started_at"], attempt["ended_at"]
    if logged is None or end is None:
        return logged or end
    return logged if (start or 0.0) - _LATE_SECONDS <= logged <= end + _LATE_SECONDS else end


def _ends(files: Iterable[LogFile]) -> Iterator[LogEnd]:
    from ....logs.failures.failure_text import LogEnd
    from ....logs.serving.sources import open_log, size_of

    for file in files:
        stream = file.stream
        if stream.source not in ("rank", "container") or stream.container is not None:
            continue
        try:
            descriptor = open_log(file.path, file.within)
        except FileNotFoundError:
            continue  # The rank has never printed anything.
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
    from ....logs.serving.sources import open_log

    with os.fdopen(open_log(file.path, file.within), "rb") as opened:
        opened.seek(start)
        return opened.read(size)
