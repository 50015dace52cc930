"""Reads the values of a field of a sweep.

==========================  ================================================================
``0.1, 0.01``               a list; an item with a comma is written in quotes
``8..64 step 8``            8, 16, … 64; without `step`, whole numbers go up by 1
``1e-4..1e-2 log 5``        5 numbers with equal ratios, both ends included
``0..1 lin 5``              5 numbers with equal distances, both ends included
``1e-4..1e-2 log``          any number between both ends, for a random sweep; also `lin`
==========================  ================================================================
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ...core.errors import FieldError
from ...core.translation import Text, _

MOST_VALUES: Final = 10_000
"""Greatest number of values of one field. A larger number is refused before the values are made."""
MOST_CHARACTERS: Final = 20_000

_NUMBER = r"[+-]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,3})?"
_RANGE = re.compile(rf"({_NUMBER})\s*\.\.\s*({_NUMBER})(?:\s+(step|log|lin)(?:\s+({_NUMBER}))?)?", re.ASCII)
_SPACE = re.compile(r"\s*")
_ITEM = re.compile(r'(?:"([^"]*)"|\'([^\']*)\'|([^,"\'\s][^,]*)?)\s*(?:,|$)')


@dataclass(frozen=True)
class Interval:
    """All numbers between two ends, from which a random sweep draws."""

    low: float
    high: float
    logarithmic: bool
    whole: bool = False

    def draw(self, generator: random.Random) -> str:
        """Return a random number as text; its logarithm is uniform if the interval is logarithmic."""
        if self.logarithmic:
            number = math.exp(generator.uniform(math.log(self.low), math.log(self.high)))
        else:
            number = generator.uniform(self.low, self.high)
        return _text(number, self.whole)


Values = list[str] | Interval


def parse_values(text: str, field: str, *, whole: bool = False) -> Values:
    """Return the values of a field of a sweep.

    Parameters
    ----------
    text
        The values as the user typed them.
    field
        JSON pointer for errors.
    whole
        True if the field takes whole numbers: those between the ends of a range are rounded if they stay different.

    Raises
    ------
    FieldError
        If a value is missing, a range can't be read, or there are more than `MOST_VALUES` values.
    """
    if len(text) > MOST_CHARACTERS:
        raise _wrong(_("The list of values is too long."), field, _("Put the values into a file of rows."))
    items = _items(text, field)
    if len(items) == 1 and not items[0][1]:
        interval = _interval(items[0][0], field, whole)
        if interval is not None:
            return interval
    found: list[str] = []
    for item, quoted in items:
        found += [item] if quoted else _expanded(item, field, whole)
        if len(found) > MOST_VALUES:
            raise _too_many(len(found), field)
    return found


def _items(text: str, field: str) -> list[tuple[str, bool]]:
    """Return the items between the commas, and for each whether it was quoted."""
    items: list[tuple[str, bool]] = []
    position = 0
    text = text.strip().removesuffix(",")
    while position < len(text):
        begin = _SPACE.match(text, position)
        match = _ITEM.match(text, begin.end() if begin is not None else position)
        if match is None:
            message = _("The quotes in {text} do not match.", text=_short(text[position:]))
            raise _wrong(message, field, _('Write a value with a comma as "a,b".'))
        quoted = match[1] if match[1] is not None else match[2]
        plain = (match[3] or "").strip()
        if quoted is None and not plain:
            raise _wrong(_("A value is missing between two commas."), field, _('Write an empty value as "".'))
        items.append((plain, False) if quoted is None else (quoted, True))
        position = match.end()
    if not items:
        raise _wrong(_("The field has no value."), field, _("Enter values with commas between them."))
    return items


def _interval(item: str, field: str, whole: bool) -> Interval | None:
    match = _RANGE.fullmatch(item)
    if match is None or match[3] not in ("log", "lin") or match[4] is not None:
        return None
    low, high = _ends(match, field)
    return Interval(float(low), float(high), logarithmic=match[3] == "log", whole=whole)


def _expanded(item: str, field: str, whole: bool) -> list[str]:
    """Return the values of an item: those of a range, or the item itself."""
    match = _RANGE.fullmatch(item)
    if match is None:
        return [item]
    low, high = _ends(match, field)
    how, by = match[3], match[4]
    if how in ("log", "lin"):
        if by is None:
            message = _("{range} does not say how many values to take.", range=item)
            raise _wrong(message, field, _("Write the number of values after “{how}”.", how=how))
        inner = _between(float(low), float(high), _count(by, field), logarithmic=how == "log")
        # If rounded numbers would be equal, the field may take others as well.
        whole = whole and len({round(number) for number in [float(low), *inner, float(high)]}) == len(inner) + 2
        return [_plain(low), *(_text(number, whole) for number in inner), _plain(high)]
    if by is None and (low != low.to_integral_value() or high != high.to_integral_value()):
        message = _("{range} does not say which values to take.", range=item)
        raise _wrong(message, field, _("Write “step 0.1”, “lin 5” or “log 5” after it."))
    step = _number(by, field) if by is not None else Decimal(1)
    if step <= 0:
        raise _wrong(_("The step of {range} must be greater than 0.", range=item), field, None)
    count = int((high - low) / step) + 1
    if count > MOST_VALUES:
        raise _too_many(count, field)
    return [_plain(low + step * number) for number in range(count)]


def _ends(match: re.Match[str], field: str) -> tuple[Decimal, Decimal]:
    low, high = _number(match[1], field), _number(match[2], field)
    if low >= high:
        raise _wrong(_("{range} must begin with the smaller number.", range=match[0]), field, None)
    if match[3] == "log" and low <= 0:
        raise _wrong(_("A range with “log” must begin above 0."), field, None)
    return low, high


def _number(text: str, field: str) -> Decimal:
    number = Decimal(text)
    if number and not Decimal("1e-100") < abs(number) < Decimal("1e15"):
        raise _wrong(_("{number} is too large or too small for a range.", number=text), field, None)
    return number


def _count(text: str, field: str) -> int:
    if not text.isdecimal() or int(text) < 2:
        raise _wrong(_("The number of values must be a whole number of at least 2."), field, None)
    if int(text) > MOST_VALUES:
        raise _too_many(int(text), field)
    return int(text)


def _between(low: float, high: float, count: int, *, logarithmic: bool) -> list[float]:
    """Return the numbers between the ends of a range of as many numbers."""
    if logarithmic:
        ratio = (high / low) ** (1 / (count - 1))
        return [low * ratio**number for number in range(1, count - 1)]
    return [low + (high - low) * number / (count - 1) for number in range(1, count - 1)]


def _text(number: float, whole: bool) -> str:
    """Return a number as Python's `int` or `float` reads it: whole, or with at most 6 significant digits."""
    nearest = round(number)
    if whole or (nearest and math.isclose(number, nearest, rel_tol=1e-12)):
        return str(nearest)
    text = f"{number:.6g}"
    return str(int(float(text))) if "e+" in text else text


def _plain(number: Decimal) -> str:
    """Return a decimal number without trailing zeros or an exponent for whole numbers."""
    if number == number.to_integral_value():
        return str(int(number))
    return str(number.normalize())


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def _wrong(message: Text, field: str, hint: Text | None) -> FieldError:
    return FieldError(message, field=field, hint=hint, code="SweepValues")


def _too_many(count: int, field: str) -> FieldError:
    message = _("{count} values, at most {most}.", count=count, most=MOST_VALUES)
    return FieldError(message, field=field, code="TooManyValues")
