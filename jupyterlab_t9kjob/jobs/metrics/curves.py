"""Curves of the metrics that a job reported, thinned for a page."""

from __future__ import annotations

import math
import re
from typing import Final, Literal

from pydantic import Field

from ...core.spec import Model
from .reader import Metrics, Series

MOST_POINTS: Final = 240
MOST_SERIES: Final = 12
_LOSS: Final = re.compile(r"loss|perplexity|error", re.IGNORECASE)


class JobCurve(Model):
    """The values of one metric."""

    name: str
    x: list[int] = Field(description="Steps, or numbers of the reports; see `JobCurves.of`.")
    values: list[float]


class JobCurves(Model):
    """Curves of a job's metrics, those of losses first."""

    of: Literal["step", "report"] = Field(
        description="step: x are the steps of event files. report: x are the numbers of the reports in the log, from 1."
    )
    curves: list[JobCurve]


def curves_of(metrics: Metrics) -> JobCurves:
    """Return the curves of metrics. Values that are not finite are left out."""
    names = sorted(metrics.series, key=lambda name: (_LOSS.search(name) is None, name))
    curves = [_curve(name, metrics.series[name]) for name in names]
    shown = [curve for curve in curves if len(curve.values) > 1]
    return JobCurves(of=metrics.of, curves=shown[:MOST_SERIES])


def _curve(name: str, series: Series) -> JobCurve:
    """Return a curve of at most `MOST_POINTS` points, among them the first and the last one."""
    points = sorted((step, value) for step, value in series.items() if math.isfinite(value))
    if len(points) > MOST_POINTS:
        last = len(points) - 1
        points = [points[round(number * last / (MOST_POINTS - 1))] for number in range(MOST_POINTS)]
    return JobCurve(name=name, x=[step for step, _value in points], values=[value for _step, value in points])
