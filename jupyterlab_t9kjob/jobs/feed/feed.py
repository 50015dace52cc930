"""The feed: sends changes of jobs, TensorBoards, engines and capacity to the subscribed pages, by revision.

A change is published at once as a new revision; further changes are collected for up to `INTERVAL` seconds. A page at
revision r gets one message with all changes since r. A slow page therefore skips revisions and needs no queue, and
pages at the same revision share one encoded message. Messages are translated when they are encoded.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import anyio

from ...core.capacity import Capacity
from ...core.engine.info import EngineInfo
from ...core.errors import JobError, NotFound
from ...core.job import JobSummary
from ...core.notices import Notice
from ...core.system.pace import rest
from ...core.system.tasks import spawn
from ...core.translation import language
from ...tensorboard.model import TensorBoard
from ..query import listed
from ..service import JobService
from .messages import Delta, JobDetail, Snapshot, SnapshotParts
from .revision_table import RevisionTable

log = logging.getLogger(__name__)

INTERVAL = 0.1
CAPACITY_INTERVAL = 1.0
ENGINES_INTERVAL = 10.0
MOVES_INTERVAL = 1.0
"""Shortest time between two reads of the engines' states, in seconds."""
KEPT_DETAILS = 100
KEPT_NOTICES = 16


@dataclass(frozen=True)
class View:
    """The lists to which a page subscribes."""

    jobs: bool
    tensorboards: bool


class TensorBoards(Protocol):
    """The methods of the TensorBoard manager that the feed uses."""

    async def list(self) -> list[TensorBoard]:
        """Return all TensorBoards."""

    def listen(self, listener: Callable[[str, TensorBoard | None], None]) -> Callable[[], None]:
        """Call `listener` after every change; return a function that ends the calls."""


class CapacitySource(Protocol):
    """The methods of a source of capacity that the feed uses."""

    async def now(self) -> Capacity:
        """Return the free resources; raise `JobError` if they are not known."""

    def subscribe(self, moved: Callable[[], None]) -> Callable[[], None]:
        """Keep the capacity current and call `moved` after every change; return a function that ends that."""


