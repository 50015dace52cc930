"""Kubernetes quantities: ``500m``, ``16Gi``, ``2``."""

from __future__ import annotations

import re
from typing import Final

_QUANTITY: Final = re.compile(
    r"\+?(?P<number>\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?\d{1,2})?"
)
_SUFFIXES: Final = {
    "": 1.0,
    **{suffix: 10.0**power for suffix, power in zip("num", (-9, -6, -3), strict=True)},
    **{suffix: 10.0**power for suffix, power in zip("kMGTPE", (3, 6, 9, 12, 15, 18), strict=True)},
    **{f"{suffix}i": 1024.0**power for power, suffix in enumerate("KMGTPE", 1)},
}


def amount(text: str | None) -> float | None:
    """Return a quantity in its base unit (cores, bytes); None if it is no quantity."""
    match = _QUANTITY.fullmatch(text or "")
    if match is None:
        return None
    suffix = match["suffix"] or ""
    number = float(match["number"])
    return number * (_SUFFIXES[suffix] if suffix in _SUFFIXES else 10.0 ** int(suffix[1:]))
