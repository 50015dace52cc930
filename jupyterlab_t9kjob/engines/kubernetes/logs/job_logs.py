"""The logs of one job in a cluster: the ranks' files on its volume, and spools on disk with the output of its pods."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import anyio

from ....core.log_sources import LogFile
from ....core.system.disk_threads import DiskSilent, on_disk
from ....core.system.tasks import spawn
from ....core.translation import Text
from ....logs.serving.sift import sift
from ....logs.storage.cap import NOT_SUPPORTED, size_in_words
from ....logs.storage.lease import BEAT_SECONDS, Lease
from ....logs.storage.records import SpoolRecord, read_records
from ..client.api import Json, KubeApi
from ..client.fair_slots import Slots
from ..objects.kinds import ReplicaView
from ..objects.pods.container_runs import ContainerState, containers_of, gone
from .container_follower import ContainerFollower
from .listing import FOR_EVER, Listing
from .rank_files import RankIndexes, find_rank_logs
from .spool_store import SpoolStore, in_thread, not_kept

log = logging.getLogger(__name__)

RANKS_SECONDS: Final = 0.25
"""Interval between reads of the sizes of the ranks' files while a page shows the log; limits the precision of times."""
RANKS_SHARE: Final = 10.0
"""The interval is at least this many times as long as one reading: volumes may be slow, and ranks many."""
REST_SECONDS: Final = 3600.0
"""Interval while a page shows a log that is complete."""
FETCH_SECONDS: Final = 20.0
"""Longest time that a page waits for the log of a job that has ended."""
LEASE_FILE: Final = "lease"

Key = tuple[str, str]
"""Pod uid and container name."""


