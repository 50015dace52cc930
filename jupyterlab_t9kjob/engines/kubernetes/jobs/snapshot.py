"""What is known of a job at one moment: from the watches, or from our record alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from ....core.checks import Capability
from ....core.job import ACTIVE_PHASES, Event
from ....core.manifests.names import KUEUE, KUEUE_QUEUE, OWNER, T9K_SCHEDULER
from ..client.api import Json
from ..client.json_access import text
from ..cluster.connection import Cluster
from ..cluster.namespace_watch import NamespaceWatch
from ..objects.events import events_of
from ..objects.kinds import JobKind, State
from ..reasons.finished import is_over
from ..reasons.job import reason_of
from ..scheduling import kueue
from ..scheduling.kueue import KueueHold
from . import api_views
from .api_views import JobSnapshot
from .tracked_job import KnownJob

_OVER: Final = ("Succeeded", "Failed")
_UNSEEN: Final = (
    "Kueue queues it, and what it says of jobs can't be seen here (list and watch workloads.kueue.x-k8s.io)."
)
_NEW: Final = "Kueue has not taken note of it yet."
_ELSEWHERE: Final = "This job is in another cluster than this JupyterLab is connected to; it was reached at {}."
_UNREACHED: Final = "The cluster has not told yet whether this job is still there."


class Observer:
    """Looks at the jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        Where they are.
    owner
        Whoever uses this lab, to tell which jobs are theirs.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, owner: str | None) -> None:
        self._kind = kind
        self._cluster = cluster
        self._owner = owner

    def seen(self, job: KnownJob) -> JobSnapshot:
        """Return a job with everything that is known of it now."""
        space = self._cluster.spaces.get(job.namespace)
        if not job.present or space is None:
            return self._remembered(job)
        manifest, pods, now = job.manifest, space.pods_of(job.uid), time.time()
        state = self._kind.state(manifest, pods, before=job.phase)
        goes_on = state.phase not in _OVER or state.cause == "Stopped"
        hold = self._hold(job, manifest, space, state, now=now) if goes_on else None
        if hold is not None:
            state = kueue.state_of(state, manifest, hold)
        places = self._kind.places(manifest, pods)
        job.note_times(state, now=now)
        room = self._cluster.capacity.room_now if state.phase in ACTIVE_PHASES else None
        if space.pods.complete:
            cordoned = room.cordoned if room is not None else ()
            for gone in _generations(space.gone_pods(job.uid)):
                others = [pod for pod in pods if text(pod, "metadata", "name") not in gone]
                before = self._kind.places(manifest, [*others, *gone.values()])
                job.observe(state, before, now=now, cordoned=cordoned)
            places = job.observe(state, places, now=now, cordoned=cordoned)
        over = is_over(places, state)
        failure = job.failure if over or (state.phase == "Failed" and state.cause != "Stopped") else None
        events = space.events_of(job.uid, (place.pod_uid for place in places if place.pod_uid is not None))
        return JobSnapshot(
            job=job,
            manifest=manifest,
            state=state,
            places=places,
            events=events,
            reason=reason_of(
                manifest,
                job.spec if state.phase not in ("Succeeded", "Paused") else None,  # of those it says nothing
                state,
                places,
                events,
                now=now,
                user=self._owner,
                lives=job.lives,
                endings=job.endings,
                failure=failure,
                metrics=job.progress.metrics if job.progress is not None else None,
                hold=hold,
                group=space.queueing.of(T9K_SCHEDULER, job.uid),
                room=room,
            ),
            rights=self._cluster.rights(self._kind, job.namespace),
            pausable=hold.changeable if hold is not None else self.pausable(),
            mine=self.is_mine(job),
            hold=hold,
            failure=failure,
            over=over,
            pending=api_views.pending_of(job, state, places, now=now),
            complete=space.pods.complete,
            room=room,
        )

    def _hold(
        self, job: KnownJob, manifest: Json, space: NamespaceWatch, state: State, *, now: float
    ) -> KueueHold | None:
        """Return what Kueue has to do with a job; None if nothing, as far as it can be known."""
        named = text(manifest, "metadata", "labels", KUEUE_QUEUE)
        workload = space.queueing.of(KUEUE, job.uid)
        if workload is not None:
            changeable = self._cluster.queue_rights(KUEUE, job.namespace).get("change", Capability(supported=True))
            queue = text(workload, "spec", "queueName") or named or ""
            return KueueHold(queue, workload, space.queueing.ahead(workload), changeable)
        if named is None or KUEUE not in self._cluster.groups:
            return None
        if not space.queueing.knows(KUEUE):
            return KueueHold(named, None, 0, Capability(supported=False, reason=_UNSEEN))
        if not state.paused or kueue.overlooked(manifest, now=now):
            return None
        return KueueHold(named, None, 0, Capability(supported=False, reason=_NEW))

    def _remembered(self, job: KnownJob) -> JobSnapshot:
        """Return a job that is only in our records: deleted, or not seen since this server began."""
        record = job.record
        phase = record.phase if record is not None else "Unknown"
        read_only = None
        if not job.deleted:
            read_only = _ELSEWHERE.format(record.server) if record and self.is_elsewhere(job) else _UNREACHED
            phase = phase if phase in ("Succeeded", "Failed") or not self.is_elsewhere(job) else "Unknown"
        return JobSnapshot(
            job=job,
            manifest=job.manifest,
            state=State(phase=phase),
            places=(),
            events=(),
            reason=record.reason if record is not None else None,
            rights=self._cluster.rights(self._kind, job.namespace),
            pausable=self.pausable(),
            mine=self.is_mine(job),
            failure=job.failure if phase == "Failed" else None,
            read_only=read_only,
            complete=job.deleted,
            removable=job.deleted or self.is_elsewhere(job),
        )

    def events(self, seen: JobSnapshot) -> list[Event]:
        """Return a job's events, newest first: those that the cluster has, and those that it had."""
        now = events_of(seen.events, seen.places)
        return _joined(now, seen.job.record.events if seen.job.record is not None else [])

    def pausable(self) -> Capability:
        """Whether a job can be paused in this cluster; if not, why."""
        found = self._cluster.found(self._kind)
        if found is None or found.dialect.pause:
            return Capability(supported=True)
        return Capability(supported=False, reason=f"This cluster's version of {self._kind.kind} can't pause a job.")

    def is_mine(self, job: KnownJob) -> bool:
        """Whether it was submitted by whoever uses this lab."""
        if job.record is not None and job.record.mine:
            return True
        owner = job.note(OWNER)  # who submits with Arena may have any name there
        return owner is not None and owner == self._owner

    def is_elsewhere(self, job: KnownJob) -> bool:
        """Whether it is in another cluster than the one that is connected."""
        return job.record is not None and self._cluster.identity not in ("", job.record.cluster)


def _generations(pods: Sequence[Json]) -> list[dict[str | None, Json]]:
    """Return pods by name, the oldest of each name first: a replica's next pod can have the name of the last one."""
    generations: list[dict[str | None, Json]] = []
    for pod in pods:
        name = text(pod, "metadata", "name")
        free = next((generation for generation in generations if name not in generation), None)
        if free is None:
            generations.append(free := {})
        free[name] = pod
    return generations


def _joined(now: list[Event], before: list[Event]) -> list[Event]:
    """Return what the cluster says now with what it has forgotten since, newest first."""

    def key(event: Event) -> tuple[str | None, str, str, str]:
        return event.object, event.type, event.reason, event.message

    told = {key(event) for event in now}
    return sorted([*now, *(event for event in before if key(event) not in told)], key=lambda event: -event.time)
