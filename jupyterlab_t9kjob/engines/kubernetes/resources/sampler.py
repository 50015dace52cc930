"""Samples the running jobs of this user, and those that a page shows: from Prometheus, else from the metrics API.

There is one request for each namespace and interval, however many jobs run there. Samples are kept beside the job's
record, so they outlive the pods, and the job's object. Of the servers that share a home, one samples a job. Prometheus
also has the time in which no lab ran: it is read when a lab samples the job again, or when a page shows a job that has
ended meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import Final

from ....core.job import ENDED_PHASES, Reason
from ....core.system.disk_threads import DiskSilent, on_disk
from ....resources.storage.writer import SampleWriter
from ..client.api import KubeApi
from ..client.errors import ApiError, Unreachable
from ..jobs.records import Records
from ..jobs.snapshot import JobSnapshot
from .pod_metrics import PodUse, read_pods, values_of
from .prometheus.frames import Frames, frames_of
from .prometheus.source import Answer, PrometheusSource
from .sampled_job import SampledJob, kept_samples, sampled_replicas

log = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 15.0
"""Time between two samples, which is the usual resolution of metrics-server."""
REFUSED_SECONDS: Final = 120.0
"""Time before the next request to a namespace after the API server has refused one."""
FALLBACK_SECONDS: Final = 120.0
"""Time without a sample after which a job that Prometheus had is sampled from the metrics API. Prometheus has the time
of a short outage afterwards."""
MOST_BACKFILL: Final = 7 * 86400.0
"""Longest time that is read from Prometheus afterwards."""
FILL_SECONDS: Final = 8.0
"""Time that a page waits for the samples of an ended job."""


class ClusterSampler:
    """Takes samples of the jobs of one engine.

    Parameters
    ----------
    records
        The records of the jobs.
    api
        Returns the client of the API server; None without a cluster.
    prometheus
        The cluster's Prometheus.
    """

    def __init__(self, records: Records, api: Callable[[], KubeApi | None], prometheus: PrometheusSource) -> None:
        self._records = records
        self._api = api
        self._prometheus = prometheus
        self._jobs: dict[str, SampledJob] = {}
        self._problems: dict[str, tuple[float, ApiError | Unreachable]] = {}
        self._filled: dict[str, bool] = {}  # True if Prometheus was asked.
        self._fills: dict[str, asyncio.Task[None]] = {}
        self._task: asyncio.Task[None] | None = None

    def update(self, seen: JobSnapshot) -> None:
        """Set a job's state; to be called at each change of a job."""
        job = self._jobs.get(seen.job.uid)
        if job is not None:
            job.seen = seen
        elif seen.state.phase == "Running" and seen.job.present and seen.mine:
            self._jobs[seen.job.uid] = SampledJob(seen)
            self._begin()

    def watch(self, seen: JobSnapshot) -> None:
        """Sample a job, also of another user, since a page shows it."""
        job = self._jobs.setdefault(seen.job.uid, SampledJob(seen))
        job.seen, job.watched_at = seen, time.monotonic()
        if job.wanted:
            self._begin()

    async def fill(self, seen: JobSnapshot) -> None:
        """Read the last samples of an ended job from Prometheus if no lab took them; wait for at most `FILL_SECONDS`.

        It is done once for each job.
        """
        uid, ended_at = seen.job.uid, seen.job.ended_at
        if seen.state.phase not in ENDED_PHASES or ended_at is None or uid in self._filled:
            return
        if time.time() - ended_at > MOST_BACKFILL:
            return
        task = self._fills.get(uid)
        if task is None:
            task = self._fills[uid] = asyncio.create_task(self._fill(seen, ended_at), name="fill samples")
        await asyncio.wait({task}, timeout=FILL_SECONDS)

    def is_filled(self, uid: str) -> bool:
        """Return True if Prometheus has told all that it has of an ended job."""
        return self._filled.get(uid, False)

    def problem(self, namespace: str) -> ApiError | Unreachable | None:
        """Return the error of the last request to the metrics API for a namespace; None if it succeeded."""
        found = self._problems.get(namespace)
        return found[1] if found is not None else None

    @property
    def prometheus_problem(self) -> Reason | None:
        """Why Prometheus can't be read, see `PrometheusSource.problem`."""
        return self._prometheus.problem

    def folder(self, seen: JobSnapshot) -> Path | None:
        """Return the folder of a job's samples; None if it can have none."""
        folder = self._records.folder(seen.job.namespace, seen.job.uid)
        return folder / "resources" if folder is not None else None

    def drop(self, uid: str) -> None:
        """Stop sampling a job whose record is removed."""
        self._jobs.pop(uid, None)
        self._filled.pop(uid, None)

    async def stop(self) -> None:
        """Stop sampling."""
        tasks = [*self._fills.values(), *([self._task] if self._task is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(job.release(self.folder(job.seen)) for job in self._jobs.values()))

    def _begin(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="sample jobs")

    async def _run(self) -> None:
        """Take samples until no job is wanted any more."""
        while True:
            for uid in [uid for uid, job in self._jobs.items() if not job.wanted]:
                job = self._jobs.pop(uid)
                await self._finish(job)
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
        by_namespace: dict[str, list[SampledJob]] = defaultdict(list)
        jobs = list(self._jobs.values())
        held = await asyncio.gather(*(job.hold(self.folder(job.seen)) for job in jobs))
        for job in compress(jobs, held):
            by_namespace[job.seen.job.namespace].append(job)
        for namespace, jobs in by_namespace.items():
            left = await self._take_from_prometheus(namespace, jobs)
            if left:
                await self._take_from_metrics_api(api, namespace, left)

    # -- Prometheus ---------------------------------------------------------------------------------------------------

    async def _take_from_prometheus(self, namespace: str, jobs: Sequence[SampledJob]) -> list[SampledJob]:
        """Take samples from Prometheus; return the jobs that are to be sampled from the metrics API."""
        now = time.time()
        together: dict[int, list[tuple[SampledJob, float]]] = defaultdict(list)
        for job in jobs:
            since = await self._begin_of(job, now)
            together[int(since // self._prometheus.step)].append((job, since))
        left = []
        for group in together.values():
            replicas = [replica.pod for job, _since in group for replica in sampled_replicas(job.seen)]
            answer = await self._prometheus.read(namespace, replicas, min(since for _job, since in group), now)
            for job, since in group:
                if answer is not None and not answer.due:
                    continue
                frames = await self._frames(job, answer, since) if answer is not None else {}
                if answer is not None and frames:
                    await self._write_frames(job, answer, since, frames)
                elif not job.waits_for_prometheus(FALLBACK_SECONDS):
                    left.append(job)
        return left

    async def _begin_of(self, job: SampledJob, now: float) -> float:
        """Return the end of a job's samples; its start before the first one."""
        if job.at is None:
            started, folder = job.seen.job.started_at, self.folder(job.seen)
            kept = 0.0
            if folder is not None:
                with contextlib.suppress(DiskSilent):
                    kept, facts = await on_disk(folder, kept_samples, folder)
                    job.resume(facts)
            begin = now - INTERVAL_SECONDS if started is None else started
            job.at = min(now, max(begin, kept, now - MOST_BACKFILL))
        return job.at

    async def _frames(self, job: SampledJob, answer: Answer, since: float) -> Frames:
        """Return the newer samples of a job that are in an answer of Prometheus, by their time."""
        found = await asyncio.to_thread(frames_of, answer.series, sampled_replicas(job.seen), job.numbers)
        return {at: values for at, values in found.items() if at > since}

    async def _write_frames(self, job: SampledJob, answer: Answer, since: float, frames: Frames) -> bool:
        """Write samples of Prometheus; return False if they could not be written."""
        facts = {
            **job.facts(self._prometheus.step),
            "source": "prometheus",
            "window": answer.window,
            "gpus": {name: dict(card) for name, card in job.numbers.cards.items()},
        }

        def write(writer: SampleWriter) -> None:
            end = since
            for at, values in frames.items():
                start = max(end, at - answer.step)
                writer.write(start, at - start, values, facts)
                end = at

        job.has_samples_of_prometheus(max(frames))
        return await self._write_samples(job, write)

    async def _fill(self, seen: JobSnapshot, ended_at: float) -> None:
        uid, job = seen.job.uid, SampledJob(seen)
        running = self._jobs.pop(uid, None)
        try:
            if running is not None:
                await self._finish(running)
            since = await self._begin_of(job, ended_at)
            replicas = sampled_replicas(seen)
            if ended_at - since <= 2 * INTERVAL_SECONDS or not replicas:
                self._filled[uid] = False
                return
            if not await job.hold(self.folder(seen)):
                return
            job.at = None  # Another server may have written them meanwhile.
            since = await self._begin_of(job, ended_at)
            pods = [replica.pod for replica in replicas]
            answer = await self._prometheus.read(seen.job.namespace, pods, since, ended_at)
            if answer is None:
                return
            frames = await self._frames(job, answer, since)
            if frames and not await self._write_frames(job, answer, since, frames):
                return
            self._filled[uid] = True
        finally:
            self._fills.pop(uid, None)
            await self._finish(job)

    # -- the metrics API ----------------------------------------------------------------------------------------------

    async def _take_from_metrics_api(self, api: KubeApi, namespace: str, jobs: Sequence[SampledJob]) -> None:
        now = time.monotonic()
        refused_at, problem = self._problems.get(namespace, (float("-inf"), None))
        if isinstance(problem, ApiError) and problem.status < 500 and now - refused_at < REFUSED_SECONDS:
            return
        try:
            pods = await read_pods(api, namespace)
        except (ApiError, Unreachable) as error:
            self._problems[namespace] = (now, error)
            if isinstance(error, Unreachable):  # Another server of the home may reach it.
                await asyncio.gather(*map(self._finish, jobs))
            return
        self._problems.pop(namespace, None)
        for job in jobs:
            await self._take(job, pods)

    async def _take(self, job: SampledJob, pods: dict[str, PodUse]) -> None:
        replicas = job.seen.replicas
        own = {replica.pod_name: pods[replica.pod_name] for replica in replicas if replica.pod_name in pods}
        stamps = {name or "": use.timestamp for name, use in own.items()}
        if not stamps or stamps == job.timestamps:
            return
        job.timestamps = stamps
        names = [replica.name for replica in replicas]
        values = values_of(replicas, names, pods)
        now = time.time()
        since = job.at if job.at is not None and now - job.at < 2 * INTERVAL_SECONDS else now - INTERVAL_SECONDS
        job.by_prometheus, job.at = False, now
        facts = job.facts(INTERVAL_SECONDS)
        await self._write_samples(job, lambda writer: writer.write(since, now - since, values, facts))

    # -- files --------------------------------------------------------------------------------------------------------

    async def _write_samples(self, job: SampledJob, write: Callable[[SampleWriter], None]) -> bool:
        """Return False if the samples could not be written."""
        folder = self.folder(job.seen)
        if folder is None or not await job.hold(folder):
            return False
        writer = job.writer = job.writer or SampleWriter(folder)
        return await self._write(folder, lambda: write(writer))

    async def _finish(self, job: SampledJob) -> None:
        """Write what remains of a job's samples, and let another server take the next ones."""
        folder, writer = self.folder(job.seen), job.writer
        if folder is not None and writer is not None and await job.hold(folder):
            await self._write(folder, writer.flush)
        await job.release(folder)

    async def _write(self, folder: Path, write: Callable[[], None]) -> bool:
        # The disk is full, or no record is kept of the job: the curve has a gap.
        with contextlib.suppress(OSError, DiskSilent):
            await on_disk(folder, write)
            return True
        return False