class JobLogs:
    """Follows, keeps and lists the logs of one job.

    Parameters
    ----------
    api
        The connection to the cluster; None if there is none: kept logs can still be read.
    namespace
        The job's namespace.
    folder
        Folder of the spools; it is created with the first line.
    ranks
        Folder, as the lab sees it, that has a folder with the ranks' files for each pod uid; None if there is none.
    always
        True to follow the pods even if no page shows the log; see `follow`.
    slots
        Slots of followers, which all jobs of this server share.
    cap
        Size limit of the spools in bytes, above which their middle is cut out; None for no limit.
    lifetime
        Returns the first and last time at which a pod of the job can have started, in seconds since the epoch.
    """

    def __init__(
        self,
        api: KubeApi | None,
        namespace: str,
        folder: Path,
        *,
        ranks: Path | None,
        always: bool,
        slots: Slots,
        cap: int | None = None,
        lifetime: Callable[[], tuple[float, float]] = lambda: FOR_EVER,
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._ranks = ranks
        self._always = always
        self._slots = slots
        self._cap = cap
        self._lifetime = lifetime
        self._kept = SpoolStore(folder)
        self._lease = Lease(folder / LEASE_FILE)
        self._replicas: list[ReplicaView] = []
        self._events: list[Json] = []
        self._states: dict[Key, tuple[ReplicaView, ContainerState]] = {}
        self._ended = False
        self._loaded = False
        self._listeners: list[Callable[[], None]] = []
        self._due: set[Key] = set()
        self._logs: dict[Key, ContainerFollower] = {}
        self._tasks: dict[Key, asyncio.Task[None]] = {}
        self._indexes = RankIndexes(folder)
        self._indexed = False
        self._scan_seconds = 0.0
        self._trouble: Text | None = None
        self._changed = asyncio.Event()
        self._seen = asyncio.Event()
        self._work: asyncio.Task[bool] | None = None

    # -- calls of the engine ------------------------------------------------------------------------------------------

    def update(self, replicas: Sequence[ReplicaView], *, ended: bool, events: Sequence[Json] = ()) -> None:
        """Set the job's pods and events; to be called at each change, once the pods have been listed.

        Parameters
        ----------
        replicas
            The job's replicas with their newest pods.
        ended
            True if the job has ended.
        events
            The cluster's events of the job and its pods.
        """
        found = {
            (state.pod_uid, state.name): (replica, state) for replica in replicas for state in containers_of(replica)
        }
        for key, (_replica, before) in self._states.items():
            if before.runs and key in found and not found[key][1].runs:
                self._due.add(key)
        self._replicas = list(replicas)
        self._events = list(events)
        self._states = found
        self._ended = ended
        for key, follower in self._logs.items():
            follower.update(found[key][1] if key in found else None)
        self._wake()

    def follow(self, always: bool) -> None:
        """Set whether the pods are followed even if no page shows the log."""
        if always != self._always:
            self._always = always
            self._wake()

    def subscribe(self, grown: Callable[[], None] = lambda: None) -> Callable[[], None]:
        """Follow the log for a page, and call `grown` when more is written; return a function that ends this."""
        self._listeners.append(grown)
        self._wake()
        looking = True

        def stop() -> None:
            nonlocal looking
            if looking:
                self._listeners.remove(grown)
            looking = False
            self._changed.set()

        return stop

    async def fetched(self) -> None:
        """Wait, at most `FETCH_SECONDS`, until the logs of pods that have ended are on disk."""
        with anyio.move_on_after(FETCH_SECONDS):
            if self._work is not None:
                await self._seen.wait()
            for follower in list(self._logs.values()):
                await follower.settled.wait()

    async def files(self) -> list[LogFile]:
        """Return the streams that exist now, in a stable order."""
        troubles = {key: follower.trouble for key, follower in self._logs.items() if follower.trouble is not None}
        listing = Listing(
            self._kept.folder,
            self._ranks,
            self._replicas,
            self._ended,
            troubles,
            self._trouble,
            self._lifetime(),
            self._events,
        )
        return await on_disk(
            self._kept.folder if self._ranks is None else [self._kept.folder, self._ranks], listing.files
        )

    async def stop(self) -> None:
        """Stop following; the spools stay."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
            self._work = None

    # -- the work -----------------------------------------------------------------------------------------------------

    @property
    def _live(self) -> bool:
        """True if containers are followed while they run."""
        return self._always or bool(self._listeners)

    @property
    def _open(self) -> list[Key]:
        """The containers whose logs are not complete on disk."""
        return [
            key
            for key, (_replica, state) in self._states.items()
            if (self._live or key in self._due) and self._has_more(state)
        ]

    def _has_more(self, state: ContainerState) -> bool:
        return any(run is not None and not self._kept.has_all_of(state, run) for run in (state.previous, state.current))

    @property
    def _wanted(self) -> bool:
        return self._api is not None and bool(self._listeners or self._open or self._tasks)

    def _wake(self) -> None:
        """Start the work if there is any."""
        self._changed.set()
        if self._wanted:
            self._seen.clear()
            if self._work is None or self._work.done():
                self._work = spawn(self._run(), f"logs in {self._kept.folder}")
                self._work.add_done_callback(self._ended_work)

    def _ended_work(self, work: asyncio.Task[bool]) -> None:
        """Start again if new work came while the last work ended."""
        if not work.cancelled() and work.result():
            self._wake()

    async def _run(self) -> bool:
        """Follow and read logs until no more are wanted; return False after an unexpected error."""
        try:
            while self._wanted:
                self._changed.clear()
                wait = await self._round()
                if not self._changed.is_set():
                    self._seen.set()
                with anyio.move_on_after(wait):
                    await self._changed.wait()
        except Exception:
            log.exception("Keeping the logs in %s failed", self._kept.folder)
            return False
        finally:
            self._seen.set()
            await self._let_go()
        return True

    async def _round(self) -> float:
        """Start and stop followers as needed; return the seconds until the next round."""
        if not self._loaded:
            self._kept.records = await on_disk(self._kept.folder, read_records, self._kept.folder)
            self._loaded = True
        indexes = self._ranks is not None and self._live and not (self._ended and self._indexed)
        if not (self._open or self._lost or indexes):
            await self._let_go()
            return REST_SECONDS
        try:
            await in_thread(
                self._kept.folder.parent, lambda: self._kept.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            )
            if not self._lease.valid and not await self._lease.hold():
                await self._let_go()
                self._loaded = False  # Another server writes the records.
                return BEAT_SECONDS / 2
            await self._lease.hold()
            if indexes:
                await self._index_ranks()
            await self._keep_below_cap()
            self._trouble = None
        except OSError as error:
            self._trouble = not_kept(error, self._kept.folder)
            return BEAT_SECONDS
        await self._start_and_stop()
        # The ranks' files contain no times; a line gets the time at which its bytes were first seen.
        soon = max(RANKS_SECONDS, RANKS_SHARE * self._scan_seconds) if indexes and self._listeners else BEAT_SECONDS
        return min(soon, BEAT_SECONDS)

    @property
    def _lost(self) -> list[SpoolRecord]:
        """Records that are not complete although their pods no longer exist."""
        if not self._live:
            return []
        return [
            record
            for record in self._kept.records.values()
            if not record.complete and (record.pod_uid, record.container) not in self._states
        ]

    async def _start_and_stop(self) -> None:
        for key in [key for key, task in self._tasks.items() if task.done()]:
            del self._tasks[key], self._logs[key]
            self._due.discard(key)
        for key, follower in self._logs.items():
            follower.follows, follower.watched = self._live, bool(self._listeners)
            if not self._live and key not in self._due:
                self._tasks[key].cancel()
        for key in self._open:
            if key not in self._tasks:
                self._start(key, *self._states[key])
        for record in self._lost:
            key = (record.pod_uid, record.container)
            if key not in self._tasks:
                self._start(key, None, gone(record))
                self._logs[key].update(None)

    def _start(self, key: Key, replica: ReplicaView | None, state: ContainerState) -> None:
        assert self._api is not None  # noqa: S101
        follower = ContainerFollower(
            self._api,
            self._namespace,
            self._kept,
            self._lease,
            self._slots,
            state,
            self._notify,
            replica=replica.name if replica is not None else "",
            earlier=replica.earlier if replica is not None else 0,
        )
        follower.follows, follower.watched = self._live, bool(self._listeners)
        self._logs[key] = follower
        task = self._tasks[key] = asyncio.create_task(follower.run(), name=f"log of {state.pod}/{state.name}")
        task.add_done_callback(lambda _task: self._changed.set())

    def _notify(self) -> None:
        for grown in self._listeners:
            grown()

    async def _index_ranks(self) -> None:
        assert self._ranks is not None  # noqa: S101
        folder, begun = self._ranks, time.monotonic()
        try:
            found = await on_disk(folder, find_rank_logs, folder)
        except DiskSilent:  # `files` reports it to the page; the containers' logs are kept all the same.
            return
        self._scan_seconds = time.monotonic() - begun
        if await in_thread(self._kept.folder, lambda: self._indexes.note(found, time.time())):
            self._notify()
        for record in self._kept.records.values():
            if record.main and any(log.pod_uid == record.pod_uid for log in found):
                path = self._kept.path(record)
                if await on_disk(path, path.exists):
                    await in_thread(path, lambda path=path: sift(path))  # type: ignore[misc]
        self._indexed = self._ended and not self._tasks

    async def _keep_below_cap(self) -> None:
        if self._cap is None:
            return
        cap = self._cap
        try:
            await in_thread(self._kept.folder, lambda: self._kept.shorten(cap))
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                raise
            self._cap = None
            log.warning("The logs in %s can't be kept below %s: %s", self._kept.folder, size_in_words(cap), error)

    async def _let_go(self) -> None:
        tasks, self._tasks, self._logs = list(self._tasks.values()), {}, {}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(OSError):
            await in_thread(self._kept.folder, self._lease.release)
