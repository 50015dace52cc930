"""Annotations of a job that say who stopped or paused it from a lab, and when.

The annotations are `names.STOPPED` and `names.PAUSED`; their form is ``2026-11-21T23:18:08Z alice``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from ..client.api import Json
from ..client.json_access import seconds, text


@dataclass(frozen=True)
class Mark:
    """An annotation of an action.

    Attributes
    ----------
    at
        Time of the action, in seconds since the epoch; None if it can't be read.
    by
        User who acted; None if the annotation names none.
    """

    at: float | None
    by: str | None


def mark(user: str | None, now: float) -> str:
    """Return the value of an annotation of an action.

    Parameters
    ----------
    user
        User who acts; None if the lab has no user name.
    now
        Seconds since the epoch.
    """
    when = datetime.fromtimestamp(int(now), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"{when} {user}" if user else when


def marked(manifest: Json, name: str) -> Mark | None:
    """Return the annotation of an action; None if the job has none.

    Parameters
    ----------
    manifest
        The job's object.
    name
        Name of the annotation.
    """
    written = text(manifest, "metadata", "annotations", name)
    if written is None:
        return None
    when, _space, by = written.partition(" ")
    return Mark(seconds(when), by.strip() or None)
