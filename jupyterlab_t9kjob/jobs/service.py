"""The job service: access to the jobs of all engines, for the handlers and the feed."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from uuid import uuid4

from ..core.capacity import Capacity, NodeList, QueueList
from ..core.checks import Preview
from ..core.engine import Edited, Engine, Listener, Prepare
from ..core.engine_info import EngineFacts, EngineInfo, Volume
from ..core.engine_options import AnnouncesInfo, Attends, CapacitySource, HasDialect, InheritsFromLab, Refreshes
from ..core.errors import Conflict, FieldError, NotFound
from ..core.job import Action, Event, Job, JobSummary, LogStream, ManifestView, Replica, parse_job_id
from ..core.lab import Lab
from ..core.log_sources import LogFile
from ..core.manifests import to_yaml
from ..core.spec import JobSpec, numbered
from ..core.translation import Text, _, listing
from ..engines.unavailable import UnavailableEngine
from ..logs.serving.mirror import LogMirror
from .engine_answers import (
    capacity_of,
    capacity_source_of,
    events_of,
    failed_info,
    manifest_of,
    nodes_of,
    preview_of,
    queues_of,
    volumes_of,
)
from .query import Query

log = logging.getLogger(__name__)

Admit = Callable[[JobSpec, str, str], Awaitable[Prepare]]
"""Check before the creation of a job, given spec, engine and namespace.

