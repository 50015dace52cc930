"""Terminals and commands in the jobs of all engines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from ..core.checks import Capability
from ..core.engine.protocol import Engine
from ..core.engine.terminals import FindsRanks, OpensTerminals, Shell, ShellSettings, TerminalList, TerminalPlace
from ..core.errors import Conflict, JobError, NotFound, Unavailable
from ..core.translation import Text, _, listing
from .service import JobService

MOST_NAMED = 10
AT_A_TIME = 8
"""Replicas in which ranks are looked for at the same time."""
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

    async def listed(self, ident: str, settings: ShellSettings | None, search: Sequence[str] = ()) -> TerminalList:
        """Return where terminals can be opened in a job, or why not.

        Parameters
        ----------
        ident
            Id of the job.
        settings
            Shell of the server; None if the server has terminals switched off.
        search
            Names of replicas that are searched for ranks if the engine does not know all of them. Only the replica
            itself is listed where the search fails.
        """
        await self._jobs.job(ident)
        engine, uid = self._jobs.engines.find(ident)
        reason = _reason(engine, settings)
        if reason is not None or not isinstance(engine, OpensTerminals):
            return TerminalList(available=Capability(supported=False, reason=reason))
        found = await engine.terminals(uid)
        names = [name for name in found.searchable if name in search]
        if not names or not found.available.supported or not isinstance(engine, FindsRanks):
            return found
        ranks = await _ranks(engine, uid, names)
        places = []
        for place in found.places:
            if place.rank is None or place.replica not in ranks:
                places.append(place)
            if place.rank is None and place.replica in ranks:
                known = {each.rank for each in found.places if each.replica == place.replica}
                every = sorted({rank for rank in known if rank is not None} | set(ranks[place.replica]))
                places += [TerminalPlace(replica=place.replica, rank=rank) for rank in every]
        return found.model_copy(update={"places": places})

    async def place(
        self, ident: str, rank: int | None, replica: str | None, settings: ShellSettings | None
    ) -> TerminalPlace:
        """Return where a terminal is opened for a rank or a replica; for none of them, that of rank 0.

        In pods it is then the replica in which rank 0 runs, without the rank's own variables, because not each
        container allows reading them.

        Parameters
        ----------
        ident
            Id of the job.
        rank
            Global rank; None for the replica itself.
        replica
            Name of the replica; None for any.
        settings
            See `listed`.

        Raises
        ------
        Conflict
            If no terminal can be opened in the job now.
        NotFound
            If no such rank or replica runs.
        """
        found = await self.listed(ident, settings)
        if not found.available.supported or not found.places:
            raise Conflict(found.available.reason or _("No replica runs."))
        wanted = [place for place in found.places if replica in (None, place.replica)]
        engine, _uid = self._jobs.engines.find(ident)
        if replica is not None and rank is None:
            chosen = next(iter(wanted), None)
        elif rank is None and engine.facts.has_pods:
            chosen = None
        else:
            chosen = next((place for place in wanted if place.rank == (rank or 0)), None)
        if chosen is not None:
            return chosen
        holders = await self._holders(ident)
        if rank is not None:
            searched = [name for name in found.searchable if replica in (None, name)]
            for at in range(0, len(searched), AT_A_TIME):
                names = searched[at : at + AT_A_TIME]
                for each in (await self.listed(ident, settings, names)).places:
                    if each.rank is not None:
                        holders[each.rank] = each.replica
                if rank in holders:
                    break
        chosen = next((place for place in wanted if place.replica == holders.get(rank or 0)), None)
        if chosen is not None and rank is not None:
            chosen = TerminalPlace(replica=chosen.replica, rank=rank)
        if chosen is None and rank is None:
            chosen = next(iter(wanted), None)
        if chosen is not None:
            return chosen
        ranks = [str(each) for each in sorted(holders)]
        names = list(dict.fromkeys(place.replica for place in found.places))
        raise NotFound(
            _("The job has no such rank or replica, or it does not run."),
            code="NoSuchPlace",
            hint=_(
                "Ranks: {ranks}. Replicas: {replicas}.",
                ranks=listing(ranks, MOST_NAMED) if ranks else _("not known"),
                replicas=listing(names, MOST_NAMED),
            ),
        )

    async def _holders(self, ident: str) -> dict[int, str]:
        """Return the replicas of the ranks that are known: in a cluster, those that write a log of their own."""
        holders = {rank: view.name for view in await self._jobs.replicas(ident) for rank in view.ranks}
        try:
            streams = await self._jobs.log_streams(ident)
        except Unavailable:
            return holders
        for stream in sorted(streams, key=lambda stream: (stream.attempt, stream.worker_restart)):
            if stream.rank is not None:
                holders[stream.rank] = stream.replica
        return holders

    @asynccontextmanager
    async def opened(
        self, ident: str, place: TerminalPlace | None, settings: ShellSettings | None
    ) -> AsyncIterator[Shell]:
        """Start a shell or program in a job; it ends with the context.

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


async def _ranks(engine: FindsRanks, uid: str, replicas: Sequence[str]) -> dict[str, list[int]]:
    """Return the ranks that are found in replicas; a replica that can't be searched has none."""
    slots = asyncio.Semaphore(AT_A_TIME)

    async def search(replica: str) -> list[int]:
        async with slots:
            try:
                return await engine.ranks_in(uid, replica)
            except JobError:  # A terminal in the replica itself tells why no command runs there.
                return []

    return dict(zip(replicas, await asyncio.gather(*map(search, replicas)), strict=True))


def _reason(engine: Engine, settings: ShellSettings | None) -> Text | None:
    """Return why an engine's jobs have no terminals; None if they may have."""
    if settings is None:
        return OFF
    if isinstance(engine, OpensTerminals):
        return None
    return _("{engine} has no terminals.", engine=engine.label)
