"""Reads the answers of Prometheus' HTTP API. A server may answer anything; values that are not finite are dropped."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any, Final

from .....core.translation import _
from ...client.json_access import MOST_TEXT, parts, text
from .errors import PrometheusError

MOST_VALUE: Final = 1e18
"""Larger values are marks for “no value” (DCGM: 0x7ffffffffffffff0), and errors."""
_INTERVAL: Final = (5.0, 300.0)


@dataclass
class Series:
    """Values of one metric of one part.

    Attributes
    ----------
    labels
        Labels of the part.
    values
        Values by time, in seconds since the epoch.
    """

    labels: dict[str, str]
    values: dict[float, float] = field(default_factory=dict)

    @property
    def pod(self) -> str:
        """Name of the pod. A series of an exporter has its user as ``exported_pod``, and its own pod as ``pod``."""
        return self.labels.get("exported_pod") or self.labels.get("pod") or ""


def series_of(content: bytes, host: str) -> list[Series]:
    """Return the series in an answer (blocking if the answer is large).

    Parameters
    ----------
    content
        The answer.
    host
        Name of the server, for sentences.

    Raises
    ------
    PrometheusError
        If Prometheus refuses the query, or the server is no Prometheus.
    """
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    status = text(answer, "status")
    if status == "error":
        raise PrometheusError(
            "PrometheusRefuses",
            _("Prometheus at {host} refuses the query.", host=host),
            verbatim=text(answer, "error") or text(answer, "errorType"),
        )
    if status != "success" or text(answer, "data", "resultType") != "matrix":
        raise PrometheusError(
            "PrometheusWrong",
            _("The server at {host} does not answer like a Prometheus.", host=host),
            _("An administrator can check the trait prometheus."),
        )
    return [series for found in parts(answer, "data", "result") if (series := _series(found)) is not None]


def scrape_interval(series: list[Series]) -> int | None:
    """Return the seconds between two scrapes, in steps of 5 s; None if no series has two of them.

    cAdvisor gives its values times of its own, which differ from those of the scrapes by some seconds.
    """
    gaps = []
    for each in series:
        times = sorted(each.values)
        gaps += [later - sooner for sooner, later in pairwise(times)]
    if not gaps:
        return None
    least, most = _INTERVAL
    return 5 * round(min(max(median(gaps), least), most) / 5)


def _series(found: dict[str, Any]) -> Series | None:
    labels = found.get("metric")
    if not isinstance(labels, dict):
        return None
    plain = {key: value[:MOST_TEXT] for key, value in labels.items() if isinstance(value, str)}
    series = Series(plain, dict(_values(found.get("values"))))
    return series if series.values else None


def _values(pairs: Any) -> Iterator[tuple[float, float]]:
    for pair in pairs if isinstance(pairs, list) else []:
        match pair:
            case [int() | float() as time, str() as written]:
                try:
                    value = float(written)
                except ValueError:
                    continue
                if math.isfinite(value) and 0 <= value < MOST_VALUE and 0 < time < 1e12:
                    yield float(time), value
