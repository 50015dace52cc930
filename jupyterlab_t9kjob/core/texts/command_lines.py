"""A command as a user reads it: one option with its values on each line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def quoted(words: Sequence[str]) -> str:
    """Return words of a command as one line of a shell."""
    return " ".join(shlex.quote(word) for word in words)


def typed(words: Sequence[str]) -> str:
    """Return words of a command as one line that can be typed into a terminal without running anything.

    A control character in the line would be a key press, such as Ctrl+C or Enter, so it is written as an escape.
    """
    return " ".join(shlex.quote(word) if word.isprintable() else _escaped(word) for word in words)


def _escaped(word: str) -> str:
    """Return a word in the quotes ``$'…'`` of bash and zsh."""
    kept = {"\\": "\\\\", "'": "\\'"}
    return "$'" + "".join(kept.get(each) or _key(each) for each in word) + "'"


def _key(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def option_lines(words: Sequence[str]) -> list[str]:
    """Return arguments as lines: each option together with its values, other arguments alone."""
    lines: list[list[str]] = []
    for word in words:
        joins = lines and _is_option(lines[-1][0]) and not _is_option(word)
        if joins and "=" not in lines[-1][0]:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [quoted(line) for line in lines]


def _is_option(word: str) -> bool:
    if not word.startswith("-"):
        return False
    try:
        float(word)
    except ValueError:
        return True
    return False
