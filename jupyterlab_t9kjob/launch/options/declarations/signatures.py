"""Parameters of functions and classes, with those that ``**kwargs`` passes on to other code."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from ....core.translation import _
from ..interpreter.module import Module
from ..model import UnreadOptions
from ..syntax_nodes import descendants
from .docstrings import parameter_texts
from .parameters import Parameter, bases_of, fields_of, is_dataclass, parameters_of
from .scopes import Function
from .source import Source

MAX_CALLS: Final = 10
WITHOUT_PARAMETERS: Final = frozenset(
    {"object", "ABC", "Generic", "Protocol", "Module", "LightningModule", "LightningDataModule"}
)
"""Last names of classes of libraries that take no arguments of their own."""
Lineage = list[tuple[Module, ast.ClassDef]]


@dataclass
class Signature:
    """Parameters of a function or class.

    Attributes
    ----------
    parameters
        The parameters, its own first.
    unread
        Places that take further parameters, whose names are not known.
    """

    parameters: list[Parameter] = field(default_factory=list)
    unread: list[UnreadOptions] = field(default_factory=list)


def signature_of(source: Source, module: Module, node: object, *, method: bool = False) -> Signature:
    """Return the parameters of a function, the fields of a dataclass, or the parameters of another class.

    Parameters
    ----------
    source
        The script and its modules.
    module
        The module with the function or class.
    node
        The function or class. Other objects have no parameters.
    method
        True leaves out the first parameter of a function.
    """
    found = Signature()
    reader = _Reader(source, found)
    if isinstance(node, Function):
        reader.add(module, node, node.name, method=method)
    elif isinstance(node, ast.ClassDef) and is_dataclass(source, module, node):
        found.parameters = fields_of(source, module, node, comments=False)
    elif isinstance(node, ast.ClassDef):
        reader.add_class(module, node)
    return found


class _Reader:
    """Follows ``**kwargs`` from call to call."""

    def __init__(self, source: Source, found: Signature) -> None:
        self._source = source
        self._found = found
        self._calls = 0
        self._given: set[str] = set()

    def add_class(self, module: Module, node: ast.ClassDef, positional: int = 0) -> None:
        own, libraries = bases_of(self._source, module, node)
        foreign = [name for name in libraries if name.rpartition(".")[2] not in WITHOUT_PARAMETERS]
        self._add_init(own[::-1], foreign, module, node, positional)

    def _add_init(self, lineage: Lineage, foreign: list[str], module: Module, node: ast.AST, positional: int) -> None:
        for index, (owner, class_) in enumerate(lineage):
            for statement in class_.body:
                if isinstance(statement, Function) and statement.name == "__init__":
                    self.add(
                        owner, statement, class_.name, lineage[index + 1 :], foreign, class_, positional, method=True
                    )
                    return
        if foreign:
            self._unread(foreign[0].rpartition(".")[2], module, getattr(node, "lineno", 1))

    def add(
        self,
        module: Module,
        function: Function,
        name: str,
        bases: Lineage | None = None,
        foreign: list[str] | None = None,
        class_: ast.ClassDef | None = None,
        positional: int = 0,
        *,
        method: bool = False,
    ) -> None:
        texts = parameter_texts(class_) if class_ is not None else {}
        known = {parameter.name for parameter in self._found.parameters} | self._given
        for index, parameter in enumerate(parameters_of(self._source, module, function, method=method)):
            parameter.help = parameter.help or texts.get(parameter.name)
            if parameter.name not in known and (index >= positional or parameter.keyword_only):
                self._found.parameters.append(parameter)
        kwarg = function.args.kwarg
        uses = _uses(function, kwarg.arg) if kwarg is not None else []
        if not uses:
            return
        call = uses[0] if len(uses) == 1 else None
        self._calls += 1
        if isinstance(call, ast.Call) and self._calls <= MAX_CALLS:
            self._given.update(keyword.arg for keyword in call.keywords if keyword.arg)
            count = sum(not isinstance(argument, ast.Starred) for argument in call.args)
            match call.func:
                case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__") if bases is not None:
                    self._add_init(bases, foreign or [], module, call, count)
                    return
                case ast.Attribute(value=owner, attr="__init__"):
                    # jsonargparse counts `self`, which is given here, as the first parameter after it.
                    target = self._source.definition(module, owner)
                case called:
                    target = self._source.definition(module, called)
            if target is not None and isinstance(target[1], ast.ClassDef):
                self.add_class(target[0], target[1], count)
                return
            if target is not None and isinstance(target[1], Function):
                self.add(target[0], target[1], target[1].name, positional=count)
                return
        self._unread(name, module, function.lineno)

    def _unread(self, name: str, module: Module, line: int) -> None:
        sentence = _("{function} accepts further options, whose names only its code tells.", function=name)
        self._found.unread.append(UnreadOptions(sentence, line, self._source.path(module)))


def _uses(function: Function, name: str) -> list[ast.AST]:
    """Return the places that use ``**kwargs``: calls that pass it on whole, and other expressions."""
    nodes = [node for statement in function.body for node in descendants(statement)]
    passing = [
        node
        for node in nodes
        if isinstance(node, ast.Call)
        and any(keyword.arg is None and getattr(keyword.value, "id", None) == name for keyword in node.keywords)
    ]
    uses = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    return [*passing, *uses[len(passing) :]]


def without(parameters: list[Parameter], skipped: Collection[object]) -> list[Parameter]:
    """Return parameters without those of some names, or without as many of the first ones as a number tells.

    Parameters
    ----------
    parameters
        The parameters.
    skipped
        Names, or a single number.
    """
    first = next((one for one in skipped if isinstance(one, int)), 0)
    return [one for one in parameters[first:] if one.name not in skipped]
