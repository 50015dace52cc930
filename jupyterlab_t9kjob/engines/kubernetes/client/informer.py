"""A collection of the cluster's objects, kept up to date by one list and one watch, however many look at it."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import AsyncIterator, Callable

import anyio

from ....core.system.tasks import spawn
from .api import ApiError, Json, KubeApi, Params, Unreachable, once_more, without_managed_fields
from .errors import Silent
from .json_access import text, value
from .probe import Probe, Verdict

log = logging.getLogger(__name__)

SILENCE_SECONDS = 70.0
"""Bookmarks come once a minute [seen on 1.34]: a watch that is silent for longer is begun anew where it was."""
PROBE_SECONDS = 5.0
"""Time between two probes of a watch without events while a page is open, at most; with the time for an answer and for
the page to be told it has to stay below 10 s."""
GRACE_SECONDS = 1.0
"""How much later than a probe an open watch may bring an event."""
MOST_SILENT = 2
"""Silent watches in a row: then the list is taken anew, for there are proxies that let no watch through."""
WATCH_SECONDS = (240, 480)
"""How long the server is asked to keep a watch open; a range, so that many labs don't come back together."""
FIRST_DELAY = 1.0
LONGEST_DELAY = 4.0
LASTING_DELAY = 30.0
"""The same for what does not pass by itself: a right or a kind that is missing; and for a cluster that is lost, at
whose return all are woken."""
LASTING = (403, 404)
"""What such a refusal is answered with."""
PASSING = (401, 429)
"""Refusals, beside those of 500 and above, after which a watch goes on from its last version: no list is needed."""
MOST_BROKEN = 5
"""Answers of 500 and above in a row, from an API server that is well otherwise: then the list is taken anew, for there
are servers that answer so for a version that they have forgotten."""
SPREAD_SECONDS = 3.0
"""Time over which lists are spread that many labs need at the same moment."""
STREAM_SECONDS = 15.0
"""How long a list that is sent as a watch may be silent before it is read in the ordinary way."""
INSTANT_SECONDS = 1.0
SETTLED_SECONDS = 10.0
MOST_FLAPS = 3
"""Watches in a row that end at once: then the list is taken anew (kubernetes#137089)."""

Keep = Callable[[Json], Json]
"""Makes what is kept of an object, by default all but `managedFields`."""
Changed = Callable[[Json | None, Json | None], None]
"""Called with an object as it was and as it is; None before it came and after it went."""


