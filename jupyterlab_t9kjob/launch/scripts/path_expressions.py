"""Evaluation of path expressions that consist of constants and ``__file__``."""

from __future__ import annotations

# ruff: noqa: PTH118, PTH120  (these are paths of the text, which may not exist)
import ast
import os.path
from collections.abc import Mapping


class PathExpressions:
    """Evaluation of the expressions in one module, such as those that it adds to `sys.path`.

    Parameters
    ----------
    path
        Path of the module, the value of ``__file__``.
    assigned
        Expressions that are assigned to the module's names.
    """

    def __init__(self, path: str, assigned: Mapping[str, ast.expr]) -> None:
        self._path = path
        self._assigned = assigned

    def folder(self, node: ast.AST, depth: int = 0) -> str | None:
        """Return the path that is the value of an expression; None if it is not known.

        Parameters
        ----------
        node
            The expression.
        depth
            Number of enclosing expressions, which is limited.
        """
        if depth > 20:
            return None
        here = os.path.dirname(self._path)
        match node:
            case ast.Constant(value=str() as text):
                return os.path.join(here, text)
            case ast.Name(id="__file__"):
                return self._path
            case ast.Name(id=name) if name in self._assigned:
                return self.folder(self._assigned[name], depth + 1)
            case ast.Attribute(value=value, attr="parent"):
                return _up(self.folder(value, depth + 1))
            case ast.Subscript(
                value=ast.Attribute(value=value, attr="parents"), slice=ast.Constant(value=int() as count)
            ):
                return _up(self.folder(value, depth + 1), min(abs(count), 50) + 1)
            case ast.BinOp(left=left, op=ast.Div() | ast.Add(), right=ast.Constant(value=str() as text)):
                base = self.folder(left, depth + 1)
                return None if base is None else os.path.join(base, text.lstrip("/"))
            case ast.Call(func=function, args=arguments):
                return self._call(function, arguments, depth)
        return None

    def _call(self, function: ast.expr, arguments: list[ast.expr], depth: int) -> str | None:
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("getcwd", "cwd"):
            return os.path.dirname(self._path)
        if name in ("resolve", "absolute", "as_posix", "expanduser") and isinstance(function, ast.Attribute):
            return self.folder(arguments[0] if arguments else function.value, depth + 1)
        if not arguments:
            return None
        first = self.folder(arguments[0], depth + 1)
        if name in ("abspath", "realpath", "Path", "PurePath", "str", "normpath", "fspath") and len(arguments) == 1:
            return first
        if name == "dirname":
            return _up(first)
        if name in ("join", "joinpath", "Path") and first is not None:
            if name == "joinpath" and isinstance(function, ast.Attribute):
                base = self.folder(function.value, depth + 1)
                parts = arguments
            else:
                base, parts = first, arguments[1:]
            texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
            return os.path.join(base, *texts) if base is not None and len(texts) == len(parts) else None
        return None


def _up(path: str | None, count: int = 1) -> str | None:
    for _ in range(count if path is not None else 0):
        path = os.path.dirname(os.path.normpath(path or ""))
    return path
