"""Decision whether a function can lead to options, so that the interpreter follows only such calls."""

from __future__ import annotations

import ast
import re
from typing import Final

from ..syntax_nodes import children, descendants
from ..texts import dotted
from .module import Module
from .modules import Modules

MAX_FOLLOWED: Final = 3000
MAX_REDIRECTIONS: Final = 6

HOOK: Final = "__init_subclass__"
IMPORTERS: Final = frozenset({"import_module", "__import__"})
"""Functions that import a module by its name; the module may fill registries."""
OWN: Final = frozenset({"self", "cls"})
_DECORATOR: Final = re.compile(r"^@\w", re.MULTILINE)
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
        self._filling: dict[int, bool] = {}
        self._registering: dict[str, bool] = {}

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

    def fills(self, node: ast.AST, module: Module) -> bool:
        """Return True if a function, or one of its module that it names, fills a list or dict that is not its own.

        Parameters
        ----------
        node, module
            The function, and its module.
        """
        known = self._filling.get(id(node))
        if known is None:
            self._kept.append(node)
            self._filling[id(node)] = False
            used = identifiers(node)
            named = (module.bindings.get(name) for name in used)
            known = bool(filled_by(node)) or not used.isdisjoint(IMPORTERS)
            known = known or any(isinstance(each, _FUNCTIONS) and self.fills(each, module) for each in named)
            self._filling[id(node)] = known
        return known

    def registers(self, module: Module) -> bool:
        """Return True if the import of a module may change another one: by a decorator, or as a class is derived.

        Parameters
        ----------
        module
            The module. Calls at its top level do not count.
        """
        if module.path not in self._registering:
            derived = any(other.mentions((HOOK,)) for other in self._modules.imported(module))
            decorated = _DECORATOR.search(module.source) is not None
            nodes = module.tree.body if module.tree and (derived or decorated) else []
            classes = [node for node in nodes if isinstance(node, _FUNCTIONS)]
            self._registering[module.path] = any(self._registers(module, node, derived) for node in classes)
        return self._registering[module.path]

    def _registers(self, module: Module, node: ast.AST, derived: bool) -> bool:
        for base in getattr(node, "bases", ()) if derived else ():
            for _module, found in self._resolve(module, base):
                if isinstance(found, ast.ClassDef) and any(getattr(part, "name", "") == HOOK for part in found.body):
                    return True
        decorators = [each.func if isinstance(each, ast.Call) else each for each in getattr(node, "decorator_list", ())]
        return any(
            keeps_argument(found) or any(keeps_argument(used) for used in self._used(owner, found))
            for each in decorators
            for owner, found in self._resolve(module, each)
        )

    @staticmethod
    def _used(module: Module, node: ast.AST) -> list[ast.AST]:
        bound = [module.bindings.get(name) for name in identifiers(node)]
        return [each for each in bound if isinstance(each, ast.FunctionDef)]

    def _resolve(self, module: Module, node: ast.expr) -> list[tuple[Module, ast.AST]]:
        """Return the functions and classes for which a name of the workspace stands: of an object, its class."""
        parts = (dotted(node) or "").split(".")
        for _ in range(MAX_REDIRECTIONS):
            bound = module.bindings.get(parts[0]) if parts else None
            if isinstance(bound, _FUNCTIONS):
                return [(module, bound)]
            if isinstance(bound, ast.Assign | ast.AnnAssign) and isinstance(bound.value, ast.Call | ast.Attribute):
                value: ast.expr = bound.value
                parts = (dotted(value.func if isinstance(value, ast.Call) else value) or "").split(".")
                continue
            if not isinstance(bound, ast.Import | ast.ImportFrom):
                return []
            alias = next(a for a in bound.names if parts[0] in (a.asname, a.name, a.name.partition(".")[0]))
            if isinstance(bound, ast.Import):
                source = self._modules.find(alias.name if alias.asname else parts[0], module)
            else:
                source = self._modules.find(bound.module or "", module, bound.level)
            if source is None:
                return []
            if isinstance(bound, ast.ImportFrom):
                submodule = self._modules.named_submodule(source, alias.name, bound)
                parts = parts[1:] if submodule is not None else [alias.name, *parts[1:]]
                module = submodule or source
            else:
                module, parts = source, parts[1:]
        return []

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
            submodule = self._modules.named_submodule(source, alias.name, bound)
            if submodule is not None:
                return self.leads(submodule) and self._any(submodule, used)
            return source is not module and self._name(source, alias.name, frozenset({alias.name}))
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


def filled_by(node: ast.AST) -> frozenset[str]:
    """Return the dotted names of the lists and dicts that a function fills, without its own variables.

    Parameters
    ----------
    node
        The function. In a module or class, all functions count.
    """
    filled: set[str] = set()
    own: set[str] = set()
    shared: set[str] = set()
    for part in descendants(node):
        match part:
            case ast.Subscript(ctx=ast.Store()) | ast.Call(func=ast.Attribute(attr="append" | "add" | "insert")):
                filled.add(_owner(part))
            case ast.Call(func=ast.Attribute(attr="update" | "setdefault" | "extend")):
                filled.add(_owner(part))
            case ast.Name(ctx=ast.Store(), id=name):
                own.add(name)
            case ast.arg(arg=name):
                own.add(name)
            case ast.Global(names=names):
                shared.update(names)
    own -= shared | OWN
    return frozenset(name for name in filled if name and name.partition(".")[0] not in own)


def keeps_argument(node: ast.AST) -> bool:
    """Return True if a function puts one of its arguments into a list or dict that is not its own.

    Parameters
    ----------
    node
        The function. In a class, all methods count.
    """
    filled = filled_by(node)
    given = {part.arg for part in descendants(node) if isinstance(part, ast.arg)} if filled else set()
    for part in descendants(node) if filled else ():
        match part:
            case ast.Assign(targets=[ast.Subscript() as target], value=ast.Name(id=name)):
                if name in given and _owner(target) in filled:
                    return True
            case ast.Call(func=ast.Attribute(), args=[*_first, ast.Name(id=name)]):
                if name in given and _owner(part) in filled:
                    return True
            case ast.Call(func=ast.Attribute(attr="update")) if _owner(part) in filled:
                return True
    return False


def _owner(node: ast.AST) -> str:
    """Return the dotted name of the object whose item or method an expression uses, also of an item of it."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else getattr(node.func, "value", node.func)
    return dotted(node) or ""


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
            waiting += children(part)
        elif isinstance(part, ast.ImportFrom):
            found.update(alias.name for alias in part.names)
        else:
            waiting += children(part)
    return frozenset(found)


def _local_imports(node: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    found: list[ast.Import | ast.ImportFrom] = []
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Import | ast.ImportFrom):
            found.append(part)
        elif isinstance(part, ast.stmt | ast.ExceptHandler | ast.match_case):
            waiting += children(part)
    return found


def is_generator(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> bool:
    """Return True if a function is a generator."""
    waiting: list[ast.AST] = children(node)
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting += children(part)
    return False
