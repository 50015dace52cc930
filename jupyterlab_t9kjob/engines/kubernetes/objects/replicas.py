"""A replica of a job in a cluster as the API gives it."""

from __future__ import annotations

from collections.abc import Sequence

from ....core.job import Replica
from ....core.spec import JobSpec
from ..client.json_access import text
from .attempts import AttemptRecord, attempts_of
from .kinds import ReplicaView, State
from .pods import describe, device, is_ready, is_running, restarts, status_text

_SAID = {"Succeeded": "Completed", "Failed": "Error"}


def replica(place: ReplicaView, history: Sequence[AttemptRecord], spec: JobSpec | None, state: State) -> Replica:
    """Return a replica with its attempts; the reason why it waits or failed is its caller's to add.

    Parameters
    ----------
    place
        The replica, with its pod.
    history
        Its attempts, see `attempts`.
    spec
        What the job's manifest amounts to; None if it can't be read.
    state
        The job's.
    """
    attempts = attempts_of(history)
    last = attempts[-1] if attempts else None
    counted = max((attempt.restart for attempt in attempts if attempt.restart is not None), default=0)
    return Replica(
        name=place.name,
        type=place.type,
        index=place.index,
        status=_status(place, history, state),
        ready=is_running(place) and (place.pod is None or is_ready(place)),
        node=text(place.pod, "spec", "nodeName"),
        processes=processes(place, spec),
        restarts=max(counted, restarts(place)),
        started_at=last.started_at if last is not None else None,
        ended_at=last.ended_at if last is not None else None,
        exit_code=last.exit_code if last is not None else None,
        attempts=attempts,
        pod=describe(place),
    )


def processes(place: ReplicaView, spec: JobSpec | None) -> int | None:
    """Return how many ranks a replica has; None where that is not known before torchrun says it."""
    if spec is None:
        return None
    if spec.torchrun is None:
        return 1
    if spec.torchrun.proc_per_node != "gpu":
        return spec.torchrun.proc_per_node
    given = device(place.pod) if place.pod is not None else place.replica_spec(spec).resources.device
    return given.count if given is not None and given.count else None


def _status(place: ReplicaView, history: Sequence[AttemptRecord], state: State) -> str:
    """Return kubectl's words for the pod; without one what is left to say."""
    if place.pod is not None:
        return status_text(place.pod)
    if place.said not in (None, "Creating", "Deleted"):
        return _SAID.get(str(place.said), str(place.said))
    if not state.paused and state.phase in ("Pending", "Running", "Resuming"):
        return "Pending"
    if not history:
        return "Paused" if state.phase == "Paused" else place.said or "Unknown"
    last = history[-1]
    if last["exit_code"] == 0:
        return "Completed"
    return "Terminated" if last["cause"] is not None else "Error"
