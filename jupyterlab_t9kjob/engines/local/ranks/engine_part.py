"""The part of the engine that opens terminals on this machine."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from ....core.checks import Capability
from ....core.engine.protocol import Listener
from ....core.engine.terminals import Shell, ShellSettings, TerminalList, TerminalPlace
from ....core.errors import Conflict, NotFound
from ....core.job import Job, JobSummary
from ....core.system.disk_threads import on_disk
from ....core.system.processes import LINUX
from ....core.translation import _
from ..jobs.store import Store
from ..jobs.stored_job import StoredJob
from .surroundings import NoRank, Surroundings, new_mark, ranks_of, running_ranks, surroundings_of

RANK_SECONDS: Final = 120.0
"""Time for which a terminal waits until torchrun has started its rank."""
POLL_SECONDS: Final = 0.25
NOT_RUNNING: Final = _("The job does not run.")


class OpensRankTerminals:
    """Base of the engine; methods with a job's uid raise `NotFound` if there is no such job."""

    _store: Store

    async def job(self, uid: str) -> Job:
        """Return one job in full."""
        raise NotImplementedError

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` at every change of a job; return a function that ends this."""
        raise NotImplementedError

    async def terminals(self, uid: str) -> TerminalList:
        """Return where terminals can be opened, see `core.engine.terminals.OpensTerminals`."""
        job = await self.job(uid)
        available = _capability(job)
        if not available.supported:
            return TerminalList(available=available)
        stored = self._store.get(uid)
        return TerminalList(available=available, places=await on_disk(stored.files.path, _all_places, stored))

    @asynccontextmanager
    async def open_terminal(self, uid: str, place: TerminalPlace, settings: ShellSettings) -> AsyncIterator[Shell]:
        """Start a shell or program on this machine.

        The parameters are those of `core.engine.terminals.OpensTerminals.open_terminal`.
        """
        from .shell import command_of, local_shell

        found = await self.job(uid)
        available = _capability(found)
        if not available.supported:
            raise Conflict(available.reason or NOT_RUNNING)
        if settings.container is not None:
            raise Conflict(_("Jobs on this machine have no containers."), hint=_("Leave the container out."))
        surroundings = await self._surroundings(uid, place)
        command = settings.program or command_of(settings.command)
        async with local_shell(command, surroundings, terminal=settings.terminal) as shell:

            def heard(ident: str, job: JobSummary | None) -> None:
                if ident == found.id and (job is None or job.deleted or job.phase != "Running"):
                    shell.cut()

            stop = self.listen(heard)
            try:
                # The job may have ended while the shell started.
                heard(found.id, await self._job_or_none(uid))
                yield shell
            finally:
                stop()

    async def _job_or_none(self, uid: str) -> Job | None:
        try:
            return await self.job(uid)
        except NotFound:
            return None

    async def _surroundings(self, uid: str, place: TerminalPlace) -> Surroundings:
        """Return the surroundings of a rank; wait for it if torchrun is about to start it."""
        end = time.monotonic() + RANK_SECONDS
        while True:
            job = self._store.get(uid)
            if job.record is None or job.plan is None:
                raise Conflict(NOT_RUNNING)
            try:
                return await on_disk(job.files.path, surroundings_of, job.record, job.plan, place, new_mark())
            except NoRank:
                if time.monotonic() > end or place.rank not in [each.rank for each in _places(job)]:
                    raise
            await asyncio.sleep(POLL_SECONDS)


def _capability(job: Job) -> Capability:
    if sys.platform == "win32":
        return Capability(supported=False, reason=_("Terminals of local jobs need Linux or macOS."))
    if job.read_only is not None:
        return Capability(supported=False, reason=job.read_only)
    if job.phase != "Running" or not job.replicas_running:
        return Capability(supported=False, reason=NOT_RUNNING)
    return Capability(supported=True)


def _places(job: StoredJob) -> list[TerminalPlace]:
    if job.record is None or job.plan is None:
        return []
    places = []
    for record, plan in zip(job.record["replicas"], job.plan["replicas"], strict=True):
        if record["pid"] is None:
            continue
        places.append(TerminalPlace(replica=record["name"]))
        if plan["launcher"] is not None:
            places += [TerminalPlace(replica=record["name"], rank=rank) for rank in ranks_of(record, plan["processes"])]
    return places


def _all_places(job: StoredJob) -> list[TerminalPlace]:
    """Return the places, also of ranks that no log and no plan names, such as those of the user's own torchrun."""
    places = []
    planned = _places(job)
    for place in planned:
        places.append(place)
        if (
            LINUX
            and place.rank is None
            and not any(other.replica == place.replica and other.rank is not None for other in planned)
        ):
            ranks = sorted(running_ranks(job.uid, place.replica))
            places += [TerminalPlace(replica=place.replica, rank=rank) for rank in ranks]
    return places
