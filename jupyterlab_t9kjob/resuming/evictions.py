"""Continues evicted jobs whose user has asked for it: a new job resumes from the newest checkpoint.

Of all labs that see an evicted job, the one that holds the job's lease creates the new job, and notes it on the evicted
job. If that lab ends in between, another one takes the lease when it has expired, and finds the new job by its request
id. A job is therefore continued once, also if no lab ran when it was evicted. Jobs that ended long ago are left alone.

The new job of a sweep's job takes its place in the sweep: the same number, round and values. If as many jobs of the
sweep are active as may be at a time, the new job waits for its turn, as the sweep's other jobs do.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final
from uuid import uuid4

import anyio

from ..contents_paths import ContentsRoot
from ..core.engine.protocol import Engine
from ..core.errors import Conflict, JobError
from ..core.evictions.model import CONTINUES, MOST_CONTINUATIONS, Continuation, Continues, annotation_of
from ..core.evictions.protocol import ContinuesEvicted
from ..core.job import Job, JobSummary
from ..core.spec import JobSpec
from ..core.sweep import with_member
from ..core.system.tasks import spawn
from ..core.texts.job_names import numbered
from ..core.translation import Text, _, _n
from ..jobs.admission import Admit
from ..jobs.checkpoints import MARGIN_SECONDS, CheckpointFile, checkpoints_of, folders_of
from ..jobs.evicted import is_evicted
from ..jobs.renaming import renamed
from ..jobs.service import RERUN_TRIES, JobService
from ..jobs.sweeps.runner import is_active
from .checkpoints import NO_PATH, Resumption, resumption_of

log = logging.getLogger(__name__)

RETRY_SECONDS = 15.0
"""Pause after the first attempt that decides nothing: another lab has the lease, or a disk does not answer."""
LONGEST_PAUSE_SECONDS = 600.0
PAUSE_SECONDS = 0.5
SETTLE_SECONDS = 5.0
"""Time for which the reason of a job's end must stay an eviction: the ends of replicas are reported in any order."""
LEASE_SECONDS = 60.0

_PREFIX: Final = "evicted-"


@dataclass
class _Waiting:
    """An evicted job of which it is not decided what follows.

    `due` is the time of the next attempt, in seconds since the epoch, and `pause` the time until the one after that.
    """

    due: float
    pause: float


