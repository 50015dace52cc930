"""The job service: access to the jobs of all engines, for the handlers and the feed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from ..core.engine.protocol import Edited, Engine, Listener
from ..core.errors import Conflict, FieldError
from ..core.job import Action, Event, Job, JobSummary, LogStream, ManifestView, Replica
from ..core.log_sources import LogFile
from ..core.manifests import to_yaml
from ..core.spec import JobSpec
from ..core.texts.job_names import numbered
from ..core.translation import _
from .admission import Admission, Admit, finished
from .engine_answers import events_of, manifest_of
from .engines import Engines, all_of, no_job
from .query import Query
from .renaming import renamed
from .stalls import Patience, StallWatch

if TYPE_CHECKING:
    from ..logs.serving.mirror import LogMirror

Summary = TypeVar("Summary", bound=JobSummary)

log = logging.getLogger(__name__)

RERUN_TRIES = 20


class JobService:
    """The jobs of all engines. Methods with a job's id raise `NotFound` if there is no such job.

    Parameters
    ----------
    engines
        All engines, which this service starts and stops.
    patience
        Limits after which a job counts as stuck.
    """

    def __init__(self, engines: Engines, patience: Patience | None = None) -> None:
        self.engines = engines
        self.stalls = StallWatch(engines, patience)
        self._creating: dict[tuple[str, str], asyncio.Task[Job]] = {}

    @cached_property
    def _mirror(self) -> LogMirror:
        from ..logs.serving.mirror import LogMirror

        return LogMirror()

    async def start(self) -> None:
        """Start all engines."""
        await self.engines.start()
        await self.stalls.start()
        for job in await self._listed():
            self.stalls.note(job.id, job)

    async def stop(self) -> None:
        """Stop all engines; jobs continue to run."""
        tasks = list(self._creating.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.stalls.stop()
        await self.engines.stop()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with id and summary after every change of a job; return a function that ends the calls."""
        return self.stalls.listen(listener)

    # -- jobs ---------------------------------------------------------------------------------------------------------

    async def jobs(self, query: Query | None = None) -> list[JobSummary]:
        """Return the jobs that match a query, or all that the page lists, newest first."""
        query = query or Query()
        found = [self._shown(job) for job in await self._listed() if query.takes(job)]
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    async def _listed(self) -> list[JobSummary]:
        async def listed_by(engine: Engine) -> list[JobSummary]:
            try:
                return await engine.jobs()
            except Exception:
                log.exception("The engine %s could not list its jobs.", engine.name)
                return []

        lists = await asyncio.gather(*map(listed_by, self.engines.all()))
        return [job for jobs in lists for job in jobs]

    def _shown(self, job: Summary) -> Summary:
        """Return a job with the reason why it seems to be stuck, if there is one."""
        stall = self.stalls.stall_of(job.id)
        return job if stall is None else job.model_copy(update={"stalled": stall})

    async def job(self, ident: str) -> Job:
        """Return all details of a job."""
        engine, uid = self.engines.find(ident)
        job = await engine.job(uid)
        if job.id != ident:
            raise no_job(ident)
        return self._shown(job)

    async def replicas(self, ident: str) -> list[Replica]:
        """Return a job's replicas with their attempts."""
        engine, uid = self.engines.find(ident)
        return await engine.replicas(uid)

    async def events(self, ident: str) -> list[Event]:
        """Return a job's events, newest first."""
        engine, uid = self.engines.find(ident)
        return await events_of(engine, uid)

    async def manifest(self, ident: str) -> ManifestView:
        """Return a job's manifest as submitted and as it is now, as objects and as YAML."""
        engine, uid = self.engines.find(ident)
        return await asyncio.to_thread(_with_texts, await manifest_of(engine, uid))

    async def log_streams(self, ident: str) -> list[LogStream]:
        """Return a job's log streams, in a stable order."""
        engine, uid = self.engines.find(ident)
        return [source.stream for source in await engine.log_sources(uid)]

    async def log_files(self, ident: str, *, strict: bool = False) -> list[LogFile]:
        """Return a job's log streams as files, in a stable order.

        Streams that are not files on this server are copied. Copies exist only while a client follows the log.

        Parameters
        ----------
        ident
            The job's id.
        strict
            True to raise the error of a stream that can't be copied to its end; otherwise the error is logged.
        """
        engine, uid = self.engines.find(ident)
        return await self._mirror.files(ident, await engine.log_sources(uid), strict=strict)

    async def follow_logs(self, ident: str, grown: Callable[[], None] = lambda: None) -> Callable[[], None]:
        """Keep a job's logs up to date until the returned function is called.

        Parameters
        ----------
        ident
            The job's id.
        grown
            Called after this server has received more of the logs.
        """
        engine, uid = self.engines.find(ident)
        moved, close = self._mirror.open(ident, grown)
        try:
            end = await engine.follow_logs(uid, moved)
        except BaseException:
            close()
            raise
        return all_of([end, close])

    # -- actions ------------------------------------------------------------------------------------------------------

    async def create(
        self,
        spec: JobSpec,
        *,
        engine: str,
        namespace: str,
        request_id: str,
        admit: Admit,
        edited: Edited | None = None,
        cloned_from: str | None = None,
    ) -> Job:
        """Create a job. Further calls with the same `request_id` return the same job, even during the first call.

        Parameters
        ----------
        spec
            The spec.
        engine, namespace
            Engine and namespace of the job.
        request_id
            Id of the page's request.
        admit
            Check of the job and its preparation.
        edited
            Manifest that is submitted instead of the one rendered from the spec; None if it was not edited.
        cloned_from
            Id of the job from which the spec was cloned; None for a new job.
        """
        chosen = self.engines.get(engine)

        async def create() -> Job:
            known = await chosen.created_by(request_id)
            if known is not None:
                return known
            admitted = await admit(spec, engine, namespace)
            return await finished(
                admitted,
                chosen.create(
                    admitted.spec,
                    namespace=namespace,
                    request_id=request_id,
                    edited=edited,
                    rerun_of=cloned_from,
                    prepare=admitted.prepare,
                ),
            )

        key = (engine, request_id)
        task = self._creating.get(key)
        if task is None:
            task = self._creating[key] = asyncio.create_task(create())
            task.add_done_callback(lambda _done: self._creating.pop(key))
        # The creation continues if the browser closes the connection.
        return await asyncio.shield(task)

    async def act(self, ident: str, action: Action) -> Job:
        """Begin to stop, pause, resume or delete a job; return the job.

        Parameters
        ----------
        ident
            The job's id.
        action
            One of the job's `actions`.

        Raises
        ------
        Conflict
            If the job's phase does not allow the action.
        """
        engine, uid = await self._own(ident)
        return await engine.act(uid, action)

    async def remove(self, ident: str) -> None:
        """Remove the record and logs of a finished or deleted job."""
        engine, uid = await self._own(ident)
        await engine.remove(uid)

    async def delete(self, ident: str, *, remove: bool) -> Job:
        """End and delete a job.

        Parameters
        ----------
        ident
            Id of the job.
        remove
            True to remove also its record and logs as soon as it has ended.
        """
        engine, uid = await self._own(ident)
        return await engine.act(uid, "delete", remove=remove)

    async def rerun(self, ident: str, *, admit: Admit) -> Job:
        """Create a job with the spec of another one, a new number at the end of the name, and not paused.

        Parameters
        ----------
        ident
            Id of the job to repeat.
        admit
            Check of the new job and its preparation.

        Raises
        ------
        Conflict
            If the job can't be repeated, or no free name was found.
        FieldError
            If its script does not exist any more, or it can't be admitted for another reason.
        """
        old = await self.job(ident)
        if "rerun" not in old.actions:
            why = old.refused.get("rerun")
            message = why or _("The record of {job} can't be read, so it can't be run again.", job=old.name)
            raise Conflict(message, hint=_("Submit it as a new job."))
        try:
            admitted = await admit(old.spec, old.engine, old.namespace)
        except FieldError as problem:
            if problem.code == "ScriptGone":  # There is no form here in which to choose another one.
                problem.hint = _("Put it back, or clone the job and choose the file at its new place.")
            raise
        return await finished(admitted, self._repeat(old, admitted))

    async def _repeat(self, old: Job, admitted: Admission) -> Job:
        engine = self.engines.get(old.engine)
        taken = {job.name for job in await engine.jobs()} | {old.name}
        for _try in range(RERUN_TRIES):
            name = numbered(old.name, taken)
            try:
                return await engine.create(
                    renamed(admitted.spec, name).model_copy(update={"paused": False}),
                    namespace=old.namespace,
                    request_id=uuid4().hex,
                    rerun_of=old.id,
                    prepare=admitted.prepare,
                )
            except Conflict:
                taken.add(name)
        message = _("No free name was found for a rerun of {job}.", job=old.name)
        raise Conflict(message, hint=_("Clone it and choose a name."))

    async def _own(self, ident: str) -> tuple[Engine, str]:
        """Return engine and uid of a job that is to be changed; all parts of its id must match."""
        await self.job(ident)
        return self.engines.find(ident)


def _with_texts(view: ManifestView) -> ManifestView:
    texts = {
        "submitted_text": to_yaml(view.submitted),
        "current_text": None if view.current is None else to_yaml(view.current, like=view.submitted),
    }
    return view.model_copy(update=texts)
