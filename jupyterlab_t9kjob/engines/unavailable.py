"""Placeholder for an engine that could not be loaded or started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from ..core.engine.info import EngineFacts, EngineInfo
from ..core.engine.protocol import Edited, Listener, Prepare
from ..core.errors import NotFound, Unavailable
from ..core.job import Action, Job, JobSummary, Replica
from ..core.log_sources import LogSource
from ..core.spec import JobSpec
from ..core.translation import Text, _


class UnavailableEngine:
    """An engine without jobs that reports why it is not available.

    Parameters
    ----------
    name
        The engine's name.
    reason
        Sentence that says why the engine is not available.
    label, facts
        The engine's label and facts, if they are known.
    """

    order = 1000

    def __init__(self, name: str, reason: Text, *, label: Text | None = None, facts: EngineFacts | None = None) -> None:
        self.name = name
        self.label: Text = label or Text.verbatim(name)
        self.facts = facts or EngineFacts()
        self._reason = reason

    async def start(self) -> None:
        """Do nothing."""

    async def stop(self) -> None:
        """Do nothing."""

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Return a function without effect: no job ever changes."""
        return lambda: None

    async def info(self) -> EngineInfo:
        """Return the engine's state with the reason."""
        return EngineInfo(name=self.name, label=self.label, facts=self.facts, available=False, reason=self._reason)

    async def jobs(self) -> list[JobSummary]:
        """Return an empty list."""
        return []

    async def job(self, uid: str) -> Job:
        """Raise `NotFound`."""
        self._not_found(uid)

    async def replicas(self, uid: str) -> list[Replica]:
        """Raise `NotFound`."""
        self._not_found(uid)

    async def created_by(self, request_id: str) -> Job | None:
        """Raise `Unavailable`, because the engine's jobs can't be read."""
        raise Unavailable(self._reason)

    async def create(
        self,
        spec: JobSpec,
        *,
        namespace: str,
        request_id: str,
        edited: Edited | None = None,
        rerun_of: str | None = None,
        prepare: Prepare | None = None,
    ) -> Job:
        """Raise `Unavailable`. The parameters are those of `core.engine.protocol.Engine.create`."""
        raise Unavailable(self._reason)

    async def act(self, uid: str, action: Action, *, remove: bool = False) -> Job:
        """Raise `NotFound`. The parameters are those of `core.engine.protocol.Engine.act`."""
        self._not_found(uid)

    async def remove(self, uid: str) -> None:
        """Raise `NotFound`."""
        self._not_found(uid)

    async def log_sources(self, uid: str) -> Sequence[LogSource]:
        """Raise `NotFound`."""
        self._not_found(uid)

    async def follow_logs(self, uid: str, grown: Callable[[], None]) -> Callable[[], None]:
        """Raise `NotFound`. The parameters are those of `core.engine.protocol.Engine.follow_logs`."""
        self._not_found(uid)

    def _not_found(self, uid: str) -> NoReturn:
        raise NotFound(_("The job {uid} can't be read.", uid=uid), code="NoSuchJob", hint=self._reason)
