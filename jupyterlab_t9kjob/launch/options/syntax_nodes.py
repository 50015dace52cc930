"""Children and descendants of the nodes of a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

LEAVES: Final = frozenset(
    {ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal}
)
"""Classes of nodes that are not searched: none of their fields has an expression, statement or pattern."""


def children(node: ast.AST) -> list[ast.AST]:
    """Return the children of a node, without operators and contexts; `ast.iter_child_nodes` takes twice the time."""
    kind = type(node)
    names = _parts.get(kind)
    if names is None:
        plain = _PLAIN if kind not in _WITHOUT else kind._fields
        names = _parts[kind] = tuple(name for name in kind._fields if name not in plain)
    found: list[ast.AST] = []
    for name in names:
        value = getattr(node, name, None)
        if type(value) is not list:
            if value is not None:
                found.append(value)
        elif name in _SPARSE:
            found += [item for item in value if item is not None]
        else:
            found += value
    return found


def descendants(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the nodes below it as `ast.walk` does, but without operators and contexts, and faster."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        if type(found) not in LEAVES:
            stack += children(found)


_PLAIN: Final = frozenset(
    (
        *("ctx", "op", "ops", "id", "attr", "arg", "name", "kind", "type_comment", "level", "conversion", "simple"),
        *("is_async", "type_ignores", "module", "asname", "rest", "kwd_attrs", "str"),
    )
)
"""Fields of nodes that have no expressions, statements or patterns."""
_WITHOUT: Final = frozenset({ast.Constant, ast.MatchSingleton, ast.Global, ast.Nonlocal})
"""Classes of nodes none of whose fields has a node."""
_SPARSE: Final = frozenset({"keys", "kw_defaults"})
"""Fields with lists in which None stands for a missing expression."""
_parts: dict[type[ast.AST], tuple[str, ...]] = {}
"""The other fields of each class of nodes."""
