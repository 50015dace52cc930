"""A collection of the cluster's objects, kept up to date by one list and one watch, however many look at it."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable

from .transport import ApiError, Json, KubeApi, Params, Unreachable

log = logging.getLogger(__name__)

SILENCE_SECONDS = 100.0
"""Bookmarks come about once a minute: a watch that is silent for longer is begun anew where it was."""
WATCH_SECONDS = (240, 480)
"""How long the server is asked to keep a watch open; a range, so that many labs don't come back together."""
FIRST_DELAY = 1.0
LONGEST_DELAY = 30.0
INSTANT_SECONDS = 1.0
MOST_INSTANT_ENDS = 3
"""Watches in a row that end at once without a word: then the list is taken anew (kubernetes#137089)."""

Changed = Callable[[Json | None, Json | None], None]
"""Called with an object as it was and as it is; None before it came and after it went."""


class Collection:
    """The objects of one kind in a namespace.

    Parameters
    ----------
    api
        The cluster.
    path
        The collection's path.
    changed
        Called at every change, in the order in which they happened.
    params
        More of the query, such as a label selector.
    state_changed
        Called when `stale_since` or `error` has changed.

    Attributes
    ----------
    objects
        By uid, as they were last seen.
    stale_since
        Seconds since the epoch since when changes may have been missed; None while the watch stands.
    error
        Why; None while all is well.
    """

    def __init__(
        self,
        api: KubeApi,
        path: str,
        changed: Changed,
        *,
        params: Params | None = None,
        state_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.objects: dict[str, Json] = {}
        self.stale_since: float | None = None
        self.error: ApiError | Unreachable | None = None
        self._api = api
        self._path = path
        self._params = dict(params or {})
        self._changed = changed
        self._state_changed = state_changed
        self._version: str | None = None
        self._listed = asyncio.Event()
        self._hurry = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to follow the collection; it never gives up."""
        self._task = asyncio.create_task(self._run(), name=f"watch {self._path}")

    async def stop(self) -> None:
        """Stop following it."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def listed(self) -> None:
        """Wait until the list has been read once, or could not be (`error`)."""
        await self._listed.wait()

    def retry(self) -> None:
        """Try again now rather than at the end of a delay."""
        self._hurry.set()

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        delay = FIRST_DELAY
        instant = 0
        while True:
            begun = time.monotonic()
            try:
                if self._version is None:
                    await self._list()
                if await self._watch():
                    instant = 0
                elif time.monotonic() - begun < INSTANT_SECONDS:
                    instant += 1
                delay = FIRST_DELAY
                if instant == 0:
                    continue
                if instant >= MOST_INSTANT_ENDS:
                    self._version = None
            except Unreachable as error:
                self._failed(error)
            except ApiError as error:
                if error.status == 410:
                    self._version = None  # the history since then is gone
                    if time.monotonic() - begun > INSTANT_SECONDS:
                        continue
                else:
                    self._failed(error)
                    self._version = None if error.status in (403, 404) else self._version
                delay = max(delay, error.retry_after or 0.0)
            except Exception as error:
                # an answer that no API server gives; the next one may be right again
                log.exception("Watching %s failed", self._path)
                self._failed(Unreachable(f"The cluster's answer was not understood: {type(error).__name__}."))
                self._version = None
            await self._pause(delay)
            delay = min(delay * 2, LONGEST_DELAY)

    async def _list(self) -> None:
        items, version = await self._api.list(self._path, self._params)
        found = {item["metadata"]["uid"]: item for item in items}
        for uid in self.objects.keys() - found.keys():
            self._put(uid, None)
        for uid, item in found.items():
            self._put(uid, item)
        self._version = version
        self._listed.set()

    async def _watch(self) -> bool:
        """Follow the changes until the server ends the watch; return whether there was any event."""
        params: Params = {
            **self._params,
            "resourceVersion": self._version,
            "allowWatchBookmarks": True,
            "timeoutSeconds": random.randint(*WATCH_SECONDS),  # noqa: S311
        }
        any_event = False
        try:
            async with self._api.watch(self._path, params, silence=SILENCE_SECONDS) as events:
                self._all_is_well()
                async for event in events:
                    any_event = True
                    item = event["object"]
                    self._version = item["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        self._put(item["metadata"]["uid"], None if event["type"] == "DELETED" else item)
        except Unreachable:
            if not any_event:
                raise
            # it stood: so this may be no more than a break, and the next attempt tells
        return any_event

    def _put(self, uid: str, item: Json | None) -> None:
        before = self.objects.get(uid)
        if item is None:
            self.objects.pop(uid, None)
        else:
            self.objects[uid] = item
            if before is not None and before["metadata"]["resourceVersion"] == item["metadata"]["resourceVersion"]:
                return
        if before is not None or item is not None:
            self._changed(before, item)

    def _failed(self, error: ApiError | Unreachable) -> None:
        self._listed.set()
        if self.stale_since is None:
            self.stale_since = time.time()
            log.warning("Watching %s: %s", self._path, error)
        self.error = error
        self._state_changed()

    def _all_is_well(self) -> None:
        if self.stale_since is not None:
            self.stale_since = self.error = None
            self._state_changed()

    async def _pause(self, seconds: float) -> None:
        self._hurry.clear()
        try:
            await asyncio.wait_for(self._hurry.wait(), seconds * random.uniform(0.5, 1.0))  # noqa: S311
        except asyncio.TimeoutError:
            return
