"""Hides the secrets of a webhook in the words of its service, or of a proxy, that repeat the request."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, unquote, unquote_plus, urlsplit

_PIECE: Final = 6
"""Characters of a secret that are hidden wherever they occur, since the words may be cut within a secret."""
_SHORTEST: Final = 4
"""Shorter values, such as the 2 of `v=2`, are no secrets."""


def redacted(words: str, addresses: list[str], key: str) -> str:
    """Return words with “…” in place of the secrets.

    Parameters
    ----------
    words
        The words.
    addresses
        The address as it was entered, and as it was sent. Their hosts are no secrets.
    key
        The signing key; empty for none.
    """
    pieces = {piece.lower() for part, size in _parts(addresses, key) for piece in _pieces(part, size)}
    hidden = [False] * len(words)
    for size in {len(piece) for piece in pieces}:
        for start in range(len(words) - size + 1):
            if words[start : start + size].lower() in pieces:
                hidden[start : start + size] = [True] * size
    return "".join(
        "…" if hide else letter
        for index, (letter, hide) in enumerate(zip(words, hidden, strict=True))
        if not (hide and index and hidden[index - 1])
    )


def _parts(addresses: list[str], key: str) -> Iterator[tuple[str, int]]:
    """Yield the secret parts of a request, each with the size of the pieces in which it is hidden."""
    yield key, _PIECE
    for url in map(urlsplit, addresses):
        yield from ((whole, len(whole)) for whole in (url.path, url.query, url.fragment))
        yield from ((segment, _PIECE) for segment in url.path.split("/") if len(segment) >= _PIECE)
        for pair in url.query.split("&"):
            name, _separator, value = pair.partition("=")
            yield value or name, _PIECE


def _pieces(part: str, size: int) -> Iterator[str]:
    """Yield the pieces of a part, in each form in which it may be repeated."""
    if len(part) < _SHORTEST:
        return
    plain = {part, unquote(part), unquote_plus(part)}
    coded = {quote(text, safe="") for text in plain} | {html.escape(text) for text in plain}
    quoted = {json.dumps(text)[1:-1] for text in plain}
    for form in plain | coded | quoted | {text.replace("/", r"\/") for text in quoted}:
        length = len(form) if size == len(part) else min(size, len(form))
        yield from (form[start : start + length] for start in range(len(form) - length + 1))
