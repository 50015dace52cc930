"""The logs of the jobs of one engine: which are followed, and for how long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from ...core.engine import LogFile
from ...core.job import ACTIVE_PHASES
from .cluster import Cluster
from .joblogs import JobLogs
from .records import Records
from .views import Seen

log = logging.getLogger(__name__)

LINGER_SECONDS: Final = 60.0
"""How long the logs of an ended job that nobody looks at are held open."""


class LogKeeper:
    """Opens the logs of jobs as they are needed, and closes them.

    Parameters
    ----------
    cluster
        Where the pods are.
    records
        Whose folders keep them.
    follow_replicas
        Own jobs of up to this many replicas are followed always.
    """

    def __init__(self, cluster: Cluster, records: Records, follow_replicas: int) -> None:
        self._cluster = cluster
        self._records = records
        self._most = follow_replicas
        self._open: dict[str, JobLogs] = {}
        self._looking: dict[str, int] = {}
        self._followed: set[str] = set()
        self._closing: dict[str, asyncio.Task[None]] = {}

    async def stop(self) -> None:
        """Let go of all logs; what was kept stays."""
        for task in self._closing.values():
            task.cancel()
        await asyncio.gather(*self._closing.values(), return_exceptions=True)
        await asyncio.gather(*(logs.stop() for logs in self._open.values()), return_exceptions=True)
        self._open.clear()

    def update(self, seen: Seen) -> None:
        """Take note of a job's state: its pods are followed, or have ended."""
        uid, active = seen.job.uid, _is_active(seen)
        if active and self._always(seen):
            self._followed.add(uid)
            self._of(seen)
        elif uid in self._followed:
            self._followed.discard(uid)
            self._let_go_later(uid)
        logs = self._open.get(uid)
        if logs is not None:
            logs.update(seen.places, ended=not active)

    async def files(self, seen: Seen) -> list[LogFile]:
        """Return the log streams that exist now."""
        logs = self._of(seen)
        if logs is None:
            return []
        self._let_go_later(seen.job.uid)
        return await logs.files()

    async def look(self, seen: Seen) -> Callable[[], None]:
        """Follow as long as somebody looks; of a job that has ended all that there is is here when this returns."""
        logs, uid = self._of(seen), seen.job.uid
        if logs is None:
            return lambda: None
        self._looking[uid] = self._looking.get(uid, 0) + 1
        end = logs.look()
        if not _is_active(seen):
            await logs.fetched()

        def stop() -> None:
            end()
            self._looking[uid] -= 1
            if not self._looking[uid]:
                del self._looking[uid]
                self._let_go_later(uid)

        return stop

    async def drop(self, uid: str) -> None:
        """Let go of a job's logs, which are to be removed."""
        logs = self._open.pop(uid, None)
        if logs is not None:
            await logs.stop()

    def _of(self, seen: Seen) -> JobLogs | None:
        job = seen.job
        known = self._open.get(job.uid)
        if known is not None:
            return known
        folder = self._records.folder(job.namespace, job.uid)
        if folder is None:
            return None
        logs = JobLogs(
            self._cluster.api,
            job.namespace,
            folder / "logs",
            ranks=job.paths.ranks,
            always=self._always(seen),
        )
        logs.update(seen.places, ended=not _is_active(seen))
        self._open[job.uid] = logs
        return logs

    def _always(self, seen: Seen) -> bool:
        return seen.mine and len(seen.places) <= self._most

    def _let_go_later(self, uid: str) -> None:
        """Close a job's logs some time after they were last of use."""
        if uid not in self._closing:
            task = self._closing[uid] = asyncio.create_task(self._let_go(uid))
            task.add_done_callback(lambda _done: self._closing.pop(uid, None))

    async def _let_go(self, uid: str) -> None:
        await asyncio.sleep(LINGER_SECONDS)
        logs = self._open.get(uid)
        if logs is None or uid in self._looking or uid in self._followed:
            return  # whoever uses it sees to that again
        await logs.fetched()
        if uid not in self._looking and uid not in self._followed:
            await self.drop(uid)


def _is_active(seen: Seen) -> bool:
    return seen.job.present and seen.state.phase in ACTIVE_PHASES
