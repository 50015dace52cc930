"""The making of reasons: short sentences, and clean ones, whatever the cluster has put into them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from ....core.job import Fix, Reason
from ....core.wording import duration
from ..client.errors import ApiError, Unreachable

MOST_SENTENCE: Final = 300
"""Characters; a longer one is cut, and ends in “…”."""
MOST_NAME: Final = 120
MOST_VERBATIM: Final = 4000

# Words that a sentence of ours may begin with and that are small within another one.
_OPENING: Final = re.compile(
    r"(?:All|Needs|The|There|No|Its|It|Pulling|Starting|Waits|Waiting|Placed|Asked|Killed|Ended|Failed|Was|Crashed|Could|Died|Had|A|An)\b"
)


def plain(text: str, most: int = MOST_SENTENCE) -> str:
    """Return a text as one line without control characters, cut to `most` characters."""
    line = " ".join(_visible(text[: 20 * most]).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def answer_of(error: ApiError | Unreachable) -> str:
    """Return what a cluster has answered, or why it has not, as it may stand in a sentence."""
    return plain(error.message if isinstance(error, ApiError) else str(error))


def named(text: str) -> str:
    """Return a name that came from the cluster as it may stand in a sentence."""
    return plain(text, MOST_NAME)


def quoted(text: str | None) -> str | None:
    """Return the cluster's own words, in lines, without control characters; None if there are none."""
    lines = (_visible(line).rstrip() for line in (text or "")[:MOST_VERBATIM].splitlines())
    return "\n".join(line for line in lines if line) or None


def made(
    code: str, sentence: str, hint: str | None = None, *, verbatim: str | None = None, fix: Fix | None = None
) -> Reason:
    """Return a reason whose texts are short and clean; its code too, where it is the cluster's own."""
    return Reason(
        code=plain(code, MOST_NAME),
        sentence=plain(sentence),
        hint=plain(hint, 2 * MOST_SENTENCE) if hint else None,
        verbatim=quoted(verbatim),
        fix=fix,
    )


def joined(*sentences: str | None) -> str | None:
    """Return sentences one after the other, without those that are None."""
    return " ".join(filter(None, sentences)) or None


def within(sentence: str) -> str:
    """Return a sentence as it stands after a colon."""
    return sentence[0].lower() + sentence[1:] if _OPENING.match(sentence) else sentence


def waited(since: float | None, now: float, before: str = ", ") -> str:
    """Say how long something has lasted, from a minute on: “, 2 min”.

    In whole minutes, so that a sentence that counts up changes once a minute.
    """
    if since is None or now - since < 60:
        return ""
    return before + duration((now - since) // 60 * 60)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Say names: “a”, “a and b”, “a, b and 4 others”."""
    shown = [named(name) for name in names[:most]]
    if len(names) > most:
        left = len(names) - most
        return f"{', '.join(shown)} and {left} {'other' if left == 1 else 'others'}"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def counted(number: int, word: str) -> str:
    """Say a number of things: “1 restart”, “3 restarts”."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _visible(text: str) -> str:
    return text if text.isascii() and text.isprintable() else "".join(" " if _hidden(char) else char for char in text)


def _hidden(char: str) -> bool:
    """Whether a character can't be seen, or changes how others are shown."""
    return unicodedata.category(char)[0] == "C" or char in "\u2028\u2029"