class Informer:
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
    keep
        Makes what is kept of an object; its uid and resource version have to stay where they are.
    identities
        Whether `objects` has no more than these two, for who is told keeps the rest.
    from_cache
        Whether a list may come from the API server's cache, which spares etcd but may be some moments old. It is never
        older than what was seen before.
    state_changed
        Called when `stale_since` or `error` has changed, and when the list has been read for the first time.

    Attributes
    ----------
    objects
        By uid, what is kept of them as they were last seen.
    stale_since
        Seconds since the epoch since when changes may have been missed, which is when the cluster was last heard of;
        None while the watch stands.
    error
        Why; None while all is well.
    known
        Whether the list has been read, be it long ago.
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
        self.known = False
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
        self._streaming = False
        self._listing = False
        self._heard_at = time.time()
        self._silent = 0
        self._broken = 0
        self._events = 0
        self._listed = asyncio.Event()
        self._hurry = asyncio.Event()
        self._end: Callable[[], None] = lambda: None
        self._task: asyncio.Task[None] | None = None

    @property
    def denied(self) -> bool:
        """Whether this account may not see it, as far as is known: an outage says nothing of its rights."""
        return isinstance(self.error, ApiError) and self.error.status == 403

    @property
    def complete(self) -> bool:
        """Whether the list has been read and nothing has been missed since."""
        return self._listed.is_set() and self.stale_since is None

    @property
    def filling(self) -> bool:
        """Whether the list is being read for the first time, or anew after an outage."""
        return self._listing and not self.complete

    def start(self) -> None:
        """Begin to follow the collection; it never gives up."""
        self._end = self._api.on_wake(self.retry)
        self._task = spawn(self._run(), f"watch {self._path}")

    async def stop(self) -> None:
        """Stop following it."""
        self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def listed(self) -> None:
        """Wait until the list has been read once, or could not be (`error`)."""
        await self._listed.wait()

    def has_reached(self, state: int) -> bool:
        """Whether it knows what has happened up to a state of an object, see `revision_of`."""
        return self._version is not None and revision(self._version) >= state

    def retry(self) -> None:
        """Try again now rather than at the end of a delay."""
        self._hurry.set()

    # -- inside -------------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        delay = FIRST_DELAY
        flaps = 0
        while True:
            self._hurry.clear()
            begun, after, longest = time.monotonic(), 0.0, LONGEST_DELAY
            try:
                if self._version is None and not self._streams_list:
                    await self._list()
                    begun = time.monotonic()
                await self._watch()
                if time.monotonic() - begun > INSTANT_SECONDS:
                    delay, flaps = FIRST_DELAY, 0
                    continue
                flaps += 1
                if flaps % MOST_FLAPS == 0:
                    self._forget_version()
            except Unreachable as error:
                self._failed(error)
            except ApiError as error:
                self._refused(error)
                if time.monotonic() - begun > SETTLED_SECONDS:
                    delay, flaps = FIRST_DELAY, 0
                after = min(error.retry_after or 0.0, LASTING_DELAY)
                if error.status == 410:
                    after += random.uniform(0, SPREAD_SECONDS)  # noqa: S311
                longest = LASTING_DELAY if error.status in LASTING else LONGEST_DELAY
            except Exception as error:
                # an answer that no API server gives; the next one may be right again
                log.exception("Watching %s failed", self._path)
                self._failed(Unreachable(f"The cluster's answer was not understood: {type(error).__name__}."))
                self._forget_version()
            longest = max(LASTING_DELAY if self._api.lost else longest, FIRST_DELAY)
            delay = min(delay, longest)
            await self._pause(max(delay * random.uniform(0.5, 1.0), after))  # noqa: S311
            delay = FIRST_DELAY if self._hurry.is_set() else delay * 2

    def _forget_version(self) -> None:
        """Read the list at the next attempt; a list from the cache must not be older than what was seen."""
        self._oldest = self._version or self._oldest
        self._version = None

    # -- the list -----------------------------------------------------------------------------------------------------

    @property
    def _streams_list(self) -> bool:
        """Return whether the list is asked for as a watch, which costs the API server less memory (KEP-3157)."""
        return self._from_cache and self._api.streams_lists

    async def _list(self) -> None:
        self._listing, self._streaming = True, False
        try:
            found, version = await once_more(self._read_list)
        except ApiError as error:
            if error.status == 504 and "Too large resource version" in error.message:
                self._oldest = "0"  # this is a cluster that was restored from a backup
            raise
        finally:
            self._listing = False
        self._take_list(found, version)

    async def _read_list(self) -> tuple[set[str], str]:
        """Take in the list as it comes; return the uids in it, and its version."""
        found = set[str]()

        def take(item: Json) -> None:
            uid = item["metadata"]["uid"]
            found.add(uid)
            self._put(uid, self._keep(item))

        params = {**self._params, "resourceVersion": self._oldest} if self._from_cache else self._params
        return found, await self._api.read(self._path, take, params)

    def _take_list(self, found: set[str], version: str) -> None:
        """Note that all objects of a list have been read; the others are gone."""
        for uid in self.objects.keys() - found:
            self._put(uid, None)
        self._version = version
        self._heard_at = time.time()
        self.known = True
        if not self._listed.is_set():
            self._listed.set()
            self._state_changed()

    # -- the watch ----------------------------------------------------------------------------------------------------

    async def _watch(self) -> None:
        """Follow the changes until the server ends the watch, or the connection breaks or falls silent."""
        streams_list = self._streaming = self._version is None
        params: Params = {
            **self._params,
            "resourceVersion": self._oldest if streams_list else self._version,
            "allowWatchBookmarks": True,
            "timeoutSeconds": random.randint(*WATCH_SECONDS),  # noqa: S311
            **({"sendInitialEvents": True, "resourceVersionMatch": "NotOlderThan"} if streams_list else {}),
        }
        stood, begun = False, time.time()
        probing: asyncio.Task[None] | None = None
        try:
            with anyio.CancelScope() as scope:
                async with self._api.watch(self._path, params, silence=SILENCE_SECONDS) as events:
                    if streams_list:
                        await self._take_streamed(events)
                    stood = True
                    if not isinstance(self.error, Silent):  # else the first event shows that this watch is better
                        self._all_is_well()
                    probing = spawn(self._probe_while_open(scope), f"probe {self._path}")
                    async for event in events:
                        self._take_event(event)
        except Unreachable:
            if not stood:
                raise
            # this may be no more than a break, or a cluster without bookmarks: the next attempt tells
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
            kept = None if event["type"] == "DELETED" else self._keep(item)
            self._put(item["metadata"]["uid"], kept)
        self._silent = self._broken = 0
        self._events += 1
        self._all_is_well()

    async def _take_streamed(self, events: AsyncIterator[Json]) -> None:
        """Take in the list as the beginning of a watch, up to the bookmark that ends it."""
        self._listing = True
        found = set[str]()
        try:
            while True:
                with anyio.fail_after(STREAM_SECONDS):
                    event = await anext(events)
                item = event["object"]
                if event["type"] == "BOOKMARK":
                    if value(item, "metadata", "annotations", "k8s.io/initial-events-end") == "true":
                        break
                    continue
                uid = item["metadata"]["uid"]
                if event["type"] == "DELETED":
                    found.discard(uid)
                    self._put(uid, None)
                else:
                    found.add(uid)
                    self._put(uid, self._keep(item))
        except (TimeoutError, StopAsyncIteration):
            self._api.streams_lists = False
            raise Unreachable("The cluster's answer ended in the middle of a list.") from None
        finally:
            self._listing = False
        self._take_list(found, item["metadata"]["resourceVersion"])

    # -- probes -------------------------------------------------------------------------------------------------------

    async def _probe_while_open(self, stream: anyio.CancelScope) -> None:
        """Probe the open watch as long as a page is open; break it off if its events do not arrive any more."""
        unanswered = False
        while True:
            await self._api.attended.wait()
            try:
                verdict, unanswered = await self._verdict(), False
            except Unreachable as error:
                self._failed(error)  # the stream may be well; its next event, or the next probe, tells
                if unanswered := not unanswered:
                    continue  # by a new connection, see `leave_connections`
                verdict = Verdict.UNKNOWN
            if verdict is Verdict.CURRENT:
                self._all_is_well()
            elif verdict is not Verdict.UNKNOWN:
                self._failed(Silent(self._api.connection.host))
                self._silent += 1
                if verdict is Verdict.NO_WATCH or self._silent % MOST_SILENT == 0:
                    self._forget_version()
                self._api.silence.send()
                return stream.cancel()
            # where no watch comes through each probe costs a list
            await asyncio.sleep(PROBE_SECONDS * random.uniform(0.8, 1.0) * 2 ** min(self._silent, 4))  # noqa: S311

    async def _verdict(self) -> Verdict:
        """Probe the watch; of one that has just brought something nothing is asked."""
        version, events = self._version, self._events
        if version is None or time.time() - self._heard_at < 0.8 * PROBE_SECONDS:
            return Verdict.UNKNOWN
        verdict = await self._probe.ask(version)
        if verdict in (Verdict.BEHIND, Verdict.NO_WATCH):
            await asyncio.sleep(GRACE_SECONDS)
        return verdict if events == self._events else Verdict.CURRENT

    def _put(self, uid: str, item: Json | None) -> None:
        before = self.objects.get(uid)
        if item is None:
            self.objects.pop(uid, None)
        else:
            self.objects[uid] = _identity_of(item) if self._identities else item
            if before is not None and before["metadata"]["resourceVersion"] == item["metadata"]["resourceVersion"]:
                return
        if before is None and item is None:
            return
        try:
            self._changed(before, item)
        except Exception:
            log.exception("A change in %s was not understood", self._path)  # the others go on

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

    def _all_is_well(self) -> None:
        self._heard_at = time.time()
        if self.stale_since is not None:
            self.stale_since = self.error = None
            self._state_changed()

    async def _pause(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._hurry.wait()


def _identity_of(item: Json) -> Json:
    metadata = item["metadata"]
    return {"metadata": {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}}


def revision_of(item: Json) -> int:
    """Return which of two states of an object is the later one, where the numbers tell; else 0."""
    return revision(text(item, "metadata", "resourceVersion") or "")


def revision(version: str) -> int:
    """Return a resource version as a number; 0 for what is none."""
    return int(version) if version.isdecimal() and len(version) < 19 else 0
