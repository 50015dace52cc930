"""Texts that contain a cluster's words: names, messages, reasons. They are short and have no control characters.

Names and messages are parameters of a `Text`, never parts of its message: `named` and `answer_of` prepare a single one,
`cleaned` and `made` all that a text has.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import partial
from typing import Final

from ....core.job import Fix, Reason
from ....core.texts.wording import duration
from ....core.translation import Text, _, listing
from ..client.errors import ApiError, Unreachable

MOST_SENTENCE: Final = 300
"""Number of characters of a sentence; a longer one is cut and ends in “…”."""
MOST_NAME: Final = 120
MOST_VERBATIM: Final = 4000

_SHORTEST_CUT: Final = 40
"""Number of characters that each name or message of a text that is too long keeps."""


def plain(text: str, most: int = MOST_SENTENCE) -> str:
    """Return words as one line without control characters.

    Parameters
    ----------
    text
        The words.
    most
        Greatest length in characters; a longer line is cut and ends in “…”.
    """
    line = " ".join(_visible(text[: 20 * most]).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def answer_of(error: ApiError | Unreachable) -> Text:
    """Return the message of a cluster's answer, or of a failed connection, for use in a sentence."""
    return cleaned(Text.restored(error.message))


def named(text: str) -> str:
    """Return a name from the cluster for use in a sentence."""
    return plain(text, MOST_NAME)


def quoted(text: str | None) -> str | None:
    """Return a cluster's message verbatim: its lines, without control characters; None if it is empty."""
    lines = (_visible(line).rstrip() for line in (text or "")[:MOST_VERBATIM].splitlines())
    return "\n".join(line for line in lines if line) or None


def cleaned(text: Text, most: int = MOST_SENTENCE) -> Text:
    """Return a text whose names and messages are single lines without control characters.

    Parameters
    ----------
    text
        The text.
    most
        Length in characters. The longest names and messages are cut to the same length, but not below
        `_SHORTEST_CUT`, so that the English text is no longer than this.
    """
    lengths: list[int] = []

    def clean(words: str) -> str:
        line = plain(words, most)
        lengths.append(len(line))
        return line

    text = text.with_words(clean)
    excess = len(text) - most
    if excess <= 0:
        return text
    cut = most
    while cut > _SHORTEST_CUT and sum(max(0, length - cut) for length in lengths) < excess:
        cut -= 1
    return text.with_words(partial(plain, most=cut))


def made(
    code: str, sentence: Text, hint: Text | None = None, *, verbatim: str | None = None, fix: Fix | None = None
) -> Reason:
    """Return a reason whose texts are clean and short.

    Parameters
    ----------
    code
        Code of the reason; the cluster's own code is cleaned too.
    sentence, hint
        Why something is in its state, and what the user can do.
    verbatim
        The cluster's message.
    fix
        Change of the spec that removes the cause.
    """
    return Reason(
        code=plain(code, MOST_NAME),
        sentence=cleaned(sentence),
        hint=cleaned(hint, 2 * MOST_SENTENCE) if hint else None,
        verbatim=quoted(verbatim),
        fix=fix,
    )


def minutes_since(since: float | None, now: float) -> Text | None:
    """Return how long something has lasted, in whole minutes; None for less than a minute.

    A sentence with this duration changes once a minute only, and so do the pages that show it.

    Parameters
    ----------
    since, now
        Seconds since the epoch; `since` is None if it is not known.
    """
    if since is None or now - since < 60:
        return None
    return duration((now - since) // 60 * 60)


def waiting_since(state: Text, since: float | None, now: float) -> Text:
    """Return a state and how long the wait has lasted: “Not ready · waiting 2 min”.

    Parameters
    ----------
    state
        The state, without a full stop.
    since, now
        Start of the wait and the present, as in `minutes_since`. A wait below a minute is not shown.
    """
    wait = minutes_since(since, now)
    return state if wait is None else _("{state} · waiting {duration}", state=state, duration=wait)


def lasting_since(state: Text, since: float | None, now: float) -> Text:
    """Return a state and how long it has lasted: “Pulling image torch:2, 2 min”.

    Parameters
    ----------
    state
        The state, without a full stop.
    since, now
        Start of the state and the present, as in `minutes_since`. A time below a minute is not shown.
    """
    wait = minutes_since(since, now)
    return state if wait is None else _("{state}, {duration}", state=state, duration=wait)


def full_stop(sentence: Text) -> Text:
    """Return a sentence with a full stop, unless it has one or was cut."""
    return sentence if sentence.endswith((".", "…")) else _("{sentence}.", sentence=sentence)


def listed(names: Sequence[str], most: int = 3) -> Text:
    """Return names from the cluster as a list: “a”, “a and b”, “a, b and 4 others”.

    Parameters
    ----------
    names
        At least one.
    most
        Number of names that are shown; the others are counted.
    """
    return listing([name.with_words(named) if isinstance(name, Text) else named(name) for name in names], most)


def _visible(text: str) -> str:
    return text if text.isascii() and text.isprintable() else "".join(" " if _hidden(char) else char for char in text)


def _hidden(char: str) -> bool:
    """Return True if a character can't be seen, or changes how others are shown."""
    return unicodedata.category(char)[0] == "C" or char in "\u2028\u2029"
