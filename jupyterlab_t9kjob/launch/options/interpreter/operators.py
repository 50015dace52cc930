"""Operators, comparisons and formats of constants, lists and dicts, with limits on the size of their results."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any, Final

from .values import (
    REST,
    UNKNOWN,
    DictValue,
    EnumMember,
    Instance,
    ListValue,
    PathText,
    Unknown,
    Value,
    WrittenFloat,
    WrittenInt,
)

MAX_STRING: Final = 64 * 1024
MAX_ITEMS: Final = 10_000
MAX_NUMBER: Final = 10**30
MAX_NESTED: Final = 20
"""Levels of tuples and lists in each other."""
CONSTANTS: Final = (str, int, float, bool, bytes, type(None), type(...), tuple)

_OPERATORS: Final[dict[type[ast.AST], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.BitXor: operator.xor,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_CONVERSIONS: Final[dict[str, Callable[[Any], str]]] = {"r": repr, "s": str, "a": ascii}


def is_constant(value: Value) -> bool:
    """Return True for a Python constant, and for a tuple of constants that is not too large."""
    if isinstance(value, tuple):
        parts = leaves(value, (tuple,))
        return parts is not None and all(isinstance(part, CONSTANTS) for part in parts)
    return isinstance(value, CONSTANTS)


def leaves(value: Value, kinds: tuple[type, ...], most: int = MAX_ITEMS) -> list[Value] | None:
    """Return the values in tuples and lists that are in each other; None if they are too many or nested too deeply.

    A list that is in another one twice counts twice, so that its text can't become too long.

    Parameters
    ----------
    value
        The outermost tuple or list.
    kinds
        Classes of the values whose items are returned instead: `tuple`, `ListValue`.
    most
        Number of values that may be returned.
    """
    found: list[Value] = []
    level: list[Value] = [value]
    for _ in range(MAX_NESTED):
        inner: list[Value] = []
        for each in level:
            if isinstance(each, kinds):
                inner += items_of(each) or []
            else:
                found.append(each)
            if len(found) + len(inner) > most:
                return None
        if not inner:
            return found
        level = inner
    return None


def bounded(value: Value) -> Value:
    """Return a value; UNKNOWN if it is too large."""
    if isinstance(value, str | bytes):
        return value if len(value) <= MAX_STRING else UNKNOWN
    if isinstance(value, int) and not isinstance(value, bool):
        return value if -MAX_NUMBER < value < MAX_NUMBER else UNKNOWN
    return value if isinstance(value, CONSTANTS) else UNKNOWN


def written(value: int | float, text: str) -> Value:
    """Return a number that remembers how the source writes it.

    Parameters
    ----------
    value
        The number. A bool is returned as it is.
    text
        The number in the source, such as ``1e-3``.
    """
    if isinstance(value, bool) or text == repr(value):
        return value
    result: WrittenInt | WrittenFloat = WrittenInt(value) if isinstance(value, int) else WrittenFloat(value)
    result.text = text
    return result


def negative(value: Value) -> Value:
    """Return a number with the other sign, also as the source writes it; UNKNOWN for other values."""
    if not isinstance(value, int | float):
        return UNKNOWN
    text = getattr(value, "text", None)
    return written(-value, f"-{text}") if text else -value


def items_of(value: Value) -> list[Value] | None:
    """Return the items over which a loop over a value goes; None if they are not known."""
    if isinstance(value, ListValue):
        return value.items
    if isinstance(value, DictValue):
        return list(value.contents) if value.certain else None
    if isinstance(value, tuple):
        return list(value)
    return list(value) if type(value) is str else None


def binary(op: ast.operator, left: Value, right: Value) -> Value:
    """Return the result of an operator; UNKNOWN if it is not known or too large.

    Parameters
    ----------
    op
        The operator.
    left, right
        Its operands. Results above `MAX_STRING`, `MAX_ITEMS` or `MAX_NUMBER` count as too large.
    """
    if isinstance(op, ast.Div) and isinstance(left, str) and isinstance(right, str):
        return PathText(f"{left.rstrip('/')}/{right}".removeprefix("./") if not right.startswith("/") else right)
    if isinstance(op, ast.Add) and isinstance(left, ListValue) and isinstance(right, ListValue):
        if left.items is None or right.items is None or len(left.items) + len(right.items) > MAX_ITEMS:
            return UNKNOWN
        return ListValue.of([*left.items, *right.items])
    if isinstance(op, ast.BitOr) and isinstance(left, DictValue) and isinstance(right, DictValue):
        return DictValue(left.contents | right.contents)
    if isinstance(op, ast.Mult) and isinstance(left, ListValue) and isinstance(right, int):
        items = left.items
        return UNKNOWN if items is None or len(items) * right > MAX_ITEMS else ListValue.of(items * right)
    if isinstance(op, ast.Mod) and isinstance(left, str):
        return format_percent(left, right)
    if not is_constant(left) or not is_constant(right) or not _harmless(op, left, right):
        return UNKNOWN
    try:
        return bounded(_OPERATORS[type(op)](left, right))
    except (ArithmeticError, TypeError, ValueError, KeyError):
        return UNKNOWN


def _harmless(op: ast.operator, left: Value, right: Value) -> bool:
    """Return True if an operation takes little time and memory."""
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if isinstance(op, ast.Pow | ast.LShift):
        return numbers and abs(left) < MAX_NUMBER and 0 <= abs(right) <= 100
    if isinstance(op, ast.Mult) and not numbers:
        return isinstance(left, str | tuple) and isinstance(right, int) and len(left) * right <= MAX_STRING
    return True


def format_percent(text: str, arguments: Value) -> Value:
    """Return the result of the ``%`` operator on a string.

    Parameters
    ----------
    text
        The string. A width of 4 digits or more, or ``*``, gives UNKNOWN.
    arguments
        The right operand: a constant, a tuple of constants, or a dict.
    """
    if isinstance(arguments, DictValue):
        arguments = {key: value for key, value in arguments.contents.items() if is_constant(value)}
    elif not is_constant(arguments):
        return UNKNOWN
    if re.search(r"%[^%]{0,20}?\d{4}|\*", text):  # A width can ask for any amount of memory.
        return UNKNOWN
    try:
        return bounded(text % arguments)
    except (TypeError, ValueError, KeyError, OverflowError):
        return UNKNOWN


def format_value(value: Value, conversion: str, spec: str) -> str | None:
    """Return the text of a value in an f-string or of ``str.format``; None if it is not known.

    Parameters
    ----------
    value
        The value.
    conversion
        ``r``, ``s`` or ``a``; empty for none.
    spec
        Format after the colon. A number of more than 3 digits in it gives None.
    """
    if isinstance(value, EnumMember | Unknown) or not is_constant(value) or re.search(r"\d{4}", spec):
        return None
    try:
        shown = _CONVERSIONS[conversion](plain(value)) if conversion else plain(value)
        return format(shown, spec)
    except (ValueError, TypeError):
        return None


def plain(value: Value) -> Value:
    """Return a number without the source's way of writing it."""
    if isinstance(value, WrittenFloat):
        return float(value)
    return int(value) if isinstance(value, WrittenInt) else value


