"""Curves of metrics: from the overviews, or from the files where an overview is not fine enough."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from ..core.system.disk_threads import DiskSilent, Lane, lane_of, on_disk
from ..core.translation import Text, _
from .facts import Chunk
from .joined import gaps_of, prefixed
from .library.known import Known
from .library.library import Library
from .model import Axis, Curve, Curves, CurvesLeftOut, CurvesRequest, NotFinite, Point, Points
from .series import Part, Position, Series

MOST_POINTS: Final = 1_000_000
"""Points in an answer."""
READ_SECONDS: Final = 10.0
"""Time for which files are read for one answer."""
BUCKETS_PER_PIXEL: Final = 4
"""Number of buckets for each pixel to which values from files are reduced, before the final reduction to the chart."""


async def curves_on_disks(runs: Sequence[Known], request: CurvesRequest, library: Library) -> Curves:
    """Return curves of runs that may be on several disks. A disk that does not answer leaves out its own runs only.

    Parameters
    ----------
    runs
        The runs in the order of the request.
    request
        The request.
    library
        The library that the runs are of.

    Raises
    ------
    OSError
        If no run could be read.
    """
    parts, silent = await parts_by_disk(runs)

    async def read(part: list[Known]) -> list[Curve]:
        # The files of a run are read again if the index can't be used.
        await on_disk(disk_folder(part[0]), _load, part, library)
        await library.refresh([known for known in part if not known.read and known.has_files])
        return await on_disk(disk_folder(part[0]), curves_of, part, request, library)

    answers = await asyncio.gather(*map(read, parts), return_exceptions=True)
    found: list[Curve] = []
    for part, answer in zip(parts, answers, strict=True):
        if isinstance(answer, OSError):
            silent.append((part, answer))
        elif isinstance(answer, BaseException):
            raise answer
        else:
            found += answer
    if silent and sum(len(part) for part, _problem in silent) == len(runs):
        raise silent[0][1]
    places = {known.id: place for place, known in enumerate(runs)}
    return Curves.model_construct(
        curves=sorted(found, key=lambda curve: places[curve.run]),
        left_out=[
            CurvesLeftOut(runs=[known.id for known in part], problem=text_of(problem)) for part, problem in silent
        ],
    )


def _load(runs: Sequence[Known], library: Library) -> None:
    """Read the metrics of runs from the index (blocking)."""
    for known in runs:
        library.load(known)


async def parts_by_disk(runs: Sequence[Known]) -> tuple[list[list[Known]], list[tuple[list[Known], OSError]]]:
    """Return the runs by their disks, and those whose disk does not answer.

    Parameters
    ----------
    runs
        The runs.
    """
    folders: dict[Path, list[Known]] = {}
    for known in runs:
        folders.setdefault(disk_folder(known), []).append(known)
    lanes: dict[Lane, list[Known]] = {}
    silent: list[tuple[list[Known], OSError]] = []
    for folder, part in folders.items():
        try:
            lanes.setdefault(await lane_of(folder), []).extend(part)
        except OSError as problem:
            silent.append((part, problem))
    return list(lanes.values()), silent


def disk_folder(known: Known) -> Path:
    """Return a folder on the disk of a run, which exists also after the run was deleted."""
    return (known.parts[0] if known.parts else known).folder.parent


def text_of(problem: OSError) -> Text:
    """Return an error of a disk as a sentence."""
    if isinstance(problem, DiskSilent):
        return problem.message
    return _("The files can't be read: {problem}.", problem=problem.strerror or str(problem))


def curves_of(runs: Sequence[Known], request: CurvesRequest, library: Library) -> list[Curve]:
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
            whole = known.read and width == request.width and not gaps_of(known)
            complete = True
            overview = series
            if series is not None and not series.complete and _is_zoomed(request):
                overview, complete = _from_files(known, metric, series, request, end)
            line = _line(overview, request) if overview is not None else Line([], [])
        if series is None:
            continue
        # An overview has little more than two samples a pixel, so it is not reduced again.
        shown = line if len(line.x) <= 3 * width else reduced(line, width)
        found.append(
            Curve.model_construct(
                run=known.id,
                metric=metric,
                x=list(shown.x),
                y=list(shown.y),
                means=list(shown.means) if shown.means else None,
                count=series.count,
                not_finite=_not_finite(series),
                truncated=not (complete and whole),
            )
        )
    for known in runs:
        library.unload(known)
    return found


class Line(NamedTuple):
    """The points of a curve, as columns.

    Attributes
    ----------
    x, y
        The points.
    means, values
        Mean and number of the values for which each point stands; None if each point is one value.
    """

    x: Sequence[float]
    y: Sequence[float]
    means: Sequence[float] | None = None
    values: Sequence[float] | None = None

    def at(self, indexes: Iterable[int]) -> Line:
        """Return some of the points."""
        kept = list(indexes)

        def some(column: Sequence[float]) -> list[float]:
            return [column[index] for index in kept]

        return Line(some(self.x), some(self.y), self.means and some(self.means), self.values and some(self.values))


def reduced(line: Line, width: int) -> Line:
    """Return a curve reduced to the smallest and the largest value of each pixel, in the order of appearance.

    Consecutive points in one pixel are reduced together, so that steps that go backwards stay as they are.

    Parameters
    ----------
    line
        The curve.
    width
        Number of pixels between the smallest and the largest x.
    """
    xs = line.x
    if len(xs) <= 2 * width:
        return line
    if not math.isfinite(max(xs) - min(xs)):
        xs = [x / 4 for x in xs]  # The range of the points is larger than the largest number.
    least = min(xs)
    scale = width / ((max(xs) - least) or 1.0)
    if not math.isfinite(scale):  # All points are closer to each other than numbers can tell.
        scale = 0.0
    means = line.means or line.y
    values = line.values or [1.0] * len(xs)
    kept: list[int] = []
    columns: tuple[list[float], list[float]] = [], []
    begin = 0
    for _pixel, group in groupby([min(int((x - least) * scale), width - 1) for x in xs]):
        end = begin + len(list(group))
        ys = line.y[begin:end]
        ends = sorted({ys.index(min(ys)), ys.index(max(ys))})
        number = sum(values[begin:end])
        mean = sum(means[index] * (values[index] / number) for index in range(begin, end))
        for index in ends:
            kept.append(begin + index)
            columns[0].append(mean)
            columns[1].append(number / len(ends))
        begin = end
    return line.at(kept)._replace(means=columns[0], values=columns[1])


def _line(series: Series, request: CurvesRequest) -> Line:
    """Return the kept points of a metric that are in the range of a request."""
    kept = series.kept
    xs = kept.steps if request.x == "step" else kept.epochs if request.x == "epoch" else kept.times
    line = Line(xs, kept.values, *series.means())
    if _is_zoomed(request):
        return line.at(index for index, x in enumerate(xs) if _is_inside(x, request))
    return line if math.isfinite(sum(xs)) else line.at(index for index, x in enumerate(xs) if math.isfinite(x))


def _from_files(known: Known, metric: str, series: Series, request: CurvesRequest, end: float) -> tuple[Series, bool]:
    """Return the values in the range of a request, and False if there was no time for all of them.

    Only the parts of the files are read that may have such values.
    """
    found = Series(most=BUCKETS_PER_PIXEL * request.width)
    parts = known_parts(series)
    if parts is not None:
        parts = [part for part in parts if _may_be_inside(part, request)]
    for chunk in chunks_of(known, metric, parts):
        if time.monotonic() > end:
            return found, False
        if chunk.part is not None and _is_all_inside(chunk.part, request):
            found.extend(chunk.values, chunk.locate)
            continue
        positions = list(map(chunk.locate, range(len(chunk.values))))
        inside = [index for index, position in enumerate(positions) if _is_inside(_x(position, request.x), request)]
        if inside:
            found.extend([chunk.values[index] for index in inside], [positions[index] for index in inside].__getitem__)
    return found, True


def known_parts(series: Series) -> list[Part] | None:
    """Return the parts of the files that have the values of a metric; None if not all are known."""
    return list(series.parts) if sum(part.values for part in series.parts) == series.count else None


def _may_be_inside(part: Part, request: CurvesRequest) -> bool:
    low, high = _x(part.low, request.x), _x(part.high, request.x)
    before = high is not None and request.first is not None and high < request.first
    return not before and not (low is not None and request.last is not None and low > request.last)


def _is_all_inside(part: Part, request: CurvesRequest) -> bool:
    low, high = _x(part.low, request.x), _x(part.high, request.x)
    return low is not None and high is not None and _is_inside(low, request) and _is_inside(high, request)


def chunks_of(known: Known, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
    """Yield the values of a metric of a run from its files (blocking).

    Parameters
    ----------
    known
        The run.
    metric
        Name of the metric.
    parts
        Parts of the files to read; None to read all.
    """
    if known.has_files:
        yield from known.source.chunks(known.folder, metric, parts)
    elif not known.parts:  # From the log of a job, of which few values are kept.
        series = known.log.series.get(metric)
        samples = list(series.samples()) if series is not None else []
        yield Chunk([sample.value for sample in samples], lambda index: samples[index].position)
    for prefix, part in prefixed(known.parts):
        if metric.startswith(prefix):
            yield from part.source.chunks(part.folder, metric[len(prefix) :], parts)


def _x(position: Position, axis: Axis) -> float | None:
    return position.step if axis == "step" else position.epoch if axis == "epoch" else position.time


def _is_zoomed(request: CurvesRequest) -> bool:
    return request.first is not None or request.last is not None


def _is_inside(x: float | None, request: CurvesRequest) -> bool:
    """Return True if an x is in the range of a request; NaN is not."""
    return (
        x is not None
        and x == x
        and (request.first is None or x >= request.first)
        and (request.last is None or x <= request.last)
    )


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
    parts = known_parts(series) if series is not None else None
    at = 0
    if parts is not None:
        parts = [part for part in parts if part.first < first + limit and part.first + part.values > first]
        at = parts[0].first if parts else count
    points: list[Point] = []
    end = time.monotonic() + READ_SECONDS
    for chunk in chunks_of(known, metric, parts):
        if at >= first + limit or time.monotonic() > end:
            break
        for index in range(max(0, first - at), min(len(chunk.values), first + limit - at)):
            step, epoch, moment = chunk.locate(index)
            points.append(Point.model_construct(step=step, epoch=epoch, time=moment, value=chunk.values[index]))
        at += len(chunk.values)
    library.unload(known)
    return Points(points=points, first=first, count=max(count, first + len(points) if points else 0))
