"""The spools of one container, one for each of its lives: what is kept of them, and what is said to be missing."""

from __future__ import annotations

import time

from ....core.job import MissingSpan
from ....logs.storage.lease import Lease
from ....logs.storage.records import SpoolRecord, key_of
from ....logs.storage.spool import Gap, Spool
from ....logs.storage.stamped import SECOND
from ..objects.container_runs import ContainerRun, ContainerState
from .spool_store import Kept, in_thread

_ONLY_TWO = "The node keeps only the last two lives of a container."
_POD_GONE = "Its pod has been removed."


class NotOurs(Exception):
    """Another server writes this log."""


class Spools:
    """Writes the spools of one container; one of them is open at a time.

    Parameters
    ----------
    kept
        All spools of the job.
    lease
        Allows to write them.
    replica
        Of which the container is.
    earlier
        How many attempts it had before this pod.

    Attributes
    ----------
    clean
        The key of the record whose log was followed to an end, so that nothing is missing behind it.
    """

    def __init__(self, kept: Kept, lease: Lease, *, replica: str, earlier: int) -> None:
        self.clean: str | None = None
        self._kept = kept
        self._lease = lease
        self._replica = replica
        self._earlier = earlier
        self._open: tuple[str, Spool] | None = None

    async def hold(self) -> None:
        """See that they may be written.

        Raises
        ------
        NotOurs
            If they may not.
        """
        if not self._lease.valid and not await self._lease.hold():
            raise NotOurs

    def close(self) -> None:
        """Close the one that is open."""
        opened, self._open = self._open, None
        if opened is not None:
            opened[1].close()

    def record(self, state: ContainerState, life: ContainerRun) -> SpoolRecord:
        """Return the record of a life, made where there is none yet."""
        known = self._kept.records.get(key_of(state.pod_uid, state.name, life.restart))
        if known is not None:
            return known
        return SpoolRecord(
            replica=self._replica,
            number=self._earlier + 1 + (life.restart if state.main else 0),
            pod=state.pod,
            pod_uid=state.pod_uid,
            container=state.name,
            container_id=life.container_id,
            source=state.source,
            main=state.main,
            restart=life.restart,
            started_at=life.started_at,
            missing=self._unseen(state, life),
        )

    async def open(self, record: SpoolRecord) -> Spool:
        """Return the spool of a record, to be fed from the start of an answer.

        Raises
        ------
        NotOurs
            If it may not be written.
        OSError
            If the disk is full or gone.
        """
        await self.hold()
        if record.key not in self._kept.records:
            await self._kept.save(record)
        if self._open is not None and self._open[0] != record.key:
            self.close()
        if self._open is None:
            path = self._kept.path(record)
            self._open = (record.key, await in_thread(self._kept.folder, lambda: Spool(path)))
        spool = self._open[1]
        await in_thread(self._kept.folder, spool.begin)
        return spool

    async def finish(self, record: SpoolRecord, ended_at: float | None, spool: Spool, lost: str | None) -> None:
        """Close the record of a life that has ended; `lost` is why its end could not be had."""
        if lost is not None and self.clean != record.key:
            record.missing.append(_tail(record, spool, ended_at, lost))
        record.ended_at = ended_at or None
        record.complete = True
        await self._kept.save(record)

    # -- what can't be had --------------------------------------------------------------------------------------------

    async def note(self, record: SpoolRecord, gaps: list[Gap], sentence: str) -> None:
        """Say that lines are missing."""
        if gaps:
            record.missing += [
                MissingSpan(
                    sentence=sentence,
                    offset=gap.offset,
                    since=record.started_at if gap.since is None else gap.since / SECOND,
                    until=gap.until / SECOND,
                )
                for gap in gaps
            ]
            record.missing.sort(key=lambda span: span.offset)
            await self._kept.save(record)

    async def lose_earlier(self, state: ContainerState) -> None:
        """Say of lives that were followed once and can't be asked for any more that they are over."""
        first = min((life.restart for life in (state.previous, state.current) if life is not None), default=0)
        for restart in range(first):
            record = self._kept.records.get(key_of(state.pod_uid, state.name, restart))
            if record is not None and not record.complete:
                await self._lose(record, _ONLY_TWO)

    async def lose_with_pod(self, state: ContainerState) -> None:
        """Close the records of all lives, whose pod is gone."""
        for life in (state.previous, state.current):
            if life is not None and not self._kept.has_all_of(state, life):
                await self._lose(self.record(state, life), _POD_GONE)
        for record in list(self._kept.records.values()):
            if (record.pod_uid, record.container) == (state.pod_uid, state.name) and not record.complete:
                await self._lose(record, _POD_GONE)

    async def _lose(self, record: SpoolRecord, why: str) -> None:
        """Close a record of which no more can be had."""
        spool = await self.open(record)
        if self.clean != record.key:
            record.missing.append(_tail(record, spool, None, why))
        record.complete = True
        await self._kept.save(record)

    def _unseen(self, state: ContainerState, life: ContainerRun) -> list[MissingSpan]:
        """Say how many lives were over before anybody looked, at the start of the first that can be had."""
        unseen = sum(
            key_of(state.pod_uid, state.name, number) not in self._kept.records for number in range(life.restart)
        )
        if not unseen or (life is state.current and state.previous is not None):
            return []
        lives = "1 life" if unseen == 1 else f"{unseen} lives"
        sentence = f"The log of {lives} of this container before this one is gone: its node keeps only the last two."
        return [MissingSpan(sentence=sentence, offset=0, until=life.started_at)]


def _tail(record: SpoolRecord, spool: Spool, until: float | None, why: str) -> MissingSpan:
    """Say that what came behind what a spool has is missing."""
    return MissingSpan(
        sentence=f"{'What it wrote after this is' if spool.size else 'Its log is'} gone. {why}",
        offset=spool.size,
        since=spool.last / SECOND if spool.last is not None else record.started_at,
        until=until or time.time(),
    )
