"""Reading of the facts of runs whose files have changed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from ...contents_paths import printable
from ...core.translation import Text, _
from ..facts import Facts
from ..sources.yaml_files import NotReadable
from .known import Known

log = logging.getLogger(__name__)

MOST_PATH: Final = 1000


def read_facts(runs: Sequence[Known]) -> tuple[list[Known], list[Known]]:
    """Read the facts of runs whose files have changed (blocking); return the changed and the removed runs."""
    changed, gone = [], []
    for known in runs:
        files = known.source.files(known.folder)
        if files == known.files and (known.facts is not None or known.problem is not None):
            continue
        if not files:
            gone.append(known)
            continue
        facts, problem = _facts(known)
        with known.lock:  # Another thread may still read the metrics up to the files that were known before.
            known.facts, known.problem = facts or known.facts, problem
            known.files, known.read = files, False
        changed.append(known)
    return changed, gone


def _facts(known: Known) -> tuple[Facts | None, Text | None]:
    """Return the facts of a run (blocking), or why they can't be read."""
    try:
        facts = known.source.facts(known.folder)
    except Exception as error:
        return None, problem_of(known, error)
    if known.outside:
        facts.environment["folder"] = printable(str(known.folder))[:MOST_PATH]
    return facts, None


def problem_of(known: Known, error: Exception) -> Text:
    """Return why a run can't be read. An error that its source does not foresee is logged: the other runs are read.

    Parameters
    ----------
    known
        The run.
    error
        The error of its source.
    """
    if isinstance(error, OSError):
        reason = error.strerror or str(error)
    elif isinstance(error, NotReadable):
        reason = str(error)
    else:
        log.error("The run in %s can't be read.", known.folder, exc_info=error)
        reason = repr(error)
    return _("The file can't be read: {problem}.", problem=reason[:300])
