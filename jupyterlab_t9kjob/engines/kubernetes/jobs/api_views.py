"""The API's models of a job in a cluster: row, details and replicas."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

from ....core.evictions.model import CONTINUED, CONTINUES, continuation_of, continues_of
from ....core.job import ENDED_PHASES, MOST_NODES, EndedBy, Failure, Job, JobSummary, Replica, job_id
from ....core.manifests.entrypoints import program_of, words_of, working_directory
from ....core.manifests.names import DISPLAY_NAME
from ....core.running.source import running
from ....core.spec import Device, Entrypoint, JobSpec
from ....core.sweep import ANNOTATION as SWEEP
from ....core.sweep import member_of
from ....core.texts.command_lines import option_lines, quoted
from ....core.texts.job_names import name_from
from ....core.texts.wording import code_in_words
from ....core.translation import Text
from ..client.api import Json
from ..client.json_access import text
from ..objects.kinds import JobKind, ReplicaView
from ..objects.pods.attempts import restarts_of, time_run
from ..objects.pods.pod import describe, held, is_running
from ..objects.pods.replicas import replica
from ..reasons.job import ENDED_BY
from ..reasons.replica import replica_reason
from ..scheduling.job_size import devices_in
from .actions import actions_of, refused_of
from .snapshot import JobSnapshot
from .tracked_job import TrackedJob

_VISIBILITY: Final = (("list_pods", "watch_pods"), ("list_events", "watch_events"), ("read_logs",))
"""Permissions to see a part of a job; for each part the first missing one is reported."""


def replicas(snapshot: JobSnapshot, *, now: float) -> list[Replica]:
    """Return a job's replicas with all recorded attempts.

    Parameters
    ----------
    snapshot
        The job's state.
    now
        Seconds since the epoch.
    """
    job = snapshot.job
    if not job.present:
        return list(job.record.replicas) if job.record is not None else []
    spec = job.spec
    events: dict[str, list[Json]] = {}
    for event in snapshot.events:
        events.setdefault(text(event, "involvedObject", "uid") or "", []).append(event)
    return [
        replica(view, job.attempts.get(view.name, []), spec, snapshot.state).model_copy(
            update={
                "reason": replica_reason(
                    view, snapshot.state, events.get(view.pod_uid or job.uid, []), now=now, room=snapshot.room
                )
            }
        )
        for view in snapshot.replicas
    ]


def summary(kind: JobKind, snapshot: JobSnapshot) -> JobSummary:
    """Return a job's row in the list.

    Parameters
    ----------
    kind
        The job's kind.
    snapshot
        The job's state.
    """
    row = JobSummary(**_fields(kind, snapshot))
    row.model_fields_set.clear()  # Half of a row's memory, and nothing reads which fields were given.
    return row


def full(kind: JobKind, snapshot: JobSnapshot) -> Job:
    """Return a job in full; the parameters are those of `summary`."""
    job = snapshot.job
    spec = job.spec or placeholder(job)
    first = next((pod for view in snapshot.replicas if (pod := describe(view)) is not None), None)
    cwd = working_directory(spec)
    return Job(
        **_fields(kind, snapshot),
        spec=spec,
        command=first.command if first is not None and first.command else command_of(spec),
        working_dir=cwd,
        working_dir_path=job.paths.working_dir,
        log_dir_paths=[path for _directory, path in job.paths.log_dirs],
        log_location=str(job.paths.ranks) if job.paths.ranks is not None else None,
        failure=_failure(snapshot),
        limited=_limits(snapshot),
        tensorboard_url=kind.tensorboard_url(snapshot.manifest) if job.present else None,
        rerun_of=job.rerun_of,
    )


def _failure(snapshot: JobSnapshot) -> Failure | None:
    if snapshot.failure is None:
        return None
    ended = code_in_words(snapshot.failure.exit_code, signaled=snapshot.failure.signaled)
    return snapshot.failure.model_copy(update={"ended": ended})


def _limits(snapshot: JobSnapshot) -> list[Text]:
    """Return a sentence for each part of a job that a missing permission hides."""
    found = []
    for names in _VISIBILITY:
        permissions = [one for name in names if (one := snapshot.permissions.get(name)) is not None]
        found += [permission.reason for permission in permissions if permission.reason][:1]
    return found


def placeholder(job: TrackedJob) -> JobSpec:
    """Return a specification for a job whose manifest can't be parsed."""
    return JobSpec(name=name_from(job.name), entrypoint=Entrypoint(kind="command", value="unknown"))


def command_of(spec: JobSpec) -> list[str]:
    """Return the command of the first replica as its specification gives it."""
    spec = running(spec)
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
    """Return the command of the first replica as a user would type it, one option on each line."""
    command = command_of(spec)
    start = next((index for index, word in enumerate(command) if word.startswith("-")), len(command))
    return " \\\n  ".join([quoted(command[:start]), *option_lines(command[start:])])


