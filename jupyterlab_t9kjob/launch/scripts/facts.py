"""Facts about a module, read from its text: imports, search paths, starts of processes, readers of options."""

from __future__ import annotations

import ast
import os.path
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..options.texts import dotted
from .launchers import STARTS_PROGRAMS, find_launcher, runs_launcher, scripts_run, starts_ranks
from .observed import Observed
from .packages import OPTION_READERS, OWN_LAUNCHERS
from .path_expressions import PathExpressions
from .tree_walk import Context, Nodes, full_name, names_in, wrapper_types

IMPORTS_ANYTHING: Final = frozenset(
    (
        *("importlib.import_module", "__import__", "exec", "eval", "runpy.run_path", "runpy.run_module"),
        *("importlib.util.spec_from_file_location", "torch.hub.load", "pkgutil.iter_modules", "compile"),
        "_t9kjob.run_file",
    )
)
IN_POOLS: Final = frozenset(
    (
        *("map", "starmap", "imap", "imap_unordered", "map_async", "starmap_async", "apply", "apply_async"),
        "submit",
    )
)
"""Methods by which a pool of processes calls a function."""
RUNS_TEXT: Final = frozenset({"exec", "eval", "compile"})
"""Functions that run code which is rarely an import: an expression, or the text of a configuration."""
BY_NAME: Final = frozenset(
    {"hydra.utils.instantiate", "hydra.utils.call", "hydra.utils.get_class", "hydra.utils.get_method"}
)
"""Functions that import what a configuration names."""
PER_RANK: Final = re.compile(r"rank|world_?size|gpus?$|nprocs?$", re.IGNORECASE)


class Import(NamedTuple):
    """One import; `names` is empty for a plain ``import module``."""

    line: int
    level: int
    module: str
    names: tuple[str, ...]
    guarded: bool


class Place(NamedTuple):
    """A call or another expression of interest.

    Attributes
    ----------
    line
        Number of its line, from 1.
    what
        Name of the function, library or file that is used.
    inside
        Top-level function or class that contains it; None if it is outside of all.
    function
        Innermost function that contains it.
    main
        True if it runs only if the module is run as a script.
    """

    line: int
    what: str
    inside: str | None = None
    function: str | None = None
    main: bool = False


class Use(NamedTuple):
    """An identifier that code reads.

    Attributes
    ----------
    name
        The identifier; of an attribute, its last part.
    root
        First name of the object whose attribute it is; None for a plain name.
    main
        True if the code runs only if the module is run as a script.
    """

    name: str
    root: str | None
    main: bool


@dataclass
class Facts:
    """Facts about a module.

    Attributes
    ----------
    names
        Identifiers that the module uses, each by its last part.
    imports
        Imports, without those for type checkers only.
    folders
        Folders that the module adds to `sys.path`.
    opaque
        True if the module may import or start something that its text does not tell.
    loads
        Calls that may import modules that the text does not tell.
    launches
        Calls that start the training's processes.
    readers
        Uses of libraries other than argparse that read the command line.
    parsers
        Calls that add options to an argparse parser.
    lends
        Calls to which the module passes its parser, by the name of the called function.
    parses
        Lines that parse the command line.
    given
        Lines that parse a list of constants instead of the command line.
    ipython
        Lines that call `get_ipython` without an import and without a handler for its absence.
    shell
        Lines that use the result of `get_ipython`, which is None without IPython.
    executes
        Files that the module runs by ``exec``.
    references
        Identifiers that each top-level function and class uses; None stands for the code outside of them.
    uses
        Identifiers that each top-level function and class reads, without imports; None stands for the other code.
    definitions
        Names of the top-level functions and classes.
    imported
        Names that imports bind, each with the name in its module; ``*`` if an import binds all names.
    package
        True if the module sets ``__package__``, so that relative imports work when it is run as a script.
    runs
        Scripts that a notebook runs, by their paths relative to its folder.
    training
        Facts that tell how the module trains.
    """

    names: set[str] = field(default_factory=set)
    imports: list[Import] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    opaque: bool = False
    loads: list[Place] = field(default_factory=list)
    launches: list[Place] = field(default_factory=list)
    readers: list[Place] = field(default_factory=list)
    parsers: list[Place] = field(default_factory=list)
    lends: list[Place] = field(default_factory=list)
    parses: list[int] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    ipython: list[int] = field(default_factory=list)
    shell: list[int] = field(default_factory=list)
    executes: list[Place] = field(default_factory=list)
    references: dict[str | None, set[str]] = field(default_factory=dict)
    uses: dict[str | None, set[Use]] = field(default_factory=dict)
    definitions: set[str] = field(default_factory=set)
    imported: dict[str, str] = field(default_factory=dict)
    package: bool = False
    runs: list[Place] = field(default_factory=list)
    training: Observed = field(default_factory=Observed)

    @property
    def relative(self) -> Import | None:
        """The first import that works only in a package; None if there is none."""
        unguarded = [found for found in self.imports if found.level and not found.guarded]
        return min(unguarded, default=None)

    def refers(self, name: str) -> bool:
        """Return True if code outside a function or class uses its name."""
        return any(name in used for inside, used in self.references.items() if inside != name)


