"""Parses Kubernetes quantities: ``500m``, ``16Gi``, ``2``."""

from __future__ import annotations

import re
from typing import Final

_QUANTITY: Final = re.compile(
    r"\+?(?P<number>\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?"
)
_POWERS: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {f"{suffix}i": 1024.0**power for power, suffix in enumerate("KMGTPE", 1)}


def amount(text: str | None) -> float | None:
    """Return a quantity in its base unit (cores, bytes); None if the text is no quantity."""
    match = _QUANTITY.fullmatch(text or "")
    if match is None:
        return None
    number, suffix = float(match["number"]), match["suffix"] or ""
    if suffix in _BINARY:
        return number * _BINARY[suffix]
    power = _POWERS[suffix] if suffix in _POWERS else int(suffix[1:])
    # Negative powers divide, since 7350 * 0.001 is not exactly 7.35.
    return number * 10.0**power if power >= 0 else number / 10.0**-power
