"""Texts about TensorBoards: their labels, and the reasons of their states."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from ..core.job import Reason
from ..core.system.disk_threads import DiskSilent
from ..core.translation import Text, _, _n
from .events import Found

RESTART = _("Restart it.")
GENERIC_NAMES = frozenset({"log", "logs", "run", "runs", "events", "tb", "tensorboard"})


def ended(code: int) -> tuple[Text, Text]:
    """Return sentence and hint about the end of a running process, given Python's exit code."""
    if code >= 0:
        return _("TensorBoard ended with exit code {exit_code}.", exit_code=code), RESTART
    sentence = _("TensorBoard was killed by signal {signal}.", signal=-code)
    if code != -signal.SIGKILL:
        return sentence, RESTART
    return sentence, _("Restart it. If it happens again, the machine is short of memory: open fewer runs at a time.")


def disk_hangs(error: DiskSilent) -> Reason:
    """Return the reason of a board whose disk does not answer."""
    return Reason(
        code="FolderHangs",
        sentence=_("{path} is on a disk that does not answer.", path=error.filename),
        hint=_("It is shown as soon as the disk is back."),
    )


def label(log_dirs: Sequence[Path]) -> Text:
    """Return a short name for a set of log directories: “train-1”, “mnist/runs”, “train-1 and 2 more”."""
    first = log_dirs[0]
    name = first.name or "/"
    if name.lower() in GENERIC_NAMES and first.parent.name:
        name = f"{first.parent.name}/{name}"
    more = len(log_dirs) - 1
    return _n("{name} and {n} more", "{name} and {n} more", more, name=name) if more else Text.verbatim(name)


def folder_problem(found: Found, *, known: bool) -> Reason | None:
    """Return the problem with a log directory; None if there is none.

    Parameters
    ----------
    found
        Result of a search for event files.
    known
        True if the log directories existed before, so that a missing one has been removed.
    """
    trouble = found.trouble
    if trouble is None:
        return None
    path = str(trouble.path)
    if not trouble.missing:
        return Reason(
            code="FolderUnreadable",
            sentence=_("{path} can't be read.", path=path),
            hint=_("Check its permissions."),
            verbatim=trouble.words,
        )
    if known:
        return Reason(code="FolderGone", sentence=_("{path} has been removed.", path=path))
    return Reason(code="NoFolder", sentence=_("{path} does not exist yet.", path=path))
