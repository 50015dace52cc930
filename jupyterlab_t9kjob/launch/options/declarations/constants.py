"""Constants: numbers with their spelling, members of enums, arithmetic, and functions of Python."""

from __future__ import annotations

# ruff: noqa: PTH118  (texts of scripts are joined as the scripts join them)
import ast
import operator
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ..interpreter import operators
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN, PathText

MAX_SEQUENCE: Final = 2000

_OPERATORS: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}


@dataclass(frozen=True)
class Member:
    """A member of an enum of the workspace: its name, and its value (UNKNOWN for ``auto()``)."""

    name: str
    value: Any


def path_attribute(path: PathText, name: str) -> Any:
    """Return the parent, stem or name of a `pathlib.Path`; UNKNOWN for other attributes.

    Parameters
    ----------
    path
        The path.
    name
        Name of the attribute.
    """
    match name:
        case "parent":
            above = os.path.dirname(path.rstrip("/"))  # noqa: PTH120
            last = os.path.basename(path.rstrip("/"))  # noqa: PTH119
            return PathText(os.path.join(path, "..") if last in ("", ".", "..") else above or ".")
        case "stem":
            return os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122
        case "name":
            return os.path.basename(path)  # noqa: PTH119
    return UNKNOWN


def builtin(name: str, values: list[Any]) -> Any:
    """Return the result of a function of Python; UNKNOWN for other functions.

    Parameters
    ----------
    name
        Full name of the function, without ``builtins.``.
    values
        Positional arguments; all must be known.

    Returns
    -------
    result
        The result; a range is a list of at most 2000 items.

    Raises
    ------
    TypeError, ValueError
        If the function does not take the arguments.
    """
    if name.rpartition(".")[2] == "Path" or name == "os.path.join":
        return PathText(os.path.join(*map(str, values)))
    converter = _CONVERTERS.get(name)
    if converter is not None and len(values) == 1:
        return converter(values[0])
    if name == "range":
        return list(range(*values)[:MAX_SEQUENCE])
    return UNKNOWN


_CONVERTERS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": int,
    "float": float,
    "str": str,
    "list": list,
    "tuple": tuple,
    "sorted": sorted,
    "len": len,
    "max": max,
    "min": min,
    "os.path.basename": os.path.basename,
    "os.path.dirname": os.path.dirname,
}


def written(module: Module, node: ast.Constant, value: Any) -> Any:
    """Return a number together with its spelling in the source, such as ``1e-3``.

    Parameters
    ----------
    module
        The module with the constant.
    node
        The constant.
    value
        Value of the constant; only an int or float gets a spelling.
    """
    if type(value) not in (int, float) or node.lineno != node.end_lineno or node.lineno > len(module.lines):
        return value
    spelling = module.lines[node.lineno - 1].encode()[node.col_offset : node.end_col_offset].decode("utf-8", "replace")
    return operators.written(value, spelling)


def binary(op: ast.operator, left: Any, right: Any) -> Any:
    """Return the result of an operator; UNKNOWN if an operand is not known, or if the result is too large.

    Parameters
    ----------
    op
        The operator.
    left, right
        The operands.

    Raises
    ------
    ArithmeticError, TypeError
        If the operator does not take the operands.
    """
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(op, ast.Div) and isinstance(left, PathText):
        return PathText(os.path.join(left, str(right)))
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    if isinstance(op, ast.Pow) and (not numbers or abs(right) > 64 or abs(left) > 1e6):
        return UNKNOWN
    if isinstance(op, ast.Mult) and not numbers:
        count = next((abs(value) for value in (left, right) if isinstance(value, int)), 0)
        if count > MAX_SEQUENCE:
            return UNKNOWN
    if numbers and max(abs(left), abs(right)) > 1e30:
        return UNKNOWN
    if isinstance(op, ast.Mod) and not numbers:
        return UNKNOWN
    function = _OPERATORS.get(type(op))
    return function(left, right) if function else UNKNOWN
