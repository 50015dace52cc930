"""One container's log: followed through breaks, restarts and the end of its pod, into a spool on disk.

The rules are those of kube-engines.md §5: an answer that ends does not mean that the container has; the log of a life
that has ended is read once more without following; the one before the present life is fetched before the next restart
takes it; what can't be had any more is said with its time span.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Final

import anyio

from ....core.system.disk_threads import on_disk
from ....logs.storage.lease import Lease
from ....logs.storage.records import SpoolRecord
from ....logs.storage.spool import Apart, Spool
from ....logs.storage.stamped import LONGEST_STAMP, StampedLines
from ..client.api import ApiError, KubeApi, Params, Unreachable
from ..client.fair_slots import Slot, Slots
from ..client.json_access import parts, text
from ..objects.container_runs import ContainerRun, ContainerState, lives_of
from ..objects.text import answer_of, plain
from .container_spools import NotOurs, Spools
from .kubelet_rotation import BEFORE, ROTATED, UNFOLLOWED, Rotations, lost_start
from .spool_store import Kept, in_thread, not_kept

log = logging.getLogger(__name__)

FIRST_DELAY: Final = 1.0
LONGEST_DELAY: Final = 4.0
LASTING_DELAY: Final = 30.0
"""The same for what the watch tells the end of; and for a cluster that is lost, at whose return all are woken."""
REFUSED_DELAY: Final = 300.0
"""The same for a right that is missing."""
SILENCE_SECONDS: Final = 60.0
"""Kubelets can lose a follower when they rotate a log (kubernetes#115701): one that hears nothing asks anew."""
LOOKED_SILENCE_SECONDS: Final = 15.0
"""Limit of silence while somebody looks at the log: a network may forget a connection that both ends keep open."""
ALIVE_SECONDS: Final = 1.0  # A stream that has brought something so lately is not silent.
ANSWER_SILENCE: Final = 30.0
LAST_WORDS_SECONDS: Final = 5.0
"""What a stream gets to come to its end by itself when its container has ended."""
CONFIRM_SECONDS: Final = 2.0
"""Until the API server knows what its kubelet knows already: that it is another life of the container."""
QUIET_SECONDS: Final = 0.3
GIVE_UP_SECONDS: Final = 600.0
"""How long a node may fail to give a log of a life that has ended before that counts as lost."""


class OtherLife(Exception):
    """The answer may be of another life of the container than was meant."""


class ContainerLog:
    """Keeps the log of one container of a pod.

    Parameters
    ----------
    api, namespace
        The cluster, and where the pod is.
    kept
        The job's spools.
    lease
        Allows to write them.
    slots
        Turns to follow.
    state
        The container as last seen.
    grown
        Called when more has been written.
    replica
        Of which the pod is.
    earlier
        How many attempts it had before this pod.

    Attributes
    ----------
    follows, looked
        Whether it is followed while it runs, else it is read when it has ended; and whether somebody looks at it.
    trouble
        Why its log can't be kept at the moment, a sentence; None if it can.
    settled
        Set when all is here that could be had at once.
    """

    def __init__(
        self,
        api: KubeApi,
        namespace: str,
        kept: Kept,
        lease: Lease,
        slots: Slots,
        state: ContainerState,
        grown: Callable[[], None],
        *,
        replica: str,
        earlier: int,
    ) -> None:
        self.state = state
        self.follows = True
        self.looked = False
        self.trouble: str | None = None
        self.settled = asyncio.Event()
        self._api = api
        self._pod_path = f"/api/v1/namespaces/{namespace}/pods/{state.pod}"
        self._kept = kept
        self._spools = Spools(kept, lease, replica=replica, earlier=earlier)
        self._slots = slots
        self._grown = grown
        self._here = True
        self._changed = asyncio.Event()
        self._silent = asyncio.Event()
        self._delay = FIRST_DELAY
        self._failing_since: float | None = None
        self._heard = 0.0
        self._asked_at: float | None = None

    def update(self, state: ContainerState | None) -> None:
        """Take note of what the cluster tells; None when the pod is gone."""
        if state is None:
            self._here = False
        elif state == self.state:
            return
        else:
            self.state = state
        self._changed.set()

    async def run(self) -> None:
        """Keep the log until nothing more can come. To be cancelled when nobody wants it."""
        end, end_silence = self._api.on_wake(self._retry), self._api.silence.listen(self._perhaps_silent)
        try:
            while True:
                self._changed.clear()
                wait = await self._attempt()
                if wait is None:
                    return
                if wait > 0:
                    with anyio.move_on_after(wait):
                        await self._changed.wait()
        finally:
            end()
            end_silence()
            self.settled.set()
            self._spools.close()

    async def _attempt(self) -> float | None:
        """Do the next thing; returns for how many seconds to wait for news, None when all is done."""
        try:
            wait = await self._next()
        except OtherLife:
            return FIRST_DELAY
        except NotOurs:
            self.settled.set()
            return None
        except OSError as error:
            self.trouble = not_kept(error, self._kept.folder)
            return self._failed()
        except ApiError as error:
            if error.status == 403:
                self.trouble = f"This account may not read its log: {answer_of(error)}"
                return self._failed(REFUSED_DELAY)
            if error.status == 404 and error.reason == "NotFound":
                self._here = False  # to be made sure of
                return self._failed()
            if error.status == 400:
                return self._failed(LASTING_DELAY)  # it waits, and the watch tells why
            self.trouble = f"Its log can't be read: {answer_of(error)}"
            return max(self._failed(), min(error.retry_after or 0.0, LASTING_DELAY))
        except Unreachable as error:
            self._failing_since = None
            self.trouble = answer_of(error)
            return self._failed()
        except Exception as error:
            log.exception("Keeping the log of %s failed", self._pod_path)
            self.trouble = f"Its log can't be kept: {type(error).__name__}."
            return self._failed()
        self.trouble = None
        return wait

    def _failed(self, longest: float | None = None) -> float:
        self.settled.set()
        delay = min(self._delay, longest or (LASTING_DELAY if self._api.lost else LONGEST_DELAY))
        self._delay = delay * 2
        return delay

    def _retry(self) -> None:
        """Try again: the cluster answers again."""
        self._delay = FIRST_DELAY
        self._changed.set()

    def _perhaps_silent(self) -> None:
        """Begin the stream anew, for another one from before has fallen silent."""
        if not self._is_heard(ALIVE_SECONDS):
            self._silent.set()

    def _until_silent(self) -> float:
        """Return after how many seconds to see whether the stream has fallen silent."""
        heard = self._heard if self.looked else time.monotonic()
        return max(0.0, heard + LOOKED_SILENCE_SECONDS - time.monotonic())

    def _is_heard(self, seconds: float) -> bool:
        return time.monotonic() - self._heard < seconds

    async def _next(self) -> float | None:
        state = self.state
        if not self._here:
            if await self._pod_is_gone(state):
                await self._spools.lose_with_pod(state)
                return None
            if state.current is None:
                return LASTING_DELAY
            self._here = True
        for life in (state.previous, state.current):
            if life is None or life.ended_at is None or self._kept.has_all_of(state, life):
                continue
            await self._read(state, life, previous=life is state.previous)
            return 0.0
        await self._spools.lose_earlier(state)
        if state.current is None or state.current.ended_at is not None or not self.follows:
            return None
        return await self._follow(state, state.current)

    # -- one life -----------------------------------------------------------------------------------------------------

    async def _read(self, state: ContainerState, life: ContainerRun, *, previous: bool) -> None:
        """Fetch all that can still be had of a life that has ended."""
        record = self._spools.record(state, life)
        spool = await self._spools.open(record)
        lost = None
        try:
            await self._consume(record, spool, {"previous": previous or None}, ANSWER_SILENCE, life)
        except ApiError as error:
            if error.status != 400 and error.reason != "NotFound" and not self._gives_up(error):
                raise
            lost = f"The node does not have it any more ({answer_of(error)})."
        else:
            if spool.notice is not None and spool.size == 0:
                lost = f"The node does not have it any more ({plain(spool.notice)})."
        self._failing_since = None
        await self._judge(record, spool, life)
        await self._spools.finish(record, life.ended_at, spool, lost)

    def _gives_up(self, error: ApiError) -> bool:
        """Whether a node has failed for so long that it will not give the log any more."""
        if error.status < 500:
            return False
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        return now - self._failing_since >= GIVE_UP_SECONDS

    async def _follow(self, state: ContainerState, life: ContainerRun) -> float:
        """Follow a life as long as the stream lasts; returns how long to wait then."""
        record = self._spools.record(state, life)
        async with self._slots.turn() as slot:
            spool = await self._spools.open(record)
            self._heard = time.monotonic()
            self._silent.clear()
            reading = asyncio.create_task(self._consume(record, spool, {"follow": True}, SILENCE_SECONDS, life))
            try:
                given_up = await self._watch(reading, slot, life, record, spool)
            finally:
                reading.cancel()
                await asyncio.wait({reading})
        if given_up or reading.cancelled():
            return 0.0
        error = reading.exception()
        if isinstance(error, Unreachable) and time.monotonic() - self._heard >= SILENCE_SECONDS - 1:
            return 0.0  # nothing was wrong but that nothing came
        if error is not None:
            raise error
        self._spools.clean = record.key
        if not self._here or self.state.current != life:
            return 0.0
        return self._failed()

    async def _watch(
        self, reading: asyncio.Task[None], slot: Slot, life: ContainerRun, record: SpoolRecord, spool: Spool
    ) -> bool:
        """Wait until a stream has ended or should; returns whether its turn is over, or it has fallen silent."""
        news = asyncio.create_task(self._changed.wait())
        turn_over = asyncio.create_task(slot.asked_back.wait())
        silent = asyncio.create_task(self._silent.wait())
        try:
            while True:
                timeout = self._until_silent() if self.settled.is_set() else QUIET_SECONDS
                await asyncio.wait({reading, news, turn_over, silent}, timeout=timeout, return_when="FIRST_COMPLETED")
                if reading.done() or turn_over.done() or silent.done():
                    return not reading.done()
                if self._until_silent() <= 0:
                    return True
                if not self._is_heard(QUIET_SECONDS) and not self.settled.is_set():
                    await self._judge(record, spool, life)
                    self.settled.set()
                if news.done():
                    self._changed.clear()
                    if not self._here or self.state.current != life:
                        await asyncio.wait({reading}, timeout=LAST_WORDS_SECONDS)
                        return False
                    news = asyncio.create_task(self._changed.wait())
        finally:
            for task in (news, turn_over, silent):
                task.cancel()

    async def _consume(
        self, record: SpoolRecord, spool: Spool, params: Params, silence: float, life: ContainerRun
    ) -> None:
        """Read one answer to its end."""
        since = spool.since
        query: Params = {
            **params,
            "container": record.container,
            "timestamps": True,
            "sinceTime": None if since is None else _rfc3339(since),
        }
        clean, self._spools.clean = self._spools.clean, None
        if spool.size == 0 and self._asked_at is None:
            self._asked_at = time.time()
        rotations = Rotations(lambda: self._newest_file(record.container))
        try:
            async with self._api.stream(f"{self._pod_path}/log", query, silence=silence) as chunks:
                if not params.get("previous"):
                    await self._confirm(life)
                clean = None
                async for chunk in chunks:
                    self._heard = time.monotonic()
                    self._delay = FIRST_DELAY
                    self.trouble = None
                    await self._spools.hold()
                    try:
                        await in_thread(self._kept.folder, lambda data=chunk: spool.feed(data))  # type: ignore[misc]
                    except Apart:
                        if not params.get("previous"):
                            await asyncio.sleep(CONFIRM_SECONDS)
                            await self._confirm(life)
                        await in_thread(self._kept.folder, spool.join)
                    self._grown()
                    await self._spools.note(record, spool.gaps(), UNFOLLOWED)
                    await self._spools.note(record, await rotations.gaps(spool), ROTATED)
                if not params.get("previous"):
                    await self._spools.note(record, await rotations.gaps(spool, ended=True), ROTATED)
        except OSError:
            self._spools.close()
            raise
        except (ApiError, OtherLife) as error:
            if isinstance(error, OtherLife) or error.status == 400 or error.reason == "NotFound":
                # It went right after its end, or waits in a pod in its place; after other answers it may have gone on.
                self._spools.clean = clean
            raise
        finally:
            rotations.stop()

    async def _newest_file(self, container: str) -> int | None:
        """Ask when the newest file of the log begins."""
        query: Params = {"container": container, "timestamps": True, "limitBytes": LONGEST_STAMP}
        text = await self._api.get_text(f"{self._pod_path}/log", query)
        pieces = StampedLines().feed(text.encode())
        return pieces[0].time if pieces else None

    async def _judge(self, record: SpoolRecord, spool: Spool, life: ContainerRun) -> None:
        """Say if the beginning may be missing, once it is clear how much the container writes."""
        asked_at, self._asked_at = self._asked_at, None
        if asked_at is not None:
            path = self._kept.path(record)
            gap = await on_disk(path, lost_start, path, life.started_at, asked_at)
            await self._spools.note(record, [gap] if gap is not None else [], BEFORE)

    async def _confirm(self, life: ContainerRun) -> None:
        """Make sure that what is read is of that life: the log is asked for by names, which go on to the next one."""
        try:
            pod = await self._api.get(self._pod_path)
        except ApiError as error:
            if error.status == 403:
                return  # what may be watched may not be read: so it goes without
            raise
        statuses = [*parts(pod, "status", "containerStatuses"), *parts(pod, "status", "initContainerStatuses")]
        for status in statuses:
            current = lives_of(status)[0]
            same = text(status, "name") == self.state.name
            if same and current is not None and current.container_id == life.container_id:
                return
        raise OtherLife

    async def _pod_is_gone(self, state: ContainerState) -> bool:
        """Make sure that it does not only seem so, as when pods can't be listed."""
        try:
            pod = await self._api.get(self._pod_path)
        except ApiError as error:
            if error.status == 403 or error.reason == "NotFound":
                return True
            raise
        return text(pod, "metadata", "uid") != state.pod_uid


def _rfc3339(second: int) -> str:
    return datetime.fromtimestamp(second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
