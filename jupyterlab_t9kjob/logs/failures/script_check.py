"""Check of a script's source: which of the errors in its log can have ended it.

In a log, a traceback that ended the process looks like one that was caught and printed, and the text of
``sys.exit("text")`` looks like any other last line. The source tells them apart if it has not changed since the run.
The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

Verdict = Literal["uncaught", "ends", "goes on"]
"""Fate of an exception: no handler catches it; its handler ends the process; its handler continues."""

_MOST_BYTES: Final = 1024 * 1024
_EXITS: Final = frozenset({"exit", "_exit", "quit", "abort", "SystemExit"})
_LEAST_TEXT: Final = 4
_LONGEST_TEXT: Final = 16 * 1024
_EXIT_PREFIXES: Final = {"exit": "", "quit": "", "SystemExit": "", "ClickException": "Error: "}
"""Calls that end a process with a text, and the prefix that is printed before the text."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_Scope = ast.FunctionDef | ast.AsyncFunctionDef


class ScriptCheck:
    """Sources of the files that one run of a script executed.

    Parameters
    ----------
    script
        Absolute path of the script; None if the run has none.
    started_at
        When the run began, in seconds since the epoch. A source that was changed later is ignored.
    here
        Returns this machine's path of a file that the run's log names; None if the file is not on this machine.
    """

    def __init__(
        self, script: str | None, started_at: float, *, here: Callable[[str], str | None] = lambda file: file
    ) -> None:
        self._script = script
        self._started_at = started_at
        self._here = here

    def verdict(self, frames: Sequence[dict[str, Any]], error: str) -> Verdict | None:
        """Return the fate of an exception; None if the source does not tell.

        Parameters
        ----------
        frames
            Frames of the exception's traceback, outermost first.
        error
            Last line of the traceback, “ValueError: bad sample”.
        """
        frame = next((frame for frame in frames if not frame["file"].startswith("<frozen ")), None)
        tree = self._tree(frame["file"]) if frame is not None else None
        if frame is None or tree is None:
            return None
        handled = _handled(tree, frame["line"], error.partition(":")[0])
        if handled == "uncaught" and frame["function"] != "<module>":
            return None  # A caller of this function printed the traceback, so that caller caught the exception.
        return handled

    def exits_with(self, text: str) -> bool:
        """Return True if the script has a call, such as ``sys.exit``, that ends the process with this text."""
        tree = self._tree(self._script) if self._script is not None else None
        if tree is None or len(text) > _LONGEST_TEXT:
            return False
        return any(_consists_of(text, pieces) for pieces in _exit_texts(tree))

    def _tree(self, file: str) -> ast.Module | None:
        path = self._here(file)
        if path is None:
            return None
        try:
            status = os.stat(path)  # noqa: PTH116
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES or status.st_mtime > self._started_at:
                return None
            return _parsed(path, status.st_mtime_ns)
        except (OSError, ValueError, SyntaxError, RecursionError, MemoryError):
            return None


@lru_cache(maxsize=4)
def _parsed(path: str, _modified: int) -> ast.Module:
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        return ast.parse(file.read(_MOST_BYTES))


def _handled(tree: ast.Module, line: int, error: str) -> Verdict | None:
    """Return what the innermost handler around a line does with an error.

    Parameters
    ----------
    tree
        The source.
    line
        Number of the line, from 1.
    error
        Name of the exception's class.
    """
    around: list[ast.stmt] = []
    body: Sequence[ast.stmt] = tree.body
    while True:
        inner = next((stmt for stmt in body if stmt.lineno <= line <= (stmt.end_lineno or stmt.lineno)), None)
        if inner is None:
            break
        if isinstance(inner, _Scope | ast.ClassDef) and line > inner.lineno:
            around = [] if isinstance(inner, _Scope) else around
        else:
            around.append(inner)
        body = list(_statements(inner))
    for statement in reversed(around):
        if isinstance(statement, ast.With | ast.AsyncWith):
            return None  # The context manager may suppress the exception.
        if isinstance(statement, ast.Try) and _spans(statement.body, line):
            handlers = [handler for handler in statement.handlers if _catches(handler, error)]
            if handlers:
                return _outcome(handlers)
    return "uncaught"


def _outcome(handlers: Sequence[ast.ExceptHandler]) -> Verdict | None:
    ends = {_ends(handler) for handler in handlers}
    return None if len(ends) > 1 else "ends" if ends.pop() else "goes on"


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    for _field, value in ast.iter_fields(statement):
        for node in value if isinstance(value, list) else [value]:
            if isinstance(node, ast.stmt):
                yield node
            elif isinstance(node, ast.ExceptHandler | ast.match_case):
                yield from node.body


def _spans(body: Sequence[ast.stmt], line: int) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _catches(handler: ast.ExceptHandler, error: str) -> bool:
    """Return True if a handler may catch an error; always if one of the classes is not Python's own."""
    if handler.type is None:
        return True
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    raised = getattr(builtins, error, None)
    for kind in kinds:
        caught = getattr(builtins, kind.id, None) if isinstance(kind, ast.Name) else None
        if not (isinstance(raised, type) and isinstance(caught, type)) or issubclass(raised, caught):
            return True
    return False


def _ends(handler: ast.ExceptHandler) -> bool:
    """Return True if a handler ends the process, raises again, or returns a value, which may be an exit code."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Return) and node.value is not None):
            return True
        if isinstance(node, ast.Call) and _name(node.func) in _EXITS:
            return True
    return False


def _exit_texts(tree: ast.Module) -> Iterator[list[str]]:
    """Give the texts of all calls that end the process: the fixed pieces of each, in order (`_consists_of`)."""
    for node in ast.walk(tree):
        name = _name(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name in _EXIT_PREFIXES and len(node.args) == 1:
            parts = _parts(node.args[0])
            if sum(len(part.strip()) for part in parts if part is not None) >= _LEAST_TEXT:
                pieces = [_EXIT_PREFIXES[name]]
                for part in parts:
                    if part is None:
                        pieces.append("")
                    else:
                        pieces[-1] += _ESCAPE.sub("", part)
                pieces[0] = pieces[0].lstrip()
                pieces[-1] = pieces[-1].rstrip()
                yield pieces


def _consists_of(text: str, pieces: Sequence[str]) -> bool:
    """Return True if a text consists of these pieces in this order, with anything between two of them.

    Each piece is taken where it comes first, which suffices and takes linear time. A regular expression would try all
    combinations, which took minutes for a long line, in a supervisor or server that had to do other things.
    """
    first, last = pieces[0], pieces[-1]
    if len(pieces) == 1:
        return text == first
    end = len(text) - len(last)
    at = len(first)
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return False
    for piece in pieces[1:-1]:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _parts(value: ast.expr) -> list[str | None]:
    """Return the parts of a text; None stands for a part whose value is known only at run time."""
    if isinstance(value, ast.Constant):
        return [value.value] if isinstance(value.value, str) else []
    if isinstance(value, ast.JoinedStr):
        return [part for inner in value.values for part in _parts(inner)]
    if isinstance(value, ast.FormattedValue):
        return [None]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        return [*_parts(value.left), *(_parts(value.right) or [None])]
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mod):
        return _template(_parts(value.left), r"%[-#0-9.]*[a-zA-Z%]")
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "format":
        return _template(_parts(value.func.value), r"\{[^{}]*\}")
    return [None]


def _template(parts: Sequence[str | None], hole: str) -> list[str | None]:
    found: list[str | None] = []
    for part in parts:
        for number, piece in enumerate(re.split(hole, part) if part is not None else []):
            found += [None, piece] if number else [piece]
    return found


def _name(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else None
