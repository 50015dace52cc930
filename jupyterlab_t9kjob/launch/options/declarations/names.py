"""Definitions, modules and libraries that the names in a program stand for."""

from __future__ import annotations

import ast
from typing import Final
from weakref import WeakKeyDictionary

from ..interpreter.module import Module
from ..interpreter.values import Library
from ..program import Definition, Program
from ..texts import dotted
from .scopes import Function, in_order

MAX_MODULES: Final = 60
MAX_ALIASES: Final = 10


class Names:
    """The script and the modules of the workspace that it imports, with what their names stand for.

    Most methods take a module, and an expression or definition `node` of that module; None is no expression.

    Parameters
    ----------
    program
        The program.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.main = program.main
        if program not in _modules:
            _modules[program] = _closure(program)
        self.modules = _modules[program]
        self._locals: dict[int, dict[str, Library | Module]] = {}
        self._inner: dict[int, dict[str, ast.stmt]] = {}

    def path(self, module: Module) -> str | None:
        """Return the path of a module; None for the script itself."""
        return None if module is self.main else module.path

    def resolve(
        self, module: Module, node: ast.expr | None, left: int = MAX_ALIASES
    ) -> Definition | Module | Library | None:
        """Return the definition of a name or attribute, followed through imports and other names.

        Parameters
        ----------
        module, node
            The module, and the expression in it.
        left
            Number of further names to follow.
        """
        name = dotted(node)
        if name is None:
            return None
        found = self.program.resolve(module, name)
        if found is None:
            first, _, rest = name.partition(".")
            local = self._local_imports(module).get(first)
            if isinstance(local, Library):
                return Library(f"{local.name}.{rest}" if rest else local.name)
            if isinstance(local, Module):
                return self.program.resolve(local, rest) if rest else local
        if isinstance(found, Definition):
            target = _alias(found.node)
            if target is not None and dotted(target) not in (None, name) and left:
                return self.resolve(found.module, target, left - 1) or found
        return found

    def library(self, module: Module, node: ast.expr | None) -> str:
        """Return the full name of something that a library defines; an empty text if it is not a library's.

        Parameters
        ----------
        module, node
            A module, and a name or attribute in it.
        """
        found = self.resolve(module, node)
        return found.name if isinstance(found, Library) else ""

    def imported(self, module: Module, node: ast.expr) -> str:
        """Return the full name that an import binds to a name, also if the module binds the name again.

        Parameters
        ----------
        module, node
            A module, and a name or attribute in it. Imports inside of functions count as well.
        """
        found = self._local_imports(module).get(dotted(node) or "")
        return found.name if isinstance(found, Library) else ""

    def assigned(self, module: Module, node: ast.expr | None) -> ast.expr | None:
        """Return the expression that a name stands for, if it is assigned once; other expressions as they are.

        Parameters
        ----------
        module, node
            A module, and an expression in it. At most 5 names are followed.
        """
        for _ in range(5):
            if not isinstance(node, ast.Name):
                break
            found = [
                child.value
                for child in ast.walk(module.tree or ast.Module([], []))
                if isinstance(child, ast.Assign)
                and any(isinstance(target, ast.Name) and target.id == node.id for target in child.targets)
            ]
            if len(found) != 1:
                break
            node = found[0]
        return node

    def makes(self, module: Module, node: ast.expr) -> str:
        """Return the full name of a library's function or class, of the library's base for a class of the workspace.

        Parameters
        ----------
        module, node
            A module, and the called expression in it. At most 5 base classes are followed.

        Returns
        -------
        str
            The name without ``builtins.``; an empty text if no library defines it.
        """
        for _ in range(5):
            found = self.resolve(module, node)
            if isinstance(found, Library):
                return found.name.removeprefix("builtins.")
            if not isinstance(found, Definition) or not isinstance(found.node, ast.ClassDef) or not found.node.bases:
                return ""
            own, base = found.node, found.node.bases[0]
            if dotted(base) == own.name:  # class A(A), whose base is imported
                return self.imported(found.module, base)
            module, node = found.module, base
        return ""

    def definition(self, module: Module, node: ast.expr | None) -> tuple[Module, ast.stmt] | None:
        """Return the function or class of the workspace that a name stands for, with its module.

        Parameters
        ----------
        module, node
            A module, and a name or attribute in it.
        """
        found = self.resolve(module, node)
        if isinstance(found, Definition) and isinstance(found.node, Function | ast.ClassDef):
            return found.module, found.node
        if isinstance(node, ast.Name):  # a definition inside of a function
            inner = self._definitions(module).get(node.id)
            return (module, inner) if inner is not None else None
        return None

    def _definitions(self, module: Module) -> dict[str, ast.stmt]:
        """Return the functions and classes anywhere in a module by name."""
        if id(module) not in self._inner:
            nodes = in_order(module.tree) if module.tree else ()
            self._inner[id(module)] = {n.name: n for n in nodes if isinstance(n, Function | ast.ClassDef)}
        return self._inner[id(module)]

    def _local_imports(self, module: Module) -> dict[str, Library | Module]:
        """Return what imports anywhere in a module bind, for imports inside of functions."""
        known = self._locals.get(id(module))
        if known is not None:
            return known
        found: dict[str, Library | Module] = {}
        for node in ast.walk(module.tree) if module.tree else ():
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    key = alias.asname or name
                    found.setdefault(key, self.program.modules.find(name, module) or Library(name))
            elif isinstance(node, ast.ImportFrom):
                source = self.program.modules.find(node.module or "", module, node.level)
                for alias in node.names:
                    if source is None and not node.level:
                        found.setdefault(alias.asname or alias.name, Library(f"{node.module}.{alias.name}"))
        self._locals[id(module)] = found
        return found


_modules: WeakKeyDictionary[Program, list[Module]] = WeakKeyDictionary()


def _closure(program: Program) -> list[Module]:
    """Return the script and the modules that it imports, nearest first."""
    _ = program.run  # The run adds folders to the search for modules.
    found = {id(program.main): program.main}
    waiting = [program.main]
    while waiting and len(found) < MAX_MODULES:
        for module in program.modules.imported(waiting.pop(0)):
            if id(module) not in found:
                found[id(module)] = module
                waiting.append(module)
    return list(found.values())[:MAX_MODULES]


def _alias(node: ast.stmt) -> ast.expr | None:
    """Return the name that an assignment gives another name to."""
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
        return node.value
    return None
