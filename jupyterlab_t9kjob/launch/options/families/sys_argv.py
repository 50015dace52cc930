"""Arguments that a script takes from ``sys.argv`` by itself."""

from __future__ import annotations

import ast

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import OptionKind, as_text
from ..declarations.scopes import in_order
from ..declarations.source import Source
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program
from ..texts import dotted

WORDS = frozenset({"argv"})
OTHERS = frozenset(
    (
        *("ArgumentParser", "HfArgumentParser", "TrlParser", "Fire", "LightningCLI", "jsonargparse", "tyro", "click"),
        *(
            "typer",
            "simple_parsing",
            "hydra",
            "OmegaConf",
            "parse_args",
            "docopt",
            "configargparse",
            "absl",
            "add_argument",
        ),
    )
)
"""Words of libraries that read the command line; beside them, ``sys.argv`` is looked at for other purposes."""


def read(program: Program) -> OptionsRead | None:
    """Return the positional arguments that the script takes by their index."""
    main = program.main
    source = Source(program)
    if not OTHERS.isdisjoint(main.words) or "argv" not in main.words or main.tree is None:
        return None
    result = OptionsRead()
    found: dict[int, ScriptOption] = {}
    parents = {child: node for node in in_order(main.tree) for child in ast.iter_child_nodes(node)}
    used = False
    for node in in_order(main.tree):
        if not isinstance(node, ast.Attribute | ast.Name) or source.library(main, node) != "sys.argv":
            continue
        used = True
        parent = parents.get(node)
        names = _unpacked(parents, node)
        if names is not None:
            for index, name in names:
                found.setdefault(index, _option(name, "text", node.lineno))
            continue
        taken = _index(parent) if isinstance(parent, ast.Subscript) else None
        if isinstance(parent, ast.Subscript) and taken is not None:
            if taken > 0:
                found.setdefault(taken, _taken(source, parents, parent, taken))
        elif not _is_harmless(parents, node):
            sentence = _("{script} reads its command line by itself (sys.argv).", script="")
            result.unread.append(UnreadOptions(sentence, node.lineno))
    _add_conversions(main.tree, found)
    result.options = [option for _index, option in sorted(found.items())]
    if result.options and sorted(found) != list(range(1, len(found) + 1)):
        result.options = []
        sentence = _("{script} reads its command line by itself (sys.argv).", script="")
        result.unread.append(UnreadOptions(sentence, 1))
    result.unread = [] if result.options else result.unread[:1]
    return result if used else None


def _option(
    name: str, kind: OptionKind, line: int, default: str | None = None, *, required: bool = True
) -> ScriptOption:
    return ScriptOption(flags=[], dest=name, kind=kind, default=default, required=required, line=line)


def _index(node: ast.Subscript) -> int | None:
    match node.slice:
        case ast.Constant(value=int() as index):
            return index
    return None


def _unpacked(parents: dict[ast.AST, ast.AST], node: ast.AST) -> list[tuple[int, str]] | None:
    """Return indices and names of ``_, a, b = sys.argv`` or ``a, b = sys.argv[1:]``; None for other uses."""
    first = 0
    parent = parents.get(node)
    if isinstance(parent, ast.Subscript) and isinstance(parent.slice, ast.Slice):
        match parent.slice.lower:
            case ast.Constant(value=int() as first):
                node, parent = parent, parents.get(parent)
    match parent:
        case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)]) if parent.value is node:
            pairs = [(first + i, name.id) for i, name in enumerate(names) if isinstance(name, ast.Name)]
            return [(index, name) for index, name in pairs if index] if len(pairs) == len(names) else None
    return None


def _taken(source: Source, parents: dict[ast.AST, ast.AST], node: ast.Subscript, index: int) -> ScriptOption:
    """Return the argument of ``name = int(sys.argv[index]) if … else default``."""
    kind: OptionKind = "text"
    default: str | None = None
    required = True
    name = f"argument {index}"
    value: ast.AST = node
    parent = parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.Call) and value in parent.args and dotted(parent.func) in ("int", "float"):
            kind = "int" if dotted(parent.func) == "int" else "float"
        if isinstance(parent, ast.IfExp) and value is parent.body:
            default, required = as_text(source.value(source.main, parent.orelse)), False
        elif isinstance(parent, ast.IfExp) and value is parent.orelse:
            default, required = as_text(source.value(source.main, parent.body)), False
        value, parent = parent, parents.get(parent)
    match parent:
        case ast.Assign(targets=[ast.Name(id=name)]):
            pass
    if isinstance(parents.get(parent) if parent else None, ast.If):
        required = False
    return _option(name, kind, node.lineno, default, required=required)


def _is_harmless(parents: dict[ast.AST, ast.AST], node: ast.AST) -> bool:
    """Return True for uses that take no argument: ``len(sys.argv)``, ``" ".join(sys.argv)``, printing."""
    parent = parents.get(node)
    if isinstance(parent, ast.Call):
        return (dotted(parent.func) or "").rpartition(".")[2] in ("len", "print", "join", "info", "")
    return isinstance(parent, ast.FormattedValue)


def _add_conversions(tree: ast.Module, found: dict[int, ScriptOption]) -> None:
    """Set the kinds of arguments that are converted later: ``epochs = int(epochs)``."""
    by_name = {option.dest: option for option in found.values()}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="int" | "float" as converter), args=[ast.Name(id=argument)]),
            ) if name == argument and name in by_name:
                by_name[name].kind = "int" if converter == "int" else "float"


FAMILY = Family("sys.argv", WORDS, read)
