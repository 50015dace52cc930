"""Reading of the facts of runs whose files have changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...contents_paths import printable
from ...core.translation import _
from ..sources.yaml_files import NotReadable
from .known import Known

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
        try:
            known.facts = known.source.facts(known.folder)
            known.problem = None
            if known.outside:
                known.facts.environment["folder"] = printable(str(known.folder))[:MOST_PATH]
        except NotReadable as problem:
            known.problem = _("The file can't be read: {problem}.", problem=str(problem)[:300])
        except OSError as problem:
            known.problem = _("The file can't be read: {problem}.", problem=problem.strerror or str(problem))
        known.files, known.read = files, False
        changed.append(known)
    return changed, gone
