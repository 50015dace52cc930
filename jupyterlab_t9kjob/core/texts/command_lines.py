"""A command as a user reads it: one option with its values on each line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence


def quoted(words: Sequence[str]) -> str:
    """Return words of a command as one line of a shell."""
    return " ".join(shlex.quote(word) for word in words)


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
