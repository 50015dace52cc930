"""Functions and classes of a script and its modules that the script is likely to run.

A definition is reached if code that runs names it: the code of the script outside of its functions, that of its
modules, and definitions that were reached before. A name that is only imported reaches nothing, so that a package that
offers many functions does not count as one that calls them. Names that a program makes from text reach nothing either.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from .facts import Facts, Place

HOOKS: Final = re.compile(r"(?:train|val|test|predict|eval)_dataloader$|^(?:training|validation)_step$|^setup$")
"""Methods that a trainer calls."""
CALLS: Final = frozenset({"call_parse"})
"""Decorators that call their function if the module is run as a script."""


class Reach:
    """Definitions that a script reaches.

    Parameters
    ----------
    executed
        The script, and the files that it runs as scripts.
    modules
        All modules, those above included.
    """

    def __init__(self, executed: list[Facts], modules: Iterable[Facts]) -> None:
        self._executed = executed
        modules = list(modules)
        self._reached: set[tuple[int, str | None]] = set()
        self._names: set[str] = set()
        self._defining: dict[str, list[Facts]] = {}
        for facts in modules:
            for name in facts.definitions:
                self._defining.setdefault(name, []).append(facts)
        waiting: list[tuple[Facts, str | None]] = [(facts, None) for facts in modules]
        for facts in executed:
            called = (name for name, words in facts.training.decorated.items() if not words.isdisjoint(CALLS))
            waiting += [(facts, name) for name in called if name in facts.definitions]
        while waiting:
            facts, inside = waiting.pop()
            if (id(facts), inside) not in self._reached:
                self._reached.add((id(facts), inside))
                waiting += self._next(facts, inside)

    def _next(self, facts: Facts, inside: str | None) -> Iterator[tuple[Facts, str]]:
        """Yield the definitions that the code outside of all definitions, or one of them, names."""
        for use in facts.uses.get(inside, ()):
            if use.main and not any(facts is each for each in self._executed):
                continue
            self._names.add(use.name)
            if use.root is None and use.name in facts.definitions:
                yield facts, use.name
            elif (use.root or use.name) in facts.imported or "*" in facts.imported:
                name = use.name if use.root is not None else facts.imported.get(use.name, use.name)
                yield from ((other, name) for other in self._defining.get(name, ()))

    def of_functions(self, names: Iterable[str]) -> set[tuple[int, str | None]]:
        """Return the definitions that functions with some names reach, each with the identity of its module's facts."""
        before = set(self._names)
        waiting: list[tuple[Facts, str]] = [(facts, name) for name in names for facts in self._defining.get(name, ())]
        found: set[tuple[int, str | None]] = set()
        while waiting:
            facts, inside = waiting.pop()
            if (id(facts), inside) not in found:
                found.add((id(facts), inside))
                waiting += self._next(facts, inside)
        self._names = before
        return found

    @property
    def names(self) -> set[str]:
        """Identifiers that the code which is likely to run reads, attributes by their last part."""
        return self._names

    def runs(self, facts: Facts, place: Place) -> bool:
        """Return True if a call is likely to run.

        Parameters
        ----------
        facts
            Facts of the module with the call.
        place
            The call.
        """
        if place.main and not any(facts is each for each in self._executed):
            return False  # The call runs only if the module is run as a script.
        inner = place.function or place.inside
        called = inner in (None, place.inside) or inner in self._names or inner.startswith("__") or HOOKS.search(inner)
        if not called:
            return False
        return (id(facts), place.inside) in self._reached
