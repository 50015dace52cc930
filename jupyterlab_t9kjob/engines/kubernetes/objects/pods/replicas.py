"""The API's model of a replica in a cluster."""

from __future__ import annotations

from collections.abc import Sequence

from .....core.job import Replica
from .....core.spec import JobSpec
from ...client.json_access import text
from ..kinds import ReplicaView, State
from .attempts import AttemptRecord, attempts_of
from .pod import describe, device, is_ready, is_running, restarts, status_text

_STATUS_TEXTS = {"Succeeded": "Completed", "Failed": "Error"}


def replica(view: ReplicaView, history: Sequence[AttemptRecord], spec: JobSpec | None, state: State) -> Replica:
    """Return the API's model of a replica; the caller adds the reason why it waits or failed.

    Parameters
    ----------
    view
        The replica with its newest pod.
    history
        Its attempts; see `attempts`.
    spec
        The job's specification; None if it can't be read.
    state
        The job's state.
    """
    attempts = attempts_of(history)
    last = attempts[-1] if attempts else None
    counted = max((attempt.restart for attempt in attempts if attempt.restart is not None), default=0)
    return Replica(
        name=view.name,
        type=view.type,
        index=view.index,
        status=_status(view, history, state),
        ready=is_running(view) and (view.pod is None or is_ready(view)),
        node=text(view.pod, "spec", "nodeName"),
        processes=processes(view, spec),
        restarts=max(counted, restarts(view)),
        started_at=last.started_at if last is not None else None,
        ended_at=last.ended_at if last is not None else None,
        exit_code=last.exit_code if last is not None else None,
        attempts=attempts,
        pod=describe(view),
    )


def processes(view: ReplicaView, spec: JobSpec | None) -> int | None:
    """Return the number of ranks of a replica; None if it is not known before torchrun starts.

    Parameters
    ----------
    view
        The replica with its newest pod.
    spec
        The job's specification; None if it can't be read.
    """
    if spec is None:
        return None
    if spec.torchrun is None:
        return 1
    if spec.torchrun.proc_per_node != "gpu":
        return spec.torchrun.proc_per_node
    devices = device(view.pod) if view.pod is not None else view.replica_spec(spec).resources.device
    return devices.count if devices is not None and devices.count else None


def _status(view: ReplicaView, history: Sequence[AttemptRecord], state: State) -> str:
    """Return kubectl's status text of the pod; without a pod, the status in the same words."""
    if view.pod is not None:
        return status_text(view.pod)
    if view.said not in (None, "Creating", "Deleted"):
        return _STATUS_TEXTS.get(str(view.said), str(view.said))
    if not state.paused and state.phase in ("Pending", "Running", "Resuming"):
        return "Pending"
    if not history:
        return "Paused" if state.phase == "Paused" else view.said or "Unknown"
    last = history[-1]
    if last["exit_code"] == 0:
        return "Completed"
    return "Terminated" if last["cause"] is not None else "Error"
