"""Finds out from logs why jobs failed; it reads each failed attempt once, in the background."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Final

from ....core.job import Failure
from ....core.log_sources import LogFile
from ....core.system.disk_threads import DiskSilent, on_disk
from ....logs.serving.sources import places
from ..cluster.connection import Cluster
from ..jobs.snapshot import JobSnapshot
from ..objects.pods.attempts import AttemptRecord
from ..reasons.rank_failures import failed_attempt, read_failure
from .manager import LogManager
from .script_sources import Sources, sources_of

log = logging.getLogger(__name__)

MOST_REPLICAS: Final = 16
"""Most replicas of a job whose logs are read: those that failed first."""
MOST_AT_ONCE: Final = 2
"""Most jobs whose logs are read at the same time."""
WAIT_SECONDS: Final = 90.0
"""Time to wait for complete logs: a loaded node takes long to give the logs of pods that have just ended."""
LOOK_SECONDS: Final = 0.5
"""Interval between checks for complete logs."""

Found = Callable[[str, "list[Failure]"], None]
"""Called with a job's uid and the failures of its replicas."""


class FailureReader:
    """Finds the failed ranks of failed jobs.

    Parameters
    ----------
    cluster
        The cluster of the jobs; its lab may see the scripts.
    logs
        The logs. If a job is not too large, its logs are completed first.
    found
        Called with the failures.
    """

    def __init__(self, cluster: Cluster, logs: LogManager, found: Found) -> None:
        self._cluster = cluster
        self._logs = logs
        self._found = found
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._latest: dict[str, JobSnapshot] = {}
        self._tried: dict[str, set[tuple[str, int]]] = {}
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    def update(self, seen: JobSnapshot) -> None:
        """Read the logs of newly failed attempts; to be called at each change of a job."""
        uid = seen.job.uid
        if uid in self._tasks:
            self._latest[uid] = seen
            return
        if not _has_failed(seen):
            self._tried.pop(uid, None)
            return
        due = self._due(seen)
        if due:
            self._tried.setdefault(uid, set()).update((name, attempt["number"]) for name, attempt in due.items())
            task = self._tasks[uid] = asyncio.create_task(self._read(seen, due), name="read why a job failed")
            task.add_done_callback(lambda _task: self._done(uid))

    async def stop(self) -> None:
        """Stop reading."""
        self._latest.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def drop(self, uid: str) -> None:
        """Stop reading the logs of a job, because they are about to be removed."""
        self._tried.pop(uid, None)
        self._latest.pop(uid, None)
        task = self._tasks.get(uid)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _due(self, seen: JobSnapshot) -> dict[str, AttemptRecord]:
        """Return the failed attempts that have not been read, by replica."""
        job, tried = seen.job, self._tried.get(seen.job.uid, set())
        attempts = {replica.name: failed_attempt(job.attempts.get(replica.name, [])) for replica in seen.replicas}
        failed = [(name, attempt) for name, attempt in attempts.items() if attempt is not None]
        failed.sort(key=lambda entry: entry[1]["ended_at"] or 0.0)
        return {
            name: attempt
            for name, attempt in failed[:MOST_REPLICAS]
            if (name, attempt["number"]) not in tried and not job.knows_failure(name, attempt)
        }

    async def _read(self, seen: JobSnapshot, due: Mapping[str, AttemptRecord]) -> None:
        try:
            async with self._turns:
                files = await self._files(seen, due)
                failures = await self._read_now(seen, files, due)
            # A failure without a log is not recorded, so that it is read again after the server's next start.
            self._found(seen.job.uid, [one for one in failures if one.link is not None])
        except Exception:
            log.exception("The failure of the job %s could not be read", seen.job.uid)

    async def _read_now(
        self, seen: JobSnapshot, files: list[LogFile], due: Mapping[str, AttemptRecord]
    ) -> list[Failure]:
        """Read the logs, with the scripts' sources if their disk answers."""
        alone = len(seen.replicas) == 1
        sources = await asyncio.to_thread(sources_of, seen, self._cluster.lab)
        if sources is not None:
            with contextlib.suppress(DiskSilent):
                paths = [sources.first, *places(files)]
                return await on_disk(paths, _read_all, files, due, sources, alone=alone)
        return await on_disk(places(files), _read_all, files, due, None, alone=alone)

    async def _files(self, seen: JobSnapshot, due: Mapping[str, AttemptRecord]) -> list[LogFile]:
        """Return the job's logs, if possible when the logs of the failed attempts are complete."""
        if len(seen.replicas) > MOST_REPLICAS:
            return await self._logs.files(seen)
        stop = await self._logs.subscribe(seen)
        try:
            end = time.monotonic() + WAIT_SECONDS
            while True:
                files = await self._logs.files(seen)
                numbers = {name: attempt["number"] for name, attempt in due.items()}
                streams = [file.stream for file in files if numbers.get(file.stream.replica) == file.stream.attempt]
                if all(stream.complete for stream in streams) or time.monotonic() > end:
                    return files
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            stop()

    def _done(self, uid: str) -> None:
        del self._tasks[uid]
        latest = self._latest.pop(uid, None)
        if latest is not None:
            self.update(latest)


def _has_failed(seen: JobSnapshot) -> bool:
    """Return True if a job has failed, has a record, and is still in the cluster."""
    return seen.job.record is not None and seen.job.present and (seen.over or seen.state.phase == "Failed")


def _read_all(
    files: list[LogFile], due: Mapping[str, AttemptRecord], sources: Sources | None, *, alone: bool
) -> list[Failure]:
    checks = {name: sources.check(name, attempt["started_at"]) for name, attempt in due.items()} if sources else {}
    return [read_failure(files, name, attempt, alone=alone, check=checks.get(name)) for name, attempt in due.items()]
