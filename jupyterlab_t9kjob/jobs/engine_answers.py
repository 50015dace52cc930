"""Answers about an engine, with defaults for an engine that lacks the optional protocol."""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.capacity import Capacity, NodeList, QueueList
from ..core.checks import Preview
from ..core.engine.info import EngineInfo, Volume
from ..core.engine.options import (
    CapacitySource,
    HasCapacity,
    HasEvents,
    HasManifests,
    HasManifestSchema,
    HasNodes,
    HasQueues,
    HasVolumes,
    Previews,
    SharesCapacity,
)
from ..core.engine.protocol import Edited, Engine
from ..core.errors import FieldError, NotFound, Unavailable
from ..core.features import unsupported
from ..core.job import Event, ManifestView
from ..core.manifests import KINDS
from ..core.spec import JobSpec
from ..core.translation import _

if TYPE_CHECKING:
    from ..core.manifests.schema import KindSchema

log = logging.getLogger(__name__)


async def events_of(engine: Engine, uid: str) -> list[Event]:
    """Return a job's events; none if the engine records none.

    Parameters
    ----------
    engine
        The engine.
    uid
        The job's uid on the engine.

    Raises
    ------
    NotFound
        If there is no such job.
    """
    if isinstance(engine, HasEvents):
        return await engine.events(uid)
    await engine.job(uid)  # Raises an error if the job does not exist.
    return []


async def manifest_of(engine: Engine, uid: str) -> ManifestView:
    """Return a job's manifest.

    Parameters
    ----------
    engine
        The engine.
    uid
        The job's uid on the engine.

    Raises
    ------
    NotFound
        If there is no such job, or the engine's jobs have no manifests.
    """
    if isinstance(engine, HasManifests):
        return await engine.manifest(uid)
    await engine.job(uid)
    raise NotFound(_("Jobs on {engine} have no manifests.", engine=engine.label), code="NoManifest")


async def preview_of(engine: Engine, spec: JobSpec, namespace: str, *, edited: Edited | None, dry_run: bool) -> Preview:
    """Return the preview of a job; for an engine without previews, one from the spec and the engine's capabilities.

    Parameters
    ----------
    engine
        The engine.
    spec
        The spec.
    namespace
        Namespace of the job.
    edited
        The manifest, if the user edited it.
    dry_run
        True to let the cluster validate the manifest as well.

    Raises
    ------
    FieldError
        If `edited` is given for an engine whose jobs have no manifests.
    """
    if isinstance(engine, Previews):
        return await engine.preview(spec, namespace, edited=edited, dry_run=dry_run)
    if edited is not None:
        message = _("Jobs on {engine} have no manifests.", engine=engine.label)
        raise FieldError(message, field="/manifest", hint=_("Submit the form instead."))
    checks = list(unsupported(spec, (await engine.info()).capabilities))
    summary = _("1 job on {engine}", engine=engine.label)
    return Preview(command=shlex.join([spec.entrypoint.script, *spec.args]), summary=summary, checks=checks)


async def manifest_schema_of(engine: Engine) -> KindSchema:
    """Return the schema of an engine's manifests.

    Raises
    ------
    NotFound
        If the engine's jobs have no manifests.
    """
    if isinstance(engine, HasManifestSchema):
        return await engine.manifest_schema()
    form = KINDS.get(engine.facts.manifest_kind or "")
    if form is None:
        raise NotFound(_("Jobs on {engine} have no manifests.", engine=engine.label), code="NoManifest")
    from ..core.manifests.schema import bundled_schema

    return bundled_schema(form)


async def volumes_of(engine: Engine, namespace: str) -> list[Volume]:
    """Return the volumes that a job can mount; none if the engine has no volumes.

    Parameters
    ----------
    engine
        The engine.
    namespace
        Namespace of the job; empty for the engine's default.

    Raises
    ------
    NotAllowed
        If the account has no permission to list volumes.
    FieldError
        If the namespace does not exist.
    """
    if not isinstance(engine, HasVolumes):
        return []
    return await engine.volumes(namespace or (await engine.info()).default_namespace)


async def queues_of(engine: Engine, namespace: str) -> QueueList:
    """Return the queues that a job can be put into; none, with the reason, if the engine has no queues.

    Parameters
    ----------
    engine
        The engine.
    namespace
        Namespace of the job; empty for the engine's default.
    """
    if not isinstance(engine, HasQueues):
        return QueueList(limited=_("{engine} has no queues.", engine=engine.label))
    return await engine.queues(namespace or (await engine.info()).default_namespace)


async def capacity_of(engine: Engine, namespace: str) -> Capacity:
    """Return the free resources of an engine; none, with the reason, if the engine does not report them.

    Parameters
    ----------
    engine
        The engine.
    namespace
        Namespace whose quotas are part of the answer; empty for all watched namespaces.
    """
    if not isinstance(engine, HasCapacity):
        limited = _("{engine} does not report what is free.", engine=engine.label)
        return Capacity(time=time.time(), limited=limited)
    return await engine.capacity(namespace)


async def nodes_of(engine: Engine) -> NodeList:
    """Return the nodes on which the engine's jobs run."""
    if not isinstance(engine, HasNodes):
        return NodeList(time=time.time(), limited=_("{engine} does not report nodes.", engine=engine.label))
    return await engine.nodes()


def failed_info(engine: Engine, error: Exception) -> EngineInfo:
    """Return the state of an engine that failed: unavailable, with the error as the reason.

    Parameters
    ----------
    engine
        The engine.
    error
        The error.
    """
    reason = _(
        "The engine failed with an error of its own: {error}. The server's log has more.",
        error=f"{type(error).__name__}: {error}",
    )
    return EngineInfo(name=engine.name, label=engine.label, facts=engine.facts, available=False, reason=reason)


class NoCapacity:
    """Source of capacity if no engine has one."""

    async def now(self) -> Capacity:
        """Raise `Unavailable`."""
        raise Unavailable(_("No engine of this server reports what is free."))

    def subscribe(self, moved: Callable[[], None]) -> Callable[[], None]:
        """Do nothing."""
        return lambda: None


def capacity_source_of(engines: list[Engine]) -> CapacitySource:
    """Return the capacity source of the first engine that has one. An engine that fails is logged and left out."""
    for engine in engines:
        try:
            if isinstance(engine, SharesCapacity):
                return engine.capacity_source()
        except Exception:
            log.exception("The engine %s could not share its capacity.", engine.name)
    return NoCapacity()
