"""A script with its modules: definitions of names through imports, values of expressions, and the script's run."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from .interpreter.module import Module
from .interpreter.modules import Modules
from .interpreter.parsers import Parser, Unnamed
from .interpreter.relevance import identifiers
from .interpreter.state import CallTooLong, OutOfBudget, State, Stop
from .interpreter.statements import Interpreter
from .interpreter.values import UNKNOWN, ClassValue, FunctionValue, Library, LibraryCall, Scope, Value

MAX_REDIRECTIONS: Final = 30


@dataclass
class Run:
    """Parsers, calls and decorators that the interpreter met while it followed the script.

    Attributes
    ----------
    parsers
        Parsers of argparse, in the order in which they were made.
    calls
        Calls of library functions whose last name is one of the families' words, and of methods of their results.
    decorated
        Functions and classes with decorators of libraries.
    lost
        Places that add options to a parser that is not known.
    stopped
        True if a limit of time or steps was reached.
    """

    parsers: list[Parser] = field(default_factory=list)
    calls: list[LibraryCall] = field(default_factory=list)
    decorated: list[FunctionValue | ClassValue] = field(default_factory=list)
    lost: list[Unnamed] = field(default_factory=list)
    stopped: bool = False


@dataclass(frozen=True)
class Definition:
    """The statement that defines a name.

    Attributes
    ----------
    module
        The module with the statement.
    node
        The function, class or assignment.
    """

    module: Module
    node: ast.stmt


class Program:
    """A script with the modules of the workspace that it imports. Nothing is imported or run.

    Parameters
    ----------
    root
        Folder of the workspace.
    script
        Path of the script.
    source
        Text of the script.
    tree
        Syntax tree of the script; None to parse the text.
    words
        Identifiers of the libraries whose calls are kept.
    around
        True to search also the folders around the script's own for packages of its project.

    Attributes
    ----------
    modules
        Search for modules.
    main
        The script's module.
    """

    def __init__(
        self,
        root: Path,
        script: Path,
        source: str,
        tree: ast.Module | None = None,
        words: frozenset[str] = frozenset(),
        *,
        around: bool = False,
    ) -> None:
        self.modules = Modules(root, script, source, tree, around=around)
        self.main = self.modules.main
        self._interpreter = Interpreter(State(), self.modules, words)

    @cached_property
    def run(self) -> Run:
        """The script as the interpreter followed it from its first statement on."""
        interpreter, run = self._interpreter, Run()
        try:
            # Most scripts without options are told by their words, and then nothing needs to be followed.
            # A script that extends the search for modules may import some that are not found yet.
            if interpreter.relevance.leads(self.main) or {"sys", "path"} <= self.main.words:
                interpreter.run(self.main)
                self._follow_more(interpreter)
        except (OutOfBudget, CallTooLong, RecursionError):
            run.stopped = True
        run.parsers, run.calls, run.decorated = interpreter.parsers, interpreter.calls, interpreter.decorated
        run.lost = interpreter.lost
        return run

    def _follow_more(self, interpreter: Interpreter) -> None:
        """Follow what the script's statements did not reach, as long as no option was found."""
        waiting = interpreter.waiting
        while waiting and not self._found(interpreter):
            interpreter.execute_module(waiting.pop(0))
        if self._found(interpreter) or self.main.tree is None:
            return
        # The script is started by other code, such as the entry point of a package.
        scope = interpreter.execute_module(self.main)
        used = identifiers(self.main.tree)
        functions = [value for value in scope.contents.values() if isinstance(value, FunctionValue)]
        starts = [value for value in functions if value.name == "main"]
        starts = starts or [value for value in functions if value.name not in used and value.module is self.main]
        for function in starts[:20]:
            if interpreter.relevance.relevant(function.node, function.module):
                self._start(interpreter, function)

    @staticmethod
    def _found(interpreter: Interpreter) -> bool:
        return any(not parser.is_empty for parser in interpreter.parsers) or bool(interpreter.calls or interpreter.lost)

    @staticmethod
    def _start(interpreter: Interpreter, function: FunctionValue) -> None:
        empty = ast.Call(func=ast.Name(id=function.name), args=[], keywords=[], lineno=1, col_offset=0)
        try:
            interpreter.invoke(function, None, {}, empty, Scope(function.module))
        except Stop:
            return

    def evaluate(self, module: Module, node: ast.expr) -> Value:
        """Return the value of an expression in a module's top level; UNKNOWN if only a run of the script tells it.

        Parameters
        ----------
        module
            The module; its statements are followed first.
        node
            The expression.
        """
        try:
            scope = self._interpreter.execute_module(module)
            return self._interpreter.need(node, scope)
        except (OutOfBudget, CallTooLong, Stop, RecursionError):
            return UNKNOWN

    def force(self, value: Value) -> Value:
        """Return a value after following the import or the call that gives it (`ImportedName`, `Deferred`)."""
        try:
            return self._interpreter.force(value)
        except (OutOfBudget, CallTooLong, Stop, RecursionError):
            return UNKNOWN

    def resolve(self, module: Module, name: str) -> Definition | Module | Library | None:
        """Return the definition of a name of a module's top level, followed through imports and re-exports.

        Parameters
        ----------
        module
            The module with the name.
        name
            The name, dotted for attributes of modules (``options.get_parser``).

        Returns
        -------
        definition
            Definition, or module of the workspace, or name of something that is not in the workspace; None if the
            module does not define the name.
        """
        found: Definition | Module | Library | None = module
        for part in name.split("."):
            if isinstance(found, Module):
                found = self._member(found, part, MAX_REDIRECTIONS)
            elif isinstance(found, Library):
                found = Library(f"{found.name}.{part}")
            else:
                return None
        return found

    def _member(self, module: Module, name: str, left: int) -> Definition | Module | Library | None:
        bound = module.bindings.get(name)
        if bound is None:
            return self.modules.submodule(module, name) or self._starred(module, name, left)
        if not isinstance(bound, ast.Import | ast.ImportFrom):
            return Definition(module, bound)
        alias = next(alias for alias in bound.names if name in (alias.asname, alias.name.partition(".")[0]))
        if isinstance(bound, ast.Import):
            whole = alias.name if alias.asname else alias.name.partition(".")[0]
            return self.modules.find(whole, module) or Library(whole)
        source = self.modules.find(bound.module or "", module, bound.level)
        if source is None:
            return Library(f"{bound.module}.{alias.name}") if not bound.level else None
        submodule = self.modules.named_submodule(source, alias.name, bound)
        if submodule is not None or not left or source is module:
            return submodule
        return self._member(source, alias.name, left - 1)

    def _starred(self, module: Module, name: str, left: int) -> Definition | Module | Library | None:
        """Return the definition of a name that ``from x import *`` binds."""
        for node in module.tree.body if module.tree and left else []:
            if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
                source = self.modules.find(node.module or "", module, node.level)
                found = self._member(source, name, left - 1) if source and source is not module else None
                if found is not None:
                    return found
        return None