It raises `FieldError` for a job that certainly can't run, and returns the preparation of the job, if there is one.
"""

RERUN_TRIES = 20


class JobService:
    """The jobs of all engines. Methods with a job's id raise `NotFound` if there is no such job.

    Parameters
    ----------
    engines
        The engines by name, which this service starts and stops.
    """

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = dict(engines)
        self._mirror = LogMirror()
        self._creating: dict[tuple[str, str], asyncio.Task[Job]] = {}

    async def start(self) -> None:
        """Start all engines. An engine that fails is stopped and replaced by an unavailable one with the reason."""
        engines = list(self._engines.values())
        results = await asyncio.gather(*(engine.start() for engine in engines), return_exceptions=True)
        for engine, failure in zip(engines, results, strict=True):
            if not isinstance(failure, Exception | None):
                raise failure
            if failure is not None:
                log.error("The engine %s could not be started.", engine.name, exc_info=failure)
                reason = failed_info(engine, failure).reason or Text.verbatim(str(failure))
                stand_in = UnavailableEngine(engine.name, reason, label=engine.label, facts=engine.facts)
                self._engines[engine.name] = stand_in
                await _stopped([engine])

    async def stop(self) -> None:
        """Stop all engines; jobs continue to run."""
        tasks = list(self._creating.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _stopped(self._engines.values())

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with id and summary after every change of a job; return a function that ends the calls."""
        return self._subscribed(lambda engine: engine.listen(listener))

    def listen_info(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` when an engine announces another `info`; return a function that ends the subscription."""
        return self._subscribed(
            lambda engine: engine.listen_info(changed) if isinstance(engine, AnnouncesInfo) else None
        )

    def attend(self) -> Callable[[], None]:
        """Tell the engines that a page is open; return a function to call when no page is open any more."""
        return self._subscribed(lambda engine: engine.attend() if isinstance(engine, Attends) else None)

    def capacity_source(self) -> CapacitySource:
        """Return the source of the capacity in the sidebar."""
        return capacity_source_of(list(self._engines.values()))

    def _subscribed(self, subscribe: Callable[[Engine], Callable[[], None] | None]) -> Callable[[], None]:
        """Subscribe to all engines; return a function that ends it. An engine that fails is logged and left out."""
        ends = []
        for engine in self._engines.values():
            try:
                end = subscribe(engine)
            except Exception:
                log.exception("The engine %s could not take a listener.", engine.name)
            else:
                ends += [end] if end is not None else []
        return _all(ends)

    # -- engines ------------------------------------------------------------------------------------------------------

    def has(self, engine: str) -> bool:
        """Return whether there is an engine of this name; a spec may come from one that is not installed."""
        return engine in self._engines

    def facts(self, engine: str) -> EngineFacts:
        """Return the facts about an engine's jobs.

        Raises
        ------
        FieldError
            If there is no such engine.
        """
        return self._engine(engine).facts

    def engines_of(self, manifest_kind: str) -> list[str]:
        """Return the names of the engines whose jobs are written as manifests of a kind, in the engines' order."""
        return [name for name, engine in self._engines.items() if engine.facts.manifest_kind == manifest_kind]

    async def engines(self) -> list[EngineInfo]:
        """Return the current state of all engines. Name, label and facts are those that each engine declares."""

        async def info(engine: Engine) -> EngineInfo:
            declared = {"name": engine.name, "label": engine.label, "facts": engine.facts}
            try:
                return EngineInfo.model_validate({**dict(await engine.info()), **declared})
            except Exception as error:
                log.exception("The engine %s could not tell its state.", engine.name)
                return failed_info(engine, error)

        return list(await asyncio.gather(*map(info, self._engines.values())))

    # -- jobs ---------------------------------------------------------------------------------------------------------

    async def jobs(self, query: Query | None = None) -> list[JobSummary]:
        """Return the jobs that match a query, or all that the page lists, newest first."""
        query = query or Query()

        async def listed_by(engine: Engine) -> list[JobSummary]:
            try:
                return await engine.jobs()
            except Exception:
                log.exception("The engine %s could not list its jobs.", engine.name)
                return []

        lists = await asyncio.gather(*map(listed_by, self._engines.values()))
        found = [job for jobs in lists for job in jobs if query.takes(job)]
        return sorted(found, key=lambda job: job.created_at, reverse=True)

    async def job(self, ident: str) -> Job:
        """Return all details of a job."""
        engine, uid = self._find(ident)
        job = await engine.job(uid)
        if job.id != ident:
            raise _no_job(ident)
        return job

    async def replicas(self, ident: str) -> list[Replica]:
        """Return a job's replicas with their attempts."""
        engine, uid = self._find(ident)
        return await engine.replicas(uid)

    async def events(self, ident: str) -> list[Event]:
        """Return a job's events, newest first."""
        engine, uid = self._find(ident)
        return await events_of(engine, uid)

    async def manifest(self, ident: str) -> ManifestView:
        """Return a job's manifest as submitted and as it is now, as objects and as YAML."""
        engine, uid = self._find(ident)
        return await asyncio.to_thread(_with_texts, await manifest_of(engine, uid))

    async def log_streams(self, ident: str) -> list[LogStream]:
        """Return a job's log streams, in a stable order."""
        engine, uid = self._find(ident)
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
        engine, uid = self._find(ident)
        return await self._mirror.files(ident, await engine.log_sources(uid), strict=strict)

    async def follow_logs(self, ident: str, grown: Callable[[], None] = lambda: None) -> Callable[[], None]:
        """Keep a job's logs up to date until the returned function is called.

        `grown` is called after this server has received more of the logs.
        """
        engine, uid = self._find(ident)
        moved, close = self._mirror.open(ident, grown)
        try:
            end = await engine.follow_logs(uid, moved)
        except BaseException:
            close()
            raise
        return _all([end, close])

    # -- options of new jobs ------------------------------------------------------------------------------------------

    async def lab(self, engine: str, namespace: str | None = None) -> Lab | None:
        """Return the lab from which an engine's jobs inherit; None if they inherit nothing.

        Parameters
        ----------
        engine
            Name of the engine.
        namespace
            Namespace of the jobs; None for the engine's default.
        """
        chosen = self._engine(engine)
        return await chosen.lab(namespace) if isinstance(chosen, InheritsFromLab) else None

    async def dialect(self, engine: str) -> Any:
        """Return the dialect of an engine's manifest kind in its cluster; None if the kind has a single one."""
        chosen = self._engine(engine)
        return await chosen.dialect() if isinstance(chosen, HasDialect) else None

    async def volumes(self, engine: str, namespace: str) -> list[Volume]:
        """Return the volumes that a job in a namespace can mount; an empty namespace stands for the default."""
        return await volumes_of(self._engine(engine), namespace)

    async def queues(self, engine: str, namespace: str) -> QueueList:
        """Return the queues that take jobs of a namespace; an empty namespace stands for the default."""
        return await queues_of(self._engine(engine), namespace)

    async def capacity(self, engine: str, namespace: str) -> Capacity:
        """Return the free resources of an engine, and the quotas of a namespace (empty: of all watched ones)."""
        return await capacity_of(self._engine(engine), namespace)

    async def nodes(self, engine: str) -> NodeList:
        """Return the nodes on which an engine's jobs run, with the free resources of each."""
        return await nodes_of(self._engine(engine))

    async def refresh(self) -> None:
        """Let all engines look for their cluster, its kinds and the account's permissions again."""
        found = [engine.refresh() for engine in self._engines.values() if isinstance(engine, Refreshes)]
        await asyncio.gather(*found)

    async def preview(
        self, spec: JobSpec, engine: str, namespace: str, *, edited: Edited | None = None, dry_run: bool = False
    ) -> Preview:
        """Render and check a spec or an edited manifest without creating a job.

        Parameters
        ----------
        spec
            The spec.
        engine, namespace
            Engine and namespace of the job.
        edited
            The manifest, if the user edited it.
        dry_run
            True to let the cluster validate the manifest as well.
        """
        return await preview_of(self._engine(engine), spec, namespace, edited=edited, dry_run=dry_run)

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
        """
        chosen = self._engine(engine)

        async def create() -> Job:
            known = await chosen.created_by(request_id)
            if known is not None:
                return known
            prepare = await admit(spec, engine, namespace)
            return await chosen.create(spec, namespace=namespace, request_id=request_id, edited=edited, prepare=prepare)

        key = (engine, request_id)
        task = self._creating.get(key)
        if task is None:
            task = self._creating[key] = asyncio.create_task(create())
            task.add_done_callback(lambda _done: self._creating.pop(key))
        # The creation continues if the browser closes the connection.
        return await asyncio.shield(task)

    async def act(self, ident: str, action: Action) -> Job:
        """Stop, pause, resume or delete a job, and return it."""
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
        """
        old = await self.job(ident)
        if "rerun" not in old.actions:
            why = old.refused.get("rerun")
            message = why or _("The record of {job} can't be read, so it can't be run again.", job=old.name)
            raise Conflict(message, hint=_("Submit it as a new job."))
        prepare = await admit(old.spec, old.engine, old.namespace)
        engine = self._engine(old.engine)
        taken = {job.name for job in await engine.jobs()} | {old.name}
        for _try in range(RERUN_TRIES):
            name = numbered(old.name, taken)
            try:
                return await engine.create(
                    renamed(old.spec, name).model_copy(update={"paused": False}),
                    namespace=old.namespace,
                    request_id=uuid4().hex,
                    rerun_of=ident,
                    prepare=prepare,
                )
            except Conflict:
                taken.add(name)
        message = _("No free name was found for a rerun of {job}.", job=old.name)
        raise Conflict(message, hint=_("Clone it and choose a name."))

    # -- lookup -------------------------------------------------------------------------------------------------------

    def _engine(self, name: str) -> Engine:
        if name not in self._engines:
            raise FieldError(
                _("There is no engine {engine} here.", engine=name),
                field="/engine",
                code="NoSuchEngine",
                hint=_("Available engines: {engines}.", engines=listing(list(self._engines))),
            )
        return self._engines[name]

    def _find(self, ident: str) -> tuple[Engine, str]:
        try:
            name, _namespace, _name, uid = parse_job_id(ident)
        except ValueError:
            raise _no_job(ident) from None
        if name not in self._engines:
            raise _no_job(ident)
        return self._engines[name], uid

    async def _own(self, ident: str) -> tuple[Engine, str]:
        """Return engine and uid of a job that is to be changed; all parts of its id must match."""
        await self.job(ident)
        return self._find(ident)


async def _stopped(engines: Iterable[Engine]) -> None:
    """Stop engines. A failure is logged and keeps no other engine from being stopped."""
    stopping = list(engines)
    results = await asyncio.gather(*(engine.stop() for engine in stopping), return_exceptions=True)
    for engine, failure in zip(stopping, results, strict=True):
        if isinstance(failure, Exception):
            log.error("The engine %s could not be stopped.", engine.name, exc_info=failure)


def _all(functions: Iterable[Callable[[], None]]) -> Callable[[], None]:
    """Return one function that calls several."""
    ends = list(functions)

    def end() -> None:
        for each in ends:
            each()

    return end


def _no_job(ident: str) -> NotFound:
    message = _("There is no job {id}.", id=repr(ident[:200]))
    return NotFound(message, code="NoSuchJob", hint=_("It may have been removed."))


def renamed(spec: JobSpec, name: str) -> JobSpec:
    """Return a spec with another name, and with the directories that contain the name changed.

    If a log directory of the job ``train-1`` is ``…/runs/train-1``, then ``train-2`` has the log directory
    ``…/runs/train-2``. Arguments that are or begin with that directory change in the same way, also if they name it
    relative to the working directory.

    Parameters
    ----------
    spec
        The spec.
    name
        The new name.
    """
    log_dirs = [path.rstrip("/") for path in spec.tensorboard.log_dirs]
    own = {path for path in log_dirs if path.endswith(f"/{spec.name}")}
    if spec.working_dir:
        own |= {path.removeprefix(spec.working_dir.rstrip("/") + "/") for path in own}
    # A whole argument, or the value after an option's "=", up to the end or the next folder.
    pattern = re.compile(rf"(-[^=]*=)?({'|'.join(map(re.escape, own)) or '(?!)'})(?=/|$)", re.DOTALL)

    def move(text: str) -> str:
        match = pattern.match(text)
        return text if match is None else f"{text[: match.end() - len(spec.name)]}{name}{text[match.end() :]}"

    return spec.model_copy(
        update={
            "name": name,
            "args": [move(argument) for argument in spec.args],
            "tensorboard": spec.tensorboard.model_copy(update={"log_dirs": list(map(move, spec.tensorboard.log_dirs))}),
        }
    )


def _with_texts(view: ManifestView) -> ManifestView:
    texts = {
        "submitted_text": to_yaml(view.submitted),
        "current_text": None if view.current is None else to_yaml(view.current, like=view.submitted),
    }
    return view.model_copy(update=texts)
