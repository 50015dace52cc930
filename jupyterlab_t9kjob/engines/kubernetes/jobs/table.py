"""All jobs of one kind that this server knows: from the watches and from our records, told to whoever listens."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import Final

import anyio

from ....core.engine import Listener
from ....core.errors import NotFound
from ....core.job import ACTIVE_PHASES, Failure, JobSummary, Progress
from ....core.lab import Lab
from ..client.api import Json
from ..cluster.connection import Cluster
from ..cluster.discovery import Found
from ..objects.kinds import JobKind
from ..objects.t9k import T9k
from . import api_views
from .api_views import JobSnapshot
from .change_publisher import Rounds
from .reconcile import Comparison
from .records import MOST_EVENTS, Record, Records, deleted_reason, with_masked_commands, without_secrets
from .snapshot import Observer
from .tracked_job import ContentsPath, KnownJob, Reading, Unread

log = logging.getLogger(__name__)

CHUNK: Final = 100
"""Jobs that are read in one go, away from the loop."""
TURN_SECONDS: Final = 0.01
"""How long jobs are told of before others get their turn: to find room for one on many nodes takes its time."""
DROP_SECONDS: Final = 2.0
"""How long the removal of what is kept of jobs may still take when this server stops, which has few seconds in all."""
WRITE_SECONDS: Final = 2.0
"""How long its last records may take, also when it has been told to make haste: the disk may not answer."""
READY_SECONDS: Final = 5.0
"""How long a request waits for the first list of jobs."""

Told = Callable[[JobSnapshot], None]
"""Called with a job at every change of it."""
Drop = Callable[[Record], Awaitable[None]]


class JobTable:
    """The jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        Where they are.
    records
        What we keep of them.
    contents
        Names a file as the contents API does.
    owner
        Whoever uses this lab, to tell which jobs are theirs.
    told
        Called at every change.
    drop
        Removes what is kept of a job.

    Attributes
    ----------
    jobs
        By uid.
    observer
        Says what is known of one now.
    """

    def __init__(
        self,
        kind: JobKind,
        cluster: Cluster,
        records: Records,
        contents: ContentsPath,
        *,
        owner: str | None,
        told: Told,
        drop: Drop,
    ) -> None:
        self.kind = kind
        self.jobs: dict[str, KnownJob] = {}
        self.observer = Observer(kind, cluster, owner)
        self._cluster = cluster
        self._records = records
        self._contents = contents
        self._told = told
        self._drop = drop
        self._listeners: list[Listener] = []
        self._ids: dict[str, str] = {}
        self._by_request: dict[str, str] = {}
        self._rounds = Rounds(self._tell_due, before=self._compare)
        self._reading = asyncio.Lock()
        self._comparison = Comparison(kind, cluster)
        self._drops: set[asyncio.Task[None]] = set()

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load the records, and begin to watch."""
        for record in await self._records.start():
            job = KnownJob.recorded(record)
            self._put(job)
            if not self.observer.is_mine(job) and job.withhold():  # it was written before they were left out
                self._keep_object(job, record)
                self._records.put(record.uid, partial(_same, record))
            self._rounds.mark(record.uid, detail=False)
        self._rounds.start()
        own = {job.namespace for job in self.jobs.values() if not job.deleted and not self.observer.is_elsewhere(job)}
        self._cluster.start(self, own)

    async def stop(self) -> None:
        """Stop watching, and write what is still to be written."""
        try:
            await self._cluster.stop()
            await self._rounds.stop()
            if self._drops:  # else they would be done at the next start
                await asyncio.wait(self._drops, timeout=DROP_SECONDS)
        finally:
            for task in self._drops:
                task.cancel()
            await asyncio.gather(*self._drops, return_exceptions=True)
            with anyio.move_on_after(WRITE_SECONDS):
                await self._records.stop()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; return how to stop that."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    async def ready(self) -> None:
        """Wait until the jobs have been listed once, but not for long."""
        await self._cluster.looked()
        watches = [space.jobs[self.kind.engine] for space in self._cluster.watching(self.kind)]
        listed = [asyncio.ensure_future(watch.listed()) for watch in watches]
        if listed:
            _done, late = await asyncio.wait(listed, timeout=READY_SECONDS)
            for task in late:
                task.cancel()
        await asyncio.sleep(0)

    # -- looking ------------------------------------------------------------------------------------------------------

    async def get(self, uid: str) -> KnownJob:
        """Return a job.

        Raises
        ------
        NotFound
            If there is none with this uid.
        """
        if uid not in self.jobs:
            await self.ready()
        if uid not in self.jobs:
            raise NotFound("This job does not exist, or its record was removed.")
        job = self.jobs[uid]
        await self._read([job])
        return job

    def by_request(self, request_id: str) -> KnownJob | None:
        """Return the job that a submission has created."""
        return self.jobs.get(self._by_request.get(request_id, ""))

    def summaries(self) -> list[JobSummary]:
        """Return all jobs, newest first; what was not read yet lacks what only reading tells."""
        found = filter(None, map(self._summary, self.jobs.values()))
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    def _summary(self, job: KnownJob) -> JobSummary | None:
        try:
            return job.summary or api_views.summary(self.kind, self.observer.seen(job))
        except Exception:  # one job's oddity must not hide the others
            log.exception("The job %s can't be shown", job.uid)
            return None

    # -- doing --------------------------------------------------------------------------------------------------------

    def look_at(self, job: KnownJob) -> None:
        """Keep a record of a job from now on, for somebody has opened it."""
        if job.record is None and job.present:
            self.keep(job)
            self._rounds.mark(job.uid, detail=False)

    def keep(self, job: KnownJob, *, submitted: Json | None = None) -> Record:
        """Begin to keep a record of a job.

        Parameters
        ----------
        submitted
            Its manifest as it was sent from here.
        """
        if job.record is None:
            job.record = Record(
                cluster=self._cluster.identity,
                server=self._cluster.server,
                uid=job.uid,
                namespace=job.namespace,
            )
            self._keep_object(job, job.record)
        if submitted is not None:
            job.record.submitted, job.record.mine = submitted, True
        return job.record

    async def save(self, job: KnownJob) -> None:
        """Write a job's record now."""
        await self._records.put_now(job.uid, partial(self._write, job))

    def has_name(self, name: str, namespace: str) -> bool:
        """Whether a job of the cluster has a name."""
        return any(job.present and job.name == name and job.namespace == namespace for job in self.jobs.values())

    def forget(self, job: KnownJob) -> None:
        """Drop a job from the list."""
        self.jobs.pop(job.uid, None)
        self._rounds.waiting.discard(job.uid)
        if (request := job.request_id) is not None and self._by_request.get(request) == job.uid:
            del self._by_request[request]
        space = self._cluster.spaces.get(job.namespace)
        if space is not None:
            space.forget(job.uid)
        self._announce(job.uid, None)

    def note_answer(self, namespace: str, manifest: Json) -> KnownJob:
        """Take note of a job's object that an answer has brought: the watch may know it later, or know of its end."""
        self._comparison.again(namespace)
        return self.note(namespace, manifest)

    def note(self, namespace: str, manifest: Json) -> KnownJob:
        """Take note of a job's object."""
        uid = manifest["metadata"]["uid"]
        job = self.jobs.get(uid)
        if job is None:
            job = KnownJob(uid, namespace, manifest)
            self._put(job)
            if self._is_held(job):
                return job
        elif not job.update(manifest):
            return job
        if job.record is not None:
            job.record.deleted = False
            job.record.cluster, job.record.server = self._cluster.identity, self._cluster.server
        self._rounds.mark(uid, detail=False)
        return job

    def note_failures(self, uid: str, failures: Iterable[Failure]) -> None:
        """Take note of how replicas failed, as their logs tell it."""
        found = {failure.replica: failure for failure in failures}
        job = self.jobs.get(uid)
        if job is not None and found:
            job.failures |= found
            job.unread = True  # for the paths of their tracebacks
            self._rounds.mark(uid, detail=True)

    def note_progress(self, uid: str, progress: Progress) -> None:
        """Take note of how far a job is."""
        job = self.jobs.get(uid)
        if job is not None and progress != job.progress:
            job.progress = progress
            # while it runs nobody needs that on disk
            self._rounds.mark(uid, detail=job.phase not in ACTIVE_PHASES)

    def tell_all(self, *, anew: bool = False) -> None:
        """Tell of all jobs that are not as they were told; `anew` reads them again."""
        for job in self.jobs.values():
            job.unread = job.unread or anew
            if not self._is_held(job):
                self._rounds.mark(job.uid, detail=False)

    # -- what the watches tell ----------------------------------------------------------------------------------------

    def job_changed(self, namespace: str, manifest: Json) -> None:
        """Take note of a job that is new or has changed."""
        self.note(namespace, manifest)

    def job_gone(self, namespace: str, uid: str) -> None:
        """Take note that a job's object is not there any more."""
        job = self.jobs.get(uid)
        if job is not None and job.namespace == namespace:
            self._lost(job, now=time.time())

    def is_mine(self, uid: str) -> bool:
        """Whether whoever uses this lab has submitted a job."""
        return uid in self.jobs and self.observer.is_mine(self.jobs[uid])

    def touched(self, uid: str) -> None:
        """Take note that something has happened to a job's pods, or an event to the job."""
        if uid in self.jobs:
            self._rounds.mark(uid, detail=True)

    def space_changed(self) -> None:
        """Take note that a list is complete, a watch has become stale, or is right again."""
        for job in self.jobs.values():
            if job.summary is None and not self._is_held(job):
                self._rounds.mark(job.uid, detail=False)
        self._rounds.hurry()

    def kind_found(self, found: Found | None) -> None:
        """Take note of what the cluster has of this kind; None: all its jobs went with it."""
        if isinstance(self.kind, T9k) and found is not None:
            self.kind.dialect = found.dialect
        if found is None:
            for job in [job for job in self.jobs.values() if job.present]:
                self._lost(job, now=time.time())

    # -- inside -------------------------------------------------------------------------------------------------------

    def _put(self, job: KnownJob) -> None:
        self.jobs[job.uid] = job
        if (request := job.request_id) is not None:
            self._by_request[request] = job.uid

    def _is_held(self, job: KnownJob) -> bool:
        """Whether a job is told only with all others of the list that has brought it: the newest first."""
        space = self._cluster.spaces.get(job.namespace)
        watch = space.jobs.get(self.kind.engine) if space is not None else None
        return job.summary is None and watch is not None and watch.filling

    def _lost(self, job: KnownJob, *, now: float | None) -> None:
        """Note that a job is gone from the cluster; its record stays, marked deleted."""
        if self.observer.is_elsewhere(job):
            self._let_go(job)
            return
        if job.present and (job.record is not None or self.observer.is_mine(job)):
            self._write(job)  # its last state
        job.present = False
        self._rounds.waiting.discard(job.uid)
        record = job.record
        if record is None:
            self.forget(job)
            return
        if not self.observer.is_mine(job):
            job.withhold()
        if not record.deleted:
            record.deleted = True
            if record.phase not in ("Succeeded", "Failed"):
                record.phase, record.ended_by, record.reason = "Failed", "user", deleted_reason()
                job.ended_at = job.ended_at or now
                record.ended_at = job.ended_at
        if record.remove:
            self.forget(job)
            task = asyncio.create_task(self._drop_now(record))
            self._drops.add(task)
            task.add_done_callback(self._drops.discard)
        else:
            self._records.put(job.uid, lambda: record)
            self._rounds.mark(job.uid, detail=True)

    def _let_go(self, job: KnownJob) -> None:
        """Note that a job is in a cluster that is not connected."""
        job.present = False
        self._rounds.waiting.discard(job.uid)
        if job.record is None:
            self.forget(job)
        else:
            self._rounds.mark(job.uid, detail=True)

    async def _tell_due(self, due: Mapping[str, bool]) -> None:
        # the newest first, for these are what people look at
        rest = iter(sorted(due, key=lambda uid: -self.jobs[uid].created_at if uid in self.jobs else 0.0))
        while chunk := list(islice(rest, CHUNK)):
            jobs = [self.jobs[uid] for uid in chunk if uid in self.jobs]
            await self._read(jobs)
            begun = time.monotonic()
            for job in jobs:
                if job.uid in self.jobs:
                    try:
                        self._tell(job, detail=due[job.uid])
                    except Exception:  # one job's oddity must not end the telling of all
                        log.exception("Telling of the job %s failed", job.uid)
                if time.monotonic() - begun > TURN_SECONDS:
                    await asyncio.sleep(0)
                    begun = time.monotonic()
            await asyncio.sleep(0)

    async def _read(self, jobs: Iterable[KnownJob]) -> None:
        """Read what was not read yet; what somebody else is reading is waited for."""
        async with self._reading:
            unread = [(job, job.unread_part()) for job in jobs if job.unread]
            if not unread:
                return
            try:
                found = await asyncio.to_thread(self._read_now, unread, self._cluster.lab)
            except BaseException:  # the server stops, say: whoever asks next reads them
                for job, _part in unread:
                    job.unread = True
                raise
            for (job, _part), reading in zip(unread, found, strict=True):
                if reading is not None:
                    job.take(reading)

    def _read_now(self, unread: Iterable[tuple[KnownJob, Unread]], lab: Lab | None) -> list[Reading | None]:
        """Read what is to be read of jobs; the jobs themselves change meanwhile, and are not looked at."""
        found: list[Reading | None] = []
        for job, part in unread:
            try:
                found.append(part.read(lab, self._contents))
            except Exception:
                log.exception("Reading the job %s failed", job.uid)
                found.append(None)
        return found

    def _tell(self, job: KnownJob, *, detail: bool) -> None:
        seen = self.observer.seen(job)
        summary = api_views.summary(self.kind, seen)
        if job.present:
            waits = summary.phase in ("Pending", "Resuming") or (
                summary.phase == "Running" and summary.replicas_running < summary.replicas
            )
            (self._rounds.waiting.add if waits else self._rounds.waiting.discard)(job.uid)
            if (job.record is not None or seen.mine) and (detail or _lasting(summary) != _lasting(job.summary)):
                self._records.put(job.uid, partial(self._write, job))
        self._told(seen)
        if detail or summary != job.summary:
            job.summary = summary
            self._announce(job.uid, summary)

    def _write(self, job: KnownJob) -> Record:
        """Bring a job's record up to date."""
        record = self.keep(job)
        if job.present:
            seen = self.observer.seen(job)
            summary = api_views.summary(self.kind, seen)
            self._keep_object(job, record)
            record.phase, record.reason = summary.phase, summary.reason
            record.ended_by, record.lives, record.failures = summary.ended_by, job.lives, job.failures
            record.progress, record.endings = job.progress, job.endings
            record.started_at, record.ended_at = job.started_at, job.ended_at
            replicas = api_views.replicas(seen, now=time.time())
            record.replicas = replicas if seen.mine else with_masked_commands(replicas)
            record.events = self.observer.events(seen)[:MOST_EVENTS]
        return record

    def _keep_object(self, job: KnownJob, record: Record) -> None:
        """Put a job's object into its record; of somebody else's job without its secrets."""
        manifest = job.manifest
        record.last = manifest if self.observer.is_mine(job) else without_secrets(manifest)
        record.withheld = job.withheld or record.last.get("spec") != manifest.get("spec")

    def _announce(self, uid: str, summary: JobSummary | None) -> None:
        ident = self._ids.pop(uid, None) if summary is None else summary.id
        if ident is None:
            return
        if summary is not None:
            self._ids[uid] = ident
        for listener in list(self._listeners):
            listener(ident, summary)

    def _compare(self) -> None:
        """Let go of the jobs that the connected cluster does not have."""
        for job in self._comparison.elsewhere(self.jobs):
            self._let_go(job)
        for job in self._comparison.lost(self.jobs):
            if not self.observer.is_elsewhere(job):
                self._lost(job, now=time.time() if job.present else None)

    async def _drop_now(self, record: Record) -> None:
        try:
            await self._drop(record)
        except OSError as error:
            log.warning("What is kept of the job %s could not be removed: %s", record.uid, error)


def _same(record: Record) -> Record:
    return record


def _lasting(summary: JobSummary | None) -> JobSummary | None:
    """Return what a record is written for: not every step of a job that runs."""
    return summary.model_copy(update={"progress": None}) if summary is not None else None
