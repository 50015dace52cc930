"""Opens and closes the logs of an engine's jobs, and decides which are followed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ....core.job import ACTIVE_PHASES
from ....core.log_sources import LogFile
from ..client.api import KubeApi
from ..cluster.connection import Cluster
from ..jobs.records import Records
from ..jobs.snapshot import JobSnapshot
from .job_logs import JobLogs

LINGER_SECONDS: Final = 60.0
"""Time for which the logs of a job stay open after the last use."""


@dataclass(eq=False)
class _Subscriber:
    """A page that shows a log: the function that notifies it, and the one that ends the notifications."""

    grown: Callable[[], None]
    end: Callable[[], None]


@dataclass
class _Open:
    """Open logs of a job.

    Attributes
    ----------
    logs
        The logs.
    api, ranks
        Connection and folder with which the logs were opened.
    subscribers
        The pages that show the log.
    followed
        True if the logs are followed even if no page shows them.
    closing
        Task that closes the logs later; None if none is due.
    """

    logs: JobLogs
    api: KubeApi | None
    ranks: Path | None
    subscribers: list[_Subscriber] = field(default_factory=list)
    followed: bool = False
    closing: asyncio.Task[None] | None = None


class LogManager:
    """Opens the logs of jobs when they are needed, and closes them.

    Parameters
    ----------
    cluster
        The cluster of the pods.
    records
        Records of the jobs; logs are kept in their folders.
    follow_replicas
        The user's own jobs of up to this many replicas are always followed. The logs of larger ones, and of other
        users' jobs that this lab has opened, are read once when the jobs end.
    log_bytes
        Size limit of a job's logs on disk in bytes; None for no limit.
    """

    def __init__(self, cluster: Cluster, records: Records, follow_replicas: int, log_bytes: int | None) -> None:
        self._cluster = cluster
        self._records = records
        self._most = follow_replicas
        self._log_bytes = log_bytes
        self._active: set[str] = set()
        self._open: dict[str, _Open] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def stop(self) -> None:
        """Close all logs; the spools stay."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(opened.logs.stop() for opened in self._open.values()), return_exceptions=True)
        self._open.clear()

    def update(self, seen: JobSnapshot) -> None:
        """Follow a job's pods, or read their logs when the job has ended; to be called at each change of a job."""
        if not seen.complete:
            return
        followed = _is_active(seen) and self._always(seen)
        opened = self._of(seen) if followed else self._open.get(seen.job.uid)
        if opened is not None:
            opened.followed = followed
            opened.logs.follow(self._always(seen))  # Not all replicas may have been known when it was opened.
            opened.logs.update(seen.replicas, ended=not _is_active(seen), events=seen.events)
            self._let_go_later(seen.job.uid, opened)
        if _is_active(seen):
            self._active.add(seen.job.uid)
        elif seen.job.uid in self._active:
            self._active.discard(seen.job.uid)
            if opened is None and (seen.mine or seen.job.record is not None):
                self._spawn(self._read_once(seen))

    async def _read_once(self, seen: JobSnapshot) -> None:
        """Read the logs of a job that has just ended."""
        stop = await self.subscribe(seen)
        stop()

    async def files(self, seen: JobSnapshot) -> list[LogFile]:
        """Return the log streams of a job that exist now."""
        opened = self._of(seen)
        if opened is None:
            return []
        self._let_go_later(seen.job.uid, opened)
        return await opened.logs.files()

    def is_live(self, uid: str) -> bool:
        """Return True if a job's logs are followed, because the job is the user's own or a page shows them."""
        opened = self._open.get(uid)
        return opened is not None and (opened.followed or bool(opened.subscribers))

    async def last_output(self, seen: JobSnapshot) -> float | None:
        """Return the time of a job's last line, or of its start; None if its logs are not followed."""
        if not self.is_live(seen.job.uid):
            return None
        streams = [file.stream for file in await self.files(seen)]
        times = [stream.last_time for stream in streams if stream.last_time is not None]
        return max([*times, *filter(None, [seen.state.started_at])], default=None)

    async def subscribe(self, seen: JobSnapshot, grown: Callable[[], None] = lambda: None) -> Callable[[], None]:
        """Follow a job's logs for a page; return a function that ends this.

        If the job has ended, its logs are on disk when this returns.

        Parameters
        ----------
        seen
            The job's state.
        grown
            Called when more of the logs has been written.
        """
        uid, opened = seen.job.uid, self._of(seen)
        if opened is None:
            return lambda: None
        subscriber = _Subscriber(grown, opened.logs.subscribe(grown))
        opened.subscribers.append(subscriber)

        def stop() -> None:
            now = self._open.get(uid)
            if now is not None and subscriber in now.subscribers:
                now.subscribers.remove(subscriber)
                subscriber.end()
                self._let_go_later(uid, now)

        if not _is_active(seen):
            try:
                await opened.logs.fetched()
            except BaseException:  # The request was cancelled.
                stop()
                raise
        return stop

    async def drop(self, uid: str) -> None:
        """Close the logs of a job, because its folder is about to be removed."""
        self._active.discard(uid)
        opened = self._open.pop(uid, None)
        if opened is not None:
            await opened.logs.stop()

    # -- inside -------------------------------------------------------------------------------------------------------

    def _of(self, seen: JobSnapshot) -> _Open | None:
        """Return a job's open logs; they are opened again if the connection or the folder has changed."""
        job, api, ranks = seen.job, self._cluster.api, seen.job.paths.ranks
        before = self._open.get(job.uid)
        if before is not None and (before.api, before.ranks) == (api, ranks):
            return before
        folder = self._records.folder(job.namespace, job.uid)
        if folder is None:
            return None
        logs = JobLogs(
            api,
            job.namespace,
            folder / "logs",
            ranks=ranks,
            always=self._always(seen),
            slots=self._cluster.log_turns,
            cap=self._log_bytes,
            lifetime=lambda: job.lifetime,
        )
        if seen.complete:
            logs.update(seen.replicas, ended=not _is_active(seen), events=seen.events)
        opened = self._open[job.uid] = _Open(logs, api, ranks)
        if before is not None:
            opened.subscribers = before.subscribers
            for subscriber in opened.subscribers:
                subscriber.end = logs.subscribe(subscriber.grown)
            self._spawn(before.logs.stop())
        return opened

    def _always(self, seen: JobSnapshot) -> bool:
        return seen.mine and len(seen.replicas) <= self._most

    def _let_go_later(self, uid: str, opened: _Open) -> None:
        """Close a job's logs some time after the last use."""
        if not opened.followed and not opened.subscribers and opened.closing is None:
            opened.closing = self._spawn(self._let_go(uid, opened))

    async def _let_go(self, uid: str, opened: _Open) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        await opened.logs.fetched()
        opened.closing = None  # A use since then schedules the closing again.
        if not opened.followed and not opened.subscribers and self._open.get(uid) is opened:
            await self.drop(uid)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _is_active(seen: JobSnapshot) -> bool:
    return seen.job.present and seen.state.phase in ACTIVE_PHASES
