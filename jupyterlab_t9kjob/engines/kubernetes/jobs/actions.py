"""Actions on a job: which are possible now, which were requested, and why others are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ....core.errors import Conflict, NotAllowed
from ....core.job import Action, JobSummary, PendingAction
from ....core.manifests.names import STOPPED
from ....core.texts.wording import NOT_POSSIBLE, state_of
from ....core.translation import Text, _, sentences
from ..client.json_access import moment
from ..objects.kinds import ReplicaView, State, is_terminating
from .snapshot import JobSnapshot
from .tracked_job import TrackedJob

STUCK_SECONDS: Final = 60.0
"""A pod that is later than this with its end no longer counts as ending: its node may be lost."""

_NEEDED_PERMISSION: Final[Mapping[Action, str]] = {
    "pause": "change_jobs",
    "resume": "change_jobs",
    "stop": "change_jobs",
    "delete": "delete_jobs",
    "rerun": "create_jobs",
}


def pending_of(job: TrackedJob, state: State, replicas: Sequence[ReplicaView], *, now: float) -> PendingAction | None:
    """Return the action that was requested and has not taken effect: the object's ``spec`` against its ``status``.

    A pause has taken effect when the pods are gone. If a job is resumed while a pod still ends, an operator takes that
    pod for a failed one.

    Parameters
    ----------
    job
        The job.
    state
        Its state.
    replicas
        Its replicas with their pods.
    now
        Seconds since the epoch.
    """
    if job.deleting:
        return "deleting"
    if state.paused and (state.phase in ("Pending", "Running", "Resuming") or _has_ending_pod(replicas, now=now)):
        return "stopping" if job.annotation(STOPPED) is not None else "pausing"
    if not state.paused and state.phase == "Paused":
        return "resuming"
    return None


def _has_ending_pod(replicas: Sequence[ReplicaView], *, now: float) -> bool:
    late = now - STUCK_SECONDS
    return any(
        is_terminating(replica.pod) and (moment(replica.pod, "metadata", "deletionTimestamp") or 0.0) > late
        for replica in replicas
        if replica.pod is not None
    )


def is_stopped(job: TrackedJob, state: State) -> bool:
    """Return True if the job was stopped from a lab: it counts as ended but can be resumed.

    Parameters
    ----------
    job
        The job, whose annotation marks the stop.
    state
        Its state.
    """
    return state.paused and state.phase == "Failed" and job.annotation(STOPPED) is not None


def actions_of(snapshot: JobSnapshot) -> list[Action]:
    """Return the actions that a job's phase and pending action allow; permissions are not considered."""
    job, state = snapshot.job, snapshot.state
    found: list[Action] = []
    pending = snapshot.pending
    if job.present and snapshot.read_only is None and pending != "deleting":
        if state.phase in ("Pending", "Running", "Resuming") and not state.paused:
            found += ["pause", "stop"]
        elif state.phase == "Paused":
            if pending in (None, "resuming"):  # A pause may cancel a resume that has not taken effect.
                found.append("resume" if pending is None else "pause")
            found.append("stop")
        elif is_stopped(job, state) and pending is None:
            found.append("resume")
        found.append("delete")
    if job.size is not None:
        found.append("rerun")
    if job.record is not None and snapshot.removable:
        found.append("remove")
    return found


def refused_of(snapshot: JobSnapshot) -> dict[Action, Text]:
    """Return the actions for which a permission or a feature of the cluster is missing, with the reasons."""
    found: dict[Action, Text] = {}
    for action, needed in _NEEDED_PERMISSION.items():
        permission = snapshot.permissions.get(needed)
        if permission is not None and not permission.supported:
            found[action] = permission.reason or NOT_POSSIBLE[action]
        elif needed == "change_jobs" and not snapshot.pausable.supported:
            found[action] = snapshot.pausable.reason or NOT_POSSIBLE[action]
    if snapshot.job.withheld:
        found["rerun"] = _("The job is not yours, so its secrets and the values of its environment are not kept.")
    return found


def refusal_of(snapshot: JobSnapshot, job: JobSummary, action: Action) -> Conflict | NotAllowed:
    """Return the error for an action that is not possible now.

    Parameters
    ----------
    snapshot
        The job's state.
    job
        The job as the API returns it.
    action
        An action that is not in ``job.actions``.
    """
    if snapshot.read_only is not None:
        return Conflict(snapshot.read_only, code="ReadOnly")
    permission = snapshot.permissions.get(_NEEDED_PERMISSION.get(action, ""))
    if permission is not None and not permission.supported:
        return NotAllowed(
            permission.reason or NOT_POSSIBLE[action], hint=_("Ask whoever manages the namespace for this permission.")
        )
    if action == "remove":
        return Conflict(
            _("{name} is still in the cluster, so its record can't be removed.", name=job.name),
            hint=_("Delete the job first; its record can then be removed."),
        )
    if action in ("pause", "stop", "resume") and not snapshot.pausable.supported:
        return Conflict(
            sentences(NOT_POSSIBLE[action], snapshot.pausable.reason) or NOT_POSSIBLE[action],
            code="NotPausable",
            hint=_("To end the job, delete it; its record and logs stay."),
        )
    state = state_of(job.name, job.phase, job.pending_action, deleted=job.deleted)
    return Conflict(sentences(state, NOT_POSSIBLE[action]) or state)
