"""Informer: keeps the objects of one collection current by a list and a watch.

After a failure the informer tries again until it is stopped; `Informer.stale_since` says since when changes may have
been missed.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable

import anyio

from .....core.system.tasks import spawn
from ..answers import once_more
from ..api import ApiError, Json, KubeApi, Params, Unreachable
from ..errors import Silent
from ..failures import not_understood
from ..json_text import without_managed_fields
from .backoff import LASTING, LASTING_DELAY, LONGEST_DELAY, Backoff
from .probe import Probe, Verdict
from .resource_version import identity_of, revision
from .streamed_list import BrokenList, read_streamed_list

log = logging.getLogger(__name__)

SILENCE_SECONDS = 70.0
"""Longest silence of a watch, which brings a bookmark each minute [seen on 1.34]. A watch that is silent for longer is
restarted from its last version."""
PROBE_SECONDS = 5.0
"""Longest interval between two probes of a watch without events while a page is open. With the time for the answer and
for the message to the page it must stay below 10 s."""
GRACE_SECONDS = 1.0
"""Longest delay of an open watch's event after the answer of a probe."""
MOST_SILENT = 2
"""Number of silent watches in a row after which the list is read anew, because some proxies let no watch through."""
WATCH_SECONDS = (240, 480)
"""Range of the time for which the API server is asked to keep a watch open; random, so that many labs don't return
together."""
PASSING = (401, 429)
"""Refusals, beside those of 500 and above, after which a watch continues from its last version without a list."""
MOST_BROKEN = 5
"""Number of answers of 500 and above in a row, from an API server that is well otherwise, after which the list is read
anew: some API servers answer so for a version that they have forgotten."""
SPREAD_SECONDS = 3.0
"""Time over which the lists are spread that many labs need at the same moment."""
INSTANT_SECONDS = 1.0
"""Longest life of a watch that counts as ended at once."""
SETTLED_SECONDS = 10.0
MOST_FLAPS = 3
"""Number of watches in a row that end at once, after which the list is read anew (kubernetes#137089)."""

Keep = Callable[[Json], Json]
"""Reduces an object to the fields that are kept, by default all but `managedFields`."""
Changed = Callable[[Json | None, Json | None], None]
"""Called with an object before and after a change; None before its creation and after its deletion."""


