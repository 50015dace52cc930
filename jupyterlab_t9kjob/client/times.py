"""Durations and times: those that a user writes, and the running time of a job."""

from __future__ import annotations

import re
import time
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.job import JobSummary

_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


def seconds_of(text: str) -> int:
    """Return the seconds of a duration such as ``90``, ``10m``, ``2h30m`` or ``1d``.

    Raises
    ------
    ValueError
        If the text is no duration.
    """
    match = _DURATION.fullmatch(text.strip().lower().replace(" ", ""))
    if match is None or not any(match.groups()):
        raise ValueError(text)
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?")


def moment_of(text: str) -> float:
    """Return a time of RFC 3339 in seconds since the epoch; without a zone it is a time of this machine.

    Raises
    ------
    ValueError
        If the text is no such time.
    """
    match = _MOMENT.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    day, clock, fraction, zone = match.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{(zone or '').upper().replace('Z', '+00:00')}").timestamp()
    except (OverflowError, OSError):  # A year that this machine's zone has no rules for.
        raise ValueError(text) from None
    return moment + float(fraction or 0)


def ran_seconds(job: JobSummary) -> float | None:
    """Return the seconds that a job has run up to now, without pauses; None if it has not run."""
    now = time.time()
    if job.running_since is not None:
        return job.ran_seconds + max(0.0, now - job.running_since)
    # Some engines report only start and end.
    return job.ran_seconds or (None if job.started_at is None else (job.ended_at or now) - job.started_at)
