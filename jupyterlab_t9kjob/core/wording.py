"""Durations, exit codes and the ends of attempts in words, the same for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SIGNALS: Final = {
    129: "Hung up",
    130: "Interrupted",
    131: "Quit",
    132: "Illegal instruction",
    134: "Aborted",
    135: "Bus error",
    136: "Arithmetic error",
    137: "Killed",
    138: "Asked to be restarted",
    139: "Segmentation fault",
    141: "Broken pipe",
    143: "Asked to end",
}
"""Exit codes of processes that a signal ended; 138 is a script's own way to ask for a restart (t9k.md §1.2)."""

WORDS: Final = {2: "Wrong use", 120: "Output can't be written", 126: "Not executable", 127: "Command not found"}
"""Exit codes of Python and of shells."""

_DIED: Final = {
    130: "was interrupted",
    137: "was killed",
    138: "asked to be restarted",
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


def died(code: int) -> str:
    """Say how what a signal ended has ended, to stand after its name: “was killed (137)”."""
    return f"{_DIED.get(code) or 'died: ' + SIGNALS[code].lower()} ({code})"


def failed(code: int, error: str | None) -> str:
    """Say how a script failed, to stand after its name: “failed: ValueError: …”, “was killed (137)”.

    Parameters
    ----------
    code
        The exit code.
    error
        The last line of its traceback, or what else it said last.
    """
    if code in SIGNALS and code != 138:
        return died(code)
    if error:
        return f"failed: {error}"
    if code in WORDS:
        return f"failed: {code_in_words(code)}"
    return f"ended with exit code {code}"


def code_in_words(code: int, *, launched: bool = False) -> str:
    """Say an exit code: “Killed (137)”; with torchrun on, 1 is torchrun's own."""
    if code == 0:
        return "Completed"
    if code == 1:
        return "A rank failed (1)" if launched else "Python error (1)"
    return f"{(WORDS | SIGNALS).get(code, 'Error')} ({code})"


def end_in_words(code: int | None, cause: str | None, *, launched: bool) -> str | None:
    """Say how an attempt ended: “Python error (1)”, “Paused by you”; None if it has not.

    Parameters
    ----------
    code
        Its exit code.
    cause
        Why it was ended from outside: ``PausedByUser``, ``Succeeded`` …; None if it ended by itself.
    launched
        Whether torchrun started its processes.
    """
    if code == 0 or cause is None:
        return None if code is None else code_in_words(code, launched=launched)
    return _CAUSES.get(cause, cause)


def best_metric(metrics: Mapping[str, float]) -> str | None:
    """Return the metric worth showing in one line, “val_acc 0.914”: an accuracy if there is one, else a loss."""
    for word in ("acc", "f1", "auc", "score", "loss"):
        for name, value in reversed(list(metrics.items())):
            if word in name:
                return f"{name} {value:.4g}"
    return None
