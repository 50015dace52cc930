"""State of the interpreter: contents of values with branches that can be undone, conditions and limits."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from .operators import is_constant
from .values import REST, UNKNOWN, DictValue, Either, Instance, Unknown, Value

MAX_STEPS: Final = 400_000
MAX_CPU_SECONDS: Final = 1.0
MAX_DEPTH: Final = 30
MAX_CONDITION: Final = 200
MAX_EITHER: Final = 4


class Owner(Protocol):
    """A value or scope whose contents change."""

    contents: dict[Value, Value]


class OutOfBudget(Exception):
    """A limit of the whole reading was reached."""


class CallTooLong(Exception):
    """The limit of steps of one call was reached."""


class Stop(Exception):
    """The script raises an error or exits here."""


class _Missing:
    """Stands for a key that is not present."""


MISSING: Final = _Missing()

Place = tuple[int, Value]
Branch = dict[Place, tuple[Owner, Value]]
"""Contents that a branch wrote: owner and last value by place."""


class Heap:
    """Contents of scopes and values, written through `write` so that branches can be undone and joined."""

    def __init__(self) -> None:
        self._journals: list[dict[Place, tuple[Owner, Value]]] = []

    def write(self, owner: Owner, key: Value, value: Value) -> None:
        """Set the contents of a scope or value; MISSING removes the key.

        Parameters
        ----------
        owner
            The scope or value.
        key
            A name, an attribute, or a key of a dict; ``items`` of a list.
        value
            The new contents.
        """
        if self._journals:
            self._journals[-1].setdefault((id(owner), key), (owner, owner.contents.get(key, MISSING)))
        _set(owner, key, value)

    @contextmanager
    def lasting(self) -> Iterator[None]:
        """Run the block outside of all branches, so that what it writes is not undone."""
        journals, self._journals = self._journals, []
        try:
            yield
        finally:
            self._journals = journals

    def begin(self) -> None:
        """Begin a branch."""
        self._journals.append({})

    def end(self) -> Branch:
        """End a branch: undo what it wrote and return it."""
        written: Branch = {}
        for (number, key), (owner, old) in self._journals.pop().items():
            written[number, key] = (owner, owner.contents.get(key, MISSING))
            _set(owner, key, old)
        return written

    def join(self, branches: list[Branch]) -> None:
        """Write what all of some alternative branches leave: equal values stay, others become unknown."""
        owners = {place: owner for branch in branches for place, (owner, _value) in branch.items()}
        for place, owner in owners.items():
            key = place[1]
            now = owner.contents.get(key, MISSING)
            values = [branch[place][1] if place in branch else now for branch in branches]
            present = [value for value in values if value is not MISSING]
            if len(present) < len(values) and isinstance(owner, DictValue):
                self.write(owner, REST, None)
            self.write(owner, key, join(present) if present else MISSING)


def _set(owner: Owner, key: Value, value: Value) -> None:
    if value is MISSING:
        owner.contents.pop(key, None)
    else:
        owner.contents[key] = value


def same(left: Value, right: Value) -> bool:
    """Return True if two values are certainly the same.

    Parameters
    ----------
    left, right
        The values. UNKNOWN is the same as UNKNOWN only.
    """
    if left is right:
        return True
    if type(left) is not type(right) or isinstance(left, Unknown):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, tuple) and not (is_constant(left) and is_constant(right)):
        return len(left) == len(right) and all(each is other for each, other in zip(left, right, strict=True))
    return isinstance(left, str | int | float | bytes | tuple | frozenset) and bool(left == right)


def join(values: list[Value]) -> Value:
    """Return the value that is one of several values."""
    first, *others = values
    if all(same(first, other) for other in others):
        return first
    flat: list[Value] = []
    for value in values:
        for part in value.values if isinstance(value, Either) else (value,):
            if not any(same(part, known) for known in flat):
                flat.append(part)
    # Alternatives are followed for objects only: the value of a constant must be certain.
    objects = [value for value in flat if hasattr(value, "contents") and not isinstance(value, DictValue)]
    if any(isinstance(value, Instance) or hasattr(value, "actions") for value in objects) and len(flat) <= MAX_EITHER:
        return Either(tuple(objects)) if len(objects) > 1 else objects[0]
    return UNKNOWN


class State:
    """Heap, conditions and limits of one reading.

    Attributes
    ----------
    heap
        Contents of scopes and values.
    depth
        Number of calls that are being followed.
    """

    def __init__(self) -> None:
        self.heap = Heap()
        self.depth = 0
        self._conditions: list[str] = []
        self._steps = 0
        self._limits: list[int] = [MAX_STEPS]
        self._ends = time.thread_time() + MAX_CPU_SECONDS

    @property
    def condition(self) -> str | None:
        """Text of the conditions that hold here and that only a run decides; None if there are none."""
        text = " and ".join(dict.fromkeys(self._conditions))
        return (text[: MAX_CONDITION - 1] + "…" if len(text) > MAX_CONDITION else text) or None

    @property
    def is_late(self) -> bool:
        """True if half of the time for the reading is over, so that only what is needed should be followed."""
        return time.thread_time() > self._ends - MAX_CPU_SECONDS / 2

    def step(self) -> None:
        """Count one step.

        Raises
        ------
        OutOfBudget
            If the reading has taken too long.
        CallTooLong
            If a call for which `limited` sets a limit has taken too long.
        """
        self._steps += 1
        if self._steps >= self._limits[-1]:
            raise CallTooLong if len(self._limits) > 1 else OutOfBudget
        if self._steps % 256 == 0 and (time.thread_time() > self._ends or self._steps > MAX_STEPS):
            raise OutOfBudget

    @contextmanager
    def limited(self, steps: int) -> Iterator[None]:
        """Limit the number of steps of the block."""
        self._limits.append(min(self._steps + steps, self._limits[-1]))
        try:
            yield
        finally:
            self._limits.pop()

    @contextmanager
    def branch(self, condition: str | None) -> Iterator[Branch]:
        """Run the block as a branch whose effects are undone afterwards and given to the caller.

        Parameters
        ----------
        condition
            Text of the condition under which the branch runs; None if it may also run without one.
        """
        written: Branch = {}
        self.heap.begin()
        if condition:
            self._conditions.append(condition)
        try:
            yield written
        finally:
            if condition:
                self._conditions.pop()
            written.update(self.heap.end())

    @contextmanager
    def unconditional(self) -> Iterator[None]:
        """Run the block without the current conditions and branches, as the import of a module does."""
        conditions, self._conditions = self._conditions, []
        try:
            with self.heap.lasting():
                yield
        finally:
            self._conditions = conditions


def source_text(node: ast.AST) -> str:
    """Return the text of an expression on one line."""
    try:
        text = " ".join(ast.unparse(node).split())
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= MAX_CONDITION else text[: MAX_CONDITION - 1] + "…"


def negation(test: ast.expr, text: str) -> str:
    """Return the text of the negation of a condition, whose own text is given.

    Parameters
    ----------
    test
        The condition.
    text
        Text of the condition, as `source_text` returns it.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return text.removeprefix("not ")
    simple = isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return f"not {text}" if simple else f"not ({text})"
