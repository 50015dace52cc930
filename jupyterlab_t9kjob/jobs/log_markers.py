"""Lines of a job's log that stand on an axis of time: errors, warnings, checkpoints."""

from __future__ import annotations

import json
import re
from typing import Final, Literal

from ..logs.serving.search import search
from ..logs.serving.sources import Source
from ..logs.storage.index import TimeIndex
from ..resources.model import LogMarker, LogMarkers
from .service import JobService

MOST_HITS: Final = 400
MOST_MARKERS: Final = 120
NEAR_SECONDS: Final = 1.0
"""Lines of the same kind and replica within this time are one marker: every rank writes the same warning."""
_TEXT: Final = 200

_ERROR: Final = (
    r"Traceback \(most recent call last\)|^(?:\[rank\d+\]:\s?)?[A-Za-z_][\w.]*(?:Error|Exception)(?::|$)"
    r"|^E\d{4} |\b(?:ERROR|CRITICAL|FATAL)\b"
)
_WARNING: Final = r"^W\d{4} |\b(?:WARN|WARNING)\b|\b[A-Z]\w*Warning:"
_CHECKPOINT: Final = (
    r"\b(?:[Ss]av(?:ed|ing)|[Ww]r(?:ote|iting))\b.*(?:checkpoint|\.pt\b|\.pth\b|\.ckpt\b|\.safetensors\b)"
)
_KINDS: Final[tuple[tuple[Literal["error", "warning", "checkpoint"], re.Pattern[str]], ...]] = (
    ("error", re.compile(_ERROR)),
    ("warning", re.compile(_WARNING)),
    ("checkpoint", re.compile(_CHECKPOINT)),
)


async def markers_of(jobs: JobService, ident: str) -> LogMarkers:
    """Return markers of a job's log, oldest first.

    Parameters
    ----------
    jobs
        Access to the logs.
    ident
        The job's id.

    Raises
    ------
    JobError
        If there is no such job, or its log can't be searched.
    """
    files = await jobs.log_files(ident)
    if not files:
        return LogMarkers()
    replicas = {file.stream.id: file.stream.replica for file in files}
    sources = [
        Source(file.stream.id, file.path, TimeIndex(file.index), file.cuts, file.within)
        for file in files
        if file.index is not None
    ]
    pattern = "|".join(f"(?:{part})" for part in (_ERROR, _WARNING, _CHECKPOINT))
    found = await search(sources, pattern, regex=True, case_sensitive=True, limit=MOST_HITS, context=0)
    markers: list[LogMarker] = []
    last: dict[tuple[str, str], float] = {}
    for hit in map(json.loads, found.hits):
        kind = next((name for name, expression in _KINDS if expression.search(hit["text"])), None)
        time = hit.get("time")
        if kind is None or time is None:
            continue
        replica = replicas.get(hit["stream"], "")
        if time - last.get((kind, replica), 0.0) < NEAR_SECONDS:
            continue
        last[kind, replica] = time
        markers.append(
            LogMarker(
                kind=kind,
                time=time,
                replica=replica,
                stream=hit["stream"],
                offset=hit["offset"],
                text=hit["text"].strip()[:_TEXT],
            )
        )
    return LogMarkers(
        markers=markers[:MOST_MARKERS],
        complete=found.complete and found.stopped is None and len(markers) <= MOST_MARKERS,
    )
