"""A job of a cluster as the API gives it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ....core.checks import Capability
from ....core.errors import Conflict, NotAllowed
from ....core.job import (
    ACTIVE_PHASES,
    Action,
    EndedBy,
    Failure,
    Job,
    JobSummary,
    PendingAction,
    Reason,
    Replica,
    job_id,
)
from ....core.manifests.entrypoints import program_of, words_of, working_directory
from ....core.manifests.names import DISPLAY_NAME, STOPPED
from ....core.spec import Device, Entrypoint, JobSpec, name_from
from ....core.wording import code_in_words
from ..client.api import Json
from ..client.json_access import moment, text
from ..objects.attempts import restarts_of, time_run
from ..objects.kinds import JobKind, ReplicaView, State, is_terminating
from ..objects.pods import describe, held, is_running
from ..objects.replicas import replica
from ..reasons.job import ENDED_BY
from ..reasons.replica import place_reason
from ..scheduling.kueue import KueueHold
from ..scheduling.node_fit import ClusterRoom
from .tracked_job import KnownJob

_DONE: Final[Mapping[Action, str]] = {
    "pause": "paused",
    "resume": "resumed",
    "stop": "stopped",
    "delete": "deleted",
    "rerun": "run again",
}
_NEEDS: Final[Mapping[Action, str]] = {
    "pause": "change_jobs",
    "resume": "change_jobs",
    "stop": "change_jobs",
    "delete": "delete_jobs",
    "rerun": "create_jobs",
}
_SEEING: Final = (("list_pods", "watch_pods"), ("list_events", "watch_events"), ("read_logs",))
"""Permissions to see parts of a job; the first missing one of each part is named."""
STUCK_SECONDS: Final = 60.0
"""How much later than it should a pod may end, and still count as ending."""


@dataclass(frozen=True)
class JobSnapshot:
    """A job with everything that is known of it at one moment.

    Attributes
    ----------
    job, manifest
        The job, and its object.
    state, places
        What its kind says; no places where the job is not in the cluster.
    events
        The cluster's events of it and its pods, in no order.
    reason
        Why it is so.
    rights
        What the account may do to it.
    pausable
        Whether it can be paused; if not, why.
    mine
        Whether it was submitted by whoever uses this lab.
    hold
        What Kueue has to do with it; None if it is not in a queue of Kueue's.
    failure
        Which rank failed first, where that is known.
    over
        Whether its training has ended for good, while its object still says that it is active.
    read_only
        Why nothing can be done to it.
    pending
        What was asked for and has not come about.
    complete
        Whether its pods are known: they have been listed, or it has none any more.
    removable
        Whether its record is all that there is of it, as far as this cluster goes.
    room
        What the cluster has, where that is known.
    """

    job: KnownJob
    manifest: Json
    state: State
    places: Sequence[ReplicaView]
    events: Sequence[Json]
    reason: Reason | None
    rights: Mapping[str, Capability]
    pausable: Capability
    mine: bool
    hold: KueueHold | None = None
    failure: Failure | None = None
    over: bool = False
    read_only: str | None = None
    pending: PendingAction | None = None
    complete: bool = True
    removable: bool = False
    room: ClusterRoom | None = None


def replicas(seen: JobSnapshot, *, now: float) -> list[Replica]:
    """Return the replicas, with all attempts that were ever seen."""
    job = seen.job
    if not job.present:
        return list(job.record.replicas) if job.record is not None else []
    spec = job.spec
    about: dict[str, list[Json]] = {}
    for event in seen.events:
        about.setdefault(text(event, "involvedObject", "uid") or "", []).append(event)
    return [
        replica(place, job.lives.get(place.name, []), spec, seen.state).model_copy(
            update={
                "reason": place_reason(
                    place, seen.state, about.get(place.pod_uid or job.uid, []), now=now, room=seen.room
                )
            }
        )
        for place in seen.places
    ]


def summary(kind: JobKind, seen: JobSnapshot) -> JobSummary:
    """Return the row of the list."""
    row = JobSummary(**_fields(kind, seen))
    row.model_fields_set.clear()  # half of what a row takes, and nobody asks which fields were given
    return row


def full(kind: JobKind, seen: JobSnapshot) -> Job:
    """Return everything."""
    job = seen.job
    spec = job.spec or placeholder(job)
    first = next((pod for place in seen.places if (pod := describe(place)) is not None), None)
    cwd = working_directory(spec)
    return Job(
        **_fields(kind, seen),
        spec=spec,
        command=first.command if first is not None and first.command else command_of(spec),
        working_dir=cwd,
        working_dir_path=job.paths.working_dir,
        log_dir_paths=[path for _place, path in job.paths.log_dirs],
        log_location=str(job.paths.ranks) if job.paths.ranks is not None else None,
        failure=_failure(seen),
        limited=_limits(seen),
        tensorboard_url=kind.tensorboard_url(seen.manifest) if job.present else None,
        request_id=job.request_id,
        rerun_of=job.rerun_of,
    )


def _failure(seen: JobSnapshot) -> Failure | None:
    if seen.failure is None:
        return None
    ended = code_in_words(seen.failure.exit_code, signaled=seen.failure.signaled)
    return seen.failure.model_copy(update={"ended": ended})


def _limits(seen: JobSnapshot) -> list[str]:
    """Return which parts of a job can't be seen for want of a permission, a sentence each."""
    found = []
    for names in _SEEING:
        rights = [right for name in names if (right := seen.rights.get(name)) is not None]
        found += [right.reason for right in rights if right.reason][:1]
    return found


