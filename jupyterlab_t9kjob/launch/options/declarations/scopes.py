"""Functions and classes in a syntax tree, in the order of the text, and the names that they bind."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..texts import dotted

Function = ast.FunctionDef | ast.AsyncFunctionDef


def in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the nodes below it in the order of the text."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(list(ast.iter_child_nodes(found))))


def definitions_in(node: ast.AST) -> Iterator[Function | ast.ClassDef]:
    """Yield the functions and classes in a node, without those inside of them."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.ClassDef):
            yield child
        elif isinstance(child, ast.stmt):
            yield from definitions_in(child)


def contains(node: ast.stmt, inner: ast.expr) -> bool:
    """Return True if the text of a statement has an expression of the same module.

    Parameters
    ----------
    node
        The statement.
    inner
        The expression. Only the lines of both are compared.
    """
    return node.lineno <= inner.lineno and (inner.end_lineno or inner.lineno) <= (node.end_lineno or node.lineno)


def bound_names(function: Function) -> set[str]:
    """Return the names that a function's parameters and assignments bind."""
    arguments = function.args
    found = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)} - {"self"}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            found.update(name for target in node.targets if (name := dotted(target)) is not None)
    return found
