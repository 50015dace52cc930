"""Makes a controller notice that a job's deadline has passed.

Kubeflow's operator checks `activeDeadlineSeconds` only when an object changes. An annotation is such a change.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from datetime import datetime, timezone
from time import monotonic
from typing import Final

from ....core.job import ACTIVE_PHASES
from ....core.manifests.names import REMINDED
from ..client.api import ApiError, KubeApi, Unreachable
from ..cluster.connection import Cluster
from ..cluster.namespace_watch import jobs_path
from ..cluster.permissions import allowed
from ..objects.kinds import JobKind
from .tracked_job import TrackedJob

log = logging.getLogger(__name__)

TICK_SECONDS: Final = 5.0
"""Interval between checks of the deadlines."""
FIRST_DELAY: Final = 10.0
"""Seconds until the next attempt after a refusal that passes; they double with each such refusal."""
LONGEST_DELAY: Final = 300.0
_LASTING: Final = (400, 403, 404, 422)
"""Refusals that do not pass by themselves."""


class DeadlineNudge:
    """Annotates overdue jobs of one kind that were submitted through a lab; see `JobKind.remind_at`.

    Every running lab does this. All labs write the same value, so the object changes only once.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster of the jobs.
    jobs
        Returns the jobs that are known now.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, jobs: Callable[[], Iterable[TrackedJob]]) -> None:
        self._kind, self._cluster, self._jobs = kind, cluster, jobs
        self._refused: set[str] = set()
        self._delayed: dict[str, tuple[float, float]] = {}  # The last delay and its end, by uid.
        self._due: dict[str, tuple[int, float | None]] = {}
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to check deadlines."""
        self._task = asyncio.create_task(self._run(), name=f"deadlines {self._kind.engine}")

    async def stop(self) -> None:
        """Stop checking deadlines."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now, api = time.time(), self._cluster.api
            deadlines: dict[str, tuple[int, float | None]] = {}
            for job in list(self._jobs()) if api is not None else ():
                if not job.present or job.owner is None or job.phase not in ACTIVE_PHASES:
                    continue
                deadlines[job.uid] = self._due_of(job)
                due = deadlines[job.uid][1]
                if due is not None and due <= now and api is not None and self._may_change(job):
                    try:
                        await self._annotate(api, job, due)
                    except Exception:  # One job must not keep the others from their annotations.
                        log.exception("The overdue job %s could not be annotated", job.uid)
            self._due = deadlines
            self._delayed = {uid: delayed for uid, delayed in self._delayed.items() if uid in deadlines}

    def _due_of(self, job: TrackedJob) -> tuple[int, float | None]:
        """Return a job's revision and its deadline; the object is unpacked only if the revision is new."""
        before = self._due.get(job.uid)
        if before is not None and before[0] == job.revision != 0:
            return before
        return job.revision, self._kind.remind_at(job.manifest)

    def _may_change(self, job: TrackedJob) -> bool:
        rights = self._cluster.rights(self._kind, job.namespace)
        delayed = job.uid in self._delayed and monotonic() < self._delayed[job.uid][1]
        return job.uid not in self._refused and not delayed and allowed(rights, ["change_jobs"])

    async def _annotate(self, api: KubeApi, job: TrackedJob, due: float) -> None:
        when = datetime.fromtimestamp(due, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        patch = {"metadata": {"uid": job.uid, "annotations": {REMINDED: when}}}
        try:
            await api.patch(f"{jobs_path(self._kind, job.namespace)}/{job.name}", patch)
        except Unreachable as error:
            log.info("The overdue job %s can't be annotated now: %s", job.uid, error)
        except ApiError as error:
            if error.status in _LASTING:
                self._refused.add(job.uid)
            else:
                delay = min(LONGEST_DELAY, 2 * self._delayed[job.uid][0] if job.uid in self._delayed else FIRST_DELAY)
                self._delayed[job.uid] = delay, monotonic() + delay
            log.warning("The cluster refused the annotation of the overdue job %s: %s", job.uid, error.reason)