def running_time(job: TrackedJob, replicas: Sequence[ReplicaView]) -> tuple[float, float | None]:
    """Return for how long the first replica ran.

    Parameters
    ----------
    job
        The job.
    replicas
        Its replicas; empty if the job is not in the cluster.

    Returns
    -------
    ran : float
        Seconds that the ended attempts ran.
    since : float or None
        Start of the attempt that runs now, in seconds since the epoch; None if none runs.
    """
    name = replicas[0].name if replicas else next(iter(job.attempts), "")
    attempts = job.attempts.get(name, [])
    return time_run(attempts), attempts[-1]["started_at"] if attempts and attempts[-1]["ended_at"] is None else None


def _ended_by(snapshot: JobSnapshot) -> EndedBy | None:
    if not snapshot.job.present:
        return snapshot.job.record.ended_by if snapshot.job.record is not None else None
    if snapshot.state.phase not in ENDED_PHASES:
        return None
    return ENDED_BY.get(snapshot.reason.code if snapshot.reason is not None else "", "itself")


def _devices(kind: JobKind, snapshot: JobSnapshot) -> Device | None:
    """Return a job's accelerators, also while its spec has not been read: the list of jobs does not wait for that."""
    job = snapshot.job
    if job.size is not None:
        return job.size.devices
    return devices_in(kind, snapshot.manifest, snapshot.replicas) if job.present and job.problem is None else None


def _held_of(snapshot: JobSnapshot, devices: Device | None) -> int | None:
    """Return how many of its accelerators a job holds now; None if its pods are not known or it asks for none."""
    if devices is None or not snapshot.complete:
        return None
    return held(view.pod for view in snapshot.replicas if view.pod is not None).get(devices.name, 0)


def _nodes(snapshot: JobSnapshot) -> list[str]:
    """Return the nodes of the job's newest pods; those of the record if no pod is left."""
    names = [text(view.pod, "spec", "nodeName") for view in snapshot.replicas if view.pod is not None]
    if not any(names) and snapshot.job.record is not None:
        names = [replica.node for replica in snapshot.job.record.replicas]
    return list(dict.fromkeys(sys.intern(name) for name in names if name))[:MOST_NODES]


def _queue_of(snapshot: JobSnapshot) -> str | None:
    if snapshot.hold is not None and snapshot.hold.queue:
        return snapshot.hold.queue
    return snapshot.job.size.queue if snapshot.job.size is not None else None


def _recorded_restarts(kind: JobKind, job: TrackedJob) -> int:
    """Return the number of restarts in the attempts of a job's replicas; see `JobKind.together`."""
    counts = map(restarts_of, job.attempts.values())
    return max(counts, default=0) if kind.together else sum(counts)


def _fields(kind: JobKind, snapshot: JobSnapshot) -> dict[str, Any]:
    """Return the fields that a row and the full job have in common."""
    job, state, size = snapshot.job, snapshot.state, snapshot.job.size
    actions, refused = actions_of(snapshot), refused_of(snapshot)
    devices = _devices(kind, snapshot)
    ran, since = running_time(job, snapshot.replicas)
    ended = state.phase in ENDED_PHASES
    return {
        "id": job_id(kind.engine, job.namespace, job.name, job.uid),
        "engine": kind.engine,
        "namespace": job.namespace,
        "name": job.name,
        "uid": job.uid,
        "request_id": job.request_id,
        "display_name": (job.annotation(DISPLAY_NAME) or "")[:256] or None,
        "phase": state.phase,
        "reason": snapshot.reason,
        "pending_action": snapshot.pending,
        "ended_by": _ended_by(snapshot),
        "created_at": job.created_at,
        "started_at": job.started_at,
        "ended_at": job.ended_at,
        "ran_seconds": ran,
        "running_since": since if job.present and not ended else None,
        "attempt": max((attempts[-1]["number"] for attempts in job.attempts.values() if attempts), default=1),
        "restarts": max(state.restarts, _recorded_restarts(kind, job)),
        "replicas": len(snapshot.replicas) or len(job.attempts) or (size.replicas if size is not None else 1),
        "nodes": _nodes(snapshot),
        "replicas_running": sum(map(is_running, snapshot.replicas)) if job.present else 0,
        "processes": size.processes if size is not None else None,
        "progress": job.progress,
        "queue": _queue_of(snapshot),
        "devices": devices,
        "devices_held": _held_of(snapshot, devices),
        "mine": snapshot.mine,
        "owner": job.owner,
        "read_only": snapshot.read_only,
        "deleted": job.deleted,
        "actions": [action for action in actions if action not in refused],
        "refused": {action: reason for action, reason in refused.items() if action in actions},
        "entrypoint_path": job.paths.entrypoint,
        "log_dirs": [str(directory) for directory, _path in job.paths.log_dirs],
        "sweep": member_of({SWEEP: job.annotation(SWEEP) or ""}),
        "continues": continues_of(job.annotation(CONTINUES)),
        "continuation": continuation_of(job.annotation(CONTINUED)),
    }
