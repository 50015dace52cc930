"""All engines of the server: their start and stop, their facts and state, and lookup by name or job id."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.capacity import Capacity, NodeList, QueueList
from ..core.checks import Preview
from ..core.engine.info import EngineFacts, EngineInfo, Volume
from ..core.engine.options import (
    AnnouncesInfo,
    Attends,
    CapacitySource,
    HasDialect,
    HasResources,
    InheritsFromLab,
    ListsLater,
    ReadsLater,
    Refreshes,
    RunsTries,
    TakesStacks,
)
from ..core.engine.protocol import Edited, Engine, Listener
from ..core.errors import FieldError, NotFound
from ..core.job import parse_job_id
from ..core.lab import Lab
from ..core.spec import JobSpec
from ..core.translation import Text, _, listing
from ..engines.unavailable import UnavailableEngine
from .engine_answers import (
    capacity_of,
    capacity_source_of,
    failed_info,
    manifest_schema_of,
    nodes_of,
    preview_of,
    queues_of,
    volumes_of,
)

if TYPE_CHECKING:
    from ..core.manifests.schema import KindSchema

log = logging.getLogger(__name__)


class Engines:
    """All engines of the server. An engine that fails is logged, and the others go on.

    Parameters
    ----------
    engines
        The engines by name.
    """

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = dict(engines)

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
        await _stopped(self._engines.values())

    async def ready(self) -> None:
        """Wait until all engines have listed their jobs once, or a few seconds if a cluster does not answer."""
        waits = [engine.ready() for engine in self._engines.values() if isinstance(engine, ListsLater)]
        for failure in await asyncio.gather(*waits, return_exceptions=True):
            if isinstance(failure, Exception):
                log.error("An engine could not list its jobs.", exc_info=failure)

    async def read(self) -> None:
        """Wait until the rows of all listed jobs are complete."""
        await asyncio.gather(*(engine.read() for engine in self._engines.values() if isinstance(engine, ReadsLater)))

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with id and summary after every change of a job; return a function that ends the calls."""
        return self._subscribed(lambda engine: engine.listen(listener))

    def listen_info(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call `changed` when an engine announces another `info`; return a function that ends the subscription."""
        return self._subscribed(
            lambda engine: engine.listen_info(changed) if isinstance(engine, AnnouncesInfo) else None
        )

    def attend(self) -> Callable[[], None]:
        """Notify the engines that a page is open; return a function to call when no page is open any more."""
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
        return all_of(ends)

    # -- facts and state ----------------------------------------------------------------------------------------------

    def has(self, engine: str) -> bool:
        """Return True if there is an engine of this name; a spec may come from one that is not installed."""
        return engine in self._engines

    def facts(self, engine: str) -> EngineFacts:
        """Return the facts about an engine's jobs.

        Raises
        ------
        FieldError
            If there is no such engine.
        """
        return self.get(engine).facts

    def with_manifest_kind(self, manifest_kind: str) -> list[str]:
        """Return the names of the engines whose jobs are written as manifests of a kind, in the engines' order."""
        return [name for name, engine in self._engines.items() if engine.facts.manifest_kind == manifest_kind]

    def engine_for_tries(self, home: Path) -> Engine | None:
        """Return an engine that tries jobs on this machine, with its records in `home`; None if no engine can."""
        able = (engine for engine in self._engines.values() if isinstance(engine, RunsTries))
        return next((engine.engine_for_tries(home) for engine in able), None)

    async def infos(self) -> list[EngineInfo]:
        """Return the current state of all engines, without an empty one that creates no jobs.

        Name, label and facts are those that each engine declares.
        """

        async def info(engine: Engine) -> EngineInfo:
            parts = {"resources": HasResources, "stacks": TakesStacks}
            lacks = [part for part, protocol in parts.items() if not isinstance(engine, protocol)]
            declared = {"name": engine.name, "label": engine.label, "facts": engine.facts, "lacks": lacks}
            try:
                return EngineInfo.model_validate({**dict(await engine.info()), **declared})
            except Exception as error:
                log.exception("The engine %s could not tell its state.", engine.name)
                return failed_info(engine, error)

        listed = [each for each in self._engines.values() if each.facts.creates_jobs or await each.jobs()]
        return list(await asyncio.gather(*map(info, listed)))

    async def first_available(self) -> str | None:
        """Return an available engine, preferably one whose jobs have manifests; None if none is available."""
        names = [info.name for info in await self.infos() if info.available]
        return min(names, key=lambda name: self.facts(name).manifest_kind is None, default=None)

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
        chosen = self.get(engine)
        return await chosen.lab(namespace) if isinstance(chosen, InheritsFromLab) else None

    async def path_in_lab(self, engine: str, namespace: str, path: str, spec: JobSpec) -> Path | None:
        """Return the path at which the lab has a file of a job's pods; None if it is on no volume of the lab.

        Parameters
        ----------
        engine, namespace
            Location of the job.
        path
            Absolute path in the job's pods.
        spec
            The job.
        """
        lab = await self.lab(engine, namespace) or Lab()
        return await asyncio.to_thread(lab.in_lab, path, spec.mounts, namespace)

    async def dialect(self, engine: str) -> Any:
        """Return the dialect of an engine's manifest kind in its cluster; None if the kind has a single one."""
        chosen = self.get(engine)
        return await chosen.dialect() if isinstance(chosen, HasDialect) else None

    async def manifest_schema(self, engine: str) -> KindSchema:
        """Return the schema of an engine's manifests."""
        return await manifest_schema_of(self.get(engine))

    async def volumes(self, engine: str, namespace: str) -> list[Volume]:
        """Return the volumes that a job in a namespace can mount.

        Parameters
        ----------
        engine
            Name of the engine.
        namespace
            Namespace of the job; empty for the engine's default.

        Raises
        ------
        NotAllowed
            If the account has no permission to list volumes.
        FieldError
            If there is no such engine or namespace.
        """
        return await volumes_of(self.get(engine), namespace)

    async def queues(self, engine: str, namespace: str) -> QueueList:
        """Return the queues that take jobs of a namespace.

        Parameters
        ----------
        engine
            Name of the engine.
        namespace
            Namespace of the job; empty for the engine's default.

        Raises
        ------
        FieldError
            If there is no such engine.
        """
        return await queues_of(self.get(engine), namespace)

    async def capacity(self, engine: str, namespace: str) -> Capacity:
        """Return the free resources of an engine, and the quotas of a namespace.

        Parameters
        ----------
        engine
            Name of the engine.
        namespace
            Namespace of the quotas; empty for all watched namespaces.

        Raises
        ------
        FieldError
            If there is no such engine.
        """
        return await capacity_of(self.get(engine), namespace)

    async def nodes(self, engine: str) -> NodeList:
        """Return the nodes on which an engine's jobs run, with the free resources of each."""
        return await nodes_of(self.get(engine))

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
        return await preview_of(self.get(engine), spec, namespace, edited=edited, dry_run=dry_run)

    # -- lookup -------------------------------------------------------------------------------------------------------

    def all(self) -> list[Engine]:
        """Return the engines, in their order."""
        return list(self._engines.values())

    def get(self, name: str) -> Engine:
        """Return an engine.

        Raises
        ------
        FieldError
            If there is no such engine.
        """
        if name not in self._engines:
            # The error mostly answers a submission, so it leaves out the engines that only show jobs.
            offered = [each.name for each in self._engines.values() if each.facts.creates_jobs]
            raise FieldError(
                _("There is no engine {engine} here.", engine=name),
                field="/engine",
                code="NoSuchEngine",
                hint=_("Available engines: {engines}.", engines=listing(offered or list(self._engines))),
            )
        return self._engines[name]

    def find(self, ident: str) -> tuple[Engine, str]:
        """Return the engine of a job and the job's uid.

        Raises
        ------
        NotFound
            If the id is none of a job, or its engine is not installed.
        """
        try:
            name, _namespace, _name, uid = parse_job_id(ident)
        except ValueError:
            raise no_job(ident) from None
        if name not in self._engines:
            raise no_job(ident)
        return self._engines[name], uid


async def _stopped(engines: Iterable[Engine]) -> None:
    """Stop engines. A failure is logged and keeps no other engine from being stopped."""
    stopping = list(engines)
    results = await asyncio.gather(*(engine.stop() for engine in stopping), return_exceptions=True)
    for engine, failure in zip(stopping, results, strict=True):
        if isinstance(failure, Exception):
            log.error("The engine %s could not be stopped.", engine.name, exc_info=failure)


def all_of(functions: Iterable[Callable[[], None]]) -> Callable[[], None]:
    """Return one function that calls several."""
    ends = list(functions)

    def end() -> None:
        for each in ends:
            each()

    return end


def no_job(ident: str) -> NotFound:
    """Return the error for the id of a job that does not exist."""
    message = _("There is no job {id}.", id=repr(ident[:200]))
    return NotFound(message, code="NoSuchJob", hint=_("It may have been removed."))
