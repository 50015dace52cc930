"""Finding quickly the lines of a block of log that may match a pattern: all that do, and few that don't.

A `Prefilter` is the pattern translated for bytes and for a whole block of lines, so that one call of an engine goes
through a megabyte. The engine is RE2, whose time does not depend on the pattern; without it, Python's own.
Where something can't be translated, what takes its place matches more.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

try:
    import re2
except ImportError:  # no wheel for this machine
    re2 = None

_ERRORS = (re.error,) if re2 is None else (re.error, re2.error)
_parser: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

_NEVER = r"[^\x00-\xff]"
_HIGH = r"[\x80-\xff]"
# A line holds none of these: of a progress bar, each update counts as a line here.
_ENDS = frozenset(b"\r\n")
_SHOWN = frozenset(range(128)) - _ENDS
_CATEGORIES = {
    f"CATEGORY_{negation}{name}": frozenset(code for code in _SHOWN if re.match(letter, chr(code)))
    for name, small in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w"))
    for negation, letter in (("", small), ("NOT_", small.upper()))
}
# Beyond ASCII, `re` takes others for the same letters: the Kelvin sign, the long s, the i without a dot.
_SAME_BEYOND = frozenset(b"iIkKsS")
_SHORTEST_PART = 3
_MOST_REPEATS = 1000
"""More RE2 does not take."""


class Prefilter:
    """Finds the lines of a block that may match.

    Parameters
    ----------
    pattern
        The pattern, for one line.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._ascii = _finder(pattern, wide=False)
        self._wide = _finder(pattern, wide=True) if re2 is not None else None

    def lines(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Return begin and end of the lines in `data` that may match, newlines included, in order."""
        finder = self._ascii if data.isascii() else self._wide
        if finder is None:
            yield from self._one_by_one(data)
            return
        probe = data.replace(b"\r", b"\n") if b"\r" in data else data
        if finder.part is not None and finder.part.search(probe) is None:
            return
        stop = 0
        while stop < len(data) and (match := finder.whole.search(probe, stop)) is not None:
            begin = data.rfind(b"\n", stop, match.start()) + 1 or stop
            stop = data.find(b"\n", match.start()) + 1 or len(data)
            if begin < stop:
                yield begin, stop

    def _one_by_one(self, data: bytes) -> Iterator[tuple[int, int]]:
        begin = 0
        for line in data.split(b"\n"):
            stop = min(begin + len(line) + 1, len(data))
            # of a progress bar only the last update is shown, of the last line perhaps less
            shown_otherwise = b"\r" in line or stop == len(data)
            if begin < stop and (shown_otherwise or self._pattern.search(line.decode("utf-8", "replace"))):
                yield begin, stop
            begin = stop


class _Finder(NamedTuple):
    """A pattern for bytes, and the longest text that whatever it matches has in it: quickly found, or not there."""

    whole: Any
    part: Any


def _finder(pattern: re.Pattern[str], *, wide: bool) -> _Finder | None:
    """Return the pattern for bytes; None where it can't be translated."""
    try:
        translation = _Translation(pattern, wide=wide)
        part = _compiled(translation.part) if translation.part is not None else None
        return _Finder(_compiled(translation.whole), part)
    except (_NotTranslatable, RecursionError, *_ERRORS):
        return None


def _compiled(text: str) -> Any:
    """Return an expression with the methods of `re.Pattern`."""
    if re2 is None:
        return re.compile(text.encode())
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(text.encode(), options)


class _NotTranslatable(Exception):
    pass


class _Translation:
    """A parsed pattern as one for the bytes of a block.

    Parameters
    ----------
    pattern
        The pattern.
    wide
        Whether the block holds more than ASCII; a character is then any number of bytes.
    """

    def __init__(self, pattern: re.Pattern[str], *, wide: bool) -> None:
        self._wide = wide
        self._ignore_case = bool(pattern.flags & re.IGNORECASE or re.search(r"\(\?[a-zA-Z]*i", pattern.pattern))
        parsed = _parser.parse(pattern.pattern, pattern.flags)
        flags = f"(?{'i' * self._ignore_case}m)"
        self.whole = flags + self._sequence(parsed)
        part = _longest_literal(parsed)
        self.part = flags + self._sequence(part) if len(part) >= _SHORTEST_PART else None

    def _sequence(self, items: Any) -> str:
        return "".join(
            getattr(self, f"_{operation.name.lower()}", _not_translatable)(what) for operation, what in items
        )

    # -- single characters --------------------------------------------------------------------------------------------

    def _one(self, codes: frozenset[int], *, beyond: bool) -> str:
        """Return what matches one of the ASCII characters in `codes`, or if `beyond` any other character."""
        shown = sorted(codes & _SHOWN)
        ascii_set = "[" + "".join(map(_byte, shown)) + "]" if shown else ""
        if self._ignore_case and codes & _SAME_BEYOND:
            beyond = True
        if not (self._wide and beyond):
            return ascii_set or _NEVER
        return f"(?:{ascii_set}|{_HIGH}+)" if ascii_set else f"{_HIGH}+"

    def _literal(self, code: int) -> str:
        if code >= 128 and self._ignore_case:
            return self._any(None)
        if code >= 128 and self._wide and code != 0xFFFD:  # that stands for any bytes that are no character
            return "".join(map(_byte, chr(code).encode("utf-8", "surrogatepass")))
        return self._one(frozenset({code}), beyond=code >= 128)

    def _not_literal(self, code: int) -> str:
        return self._one(_SHOWN if self._ignore_case else _SHOWN - {code}, beyond=True)

    def _any(self, _: None) -> str:
        return self._one(_SHOWN, beyond=True)

    def _in(self, members: Any) -> str:
        negated = members[0][0].name == "NEGATE"
        codes: frozenset[int] = frozenset()
        beyond = negated
        for kind, what in members[negated:]:
            if kind.name == "CATEGORY":
                codes |= _CATEGORIES[what.name]
                beyond = True
                continue
            first, last = what if kind.name == "RANGE" else (what, what)
            codes |= frozenset(range(first, min(last, 127) + 1))
            beyond = beyond or last >= 128
        if self._ignore_case and (negated or beyond):
            codes = _SHOWN
        elif negated:
            codes = _SHOWN - codes
        return self._one(codes, beyond=beyond)

    # -- what is made of them -----------------------------------------------------------------------------------------

    def _branch(self, what: Any) -> str:
        return f"(?:{'|'.join(map(self._sequence, what[1]))})"

    def _subpattern(self, what: Any) -> str:
        return f"(?:{self._sequence(what[3])})"

    def _max_repeat(self, what: Any) -> str:
        least, most, items = what
        least = min(least, _MOST_REPEATS)
        limit = "" if most > _MOST_REPEATS else most
        return f"(?:{self._sequence(items)}){{{least},{limit}}}"

    _min_repeat = _max_repeat

    def _groupref(self, _: Any) -> str:
        return f"{self._any(None)}*"

    def _groupref_exists(self, what: Any) -> str:
        return f"(?:{'|'.join(self._sequence(branch or ()) for branch in what[1:])})"

    # -- places -------------------------------------------------------------------------------------------------------

    def _at(self, place: Any) -> str:
        if place.name.startswith("AT_BEGINNING"):
            return "^"
        if place.name.startswith("AT_END"):
            return f"{_HIGH}*$" if self._wide else "$"  # a character that is not yet written to its end is not shown
        return r"\b" if place.name == "AT_BOUNDARY" and not self._wide else ""

    def _assert(self, _: Any) -> str:
        return ""

    _assert_not = _assert

    def _failure(self, _: Any) -> str:
        return _NEVER


def _longest_literal(items: Any) -> list[Any]:
    """Return the longest run of literal characters that every match of these items has."""
    runs: list[list[Any]] = [[]]
    for item in items:
        name, what = item[0].name, item[1]
        if name == "LITERAL":
            runs[-1].append(item)
            continue
        if name == "SUBPATTERN":
            runs.append(_longest_literal(what[3]))
        elif name in ("MAX_REPEAT", "MIN_REPEAT") and what[0] > 0:
            runs.append(_longest_literal(what[2]))
        runs.append([])
    return max(runs, key=len)


def _byte(code: int) -> str:
    return f"\\x{code:02x}"


def _not_translatable(_: Any) -> str:
    raise _NotTranslatable
