"""Reads why jobs failed, once for each attempt, while nobody waits for it."""

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
from ..objects.attempts import AttemptRecord
from ..reasons.rank_failures import failed_life, read_failure
from .manager import LogKeeper
from .script_sources import Sources, sources_of

log = logging.getLogger(__name__)

MOST_REPLICAS: Final = 16
"""Replicas whose logs are read: those that failed first."""
MOST_AT_ONCE: Final = 2
WAIT_SECONDS: Final = 30.0
"""How long the ends of the logs are waited for: those of pods that have just ended are still on their way."""
LOOK_SECONDS: Final = 0.5

Found = Callable[[str, "list[Failure]"], None]
"""Called with a job's uid and how its replicas failed."""


class FailureReader:
    """Finds out which rank failed of jobs that have failed.

    Parameters
    ----------
    cluster
        Where the jobs are, and whose lab may have their scripts.
    logs
        Where the logs are; those of a job that is not too large are fetched first.
    found
        Called with what was found.
    """

    def __init__(self, cluster: Cluster, logs: LogKeeper, found: Found) -> None:
        self._cluster = cluster
        self._logs = logs
        self._found = found
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._latest: dict[str, JobSnapshot] = {}
        self._tried: dict[str, set[tuple[str, int]]] = {}
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)

    def update(self, seen: JobSnapshot) -> None:
        """Take note of a job's state."""
        uid = seen.job.uid
        if uid in self._tasks:
            self._latest[uid] = seen
            return
        if not _has_failed(seen):
            self._tried.pop(uid, None)
            return
        due = self._due(seen)
        if due:
            self._tried.setdefault(uid, set()).update((name, life["number"]) for name, life in due.items())
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
        """Read no more of a job, whose logs are to be removed."""
        self._tried.pop(uid, None)
        self._latest.pop(uid, None)
        task = self._tasks.get(uid)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _due(self, seen: JobSnapshot) -> dict[str, AttemptRecord]:
        """Return the attempts that failed and were not read, by replica."""
        job, tried = seen.job, self._tried.get(seen.job.uid, set())
        lives = {place.name: failed_life(job.attempts.get(place.name, [])) for place in seen.replicas}
        failed = [(name, life) for name, life in lives.items() if life is not None]
        failed.sort(key=lambda entry: entry[1]["ended_at"] or 0.0)
        return {
            name: life
            for name, life in failed[:MOST_REPLICAS]
            if (name, life["number"]) not in tried and not job.knows_failure(name, life)
        }

    async def _read(self, seen: JobSnapshot, due: Mapping[str, AttemptRecord]) -> None:
        try:
            async with self._turns:
                files = await self._files(seen, due)
                failures = await self._read_now(seen, files, due)
            # what left no log may still get one: it is looked for again when this server starts anew
            self._found(seen.job.uid, [one for one in failures if one.link is not None])
        except Exception:  # the job is none the worse for it
            log.exception("Reading why a job failed did not succeed")

    async def _read_now(
        self, seen: JobSnapshot, files: list[LogFile], due: Mapping[str, AttemptRecord]
    ) -> list[Failure]:
        """Read the logs, and the scripts' sources where the disk that has them answers."""
        alone = len(seen.replicas) == 1
        sources = await asyncio.to_thread(sources_of, seen, self._cluster.lab)
        if sources is not None:
            with contextlib.suppress(DiskSilent):
                paths = [sources.place, *places(files)]
                return await on_disk(paths, _read_all, files, due, sources, alone=alone)
        return await on_disk(places(files), _read_all, files, due, None, alone=alone)

    async def _files(self, seen: JobSnapshot, due: Mapping[str, AttemptRecord]) -> list[LogFile]:
        """Return the job's logs, once those of the attempts are complete."""
        if len(seen.replicas) > MOST_REPLICAS:
            return await self._logs.files(seen)
        stop = await self._logs.look(seen)
        try:
            end = time.monotonic() + WAIT_SECONDS
            while True:
                files = await self._logs.files(seen)
                numbers = {name: life["number"] for name, life in due.items()}
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
    """Whether a job that we keep a record of has failed, and is still in the cluster."""
    return seen.job.record is not None and seen.job.present and (seen.over or seen.state.phase == "Failed")


def _read_all(
    files: list[LogFile], due: Mapping[str, AttemptRecord], sources: Sources | None, *, alone: bool
) -> list[Failure]:
    checks = {name: sources.check(name, life["started_at"]) for name, life in due.items()} if sources else {}
    return [read_failure(files, name, life, alone=alone, check=checks.get(name)) for name, life in due.items()]
