"""Texts of scripts as the API can carry them."""

from __future__ import annotations

import ast
from typing import Final

MAX_TEXT: Final = 2000


def printable(text: str) -> str:
    """Return a text that JSON can represent: single surrogates are replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def one_line(text: str | None) -> str | None:
    """Return a text without line breaks, at most `MAX_TEXT` characters; None if nothing is left."""
    return printable(" ".join((text or "").split())[:MAX_TEXT]) or None


def dotted(node: ast.AST | None) -> str | None:
    """Return a name with its attributes (``a.b.c``); None for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None