def read_facts(nodes: Nodes, path: str) -> Facts:
    """Return the facts about a module.

    Parameters
    ----------
    nodes
        Nodes of the module's syntax tree, from `walk`.
    path
        Path of the module, the value of ``__file__``.
    """
    return _Reading(nodes, path).read()


class _Reading:
    def __init__(self, nodes: Nodes, path: str) -> None:
        self._nodes = nodes
        self._facts = Facts()
        self._aliases: dict[str, str] = {}
        self._assigned: dict[str, ast.expr] = {}
        self._parsers: set[str] = set()
        self._paths = PathExpressions(path, self._assigned)
        self._starts_programs: list[tuple[ast.Call, Context]] = []
        self._processes: list[Place] = []

    def read(self) -> Facts:
        nodes, facts = self._nodes, self._facts
        self._names()
        imports: list[tuple[ast.Import | ast.ImportFrom, Context]] = [*nodes.of(ast.Import), *nodes.of(ast.ImportFrom)]
        for imported, context in imports:
            self._import(imported, context)
        for assigned, _ in sorted(nodes.of(ast.Assign), key=lambda found: found[0].lineno):
            self._assign(assigned)
        for augmented, _ in nodes.of(ast.AugAssign):
            if full_name(augmented.target, self._aliases) == "sys.path":
                self._add(augmented.value)
        for subscript, context in nodes.of(ast.Subscript):
            self._subscript(subscript, context)
        functions: list[tuple[ast.FunctionDef | ast.AsyncFunctionDef, Context]] = [
            *nodes.of(ast.FunctionDef),
            *nodes.of(ast.AsyncFunctionDef),
        ]
        facts.definitions.update(node.name for node, context in functions if context.inside is None)
        facts.definitions.update(node.name for node, context in nodes.of(ast.ClassDef) if context.inside is None)
        for defined, context in functions:
            for decorator in defined.decorator_list:
                if not isinstance(decorator, ast.Call):
                    self._reader(full_name(decorator, self._aliases), decorator, context)
        for class_, context in nodes.of(ast.ClassDef):
            for base in class_.bases:
                self._reader(full_name(base, self._aliases), base, context)
        for call, context in nodes.of(ast.Call):
            self._call(call, context)
        if self._starts_programs:
            facts.opaque = True
            programs = self._starts_programs
            found = find_launcher(nodes, programs, self._assigned) or starts_ranks(nodes, programs)
            if found is not None:
                facts.launches.append(Place(found[0], "a launcher", *found[1][:3]))
        facts.launches += self._processes
        for places in (facts.launches, facts.readers, facts.parsers, facts.lends, facts.executes):
            places.sort(key=lambda place: place.line)
        facts.imports.sort()
        facts.names.update(*facts.references.values())
        return facts

    def _names(self) -> None:
        used, uses = defaultdict[str | None, set[str]](set), defaultdict[str | None, set[Use]](set)
        tested = wrapper_types(self._nodes)
        read: defaultdict[tuple[str | None, bool], set[str]] = defaultdict(set)
        for name, context in self._nodes.of(ast.Name):
            used[context.inside].add(name.id)
            known = read[context.inside, context.main]
            if name.id not in known and type(name.ctx) is ast.Load and id(name) not in tested:
                known.add(name.id)
                uses[context.inside].add(Use(name.id, None, context.main))
            if name.id == "__package__" and isinstance(name.ctx, ast.Store):
                self._facts.package = True
        for attribute, context in self._nodes.of(ast.Attribute):
            used[context.inside].add(attribute.attr)
            root = dotted(attribute)
            if id(attribute) not in tested:
                uses[context.inside].add(Use(attribute.attr, root.partition(".")[0] if root else "", context.main))
            of_call = isinstance(attribute.value, ast.Call) and _last(attribute.value.func) == "get_ipython"
            if of_call and not context.guarded:
                self._facts.shell.append(attribute.lineno)
        self._facts.references, self._facts.uses = used, uses

    def _import(self, node: ast.Import | ast.ImportFrom, context: Context) -> None:
        facts, used = self._facts, self._facts.references.setdefault(context.inside, set())
        if isinstance(node, ast.Import):
            for alias in node.names:
                used.add(alias.name.rpartition(".")[2])
                facts.imported[alias.asname or alias.name.partition(".")[0]] = alias.name
                facts.imports.append(Import(node.lineno, 0, alias.name, (), context.guarded))
                if alias.asname:
                    self._aliases[alias.asname] = alias.name
            return
        names = tuple(alias.name for alias in node.names)
        used.update(names)
        facts.imported.update({alias.asname or alias.name: alias.name for alias in node.names})
        facts.imports.append(Import(node.lineno, node.level, node.module or "", names, context.guarded))
        if not node.level:
            self._aliases.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            self._assigned.setdefault(name, value)
            if isinstance(value, ast.Call) and _last(value.func) == "ArgumentParser":
                self._parsers.add(name)
            elif isinstance(value, ast.Attribute) and name not in self._aliases:
                dotted = full_name(value, self._aliases)  # launch = torch.multiprocessing.spawn
                if dotted in OWN_LAUNCHERS:
                    self._aliases[name] = dotted

    def _subscript(self, node: ast.Subscript, context: Context) -> None:
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if not first and full_name(node.value, self._aliases) == "sys.argv":
            self._facts.readers.append(Place(node.lineno, "sys.argv", *context[:3]))

    def _call(self, node: ast.Call, context: Context) -> None:
        facts, called = self._facts, full_name(node.func, self._aliases)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in ("parse_args", "parse_known_args", "parse_args_into_dataclasses", "parse_intermixed_args"):
            (facts.given if _literal_words(node) else facts.parses).append(node.lineno)
        elif method in IN_POOLS and node.args and isinstance(node.args[0], ast.Name):
            if self._starts_group(node.args[0].id):
                facts.launches.append(Place(node.lineno, "a process pool", *context[:3]))
        elif method not in ("add_argument", "set_defaults") and any(
            getattr(argument, "id", None) in self._parsers for argument in _arguments(node)
        ):
            facts.lends.append(Place(node.lineno, called or method or "a function", *context[:3]))
        if called is None:
            if isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
                facts.parsers.append(Place(node.lineno, "argparse", *context[:3]))
            return
        last = called.rpartition(".")[2]
        if called == "get_ipython" and not context.guarded:
            facts.ipython.append(node.lineno)  # An imported `get_ipython` has a longer dotted name; it returns None.
        facts.runs += [Place(node.lineno, path, *context[:3]) for path in scripts_run(called, node)]
        if called in OWN_LAUNCHERS:
            facts.launches.append(Place(node.lineno, OWN_LAUNCHERS[called], *context[:3]))
        elif last == "Process" and context.loop and any(map(self._is_rank, _arguments(node))):
            self._processes.append(Place(node.lineno, "Process", *context[:3]))
        elif called in STARTS_PROGRAMS:
            self._starts_programs.append((node, context))
        elif runs_launcher(called, node):
            facts.opaque = True
            facts.launches.append(Place(node.lineno, "a launcher", *context[:3]))
        elif called in IMPORTS_ANYTHING:
            facts.opaque = True
            if called not in RUNS_TEXT:
                facts.loads.append(Place(node.lineno, called, *context[:3]))
            file = _opened(node) if called == "exec" else None
            if file is not None:
                facts.executes.append(Place(node.lineno, file, *context[:3]))
        elif called in BY_NAME:
            facts.loads.append(Place(node.lineno, called, *context[:3]))
        elif called in ("sys.path.insert", "sys.path.append", "sys.path.extend", "site.addsitedir") and node.args:
            self._add(node.args[-1])
        elif last == "add_argument":
            facts.parsers.append(Place(node.lineno, "argparse", *context[:3]))
        self._reader(called, node, context)

    def _reader(self, called: str | None, node: ast.expr, context: Context) -> None:
        if called is None:
            return
        known = OPTION_READERS.get(called)
        if known is None and called.startswith(("absl.flags.DEFINE", "click.option", "typer.Option")):
            known = OPTION_READERS.get(called.rpartition(".")[0], called.partition(".")[0])
        if known is not None:
            self._facts.readers.append(Place(node.lineno, known, *context[:3]))

    def _is_rank(self, argument: ast.expr) -> bool:
        """Return True if an argument of a process has to do with its rank, or starts the process group."""
        starts = isinstance(argument, ast.Name) and self._starts_group(argument.id)
        return starts or any(PER_RANK.search(name) for name in names_in(argument))

    def _starts_group(self, function: str) -> bool:
        """Return True if a function of the module, or a function that it names, starts a process group."""
        used = self._facts.references
        names = used.get(function, set())
        return any("init_process_group" in used.get(name, set()) for name in (function, *names))

    def _add(self, node: ast.expr) -> None:
        """Note a folder, or a list of folders, that the module adds to `sys.path`."""
        for item in node.elts if isinstance(node, ast.List | ast.Tuple) else [node]:
            folder = self._paths.folder(item)
            if folder is None:
                self._facts.opaque = True
            else:
                self._facts.folders.append(os.path.normpath(folder))


def _last(node: ast.expr) -> str | None:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)


def _arguments(node: ast.Call) -> Iterable[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _literal_words(node: ast.Call) -> bool:
    """Return True for calls such as ``parse_args([])``, which parse constants instead of the command line."""
    given = next(iter(node.args), next((key.value for key in node.keywords if key.arg == "args"), None))
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "split":
        given = given.func.value if isinstance(given.func.value, ast.Constant) else next(iter(given.args), None)
    if isinstance(given, ast.List | ast.Tuple):
        return all(isinstance(item, ast.Constant) for item in given.elts)
    return isinstance(given, ast.Constant) and isinstance(given.value, str)


def _opened(node: ast.Call) -> str | None:
    """Return the file that ``exec(open("…").read())`` runs."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and part is not node and part.args:
            first = part.args[0]
            if names_in(part.func) & {"open", "Path"} and isinstance(first, ast.Constant):
                return first.value if isinstance(first.value, str) else None
    return None