def placeholder(job: KnownJob) -> JobSpec:
    """Return a spec for a job whose manifest can't be read."""
    return JobSpec(name=name_from(job.name), entrypoint=Entrypoint(kind="command", value="unknown"))


def command_of(spec: JobSpec) -> list[str]:
    """Return what runs on the first replica, as far as the spec says."""
    first = spec.replica_specs[0]
    torchrun = spec.torchrun
    words = words_of(program_of(spec, first), working_directory(spec))
    if torchrun is None:
        return words if program_of(spec, first).entrypoint.kind == "command" else ["python", *words]
    nodes = f"{spec.elastic.min}:{spec.elastic.max}" if spec.elastic else str(spec.total_replicas)
    options = [f"--nnodes={nodes}", f"--nproc_per_node={torchrun.proc_per_node}"]
    if torchrun.max_restarts:
        options.append(f"--max_restarts={torchrun.max_restarts}")
    python = ["--no_python"] if program_of(spec, first).entrypoint.kind == "command" else []
    return ["torchrun", *options, *torchrun.extra_options, *python, *words]


def command_text(spec: JobSpec) -> str:
    """Return the same as one would type it, one option a line."""
    return " \\\n  ".join(shlex.quote(word) for word in command_of(spec))


def pending_of(job: KnownJob, state: State, places: Sequence[ReplicaView], *, now: float) -> PendingAction | None:
    """Return what was asked for and has not come about: what the object's spec says, against its status.

    A pause has come about when the pods are gone: an operator takes one that still ends for a failed one once the
    job is resumed.
    """
    if job.deleting:
        return "deleting"
    if state.paused and (state.phase in ("Pending", "Running", "Resuming") or _is_ending(places, now=now)):
        return "stopping" if job.note(STOPPED) is not None else "pausing"
    if not state.paused and state.phase == "Paused":
        return "resuming"
    return None


def _is_ending(places: Sequence[ReplicaView], *, now: float) -> bool:
    """Whether a pod still ends; one that should have long ago does not count, for its node may be lost."""
    late = now - STUCK_SECONDS
    return any(
        is_terminating(place.pod) and (moment(place.pod, "metadata", "deletionTimestamp") or 0.0) > late
        for place in places
        if place.pod is not None
    )


def is_stopped(job: KnownJob, state: State) -> bool:
    """Whether it was stopped by us, so that it can be resumed although it counts as ended."""
    return state.paused and state.phase == "Failed" and job.note(STOPPED) is not None


def actions_of(seen: JobSnapshot) -> list[Action]:
    """Return what can be done to a job in its phase, and after what was asked already."""
    job, state = seen.job, seen.state
    found: list[Action] = []
    pending = seen.pending
    if job.present and seen.read_only is None and pending != "deleting":
        if state.phase in ("Pending", "Running", "Resuming") and not state.paused:
            found += ["pause", "stop"]
        elif state.phase == "Paused":
            if pending in (None, "resuming"):  # of pause and resume the later wish counts
                found.append("resume" if pending is None else "pause")
            found.append("stop")
        elif is_stopped(job, state) and pending is None:
            found.append("resume")
        found.append("delete")
    if job.size is not None:
        found.append("rerun")
    if job.record is not None and seen.removable:
        found.append("remove")
    return found


