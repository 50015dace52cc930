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
            values, is_whole = await on_disk(disk_folder(part[0]), _values, part, metrics, library)
        except OSError:  # The disk does not answer.
            complete = False
            continue
        found |= values
        complete = complete and is_whole
    none = [None] * len(metrics)
    rows = [none if known is None else found.get(known.id, none) for known in runs]
    return ValuesAt.model_construct(values=[[row[at] for row in rows] for at in range(len(metrics))], complete=complete)


def _values(
    runs: Sequence[Known], metrics: Sequence[StepMetric], library: Library
) -> tuple[dict[str, list[float | None]], bool]:
    """Return the values of each run (blocking), and False if there was no time for all files."""
    end = time.monotonic() + READ_SECONDS
    found: dict[str, list[float | None]] = {}
    complete = True
    for known in runs:
        row: list[float | None] = []
        with known.lock:
            library.load(known)
            for wanted in metrics:
                series = known.log.series.get(wanted.metric)
                if series is None or not _reaches(series, wanted.step):
                    row.append(None)
                elif series.complete and not series.bad:
                    kept = series.kept
                    row.append(_latest(zip(kept.steps, kept.values, strict=True), wanted.step))
                elif time.monotonic() > end:
                    row.append(None)
                    complete = False
                else:
                    row.append(_from_files(known, wanted, series))
        library.unload(known)
        found[known.id] = row
    return found, complete


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


def _from_files(known: Known, wanted: StepMetric, series: Series) -> float | None:
    """Return a value of a long metric from the parts of its files that may have the step."""
    parts = known_parts(series)
    if parts is not None:
        parts = _parts_at(parts, wanted.step)
    best, value = -1.0, None
    for chunk in chunks_of(known, wanted.metric, parts):
        for index, each in enumerate(chunk.values):
            at = chunk.locate(index).step
            if at is not None and best <= at <= wanted.step:
                best, value = at, each
    return value


def _parts_at(parts: Sequence[Part], step: float) -> list[Part]:
    """Return the parts that may have the greatest step up to a step."""
    before = [part for part in parts if part.low.step is None or part.low.step <= step]
    nearest = max((part.low.step for part in before if part.low.step is not None), default=0.0)
    # A part that ends before the first step of another part can't have it.
    return [part for part in before if part.high.step is None or part.high.step >= nearest]
