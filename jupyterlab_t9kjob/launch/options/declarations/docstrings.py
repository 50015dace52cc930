"""Descriptions of parameters in docstrings: Google's, numpy's and Sphinx' style."""

from __future__ import annotations

import ast
import inspect
import re
from typing import Final

from ..texts import one_line

_SECTION: Final = re.compile(r"(Args|Arguments|Parameters|Params|Attributes|Other Parameters|Keyword Args):?")
_GOOGLE: Final = re.compile(r"\*{0,2}(\w+)(?:\s*\([^)]*\))?\s*:\s*(.*)")
_NUMPY: Final = re.compile(r"\*{0,2}(\w+)(?:\s*,\s*\w+)*\s*(?::.*)?")
_SPHINX: Final = re.compile(r":param(?:eter)?\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)")

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def summary(node: Documented) -> str | None:
    """Return the first paragraph of a definition's docstring in one line; None if it has no docstring."""
    return one_line((ast.get_docstring(node) or "").partition("\n\n")[0])


def parameter_texts(node: Documented) -> dict[str, str]:
    """Return the descriptions of parameters in a definition's docstring, by name."""
    reader = _Reader()
    lines = inspect.cleandoc(ast.get_docstring(node) or "").split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        reader.read(line, following)
    return {name: text for name, parts in reader.found.items() if (text := one_line(" ".join(parts)))}


class _Reader:
    """Reader of a docstring, line by line."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}
        self._style = ""
        self._depth = 0  # indentation of the section's header, or of a Sphinx field
        self._entry_depth: int | None = None  # indentation of the section's entries
        self._entry: list[str] = []

    def read(self, line: str, following: str) -> None:
        """Read a line."""
        text = line.strip()
        depth = len(line) - len(line.lstrip())
        field = _SPHINX.fullmatch(text)
        if not text or _is_rule(text):
            return
        if field:
            self._style, self._depth = "sphinx", depth
            self._begin(field[1], field[2])
        elif _SECTION.fullmatch(text):
            self._style = "numpy" if _is_rule(following.strip()) else "google"
            self._depth, self._entry_depth, self._entry = depth, None, []
        elif self._style == "numpy":
            self._read_numpy(text, depth, following)
        elif self._style == "google" and depth > self._depth:
            self._read_google(text, depth)
        elif self._style == "sphinx" and depth > self._depth:
            self._entry.append(text)
        else:
            self._style = ""

    def _read_numpy(self, text: str, depth: int, following: str) -> None:
        header = _NUMPY.fullmatch(text)
        if depth > self._depth:
            self._entry.append(text)
        elif header is None or _is_rule(following.strip()):
            self._style = ""
        else:
            self._begin(header[1], "")

    def _read_google(self, text: str, depth: int) -> None:
        header = _GOOGLE.fullmatch(text)
        if self._entry_depth is None:
            self._entry_depth = depth
        if header and depth <= self._entry_depth:
            self._begin(header[1], header[2])
        else:
            self._entry.append(text)

    def _begin(self, name: str, text: str) -> None:
        self._entry = self.found.setdefault(name, [])
        self._entry.append(text)


def _is_rule(text: str) -> bool:
    return bool(text) and set(text) == {"-"}
