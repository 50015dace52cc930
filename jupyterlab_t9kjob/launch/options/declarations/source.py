"""Search of a program's modules for calls of libraries, and values of constant expressions."""

from __future__ import annotations

# ruff: noqa: PTH118, PTH119  (texts of scripts are joined as the scripts join them)
import ast
import os
from collections.abc import Iterator
from typing import Any, Final

from ..interpreter import methods, operators
from ..interpreter.module import Module
from ..interpreter.values import UNKNOWN, PathText
from ..program import Definition, Program
from ..texts import dotted, printable
from .calls import Call
from .constants import Member, binary, builtin, path_attribute, written
from .names import Names
from .scopes import Function, bound_names, contains, definitions_in, in_order

MAX_DEPTH: Final = 40
MAX_VALUES: Final = 10_000
"""Expressions whose values make one value; those of a name count wherever it stands."""


class Source(Names):
    """The script and the modules of the workspace that it imports, with their calls and values.

    Parameters
    ----------
    program
        The program.
    words
        Identifiers of a library. Modules without any of them are not searched.
    """

    def __init__(self, program: Program, words: frozenset[str] = frozenset()) -> None:
        super().__init__(program)
        self._evaluated = 0
        self._searched = [module for module in self.modules if not words or module.mentions(words)]

    @property
    def is_used(self) -> bool:
        """True if a module has one of the words."""
        return bool(self._searched)

    def calls(self, *names: str, tops: tuple[str, ...]) -> Iterator[Call]:
        """Yield the calls of functions with one of some last names from libraries with one of some top-level names.

        Parameters
        ----------
        *names
            Last parts of the functions' full names, such as ``add_argument``.
        tops
            First parts of their full names, such as ``argparse``.
        """
        for module in self._searched:
            for node in self.reachable(module):
                if isinstance(node, ast.Call):
                    name = dotted(node.func)
                    if name is not None and (name.rpartition(".")[2] in names or name[:1].isalpha()):
                        full = self.makes(module, node.func)
                        if full.rpartition(".")[2] in names and full.partition(".")[0] in tops:
                            yield Call(full, module, node)

    def methods(self, made: Call, *names: str) -> Iterator[Call]:
        """Yield the calls of methods of the object that a call makes, if the object has a name of its own.

        The name may be a variable, also of a function, or an attribute (``self.parser``). Functions that give the same
        name to another object are left out.

        Parameters
        ----------
        made
            The call that makes the object.
        *names
            Names of the methods.
        """
        owners = set(self._names_of(made))
        within = self._around(made) if owners else None
        waiting: list[ast.AST] = [within] if within is not None else []
        while waiting:
            node = waiting.pop()
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr=name)):
                    if name in names and dotted(owner) in owners:
                        yield Call(name, made.module, node)
            children = [
                child
                for child in ast.iter_child_nodes(node)
                if not isinstance(child, Function) or not (owners & bound_names(child)) or contains(child, made.node)
            ]
            waiting.extend(reversed(children))

    def _names_of(self, made: Call) -> Iterator[str]:
        for node in ast.walk(made.module.tree) if made.module.tree else ():
            if isinstance(node, ast.Assign) and node.value is made.node:
                yield from (name for target in node.targets if (name := dotted(target)) is not None)

    def _around(self, made: Call) -> ast.AST | None:
        """Return the function with a call, or the class of a method whose call makes an attribute; else the module."""
        found: ast.AST | None = made.module.tree
        attribute = any("." in name for name in self._names_of(made))
        node = found
        while node is not None:
            node = next(
                (
                    child
                    for child in definitions_in(node)
                    if (isinstance(child, ast.ClassDef) or not attribute) and contains(child, made.node)
                ),
                None,
            )
            found = node if isinstance(node, Function) or (attribute and node is not None) else found
        return found

    def reachable(self, module: Module) -> Iterator[ast.AST]:
        """Yield the nodes of a module in the order of its text, without those that the script can't use.

        In a module that the script imports, the part that runs only if the module is run as a script is left out, and
        so are functions and classes whose names no other module has.
        """
        others = frozenset().union(*(other.words for other in self.modules if other is not module))
        for statement in module.tree.body if module.tree else []:
            if module is not self.main:
                if isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test):
                    continue
                own = module.words if len(self.modules) == 1 else others
                hidden = isinstance(statement, Function) and statement.name not in {*own, "main"}
                if hidden and isinstance(statement, Function) and not _is_called(module, statement, others):
                    continue
            yield from in_order(statement)

    def value(self, module: Module, node: ast.expr | None, depth: int = 0) -> Any:
        """Return the value of an expression: a constant, list, dict, or enum member; UNKNOWN if a run tells it.

        Parameters
        ----------
        module, node
            A module, and an expression in it.
        depth
            Number of expressions around this one; UNKNOWN is returned beyond `MAX_DEPTH`.
        """
        self._evaluated = self._evaluated + 1 if depth else 0
        if node is None or depth > MAX_DEPTH or self._evaluated > MAX_VALUES:
            return UNKNOWN
        try:
            return self._value(module, node, depth + 1)
        except (ArithmeticError, TypeError, ValueError, IndexError, KeyError, RecursionError):
            return UNKNOWN

    def string(self, module: Module, node: ast.expr | None) -> str | None:
        """Return the value of an expression if it is a text; None otherwise.

        Parameters
        ----------
        module, node
            A module, and an expression in it. A text with characters that can't be shown gives None.
        """
        value = self.value(module, node)
        return str(value) if isinstance(value, str) and printable(value) == value else None

    def _value(self, module: Module, node: ast.expr, depth: int) -> Any:
        match node:
            case ast.Constant(value=constant):
                return written(module, node, constant)
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                values = [self.value(module, item, depth) for item in items]
                kind = tuple if isinstance(node, ast.Tuple) else list
                return UNKNOWN if any(value is UNKNOWN for value in values) else kind(values)
            case ast.Dict(keys=keys, values=items):
                pairs = [
                    (self.value(module, k, depth), self.value(module, v, depth))
                    for k, v in zip(keys, items, strict=True)
                ]
                return UNKNOWN if any(UNKNOWN in pair for pair in pairs) else dict(pairs)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return operators.negative(self.value(module, operand, depth))
            case ast.BinOp(left=left, op=op, right=right):
                return binary(op, self.value(module, left, depth), self.value(module, right, depth))
            case ast.JoinedStr(values=parts):
                texts = [self.value(module, part, depth) for part in parts]
                return UNKNOWN if any(text is UNKNOWN for text in texts) else "".join(str(text) for text in texts)
            case ast.FormattedValue(value=inner, format_spec=None):
                return self.value(module, inner, depth)
            case ast.Subscript(value=base, slice=index):
                return self._item(module, base, index, depth)
            case ast.Name(id="__file__"):
                return PathText(os.path.join(".", os.path.basename(module.path)))
            case ast.Call():
                return self._call(module, node, depth)
            case ast.Name() | ast.Attribute():
                return self._named(module, node, depth)
        return UNKNOWN

    def _item(self, module: Module, base: ast.expr, index: ast.expr, depth: int) -> Any:
        value = self.value(module, base, depth)
        if isinstance(index, ast.Slice):
            if index.step is not None or value is UNKNOWN:
                return UNKNOWN
            ends = [self.value(module, end, depth) if end else None for end in (index.lower, index.upper)]
            return UNKNOWN if UNKNOWN in ends else value[ends[0] : ends[1]]
        key = self.value(module, index, depth)
        return UNKNOWN if value is UNKNOWN or key is UNKNOWN else value[key]

    def _named(self, module: Module, node: ast.Name | ast.Attribute, depth: int) -> Any:
        found = self.resolve(module, node)
        if isinstance(found, Definition) and isinstance(found.node, ast.Assign | ast.AnnAssign):
            return self.value(found.module, found.node.value, depth)
        if isinstance(node, ast.Attribute):
            path = self.value(module, node.value, depth)
            if isinstance(path, PathText):
                return path_attribute(path, node.attr)
            owner = self.definition(module, node.value)
            if owner is not None and isinstance(owner[1], ast.ClassDef):
                members = {member.name: member for member in self.members(*owner, depth)}
                return members.get(node.attr, self._class_constant(owner[0], owner[1], node.attr, depth))
            if node.attr in ("value", "name") and isinstance(member := self.value(module, node.value, depth), Member):
                return getattr(member, node.attr)
        return UNKNOWN

    def _class_constant(self, module: Module, node: ast.ClassDef, name: str, depth: int) -> Any:
        for statement in reversed(node.body):
            match statement:
                case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)):
                    if target == name:
                        return self.value(module, statement.value, depth)
        return UNKNOWN

    def members(self, module: Module, node: ast.stmt, depth: int = 0) -> list[Member]:
        """Return the members of an enum; nothing for other classes.

        Parameters
        ----------
        module, node
            A module, and a class in it. Names that begin with an underscore are no members.
        depth
            Number of expressions around the class.
        """
        if not isinstance(node, ast.ClassDef) or not self._is_enum(module, node):
            return []
        found: list[Member] = []
        for statement in node.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if not name.startswith("_"):
                    found.append(Member(name, self.value(module, value, depth)))
        return found

    def _is_enum(self, module: Module, node: ast.ClassDef, depth: int = 0) -> bool:
        for base in node.bases:
            name = self.library(module, base)
            if name.rpartition(".")[2] in {"Enum", "IntEnum", "StrEnum", "ExplicitEnum", "Flag"}:
                return True
            own = self.definition(module, base)
            if own and isinstance(own[1], ast.ClassDef) and depth < 5 and self._is_enum(own[0], own[1], depth + 1):
                return True
        return False

    def _call(self, module: Module, node: ast.Call, depth: int) -> Any:
        values = [self.value(module, argument, depth) for argument in node.args]
        name = self.library(module, node.func) or dotted(node.func) or ""
        last = name.rpartition(".")[2]
        if name.endswith((".environ.get", "os.getenv")):
            return values[1] if len(values) == 2 else None
        owner = self.value(module, node.func.value, depth) if isinstance(node.func, ast.Attribute) else UNKNOWN
        if isinstance(owner, PathText) and isinstance(node.func, ast.Attribute) and UNKNOWN not in values:
            return methods.string_method(owner, node.func.attr, values, {})
        if isinstance(owner, dict) and last in ("keys", "values", "items") and not values:
            return list(getattr(owner, last)())
        if isinstance(owner, str) and last in ("lower", "upper", "strip", "format", "split", "replace", "join"):
            return UNKNOWN if UNKNOWN in values or node.keywords else getattr(str(owner), last)(*values)
        if values and UNKNOWN not in values and not node.keywords and not isinstance(values[0], Member):
            found = builtin(name.removeprefix("builtins."), values)
            if found is not UNKNOWN:
                return found
        if name in ("list", "dict", "tuple") and not node.args and not node.keywords:
            return {"list": [], "dict": {}, "tuple": ()}[name]
        if name == "dict" and not node.args:
            pairs = {keyword.arg: self.value(module, keyword.value, depth) for keyword in node.keywords}
            return UNKNOWN if None in pairs or UNKNOWN in pairs.values() else pairs
        if name in ("list", "tuple", "sorted") and len(node.args) == 1:
            own = self.definition(module, node.args[0])
            return list(self.members(*own, depth)) or UNKNOWN if own else UNKNOWN
        return UNKNOWN


def _is_called(module: Module, function: Function, others: frozenset[str]) -> bool:
    """Return True if a function is called by a function or class of its module whose name another module has."""
    for statement in module.tree.body if module.tree else []:
        if statement is function:
            continue
        if isinstance(statement, Function | ast.ClassDef) and statement.name not in others:
            continue
        if isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test):
            continue
        if any(isinstance(node, ast.Name) and node.id == function.name for node in ast.walk(statement)):
            return True
    return False
