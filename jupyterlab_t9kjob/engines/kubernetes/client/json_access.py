"""Access to fields of raw JSON of any shape: a field of an unexpected type counts as missing.

Each function takes an object and the names on the way to the field.
"""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any, Final

from .api import Json

MOST_TEXT: Final = 16 * 1024
"""Greatest number of characters of a text; the rest is cut. The longest texts that users read are containers' commands.
"""

_TIME: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt](?P<time>\d\d:\d\d:\d\d)(?P<fraction>\.\d{1,30})?(?P<zone>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)


def value(source: Any, *path: str) -> Any:
    """Return the value of a field; None if it is missing.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    for key in path:
        if not isinstance(source, dict):
            return None
        source = source.get(key)
    return source


def part(source: Any, *path: str) -> Json:
    """Return an object; an empty one if it is missing.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    found = value(source, *path)
    return found if isinstance(found, dict) else {}


def parts(source: Any, *path: str) -> list[Json]:
    """Return the objects in a list; an empty list if it is missing.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    found = value(source, *path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def texts(source: Any, *path: str) -> list[str]:
    """Return the texts in a list; an empty list if it is missing.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    found = value(source, *path)
    return [_clean(item) for item in found if isinstance(item, str)] if isinstance(found, list) else []


def text(source: Any, *path: str) -> str | None:
    """Return a text; None if it is missing or empty.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on. A text is cut after `MOST_TEXT` characters.
    """
    found = value(source, *path)
    return _clean(found) if isinstance(found, str) and found else None


def whole(source: Any, *path: str) -> int | None:
    """Return a whole number; None if it is missing or does not fit into 64 bits.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    found = value(source, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and -(2**63) <= found < 2**63 else None


def count(source: Any, *path: str) -> int:
    """Return a count; 0 if it is missing or negative.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    return max(0, whole(source, *path) or 0)


def flag(source: Any, *path: str) -> bool:
    """Return True if the field is true.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on.
    """
    return value(source, *path) is True


def moment(source: Any, *path: str) -> float | None:
    """Return a time in seconds since the epoch; None if it is missing.

    Parameters
    ----------
    source, *path
        An object of any type, and the names of the fields from there on. The field is a time in RFC 3339.
    """
    return seconds(value(source, *path))


def seconds(written: Any) -> float | None:
    """Return a time of the API (RFC 3339, with or without a fraction) in seconds since the epoch; None if malformed."""
    match = _TIME.fullmatch(written) if isinstance(written, str) else None
    if match is None:
        return None
    zone = "+00:00" if match["zone"] in "Zz" else match["zone"]
    try:
        read = datetime.fromisoformat(f"{match['day']}T{match['time']}{zone}")
        since = (read - _EPOCH).total_seconds()
    except (ValueError, OverflowError):
        return None
    if since <= 0:
        return None  # Go writes the year 1 for no time, and some fields have 1970 until a start.
    return since + float(match["fraction"] or 0)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _clean(found: str) -> str:
    if found.isascii():
        return found[:MOST_TEXT]
    return found[:MOST_TEXT].encode(errors="replace").decode()
