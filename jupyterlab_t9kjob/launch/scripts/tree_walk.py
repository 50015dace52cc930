"""Walk over a module's syntax tree that collects nodes by class, each with its context."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeVar, cast

from ..options.syntax_nodes import LEAVES, children, descendants
from ..options.texts import dotted

N = TypeVar("N", bound=ast.AST)


class Context(NamedTuple):
    """Context of a node in its module.

    Attributes
    ----------
    inside
        Top-level function or class that contains the node.
    function
        Innermost function that contains the node.
    main
        True if the node runs only if the module is run as a script.
    guarded
        True if a handler catches the error for a missing module or name.
    loop
        True if the node is in a loop.
    """

    inside: str | None = None
    function: str | None = None
    main: bool = False
    guarded: bool = False
    loop: bool = False


class Nodes:
    """Nodes of a module by class, without docstrings and code for type checkers."""

    def __init__(self) -> None:
        self._found: defaultdict[type[ast.AST], list[tuple[ast.AST, Context]]] = defaultdict(list)

    def of(self, kind: type[N]) -> list[tuple[N, Context]]:
        """Return the nodes of exactly this class, with their contexts, in no order."""
        return cast("list[tuple[N, Context]]", self._found.get(kind, []))


def walk(tree: ast.Module) -> Nodes:
    """Return the nodes of a module."""
    nodes = Nodes()
    kept = {kind: nodes._found[kind].append for kind in _KEPT}
    stack: list[tuple[ast.AST, Context]] = [(tree, Context())]
    while stack:
        entry = stack.pop()
        node, context = entry
        kind = type(node)
        if kind in kept:
            kept[kind](entry)
        if kind in LEAVES:
            continue
        if kind in _BLOCKS:
            stack.extend(_children(node, context))
        else:
            stack += [(child, context) for child in children(node)]
    return nodes


_KEPT: Final = frozenset(
    (
        *(ast.Name, ast.Attribute, ast.Import, ast.ImportFrom, ast.Assign, ast.AugAssign, ast.Constant, ast.Subscript),
        *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Call, ast.Raise, ast.Assert, ast.Compare),
    )
)
_LOOPS: Final = frozenset({ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.GeneratorExp})
_BLOCKS: Final = _LOOPS | {ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Expr, ast.Try, ast.If}
_WRAPPERS: Final = frozenset({"DistributedDataParallel", "FullyShardedDataParallel"})
"""Classes that wrap a distributed model."""
_CAUGHT: Final = frozenset(
    {"ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "Exception", "BaseException"}
)


def _children(node: ast.AST, context: Context) -> Iterator[tuple[ast.AST, Context]]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        function = context.function if isinstance(node, ast.ClassDef) else node.name
        inner = context._replace(inside=context.inside or node.name, function=function)
        for child in children(node):
            yield child, context if child in node.decorator_list else inner
    elif isinstance(node, ast.Expr):
        if not isinstance(node.value, ast.Constant):
            yield node.value, context
    elif isinstance(node, ast.Try):
        inner = context._replace(guarded=context.guarded or any(_catches_lack(h.type) for h in node.handlers))
        yield from ((child, inner) for child in node.body)
        # The handler has an alternative import.
        yield from ((child, inner) for handler in node.handlers for child in handler.body)
        yield from ((child, context) for child in [*node.orelse, *node.finalbody])
    elif isinstance(node, ast.If):
        named = names_in(node.test)
        yield node.test, context
        if "TYPE_CHECKING" not in named:
            inner = context._replace(main=True) if "__name__" in named else context
            yield from ((child, inner) for child in node.body)
        yield from ((child, context) for child in node.orelse)
    else:
        inner = context._replace(loop=True)
        yield from ((child, inner) for child in children(node))


def names_in(node: ast.AST) -> set[str]:
    """Return the identifiers of an expression, each by its last part."""
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in descendants(node)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def wrapper_types(nodes: Nodes) -> set[int]:
    """Return the identities of the nodes that name a wrapper of models in a type hint or a test for a class.

    Such a name (``isinstance(model, DistributedDataParallel)``) tells nothing about what a script runs.
    """
    found: list[ast.expr | None] = []
    functions: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Context]] = [
        *nodes.of(ast.FunctionDef),
        *nodes.of(ast.AsyncFunctionDef),
    ]
    for hinted, _ in functions:
        own = hinted.args
        found += [each.annotation for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)] + [hinted.returns]
    for call, _ in nodes.of(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id in ("isinstance", "issubclass"):
            found += call.args[1:]
    for compared, _ in nodes.of(ast.Compare):
        if isinstance(compared.left, ast.Call) and names_in(compared.left.func) == {"type"}:
            found += compared.comparators
    parts = (part for expression in found if expression is not None for part in ast.walk(expression))
    return {id(part) for part in parts if isinstance(part, ast.Name | ast.Attribute) and names_in(part) & _WRAPPERS}


def _catches_lack(caught: ast.expr | None) -> bool:
    return caught is None or not names_in(caught).isdisjoint(_CAUGHT)


def full_name(node: ast.AST, aliases: Mapping[str, str]) -> str | None:
    """Return the full name of a function by a module's imports: ``mp.spawn`` is ``torch.multiprocessing.spawn``.

    Parameters
    ----------
    node
        The function.
    aliases
        Full names by the names that the imports bind.

    Returns
    -------
    str
        The name; None if the expression is no chain of at most eleven names.
    """
    name = dotted(node)
    if name is None or name.count(".") > 10:
        return None
    first, dot, rest = name.partition(".")
    return f"{aliases.get(first, first)}{dot}{rest}"
