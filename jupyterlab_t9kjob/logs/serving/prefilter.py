"""Prefilter of a search: quickly finds the lines in a block of a log that may match a regular expression.

It finds all matching lines and few others. A `Prefilter` translates the pattern for bytes and for many lines at once,
so that one call of the regular-expression engine searches a megabyte. The engine is RE2, whose time does not depend on
the pattern; Python's own engine is used without it. A part of the pattern that can't be translated is replaced by one
that matches more.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any, NamedTuple

try:
    import re2
except ImportError:  # There is no wheel for this machine.
    re2 = None

_ERRORS = (re.error,) if re2 is None else (re.error, re2.error)
_parser: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

_NEVER = r"[^\x00-\xff]"
_HIGH = r"[\x80-\xff]"
# Characters between lines; here each update of a progress bar counts as a line.
_ENDS = frozenset(b"\r\n")
_SHOWN = frozenset(range(128)) - _ENDS
_CATEGORIES = {
    f"CATEGORY_{negation}{name}": frozenset(code for code in _SHOWN if re.match(letter, chr(code)))
    for name, small in (("DIGIT", r"\d"), ("SPACE", r"\s"), ("WORD", r"\w"))
    for negation, letter in (("", small), ("NOT_", small.upper()))
}
# Letters that `re` also finds in non-ASCII characters when it ignores case: Kelvin sign, long s, dotless i.
_SAME_BEYOND = frozenset(b"iIkKsS")
_SHORTEST_PART = 3
_MOST_REPEATS = 1000
"""Largest number of repetitions that RE2 accepts."""


class Prefilter:
    """Search for the lines of a block that may match.

    Parameters
    ----------
    pattern
        Pattern that is applied to one line.
    """

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._ascii = _finder(pattern, wide=False)
        self._wide = _finder(pattern, wide=True) if re2 is not None else None

    def lines(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Yield start and end of each line in `data` that may match, with its newline, in order."""
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
            # The shown text may differ from these bytes: a progress bar's last update, a last line that is cut.
            shown_otherwise = b"\r" in line or stop == len(data)
            if begin < stop and (shown_otherwise or self._pattern.search(line.decode("utf-8", "replace"))):
                yield begin, stop
            begin = stop


class _Finder(NamedTuple):
    """A pattern for bytes, and one for the longest text that every match contains, which is searched for first."""

    whole: Any
    part: Any


def _finder(pattern: re.Pattern[str], *, wide: bool) -> _Finder | None:
    """Return the pattern for bytes; None if it can't be translated."""
    try:
        translation = _Translation(pattern, wide=wide)
        part = _compiled(translation.part) if translation.part is not None else None
        return _Finder(_compiled(translation.whole), part)
    except (_NotTranslatable, RecursionError, *_ERRORS):
        return None


def _compiled(text: str) -> Any:
    """Return a compiled expression with the methods of `re.Pattern`, by RE2 if it is installed."""
    if re2 is None:
        return re.compile(text.encode())
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(text.encode(), options)


class _NotTranslatable(Exception):
    pass


class _Translation:
    """Translation of a pattern for the characters of a line into one for the bytes of a block.

    Each method ``_name`` translates the operation NAME of `re`'s parser.

    Parameters
    ----------
    pattern
        The pattern.
    wide
        True for blocks with non-ASCII characters, each of which has several bytes.
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
        """Return an expression for one of the ASCII characters in `codes`, and with `beyond` any other character."""
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
        if code >= 128 and self._wide and code != 0xFFFD:  # U+FFFD replaces any invalid bytes.
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

    # -- groups and repetitions ---------------------------------------------------------------------------------------

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

    # -- positions ----------------------------------------------------------------------------------------------------

    def _at(self, position: Any) -> str:
        if position.name.startswith("AT_BEGINNING"):
            return "^"
        if position.name.startswith("AT_END"):
            return f"{_HIGH}*$" if self._wide else "$"  # An incomplete last character is not part of the shown text.
        return r"\b" if position.name == "AT_BOUNDARY" and not self._wide else ""

    def _assert(self, _: Any) -> str:
        return ""

    _assert_not = _assert

    def _failure(self, _: Any) -> str:
        return _NEVER


def _longest_literal(items: Any) -> list[Any]:
    """Return the longest run of literal characters that every match of these items contains."""
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
