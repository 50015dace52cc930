"""Calls of libraries, and of code that is not followed."""

from __future__ import annotations

import ast
import os.path
from abc import abstractmethod
from typing import Final

from . import operators
from .expressions import Expressions
from .library import EXITS, HARMLESS, call_library
from .modules import Modules
from .parsers import (
    STRONG_WORDS,
    Action,
    Group,
    Parser,
    Subcommands,
    Unnamed,
    make_parser,
    set_attribute,
)
from .relevance import IMPORTERS, Relevance
from .state import State, Stop
from .values import (
    REST,
    UNKNOWN,
    BoundMethod,
    ClassValue,
    Either,
    FunctionValue,
    Instance,
    Library,
    LibraryCall,
    ListValue,
    Partial,
    PathText,
    Scope,
    Value,
)

_SEARCH_PATH: Final = frozenset({"sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir"})
PARSER_CLASSES: Final = ("ArgumentParser", "ArgParser", "HfArgumentParser", "TrlParser")
BASES_OF_PARSERS: Final = ("argparse.ArgumentParser", "configargparse.ArgumentParser", "configargparse.ArgParser")

Args = list[Value] | None
Kwargs = dict[Value, Value]


class LibraryCalls(Expressions):
    """Evaluates the calls of libraries that matter for options, and keeps those whose names lead to options.

    Parameters
    ----------
    state
        Heap, conditions and limits.
    modules
        Search for modules.
    words
        Identifiers that lead to options; the calls of library functions with these names are kept.

    Attributes
    ----------
    parsers
        All parsers, in the order in which they were made.
    calls
        Calls of library functions.
    lost
        Places that add options to a parser that is not known.
    """

    def __init__(self, state: State, modules: Modules, words: frozenset[str]) -> None:
        super().__init__(state, modules)
        self.relevance = Relevance(modules, words | STRONG_WORDS)
        self._kept = words
        self.parsers: list[Parser] = []
        self.calls: list[LibraryCall] = []
        self.lost: list[Unnamed] = []

    @abstractmethod
    def invoke(self, function: Value, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope) -> Value:
        """Return the result of a call with evaluated arguments; the parameters are those of `Calls.invoke`."""

    @abstractmethod
    def import_named(self, function: Library, args: Args, kwargs: Kwargs, scope: Scope) -> Value:
        """Return the module that a function imports by its name.

        Parameters
        ----------
        function
            The function, one of `IMPORTERS`.
        args, kwargs
            Evaluated arguments.
        scope
            Scope that contains the call.
        """

    def _leads(self, value: Value) -> bool:
        """Return True if a function that gets a value can add options with it."""
        match value:
            case Parser() | Group() | Subcommands() | Either() | BoundMethod(owner=Parser() | Group() | Subcommands()):
                return True
            case FunctionValue() | ClassValue():
                return self.relevance.relevant(value.node, value.module)
            case Instance(type=ClassValue() as type_):
                return any(
                    isinstance(base, ClassValue) and self.relevance.relevant(base.node, base.module)
                    for base in type_.lineage()
                ) or any(isinstance(held, Parser | Group) for held in value.contents.values())
            case Partial(function=function):
                return self._leads(function)
        return False

    def _library(self, function: Library, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope) -> Value:
        name = function.name
        if name in EXITS:
            raise Stop
        if name in _SEARCH_PATH:
            self.search(self.force(args[-1]) if args else UNKNOWN, first=name == "sys.path.insert")
            return None
        if function.last in IMPORTERS:
            return self.import_named(function, args, kwargs, scope)
        if name == "builtins.getattr" and args and len(args) >= 2 and isinstance(self.force(args[1]), str):
            return self.attribute(self.force(args[0]), self.force(args[1]))
        if name == "builtins.setattr" and args and len(args) == 3 and isinstance(self.force(args[1]), str):
            self.set_attribute(self.force(args[0]), self.force(args[1]), args[2])
            return None
        if function.last in PARSER_CLASSES and not name.startswith("builtins."):
            self._record(name, args, kwargs, node, scope)
            values = self._forced(args) if name in BASES_OF_PARSERS else []
            parser = make_parser(function, values, self._forced_all(kwargs), node, scope.module)
            self.parsers.append(parser)
            return parser
        if name == "functools.partial" and args:
            return Partial(self.force(args[0]), args[1:], kwargs)
        if name in ("builtins.map", "builtins.filter") and args and len(args) == 2:
            return self._map(name, args, node, scope)
        if name in ("os.getcwd", "pathlib.Path.cwd"):  # Jobs start in the folder of the script.
            return PathText(os.path.dirname(self.modules.main.path))  # noqa: PTH120
        if name == "argparse.Namespace":
            return Instance(function, dict(kwargs))
        if name in ("builtins.list", "builtins.tuple", "builtins.sorted", "builtins.set") and args:
            first = self.force(args[0])
            items = self.items(first) if isinstance(first, ClassValue) else None
            args = [ListValue.of(items), *args[1:]] if items is not None else args
        if args is not None and REST not in kwargs:
            result = call_library(name, self._forced(args, items=True), self._forced_all(kwargs))
            if result is not UNKNOWN:
                return result
        made = self._record(name, args, kwargs, node, scope)
        if name not in HARMLESS:
            self._passed(name, args, kwargs, node, scope)
        return made if made is not None else self._parser_of(function, args, node, scope)

    def _parser_of(self, function: Library, args: Args, node: ast.Call, scope: Scope) -> Value:
        """Return the parser that a library's function gives: one of its own, or the script's with more options."""
        last = function.last
        if last.startswith("add_"):
            given = [value for value in map(self.force, args or []) if isinstance(value, Parser)]
            return given[0] if len(given) == 1 else UNKNOWN
        if not last.endswith("parser") or not last.islower():
            return UNKNOWN
        parser = make_parser(function, [], {}, node, scope.module)
        parser.actions.append(Unnamed(node.lineno, scope.module, function.name, makes=True))
        self.parsers.append(parser)
        return parser

    def search(self, value: Value, *, first: bool) -> None:
        """Add folders to those in which Python searches for modules; `value` is a folder or a list of folders.

        Parameters
        ----------
        value
            A folder or a list of folders. Relative ones begin in the folder of the script.
        first
            True to search the folders before those that are known, False to search them after these.
        """
        for folder in [value] if isinstance(value, str) else operators.items_of(value) or []:
            if isinstance(folder, str) and folder:
                here = os.path.dirname(self.modules.main.path)  # noqa: PTH120
                self.modules.add_folder(os.path.normpath(os.path.join(here, folder)), first=first)  # noqa: PTH118

    def _map(self, name: str, args: list[Value], node: ast.Call, scope: Scope) -> Value:
        items = self.items(self.force(args[1]))
        if items is None or len(items) > 1000:
            return ListValue({"items": UNKNOWN})
        results = [self.force(self.invoke(self.force(args[0]), [item], {}, node, scope)) for item in items]
        if name == "builtins.map":
            return ListValue.of(results)
        kept = [operators.truth(result) for result in results]
        if None in kept:
            return ListValue({"items": UNKNOWN})
        return ListValue.of([item for item, keep in zip(items, kept, strict=True) if keep])

    def _record(
        self, name: str, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope, receiver: Value = None
    ) -> LibraryCall | None:
        """Keep the call of a library's function if a reader of options asked for its name."""
        if name.rpartition(".")[2] not in self._kept and not isinstance(receiver, LibraryCall):
            return None
        condition = self.state.condition
        made = LibraryCall(
            name,
            self._forced(args),
            self._forced_all(kwargs) | ({REST: None} if args is None else {}),
            node.lineno,
            scope.module,
            node,
            condition,
            receiver,
        )
        self.calls.append(made)
        return made

    def _passed(self, name: str, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope) -> None:
        """Follow the functions that unknown code gets, and note the parsers that it gets."""
        for value in map(self.force, [*(args or []), *kwargs.values()]):
            if isinstance(value, FunctionValue | Partial) and self._leads(value):
                self.invoke(value, None, {}, node, scope)
            for parser in (value,) if not isinstance(value, Either) else value.values:
                if isinstance(parser, Group):
                    parser = parser.parser
                if isinstance(parser, Parser):
                    function = name or ast.unparse(node.func)
                    parser.actions.append(Unnamed(node.lineno, scope.module, function.removeprefix("builtins.")))

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """Set an attribute of an instance, class, parser or module.

        Parameters
        ----------
        owner
            The object, or `Either` for one of several. Other values are ignored.
        name, value
            The attribute, and its new value.
        """
        for each in owner.values if isinstance(owner, Either) else (owner,):
            if isinstance(each, Parser | Action):
                set_attribute(each, name, self.force(value))
            if isinstance(each, Instance | ClassValue | Parser | Action | Group):
                self.state.heap.write(each, name, value)

    def _forced(self, args: Args, *, items: bool = False) -> list[Value]:
        values = [self.force(value) for value in args or []]
        for value in values if items else ():
            if isinstance(value, ListValue) and value.items is not None:
                value.contents["items"] = [self.force(item) for item in value.items]
        return values

    def _forced_all(self, kwargs: Kwargs) -> Kwargs:
        return {name: self.force(value) for name, value in kwargs.items()}
