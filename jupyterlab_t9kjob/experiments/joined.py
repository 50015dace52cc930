"""Sources of a run: its own folder, or the folders of event files that together are the run of a job."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.translation import Text, _
from .library.known import Known


def prefixed(parts: Sequence[Known]) -> list[tuple[str, Known]]:
    """Return the folders with what their metrics' names begin with in the run of the job.

    One folder needs nothing. Several have the end of their path, as short as tells them apart: `fold0/tensorboard/`.

    Parameters
    ----------
    parts
        The folders.
    """
    if len(parts) == 1:
        return [("", parts[0])]
    length = 1
    while len(set(prefixes := ["/".join((*part.folder.parts[-length:], "")) for part in parts])) < len(parts):
        length += 1
    return list(zip(prefixes, parts, strict=True))


def gaps_of(known: Known) -> list[Text]:
    """Return why values are missing in the metrics of a run, which are in memory.

    Parameters
    ----------
    known
        The run.
    """
    parts = known.parts or (known,)
    found = []
    if any(part.facts is not None and part.facts.partial for part in parts):
        found.append(_("It has too many files, and those of some metrics are left out."))
    if any(part.log.unreadable for part in parts):
        found.append(_("Files with metrics are damaged, and the values in the damaged parts are missing."))
    return found
