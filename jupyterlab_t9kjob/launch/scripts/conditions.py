"""Conditions under which statements run, by the identifiers and short texts in them."""

from __future__ import annotations

import ast

from ..options.syntax_nodes import descendants


def words(node: ast.AST) -> frozenset[str]:
    """Return the identifiers and short string constants of an expression."""
    found: set[str] = set()
    for part in descendants(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < 40:
            found.add(part.value)
    return frozenset(found)


def afterwards(node: ast.stmt) -> frozenset[str]:
    """Return the conditions on which the statements after one depend, such as those after ``if x: return``."""
    match node:
        case ast.Assert(test=test):
            return _demanded(test)
        case ast.If(test=test, body=[*_, last], orelse=[]) if isinstance(last, ast.Raise) or _exits(last):
            return _demanded(test, fails=not _leaves(last))
        case ast.If(test=test, body=[*_, last], orelse=[]) if _leaves(last):
            return words(test)
        case ast.If(body=body):
            inner = (each for each in body if isinstance(each, ast.If) and not each.orelse and _leaves(each.body[-1]))
            return frozenset().union(*(words(each.test) for each in inner))
    return frozenset()


def _leaves(node: ast.stmt) -> bool:
    """Return True if a statement ends its function or the round of a loop, or the script without an error."""
    return isinstance(node, ast.Return | ast.Continue | ast.Break) or (_exits(node) and not _has_failed(node))


def _exits(node: ast.stmt) -> bool:
    """Return True for ``sys.exit()`` and its like."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Name(id="exit" | "quit"))):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="sys" | "os"), attr="exit" | "_exit"))):
            return True
    return False


def _has_failed(node: ast.stmt) -> bool:
    """Return True if a call of ``sys.exit`` ends the script with a constant that tells of an error."""
    match node:
        case ast.Expr(value=ast.Call(args=[ast.Constant(value=status)])):
            return status not in (None, 0)
        case ast.Expr(value=ast.Call(args=[ast.JoinedStr()])):
            return True
    return False


def _demanded(test: ast.expr, *, fails: bool = True) -> frozenset[str]:
    """Return the identifiers of a condition without which the script ends; none of a test for a GPU.

    If the script fails, those of a rank are left out too: the condition holds in every process, since none may fail.
    """
    found = words(test)
    of_gpu = found & {"cuda", "device_count", "is_available", "is_nccl_available"}
    return frozenset() if of_gpu else frozenset(name for name in found if not fails or "rank" not in name.lower())


def variables(body: list[ast.stmt]) -> frozenset[str]:
    """Return the names in capitals, such as those of environment variables, in statements that may fail."""
    texts = (part.value for node in body for part in descendants(node) if isinstance(part, ast.Constant))
    return frozenset(text for text in texts if isinstance(text, str) and text.isupper() and len(text) < 40)


def of_windows(test: ast.expr) -> bool:
    """Return True if a condition holds on Windows only, where no job runs."""
    match test:
        case ast.Compare(ops=[ast.Eq()], comparators=[ast.Constant(value="nt" | "win32" | "Windows" | "cygwin")]):
            return True
    return False


def positive(test: ast.expr, found: frozenset[str]) -> frozenset[str]:
    """Return the identifiers of a condition; not those of ``if distributed:``, which is true in every process.

    Parameters
    ----------
    test
        The condition.
    found
        Its identifiers.
    """
    plain = isinstance(test, ast.Name | ast.Attribute)
    return frozenset(name for name in found if not plain or ("distributed" not in name and "ddp" not in name.lower()))
