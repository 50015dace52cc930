"""The table of the engines in the documentation is the one of the suite."""

from __future__ import annotations

from tests.conformance import LIMITS, PAGE, POINTS, kinds, page


def test_the_table_is_fresh() -> None:
    text = PAGE.read_text()
    assert page(text) == text, "run `python -m tests.conformance`"


def test_limits_are_of_engines_and_points() -> None:
    assert {engine for engine, _ in LIMITS} <= set(kinds())
    assert {name for _, name in LIMITS} <= {point.name for point in POINTS}
