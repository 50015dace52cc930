"""Restores the indentation of a manifest that was copied without leading spaces.

Some web pages offer manifests in that form. The fields of a job and their types are known, and the lines are still in
order. Each key therefore belongs to the innermost open object that has a field of this name without a value. The result
is shown to the user with a warning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from ..kinds.shapes import PYTORCHJOB, T9K, MapOf, Plain

_LINE: Final = re.compile(
    r"(?P<dash>- )?(?:(?P<key>[A-Za-z][\w./-]*):(?: +(?P<value>[^#].*?))?|(?P<item>.+?))(?: +#.*)?"
)


@dataclass
class _Open:
    """An object or a list that may get more lines."""

    shape: Any
    level: int
    seen: set[str] = field(default_factory=set)


def reindented(text: str) -> str | None:
    """Return a flat manifest with its indentation; None if the text is no such manifest or is ambiguous.

    Parameters
    ----------
    text
        One document whose lines all begin in the first column.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    kind = next((line.split(":", 1)[1].split("#")[0].strip() for line in lines if line.startswith("kind:")), "")
    shape = {"PyTorchTrainingJob": T9K, "PyTorchJob": PYTORCHJOB}.get(kind)
    if shape is None or any(line.startswith((" ", "\t")) for line in lines):
        return None
    stack, result = [_Open(shape, 0)], []
    for line in lines:
        match = _LINE.fullmatch(line)
        level = _place(match, stack) if match else None
        if level is None:
            return None
        result.append("  " * level + line)
    return "\n".join(result) + "\n"


def _place(match: re.Match[str], stack: list[_Open]) -> int | None:
    """Return the level of a line, and push the objects and lists that the line opens; None if it fits nowhere."""
    key, is_item = match["key"], bool(match["dash"])
    if key is None or (is_item and not _takes_object(stack, key)):
        return _place_item(stack) if is_item else None
    for exactly in (True, False):
        for depth in range(len(stack) - 1, -1, -1):
            here = stack[depth]
            shape = here.shape
            if is_item != isinstance(shape, list):
                continue
            fields = shape[0] if is_item else shape
            fits = _has(fields, key, exactly) and (is_item or key not in here.seen)
            if fits:
                del stack[depth + 1 :]
                level = here.level
                if is_item:
                    here = _Open(fields, level + 1)
                    stack.append(here)
                here.seen.add(key)
                inner = fields.value if isinstance(fields, MapOf) else fields[key]
                if match["value"] is None:
                    stack.append(_Open(inner, here.level + (0 if isinstance(inner, list) else 1)))
                return level
    return None


def _place_item(stack: list[_Open]) -> int | None:
    """Return the level of a line ``- text``: an item of the list of texts that was opened last."""
    while stack:
        if isinstance(stack[-1].shape, list) and isinstance(stack[-1].shape[0], Plain):
            return stack[-1].level
        stack.pop()
    return None


def _takes_object(stack: list[_Open], key: str) -> bool:
    return any(isinstance(here.shape, list) and _has(here.shape[0], key, False) for here in stack)


def _has(shape: Any, key: str, exactly: bool) -> bool:
    if isinstance(shape, MapOf):
        return not exactly
    return isinstance(shape, dict) and key in shape
