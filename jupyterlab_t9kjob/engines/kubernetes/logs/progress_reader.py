"""Reads the progress of running jobs from logs that are followed anyway."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from ....core.job import Progress
from ....core.log_sources import LogFile
from ....core.system.disk_threads import DiskSilent, on_disk
from ....logs.serving.progress import LogProgress
from ....logs.serving.sources import places
from ..jobs.snapshot import JobSnapshot
from .manager import LogManager

log = logging.getLogger(__name__)

READ_SECONDS: Final = 2.0
"""Interval between reads of the progress."""
READ_SHARE: Final = 10.0
"""The interval is at least this many times as long as one reading: a volume may be slow."""

OnProgress = Callable[[str, Progress], None]
"""Called with a job's uid and its progress."""


@dataclass
class _Job:
    """A job whose progress is read.

    Attributes
    ----------
    seen
        The job's state.
    run
        Replica, attempt and worker restart whose log is read.
    log
        Progress in that log.
    """

    seen: JobSnapshot
    run: tuple[str, int, int] | None = None
    log: LogProgress = field(default_factory=LogProgress)

    @property
    def runs(self) -> bool:
        return self.seen.job.present and self.seen.state.phase == "Running"


class LiveProgress:
    """Reads the progress of running jobs from the logs of rank 0, and once more when they have ended.

    Parameters
    ----------
    logs
        The logs; no log is followed only for its progress.
    changed
        Called when a job has made progress.
    """

    def __init__(self, logs: LogManager, changed: OnProgress) -> None:
        self._logs, self._changed = logs, changed
        self._jobs: dict[str, _Job] = {}
        self._task: asyncio.Task[None] | None = None

    def update(self, seen: JobSnapshot) -> None:
        """Set a job's state; to be called at each change of a job."""
        uid, job = seen.job.uid, _Job(seen)
        if uid in self._jobs:
            self._jobs[uid].seen = seen
        elif job.runs:
            self._jobs[uid] = job
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._run(), name="read progress")

    def drop(self, uid: str) -> None:
        """Stop reading the progress of a job."""
        self._jobs.pop(uid, None)

    async def stop(self) -> None:
        """Stop reading."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        wait = READ_SECONDS
        while self._jobs:
            await asyncio.sleep(wait)
            begun = time.monotonic()
            for uid, job in list(self._jobs.items()):
                over = not job.runs
                try:
                    if over or self._logs.is_live(uid):
                        await self._read(job)
                except DiskSilent:
                    log.debug("The disk with the logs of %s does not answer", uid)
                except Exception:  # One job must not keep the others from being read.
                    log.exception("The progress of the job %s could not be read", uid)
                if over and not job.runs:
                    self._jobs.pop(uid, None)
            wait = max(READ_SECONDS, READ_SHARE * (time.monotonic() - begun))

    async def _read(self, job: _Job) -> None:
        first = job.seen.replicas[0].name if job.seen.replicas else ""
        run, files = _first_rank(await self._logs.files(job.seen), first)
        if run != job.run:
            job.run, job.log = run, LogProgress()
        logs = [(file.stream.id, file.path, file.within) for file in files]
        news = await on_disk(places(files), job.log.read, logs)
        reading = job.log.reading
        if reading is not None and (news or not job.runs):
            shown = reading if job.runs else replace(reading, rate=None, eta_seconds=None)
            self._changed(job.seen.job.uid, Progress(**asdict(shown)))


def _first_rank(files: Sequence[LogFile], first: str) -> tuple[tuple[str, int, int] | None, list[LogFile]]:
    """Return the newest run of rank 0 and its logs; the first replica's if rank 0 is not known.

    Parameters
    ----------
    files
        The job's log streams.
    first
        Name of the first replica.
    """
    ranks = [file for file in files if file.stream.source == "rank"]
    found = [file for file in ranks if file.stream.rank == 0]
    found = found or [file for file in ranks if (file.stream.replica, file.stream.local_rank) == (first, 0)]
    if not found:
        own = [file for file in files if file.stream.source == "container" and file.stream.container is None]
        found = [file for file in own if file.stream.replica == first]
    if not found:
        return None, []
    run = max(map(_run_of, found), key=lambda run: run[1:])
    return run, [file for file in found if _run_of(file) == run]


def _run_of(file: LogFile) -> tuple[str, int, int]:
    stream = file.stream
    return stream.replica, stream.attempt, stream.worker_restart