class Informer:
    """The objects of one collection, kept current.

    Parameters
    ----------
    api
        Client of the API server.
    path
        Path of the collection.
    changed
        Called after each change, in the order of the changes.
    params
        Further query parameters, such as a label selector.
    keep
        Reduces an object to the fields that are kept; uid and resource version must stay in their places.
    identities
        True if `objects` keeps only these two, because the receiver of the changes keeps the rest.
    from_cache
        True if a list may come from the API server's cache, which spares etcd but may be some moments old. It is never
        older than the objects that were read before.
    state_changed
        Called when `stale_since` or `error` has changed, and when the list was read for the first time.

    Attributes
    ----------
    objects
        Last known state of the objects, by uid.
    stale_since
        Time since which changes may have been missed, in seconds since the epoch: the last time at which the API server
        was heard; None while the watch is open.
    error
        Why changes may have been missed; None while the watch is open.
    known
        True if the list has been read at least once.
    relisted
        True while deletions are reported that no watch saw: a list has been read anew, and lacks these objects.
    """

    def __init__(
        self,
        api: KubeApi,
        path: str,
        changed: Changed,
        *,
        params: Params | None = None,
        keep: Keep = without_managed_fields,
        identities: bool = False,
        from_cache: bool = False,
        state_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.objects: dict[str, Json] = {}
        self.stale_since: float | None = None
        self.error: ApiError | Unreachable | None = None
        self.known = self.relisted = False
        self._api = api
        self._path = path
        self._params = dict(params or {})
        self._changed = changed
        self._keep = keep
        self._identities = identities
        self._from_cache = from_cache
        self._state_changed = state_changed
        self._probe = Probe(api, path, self._params)
        self._version: str | None = None
        self._oldest = "0"
        self._streaming = self._listing = False
        self._heard_at = time.time()
        self._backoff = Backoff()
        self._silent = self._broken = self._events = 0
        self._listed = asyncio.Event()
        self._hurry = asyncio.Event()
        self._end: Callable[[], None] = lambda: None
        self._task: asyncio.Task[None] | None = None

    @property
    def denied(self) -> bool:
        """True if the last refusal was a missing permission; an outage after it changes nothing."""
        return isinstance(self.error, ApiError) and self.error.status == 403

    @property
    def complete(self) -> bool:
        """True if the list has been read and no change was missed since."""
        return self._listed.is_set() and self.stale_since is None

    @property
    def filling(self) -> bool:
        """True while the list is read for the first time, or anew after an outage."""
        return self._listing and not self.complete

    def start(self) -> None:
        """Keep the collection current from now on."""
        self._end = self._api.on_wake(self.retry)
        self._task = spawn(self._run(), f"watch {self._path}")

    async def stop(self) -> None:
        """Stop the watch."""
        self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def listed(self) -> None:
        """Wait until the list has been read once or an attempt has failed, see `error`."""
        await self._listed.wait()

    def has_reached(self, state: int) -> bool:
        """Return True if the informer has seen all changes up to a revision of an object, see `revision_of`."""
        return self._version is not None and revision(self._version) >= state

    def retry(self) -> None:
        """Try again now instead of at the end of the delay."""
        self._hurry.set()

    async def _run(self) -> None:
        flaps = 0
        while True:
            self._hurry.clear()
            begun, least, longest = time.monotonic(), 0.0, LONGEST_DELAY
            try:
                if self._version is None and not self._streams_list:
                    await self._list()
                    begun = time.monotonic()
                await self._watch()
                if time.monotonic() - begun > INSTANT_SECONDS:
                    flaps = 0
                    self._backoff.reset()
                    continue
                flaps += 1
                if flaps % MOST_FLAPS == 0:
                    self._forget_version()
            except Unreachable as error:
                self._failed(error)
            except ApiError as error:
                self._refused(error)
                if time.monotonic() - begun > SETTLED_SECONDS:
                    flaps = 0
                    self._backoff.reset()
                least = min(error.retry_after or 0.0, LASTING_DELAY)
                if error.status == 410:
                    least += random.uniform(0, SPREAD_SECONDS)  # noqa: S311
                longest = LASTING_DELAY if error.status in LASTING else LONGEST_DELAY
            except Exception as error:
                # An API server does not answer so; the next answer may be right again.
                log.exception("Watching %s failed", self._path)
                self._failed(not_understood(error))
                self._forget_version()
            with anyio.move_on_after(self._backoff.next(LASTING_DELAY if self._api.lost else longest, least)):
                await self._hurry.wait()
                self._backoff.reset()

    def _forget_version(self) -> None:
        """Read the list at the next attempt, from the cache only if that is not older than the known objects."""
        self._oldest = self._version or self._oldest
        self._version = None

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def _streams_list(self) -> bool:
        """True if the list is requested as the beginning of a watch, see `streamed_list`."""
        return self._from_cache and self._api.streams_lists

    async def _list(self) -> None:
        self._listing, self._streaming = True, False
        try:
            found, version = await once_more(self._read_list)
        except ApiError as error:
            if error.status == 504 and "Too large resource version" in error.message:
                self._oldest = "0"  # The cluster was restored from a backup, and its versions are lower now.
            raise
        finally:
            self._listing = False
        self._take_list(found, version)

    async def _read_list(self) -> tuple[set[str], str]:
        """Take in the list while it arrives; return the uids in it and its version."""
        found = set[str]()

        def take(item: Json) -> None:
            uid = item["metadata"]["uid"]
            found.add(uid)
            self._put(uid, item)

        params = {**self._params, "resourceVersion": self._oldest} if self._from_cache else self._params
        return found, await self._api.read(self._path, take, params)

    def _take_list(self, found: set[str], version: str) -> None:
        """Complete a list: objects that were not in it are gone."""
        self.relisted = True
        for uid in self.objects.keys() - found:
            self._put(uid, None)
        self.relisted = False
        self._version = version
        self._heard_at = time.time()
        self.known = True
        if not self._listed.is_set():
            self._listed.set()
            self._state_changed()

    # -- the watch ----------------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Take in the changes until the API server ends the watch, or the connection breaks or falls silent."""
        streams_list = self._streaming = self._version is None
        params: Params = {
            **self._params,
            "resourceVersion": self._oldest if streams_list else self._version,
            "allowWatchBookmarks": True,
            "timeoutSeconds": random.randint(*WATCH_SECONDS),  # noqa: S311
            **({"sendInitialEvents": True, "resourceVersionMatch": "NotOlderThan"} if streams_list else {}),
        }
        opened, begun = False, time.time()
        probing: asyncio.Task[None] | None = None
        try:
            with anyio.CancelScope() as scope:
                async with self._api.watch(self._path, params, silence=SILENCE_SECONDS) as events:
                    if streams_list:
                        await self._take_streamed(events)
                    opened = True
                    if not isinstance(self.error, Silent):  # After a silent watch, only an event proves the new one.
                        self._recovered()
                    probing = spawn(self._probe_while_open(scope), f"probe {self._path}")
                    async for event in events:
                        self._take_event(event)
        except Unreachable:
            if not opened:
                raise
            # The connection may only have broken, or the cluster has no bookmarks: the next attempt tells.
            if time.time() - max(begun, self._heard_at) >= 0.9 * SILENCE_SECONDS:
                self._silent += 1
                if self._silent % MOST_SILENT == 0:
                    self._forget_version()
        finally:
            if probing is not None:
                probing.cancel()
                await asyncio.gather(probing, return_exceptions=True)

    def _take_event(self, event: Json) -> None:
        item = event["object"]
        self._version = item["metadata"]["resourceVersion"]
        if event["type"] != "BOOKMARK":
            self._put(item["metadata"]["uid"], None if event["type"] == "DELETED" else item)
        self._silent = self._broken = 0
        self._events += 1
        self._recovered()

    async def _take_streamed(self, events: AsyncIterator[Json]) -> None:
        """Take in the list at the beginning of a watch."""
        self._listing = True
        try:
            found, version = await read_streamed_list(events, self._put)
        except BrokenList:
            self._api.streams_lists = False
            raise
        finally:
            self._listing = False
        self._take_list(found, version)

    async def _probe_while_open(self, stream: anyio.CancelScope) -> None:
        """Probe the open watch while a page is open; close the watch if its events do not arrive any more."""
        unanswered = False
        while True:
            await self._api.attended.wait()
            try:
                verdict, unanswered = await self._verdict(), False
            except Unreachable as error:
                self._failed(error)  # The stream may be well: its next event or the next probe tells.
                if unanswered := not unanswered:
                    continue  # The next probe uses a new connection, see `leave_connections`.
                verdict = Verdict.UNKNOWN
            if verdict is Verdict.CURRENT:
                self._recovered()
            elif verdict is not Verdict.UNKNOWN:
                self._failed(Silent(self._api.connection.host))
                self._silent += 1
                if verdict is Verdict.NO_WATCH or self._silent % MOST_SILENT == 0:
                    self._forget_version()
                self._api.silence.send()
                return stream.cancel()
            # If the network lets no watch through, each probe costs a list: probe less often.
            await asyncio.sleep(PROBE_SECONDS * random.uniform(0.8, 1.0) * 2 ** min(self._silent, 4))  # noqa: S311

    async def _verdict(self) -> Verdict:
        """Probe the watch, unless it has just brought an event."""
        version, events = self._version, self._events
        if version is None or time.time() - self._heard_at < 0.8 * PROBE_SECONDS:
            return Verdict.UNKNOWN
        verdict = await self._probe.ask(version)
        if verdict in (Verdict.BEHIND, Verdict.NO_WATCH):
            await asyncio.sleep(GRACE_SECONDS)
        return verdict if events == self._events else Verdict.CURRENT

    def _put(self, uid: str, item: Json | None) -> None:
        """Take in an object, or its deletion for None, and report the change."""
        before = self.objects.get(uid)
        if item is None:
            self.objects.pop(uid, None)
        else:
            item = self._keep(item)
            self.objects[uid] = identity_of(item) if self._identities else item
            if before is not None and before["metadata"]["resourceVersion"] == item["metadata"]["resourceVersion"]:
                return
        if before is None and item is None:
            return
        try:
            self._changed(before, item)
        except Exception:
            log.exception("A change in %s was not understood", self._path)  # Later changes may be.

    def _refused(self, error: ApiError) -> None:
        watched = self._version is not None
        if self._streaming and error.status in (400, 422):
            self._api.streams_lists = self._streaming = False
            self._hurry.set()
            return
        if error.status >= 500:
            self._broken += 0 if self._api.lost else 1
        if error.status == 410 or (error.status < 500 and error.status not in PASSING) or self._broken >= MOST_BROKEN:
            self._broken = 0
            self._forget_version()
        if error.status == 410 and watched:
            return
        self._failed(error)

    def _failed(self, error: ApiError | Unreachable) -> None:
        self._listed.set()
        if self.stale_since is None:
            self.stale_since = self._heard_at
            log.warning("Watching %s: %s", self._path, error)
        if not self.denied or (isinstance(error, ApiError) and error.status in LASTING):
            self.error = error
        self._state_changed()

    def _recovered(self) -> None:
        self._heard_at = time.time()
        if self.stale_since is not None:
            self.stale_since = self.error = None
            self._state_changed()
