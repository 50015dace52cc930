"""Makes snapshots of jobs: from the watches, or from the record alone if the job is not in the cluster."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from ....core.checks import Capability
from ....core.job import ACTIVE_PHASES, ENDED_PHASES, Event, Progress
from ....core.manifests.names import KUEUE, KUEUE_QUEUE, OWNER, T9K_SCHEDULER
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import text
from ..cluster.connection import Cluster
from ..cluster.namespace_watch import NamespaceWatch
from ..objects.events import events_of
from ..objects.kinds import JobKind, ReplicaView, ReportsProgress, State
from ..reasons.finished import is_over
from ..reasons.job import reason_of
from ..scheduling import kueue
from ..scheduling.kueue import KueueHold
from .actions import pending_of
from .snapshot import JobSnapshot
from .tracked_job import TrackedJob

_WORKLOADS: Final = "workloads.kueue.x-k8s.io"


class Observer:
    """Makes snapshots of the jobs of one kind.

    Parameters
    ----------
    kind
        The kind.
    cluster
        The cluster of the jobs.
    owner
        User of this lab; jobs with this owner are the user's own.
    """

    def __init__(self, kind: JobKind, cluster: Cluster, owner: str | None) -> None:
        self._kind = kind
        self._reporter = kind if isinstance(kind, ReportsProgress) else None
        self._cluster = cluster
        self._owner = owner

    def snapshot(self, job: TrackedJob) -> JobSnapshot:
        """Return a job's state now; attempts, ends and times are recorded in the job on the way."""
        space = self._cluster.spaces.get(job.namespace)
        if not job.present or space is None:
            return self._from_record(job)
        manifest, pods, now = job.manifest, space.pods_of(job.uid), time.time()
        replicas: Sequence[ReplicaView] = self._kind.replicas(manifest, pods)
        state = self._kind.state(manifest, pods, before=job.phase, replicas=replicas)
        resumable = state.phase not in ENDED_PHASES or state.cause == "Stopped"
        hold = self._hold(job, manifest, space, state, now=now) if resumable else None
        if hold is not None:
            state = kueue.state_of(state, manifest, hold)
        job.note_times(state, now=now)
        job.progress = self._progress_in(manifest) or job.progress
        room = self._cluster.capacity.room_now if state.phase in ACTIVE_PHASES else None
        if space.pods.complete:
            cordoned = room.cordoned if room is not None else ()
            for gone in _generations(space.gone_pods(job.uid)):
                others = [pod for pod in pods if text(pod, "metadata", "name") not in gone]
                before = self._kind.replicas(manifest, [*others, *gone.values()])
                job.observe(state, before, now=now, cordoned=cordoned)
            replicas = job.observe(state, replicas, now=now, cordoned=cordoned)
        over = is_over(replicas, state)
        failure = job.failure if over or (state.phase == "Failed" and state.cause != "Stopped") else None
        events = space.events_of(job.uid, (view.pod_uid for view in replicas if view.pod_uid is not None))
        return JobSnapshot(
            job=job,
            manifest=manifest,
            state=state,
            replicas=replicas,
            events=events,
            reason=reason_of(
                manifest,
                job.spec if state.phase not in ("Succeeded", "Paused") else None,  # These reasons don't depend on it.
                state,
                replicas,
                events,
                now=now,
                user=self._owner,
                attempts=job.attempts,
                endings=job.endings,
                failure=failure,
                metrics=job.progress.metrics if job.progress is not None else None,
                hold=hold,
                group=space.queueing.of(T9K_SCHEDULER, job.uid),
                room=room,
            ),
            permissions=self._cluster.rights(self._kind, job.namespace),
            pausable=hold.changeable if hold is not None else self.pausable(),
            mine=self.is_mine(job),
            hold=hold,
            failure=failure,
            over=over,
            pending=pending_of(job, state, replicas, now=now),
            complete=space.pods.complete,
            room=room,
        )

    def _hold(
        self, job: TrackedJob, manifest: Json, space: NamespaceWatch, state: State, *, now: float
    ) -> KueueHold | None:
        """Return the state of a job in its Kueue queue; None if Kueue does not queue the job, as far as is known."""
        named = text(manifest, "metadata", "labels", KUEUE_QUEUE)
        workload = space.queueing.of(KUEUE, job.uid)
        if workload is not None:
            changeable = self._cluster.queue_rights(KUEUE, job.namespace).get("change", Capability(supported=True))
            queue = text(workload, "spec", "queueName") or named or ""
            return KueueHold(queue, workload, space.queueing.ahead(workload), changeable)
        if named is None or KUEUE not in self._cluster.groups:
            return None
        if not space.queueing.knows(KUEUE):
            reason = _("Kueue queues the job, but this account can't list and watch {resource}.", resource=_WORKLOADS)
            return KueueHold(named, None, 0, Capability(supported=False, reason=reason))
        if not state.paused or kueue.overlooked(manifest, now=now):
            return None
        return KueueHold(named, None, 0, Capability(supported=False, reason=_("Kueue has not noticed the job yet.")))

    def _from_record(self, job: TrackedJob) -> JobSnapshot:
        """Return the state of a job that is only in the records: deleted, or not seen since this server started."""
        record = job.record
        phase = record.phase if record is not None else "Unknown"
        read_only: Text | None = None
        if not job.deleted:
            read_only = _("The cluster has not yet reported whether this job still exists.")
            if record is not None and self.is_elsewhere(job):
                read_only = _(
                    "The job is in another cluster, which was reached at {server}; this JupyterLab is not connected to"
                    " it.",
                    server=record.server,
                )
            phase = phase if phase in ENDED_PHASES or not self.is_elsewhere(job) else "Unknown"
        return JobSnapshot(
            job=job,
            manifest=job.manifest,
            state=State(phase=phase),
            replicas=(),
            events=(),
            reason=record.reason if record is not None else None,
            permissions=self._cluster.rights(self._kind, job.namespace),
            pausable=self.pausable(),
            mine=self.is_mine(job),
            failure=job.failure if phase == "Failed" else None,
            read_only=read_only,
            complete=job.deleted,
            removable=job.deleted or self.is_elsewhere(job),
        )

    def events(self, snapshot: JobSnapshot) -> list[Event]:
        """Return a job's events, newest first: the cluster's present ones and the recorded ones."""
        now, record = events_of(snapshot.events, snapshot.replicas), snapshot.job.record
        return _merged(now, record.events if record is not None else [])

    def reports_progress(self, job: TrackedJob) -> bool:
        """Return True if the job's object has its progress, so that its log need not be read."""
        return job.present and self._progress_in(job.manifest) is not None

    def _progress_in(self, manifest: Json) -> Progress | None:
        """Return the progress that a job's object has; None if it has none."""
        return self._reporter.progress(manifest) if self._reporter is not None else None

    def pausable(self) -> Capability:
        """Return the capability of this cluster to pause jobs of the kind, with the reason if it can't."""
        found = self._cluster.found(self._kind)
        if found is None or found.dialect is None or found.dialect.pause:
            return Capability(supported=True)
        reason = _("This cluster's version of {kind} can't pause a job.", kind=self._kind.kind)
        return Capability(supported=False, reason=reason)

    def is_mine(self, job: TrackedJob) -> bool:
        """Return True if the user of this lab submitted the job."""
        if job.record is not None and job.record.mine:
            return True
        owner = job.annotation(OWNER)  # Not `job.owner`: the user of Arena may be anybody with that name.
        return owner is not None and owner == self._owner

    def is_elsewhere(self, job: TrackedJob) -> bool:
        """Return True if the job is in another cluster than the connected one."""
        return job.record is not None and self._cluster.identity not in ("", job.record.cluster)


def _generations(pods: Sequence[Json]) -> list[dict[str | None, Json]]:
    """Group pods so that each group has a name once, the oldest pods first.

    The next pod of a replica can have the name of the last one.
    """
    generations: list[dict[str | None, Json]] = []
    for pod in pods:
        name = text(pod, "metadata", "name")
        free = next((generation for generation in generations if name not in generation), None)
        if free is None:
            generations.append(free := {})
        free[name] = pod
    return generations


def _merged(now: list[Event], before: list[Event]) -> list[Event]:
    """Return the present events and the recorded ones that the cluster has removed, newest first."""

    def key(event: Event) -> tuple[str | None, str, str, str]:
        return event.object, event.type, event.reason, event.message

    present = {key(event) for event in now}
    return sorted([*now, *(event for event in before if key(event) not in present)], key=lambda event: -event.time)
