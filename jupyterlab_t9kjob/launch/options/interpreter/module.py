"""Modules of the workspace: their text, syntax tree, names and imports."""

from __future__ import annotations

# ruff: noqa: PTH119, PTH120  (an import has names of any length: `Path` raises at them)
import ast
import os
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

_IMPORTS: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]+)|import[ \t]+([^\n#;]+))", re.MULTILINE
)


class Module:
    """A module of the workspace.

    Parameters
    ----------
    name
        Its dotted name; ``__main__`` for the script.
    path
        Absolute path of its file; of the folder for a package without ``__init__.py``.
    source
        Its text.
    package
        Folder of the package; None if the module is not a package.
    tree
        Its syntax tree, if it was parsed before.
    """

    def __init__(
        self, name: str, path: str, source: str, package: str | None = None, tree: ast.Module | None = None
    ) -> None:
        self.name = name
        self.path = path
        self.source = source
        self.package = package
        if tree is not None:
            self.tree = tree

    def __repr__(self) -> str:
        return f"Module({self.name!r})"

    @property
    def folder(self) -> str:
        """Folder in which relative imports begin."""
        return self.package or os.path.dirname(self.path)

    @cached_property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None if the text is not valid Python or too deeply nested."""
        try:
            return ast.parse(self.source, filename=os.path.basename(self.path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None

    @cached_property
    def lines(self) -> list[str]:
        """Lines of the text, for the spelling of numbers."""
        return self.source.split("\n")

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the text; `mentions` is faster for a few words."""
        return frozenset(re.findall(r"\w+", self.source))

    def mentions(self, words: Iterable[str]) -> bool:
        """Return True if the text has one of some words, also as a part of a longer word."""
        return any(word in self.source for word in words)

    @cached_property
    def bindings(self) -> dict[str, ast.stmt]:
        """Statements that bind the names of the module's top level, the last one for each name."""
        found: dict[str, ast.stmt] = {}
        _bind(self.tree.body if self.tree else [], found)
        return found

    @cached_property
    def methods(self) -> dict[str, list[ast.AST]]:
        """Methods of the module's classes by name."""
        found: dict[str, list[ast.AST]] = {}
        for node in self.bindings.values():
            for part in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    found.setdefault(part.name, []).append(part)
        return found

    @cached_property
    def imports(self) -> list[tuple[int, str, tuple[str, ...]]]:
        """Level, module and names of the imports anywhere in the text, found without parsing it."""
        found: list[tuple[int, str, tuple[str, ...]]] = []
        for dots, module, names, plain in _IMPORTS.findall(self.source):
            if plain:
                found += [(0, part.split()[0], ()) for part in plain.split(",") if part.split()]
            else:
                parts = names.strip("()").split(",")
                found.append((len(dots), module, tuple(part.split()[0] for part in parts if part.split())))
        return found


def _bind(statements: list[ast.stmt], found: dict[str, ast.stmt]) -> None:
    for node in statements:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((alias.asname or alias.name.partition(".")[0], node) for alias in names)
            case ast.Assign(targets=targets):
                found.update((target.id, node) for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                found[name] = node
            case ast.If(body=body, orelse=other):
                _bind(body, found)
                _bind(other, found)
            case ast.Try(body=body, orelse=other, handlers=handlers):
                for handler in handlers:
                    _bind(handler.body, found)
                _bind(body, found)
                _bind(other, found)
            case ast.With(body=body):
                _bind(body, found)
