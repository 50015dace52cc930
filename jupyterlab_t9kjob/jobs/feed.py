"""Feed: what the pages that look are told about jobs, TensorBoards, engines and capacity, by revision.

A change is published at once as a new revision; those that come faster than pages can be told are gathered, for up to
`INTERVAL` seconds. A page that is at revision r gets one message with all that changed since r, so a slow page skips
revisions instead of filling a queue, and pages that are at the same revision share one encoded message.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Protocol

import anyio

from ..core.capacity import Capacity
from ..core.engine_info import EngineInfo
from ..core.errors import JobError, NotFound
from ..core.job import JobSummary
from ..core.system.pace import rest
from ..core.system.tasks import spawn
from ..tensorboard.model import TensorBoard
from .feed_messages import Delta, JobDetail, Snapshot
from .query import listed
from .service import JobService

log = logging.getLogger(__name__)

INTERVAL = 0.1
CAPACITY_INTERVAL = 1.0
ENGINES_INTERVAL = 10.0
MOVES_INTERVAL = 1.0
"""Between two looks at the engines when jobs take devices and give them back, or a cluster comes and goes."""
PART = 500
"""Jobs in one message of a snapshot."""
KEPT_REMOVALS = 1000
KEPT_DETAILS = 100


@dataclass(frozen=True)
class View:
    """The lists that a page asked for."""

    jobs: bool
    tensorboards: bool


class TensorBoards(Protocol):
    """What is needed of the TensorBoard manager."""

    async def list(self) -> list[TensorBoard]:
        """Return all that run."""

    def listen(self, listener: Callable[[str, TensorBoard | None], None]) -> Callable[[], None]:
        """Call `listener` with an id at every change; returns how to stop that."""


class CapacitySource(Protocol):
    """What is needed of whoever counts what is free."""

    async def now(self) -> Capacity:
        """Return what is free now; raises `JobError` if nobody can tell."""

    def look(self, moved: Callable[[], None]) -> Callable[[], None]:
        """Count from now on, and call `moved` at every change; returns how to end that."""


class _Table:
    """Things by id, each with the revision of its last change, by which they are in order.

    What is gone is remembered for a while.
    """

    def __init__(self) -> None:
        self._rows: dict[str, tuple[int, Any]] = {}
        self._gone: dict[str, int] = {}
        self.complete_since = 0

    def put(self, key: str, item: Any, revision: int) -> None:
        """Note a change; the item None means that it is gone."""
        self._rows.pop(key, None)
        self._gone.pop(key, None)
        if item is not None:
            self._rows[key] = (revision, item)
            return
        self._gone[key] = revision
        if len(self._gone) > KEPT_REMOVALS:
            self.complete_since = self._gone.pop(next(iter(self._gone)))

    def revision(self, key: str) -> int:
        """Return when the thing changed last; 0 if never while we looked."""
        return self._rows[key][0] if key in self._rows else self._gone.get(key, 0)

    def present(self) -> list[Any]:
        """Return all that are there."""
        return [item for _, item in self._rows.values()]

    def since(self, revision: int) -> tuple[list[Any], list[str]]:
        """Return what changed after `revision`, and the ids of what went."""
        changed = takewhile(lambda row: row[0] > revision, reversed(self._rows.values()))
        gone = takewhile(lambda key: self._gone[key] > revision, reversed(self._gone))
        return [item for _, item in changed][::-1], list(gone)[::-1]


class _Parts:
    """A snapshot in parts, each encoded when it is first asked for: a page shows the newest jobs before it has all."""

    def __init__(self, head: Snapshot, jobs: Sequence[JobSummary]) -> None:
        self._head = head
        self._jobs = jobs
        self._encoded: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for number, begin in enumerate(range(0, max(len(self._jobs), 1), PART)):
            if number == len(self._encoded):
                self._encoded.append(self._encode(begin))
            yield self._encoded[number]

    def _encode(self, begin: int) -> str:
        jobs, complete = self._jobs[begin : begin + PART], begin + PART >= len(self._jobs)
        if begin == 0:
            return self._head.model_copy(update={"jobs": jobs, "complete": complete}).model_dump_json()
        revision, now = self._head.revision, self._head.time
        return Delta(revision=revision, time=now, jobs=list(jobs), complete=complete).model_dump_json()


class Feed:
    """Publishes the state of all jobs, TensorBoards and engines.

    Parameters
    ----------
    jobs, tensorboards, capacity
        Where the state comes from.
    attend
        Called when the first page is opened, to have the cluster's streams probed; returns how to end that, which is
        called when no page is open any more.
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
        self._jobs = _Table()
        self._boards = _Table()
        self._engines: list[EngineInfo] = []
        self._engines_revision = 0
        self._engines_time = 0.0
        self._engines_looks_begun = 0
        self._engines_look_told = 0
        self._source = capacity
        self._capacity: Capacity | None = None
        self._capacity_is_of_now = False
        self._capacity_revision = 0
        self._capacity_watchers = 0
        self._capacity_task: asyncio.Task[None] | None = None
        self._phases_with_devices: dict[str, str] = {}
        self._engines_moved = asyncio.Event()
        self._pending: dict[tuple[int, str], tuple[_Table, str, Any]] = {}
        self._changed = asyncio.Event()
        self._watchers: set[asyncio.Event] = set()
        self._attend = attend
        self._end_attention: Callable[[], None] | None = None
        self._messages: dict[tuple[View, int | None, int | None], Iterable[str]] = {}
        self._details: dict[str, tuple[int, asyncio.Task[str]]] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._ends: list[Callable[[], None]] = []

    async def start(self) -> None:
        """Take in what is there and listen to changes."""
        self._ends = [self._service.listen(self._note_job), self._manager.listen(self._note_board)]
        for job in reversed(await self._service.jobs()):
            self._note_job(job.id, job)
        for board in await self._manager.list():
            self._note_board(board.id, board)
        self._publish()
        await self._look_at_engines()
        self._tasks = [asyncio.create_task(self._publish_changes()), asyncio.create_task(self._refresh_engines())]

    async def stop(self) -> None:
        """Stop listening."""
        for end in self._ends:
            end()
        tasks = self._tasks + [task for _, task in self._details.values()]
        tasks += [self._capacity_task] if self._capacity_task is not None else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- for the pages ------------------------------------------------------------------------------------------------

    async def attach(self, news: asyncio.Event) -> None:
        """Set `news` at every new revision, until `detach`."""
        self._watchers.add(news)
        if self._end_attention is None:
            self._end_attention = self._attend()
        if self._engines_moved.is_set() or time.monotonic() - self._engines_time > ENGINES_INTERVAL:
            await self._look_at_engines()

    def look_at_engines(self) -> None:
        """Look at the engines soon: what they are has changed."""
        self._engines_moved.set()

    def detach(self, news: asyncio.Event) -> None:
        """End what `attach` began."""
        self._watchers.discard(news)
        if not self._watchers and self._end_attention is not None:
            self._end_attention()
            self._end_attention = None

    def look_at_capacity(self) -> Callable[[], None]:
        """Let capacity be counted and published as long as anybody looks at it; returns how to end that."""
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
        """Return the messages that bring a page to the present revision, encoded; none if nothing is new to it.

        Parameters
        ----------
        view
            What the page asked for.
        since
            The revision that it is at; None for a page that has nothing yet.
        capacity_since
            The revision of the capacity that it has, 0 if it has none; None for a page that does not look at it.
        """
        if since is not None and since < max(self._jobs.complete_since, self._boards.complete_since):
            since = None
        key = (view, since, capacity_since)
        if key not in self._messages:
            had = 0 if since is None and capacity_since is not None else capacity_since
            news = self._capacity_after(had)
            self._messages[key] = self._snapshot(view, news) if since is None else self._deltas(view, since, news)
        return self._messages[key]

    def job_revision(self, ident: str) -> int:
        """Return when a job changed last."""
        return self._jobs.revision(ident)

    async def detail(self, ident: str) -> str:
        """Return a job in full, encoded; pages that ask for the same state share one answer.

        Raises
        ------
        JobError
            If its engine can't tell.
        """
        revision = self.job_revision(ident)
        known = self._details.pop(ident, None)
        if known is None or known[0] != revision or (known[1].done() and known[1].exception()):
            known = (revision, spawn(self._detail(ident), "tell all of a job"))
        self._details[ident] = known
        if len(self._details) > KEPT_DETAILS:
            del self._details[next(iter(self._details))]
        return await asyncio.shield(known[1])

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

    def _note(self, table: _Table, key: str, item: Any) -> None:
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
            await asyncio.sleep(0)  # now the pages are told, which is most of the work
            await rest(begun, INTERVAL)

    async def _refresh_engines(self) -> None:
        while True:
            # not `asyncio.wait_for`, which before Python 3.12 may swallow a cancellation
            with anyio.move_on_after(ENGINES_INTERVAL):
                await self._engines_moved.wait()
            self._engines_moved.clear()
            if self._watchers:
                await self._look_at_engines()
            else:
                self._engines_time = -math.inf  # the next page that comes has them looked at
            await asyncio.sleep(MOVES_INTERVAL)

    async def _look_at_engines(self) -> None:
        self._engines_looks_begun += 1
        look = self._engines_looks_begun
        engines = await self._service.engines()
        if look < self._engines_look_told:
            return  # who has looked later was here
        self._engines_look_told, self._engines_time = look, time.monotonic()
        changed = [_steady(engine) for engine in engines] != [_steady(engine) for engine in self._engines]
        self._engines = engines
        if changed:
            self._engines_revision = self.revision + 1
            self._publish()

    async def _follow_capacity(self) -> None:
        moved = asyncio.Event()
        end = self._source.look(moved.set)
        try:
            while True:
                await self._look_at_capacity()
                await asyncio.sleep(CAPACITY_INTERVAL)
                await moved.wait()
                moved.clear()
        finally:
            end()

    async def _look_at_capacity(self) -> None:
        asked, capacity = time.time(), None
        try:
            capacity = await self._source.now()
        except JobError:
            pass  # there is no cluster, which the engines say
        except Exception:
            log.exception("Capacity could not be counted")
        of_now = capacity is not None and capacity.time >= asked
        if _steady_capacity(capacity, of_now) != _steady_capacity(self._capacity, self._capacity_is_of_now):
            self._capacity, self._capacity_is_of_now = capacity, of_now
            self._capacity_revision = self.revision + 1
            self._publish()

    # -- messages -----------------------------------------------------------------------------------------------------

    def _capacity_after(self, revision: int | None) -> Capacity | None:
        """Return the capacity if it has changed since; where it is followed without a break it is right now."""
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
        )
        return _Parts(head, sorted(jobs, key=lambda job: job.created_at, reverse=True))

    def _deltas(self, view: View, since: int, capacity: Capacity | None) -> Iterable[str]:
        jobs, removed_jobs = self._jobs.since(since) if view.jobs else ([], [])
        boards, removed_boards = self._boards.since(since) if view.tensorboards else ([], [])
        engines = self._engines if since < self._engines_revision else None
        if not (jobs or removed_jobs or boards or removed_boards or engines is not None or capacity is not None):
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
    """Return what of an engine is worth a message: free memory changes at every look, but counts in steps of 5 %."""
    seen = engine.model_dump(exclude={"machine": {"memory_available": True, "devices": {"__all__": {"memory_used"}}}})
    machine = engine.machine
    if machine is not None and machine.memory_total and machine.memory_available is not None:
        seen["free_memory"] = round(machine.memory_available / machine.memory_total * 20)
    return seen


def _steady_capacity(capacity: Capacity | None, of_now: bool) -> Capacity | None:
    """Return what of a capacity is worth a message: as long as it is right now, not the time."""
    return capacity.model_copy(update={"time": 0.0}) if capacity is not None and of_now else capacity
