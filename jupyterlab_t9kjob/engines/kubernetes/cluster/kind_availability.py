"""Which kinds of job a cluster has, and what queues jobs there.

What is gone is believed only when it was not found several times in a row: its jobs would count as deleted.
"""

from __future__ import annotations

import time
from typing import Final

from ..client.api import KubeApi
from ..objects.kinds import JobKind
from .discovery import Found, find_kind, queueing_of

MOST_MISSING: Final = 3
"""Looks in a row that find a kind gone before that is believed: an API server that starts, or a proxy, may not know it
for a moment."""
MISSING_SECONDS = 3.0
"""Between two such looks; those in between don't count."""
RETURN_SECONDS: Final = 600.0
"""How long a kind that is gone is looked for as often, for it may be installed anew."""


class Presence:
    """What was found, look by look.

    Attributes
    ----------
    kinds
        What there is to know of each kind of job that the cluster has, by engine.
    groups
        Version to speak of each API group of what queues jobs, see `discovery.QUEUEING`; those that the cluster has.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, Found] = {}
        self.groups: dict[str, str] = {}
        # How many looks in a row have not found what was there, and when the last one was.
        self._missing: dict[str, tuple[int, float]] = {}
        self._gone_at = -RETURN_SECONDS

    @property
    def doubtful(self) -> bool:
        """Whether something was not found that may still be there."""
        return bool(self._missing)

    @property
    def haste(self) -> float | None:
        """Seconds after which to look again because something is gone, or seems so; None if nothing is."""
        return MISSING_SECONDS if self._missing or time.monotonic() - self._gone_at < RETURN_SECONDS else None

    async def look_for_kind(self, api: KubeApi, kind: JobKind, version: str | None) -> Found | None:
        """Return what there is to know of a kind now; None if the cluster does not have it.

        Parameters
        ----------
        version
            The API server's.

        Raises
        ------
        ApiError, Unreachable
            If the cluster can't say.
        """
        known = self.kinds.get(kind.engine)
        found = await find_kind(api, kind, version, known)
        if found is not None:
            self.kinds[kind.engine] = found
            if self._missing.pop(kind.engine, None) is not None:
                api.wake()
        elif known is not None and self._is_gone(kind.engine):
            del self.kinds[kind.engine], self._missing[kind.engine]
            self._gone_at = time.monotonic()
        return self.kinds.get(kind.engine)

    async def look_for_queueing(self, api: KubeApi) -> None:
        """See what queues jobs here; what was there and is not told of once may only be starting again."""
        seen = await queueing_of(api)
        for group in self.groups.keys() - seen.keys():
            if self._is_gone(group):
                del self.groups[group], self._missing[group]
        for group in seen:
            self._missing.pop(group, None)
        self.groups |= seen

    def _is_gone(self, name: str) -> bool:
        """Take note that a kind, or a group, was not found; return whether it has been away for long enough."""
        count, before = self._missing.get(name, (0, -MISSING_SECONDS))
        now = time.monotonic()
        if now - before >= MISSING_SECONDS:
            self._missing[name] = count + 1, now
        return self._missing[name][0] >= MOST_MISSING
