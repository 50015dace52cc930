"""Texts about durations, exit codes, ends of attempts and states of jobs, the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ..translation import Text, _, _n

if TYPE_CHECKING:
    from ..job import Action, PendingAction, Phase, Stall

SIGNALS: Final = {
    129: "SIGHUP",
    130: "SIGINT",
    131: "SIGQUIT",
    132: "SIGILL",
    134: "SIGABRT",
    135: "SIGBUS",
    136: "SIGFPE",
    137: "SIGKILL",
    139: "SIGSEGV",
    141: "SIGPIPE",
    143: "SIGTERM",
}
"""Exit codes that shells and container runtimes report after a signal. A program may also exit with them itself."""

RESTART: Final = 138
"""Exit code with which a script asks for a restart under T9k's policy ``ExitCode`` (t9k-facts.md, Spec)."""

MOST_ERROR: Final = 300
"""Number of characters of an error that a sentence shows."""

_ENDED_BY_SIGNAL: Final = {
    129: _("Hung up ({exit_code})", exit_code=129),
    130: _("Interrupted ({exit_code})", exit_code=130),
    131: _("Quit ({exit_code})", exit_code=131),
    132: _("Illegal instruction ({exit_code})", exit_code=132),
    134: _("Aborted ({exit_code})", exit_code=134),
    135: _("Bus error ({exit_code})", exit_code=135),
    136: _("Arithmetic error ({exit_code})", exit_code=136),
    137: _("Killed ({exit_code})", exit_code=137),
    139: _("Segmentation fault ({exit_code})", exit_code=139),
    141: _("Broken pipe ({exit_code})", exit_code=141),
    143: _("Asked to end ({exit_code})", exit_code=143),
}
_CAUSES: Final = {
    "PausedByUser": _("Paused by you"),
    "Paused": _("Ended for a pause"),
    "Stopped": _("Stopped by you"),
    "Succeeded": _("Ended with the first replica"),
    "DeadlineExceeded": _("Ended at the deadline"),
    "Restarting": _("Ended for the restart of all"),
    "ExitCode": _("Ended because another replica failed"),
    "BackoffLimitExceeded": _("Ended because another replica failed"),
    "JobFailed": _("Ended with the job"),
    "SupervisorLost": _("Ended with the job's supervisor"),
    "MachineRestarted": _("Ended with the machine"),
    "DirectoryRemoved": _("Ended with the job's directory"),
    "PodGone": _("Ended with its pod"),
    "TakenOut": _("Taken out by its queue"),
}

NOT_POSSIBLE: Final[Mapping[Action, Text]] = {
    "pause": _("It can't be paused."),
    "resume": _("It can't be resumed."),
    "stop": _("It can't be stopped."),
    "delete": _("It can't be deleted."),
    "rerun": _("It can't be run again."),
}
"""Sentences that refuse an action, to stand after the sentence of `state_of`."""


