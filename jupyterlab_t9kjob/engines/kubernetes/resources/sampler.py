"""Samples the running jobs of this user, and those that a page shows, from the metrics API.

There is one request for each namespace and interval, however many jobs run there. Samples are kept beside the job's
record, so they outlive the pods, and the job's object.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ....core.system.disk_threads import DiskSilent, on_disk
from ....resources.storage.writer import SampleWriter
from ..client.api import KubeApi
from ..client.errors import ApiError, Unreachable
from ..jobs.records import Records
from ..jobs.snapshot import JobSnapshot
from .pod_metrics import PodUse, limits_of, read_pods, values_of

log = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 15.0
"""Time between two samples, which is the usual resolution of metrics-server."""
REFUSED_SECONDS: Final = 120.0
"""Time before the next request to a namespace after the API server has refused one."""
WATCHED_SECONDS: Final = 60.0
"""Time for which a job of another user is sampled after the request of a page, which is repeated every 15 s."""


@dataclass
class _Sampled:
    """A job that is sampled.

    Attributes
    ----------
    seen
        The job's state.
    writer
        Writes its samples.
    timestamps
        End of the last sample of each pod: the metrics API repeats a sample until there is a newer one.
    at
        Time of the last sample, in seconds since the epoch; None before the first.
    watched_at
        When a page asked last, by the monotonic clock.
    """

    seen: JobSnapshot
    writer: SampleWriter | None = None
    timestamps: dict[str, str] = field(default_factory=dict)
    at: float | None = None
    watched_at: float = float("-inf")

    @property
    def wanted(self) -> bool:
        runs = self.seen.job.present and self.seen.state.phase == "Running"
        return runs and (self.seen.mine or time.monotonic() - self.watched_at < WATCHED_SECONDS)


class ClusterSampler:
    """Takes samples of the jobs of one engine.

    Parameters
    ----------
    records
        The records of the jobs.
    api
        Returns the client of the API server; None without a cluster.
    """

    def __init__(self, records: Records, api: Callable[[], KubeApi | None]) -> None:
        self._records = records
        self._api = api
        self._jobs: dict[str, _Sampled] = {}
        self._problems: dict[str, tuple[float, ApiError | Unreachable]] = {}
        self._task: asyncio.Task[None] | None = None

    def update(self, seen: JobSnapshot) -> None:
        """Set a job's state; to be called at each change of a job."""
        job = self._jobs.get(seen.job.uid)
        if job is not None:
            job.seen = seen
        elif seen.state.phase == "Running" and seen.job.present and seen.mine:
            self._jobs[seen.job.uid] = _Sampled(seen)
            self._begin()

    def watch(self, seen: JobSnapshot) -> None:
        """Sample a job, also of another user, since a page shows it."""
        job = self._jobs.setdefault(seen.job.uid, _Sampled(seen))
        job.seen, job.watched_at = seen, time.monotonic()
        if job.wanted:
            self._begin()

    def problem(self, namespace: str) -> ApiError | Unreachable | None:
        """Return the error of the last request for a namespace; None if it succeeded."""
        found = self._problems.get(namespace)
        return found[1] if found is not None else None

    def folder(self, seen: JobSnapshot) -> Path | None:
        """Return the folder of a job's samples; None if it can have none."""
        folder = self._records.folder(seen.job.namespace, seen.job.uid)
        return folder / "resources" if folder is not None else None

    def drop(self, uid: str) -> None:
        """Stop sampling a job whose record is removed."""
        self._jobs.pop(uid, None)

    async def stop(self) -> None:
        """Stop sampling."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="sample jobs")

    async def _run(self) -> None:
        """Take samples until no job is wanted any more."""
        while True:
            for uid in [uid for uid, job in self._jobs.items() if not job.wanted]:
                job = self._jobs.pop(uid)
                if job.writer is not None:
                    await self._write(job, job.writer.flush)
            if not self._jobs:
                return
            begun = time.monotonic()
            try:
                await self._sample()
            except Exception:  # An unexpected answer must not end the samples of all jobs.
                log.exception("Sampling jobs of the cluster failed")
            await asyncio.sleep(max(1.0, INTERVAL_SECONDS - (time.monotonic() - begun)))

    async def _sample(self) -> None:
        api = self._api()
        if api is None:
            return
        now = time.monotonic()
        for namespace in {job.seen.job.namespace for job in self._jobs.values()}:
            refused_at, problem = self._problems.get(namespace, (float("-inf"), None))
            if isinstance(problem, ApiError) and problem.status < 500 and now - refused_at < REFUSED_SECONDS:
                continue
            try:
                pods = await read_pods(api, namespace)
            except (ApiError, Unreachable) as error:
                self._problems[namespace] = (now, error)
                continue
            self._problems.pop(namespace, None)
            for job in [job for job in self._jobs.values() if job.seen.job.namespace == namespace]:
                await self._take(job, pods)

    async def _take(self, job: _Sampled, pods: dict[str, PodUse]) -> None:
        replicas = job.seen.replicas
        own = {replica.pod_name: pods[replica.pod_name] for replica in replicas if replica.pod_name in pods}
        stamps = {name or "": use.timestamp for name, use in own.items()}
        if not stamps or stamps == job.timestamps:
            return
        job.timestamps = stamps
        names = [replica.name for replica in replicas]
        values = values_of(replicas, names, pods)
        folder = self.folder(job.seen)
        if folder is None:
            return
        now = time.time()
        since = job.at if job.at is not None and now - job.at < 2 * INTERVAL_SECONDS else now - INTERVAL_SECONDS
        job.at = now
        facts = {"interval": INTERVAL_SECONDS, "limits": limits_of(replicas)}
        writer = job.writer = job.writer or SampleWriter(folder)
        await self._write(job, lambda: writer.write(since, now - since, values, facts))

    async def _write(self, job: _Sampled, write: Callable[[], None]) -> None:
        folder = self.folder(job.seen)
        # The disk is full, or no record is kept of the job: the curve has a gap.
        with contextlib.suppress(OSError, DiskSilent):
            await on_disk(folder or self._records.path, write)
