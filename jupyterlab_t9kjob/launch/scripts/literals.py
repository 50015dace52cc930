"""Evaluation of expressions that consist of literals."""

from __future__ import annotations

import ast
import operator
import shlex
from collections.abc import Callable
from typing import Any

from ..options.texts import MAX_TEXT, printable

MAX_STEPS = 1000
MAX_STRING = 64 * 1024

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
CONVERSIONS = frozenset({"str", "int", "float", "Path", "dedent", "expanduser", "abspath"})


class Unknown(Exception):
    """The value of an expression is known only at run time."""


class Literals:
    """Evaluation of expressions that consist of literals.

    Parameters
    ----------
    tree
        Syntax tree of the script. Names that are assigned once, at its top level, count as literals.
    source
        Text of the script. Numbers are returned as they are written there (``1e-3``).
    """

    def __init__(self, tree: ast.Module, source: str) -> None:
        self._steps = 0
        self._lines = source.split("\n")
        self._names: dict[str, ast.expr] = {}
        seen: set[str] = set()
        for node in tree.body:
            match node:
                case ast.Assign(targets=targets, value=value):
                    pass
                case ast.AnnAssign(value=ast.expr() as value):
                    targets = [node.target]
                case _:
                    continue
            for target in targets:
                if isinstance(target, ast.Name):
                    if target.id in seen:
                        self._names.pop(target.id, None)
                    else:
                        self._names[target.id] = value
                    seen.add(target.id)

    def value(self, node: ast.expr) -> Any:
        """Return the value of an expression.

        Raises
        ------
        Unknown
            If the value is known only at run time, or if its evaluation takes too many steps.
        """
        self._steps = 0
        try:
            return self._value(node)
        except RecursionError as error:
            raise Unknown from error

    def _value(self, node: ast.expr) -> Any:
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise Unknown
        value = self._evaluate(node)
        if isinstance(value, str) and len(value) > MAX_STRING:
            raise Unknown
        return value

    def _evaluate(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name) if name in self._names:
                return self._value(self._names[name])
            case ast.Attribute(value=ast.Name(id="Backend") | ast.Attribute(attr="Backend"), attr=name):
                return name.lower()  # torch.distributed.Backend.GLOO is the string "gloo"
            case ast.Attribute(value=ast.Name(id="argparse"), attr=name):
                return Argparse(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -_number(self._value(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _binary(op, self._value(left), self._value(right))
            case ast.BoolOp(op=ast.Or(), values=values):
                # The first operands may be environment variables; the last one is the default.
                return self._value(values[-1])
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                return [self._value(item) for item in items]
            case ast.JoinedStr(values=parts):
                return "".join(str(self._value(part)) for part in parts)
            case ast.Call():
                return self._call(_name(node.func), node)
        raise Unknown

    def _call(self, name: str | None, node: ast.Call) -> Any:
        arguments = node.args
        if name in {"getenv", "get"} and len(arguments) in {1, 2}:
            return self._value(arguments[1]) if len(arguments) == 2 else None
        if name in CONVERSIONS and len(arguments) == 1:
            return self._value(arguments[0])
        if name in {"join", "Path"} and arguments and not _is_string(node.func):
            return "/".join(str(self._value(argument)) for argument in arguments)
        raise Unknown

    def string(self, node: ast.expr | None) -> str | None:
        """Return the value of an expression if it is a string; None otherwise."""
        try:
            value = self.value(node) if node is not None else None
        except Unknown:
            return None
        return value if isinstance(value, str) else None

    def text(self, node: ast.expr | None) -> str | None:
        """Return the value of an expression as it is typed on a command line; None if it is not known."""
        if node is None:
            return None
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return self._written(node)
        try:
            return as_text(self.value(node))
        except Unknown:
            return None

    def _written(self, node: ast.Constant) -> str:
        if node.lineno == node.end_lineno:
            line = self._lines[node.lineno - 1].encode()
            return line[node.col_offset : node.end_col_offset].decode()
        return str(node.value)


class Argparse(str):
    """A name of the argparse module, such as SUPPRESS or REMAINDER."""

    __slots__ = ()


def as_text(value: Any) -> str | None:
    """Return a value as it is typed on a command line; None for None and for values that can't be typed."""
    if value is None or value is ... or isinstance(value, Argparse | bytes):
        return None
    if isinstance(value, list):
        parts = [as_text(item) for item in value]
        text = shlex.join(part for part in parts if part is not None)
    else:
        try:
            text = str(value)
        except ValueError:  # Python does not convert integers with very many digits.
            return None
    return text if len(text) <= MAX_TEXT and printable(text) == text else None


def _name(node: ast.AST | None) -> str | None:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else None


def _is_string(function: ast.expr) -> bool:
    """Return True for a method of a literal, as in ``", ".join(…)``, unlike ``os.path.join(…)``."""
    return isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant)


def _number(value: Any) -> int | float:
    if isinstance(value, int | float) and abs(value) < 1e18:
        return value
    raise Unknown


def _binary(op: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(left, str) and isinstance(right, str):
        if isinstance(op, ast.Add):
            return left + right
        if isinstance(op, ast.Div):  # Path("a") / "b"
            return f"{left.rstrip('/')}/{right}"
    if type(op) not in ARITHMETIC:
        raise Unknown
    try:
        return ARITHMETIC[type(op)](_number(left), _number(right))
    except ZeroDivisionError as error:
        raise Unknown from error