def duration(seconds: float) -> Text:
    """Return a duration in words: “38 s”, “4 min 12 s”, “2 h 46 min”, “3 days”."""
    whole = max(0, int(seconds))
    if whole < 60:
        return _("{seconds} s", seconds=whole)
    if whole < 3600:
        if whole % 60:
            return _("{minutes} min {seconds} s", minutes=whole // 60, seconds=whole % 60)
        return _("{minutes} min", minutes=whole // 60)
    if whole < 48 * 3600:
        minutes = whole % 3600 // 60
        if minutes:
            return _("{hours} h {minutes} min", hours=whole // 3600, minutes=minutes)
        return _("{hours} h", hours=whole // 3600)
    return _n("{n} day", "{n} days", whole // 86400)


def without_progress(stall: Stall, now: float) -> Text:
    """Return how long a job has made no progress, and what its stacks have shown, without a full stop.

    Parameters
    ----------
    stall
        The stall.
    now
        The present time, in seconds since the epoch.
    """
    since = duration(now - stall.since)
    if stall.kind == "output":
        said = _("No output for {duration}", duration=since)
    else:
        said = _("No progress for {duration}", duration=since)
    return said if stall.finding is None else _("{said}: {finding}", said=said, finding=stall.finding)


def exit_code(code: int) -> int:
    """Return the shell's exit code, 128 + n, for Python's negative code of a process that a signal ended."""
    return 128 - code if code < 0 else code


def failure(who: str, code: int, error: str | None, *, signaled: bool | None = None) -> Text:
    """Return the sentence that says how a replica or rank failed, with its exit code.

    “Rank 3 failed with exit code 1: ValueError: …”, “The script was killed (137)”, “worker-0 ended with exit code 137
    (as after SIGKILL)”.

    Parameters
    ----------
    who
        Subject of the sentence: “Rank 3”, “The script”, “worker-0”.
    code
        Exit code.
    error
        Error that ended the process; None if unknown.
    signaled
        True if a signal ended the process; None if unknown, as for a container.
    """
    if error:
        error = error.with_words(_cut) if isinstance(error, Text) else _cut(error)
    if signaled and code > 128:
        died = _death(who, code)
        if not error or error.startswith("Fatal Python error: "):
            return died
        return _("{what}: {error}", what=died, error=error)
    if error:
        return _("{who} failed with exit code {exit_code}: {error}", who=who, exit_code=code, error=error)
    if signaled is None and code in SIGNALS:
        signal = SIGNALS[code]
        return _("{who} ended with exit code {exit_code} (as after {signal})", who=who, exit_code=code, signal=signal)
    return _("{who} ended with exit code {exit_code}", who=who, exit_code=code)


def _cut(words: str) -> str:
    return words if len(words) <= MOST_ERROR else f"{words[:MOST_ERROR]}…"


def _death(who: str, code: int) -> Text:
    """Return the sentence that says which signal ended a replica or rank."""
    match code:
        case 130:
            return _("{who} was interrupted ({exit_code})", who=who, exit_code=code)
        case 132:
            return _("{who} crashed: illegal instruction ({exit_code})", who=who, exit_code=code)
        case 134:
            return _("{who} aborted ({exit_code})", who=who, exit_code=code)
        case 135:
            return _("{who} crashed: bus error ({exit_code})", who=who, exit_code=code)
        case 136:
            return _("{who} crashed: arithmetic error ({exit_code})", who=who, exit_code=code)
        case 137:
            return _("{who} was killed ({exit_code})", who=who, exit_code=code)
        case 139:
            return _("{who} crashed: segmentation fault ({exit_code})", who=who, exit_code=code)
        case 143:
            return _("{who} was asked to end ({exit_code})", who=who, exit_code=code)
        case _other:
            return _("{who} was ended by {signal} ({exit_code})", who=who, signal=_signal(code), exit_code=code)


def code_in_words(code: int, *, signaled: bool | None = None) -> Text:
    """Return an exit code in words: “Killed (137)”, “As after SIGKILL (137)”.

    Parameters
    ----------
    code
        Exit code.
    signaled
        True if a signal ended the process; None if unknown.
    """
    if code == 0:
        return _("Completed")
    if signaled and code > 128:
        known = _ENDED_BY_SIGNAL.get(code)
        return known or _("Ended by {signal} ({exit_code})", signal=_signal(code), exit_code=code)
    if signaled is None and code in SIGNALS:
        return _("As after {signal} ({exit_code})", signal=SIGNALS[code], exit_code=code)
    if code == RESTART:
        return _("Asked to be restarted ({exit_code})", exit_code=code)
    return _("Error ({exit_code})", exit_code=code)


def _signal(code: int) -> str:
    return SIGNALS.get(code) or _("signal {number}", number=code - 128)


def end_in_words(code: int | None, cause: str | None, *, signaled: bool | None = None) -> Text | None:
    """Return how an attempt ended: “Error (1)”, “Paused by you”; None if it has not ended.

    Parameters
    ----------
    code
        Exit code; None if the attempt has none.
    cause
        Code of the cause outside the attempt: ``PausedByUser``, ``Succeeded`` …; None if it ended by itself.
    signaled
        True if a signal ended the process; None if unknown.
    """
    if code == 0 or cause is None:
        return None if code is None else code_in_words(code, signaled=signaled)
    return _CAUSES.get(cause) or Text.verbatim(cause)


def state_of(name: str, phase: Phase, pending: PendingAction | None = None, *, deleted: bool = False) -> Text:
    """Return the state of a job as a sentence: “train-1 is stopping.”.

    Parameters
    ----------
    name
        The job's name.
    phase
        The job's phase.
    pending
        Action that was requested and has not taken effect.
    deleted
        True if the job is deleted and its record is kept.
    """
    if deleted:
        return _("{name} is deleted.", name=name)
    match pending:
        case "stopping":
            return _("{name} is stopping.", name=name)
        case "pausing":
            return _("{name} is pausing.", name=name)
        case "resuming":
            return _("{name} is resuming.", name=name)
        case "deleting":
            return _("{name} is being deleted.", name=name)
        case _other:
            pass
    match phase:
        case "Pending":
            return _("{name} is pending.", name=name)
        case "Running":
            return _("{name} is running.", name=name)
        case "Paused":
            return _("{name} is paused.", name=name)
        case "Resuming":
            return _("{name} is resuming.", name=name)
        case "Unknown":
            return _("The state of {name} is not known.", name=name)
        case _ended:
            return _("{name} has ended.", name=name)


def best_metric(metrics: Mapping[str, float]) -> str | None:
    """Return the most informative metric, “val_acc 0.914”: an accuracy if there is one, else a loss."""
    for word in ("acc", "f1", "auc", "score", "loss"):
        for name, value in reversed(list(metrics.items())):
            if word in name:
                return f"{name} {value:.4g}"
    return None


def waits_for_sweep(at_a_time: int) -> Text:
    """Return the reason of a job that waits for its turn, given how many jobs of its sweep are active together."""
    return _n("Waits for its sweep: {n} job at a time", "Waits for its sweep: {n} jobs at a time", at_a_time)


def worse_than_median(facts: Mapping[str, Any]) -> Text:
    """Return why the rule of a sweep stopped a job, given the fields of `core.sweep.Verdict`."""
    words = {name: facts[name] for name in ("metric", "value", "median")}
    if facts.get("of") == "report":
        return _(
            "Stopped by the sweep: best {metric} {value} in {number} reports, median of the others {median}",
            number=facts["step"],
            **words,
        )
    return _(
        "Stopped by the sweep: best {metric} {value} up to step {step}, median of the others {median}",
        step=facts["step"],
        **words,
    )
