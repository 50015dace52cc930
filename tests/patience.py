"""How long tests wait for what is to come.

A wait ends as soon as its event comes, so the limit costs a passing test nothing: it only ends a test that has failed.
It is long enough for a loaded machine that is ten times slower than a developer's.
"""

PATIENCE = 300.0
"""Seconds; shorter than pytest's `timeout`, so that a wait that fails can say what it waited for."""
