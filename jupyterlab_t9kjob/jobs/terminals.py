"""Terminals in the jobs of all engines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..core.checks import Capability
from ..core.engine.protocol import Engine
from ..core.engine.terminals import OpensTerminals, Shell, ShellSettings, TerminalList, TerminalPlace
from ..core.errors import Conflict
from ..core.translation import Text, _
from .service import JobService

OFF = _("Terminals are switched off on this server.")


class Terminals:
    """Opens terminals. Methods with a job's id raise `NotFound` if there is no such job.

    Parameters
    ----------
    jobs
        All jobs.
    """

    def __init__(self, jobs: JobService) -> None:
        self._jobs = jobs

    async def listed(self, ident: str, settings: ShellSettings | None) -> TerminalList:
        """Return where terminals can be opened in a job, or why not.

        Parameters
        ----------
        ident
            Id of the job.
        settings
            Shell of the server; None if the server has terminals switched off.
        """
        await self._jobs.job(ident)
        engine, uid = self._jobs.engines.find(ident)
        reason = _reason(engine, settings)
        if reason is not None or not isinstance(engine, OpensTerminals):
            return TerminalList(available=Capability(supported=False, reason=reason))
        return await engine.terminals(uid)

    @asynccontextmanager
    async def opened(
        self, ident: str, place: TerminalPlace | None, settings: ShellSettings | None
    ) -> AsyncIterator[Shell]:
        """Start a shell in a job; it ends with the context.

        Parameters
        ----------
        ident
            Id of the job.
        place
            Replica and rank; None for the first replica that runs.
        settings
            See `listed`.

        Raises
        ------
        Conflict
            If no terminal can be opened there now.
        """
        await self._jobs.job(ident)
        engine, uid = self._jobs.engines.find(ident)
        reason = _reason(engine, settings)
        if reason is not None or settings is None or not isinstance(engine, OpensTerminals):
            raise Conflict(reason or OFF)
        if place is None:
            found = await engine.terminals(uid)
            if not found.available.supported or not found.places:
                raise Conflict(found.available.reason or _("No replica runs."))
            place = found.places[0]
        async with engine.open_terminal(uid, place, settings) as shell:
            yield shell


def _reason(engine: Engine, settings: ShellSettings | None) -> Text | None:
    """Return why an engine's jobs have no terminals; None if they may have."""
    if settings is None:
        return OFF
    if isinstance(engine, OpensTerminals):
        return None
    return _("{engine} has no terminals.", engine=engine.label)
