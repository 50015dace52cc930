"""Durations, exit codes and the ends of attempts in words, the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
"""Exit codes that shells and container runtimes give for a death by signal; a program may also choose them itself."""

RESTART: Final = 138
"""Exit code by which a script asks for a restart (t9k.md §1.2)."""

MOST_ERROR: Final = 300
"""Characters of an error that stand in a sentence."""

_WORDS: Final = {
    0: "Completed",
    RESTART: "Asked to be restarted",
}
_WORDS_OF_SIGNALS: Final = {
    129: "Hung up",
    130: "Interrupted",
    131: "Quit",
    132: "Illegal instruction",
    134: "Aborted",
    135: "Bus error",
    136: "Arithmetic error",
    137: "Killed",
    139: "Segmentation fault",
    141: "Broken pipe",
    143: "Asked to end",
}
_DIED: Final = {
    130: "was interrupted",
    132: "crashed: illegal instruction",
    134: "aborted",
    135: "crashed: bus error",
    136: "crashed: arithmetic error",
    137: "was killed",
    139: "crashed: segmentation fault",
    143: "was asked to end",
}

_CAUSES: Final = {
    "PausedByUser": "Paused by you",
    "Paused": "Ended for a pause",
    "Stopped": "Stopped by you",
    "Succeeded": "Ended with the first replica",
    "DeadlineExceeded": "Ended at the deadline",
    "Restarting": "Ended for the restart of all",
    "ExitCode": "Ended because another replica failed",
    "BackoffLimitExceeded": "Ended because another replica failed",
    "JobFailed": "Ended with the job",
    "SupervisorLost": "Ended with the job's supervisor",
    "MachineRestarted": "Ended with the machine",
    "DirectoryRemoved": "Ended with the job's directory",
    "PodGone": "Ended with its pod",
    "TakenOut": "Taken out by its queue",
}


def duration(seconds: float) -> str:
    """Say a duration: “38 s”, “4 min 12 s”, “2 h 46 min”, “3 days”."""
    whole = max(0, int(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"
    if whole < 48 * 3600:
        minutes = whole % 3600 // 60
        return f"{whole // 3600} h {minutes} min" if minutes else f"{whole // 3600} h"
    return f"{whole // 86400} days"


def exit_code(code: int) -> int:
    """Turn Python's negative code of a death by signal into the shell's 128 + n."""
    return 128 - code if code < 0 else code


def failed(code: int, error: str | None, *, signaled: bool | None = None) -> str:
    """Say how a script failed, to stand after its name, always with its exit code.

    “failed with exit code 1: ValueError: …”, “was killed (137)”, “ended with exit code 137 (as after SIGKILL)”.

    Parameters
    ----------
    code
        The exit code.
    error
        That ended it, where it is known.
    signaled
        Whether a signal ended it; None where that is not known, as for a container.
    """
    if error and len(error) > MOST_ERROR:
        error = f"{error[:MOST_ERROR]}…"
    if signaled and code > 128:
        died = f"{_DIED.get(code) or f'was ended by {_signal(code)}'} ({code})"
        return f"{died}: {error}" if error and not error.startswith("Fatal Python error: ") else died
    if error:
        return f"failed with exit code {code}: {error}"
    as_after = f" (as after {SIGNALS[code]})" if signaled is None and code in SIGNALS else ""
    return f"ended with exit code {code}{as_after}"


def code_in_words(code: int, *, signaled: bool | None = None) -> str:
    """Say an exit code: “Killed (137)”, “As after SIGKILL (137)”; see `failed`."""
    words = _WORDS.get(code, "Error")
    if signaled and code > 128:
        words = _WORDS_OF_SIGNALS.get(code) or f"Ended by {_signal(code)}"
    elif signaled is None and code in SIGNALS:
        words = f"As after {SIGNALS[code]}"
    return words if code == 0 else f"{words} ({code})"


def _signal(code: int) -> str:
    return SIGNALS.get(code) or f"signal {code - 128}"


def end_in_words(code: int | None, cause: str | None, *, signaled: bool | None = None) -> str | None:
    """Say how an attempt ended: “Error (1)”, “Paused by you”; None if it has not.

    Parameters
    ----------
    code
        Its exit code.
    cause
        Why it was ended from outside: ``PausedByUser``, ``Succeeded`` …; None if it ended by itself.
    signaled
        See `failed`.
    """
    if code == 0 or cause is None:
        return None if code is None else code_in_words(code, signaled=signaled)
    return _CAUSES.get(cause, cause)


def best_metric(metrics: Mapping[str, float]) -> str | None:
    """Return the metric worth showing in one line, “val_acc 0.914”: an accuracy if there is one, else a loss."""
    for word in ("acc", "f1", "auc", "score", "loss"):
        for name, value in reversed(list(metrics.items())):
            if word in name:
                return f"{name} {value:.4g}"
    return None
