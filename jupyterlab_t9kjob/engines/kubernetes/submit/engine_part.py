"""The part of the engine through which a server acts on jobs by itself: for sweeps, and after evictions."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ....core.evictions.model import CONTINUED, Continuation, annotation_of
from ....core.manifests.names import CONTINUE_LEASE, SWEEP_LEASE, SWEEP_VERDICT
from ..client.json_access import text

if TYPE_CHECKING:
    from ....core.sweep import Verdict
    from ..cluster.connection import Cluster
    from ..jobs.snapshot import JobSnapshot
    from ..jobs.table import JobTable
    from ..objects.kinds import JobKind
    from .job_actions import JobActions


class ActsForServer:
    """Base of the engine; methods with a job's uid raise `NotFound` if there is no such job."""

    _kind: JobKind
    _cluster: Cluster
    _table: JobTable

    @cached_property
    def _actions(self) -> JobActions:
        from .job_actions import JobActions

        return JobActions(self._kind, self._cluster, self._table)

    async def _open(self, uid: str) -> JobSnapshot:
        raise NotImplementedError

    async def lease_sweep(self, uid: str, holder: str, seconds: float) -> bool:
        """Take or renew the lease of a sweep.

        The parameters are those of `core.engine.options.LeasesSweeps.lease_sweep`.
        """
        job = await self._table.get(uid)
        return await self._actions.lease(self._table.observer.snapshot(job), SWEEP_LEASE, holder, seconds)

    async def end_for_sweep(self, uid: str, verdict: Verdict) -> None:
        """Stop a job for its sweep. The parameters are those of `core.engine.options.EndsForSweep.end_for_sweep`."""
        snapshot = await self._open(uid)
        if text(snapshot.manifest, "metadata", "annotations", SWEEP_VERDICT) is None:
            self._actions.check(snapshot, "stop")
            await self._actions.act(snapshot, "stop", verdict=verdict)

    async def lease_continuation(self, uid: str, holder: str, seconds: float) -> bool:
        """Take or renew the lease of an evicted job.

        The parameters are those of `core.evictions.protocol.ContinuesEvicted.lease_continuation`.
        """
        job = await self._table.get(uid)
        return await self._actions.lease(self._table.observer.snapshot(job), CONTINUE_LEASE, holder, seconds)

    async def note_continuation(self, uid: str, continuation: Continuation) -> None:
        """Keep what followed an eviction.

        The parameters are those of `core.evictions.protocol.ContinuesEvicted.note_continuation`.
        """
        await self._actions.annotate(await self._open(uid), CONTINUED, annotation_of(continuation))
