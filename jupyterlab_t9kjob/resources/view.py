"""Makes the API's view of samples: rows of metrics, curves of parts, single figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, cast

from ..core.resources import Column, Samples
from ..core.translation import Text, _
from .amounts import number, size, transferred
from .model import By, Part, ResourceCurve, ResourceLevel, ResourceRow, Unit
from .reduction import Reduced, Values

MOST_CURVES = 8
"""Largest number of replicas with a curve each; more replicas are shown as mean and extremes."""
GAP: Final = 2.5
"""Points further apart than this many intervals of the source have a gap between them."""
_PARTS: dict[By, tuple[str, ...]] = {
    "sum": ("job",),
    "replica": ("replica", "job"),
    "unit": ("rank", "gpu", "replica", "job"),
}


@dataclass(frozen=True)
class Metric:
    """A metric that pages show."""

    name: str
    title: Text
    unit: Unit


METRICS = (
    Metric("gpu_use", _("GPU use"), "percent"),
    Metric("gpu_memory", _("GPU memory"), "bytes"),
    Metric("gpu_power", _("GPU power"), "watts"),
    Metric("cpu", _("CPU"), "cores"),
    Metric("memory", _("Memory"), "bytes"),
    Metric("network", _("Network"), "bytes_per_second"),
    Metric("disk", _("Disk"), "bytes_per_second"),
)


def rows_of(samples: Samples, reduced: Reduced, whole: Reduced, by: By) -> list[ResourceRow]:
    """Return the rows of the metrics that have values, or a reason for having none.

    Parameters
    ----------
    samples
        The samples.
    reduced
        The samples in the range of the request.
    whole
        The samples of the whole job, for single figures.
    by
        Parts that have curves.
    """
    rows = []
    for metric in METRICS:
        part, columns = _columns(reduced, metric.name, by)
        if not columns:
            why = samples.missing.get(metric.name)
            if why is not None:
                rows.append(ResourceRow(metric=metric.name, title=metric.title, unit=metric.unit, missing=why))
            continue
        rows.append(
            ResourceRow(
                metric=metric.name,
                title=metric.title,
                unit=metric.unit,
                scope=samples.notes.get(metric.name),
                facts=_facts(metric.name, whole),
                curves=_curves(reduced, columns),
                levels=[
                    ResourceLevel(kind=level.kind, value=level.value, label=level.label)
                    for level in samples.levels
                    if level.metric == metric.name and level.part == part
                ],
            )
        )
    return rows


def gaps_of(reduced: Reduced, interval: float) -> list[int]:
    """Return the indexes of points before which samples are missing.

    Parameters
    ----------
    reduced
        The points.
    interval
        Seconds between two samples of the source.
    """
    return [
        index
        for index in range(1, len(reduced.times))
        if reduced.times[index] - reduced.ends[index - 1] > max(interval * GAP, 1.0)
    ]


def replicas_of(reduced: Reduced) -> list[str]:
    """Return the names of the replicas that have samples."""
    return sorted({column.replica for column in reduced.columns if column.replica is not None}, key=_natural)


def _columns(reduced: Reduced, metric: str, by: By) -> tuple[str, list[Column]]:
    for part in _PARTS[by]:
        found = [column for column in reduced.columns if column.metric == metric and column.kind == part]
        if found:
            return part, sorted(found, key=lambda column: (_natural(column.replica or ""), column.number or 0))
    return "job", []


def _natural(name: str) -> tuple[str, int]:
    head, _dash, tail = name.rpartition("-")
    return (head, int(tail)) if tail.isdecimal() else (name, 0)


def _curves(reduced: Reduced, columns: list[Column]) -> list[ResourceCurve]:
    if len({column.replica for column in columns}) > MOST_CURVES:
        return [_spread(reduced, columns)]
    return [_curve(reduced, column) for column in columns]


def _curve(reduced: Reduced, column: Column) -> ResourceCurve:
    return ResourceCurve.model_construct(
        part=cast("Part", column.kind),
        replica=column.replica,
        number=column.number,
        low=_short(reduced.lows(column)),
        mean=_short(reduced.means(column)),
        high=_short(reduced.highs(column)),
    )


def _spread(reduced: Reduced, columns: list[Column]) -> ResourceCurve:
    """Return one curve for many replicas: their mean, and the lowest and highest replica."""
    points = [
        [value for value in point if value is not None]
        for point in zip(*(reduced.means(column) for column in columns), strict=True)
    ]
    return ResourceCurve.model_construct(
        part="spread",
        replica=None,
        number=None,
        low=_short([min(point, default=None) for point in points]),
        mean=_short([sum(point) / len(point) if point else None for point in points]),
        high=_short([max(point, default=None) for point in points]),
    )


def _short(values: Values) -> Values:
    """Return values with five significant digits, which are shorter as JSON."""
    return [None if value is None else float(f"{value:.5g}") for value in values]


def _facts(metric: str, whole: Reduced) -> list[Text]:
    column = Column(None, "job", None, metric)
    means = _present(whole.means(column))
    if not means:
        return []
    mean = sum(means) / len(means)
    most = max(_present(whole.highs(column)), default=mean)
    if metric == "gpu_use":
        return [_("mean {number} %", number=round(mean))]
    if metric == "gpu_memory":
        return [_("most {size}", size=size(most))]
    if metric == "gpu_power":
        return [_("mean {number} W", number=round(mean))]
    if metric == "cpu":
        facts = [_("mean {number} cores", number=number(mean))]
        throttled = _present(whole.means(Column(None, "job", None, "throttled")))
        if throttled:
            share = sum(throttled) / len(throttled)
            facts.append(
                _("throttled {share} % of the time", share=round(100 * share)) if share >= 0.01 else _("not throttled")
            )
        return facts
    if metric == "memory":
        return [_("most {size}", size=size(most))]
    return [_("{amount} read so far", amount=transferred(total))] if (total := read_bytes(metric, whole)) > 0 else []


def read_bytes(metric: str, whole: Reduced) -> float:
    """Return the bytes that the job has read from disks so far; 0 for another metric than ``disk``.

    Parameters
    ----------
    metric
        Name of the metric.
    whole
        Samples of the whole job.
    """
    return integral(whole, "disk_read") if metric == "disk" else 0.0


def integral(whole: Reduced, metric: str) -> float:
    """Return the sum over time of a metric of the whole job; NaN without values.

    Parameters
    ----------
    whole
        Samples of the whole job.
    metric
        Name of the metric.
    """
    values = whole.means(Column(None, "job", None, metric))
    parts = [
        value * (end - start)
        for value, start, end in zip(values, whole.times, whole.ends, strict=True)
        if value is not None
    ]
    return sum(parts) if parts else math.nan


def _present(values: Values) -> list[float]:
    return [value for value in values if value is not None]
