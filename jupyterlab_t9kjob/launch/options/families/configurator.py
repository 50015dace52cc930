"""Options of scripts in nanoGPT's style: module globals that ``exec(open("configurator.py").read())`` overrides.

The values are given as ``--name=value``; see ``configurator.py`` of github.com/karpathy/nanoGPT.
"""

from __future__ import annotations

import ast
from pathlib import Path, PurePath

from ....core.translation import _
from ...model import ScriptOption
from ..declarations.building import as_text, kind_of_value
from ..declarations.parameters import trailing_comment
from ..declarations.source import Source
from ..interpreter.values import UNKNOWN
from ..model import Family, OptionsRead, UnreadOptions
from ..program import Program

WORDS = frozenset({"exec"})
MAX_BYTES = 64 * 1024


def read(program: Program) -> OptionsRead | None:
    """Return the globals that the script sets before it runs its configurator."""
    main = program.main
    if main.tree is None or "exec" not in main.words:
        return None
    source = Source(program)
    found: dict[str, ScriptOption] = {}
    for statement in main.tree.body:
        file = _executed(source, statement)
        if file is not None:
            text = _text(program, file)
            if text is not None and "globals()" in text and "argv" in text:
                return OptionsRead(list(found.values()))
            sentence = _("{script} runs {file}, which may read options.", script="", file=PurePath(file).name)
            return OptionsRead(unread=[UnreadOptions(sentence, statement.lineno)])
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=node)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as node)
            ) if not name.startswith("_"):
                option = _option(source, statement, name, node)
                if option is not None:
                    found[name] = option
    return None


def _executed(source: Source, statement: ast.stmt) -> str | None:
    """Return the file that a statement ``exec(open(file).read())`` runs."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="exec"), args=[inner, *_rest])):
            for node in ast.walk(inner):
                match node:
                    case ast.Call(func=ast.Name(id="open") | ast.Attribute(attr="Path") | ast.Name(id="Path")):
                        return source.string(source.main, node.args[0]) if node.args else None
    return None


def _text(program: Program, file: str) -> str | None:
    """Return the text of a file beside the script, or above it."""
    folder = Path(program.main.path).parent
    for place in (folder, *list(folder.parents)[:2]):
        try:
            path = place / file
            if program.modules.may_read(str(path)) and path.is_file():
                with path.open("rb") as opened:
                    return opened.read(MAX_BYTES).decode("utf-8", "replace")
        except (OSError, ValueError):
            return None
    return None


def _option(source: Source, statement: ast.stmt, name: str, node: ast.expr) -> ScriptOption | None:
    """Return the option of a global with a number, truth value or text; None for other globals."""
    value = source.value(source.main, node)
    if value is UNKNOWN and not isinstance(node, ast.IfExp | ast.BoolOp | ast.Compare | ast.JoinedStr | ast.BinOp):
        return None
    if value is not UNKNOWN and not isinstance(value, int | float | str):
        return None
    return ScriptOption(
        flags=[f"--{name}"],
        dest=name,
        kind=kind_of_value(value),
        default=as_text(value),
        help=trailing_comment(source.main, statement),
        syntax="equals",
        line=statement.lineno,
    )


FAMILY = Family("configurator.py", WORDS, read)