class Evictions:
    """Continues evicted jobs while a server runs.

    Parameters
    ----------
    jobs
        All jobs.
    root
        The contents root, in which the checkpoints are.
    admit
        Check of a new job and its preparation.
    """

    def __init__(self, jobs: JobService, root: ContentsRoot, admit: Admit) -> None:
        self._jobs = jobs
        self._root = root
        self._admit = admit
        self._holder = uuid4().hex
        self._waiting: dict[str, _Waiting] = {}
        self._done: set[str] = set()
        self._changed = asyncio.Event()
        self._end: Callable[[], None] | None = None
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to follow the jobs, if jobs of an engine can be evicted."""
        if not any(isinstance(engine, ContinuesEvicted) for engine in self._jobs.engines.all()):
            return
        self._end = self._jobs.engines.listen(self._note)
        for job in await self._jobs.jobs():
            self._note(job.id, job)
        self._task = spawn(self._run(), "continue evicted jobs")

    async def stop(self) -> None:
        """Stop; another lab, or the next server, continues jobs."""
        if self._end is not None:
            self._end()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _note(self, ident: str, job: JobSummary | None) -> None:
        if job is None or not is_evicted(job, time.time()):
            self._waiting.pop(ident, None)
        elif ident not in self._waiting and ident not in self._done:
            self._waiting[ident] = _Waiting(due=time.time() + SETTLE_SECONDS, pause=RETRY_SECONDS)
            self._changed.set()

    async def _run(self) -> None:
        while True:
            await self._look_through()
            due = min((waiting.due for waiting in self._waiting.values()), default=None)
            # `asyncio.wait_for` may swallow a cancellation before Python 3.12.
            with anyio.move_on_after(None if due is None else max(due - time.time(), 0)):
                await self._changed.wait()
            self._changed.clear()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _look_through(self) -> None:
        """Continue the evicted jobs that are due."""
        now = time.time()
        for ident, waiting in list(self._waiting.items()):
            if waiting.due > now:
                continue
            waiting.due, waiting.pause = now + waiting.pause, min(2 * waiting.pause, LONGEST_PAUSE_SECONDS)
            try:
                if await self._decide(ident):
                    self._done.add(ident)
                    self._waiting.pop(ident, None)
            except JobError as error:  # The next check tries again.
                log.warning("Job %s could not be continued yet: %s", ident, error.message)
            except Exception:  # A job with unexpected data must not end the others.
                log.exception("Job %s could not be continued", ident)

    async def _decide(self, ident: str) -> bool:
        """Continue a job if its user has asked for that; return True if there is nothing more to do."""
        job = await self._jobs.job(ident)
        engine = self._jobs.engines.get(job.engine)
        wanted = job.spec.run_policy.resume_evicted and job.spec.debug is None
        if not isinstance(engine, ContinuesEvicted) or not wanted or not is_evicted(job, time.time()):
            return True
        if not await engine.lease_continuation(job.uid, self._holder, LEASE_SECONDS):
            return False
        job = await self._jobs.job(ident)  # Another lab may have been faster.
        if not is_evicted(job, time.time()):
            return True
        continuation = await self._continued(job, self._jobs.engines.get(job.engine))
        if (await self._jobs.job(ident)).continuation is None:
            await engine.note_continuation(job.uid, continuation)
        elif continuation.job is not None:  # Its sweep was stopped meanwhile.
            await self._jobs.act(continuation.job, "stop")
        return True

    async def _continued(self, job: Job, engine: Engine) -> Continuation:
        """Create the job that continues another one, unless it exists; return its id, or why there is none.

        Raises
        ------
        JobError
            If this can't be decided now.
        """
        known = await engine.created_by(_PREFIX + job.uid)
        if known is not None:
            return Continuation(job=known.id)
        number = 1 + (job.continues.number if job.continues is not None else 0)
        if number > MOST_CONTINUATIONS:
            problem = _n(
                "It was continued {n} time already, which is the limit.",
                "It was continued {n} times already, which is the limit.",
                MOST_CONTINUATIONS,
            )
            return Continuation(problem=problem)
        resumption = await resumption_of(job, self._root)
        if isinstance(resumption, Text):
            return Continuation(problem=resumption)
        checkpoint = await self._newest(job, resumption)
        if isinstance(checkpoint, Text):
            return Continuation(problem=checkpoint)
        fact = Continues(job=job.id, checkpoint=checkpoint, number=number)
        try:
            return Continuation(job=(await self._create(job, engine, resumption, fact)).id)
        except JobError as error:
            if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise
            return Continuation(problem=_("The new job was refused: {message}", message=error.message))

    async def _newest(self, job: Job, resumption: Resumption) -> str | Text:
        """Return the newest checkpoint as the job sees it, or the sentence why there is none."""
        found = await checkpoints_of(job, self._root)
        others = await self._beside(job) if found.files else []
        newest = next((file for file in found.files if not self._may_be_anothers(file, found.folders, others)), None)
        if newest is not None:
            path = (await resumption.paths([newest], job, self._root, self._jobs.engines))[0]
            return path if path is not None else NO_PATH
        if job.continues is not None:  # It was evicted before its own first checkpoint.
            return job.continues.checkpoint
        if not found.folders:
            return _("JupyterLab does not see the folders of the job, so its checkpoints are not known.")
        if not found.complete:
            return _("No checkpoint was found in the part of the job’s folders that was searched.")
        if found.files:
            return _("Other jobs may have written the checkpoints in its folders: they ran there at the same time.")
        return _("It has written no checkpoint that was found in its folders.")

    def _may_be_anothers(self, file: CheckpointFile, folders: list[str], others: list[tuple[Job, list[str]]]) -> bool:
        """Return True if another job that ran at a file's time has a folder that is as near to the file."""
        since, until = file.time - MARGIN_SECONDS, file.time + MARGIN_SECONDS
        nearest = _nearest(file.path, folders)
        return any(_nearest(file.path, theirs) >= nearest for job, theirs in others if _ran(job, since, until))

    async def _beside(self, job: Job) -> list[tuple[Job, list[str]]]:
        """Return the other jobs that ran while a job did, with their folders as paths in the contents API."""
        found = []
        for other in await self._jobs.jobs():
            if other.id == job.id or not _ran(other, job.started_at or 0, job.ended_at or time.time()):
                continue
            with contextlib.suppress(JobError):  # It was removed in the meantime.
                whole = await self._jobs.job(other.id)
                folders = map(self._root.api, folders_of(whole, self._root))
                found.append((whole, [folder for folder in folders if folder is not None]))
        return found

    async def _create(self, old: Job, engine: Engine, resumption: Resumption, fact: Continues) -> Job:
        """Create a job that resumes from a checkpoint, with the first free number at the end of the name."""
        jobs = await engine.jobs()
        taken = {job.name for job in jobs} | {old.name}
        paused = not engine.facts.queues_sweeps and _must_wait(old, jobs)
        for _try in range(RERUN_TRIES):
            name = numbered(old.name, taken)
            try:
                return await self._jobs.create(
                    _resumed(old, name, resumption, fact).model_copy(update={"paused": paused}),
                    engine=old.engine,
                    namespace=old.namespace,
                    request_id=_PREFIX + old.uid,
                    admit=self._admit,
                    cloned_from=old.id,
                )
            except Conflict:
                taken.add(name)
        raise Conflict(_("No free name was found for a rerun of {job}.", job=old.name))


def _ran(job: JobSummary, since: float, until: float) -> bool:
    """Return True if a job ran at some time of a range."""
    return job.started_at is not None and job.started_at <= until and (job.ended_at is None or job.ended_at >= since)


def _nearest(file: str, folders: Sequence[str]) -> int:
    """Return the length of the longest of the folders that contain a file; -1 if none does."""
    inside = (folder for folder in folders if not folder or file.startswith(f"{folder}/"))
    return max(map(len, inside), default=-1)


def _must_wait(old: Job, jobs: Sequence[JobSummary]) -> bool:
    """Return True if as many other jobs of an evicted job's sweep are active as may be at a time."""
    sweep = old.sweep
    if sweep is None:
        return False
    active = [
        job
        for job in jobs
        if job.sweep is not None
        and (job.namespace, job.sweep.queue) == (old.namespace, sweep.queue)
        and not job.deleted
        and is_active(job)
    ]
    return len(active) >= sweep.at_a_time


def _resumed(old: Job, name: str, resumption: Resumption, fact: Continues) -> JobSpec:
    """Return the spec of the job that continues another one."""
    # The checkpoint stays in the directories of the old job, whose name the other arguments lose.
    again = with_member(renamed(old.spec, name), old.sweep)
    return again.model_copy(
        update={
            "args": resumption.arguments(again.args, fact.checkpoint),
            "annotations": {**again.annotations, CONTINUES: annotation_of(fact)},
        }
    )