def compare(op: ast.cmpop, left: Value, right: Value) -> Value:
    """Return the result of a comparison: True, False or UNKNOWN.

    Parameters
    ----------
    op
        The comparison: ``==``, ``<``, ``in``, ``is`` …
    left, right
        Its operands.
    """
    if isinstance(left, Unknown) or isinstance(right, Unknown):
        return UNKNOWN
    if isinstance(op, ast.Is | ast.IsNot):
        if left is None or right is None or isinstance(left, bool) or isinstance(right, bool):
            return (left is right) == isinstance(op, ast.Is)
        return UNKNOWN
    if isinstance(op, ast.In | ast.NotIn):
        if isinstance(right, str) and isinstance(left, str):
            return (left in right) == isinstance(op, ast.In)
        certain = not isinstance(right, DictValue) or right.certain
        items = [key for key in right.contents if key is not REST] if isinstance(right, DictValue) else items_of(right)
        if items is None or not is_constant(left):
            return UNKNOWN
        if any(is_constant(item) and item == left for item in items):
            return isinstance(op, ast.In)
        return isinstance(op, ast.NotIn) if certain and all(map(is_constant, items)) else UNKNOWN
    if isinstance(left, EnumMember) and isinstance(right, EnumMember):
        return (left.name == right.name and left.type is right.type) == isinstance(op, ast.Eq)
    if not is_constant(left) or not is_constant(right):
        known = (left is None or right is None) and isinstance(op, ast.Eq | ast.NotEq)
        return isinstance(op, ast.NotEq) if known else UNKNOWN
    try:
        return bool(_OPERATORS[type(op)](left, right))
    except TypeError:
        return UNKNOWN


def truth(value: Value) -> bool | None:
    """Return the truth of a value; None if it is not known."""
    if is_constant(value):
        return bool(value)
    if isinstance(value, ListValue):
        return None if value.items is None else bool(value.items)
    if isinstance(value, DictValue):
        return bool(set(value.contents) - {REST}) if value.certain or len(value.contents) > 1 else None
    return True if isinstance(value, Instance) and "__bool__" not in value.contents else None


def subscript(value: Value, key: Value) -> Value:
    """Return an item of a constant, list or dict.

    Parameters
    ----------
    value
        The container. Other values give UNKNOWN.
    key
        Index, slice or key. A missing item gives UNKNOWN.
    """
    try:
        if isinstance(value, DictValue):
            return value.contents.get(key, UNKNOWN) if is_constant(key) else UNKNOWN
        if isinstance(value, ListValue):
            items = value.items
            if items is None or not isinstance(key, int | slice):
                return UNKNOWN
            return ListValue.of(items[key]) if isinstance(key, slice) else items[key]
        if isinstance(value, str | bytes | tuple) and isinstance(key, int | slice):
            return value[key]
    except (IndexError, TypeError, ValueError):
        pass
    return UNKNOWN


def equal(left: Value, right: Value) -> bool:
    """Return True if two values are known and equal.

    Parameters
    ----------
    left, right
        The values. Lists and dicts never count as equal.
    """
    return is_constant(left) and is_constant(right) and bool(left == right)
