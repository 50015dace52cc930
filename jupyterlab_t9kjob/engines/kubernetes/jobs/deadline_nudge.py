"""Makes a job's controller look at a job again whose deadline is over, where it would not by itself."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from typing import Final

from ....core.job import ACTIVE_PHASES
from ....core.manifests.names import REMINDED
from ..client.api import ApiError, KubeApi, Unreachable
from ..cluster.connection import Cluster
from ..cluster.namespace_watch import jobs_path
from ..cluster.permissions import allowed
from ..objects.kinds import JobKind
from .tracked_job import KnownJob

log = logging.getLogger(__name__)

TICK_SECONDS: Final = 5.0


class Reminders:
    """Reminds the controller of one kind of the jobs that were submitted through a lab (`JobKind.remind_at`).

    Any lab that is awake does it; what several write is the same, and changes nothing the second time.

    Parameters
    ----------
    kind
        The kind.
    cluster
        Where the jobs are.
    jobs
        Returns those that are known now.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, jobs: Callable[[], Iterable[KnownJob]]) -> None:
        self._kind, self._cluster, self._jobs = kind, cluster, jobs
        self._refused: set[str] = set()
        self._due: dict[str, tuple[int, float | None]] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look at the clock."""
        self._task = asyncio.create_task(self._run(), name=f"reminders {self._kind.engine}")

    async def stop(self) -> None:
        """Remind of nothing any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now, api = time.time(), self._cluster.api
            known: dict[str, tuple[int, float | None]] = {}
            for job in list(self._jobs()) if api is not None else ():
                if not job.present or job.owner is None or job.phase not in ACTIVE_PHASES:
                    continue
                known[job.uid] = self._due_of(job)
                due = known[job.uid][1]
                if due is not None and due <= now and api is not None and self._may(job):
                    try:
                        await self._remind(api, job, due)
                    except Exception:  # the others are reminded of
                        log.exception("Reminding of the deadline of %s failed", job.uid)
            self._due = known

    def _due_of(self, job: KnownJob) -> tuple[int, float | None]:
        """Return a job's revision, and when it is due as its object says then: to unpack that takes its time."""
        known = self._due.get(job.uid)
        if known is not None and known[0] == job.revision != 0:
            return known
        return job.revision, self._kind.remind_at(job.manifest)

    def _may(self, job: KnownJob) -> bool:
        rights = self._cluster.rights(self._kind, job.namespace)
        return job.uid not in self._refused and allowed(rights, ["change_jobs"])

    async def _remind(self, api: KubeApi, job: KnownJob, due: float) -> None:
        when = datetime.fromtimestamp(due, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        patch = {"metadata": {"uid": job.uid, "annotations": {REMINDED: when}}}
        try:
            await api.patch(f"{jobs_path(self._kind, job.namespace)}/{job.name}", patch)
        except Unreachable as error:
            log.info("Nobody could be reminded of the deadline of %s now: %s", job.uid, error)
        except ApiError as error:
            self._refused.add(job.uid)
            log.warning("The cluster did not take the reminder of the deadline of %s: %s", job.uid, error.reason)
