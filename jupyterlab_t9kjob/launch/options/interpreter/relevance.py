"""Decision whether a function can lead to options, so that the interpreter follows only such calls."""

from __future__ import annotations

import ast
from typing import Final

from .module import Module
from .modules import Modules

MAX_FOLLOWED: Final = 3000

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Relevance:
    """Finds the functions and classes that use certain words, themselves or through functions that they name.

    Parameters
    ----------
    modules
        Search for modules.
    words
        The words.
    """

    def __init__(self, modules: Modules, words: frozenset[str]) -> None:
        self._modules = modules
        self.words = words
        self._known: dict[int, bool] = {}
        self._kept: list[ast.AST] = []
        self._leading: dict[str, bool] = {}

    def leads(self, module: Module) -> bool:
        """Return True if the text of a module or of one that it imports has one of the words."""
        seen: set[str] = set()
        waiting = [module]
        while waiting:
            found = waiting.pop()
            known = self._leading.get(found.path)
            if known is False or found.path in seen:
                continue
            seen.add(found.path)
            if known or found.mentions(self.words):
                self._leading[found.path] = self._leading[module.path] = True
                return True
            waiting += self._modules.imported(found)
        self._leading.update(dict.fromkeys(seen, False))
        return False

    def relevant(self, node: ast.AST, module: Module) -> bool:
        """Return True if a function or class, or code that it names, uses one of the words.

        Parameters
        ----------
        node
            The function, class or other node.
        module
            The module with the node.

        Returns
        -------
        relevant
            True also if too many nodes were examined before.
        """
        known = self._known.get(id(node))
        if known is not None:
            return known
        self._kept.append(node)  # The identity of a node is its key, so the node must live as long.
        self._known[id(node)] = False
        if len(self._known) > MAX_FOLLOWED:
            return True
        used = identifiers(node)
        found = not used.isdisjoint(self.words) or any(self._name(module, name, used) for name in used)
        found = found or any(self._import(module, part, used) for part in _local_imports(node))
        self._known[id(node)] = found
        return found

    def _name(self, module: Module, name: str, used: frozenset[str]) -> bool:
        bound = module.bindings.get(name)
        if bound is None:
            return any(self.relevant(method, module) for method in module.methods.get(name, ()))
        if isinstance(bound, _FUNCTIONS):
            return self.relevant(bound, module)
        if isinstance(bound, ast.Import):
            alias = next(a for a in bound.names if name in (a.asname, a.name.partition(".")[0]))
            imported = self._modules.find(alias.name, module)
            return imported is not None and self.leads(imported) and self._any(imported, used)
        if isinstance(bound, ast.ImportFrom):
            source = self._modules.find(bound.module or "", module, bound.level)
            if source is None or not self.leads(source):
                return False
            alias = next((a for a in bound.names if name == (a.asname or a.name)), bound.names[0])
            submodule = self._modules.submodule(source, alias.name)
            if submodule is not None and alias.name not in source.bindings:
                return self.leads(submodule) and self._any(submodule, used)
            return self._name(source, alias.name, frozenset({alias.name}))
        return False

    def _import(self, module: Module, node: ast.Import | ast.ImportFrom, used: frozenset[str]) -> bool:
        """Return True if an import in a function brings a relevant name."""
        if isinstance(node, ast.Import):
            found = [self._modules.find(alias.name, module) for alias in node.names]
            return any(each is not None and self.leads(each) and self._any(each, used) for each in found)
        source = self._modules.find(node.module or "", module, node.level)
        if source is None or not self.leads(source):
            return False
        return any(
            self._name(source, alias.name, frozenset({alias.name})) or self._modules.submodule(source, alias.name)
            for alias in node.names
        )

    def _any(self, module: Module, used: frozenset[str]) -> bool:
        """Return True if one of some names is relevant in a module."""
        return any(self._name(module, name, used) for name in used if name in module.bindings)


def identifiers(node: ast.AST) -> frozenset[str]:
    """Return the names and attributes in a node."""
    found: set[str] = set()
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
            waiting.append(part.value)
        elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and part is not node:
            found.add(part.name)
            waiting.extend(ast.iter_child_nodes(part))
        elif isinstance(part, ast.ImportFrom):
            found.update(alias.name for alias in part.names)
        else:
            waiting.extend(ast.iter_child_nodes(part))
    return frozenset(found)


def _local_imports(node: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    found: list[ast.Import | ast.ImportFrom] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Import | ast.ImportFrom):
            found.append(part)
        elif isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
            waiting.extend(ast.iter_child_nodes(part))
    return found


def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Return True if a function is a generator."""
    waiting: list[ast.AST] = list(ast.iter_child_nodes(node))
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(part))
    return False
