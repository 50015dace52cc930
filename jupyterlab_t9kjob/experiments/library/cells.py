"""JSON of a run as the table shows it. The index keeps it, so that no object is made for each cell."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..facts import Facts
from ..model import json_number
from ..series import Series

_LARGEST: Final = 3.4e38


class Cell(NamedTuple):
    """A cell as two pieces of JSON.

    Attributes
    ----------
    numbers
        A `RunMetric` without its curve and its closing brace.
    curve
        The small curve.
    """

    numbers: str
    curve: str

    def text(self, *, curve: bool) -> str:
        """Return the JSON of the cell; without its curve unless that is wanted."""
        return f'{self.numbers},"curve":{self.curve if curve else "[]"}}}'


def cell_of(series: Series) -> Cell:
    """Return the cell of a metric."""
    last, low, high = series.last, series.low, series.high
    last_step, low_step, high_step = (sample.position.step if sample else None for sample in (last, low, high))
    return Cell(
        f'{{"last":{any_number(last.value if last else math.nan)},"last_step":{number(last_step)}'
        f',"min":{number(low.value if low else None)},"min_step":{number(low_step)}'
        f',"max":{number(high.value if high else None)},"max_step":{number(high_step)},"count":{series.count}',
        f"[{','.join(map(_short, small_curve(series)))}]",
    )


def number(value: float | None) -> str:
    """Return the JSON of a number; `null` if it is not known or not finite."""
    return "null" if value is None or not math.isfinite(value) else repr(value)


def any_number(value: float | None) -> str:
    """Return the JSON of a number; a text such as ``"nan"`` if it is not finite, `null` if it is not known."""
    if value is None:
        return "null"
    if math.isfinite(value):
        return repr(value)
    return '"nan"' if value != value else '"inf"' if value > 0 else '"-inf"'


def _short(value: float) -> str:
    """Return a number with six digits; a curve of a few pixels shows no more."""
    return f"{max(-_LARGEST, min(_LARGEST, value)):.6g}"


def described(facts: Facts) -> str:
    """Return the JSON of the facts that a row shows, without braces. It is kept with the facts."""
    if not facts.row:
        shown = {
            "name": facts.name,
            "suffix": facts.suffix,
            "origin": facts.origin,
            "started_at": json_number(facts.started),
            "parameters": _plain(facts.parameters),
            "environment": _plain(facts.environment),
            "labels": facts.labels,
        }
        facts.row = json_text(shown)[1:-1].encode("utf-8", "replace").decode()
    return facts.row


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: json_number(value) for name, value in values.items()}


def json_text(value: Any) -> str:
    """Return the JSON of a value. It may have lone surrogates, and `NaN` for numbers that are not finite."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def small_curve(series: Series, most: int = 44) -> list[float]:
    """Return at most `most` values of a metric, reduced by extremes, for a curve in a table.

    Parameters
    ----------
    series
        The metric.
    most
        Largest number of values.
    """
    values = series.kept.values
    if len(values) <= most:
        return values.tolist()
    found: list[float] = []
    groups = most // 2
    for number in range(groups):
        part = values[len(values) * number // groups : len(values) * (number + 1) // groups]
        low, high = min(part), max(part)
        found += [low, high] if part.index(low) < part.index(high) else [high, low]
    return found