def refused_of(seen: JobSnapshot) -> dict[Action, str]:
    """Return which actions the account may not do in the job's namespace, or the cluster does not have, and why."""
    found: dict[Action, str] = {}
    for action, needed in _NEEDS.items():
        right = seen.rights.get(needed)
        if right is not None and not right.supported:
            found[action] = right.reason or ""
        elif needed == "change_jobs" and not seen.pausable.supported:
            found[action] = seen.pausable.reason or ""
    if seen.job.withheld:
        found["rerun"] = "Its secrets and the values of its environment are not kept, for the job is not yours."
    return found


def refusal_of(seen: JobSnapshot, job: JobSummary, action: Action) -> Conflict | NotAllowed:
    """Return why an action that is none of a job's can't be done now."""
    if seen.read_only is not None:
        return Conflict(seen.read_only, code="ReadOnly")
    right = seen.rights.get(_NEEDS.get(action, ""))
    if right is not None and not right.supported:
        return NotAllowed(right.reason or "", hint="Ask whoever manages the namespace for this right.")
    if action == "remove":
        hint = "Delete it first; its record can then be removed."
        return Conflict(f"{job.name} is still in the cluster, so its record can't be removed.", hint=hint)
    if action in ("pause", "stop", "resume") and not seen.pausable.supported:
        message = f"{job.name} can't be {_DONE[action]}: {seen.pausable.reason}"
        return Conflict(message, code="NotPausable", hint="Delete it to end it; its record and logs stay.")
    if job.deleted:
        state = "is deleted"
    elif job.phase in ACTIVE_PHASES:
        state = f"is {job.pending_action or job.phase.lower()}"
    else:
        state = "has ended"
    return Conflict(f"{job.name} {state}, so it can't be {_DONE[action]}.")


def running_time(job: KnownJob, places: Sequence[ReplicaView]) -> tuple[float, float | None]:
    """Return how long the first replica's ended attempts ran, and since when the present one does."""
    name = places[0].name if places else next(iter(job.lives), "")
    lives = job.lives.get(name, [])
    return time_run(lives), lives[-1]["started_at"] if lives and lives[-1]["ended_at"] is None else None


def _ended_by(seen: JobSnapshot) -> EndedBy | None:
    if not seen.job.present:
        return seen.job.record.ended_by if seen.job.record is not None else None
    if seen.state.phase not in ("Succeeded", "Failed"):
        return None
    return ENDED_BY.get(seen.reason.code if seen.reason is not None else "", "itself")


def _held_of(seen: JobSnapshot, devices: Device | None) -> int | None:
    """Return how many of its accelerators a job has now; None where its pods are not known, or it asks for none."""
    if devices is None or not seen.complete:
        return None
    return held(place.pod for place in seen.places if place.pod is not None).get(devices.name, 0)


def _queue_of(seen: JobSnapshot) -> str | None:
    if seen.hold is not None and seen.hold.queue:
        return seen.hold.queue
    return seen.job.size.queue if seen.job.size is not None else None


def _fields(kind: JobKind, seen: JobSnapshot) -> dict[str, Any]:
    job, state, size = seen.job, seen.state, seen.job.size
    actions, refused = actions_of(seen), refused_of(seen)
    devices = size.devices if size is not None else None
    ran, since = running_time(job, seen.places)
    ended = state.phase in ("Succeeded", "Failed")
    return {
        "id": job_id(kind.engine, job.namespace, job.name, job.uid),
        "engine": kind.engine,
        "namespace": job.namespace,
        "name": job.name,
        "uid": job.uid,
        "display_name": (job.note(DISPLAY_NAME) or "")[:256] or None,
        "phase": state.phase,
        "reason": seen.reason,
        "pending_action": seen.pending,
        "ended_by": _ended_by(seen),
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "ran_seconds": ran,
        "running_since": since if job.present and not ended else None,
        "attempt": max((lives[-1]["number"] for lives in job.lives.values() if lives), default=1),
        "restarts": max(state.restarts, sum(map(restarts_of, job.lives.values()))),
        "replicas": len(seen.places) or len(job.lives) or (size.replicas if size is not None else 1),
        "replicas_running": sum(map(is_running, seen.places)) if job.present else 0,
        "processes": size.processes if size is not None else None,
        "progress": job.progress,
        "queue": _queue_of(seen),
        "devices": devices,
        "devices_held": _held_of(seen, devices),
        "mine": seen.mine,
        "owner": job.owner,
        "read_only": seen.read_only,
        "deleted": job.deleted,
        "actions": [action for action in actions if action not in refused],
        "refused": {action: reason for action, reason in refused.items() if action in actions},
        "entrypoint_path": job.paths.entrypoint,
        "log_dirs": [str(place) for place, _path in job.paths.log_dirs],
    }
