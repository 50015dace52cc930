"""Reading of raw JSON that may have any shape: what isn't as it should be is as if it weren't there."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from typing import Any, Final

from .api import Json

MOST_TEXT: Final = 16 * 1024
"""Characters of a text that are kept; a container's command may be long, nothing that people read is longer."""

_TIME: Final = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt](?P<time>\d\d:\d\d:\d\d)(?P<fraction>\.\d{1,30})?(?P<zone>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)


def value(source: Any, *path: str) -> Any:
    """Return what stands at a path of keys; None if nothing does."""
    for key in path:
        if not isinstance(source, dict):
            return None
        source = source.get(key)
    return source


def part(source: Any, *path: str) -> Json:
    """Return an object; an empty one if it isn't there."""
    found = value(source, *path)
    return found if isinstance(found, dict) else {}


def parts(source: Any, *path: str) -> list[Json]:
    """Return the objects of a list."""
    found = value(source, *path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def texts(source: Any, *path: str) -> list[str]:
    """Return the texts of a list."""
    found = value(source, *path)
    return [_clean(item) for item in found if isinstance(item, str)] if isinstance(found, list) else []


def text(source: Any, *path: str) -> str | None:
    """Return a text; None if it is empty."""
    found = value(source, *path)
    return _clean(found) if isinstance(found, str) and found else None


def whole(source: Any, *path: str) -> int | None:
    """Return a whole number that fits into 64 bits."""
    found = value(source, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and -(2**63) <= found < 2**63 else None


def count(source: Any, *path: str) -> int:
    """Return a number of things, at least 0."""
    return max(0, whole(source, *path) or 0)


def flag(source: Any, *path: str) -> bool:
    """Whether it is true."""
    return value(source, *path) is True


def moment(source: Any, *path: str) -> float | None:
    """Return a time of the API in seconds since the epoch."""
    return seconds(value(source, *path))


def seconds(written: Any) -> float | None:
    """Read a time as the API writes it (RFC 3339, with or without a fraction), in seconds since the epoch."""
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
        return None  # the year 1, by which Go says that there is no time, or 1970, which is in what never started
    return since + float(match["fraction"] or 0)


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _clean(found: str) -> str:
    return found[:MOST_TEXT].encode(errors="replace").decode()
