"""Notes on a job's object of who did what to it from a lab, and when: `names.STOPPED`, `names.PAUSED`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from ..client.api import Json
from ..client.json_access import seconds, text
from .text import named


@dataclass(frozen=True)
class Mark:
    """A note: when (seconds since the epoch; None if that can't be read), and by whom."""

    at: float | None
    by: str | None

    def whom(self, user: str | None) -> str:
        """Say who it was, to a user."""
        return "you" if self.by is None or self.by == user else named(self.by)


def mark(user: str | None, now: float) -> str:
    """Return the value of such an annotation: ``2026-11-21T23:18:08Z alice``."""
    when = datetime.fromtimestamp(int(now), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{when} {user}" if user else when


def marked(manifest: Json, name: str) -> Mark | None:
    """Return a note on a job; None if there is none."""
    written = text(manifest, "metadata", "annotations", name)
    if written is None:
        return None
    when, _, by = written.partition(" ")
    return Mark(seconds(when), by.strip() or None)
