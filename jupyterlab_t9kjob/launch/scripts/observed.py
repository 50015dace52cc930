"""Facts about one module that tell how a script trains: calls, conditions and assigned values, without syntax trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

Constant: TypeAlias = str | int | float | bool | None
Scope: TypeAlias = tuple[str | None, str | None]
"""Top-level definition and innermost function that contain some code; None outside of them."""


class Ref(NamedTuple):
    """A part of an expression whose value is defined elsewhere.

    Attributes
    ----------
    kind
        ``name`` for a variable, ``attr`` for an attribute or a string key, ``call`` for the result of a function.
    name
        Its name; an attribute without its first part (``OUTPUT.DIR`` for ``cfg.OUTPUT.DIR``).
    """

    kind: str
    name: str


class Value(NamedTuple):
    """An expression.

    Attributes
    ----------
    parts
        Its variables, attributes, calls and constants, in the order of the text.
    single
        True if the expression is one such part.
    """

    parts: tuple[Ref | Constant, ...] = ()
    single: bool = False

    @property
    def names(self) -> frozenset[str]:
        """Last names of the variables, attributes and calls."""
        return frozenset(part.name.rpartition(".")[2] for part in self.parts if isinstance(part, Ref))


@dataclass(frozen=True)
class Call:
    """A call of interest.

    Attributes
    ----------
    name
        Full name of the function by the module's imports; the method's name with a leading dot if the object is a
        variable.
    line
        Its line, from 1.
    args
        Positional arguments; an argument after ``*`` is missing.
    keywords
        Keyword arguments; None is the key of ``**x``.
    scope
        Function that contains the call.
    conditions
        Identifiers of the conditions under which it runs.
    main
        True if it runs only if the module is run as a script.
    """

    name: str
    line: int
    args: tuple[Value, ...]
    keywords: tuple[tuple[str | None, Value], ...]
    scope: Scope
    conditions: frozenset[str]
    main: bool

    @property
    def last(self) -> str:
        """Last part of the function's name."""
        return self.name.rpartition(".")[2]

    def argument(self, position: int | None, *names: str) -> Value | None:
        """Return an argument by its position or one of its keywords; None if it is not given.

        Parameters
        ----------
        position
            Position among the positional arguments, from 0; None for an argument that only has a keyword.
        *names
            Keywords of the argument. A keyword comes before the position.
        """
        for name, value in self.keywords:
            if name in names:
                return value
        return self.args[position] if position is not None and position < len(self.args) else None


class Assigned(NamedTuple):
    """A value that a name or attribute gets."""

    value: Value
    scope: Scope
    conditions: frozenset[str]
    line: int


@dataclass
class Observed:
    """Facts about a module.

    Attributes
    ----------
    calls
        Calls, without those that say nothing about the training (``print``, ``nn.Linear``).
    names
        Values of variables, by name.
    attributes
        Values of attributes and string keys, by their last name.
    parameters
        Parameters of functions, by the function's name; those of ``__init__`` also by the name of the class.
    defaults
        Defaults of parameters by function and name.
    returns
        Values that functions return.
    decorated
        Functions with the names of their decorators.
    classes
        Classes with the names of their bases.
    environment
        Environment variables that the module sets, each with its value.
    reads
        Environment variables that the module mentions otherwise.
    dicts
        Keys of dicts by variable; None where some keys are not known.
    attempts
        Lines of the statements that each ``try`` tries, and those of its handlers.
    """

    calls: list[Call] = field(default_factory=list)
    names: dict[str, list[Assigned]] = field(default_factory=dict)
    attributes: dict[str, list[Assigned]] = field(default_factory=dict)
    parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    defaults: dict[tuple[str, str], Value] = field(default_factory=dict)
    returns: dict[str, list[Value]] = field(default_factory=dict)
    decorated: dict[str, frozenset[str]] = field(default_factory=dict)
    classes: dict[str, frozenset[str]] = field(default_factory=dict)
    environment: list[tuple[str, Assigned]] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)
    dicts: dict[str, frozenset[str] | None] = field(default_factory=dict)
    attempts: list[tuple[range, range]] = field(default_factory=list)
