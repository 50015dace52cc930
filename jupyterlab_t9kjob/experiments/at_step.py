"""Values of metrics at a step, for a column of the table of runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final

from ..core.system.disk_threads import on_disk
from .curves import chunks_of, disk_folder, known_parts, parts_by_disk
from .library.known import Known
from .library.library import Library
from .model import StepMetric, ValuesAt
from .series import Part, Series

READ_SECONDS: Final = 5.0
"""Time for which one answer reads files. Metrics of up to 2000 values need no file."""


async def values_at_steps(runs: Sequence[Known | None], metrics: Sequence[StepMetric], library: Library) -> ValuesAt:
    """Return the values of metrics of runs at a step.

    Parameters
    ----------
    runs
        The runs in the order of the answer; None for one that does not exist.
    metrics
        The metrics and their steps.
    library
        The library that the runs are of.
    """
    parts, silent = await parts_by_disk([known for known in runs if known is not None])
    found: dict[str, list[float | None]] = {}
    complete = not silent
    for part in parts:
        try:
            values, is_whole, unread = await on_disk(disk_folder(part[0]), _values, part, metrics, library)
            found |= values
            if unread:  # The files of a run are read again if the index can't be used.
                await library.refresh(unread)
                values, again, unread = await on_disk(disk_folder(part[0]), _values, unread, metrics, library)
                found |= values
                is_whole = is_whole and again
        except OSError:  # The disk does not answer.
            complete = False
            continue
        # A file with an error is not read before it changes; the run is another one for the page then.
        complete = complete and is_whole and all(known.problem is not None for known in unread)
    none = [None] * len(metrics)
    rows = [none if known is None else found.get(known.id, none) for known in runs]
    return ValuesAt.model_construct(values=[[row[at] for row in rows] for at in range(len(metrics))], complete=complete)


def _values(
    runs: Sequence[Known], metrics: Sequence[StepMetric], library: Library
) -> tuple[dict[str, list[float | None]], bool, list[Known]]:
    """Return the values of each run (blocking), False if there was no time for all, and runs that were not read."""
    end = time.monotonic() + READ_SECONDS
    found: dict[str, list[float | None]] = {}
    complete = True
    unread: list[Known] = []
    for known in runs:
        row: list[float | None] = []
        with known.lock:
            library.load(known)
            if known.has_files and not known.read:
                unread.append(known)
            for wanted in metrics:
                series = known.log.series.get(wanted.metric)
                if series is None or not _reaches(series, wanted.step):
                    row.append(None)
                elif series.complete and not series.bad:
                    kept = series.kept
                    row.append(_latest(zip(kept.steps, kept.values, strict=True), wanted.step))
                else:
                    value, is_whole = _from_files(known, wanted, series, end)
                    row.append(value)
                    complete = complete and is_whole
        library.unload(known)
        found[known.id] = row
    return found, complete, unread


def _reaches(series: Series, step: float) -> bool:
    """Return True if a metric has a value at a step or after it."""
    last = series.last.position.step if series.last is not None else None
    return (last is not None and last >= step) or any(kept >= step for kept in series.kept.steps)


def _latest(pairs: Iterable[tuple[float | None, float]], step: float) -> float | None:
    """Return the value of the greatest step up to a step; of several, the one that was recorded last."""
    best, value = -1.0, None
    for at, each in pairs:
        if at is not None and best <= at <= step:
            best, value = at, each
    return value


def _from_files(known: Known, wanted: StepMetric, series: Series, end: float) -> tuple[float | None, bool]:
    """Return a value of a long metric from the parts of its files that may have the step; False if time was short."""
    parts = known_parts(series)
    if parts is not None:
        parts = _parts_at(parts, wanted.step)
    best, value = -1.0, None
    for chunk in chunks_of(known, wanted.metric, parts):
        if time.monotonic() > end:
            return None, False
        for index, each in enumerate(chunk.values):
            at = chunk.locate(index).step
            if at is not None and best <= at <= wanted.step:
                best, value = at, each
    return value, True


def _parts_at(parts: Sequence[Part], step: float) -> list[Part]:
    """Return the parts that may have the greatest step up to a step."""
    before = [part for part in parts if part.low.step is None or part.low.step <= step]
    nearest = max((part.low.step for part in before if part.low.step is not None), default=0.0)
    # A part that ends before the first step of another part can't have it.
    return [part for part in before if part.high.step is None or part.high.step >= nearest]
