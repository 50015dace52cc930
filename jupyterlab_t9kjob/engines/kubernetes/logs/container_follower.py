"""Follows the log of one container into spools on disk, through broken connections, restarts and the pod's end.

The end of an answer does not mean that the container has ended: load balancers close a stream earlier.
The log of a run that has ended is read once more without following. The log of the previous run is fetched before the
next restart removes it. Parts that are lost are recorded with their time spans.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Final

import anyio

from ....core.translation import Text, _
from ....logs.storage.lease import Lease
from ....logs.storage.records import SpoolRecord
from ....logs.storage.spool import Apart, Spool
from ..client.api import ApiError, KubeApi, Params, Unreachable
from ..client.fair_slots import Slot, Slots
from ..client.line_stream import gathered
from ..objects.pods.container_runs import ContainerRun, ContainerState
from ..objects.text import answer_of, plain
from .container_spools import ContainerSpools, NotOurs, may_be_of_later_run
from .kubelet_rotation import BEFORE, ROTATED, UNFOLLOWED, LostStart, Rotations
from .pod_requests import OtherRun, PodRequests
from .spool_store import SpoolStore, in_thread, not_kept

log = logging.getLogger(__name__)

FIRST_DELAY: Final = 1.0
"""Seconds before the first retry; the delay doubles up to one of the limits below."""
LONGEST_DELAY: Final = 4.0
LASTING_DELAY: Final = 30.0
"""Longest delay if the watch reports the end of the trouble, or the cluster is lost: its return wakes all followers."""
REFUSED_DELAY: Final = 300.0
"""Longest delay if a permission is missing."""
SILENCE_SECONDS: Final = 60.0
"""A stream that is silent for so long is opened again: kubelets can lose a follower (kubernetes#115701)."""
WATCHED_SILENCE_SECONDS: Final = 15.0
"""The same limit while a page shows the log: a network may forget a connection that both ends keep open."""
ALIVE_SECONDS: Final = 1.0
"""A stream that has brought something within this time is not silent."""
ANSWER_SILENCE: Final = 30.0
"""Limit of silence while the log of a run that has ended is read."""
LAST_WORDS_SECONDS: Final = 5.0
"""Time that a stream may take to its end after its container has ended."""
CONFIRM_SECONDS: Final = 2.0
"""Time that the API server may take to learn from the kubelet that the container has started another run."""
QUIET_SECONDS: Final = 0.3
"""A stream that brings no data for so long has delivered all output that existed at its start."""
GIVE_UP_SECONDS: Final = 600.0
"""Time for which a node may fail to give the log of an ended run before the log counts as lost."""


class ContainerFollower:
    """Keeps the log of one container of a pod.

    Parameters
    ----------
    api
        The connection to the cluster.
    namespace
        The pod's namespace.
    kept
        The job's spools.
    lease
        Lease that allows this server to write the spools.
    slots
        Slots of followers, which all jobs share.
    state
        The container as last seen.
    grown
        Called when more has been written.
    replica
        Name of the pod's replica.
    earlier
        Number of the replica's attempts before this pod.

    Attributes
    ----------
    follows
        True to follow the log while the container runs; False to read it when the run has ended.
    watched
        True while a page shows the log.
    trouble
        Why the log can't be kept at the moment; None if it can.
    settled
        Set when everything is on disk that was available at once.
    """

    def __init__(
        self,
        api: KubeApi,
        namespace: str,
        kept: SpoolStore,
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
        self.watched = False
        self.trouble: Text | None = None
        self.settled = asyncio.Event()
        self._api = api
        self._pod = PodRequests(api, namespace, state)
        self._kept = kept
        self._spools = ContainerSpools(kept, lease, replica=replica, earlier=earlier)
        self._slots = slots
        self._grown = grown
        self._here = True
        self._changed = asyncio.Event()
        self._silent = asyncio.Event()
        self._delay = FIRST_DELAY
        self._failing_since: float | None = None
        self._heard = 0.0
        self._start = LostStart()
        self._doubtful: str | None = None

    def update(self, state: ContainerState | None) -> None:
        """Set the container's state; None if the pod no longer exists."""
        if state is None:
            self._here = False
        elif state == self.state:
            return
        else:
            self.state = state
        self._changed.set()

    async def run(self) -> None:
        """Follow the log until it is complete. The caller cancels this task when the log is no longer needed."""
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
        """Do the next step; return how many seconds to wait for a change, None if the log is complete."""
        try:
            wait = await self._next()
        except OtherRun:
            self._here = False  # Another pod may have the name; `PodRequests.is_gone` checks it.
            return FIRST_DELAY
        except NotOurs:
            self.settled.set()
            return None
        except OSError as error:
            self.trouble = not_kept(error, self._kept.folder)
            return self._failed()
        except ApiError as error:
            if error.status == 403:
                self.trouble = _("This account may not read the log: {answer}", answer=answer_of(error))
                return self._failed(REFUSED_DELAY)
            if error.status == 404 and error.reason == "NotFound":
                self._here = False  # `PodRequests.is_gone` checks it.
                return self._failed()
            if error.status == 400:
                return self._failed(LASTING_DELAY)  # The container waits; the watch reports why.
            self.trouble = _("The log can't be read: {answer}", answer=answer_of(error))
            return max(self._failed(), min(error.retry_after or 0.0, LASTING_DELAY))
        except Unreachable as error:
            self._failing_since = None
            self.trouble = answer_of(error)
            return self._failed()
        except Exception as error:
            log.exception("Keeping the log of %s failed", self._pod.path)
            self.trouble = _("The log can't be kept: {error}.", error=type(error).__name__)
            return self._failed()
        self.trouble = None
        return wait

    def _failed(self, longest: float | None = None) -> float:
        """Return the delay before the next retry."""
        self.settled.set()
        delay = min(self._delay, longest or (LASTING_DELAY if self._api.lost else LONGEST_DELAY))
        self._delay = delay * 2
        return delay

    def _retry(self) -> None:
        """Retry at once, because the cluster answers again."""
        self._delay = FIRST_DELAY
        self._changed.set()

    def _perhaps_silent(self) -> None:
        """Open the stream again if it is silent too, because another stream of the same age has fallen silent."""
        if not self._is_heard(ALIVE_SECONDS):
            self._silent.set()

    def _until_silent(self) -> float:
        """Return the seconds until the stream counts as silent."""
        heard = self._heard if self.watched else time.monotonic()
        return max(0.0, heard + WATCHED_SILENCE_SECONDS - time.monotonic())

    def _is_heard(self, seconds: float) -> bool:
        return time.monotonic() - self._heard < seconds

    async def _next(self) -> float | None:
        state = self.state
        if not self._here:
            if await self._pod.is_gone():
                await self._spools.lose_with_pod(state)
                return None
            if state.current is None:
                return LASTING_DELAY
            if self._changed.is_set():
                return 0.0  # The pod may have gone since the answer.
            self._here = True
        for run in (state.previous, state.current):
            if run is None or run.ended_at is None or self._kept.has_all_of(state, run):
                continue
            await self._read(state, run, previous=run is state.previous)
            return 0.0
        await self._spools.lose_earlier(state)
        if state.current is None or state.current.ended_at is not None or not self.follows:
            return None
        return await self._follow(state, state.current)

    # -- one run -----------------------------------------------------------------------------------------------------

    async def _read(self, state: ContainerState, run: ContainerRun, *, previous: bool) -> None:
        """Read the log of a run that has ended, as far as the node still has it."""
        record = self._spools.record(state, run)
        spool = await self._spools.open(record)
        lost, was_followed = None, spool.size > 0
        try:
            await self._consume(record, spool, {"previous": previous or None}, ANSWER_SILENCE, run)
            if may_be_of_later_run(spool, run) or self._doubtful == record.key:
                if previous and was_followed:
                    await self._spools.clear(record, spool)
                    await self._consume(record, spool, {"previous": True}, ANSWER_SILENCE, run)
                elif not previous and state.may_restart:
                    await self._confirm_lines(record, spool, run)
        except ApiError as error:
            if error.status != 400 and error.reason != "NotFound" and not self._gives_up(error):
                raise
            lost = _("The node no longer has it ({answer}).", answer=answer_of(error))
        else:
            if spool.notice is not None and spool.size == 0:
                lost = _("The node no longer has it ({answer}).", answer=plain(spool.notice))
        self._failing_since = None
        await self._judge(record, spool, run, ended=True)
        await self._spools.finish(record, run.ended_at, spool, lost)

    async def _confirm_lines(self, record: SpoolRecord, spool: Spool, run: ContainerRun) -> None:
        """Remove the lines if the container has started another run, to which they belong."""
        self._doubtful = record.key  # Until the API server has answered.
        await asyncio.sleep(CONFIRM_SECONDS)
        has_other_run = await self._pod.has_other_run(run)
        self._doubtful = None
        if has_other_run:
            await self._spools.clear(record, spool)
            raise OtherRun

    def _gives_up(self, error: ApiError) -> bool:
        """Return True if the node has failed for so long that its log counts as lost."""
        if error.status < 500:
            return False
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        return now - self._failing_since >= GIVE_UP_SECONDS

    async def _follow(self, state: ContainerState, run: ContainerRun) -> float:
        """Follow a run until the stream ends; return the seconds to wait before the next step."""
        record = self._spools.record(state, run)
        async with self._slots.turn() as slot:
            spool = await self._spools.open(record)
            self._heard = time.monotonic()
            self._silent.clear()
            reading = asyncio.create_task(self._consume(record, spool, {"follow": True}, SILENCE_SECONDS, run))
            try:
                given_up = await self._watch(reading, slot, run, record, spool)
            finally:
                reading.cancel()
                await asyncio.wait({reading})
        if given_up or reading.cancelled():
            return 0.0
        error = reading.exception()
        if isinstance(error, Unreachable) and time.monotonic() - self._heard >= SILENCE_SECONDS - 1:
            return 0.0  # The stream was only silent.
        if error is not None:
            raise error
        self._spools.clean = record.key
        if not self._here or self.state.current != run:
            return 0.0
        return self._failed()

    async def _watch(
        self, reading: asyncio.Task[None], slot: Slot, run: ContainerRun, record: SpoolRecord, spool: Spool
    ) -> bool:
        """Wait for the end of a stream; return True if it was given up: its slot is needed, or it is silent."""
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
                if self.settled.is_set() or not self._is_heard(QUIET_SECONDS):
                    await self._judge(record, spool, run)
                    self.settled.set()
                if news.done():
                    self._changed.clear()
                    if not self._here or self.state.current != run:
                        await asyncio.wait({reading}, timeout=LAST_WORDS_SECONDS)
                        return False
                    news = asyncio.create_task(self._changed.wait())
        finally:
            for task in (news, turn_over, silent):
                task.cancel()

    async def _consume(
        self, record: SpoolRecord, spool: Spool, params: Params, silence: float, run: ContainerRun
    ) -> None:
        """Read one answer to its end into a spool."""
        since = spool.since
        query: Params = {
            **params,
            "container": record.container,
            "timestamps": True,
            "sinceTime": None if since is None else _rfc3339(since),
        }
        clean, self._spools.clean = self._spools.clean, None
        self._start.asked(self._kept.path(record), spool.size)
        rotations = Rotations(lambda: self._pod.newest_file())
        try:
            async with (
                self._api.stream(f"{self._pod.path}/log", query, silence=silence) as stream,
                gathered(stream) as chunks,
            ):
                if not params.get("previous"):
                    await self._pod.confirm(run)
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
                            await self._pod.confirm(run)
                        await in_thread(self._kept.folder, spool.join)
                    self._grown()
                    await self._spools.note(record, spool.gaps(), UNFOLLOWED)
                    await self._spools.note(record, await rotations.gaps(spool), ROTATED)
                if not params.get("previous"):
                    await self._spools.note(record, await rotations.gaps(spool, ended=True), ROTATED)
        except OSError:
            self._spools.close()
            raise
        except (ApiError, OtherRun) as error:
            if isinstance(error, OtherRun) or error.status == 400 or error.reason == "NotFound":
                # The container ended, or another pod has taken its name: nothing is missing. After other errors, the
                # container may have written more.
                self._spools.clean = clean
            raise
        finally:
            rotations.stop()

    async def _judge(self, record: SpoolRecord, spool: Spool, run: ContainerRun, *, ended: bool = False) -> None:
        """Record that the beginning may be missing, as soon as the container's output rate is known."""
        gaps = await self._start.gaps(self._kept.path(record), spool.size, run.started_at, ended=ended)
        await self._spools.note(record, gaps, BEFORE)


def _rfc3339(second: int) -> str:
    return datetime.fromtimestamp(second, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
