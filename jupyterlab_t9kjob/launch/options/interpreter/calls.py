"""Calls of functions, classes and methods."""

from __future__ import annotations

import ast
from abc import abstractmethod
from typing import Final

from . import methods, operators
from .attributes import ENUMS
from .library_calls import BASES_OF_PARSERS, PARSER_CLASSES, Args, Kwargs, LibraryCalls
from .parsers import (
    Group,
    Parser,
    ParserCall,
    Subcommands,
    Unnamed,
    configure,
    make_parser,
)
from .relevance import is_generator
from .state import MAX_DEPTH, CallTooLong, Stop, join
from .values import (
    REST,
    UNKNOWN,
    BoundMethod,
    ClassValue,
    Deferred,
    DictValue,
    Either,
    FunctionValue,
    Instance,
    Library,
    LibraryCall,
    ListValue,
    Partial,
    Scope,
    SuperValue,
    Value,
)

SHORT_CALL: Final = 3000
"""Steps for a call that leads to no option, but that may change a list or dict."""


class Calls(LibraryCalls):
    """Evaluates expressions with calls, see `LibraryCalls`."""

    @abstractmethod
    def execute(self, body: list[ast.stmt], scope: Scope) -> str:
        """Follow statements and return how they end.

        Parameters
        ----------
        body, scope
            The statements, and the scope whose names they bind.

        Returns
        -------
        str
            ``next``, ``return``, ``break``, ``continue``, or ``stop`` if the program ends.
        """

    @abstractmethod
    def subclasses(self, owner: ClassValue) -> Value:
        """Return the classes that derive from a class."""

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """Return the result of a call, which is put off if it leads to no option.

        Parameters
        ----------
        node, scope
            The call, and the scope in which its arguments are evaluated.
        """
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return self._super(node, scope)
        function = self.evaluate(node.func, scope)
        args: Args = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                more = self.items(self.need(argument.value, scope))
                args = None if more is None or args is None else [*args, *more]
            else:
                value = self.evaluate(argument, scope)
                args = None if args is None else [*args, value]
        kwargs: Kwargs = {}
        for keyword in node.keywords:
            if keyword.arg is not None:
                kwargs[keyword.arg] = self.evaluate(keyword.value, scope)
                continue
            more = self.need(keyword.value, scope)
            kwargs |= more.contents if isinstance(more, DictValue) else {REST: None}
        function = self.force(function)
        if isinstance(function, FunctionValue) and args is not None and not self._matters(function, args, kwargs):
            return Deferred(function, args, kwargs, node, scope)
        return self.invoke(function, args, kwargs, node, scope)

    def _matters(self, function: FunctionValue | ClassValue, args: Args, kwargs: Kwargs) -> bool:
        """Return True if a call may lead to options or change a value of the caller or of a module."""
        if self.relevance.relevant(function.node, function.module):
            return True
        if self.relevance.fills(function.node, function.module):
            return True
        values = [*(args or []), *kwargs.values(), *getattr(function, "bound", ())]
        return any(isinstance(value, ListValue | DictValue) or self._leads(value) for value in values)

    def invoke(self, function: Value, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope) -> Value:
        """Return the result of a call with evaluated arguments; `args` is None if they are not all known.

        Parameters
        ----------
        function
            What is called. Code that is not known gets its arguments, but is not followed.
        args
            Positional arguments; None if they are not all known.
        kwargs
            Keyword arguments. The key `REST` stands for others that are not known.
        node, scope
            The call in the program, and its scope.

        Raises
        ------
        Stop
            If the call ends the program.
        """
        match function:
            case FunctionValue():
                return self._function(function, args, kwargs)
            case ClassValue():
                return self._instantiate(function, args, kwargs, node, scope)
            case Library():
                return self._library(function, args, kwargs, node, scope)
            case BoundMethod():
                return self._method(function, args, kwargs, node, scope)
            case Partial():
                merged = None if args is None else [*function.args, *args]
                return self.invoke(function.function, merged, function.kwargs | kwargs, node, scope)
            case Either(values=values):
                return join([self.invoke(each, args, kwargs, node, scope) for each in values])
            case Instance(type=ClassValue()) | Parser(type=ClassValue()):
                method = self.attribute(function, "__call__")
                if isinstance(method, FunctionValue):
                    return self.invoke(method, args, kwargs, node, scope)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            self.lost.append(Unnamed(node.lineno, scope.module))
        self._passed("", args, kwargs, node, scope)
        return UNKNOWN

    def _function(self, function: FunctionValue, args: Args, kwargs: Kwargs) -> Value:
        state = self.state
        state.step()
        if state.depth >= MAX_DEPTH:
            return UNKNOWN
        inner = Scope(function.module, function.scope, function.owner)
        self._bind(function, args, kwargs, inner)
        if isinstance(function.node, ast.Lambda):
            return self.evaluate(function.node.body, inner)
        state.depth += 1
        try:
            if self._relevant(function) or any(map(self._leads, [*(args or []), *kwargs.values()])):
                end = self.execute(function.node.body, inner)
            else:
                with state.limited(SHORT_CALL):
                    end = self.execute(function.node.body, inner)
        except RecursionError:
            return UNKNOWN
        except CallTooLong:
            for value in [*(args or []), *kwargs.values()]:
                methods.havoc(state.heap, value)
            return UNKNOWN
        finally:
            state.depth -= 1
        generator = is_generator(function.node)
        if generator or isinstance(function.node, ast.AsyncFunctionDef):
            return join(inner.returns) if inner.returns and not generator else UNKNOWN
        if end != "return":
            inner.returns.append(None)
        return join(inner.returns)

    def _relevant(self, function: FunctionValue) -> bool:
        if self.relevance.relevant(function.node, function.module):
            return True
        return any(self._leads(value) for value in function.bound)

    def _bind(self, function: FunctionValue, args: Args, kwargs: Kwargs, scope: Scope) -> None:
        """Give the parameters of a function their values."""
        parameters, contents = function.node.args, scope.contents
        names = [arg.arg for arg in (*parameters.posonlyargs, *parameters.args)]
        known = [*function.bound, *(args or [])]
        named = [*names, *(arg.arg for arg in parameters.kwonlyargs)]
        certain = args is not None and REST not in kwargs
        for name in named:
            contents[name] = function.defaults.get(name, UNKNOWN) if certain else UNKNOWN
        contents.update(zip(names, known, strict=False))
        contents.update((name, value) for name, value in kwargs.items() if name in named)
        if parameters.vararg:
            contents[parameters.vararg.arg] = tuple(known[len(names) :]) if args is not None else UNKNOWN
        if parameters.kwarg:
            others = {name: value for name, value in kwargs.items() if name not in named}
            contents[parameters.kwarg.arg] = DictValue(others)

    def _instantiate(self, type_: ClassValue, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope) -> Value:
        if type_.derives(*ENUMS) and args and len(args) == 1:
            wanted = self.force(args[0])
            return next((member for _, member in self.members(type_) if operators.equal(member.value, wanted)), UNKNOWN)
        library = next((base for base in type_.lineage() if isinstance(base, Library)), None)
        parser = library is not None and (library.name in BASES_OF_PARSERS or library.last in PARSER_CLASSES)
        made: Value = Instance(type_) if not parser else make_parser(type_, [], {}, node, scope.module)
        if parser:
            self.parsers.append(made)
        init = self._member(type_, "__init__")
        if isinstance(init, FunctionValue):
            method = self.attribute(made, "__init__")
            self.invoke(method, args, kwargs, node, scope)
        elif parser:
            configure(made, self._forced(args), self._forced_all(kwargs))
        if library is not None and not parser:
            self._record(library.name, args, kwargs, node, scope, type_)
        return made

    def _method(self, function: BoundMethod, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope) -> Value:
        owner, name = function.owner, function.name
        if isinstance(owner, ClassValue):
            return self.subclasses(owner)
        if isinstance(owner, SuperValue):
            return self._super_method(owner, name, args, kwargs, node, scope)
        if isinstance(owner, Parser | Group | Subcommands):
            forced = None if args is None else self._forced(args)
            kwargs = self._forced_all(kwargs)
            if name == "add_argument" and kwargs.get("help") is UNKNOWN:
                written = next((keyword.value for keyword in node.keywords if keyword.arg == "help"), None)
                kwargs["help"] = self.text(written, scope) if written is not None else None
            if name == "error" or name == "exit":
                raise Stop
            self._record_parser_method(owner, name, args, kwargs, node, scope)
            if isinstance(owner, Parser) and name == "__init__":
                configure(owner, forced or [], self._forced_all(kwargs))
                return None
            return ParserCall(self.state, node, scope.module, forced, self._forced_all(kwargs)).run(owner, name)
        if isinstance(owner, LibraryCall | FunctionValue):
            return self._record(name, args, kwargs, node, scope, owner) or UNKNOWN
        if args is None:
            methods.havoc(self.state.heap, owner)
            return UNKNOWN
        if isinstance(owner, ListValue):
            return methods.list_method(self.state.heap, owner, name, [self.force(value) for value in args])
        if isinstance(owner, DictValue):
            values = [*map(self.force, args)]
            return methods.dict_method(self.state.heap, owner, name, values, self._forced_all(kwargs))
        if isinstance(owner, str):
            return methods.string_method(owner, name, self._forced(args, items=True), self._forced_all(kwargs))
        return UNKNOWN

    def _record_parser_method(
        self, owner: Value, name: str, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope
    ) -> None:
        """Keep a call such as ``parser.parse_args_into_dataclasses()`` of a library that extends argparse."""
        if name in self._kept:
            self._record(name, args, kwargs, node, scope, owner)

    def _super(self, node: ast.Call, scope: Scope) -> Value:
        at: Scope | None = scope
        while at is not None and (at.owner is None or at.is_class):
            at = at.parent
        if at is None or at.owner is None:
            return UNKNOWN
        names = list(at.contents)
        return SuperValue(at.owner, at.contents[names[0]]) if names else UNKNOWN

    def _super_method(
        self, owner: SuperValue, name: str, args: Args, kwargs: Kwargs, node: ast.Call, scope: Scope
    ) -> Value:
        if isinstance(owner.bound, Parser):
            return self._method(BoundMethod(owner.bound, name), args, kwargs, node, scope)
        return UNKNOWN
