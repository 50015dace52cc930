"""Curves of metrics: from the overviews, or from the files where an overview is not fine enough."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import Final

from .library import Known, Library
from .model import Axis, Curve, CurvesRequest, NotFinite, Point, Points
from .series import Position, Series, reduced

MOST_POINTS: Final = 1_000_000
"""Points in an answer."""
READ_SECONDS: Final = 10.0
"""How long files are read for one answer."""


def curves_of(runs: list[Known], request: CurvesRequest, library: Library) -> list[Curve]:
    """Return curves (blocking).

    Parameters
    ----------
    runs
        The runs in the order of the request.
    request
        The request.
    library
        The library that the runs are of.
    """
    wanted = [(known, metric) for known in runs for metric in dict.fromkeys(request.metrics)]
    width = min(request.width, max(50, MOST_POINTS // (2 * max(1, len(wanted)))))
    end = time.monotonic() + READ_SECONDS
    found = []
    for known, metric in wanted:
        with known.lock:
            library.load(known)
            series = known.log.series.get(metric)
            samples = list(series.samples()) if series is not None else []
        if series is None:
            continue
        points = [(_x(sample.position, request.x), sample.value) for sample in samples]
        complete = True
        if not series.complete and (request.first is not None or request.last is not None):
            points, complete = _from_file(known, metric, request, end)
        inside = list(_inside(points, request))
        shown = reduced(inside, width)
        found.append(
            Curve.model_construct(
                run=known.id,
                metric=metric,
                x=[x for x, _y in shown],
                y=[y for _x, y in shown],
                count=series.count,
                not_finite=_not_finite(series),
                truncated=not (complete and known.read and width == request.width),
            )
        )
    for known in runs:
        library.unload(known)
    return found


def _from_file(
    known: Known, metric: str, request: CurvesRequest, end: float
) -> tuple[list[tuple[float | None, float]], bool]:
    """Return the points in the range of a request, and False if there was no time for the whole file."""
    found: list[tuple[float | None, float]] = []
    for number, (value, position) in enumerate(points_of(known, metric)):
        if number % 1000 == 0 and time.monotonic() > end:
            return found, False
        x = _x(position, request.x)
        if x is not None and _is_inside(x, request) and math.isfinite(value):
            found.append((x, value))
    return found, True


def points_of(known: Known, metric: str) -> Iterator[tuple[float, Position]]:
    """Yield all values of a metric of a run from its files (blocking).

    Parameters
    ----------
    known
        The run.
    metric
        Name of the metric.
    """
    if known.path is not None:
        yield from known.source.points(known.folder, metric)
    elif not known.parts:  # From the log of a job, of which few values are kept.
        series = known.log.series.get(metric)
        yield from ((sample.value, sample.position) for sample in (series.samples() if series else ()))
    for part in known.parts:
        prefix = f"{part.folder.name}/" if len(known.parts) > 1 else ""
        if metric.startswith(prefix):
            yield from part.source.points(part.folder, metric[len(prefix) :])


def _x(position: Position, axis: Axis) -> float | None:
    return position.step if axis == "step" else position.epoch if axis == "epoch" else position.time


def _inside(points: list[tuple[float | None, float]], request: CurvesRequest) -> Iterator[tuple[float, float]]:
    return ((x, y) for x, y in points if x is not None and math.isfinite(x) and _is_inside(x, request))


def _is_inside(x: float, request: CurvesRequest) -> bool:
    return (request.first is None or x >= request.first) and (request.last is None or x <= request.last)


def _not_finite(series: Series) -> NotFinite:
    return NotFinite(count=series.bad, first_step=series.first_bad, last_step=series.last_bad)


def values_of(known: Known, metric: str, first: int, limit: int, library: Library) -> Points:
    """Return the values of a metric as they are in the file (blocking).

    Parameters
    ----------
    known
        The run.
    metric
        Name of the metric.
    first, limit
        Number of the first value, from 0, and of values.
    library
        The library that the run is of.
    """
    with known.lock:
        library.load(known)
        series = known.log.series.get(metric)
    count = series.count if series is not None else 0
    points: list[Point] = []
    end = time.monotonic() + READ_SECONDS
    for number, (value, position) in enumerate(points_of(known, metric)):
        if number >= first + limit or time.monotonic() > end:
            break
        if number >= first:
            points.append(
                Point.model_construct(step=position.step, epoch=position.epoch, time=position.time, value=value)
            )
    library.unload(known)
    return Points(points=points, first=first, count=max(count, first + len(points) if points else 0))
