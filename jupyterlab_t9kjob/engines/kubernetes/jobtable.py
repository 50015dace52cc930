"""All jobs of one kind that this server knows: from the watches and from our records, told to whoever listens."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Final

from ...core.engine import Capability, Listener
from ...core.errors import NotFound
from ...core.job import Event, Failure, JobSummary
from . import views
from .cluster import Cluster
from .discovery import Found
from .events import events_of
from .kinds import JobKind, State
from .known import ContentsPath, KnownJob
from .reasons import reason_of
from .records import MOST_EVENTS, Record, Records, deleted_reason
from .space import Space
from .t9k import T9k
from .transport import Json
from .views import Seen
from .watch import Collection

log = logging.getLogger(__name__)

TELL_SECONDS: Final = 0.05
"""Between two rounds of telling; what changes meanwhile is told once."""
CHUNK: Final = 100
"""Jobs that are read in one go, away from the loop."""
TICK_SECONDS: Final = 10.0
"""Between two looks at jobs that wait: their reason says for how long."""
READY_SECONDS: Final = 5.0
"""How long a request waits for the first list of jobs."""
_ELSEWHERE: Final = "This job is in another cluster than this JupyterLab is connected to; it was reached at {}."
_UNREACHED: Final = "The cluster has not told yet whether this job is still there."

Told = Callable[[Seen], None]
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
        self._cluster = cluster
        self._records = records
        self._contents = contents
        self._owner = owner
        self._told = told
        self._drop = drop
        self._listeners: list[Listener] = []
        self._ids: dict[str, str] = {}
        self._by_request: dict[str, str] = {}
        # What is to be told; true where more has changed than the list shows.
        self._due: dict[str, bool] = {}
        self._wake = asyncio.Event()
        self._waiting: set[str] = set()
        self._identity = ""
        self._compared: dict[str, Collection] = {}
        self._tasks: list[asyncio.Task[None]] = []

    # -- life ---------------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Load the records, and begin to watch."""
        for record in await self._records.start():
            self._put(KnownJob.recorded(record))
        self._tasks = [asyncio.create_task(self._tell_changes()), asyncio.create_task(self._tick())]
        own = {job.namespace for job in self.jobs.values() if not job.deleted and not self._elsewhere(job)}
        self._cluster.start(self, own)

    async def stop(self) -> None:
        """Stop watching, and write what is still to be written."""
        await self._cluster.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._records.stop()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; return how to stop that."""
        self._listeners.append(listener)
        return partial(self._listeners.remove, listener)

    async def ready(self) -> None:
        """Wait until the jobs have been listed once, but not for long."""
        await self._cluster.looked()
        watches = [space.jobs[self.kind.engine] for space in self._spaces()]
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
        if job.unread:
            await asyncio.to_thread(self._read, [job])
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
            return job.summary or views.summary(self.kind, self.seen(job))
        except Exception:  # one job's oddity must not hide the others
            log.exception("The job %s can't be shown", job.uid)
            return None

    def seen(self, job: KnownJob) -> Seen:
        """Return a job with everything that is known of it now."""
        space = self._cluster.spaces.get(job.namespace)
        if not job.present or space is None:
            return self._remembered(job)
        pods, now = space.pods_of(job.uid), time.time()
        state = self.kind.state(job.manifest, pods, before=job.phase)
        places = self.kind.places(job.manifest, pods)
        job.note_times(state, now=now)
        if space.pods.complete:
            places = job.observe(state, places, now=now)
        failure = job.failure if state.phase == "Failed" and state.cause != "Stopped" else None
        events = space.events_of(job.uid, (place.pod_uid for place in places if place.pod_uid is not None))
        return Seen(
            job=job,
            state=state,
            places=places,
            events=events,
            reason=reason_of(
                job.manifest,
                job.spec,
                state,
                places,
                events,
                now=now,
                user=self._owner,
                lives=job.lives,
                failure=failure,
            ),
            rights=self._cluster.rights(self.kind, job.namespace),
            pausable=self.pausable(),
            mine=self._is_mine(job),
            failure=failure,
            pending=views.pending_of(job, state, places, now=now),
            complete=space.pods.complete,
        )

    def _remembered(self, job: KnownJob) -> Seen:
        """Return a job that is only in our records: deleted, or not seen since this server began."""
        record = job.record
        phase = record.phase if record is not None else "Unknown"
        read_only = None
        if not job.deleted:
            read_only = _ELSEWHERE.format(record.server) if record and self._elsewhere(job) else _UNREACHED
            phase = phase if phase in ("Succeeded", "Failed") or not self._elsewhere(job) else "Unknown"
        return Seen(
            job=job,
            state=State(phase=phase, restarts=sum(len(lives) - 1 for lives in job.lives.values() if lives)),
            places=(),
            events=(),
            reason=record.reason if record is not None else None,
            rights=self._cluster.rights(self.kind, job.namespace),
            pausable=self.pausable(),
            mine=self._is_mine(job),
            failure=job.failure if phase == "Failed" else None,
            read_only=read_only,
            complete=job.deleted,
            removable=job.deleted or self._elsewhere(job),
        )

    def events(self, seen: Seen) -> list[Event]:
        """Return a job's events, newest first: those that the cluster has, and those that it had."""
        now = events_of(seen.events, seen.places, seen.job.lives)
        return _joined(now, seen.job.record.events if seen.job.record is not None else [])

    def pausable(self) -> Capability:
        """Whether a job can be paused in this cluster; if not, why."""
        found = self._cluster.found(self.kind)
        if found is None or found.dialect.pause:
            return Capability(supported=True)
        return Capability(supported=False, reason=f"This cluster's version of {self.kind.kind} can't pause a job.")

    # -- doing --------------------------------------------------------------------------------------------------------

    def look_at(self, job: KnownJob) -> None:
        """Keep a record of a job from now on, for somebody has opened it."""
        if job.record is None and job.present:
            self.keep(job)
            self._mark(job.uid, detail=False)

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
                last=job.manifest,
            )
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
        self._waiting.discard(job.uid)
        if (request := job.request_id) is not None and self._by_request.get(request) == job.uid:
            del self._by_request[request]
        space = self._cluster.spaces.get(job.namespace)
        if space is not None:
            space.forget(job.uid)
        self._announce(job.uid, None)

    def note_answer(self, namespace: str, manifest: Json) -> KnownJob:
        """Take note of a job's object that an answer has brought: the watch may know it later, or know of its end."""
        self._compared.pop(namespace, None)
        return self.note(namespace, manifest)

    def note(self, namespace: str, manifest: Json) -> KnownJob:
        """Take note of a job's object."""
        uid = manifest["metadata"]["uid"]
        job = self.jobs.get(uid)
        if job is None:
            job = KnownJob(uid, namespace, manifest)
            self._put(job)
        elif not job.update(manifest):
            return job
        if job.record is not None:
            job.record.deleted = False
            job.record.cluster, job.record.server = self._cluster.identity, self._cluster.server
        self._mark(uid, detail=False)
        return job

    def note_failures(self, uid: str, failures: Iterable[Failure]) -> None:
        """Take note of how replicas failed, as their logs tell it."""
        found = {failure.replica: failure for failure in failures}
        job = self.jobs.get(uid)
        if job is not None and found:
            job.failures |= found
            job.unread = True  # for the paths of their tracebacks
            self._mark(uid, detail=True)

    def tell_all(self, *, anew: bool = False) -> None:
        """Tell of all jobs that are not as they were told; `anew` reads them again."""
        for job in self.jobs.values():
            job.unread = job.unread or anew
            self._mark(job.uid, detail=False)

    # -- what the watches tell ----------------------------------------------------------------------------------------

    def job_changed(self, namespace: str, manifest: Json) -> None:
        """Take note of a job that is new or has changed."""
        self.note(namespace, manifest)

    def job_gone(self, namespace: str, uid: str) -> None:
        """Take note that a job's object is not there any more."""
        job = self.jobs.get(uid)
        if job is not None and job.namespace == namespace:
            self._lost(job, now=time.time())

    def touched(self, uid: str) -> None:
        """Take note that something has happened to a job's pods, or an event to the job."""
        if uid in self.jobs:
            self._mark(uid, detail=True)

    def space_changed(self) -> None:
        """Take note that a watch has become stale, or is right again."""
        self._wake.set()

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
        self._mark(job.uid, detail=False)

    def _lost(self, job: KnownJob, *, now: float | None) -> None:
        """Note that a job is gone from the cluster; its record stays, marked deleted."""
        if self._elsewhere(job):
            self._let_go(job)
            return
        if job.present and (job.record is not None or self._is_mine(job)):
            self._write(job)  # its last state
        job.present = False
        self._waiting.discard(job.uid)
        record = job.record
        if record is None:
            self.forget(job)
            return
        if not record.deleted:
            record.deleted = True
            if record.phase not in ("Succeeded", "Failed"):
                record.phase, record.ended_by, record.reason = "Failed", "user", deleted_reason()
                job.ended_at = job.ended_at or now
                record.ended_at = job.ended_at
        if record.remove:
            self.forget(job)
            self._spawn(self._drop_now(record))
        else:
            self._records.put(job.uid, lambda: record)
            self._mark(job.uid, detail=True)

    def _let_go(self, job: KnownJob) -> None:
        """Note that a job is in a cluster that is not connected."""
        job.present = False
        self._waiting.discard(job.uid)
        if job.record is None:
            self.forget(job)
        else:
            self._mark(job.uid, detail=True)

    def _mark(self, uid: str, *, detail: bool) -> None:
        self._due[uid] = detail or self._due.get(uid, False)
        self._wake.set()

    async def _tell_changes(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                self._find_elsewhere()
                self._find_lost()
                await self._tell_due()
            except Exception:
                log.exception("Telling of changes of %ss failed", self.kind.kind)
            await asyncio.sleep(TELL_SECONDS)

    async def _tell_due(self) -> None:
        due, self._due = self._due, {}
        # the newest first, for these are what people look at
        rest = iter(sorted(due, key=lambda uid: -self.jobs[uid].created_at if uid in self.jobs else 0.0))
        while chunk := list(islice(rest, CHUNK)):
            jobs = [self.jobs[uid] for uid in chunk if uid in self.jobs]
            unread = [job for job in jobs if job.unread]
            if unread:
                await asyncio.to_thread(self._read, unread)
            for job in jobs:
                if job.uid in self.jobs:
                    try:
                        self._tell(job, detail=due[job.uid])
                    except Exception:  # one job's oddity must not end the telling of all
                        log.exception("Telling of the job %s failed", job.uid)
            await asyncio.sleep(0)

    def _read(self, jobs: Iterable[KnownJob]) -> None:
        for job in jobs:
            try:
                job.read(self._cluster.lab, self._contents)
            except Exception:
                log.exception("Reading the job %s failed", job.uid)

    def _tell(self, job: KnownJob, *, detail: bool) -> None:
        seen = self.seen(job)
        summary = views.summary(self.kind, seen)
        if job.present:
            waits = summary.phase in ("Pending", "Resuming") or (
                summary.phase == "Running" and summary.replicas_running < summary.replicas
            )
            (self._waiting.add if waits else self._waiting.discard)(job.uid)
            if (job.record is not None or seen.mine) and (detail or summary != job.summary):
                self._records.put(job.uid, partial(self._write, job))
        self._told(seen)
        if detail or summary != job.summary:
            job.summary = summary
            self._announce(job.uid, summary)

    def _write(self, job: KnownJob) -> Record:
        """Bring a job's record up to date."""
        record = self.keep(job)
        if job.present:
            seen = self.seen(job)
            summary = views.summary(self.kind, seen)
            record.last, record.phase, record.reason = job.manifest, summary.phase, summary.reason
            record.ended_by, record.lives, record.failures = summary.ended_by, job.lives, job.failures
            record.started_at, record.ended_at = job.started_at, job.ended_at
            record.replicas = views.replicas(seen, now=time.time())
            record.events = self.events(seen)[:MOST_EVENTS]
        return record

    def _announce(self, uid: str, summary: JobSummary | None) -> None:
        ident = self._ids.pop(uid, None) if summary is None else summary.id
        if ident is None:
            return
        if summary is not None:
            self._ids[uid] = ident
        for listener in list(self._listeners):
            listener(ident, summary)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            for uid in self._waiting:
                self._mark(uid, detail=False)

    def _find_elsewhere(self) -> None:
        """Let go of the jobs of a cluster that is not connected any more; the watches tell which are in this one."""
        before, self._identity = self._identity, self._cluster.identity
        if before in ("", self._identity):
            return
        here = {uid for space in self._spaces() for uid in space.jobs[self.kind.engine].objects}
        for job in [job for job in self.jobs.values() if job.present and job.uid not in here]:
            self._let_go(job)

    def _find_lost(self) -> None:
        """Find jobs that we know of and that the cluster, once it has listed its jobs, does not have."""
        for space in self._spaces():
            watch = space.jobs[self.kind.engine]
            if not watch.complete or self._compared.get(space.name) is watch:
                continue
            self._compared[space.name] = watch
            for job in list(self.jobs.values()):
                if job.namespace != space.name or job.uid in watch.objects or self._elsewhere(job):
                    continue
                if job.present and not watch.has_reached(job.manifest):
                    self._compared.pop(space.name, None)  # it is newer than the list
                else:
                    self._lost(job, now=time.time() if job.present else None)

    def _spaces(self) -> Iterator[Space]:
        """Yield the namespaces of the connected cluster in which jobs of this kind are watched."""
        spaces, cluster = list(self._cluster.spaces.values()), self._cluster.identity
        return (space for space in spaces if self.kind.engine in space.jobs and space.cluster == cluster)

    def _is_mine(self, job: KnownJob) -> bool:
        if job.record is not None and job.record.mine:
            return True
        return job.owner is not None and job.owner == self._owner

    def _elsewhere(self, job: KnownJob) -> bool:
        """Whether it is in another cluster than the one that is connected."""
        return job.record is not None and self._cluster.identity not in ("", job.record.cluster)

    async def _drop_now(self, record: Record) -> None:
        try:
            await self._drop(record)
        except OSError as error:
            log.warning("What is kept of the job %s could not be removed: %s", record.uid, error)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.append(task)
        task.add_done_callback(self._tasks.remove)


def _joined(now: list[Event], before: list[Event]) -> list[Event]:
    """Return what the cluster says now with what it has forgotten since, newest first."""

    def key(event: Event) -> tuple[str | None, str, str, str]:
        return event.object, event.type, event.reason, event.message

    told = {key(event) for event in now}
    return sorted([*now, *(event for event in before if key(event) not in told)], key=lambda event: -event.time)
