"""Checks in a script's source which of its printed errors can have ended it. Standard library only.

A log does not tell a traceback that ended a process from one that was caught and printed, nor the text of
``sys.exit("text")`` from any other last line. The source does, if it is still the one that ran.
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
"""No handler is near; its handler ends the process; its handler goes on."""

_MOST_BYTES: Final = 1024 * 1024
_EXITS: Final = frozenset({"exit", "_exit", "quit", "abort", "SystemExit"})
_LEAST_TEXT: Final = 4
_EXIT_PREFIXES: Final = {"exit": "", "quit": "", "SystemExit": "", "ClickException": "Error: "}
"""Calls that end a process with a text, and what is printed before the text."""
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_Scope = ast.FunctionDef | ast.AsyncFunctionDef


class ScriptCheck:
    """Reads the sources of one run.

    Parameters
    ----------
    script
        Absolute path of the script; None if there is none.
    started_at
        When the run began, in seconds since the epoch. A source that was changed later does not count.
    here
        Returns where this machine has a file that the run's log names; None if it has not.
    """

    def __init__(
        self, script: str | None, started_at: float, *, here: Callable[[str], str | None] = lambda file: file
    ) -> None:
        self._script = script
        self._started_at = started_at
        self._here = here

    def verdict(self, frames: Sequence[dict[str, Any]], error: str) -> Verdict | None:
        """Return what became of an exception with these frames, outermost first; None if the source does not tell."""
        frame = next((one for one in frames if not one["file"].startswith("<frozen ")), None)
        tree = self._tree(frame["file"]) if frame is not None else None
        if frame is None or tree is None:
            return None
        handled = _handled(tree, frame["line"], error.partition(":")[0])
        if handled == "uncaught" and frame["function"] != "<module>":
            return None  # who called this function has caught it, in a way that its source does not show
        return handled

    def exits_with(self, text: str) -> bool:
        """Return whether the script ends itself with such a text somewhere."""
        tree = self._tree(self._script) if self._script is not None else None
        return tree is not None and any(pattern.fullmatch(text) for pattern in _exit_texts(tree))

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
    """Return what the innermost statement around a line does with an error."""
    around: list[ast.stmt] = []
    body: Sequence[ast.stmt] = tree.body
    while True:
        inner = next((one for one in body if one.lineno <= line <= (one.end_lineno or one.lineno)), None)
        if inner is None:
            break
        if isinstance(inner, _Scope | ast.ClassDef) and line > inner.lineno:
            around = [] if isinstance(inner, _Scope) else around
        else:
            around.append(inner)
        body = list(_statements(inner))
    for statement in reversed(around):
        if isinstance(statement, ast.With | ast.AsyncWith):
            return None  # its context manager may catch
        if isinstance(statement, ast.Try) and _spans(statement.body, line):
            handlers = [one for one in statement.handlers if _catches(one, error)]
            if handlers:
                return _outcome(handlers)
    return "uncaught"


def _outcome(handlers: Sequence[ast.ExceptHandler]) -> Verdict | None:
    ends = {_ends(one) for one in handlers}
    return None if len(ends) > 1 else "ends" if ends.pop() else "goes on"


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    for _, value in ast.iter_fields(statement):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.stmt):
                yield one
            elif isinstance(one, ast.ExceptHandler | ast.match_case):
                yield from one.body


def _spans(body: Sequence[ast.stmt], line: int) -> bool:
    return body[0].lineno <= line <= (body[-1].end_lineno or body[-1].lineno)


def _catches(handler: ast.ExceptHandler, error: str) -> bool:
    """Return whether a handler may catch an error; of exceptions that are not Python's own the name does not tell."""
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
    """Return whether a handler ends the process, or its function with a value, or raises again."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Return) and node.value is not None):
            return True
        if isinstance(node, ast.Call) and _name(node.func) in _EXITS:
            return True
    return False


def _exit_texts(tree: ast.Module) -> Iterator[re.Pattern[str]]:
    for node in ast.walk(tree):
        name = _name(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name in _EXIT_PREFIXES and len(node.args) == 1:
            parts = [_EXIT_PREFIXES[name], *_parts(node.args[0])]
            fixed = sum(len(part.strip()) for part in parts[1:] if part is not None)
            if fixed >= _LEAST_TEXT:
                pattern = "".join(".*" if part is None else re.escape(_ESCAPE.sub("", part)) for part in parts)
                yield re.compile(pattern.strip(), re.DOTALL)


def _parts(value: ast.expr) -> list[str | None]:
    """Return the pieces of a text; None stands for one that is known only when the script runs."""
    if isinstance(value, ast.Constant):
        return [value.value] if isinstance(value.value, str) else []
    if isinstance(value, ast.JoinedStr):
        return [part for one in value.values for part in _parts(one)]
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
