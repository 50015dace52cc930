"""Probe of a watch: tells an open stream in which nothing happens from one whose events do not arrive any more.

A stream may fall silent without an error: a load balancer or a firewall forgets the connection, and both ends keep
theirs open. The probe asks for the collection's version by a new request. It compares versions for equality only, for
their order is not defined before Kubernetes 1.35 (KEP-5504). A version that has moved proves nothing by itself: it
moves with the objects of all namespaces. A short second watch, from where the open stream stands, then tells whether
this collection has changed since.
"""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import Final

import anyio

from .api import ApiError, Json, KubeApi, Params, Unreachable

ANSWER_SECONDS = 2.5
"""How long the API server may take to answer a probe."""
WATCH_SECONDS: Final = 1
"""How long the second watch lasts: what was missed comes at once, so this only has to be more than nothing."""
_NO_NAME: Final = "t9kjob-probe"
"""Name of no object: the list of the objects of this name is empty, and has the collection's version. The API server
answers it from its watch cache: `Store.ListPredicate` (registry/generic/registry/store.go) reads one key where the
field selector names one object. `limit=1` would not do: `computeListLimit` (storage/cacher/cacher.go) ignores a limit
beside ``resourceVersion=0``, and all objects are sent."""


class Verdict(Enum):
    """Result of a probe."""

    CURRENT = auto()
    """The open stream has missed nothing."""
    BEHIND = auto()
    """The collection has changed since the last event of the open stream, which may still be on its way."""
    NO_WATCH = auto()
    """The collection may have changed, and the network lets no watch through."""
    UNKNOWN = auto()
    """The API server is busy, or refuses the probe."""


class Probe:
    """Probes the watch of one collection.

    Parameters
    ----------
    api
        The cluster.
    path, params
        The collection, and what its watch selects.
    """

    def __init__(self, api: KubeApi, path: str, params: Params) -> None:
        self._api = api
        self._path = path
        self._params = params
        self._settled: str | None = None

    async def ask(self, version: str) -> Verdict:
        """Compare the collection with a watch that stands at `version`.

        Raises
        ------
        Unreachable
            If the API server does not answer in time.
        """
        try:
            latest = await self._latest()
        except ApiError:
            return Verdict.UNKNOWN
        if latest in (version, self._settled):
            return Verdict.CURRENT
        try:
            changed = await self._has_changed_since(version)
        except ApiError as error:
            return Verdict.BEHIND if error.status == 410 else Verdict.UNKNOWN
        except Unreachable:
            return Verdict.NO_WATCH
        if changed:
            return Verdict.BEHIND
        self._settled = latest
        return Verdict.CURRENT

    async def _latest(self) -> str:
        """Return the version of the collection, of all namespaces together, as the API server's cache has it."""
        params: Params = {"resourceVersion": "0", "fieldSelector": f"metadata.name={_NO_NAME}"}
        asked_at = time.monotonic()
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                return await self._api.read(self._path, _ignore, params, patience=0.0)
        except TimeoutError:
            await self._api.leave_connections(asked_at)
            raise Unreachable(f"The cluster at {self._api.connection.host} does not answer in time.") from None

    async def _has_changed_since(self, version: str) -> bool:
        params: Params = {**self._params, "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS}
        longest = WATCH_SECONDS + ANSWER_SECONDS
        try:
            with anyio.fail_after(longest):
                async with self._api.watch(self._path, params, silence=longest, patience=0.0) as events:
                    async for _event in events:
                        return True
        except TimeoutError:
            raise Unreachable("The network lets no watch through.") from None
        return False


def _ignore(_item: Json) -> None:
    """Take no note of an object."""
