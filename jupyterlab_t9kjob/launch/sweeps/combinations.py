"""Combines the values of a sweep's fields: all combinations, or some that are drawn at random."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.errors import FieldError
from ...core.translation import _
from .values import Interval, Values

Row = dict[str, str]
TRIES_PER_ROW = 50
"""Number of tries to draw another random row instead of one that was drawn before."""


def number_of_combinations(values: Mapping[str, Values], rows: Sequence[Row]) -> int | None:
    """Return the number of all combinations of values and rows; None if a field has any number of an interval.

    Parameters
    ----------
    values
        Values by field.
    rows
        Rows of the file; empty without a file.
    """
    if any(isinstance(choices, Interval) for choices in values.values()):
        return None
    return math.prod(len(choices) for choices in values.values() if isinstance(choices, list)) * max(len(rows), 1)


def grid(values: Mapping[str, Values], rows: Sequence[Row]) -> list[Row]:
    """Return all combinations; the last field changes fastest, and each row of the file is combined with all of them.

    Parameters
    ----------
    values
        Values by field; none of them is an interval.
    rows
        Rows of the file; empty without a file.

    Raises
    ------
    FieldError
        If the values of a field are an interval.
    """
    lists = [_listed(field, choices, number) for number, (field, choices) in enumerate(values.items())]
    combined = [dict(zip(values, combination, strict=True)) for combination in itertools.product(*lists)]
    return [{**row, **own} for row in rows or [{}] for own in combined]


def drawn(values: Mapping[str, Values], rows: Sequence[Row], count: int, seed: int) -> list[Row]:
    """Return different random combinations, the same ones for the same seed.

    Parameters
    ----------
    values
        Values by field.
    rows
        Rows of the file; empty without a file.
    count
        Number of combinations; fewer are returned if there are no more different ones.
    seed
        Seed of the random numbers.
    """
    total = number_of_combinations(values, rows)
    generator = random.Random(seed)  # noqa: S311 (no secret)
    found: dict[tuple[tuple[str, str], ...], Row] = {}
    if total is not None and total <= count:
        return grid(values, rows)
    for _try in range(count * TRIES_PER_ROW):
        row: dict[str, Any] = dict(generator.choice(rows)) if rows else {}
        for field, choices in values.items():
            row[field] = choices.draw(generator) if isinstance(choices, Interval) else generator.choice(choices)
        found.setdefault(tuple(row.items()), row)
        if len(found) == count:
            break
    return list(found.values())


def _listed(field: str, choices: Values, number: int) -> list[str]:
    if isinstance(choices, Interval):
        raise FieldError(
            _("The range of {field} does not say how many values to take.", field=field),
            field=f"/sweep/fields/{number}/values",
            code="SweepValues",
            hint=_("Write the number of values after it, or choose a random sweep."),
        )
    return choices