class Feed:
    """Publisher of the state of all jobs, TensorBoards and engines.

    Parameters
    ----------
    jobs, tensorboards, capacity
        Sources of the state.
    attend
        Called when the first page is opened, so that clusters are probed. Returns a function that is called after the
        last page was closed.
    """

    def __init__(
        self,
        jobs: JobService,
        tensorboards: TensorBoards,
        capacity: CapacitySource,
        attend: Callable[[], Callable[[], None]] = lambda: lambda: None,
    ) -> None:
        self.revision = 0
        self._service = jobs
        self._manager = tensorboards
        self._jobs = RevisionTable()
        self._boards = RevisionTable()
        self._notices: deque[tuple[int, Notice]] = deque(maxlen=KEPT_NOTICES)
        self._engines: list[EngineInfo] = []
        self._engines_revision = 0
        self._engines_time = 0.0
        self._engine_reads = 0
        self._engine_read_shown = 0
        self._source = capacity
        self._capacity: Capacity | None = None
        self._capacity_is_of_now = False
        self._capacity_revision = 0
        self._capacity_watchers = 0
        self._capacity_task: asyncio.Task[None] | None = None
        self._phases_with_devices: dict[str, str] = {}
        self._engines_moved = asyncio.Event()
        self._pending: dict[tuple[int, str], tuple[RevisionTable, str, Any]] = {}
        self._changed = asyncio.Event()
        self._watchers: set[asyncio.Event] = set()
        self._attend = attend
        self._end_attention: Callable[[], None] | None = None
        self._messages: dict[tuple[str, View, int | None, int | None], Iterable[str]] = {}
        self._details: dict[str, tuple[tuple[str, int], asyncio.Task[str]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ends: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Read the current state and listen to changes."""
        self._ends = [self._service.listen(self._note_job), self._manager.listen(self._note_board)]
        for job in reversed(await self._service.jobs()):
            self._note_job(job.id, job)
        for board in await self._manager.list():
            self._note_board(board.id, board)
        self._publish()
        await self._read_engines()
        self._tasks = [asyncio.create_task(self._publish_changes()), asyncio.create_task(self._refresh_engines())]

    async def stop(self) -> None:
        """Stop listening."""
        for end in self._ends:
            end()
        tasks = self._tasks + [task for _key, task in self._details.values()]
        tasks += [self._capacity_task] if self._capacity_task is not None else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- subscriptions ------------------------------------------------------------------------------------------------

    async def attach(self, news: asyncio.Event) -> None:
        """Set an event at every new revision, until `detach` is called."""
        self._watchers.add(news)
        if self._end_attention is None:
            self._end_attention = self._attend()
        if self._engines_moved.is_set() or time.monotonic() - self._engines_time > ENGINES_INTERVAL:
            await self._read_engines()

    def read_engines_soon(self) -> None:
        """Read the engines' states soon, since one of them has changed."""
        self._engines_moved.set()

    def detach(self, news: asyncio.Event) -> None:
        """Stop setting an event that was given to `attach`."""
        self._watchers.discard(news)
        if not self._watchers and self._end_attention is not None:
            self._end_attention()
            self._end_attention = None

    def subscribe_to_capacity(self) -> Callable[[], None]:
        """Subscribe to the capacity, which is counted and published for subscribers only.

        Returns
        -------
        Callable
            Function that ends the subscription.
        """
        self._capacity_watchers += 1
        if self._capacity_task is None:
            self._capacity_task = spawn(self._follow_capacity(), "follow capacity")
        return self._leave_capacity

    def _leave_capacity(self) -> None:
        self._capacity_watchers -= 1
        if self._capacity_watchers == 0 and self._capacity_task is not None:
            self._capacity_task.cancel()
            self._capacity_task = self._capacity = None

    def messages(self, view: View, since: int | None, capacity_since: int | None = None) -> Iterable[str]:
        """Return the encoded messages that bring a page to the current revision; none if it has that revision.

        Parameters
        ----------
        view
            The page's subscription.
        since
            Revision of the page; None for a page that has no snapshot yet.
        capacity_since
            Revision of the page's capacity, 0 if it has none; None for a page that does not subscribe to it.
        """
        if since is not None and since < max(self._jobs.complete_since, self._boards.complete_since):
            since = None
        key = (language(), view, since, capacity_since)
        if key not in self._messages:
            had = 0 if since is None and capacity_since is not None else capacity_since
            news = self._capacity_after(had)
            self._messages[key] = self._snapshot(view, news) if since is None else self._deltas(view, since, news)
        return self._messages[key]

    def job_revision(self, ident: str) -> int:
        """Return the revision of a job's last change."""
        return self._jobs.revision(ident)

    async def detail(self, ident: str) -> str:
        """Return the encoded details of a job; pages that request the same revision share one message.

        Raises
        ------
        JobError
            If the engine can't read the job.
        """
        key = (language(), self.job_revision(ident))
        known = self._details.pop(ident, None)
        if known is None or known[0] != key or (known[1].done() and known[1].exception()):
            known = (key, spawn(self._detail(ident), "tell all of a job"))
        self._details[ident] = known
        if len(self._details) > KEPT_DETAILS:
            del self._details[next(iter(self._details))]
        return await asyncio.shield(known[1])

    def publish_notice(self, notice: Notice) -> None:
        """Show a notice in the open pages. Pages that open later get the last `KEPT_NOTICES`, and choose by time."""
        self._notices.append((self.revision + 1, notice))
        self._changed.set()

    # -- changes ------------------------------------------------------------------------------------------------------

    def _note_job(self, ident: str, job: JobSummary | None) -> None:
        phase = job.phase if job is not None and job.devices is not None else None
        if phase != self._phases_with_devices.pop(ident, None):
            self._engines_moved.set()
        if phase is not None:
            self._phases_with_devices[ident] = phase
        self._note(self._jobs, ident, job if job is not None and listed(job) else None)

    def _note_board(self, ident: str, board: TensorBoard | None) -> None:
        self._note(self._boards, ident, board)

    def _note(self, table: RevisionTable, key: str, item: Any) -> None:
        self._pending[id(table), key] = (table, key, item)
        self._changed.set()

    def _publish(self) -> None:
        self.revision += 1
        for table, key, item in self._pending.values():
            table.put(key, item, self.revision)
        self._pending.clear()
        self._changed.clear()
        self._messages.clear()
        for news in self._watchers:
            news.set()

    async def _publish_changes(self) -> None:
        while True:
            await self._changed.wait()
            begun = time.monotonic()
            self._publish()
            await asyncio.sleep(0)  # The pages' tasks run now; `rest` counts their time as well.
            await rest(begun, INTERVAL)

    async def _refresh_engines(self) -> None:
        while True:
            # `asyncio.wait_for` may swallow a cancellation before Python 3.12.
            with anyio.move_on_after(ENGINES_INTERVAL):
                await self._engines_moved.wait()
            self._engines_moved.clear()
            if self._watchers:
                await self._read_engines()
            else:
                self._engines_time = -math.inf  # `attach` reads them for the next page.
            await asyncio.sleep(MOVES_INTERVAL)

    async def _read_engines(self) -> None:
        self._engine_reads += 1
        number = self._engine_reads
        engines = await self._service.engines.infos()
        if number < self._engine_read_shown:
            return  # A later read was faster.
        self._engine_read_shown, self._engines_time = number, time.monotonic()
        changed = [_steady(engine) for engine in engines] != [_steady(engine) for engine in self._engines]
        self._engines = engines
        if changed:
            self._engines_revision = self.revision + 1
            self._publish()

    async def _follow_capacity(self) -> None:
        moved = asyncio.Event()
        end = self._source.subscribe(moved.set)
        try:
            while True:
                await self._read_capacity()
                await asyncio.sleep(CAPACITY_INTERVAL)
                await moved.wait()
                moved.clear()
        finally:
            end()

    async def _read_capacity(self) -> None:
        asked, capacity = time.time(), None
        try:
            capacity = await self._source.now()
        except JobError:
            pass  # There is no cluster; the engines' states say so.
        except Exception:
            log.exception("Capacity could not be counted")
        of_now = capacity is not None and capacity.time >= asked
        if _steady_capacity(capacity, of_now) != _steady_capacity(self._capacity, self._capacity_is_of_now):
            self._capacity, self._capacity_is_of_now = capacity, of_now
            self._capacity_revision = self.revision + 1
            self._publish()

    # -- messages -----------------------------------------------------------------------------------------------------

    def _capacity_after(self, revision: int | None) -> Capacity | None:
        """Return the capacity if it has changed since a revision; None if it has not.

        A capacity that is kept current gets the present time.
        """
        if revision is None or self._capacity is None or revision >= self._capacity_revision:
            return None
        return self._capacity.model_copy(update={"time": time.time()}) if self._capacity_is_of_now else self._capacity

    def _snapshot(self, view: View, capacity: Capacity | None) -> Iterable[str]:
        jobs = self._jobs.present() if view.jobs else []
        head = Snapshot(
            revision=self.revision,
            time=time.time(),
            engines=self._engines,
            jobs=[],
            tensorboards=self._boards.present() if view.tensorboards else [],
            capacity=capacity,
            notices=[notice for _revision, notice in self._notices],
        )
        return SnapshotParts(head, sorted(jobs, key=lambda job: job.created_at, reverse=True))

    def _deltas(self, view: View, since: int, capacity: Capacity | None) -> Iterable[str]:
        jobs, removed_jobs = self._jobs.since(since) if view.jobs else ([], [])
        boards, removed_boards = self._boards.since(since) if view.tensorboards else ([], [])
        engines = self._engines if since < self._engines_revision else None
        notices = [notice for revision, notice in self._notices if revision > since]
        if not (
            jobs or removed_jobs or boards or removed_boards or notices or engines is not None or capacity is not None
        ):
            return ()
        delta = Delta(
            revision=self.revision,
            time=time.time(),
            jobs=jobs,
            removed_jobs=removed_jobs,
            tensorboards=boards,
            removed_tensorboards=removed_boards,
            engines=engines,
            capacity=capacity,
            notices=notices,
        )
        return (delta.model_dump_json(),)

    async def _detail(self, ident: str) -> str:
        try:
            job = await self._service.job(ident)
            replicas, events = await asyncio.gather(self._service.replicas(ident), self._service.events(ident))
        except NotFound:
            return JobDetail(revision=self.revision, id=ident, job=None).model_dump_json()
        return JobDetail(revision=self.revision, id=ident, job=job, replicas=replicas, events=events).model_dump_json()


def _steady(engine: EngineInfo) -> Any:
    """Return the part of an engine's state whose changes are published; free memory counts in steps of 5 %."""
    seen = engine.model_dump(exclude={"machine": {"memory_available": True, "devices": {"__all__": {"memory_used"}}}})
    machine = engine.machine
    if machine is not None and machine.memory_total and machine.memory_available is not None:
        seen["free_memory"] = round(machine.memory_available / machine.memory_total * 20)
    return seen


def _steady_capacity(capacity: Capacity | None, of_now: bool) -> Capacity | None:
    """Return the part of a capacity whose changes are published: without the time while it is kept current."""
    return capacity.model_copy(update={"time": 0.0}) if capacity is not None and of_now else capacity
