"""The spools of one container, one for each of its runs, with records of the parts that are missing."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from ....core.job import MissingSpan
from ....core.translation import Text, _, _n, sentences
from ....logs.storage.lease import Lease
from ....logs.storage.records import SpoolRecord, key_of
from ....logs.storage.spool import Gap, Spool
from ....logs.storage.stamped import SECOND
from ..objects.pods.container_runs import ContainerRun, ContainerState
from .spool_store import SpoolStore, in_thread

_ONLY_TWO: Final = _("The node keeps only the logs of a container's last two runs.")
_POD_GONE: Final = _("The pod has been removed.")


class NotOurs(Exception):
    """Another server holds the lease and writes this log."""


class ContainerSpools:
    """Writes the spools of one container; one of them is open at a time.

    Parameters
    ----------
    kept
        All spools of the job.
    lease
        Lease that allows this server to write the spools.
    replica
        Name of the container's replica.
    earlier
        Number of the replica's attempts before this pod.

    Attributes
    ----------
    clean
        Key of the record whose log was followed to its end, so that nothing is missing after it.
    """

    def __init__(self, kept: SpoolStore, lease: Lease, *, replica: str, earlier: int) -> None:
        self.clean: str | None = None
        self._kept = kept
        self._lease = lease
        self._replica = replica
        self._earlier = earlier
        self._open: tuple[str, Spool] | None = None
        self._noting = asyncio.Lock()

    async def hold(self) -> None:
        """Hold the lease.

        Raises
        ------
        NotOurs
            If another server holds it.
        """
        if not self._lease.valid and not await self._lease.hold():
            raise NotOurs

    def close(self) -> None:
        """Close the open spool."""
        opened, self._open = self._open, None
        if opened is not None:
            opened[1].close()

    def record(self, state: ContainerState, run: ContainerRun) -> SpoolRecord:
        """Return the record of a run; it is made if there is none yet.

        Parameters
        ----------
        state
            The container.
        run
            The run.
        """
        known = self._kept.records.get(key_of(state.pod_uid, state.name, run.restart))
        if known is not None:
            return known
        return SpoolRecord(
            replica=self._replica,
            number=self._earlier + 1 + (run.restart if state.main else 0),
            pod=state.pod,
            pod_uid=state.pod_uid,
            container=state.name,
            container_id=run.container_id,
            source=state.source,
            main=state.main,
            restart=run.restart,
            started_at=run.started_at,
            missing=self._unseen(state, run),
        )

    async def open(self, record: SpoolRecord) -> Spool:
        """Return the spool of a record, ready for the start of an answer.

        Raises
        ------
        NotOurs
            If another server holds the lease.
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

    async def clear(self, record: SpoolRecord, spool: Spool) -> None:
        """Remove the lines of another run, and the missing parts between them.

        Parameters
        ----------
        record
            The record.
        spool
            The record's spool.
        """
        record.missing = [span for span in record.missing if span.offset == 0]
        await in_thread(self._kept.folder, spool.clear)

    async def finish(self, record: SpoolRecord, ended_at: float | None, spool: Spool, lost: Text | None) -> None:
        """Complete the record of a run that has ended.

        Parameters
        ----------
        record
            The record.
        ended_at
            End of the run in seconds since the epoch; None if it is not known.
        spool
            The record's spool.
        lost
            Why the end of the log could not be read; None if it could.
        """
        record.ended_at = ended_at or None
        await self._complete(record, spool, ended_at, lost)

    # -- missing parts ------------------------------------------------------------------------------------------------

    async def note(self, record: SpoolRecord, gaps: list[Gap], sentence: Text) -> None:
        """Record that lines may be missing.

        Parameters
        ----------
        record
            The record.
        gaps
            Positions and times of the gaps.
        sentence
            Why lines may be missing.
        """
        if not gaps:
            return
        spans = [
            MissingSpan(
                sentence=sentence,
                offset=gap.offset,
                since=record.started_at if gap.since is None else gap.since / SECOND,
                until=gap.until / SECOND,
            )
            for gap in gaps
        ]
        async with self._noting:  # The beginning of a log is judged while the log is read.
            record.missing = sorted([*record.missing, *spans], key=lambda span: span.offset)
            await self._kept.save(record)

    async def lose_earlier(self, state: ContainerState) -> None:
        """Complete the records of runs whose logs the node no longer keeps."""
        first = min((run.restart for run in (state.previous, state.current) if run is not None), default=0)
        for restart in range(first):
            record = self._kept.records.get(key_of(state.pod_uid, state.name, restart))
            if record is not None and not record.complete:
                await self._lose(record, _ONLY_TWO)

    async def lose_with_pod(self, state: ContainerState) -> None:
        """Complete the records of all runs of a pod that no longer exists."""
        for run in (state.previous, state.current):
            if run is not None and not self._kept.has_all_of(state, run):
                await self._lose(self.record(state, run), _POD_GONE)
        for record in list(self._kept.records.values()):
            if (record.pod_uid, record.container) == (state.pod_uid, state.name) and not record.complete:
                await self._lose(record, _POD_GONE)

    async def _lose(self, record: SpoolRecord, why: Text) -> None:
        """Complete a record whose log can no longer be read."""
        spool = await self.open(record)
        await self._complete(record, spool, None, why)

    async def _complete(self, record: SpoolRecord, spool: Spool, until: float | None, lost: Text | None) -> None:
        """Save a record as complete; after an error of the disk it is as before, so that the follower tries again."""
        before = record.missing
        if lost is not None and self.clean != record.key:
            record.missing = [*before, _tail(record, spool, until, lost)]
        record.complete = True
        try:
            await self._kept.save(record)
        except OSError:
            record.missing, record.complete = before, False
            raise

    def _unseen(self, state: ContainerState, run: ContainerRun) -> list[MissingSpan]:
        """Return a missing span for runs that ended before the log was first followed."""
        unseen = sum(
            key_of(state.pod_uid, state.name, number) not in self._kept.records for number in range(run.restart)
        )
        if not unseen or (run is state.current and state.previous is not None):
            return []
        sentence = _n(
            "The log of {n} earlier run of this container is lost: the node keeps only the last two runs.",
            "The logs of {n} earlier runs of this container are lost: the node keeps only the last two runs.",
            unseen,
        )
        return [MissingSpan(sentence=sentence, offset=0, until=run.started_at)]


def may_be_of_later_run(spool: Spool, run: ContainerRun) -> bool:
    """Return True if the log that was requested for an ended run may have the lines of the next run instead.

    A node returns the log of its newest run. It can start that run before the API server knows that this one has
    ended. The lines that a run writes in its last second can't be told from those of the next run.

    Parameters
    ----------
    spool
        The spool of the ended run.
    run
        The ended run.
    """
    return (
        spool.first is not None
        and run.ended_at is not None
        and int(spool.first) >= run.ended_at
        and not spool.is_repeated
        and spool.notice is None  # Otherwise the node has not answered with a log.
    )


def _tail(record: SpoolRecord, spool: Spool, until: float | None, why: Text) -> MissingSpan:
    """Return that everything after the end of a spool is missing."""
    lost = _("The output after this point is lost.") if spool.size else _("The log is lost.")
    return MissingSpan(
        sentence=sentences(lost, why) or lost,
        offset=spool.size,
        since=spool.last / SECOND if spool.last is not None else record.started_at,
        until=until or time.time(),
    )
