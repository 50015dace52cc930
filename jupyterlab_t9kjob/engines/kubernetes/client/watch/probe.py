"""Probe of a watch: distinguishes a stream without events from a stream whose events do not arrive any more.

A stream may fall silent without an error: a load balancer or a firewall forgets the connection, and both ends keep
theirs open. The probe requests the collection's version with a new request. It compares versions for equality only,
because their order is not defined before Kubernetes 1.35 (KEP-5504). A new version proves nothing by itself, because
the version changes with the objects of all namespaces. A short second watch, from the version of the open stream, then
tells whether this collection has changed since.
"""

from __future__ import annotations

import time
from enum import Enum, auto
from typing import Final

import anyio

from .....core.translation import _
from ..api import ApiError, Json, KubeApi, Params, Unreachable
from ..errors import timed_out

ANSWER_SECONDS = 2.5
"""Time that the API server may take to answer a probe."""
WATCH_SECONDS: Final = 1
"""Duration of the second watch. Missed events come at once, so one second is enough."""
_NO_NAME: Final = "t9kjob-probe"
"""A name that no object has: the list of the objects with this name is empty and has the collection's version. The API
server answers it from its watch cache: `Store.ListPredicate` (registry/generic/registry/store.go) reads one key if the
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
        Client of the API server.
    path, params
        Path of the collection, and query parameters of its watch.
    """

    def __init__(self, api: KubeApi, path: str, params: Params) -> None:
        self._api = api
        self._path = path
        self._params = params
        self._settled: str | None = None

    async def ask(self, version: str) -> Verdict:
        """Compare the collection with a watch whose last event had this version.

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
            raise Unreachable(timed_out(self._api.connection.host)) from None

    async def _has_changed_since(self, version: str) -> bool:
        params: Params = {**self._params, "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS}
        longest = WATCH_SECONDS + ANSWER_SECONDS
        try:
            with anyio.fail_after(longest):
                async with self._api.watch(self._path, params, silence=longest, patience=0.0) as events:
                    async for _event in events:
                        return True
        except TimeoutError:
            raise Unreachable(_("The network lets no watch through.")) from None
        return False


def _ignore(_item: Json) -> None:
    """Drop an object."""
