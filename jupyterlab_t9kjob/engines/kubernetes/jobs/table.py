"""The table of all jobs of one kind: from the watches and the records, with notifications of changes."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import Final

import anyio

from ....core.engine.protocol import Listener
from ....core.errors import NotFound
from ....core.job import ACTIVE_PHASES, Failure, JobSummary, Progress
from ....core.translation import _
from ..client.api import Json
from ..cluster.connection import Cluster
from ..cluster.discovery import Found
from ..objects.kinds import JobKind
from . import api_views
from .change_publisher import ChangePublisher, waits
from .job_reading import ContentsPath
from .observer import Observer
from .reconcile import Reconciler
from .record_keeper import Drop, RecordKeeper, lasting
from .records import Records
from .snapshot import JobSnapshot
from .spec_reader import SpecReader
from .tracked_job import TrackedJob

log = logging.getLogger(__name__)

CHUNK: Final = 25
"""Number of jobs that are read at once in a thread. A command that lists jobs waits for the thread at its end."""
TURN_SECONDS: Final = 0.01
"""Time for which jobs are published before other tasks run: placing one job on many nodes takes time."""
READY_SECONDS: Final = 5.0
"""Time that a request waits for the first list of jobs."""


class JobTable:
    """The jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster of the jobs; it calls the methods of the section "changes in the cluster".
    records
        The records on disk.
    contents
        Returns the contents API's path of a file.
    owner
        User of this lab; jobs with this owner are the user's own.
    changed
        Called with the snapshot of a job at each change, before the listeners.
    drop
        Removes everything that is kept of a job.
    once
        See `EngineContext.once`: no changes are published, objects are not compressed, and specifications that the
        cluster has are read by `read` and `get` only.

    Attributes
    ----------
    jobs
        The jobs by uid.
    observer
        Makes snapshots of the jobs.
    records
        Keeps the records of the jobs.
    """

    def __init__(
        self,
        kind: JobKind,
        cluster: Cluster,
        records: Records,
        contents: ContentsPath,
        *,
        owner: str | None,
        changed: Callable[[JobSnapshot], None],
        drop: Drop,
        once: bool = False,
    ) -> None:
        self.kind = kind
        self.jobs: dict[str, TrackedJob] = {}
        self.observer = Observer(kind, cluster, owner)
        self.records = RecordKeeper(kind, cluster, records, self.observer, drop, self.forget)
        self._cluster = cluster
        self._reader = SpecReader(contents)
        self._once = once
        self._changed = changed
        self._listeners: list[Listener] = []
        self._ids: dict[str, str] = {}
        self._by_request: dict[str, str] = {}
        self._publisher = ChangePublisher(self._publish_due, before=self._reconcile)
        self._reconciler = Reconciler(kind, cluster)

    # -- start and stop ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load the records, and start to watch the cluster."""
        for job in await self.records.start():
            self._put(job)
            self._publisher.mark(job.uid, detail=False)
        if not self._once:
            self._publisher.start()
        own = {job.namespace for job in self.jobs.values() if not job.deleted and not self.observer.is_elsewhere(job)}
        self._cluster.start(self, own)

    async def stop(self) -> None:
        """Stop watching, and write the records that are due."""
        try:
            await self._cluster.stop()
            await self._publisher.stop()
        finally:
            await self.records.stop()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at each change of a job; return a function that ends the subscription."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    async def ready(self) -> None:
        """Wait until the jobs, their pods and events have been listed once, for `READY_SECONDS` unless `once`."""
        await self._cluster.discovered()
        with anyio.move_on_after(None if self._once else READY_SECONDS):
            for space in self._cluster.watching(self.kind):
                for watch in (space.jobs[self.kind.engine], space.pods, space.events):
                    await watch.listed()
        self._reconcile()  # Not only in the next round: until then, the records of deleted jobs look like jobs.
        if self._once:
            await self._reader.read([job for job in self.jobs.values() if not job.present], self._cluster.lab)

    # -- reading ------------------------------------------------------------------------------------------------------

    async def read(self) -> None:
        """Wait until the specifications of all jobs have been read."""
        await self._reader.read(list(self.jobs.values()), self._cluster.lab)

    async def get(self, uid: str) -> TrackedJob:
        """Return a job with its specification.

        Raises
        ------
        NotFound
            If no job has this uid.
        """
        if uid not in self.jobs:
            await self.ready()
        if uid not in self.jobs:
            raise NotFound(_("This job does not exist, or its record was removed."))
        job = self.jobs[uid]
        await self._reader.read([job], self._cluster.lab)
        return job

    def by_request(self, request_id: str) -> TrackedJob | None:
        """Return the job that a request has created; None if it is not known."""
        return self.jobs.get(self._by_request.get(request_id, ""))

    def summaries(self) -> list[JobSummary]:
        """Return the rows of all jobs, newest first; rows of unread jobs lack the facts of the specification."""
        return sorted(filter(None, map(self._summary, self.jobs.values())), key=lambda job: -job.created_at)

    def _summary(self, job: TrackedJob) -> JobSummary | None:
        try:
            return job.summary or api_views.summary(self.kind, self.observer.snapshot(job))
        except Exception:  # One job must not hide the others.
            log.exception("The job %s can't be shown", job.uid)
            return None

    # -- changes from here ---------------------------------------------------------------------------------------------

    def opened(self, job: TrackedJob) -> None:
        """Keep a record of a job from now on, because a user has opened the job."""
        if job.record is None and job.present:
            self.records.keep(job)
            self._publisher.mark(job.uid, detail=False)

    def has_name(self, name: str, namespace: str) -> bool:
        """Return True if a job of the cluster has this `name` in this `namespace`."""
        return any(job.present and job.name == name and job.namespace == namespace for job in self.jobs.values())

    def forget(self, job: TrackedJob) -> None:
        """Remove a job from the table."""
        self.jobs.pop(job.uid, None)
        self._publisher.waiting.discard(job.uid)
        if (request := job.request_id) is not None and self._by_request.get(request) == job.uid:
            del self._by_request[request]
        if (space := self._cluster.spaces.get(job.namespace)) is not None:
            space.forget(job.uid)
        self._announce(job.uid, None)

    def note_answer(self, namespace: str, manifest: Json) -> TrackedJob:
        """Add or update a job from the answer to a request; the watch may report the job later, or its end earlier.

        Parameters
        ----------
        namespace
            The job's namespace.
        manifest
            The job's object.
        """
        self._reconciler.again(namespace)
        return self.note(namespace, manifest)

    def note(self, namespace: str, manifest: Json) -> TrackedJob:
        """Add or update a job, and return it; the parameters are those of `note_answer`."""
        uid = manifest["metadata"]["uid"]
        job = self.jobs.get(uid)
        if job is None:
            job = TrackedJob(uid, namespace, manifest, packed=not self._once)
            self._put(job)
            if self._is_held(job):
                return job
        elif not job.update(manifest):
            return job
        if job.record is not None:
            job.record.deleted = False
            job.record.cluster, job.record.server = self._cluster.identity, self._cluster.server
        self._publisher.mark(uid, detail=False)
        return job

    def note_failures(self, uid: str, failures: Iterable[Failure]) -> None:
        """Record failures of a job's replicas that were read from logs.

        Parameters
        ----------
        uid
            Uid of the job.
        failures
            One failure for each replica.
        """
        found = {failure.replica: failure for failure in failures}
        job = self.jobs.get(uid)
        if job is not None and found:
            job.failures |= found
            job.unread = True  # The paths in the tracebacks have to be found.
            self._publisher.mark(uid, detail=True)

    def note_progress(self, uid: str, progress: Progress) -> None:
        """Record the progress of a job.

        Parameters
        ----------
        uid
            Uid of the job.
        progress
            The progress.
        """
        job = self.jobs.get(uid)
        if job is not None and progress != job.progress and not self.observer.reports_progress(job):
            job.progress = progress
            # The record on disk needs the progress only when the job has ended.
            self._publisher.mark(uid, detail=job.phase not in ACTIVE_PHASES)

    def publish_all(self, *, read_again: bool = False) -> None:
        """Publish all jobs that have changed.

        Parameters
        ----------
        read_again
            True to read all specifications and paths again.
        """
        for job in self.jobs.values():
            job.unread = job.unread or read_again
            if not self._is_held(job):
                self._publisher.mark(job.uid, detail=False)

    # -- changes in the cluster ----------------------------------------------------------------------------------------

    def job_changed(self, namespace: str, manifest: Json) -> None:
        """Add or update a job. The parameters are those of `Sink.job_changed`."""
        self.note(namespace, manifest)

    def job_gone(self, namespace: str, uid: str, *, seen: bool = True) -> None:
        """Record that a job's object no longer exists. The parameters are those of `Sink.job_gone`."""
        job = self.jobs.get(uid)
        if job is not None and job.namespace == namespace:
            self._lost(job, now=time.time() if seen else None)

    def is_mine(self, uid: str) -> bool:
        """Return True if the user of this lab has submitted a job."""
        return uid in self.jobs and self.observer.is_mine(self.jobs[uid])

    def touched(self, uid: str) -> None:
        """Publish a job whose pods or events have changed."""
        if uid in self.jobs:
            self._publisher.mark(uid, detail=True)

    def space_changed(self) -> None:
        """Publish the jobs of a list that is complete now, and reconcile."""
        for job in self.jobs.values():
            if job.summary is None and not self._is_held(job):
                self._publisher.mark(job.uid, detail=False)
        self._publisher.hurry()

    def kind_found(self, found: Found | None) -> None:
        """Set the dialect of the kind in the cluster; None if the cluster no longer has the kind, nor its jobs."""
        if found is not None and found.dialect is not None:
            self.kind.dialect = found.dialect
        if found is None:
            for job in [job for job in self.jobs.values() if job.present]:
                self._lost(job, now=time.time())

    # -- inside -------------------------------------------------------------------------------------------------------

    def _put(self, job: TrackedJob) -> None:
        self.jobs[job.uid] = job
        if (request := job.request_id) is not None:
            self._by_request[request] = job.uid

    def _is_held(self, job: TrackedJob) -> bool:
        """Return True if a job waits for the end of the list that has brought it: the newest jobs come first."""
        space = self._cluster.spaces.get(job.namespace)
        watch = space.jobs.get(self.kind.engine) if space is not None else None
        return job.summary is None and watch is not None and watch.filling

    def _lost(self, job: TrackedJob, *, now: float | None) -> None:
        """Record that a job is no longer in the cluster; its record stays, marked as deleted."""
        if self.observer.is_elsewhere(job):
            self._disconnected(job)
            return
        if job.present and (job.record is not None or self.observer.is_mine(job)):
            self.records.update(job)  # The last state.
        job.present = False
        self._publisher.waiting.discard(job.uid)
        if (record := job.record) is None:
            self.forget(job)
            return
        self.records.mark_deleted(job, record, now=now)
        if record.remove:
            self.records.remove_soon(job)
        else:
            self.records.save_soon(job)
            self._publisher.mark(job.uid, detail=True)

    def _disconnected(self, job: TrackedJob) -> None:
        """Record that a job is in a cluster that is not connected."""
        job.present = False
        self._publisher.waiting.discard(job.uid)
        if job.record is None:
            self.forget(job)
        else:
            self._publisher.mark(job.uid, detail=True)

    async def _publish_due(self, due: Mapping[str, bool]) -> None:
        # Newest first: these are at the top of the list.
        rest = iter(sorted(due, key=lambda uid: -self.jobs[uid].created_at if uid in self.jobs else 0.0))
        while chunk := list(islice(rest, CHUNK)):
            jobs = [self.jobs[uid] for uid in chunk if uid in self.jobs]
            await self._reader.read(jobs, self._cluster.lab)
            begun = time.monotonic()
            for job in jobs:
                if job.uid in self.jobs:
                    try:
                        self._publish(job, detail=due[job.uid])
                    except Exception:  # One job must not keep the others from being published.
                        log.exception("The job %s could not be published", job.uid)
                if time.monotonic() - begun > TURN_SECONDS:
                    await asyncio.sleep(0)
                    begun = time.monotonic()
            await asyncio.sleep(0)

    def _publish(self, job: TrackedJob, *, detail: bool) -> None:
        snapshot = self.observer.snapshot(job)
        summary = api_views.summary(self.kind, snapshot)
        if job.present:
            (self._publisher.waiting.add if waits(summary) else self._publisher.waiting.discard)(job.uid)
            if (job.record is not None or snapshot.mine) and (detail or lasting(summary) != lasting(job.summary)):
                self.records.save_soon(job)
        self._changed(snapshot)
        if detail or summary != job.summary:
            job.summary = summary
            self._announce(job.uid, summary)

    def _announce(self, uid: str, summary: JobSummary | None) -> None:
        ident = self._ids.pop(uid, None) if summary is None else summary.id
        if ident is None:
            return
        if summary is not None:
            self._ids[uid] = ident
        for listener in list(self._listeners):
            listener(ident, summary)

    def _reconcile(self) -> None:
        """Mark the jobs that the connected cluster does not have."""
        for job in self._reconciler.elsewhere(self.jobs):
            self._disconnected(job)
        for job in self._reconciler.lost(self.jobs):
            if not self.observer.is_elsewhere(job):
                self._lost(job, now=time.time() if job.present else None)
