"""PyTorchJob as Kubeflow's training operator keeps it (kube-engines.md §2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ....core.job import EngineName, Phase
from ....core.manifests import Kind
from ....core.manifests.kinds.pytorchjob import GROUP, KIND
from ....core.manifests.names import CONTAINER, KUEUE, PAUSED, REMINDED, STOPPED
from ..client.api import Json
from ..client.json_access import flag, moment, part, text, value, whole
from .facts import facts_of
from .kinds import (
    MOST_PLACES,
    MOST_TYPES,
    ReplicaView,
    State,
    conditions,
    holds,
    newest,
    owner,
    said_by,
    since,
    stopped,
    training_name,
    type_names,
)
from .pods import ended_at, goes_on, is_running, is_waiting, restarts, started_at

_TYPE_LABEL: Final = "training.kubeflow.org/replica-type"
_INDEX_LABEL: Final = "training.kubeflow.org/replica-index"
_RETRIED: Final = range(128, 256)
"""Exit codes after which the policy ``ExitCode`` has a pod replaced (kube-engines.md §2.4)."""
# The operator gives every failure the reason PyTorchJobFailed; its words tell them apart (seen with 1.9.3).
_CAUSES: Final = {
    "reached the specified backoff limit": "BackoffLimitExceeded",
    "active longer than specified deadline": "DeadlineExceeded",
}


class Kubeflow:
    """The kind of Kubeflow."""

    engine: EngineName = "kubeflow"
    manifests: Kind = "kubeflow"
    facts = facts_of(
        "kubeflow",
        KIND,
        restarts="Only the replica that failed starts again. The operator counts what it sees of running pods, so"
        " there may be more.",
        by_code="Codes of 128 and more restart a replica (on T9k only 130, 137, 138 and 143), others end the job.",
    )
    label = "Kubeflow"
    group = GROUP
    version = "v1"
    plural = "pytorchjobs"
    kind = KIND
    queues = KUEUE

    def state(self, manifest: Json, pods: Sequence[Json], *, before: Phase | None = None) -> State:
        """Return what the object and its pods say.

        The operator calls a job running as soon as its master is, so the pods decide when it begins to.
        """
        found = conditions(manifest)
        places = self.places(manifest, pods)
        paused = flag(manifest, "spec", "runPolicy", "suspend")
        phase = _phase(manifest, places, before)
        condition = found.get(_SAID_BY[phase])
        cause, message = said_by(condition) if holds(condition) else (None, None)
        if phase == "Paused" and stopped(manifest):
            phase, cause, message = "Failed", "Stopped", None
        elif phase == "Failed":
            cause = next((code for words, code in _CAUSES.items() if words in (message or "")), cause)
        counted, limit = sum(map(restarts, places)), whole(manifest, "spec", "runPolicy", "backoffLimit")
        return State(
            phase=phase,
            paused=paused,
            started_at=_started_at(manifest, places, phase),
            ended_at=_ended_at(manifest, places, cause) if phase in ("Succeeded", "Failed") else None,
            restarts=counted,
            used_up=limit is not None and counted >= limit,
            cause=cause,
            message=message,
        )

    def places(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas, the Master before the Workers, with their newest pods."""
        roles = part(manifest, "spec", "pytorchReplicaSpecs")
        ordered = sorted((name for name in roles if isinstance(roles[name], dict)), key=_order)[:MOST_TYPES]
        elastic = isinstance(value(manifest, "spec", "elasticPolicy"), dict)
        found: dict[tuple[str, int], list[Json]] = {}
        for pod in pods:
            kind, index = text(pod, "metadata", "labels", _TYPE_LABEL), _index(pod)
            if kind is not None and index is not None:
                found.setdefault((kind.casefold(), index), []).append(pod)
        places: list[ReplicaView] = []
        for role, (written, name) in enumerate(zip(ordered, type_names(map(str.lower, ordered)), strict=True)):
            container = training_name(part(roles, written, "template"), CONTAINER)
            policy = text(roles, written, "restartPolicy") or "OnFailure"
            wanted = whole(roles, written, "replicas")
            indexes = set(range(min(1 if wanted is None else wanted, MOST_PLACES)))
            if elastic:  # those that it has grown by, or has not got rid of yet
                indexes |= {index for kind, index in found if kind == written.casefold()}
            for index in sorted(indexes):
                last = newest(found.get((written.casefold(), index), ()))
                names = (text(last, "metadata", "name"), text(last, "metadata", "uid"))
                place = ReplicaView(name, index, role, container, *names, policy=policy, retried=_RETRIED, pod=last)
                places.append(place)
        return places

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job that a pod belongs to."""
        return owner(pod, GROUP, KIND)

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return nothing: the job's status names no pods."""
        return set()

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that suspends the job, or resumes it."""
        patch: Json = {"spec": {"runPolicy": {"suspend": on}}}
        return patch if on else {**patch, "metadata": {"annotations": {STOPPED: None, PAUSED: None}}}

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return None: the operator runs no TensorBoard."""
        return None

    def remind_at(self, manifest: Json) -> float | None:
        """Return when the job's deadline is over, while it is active and nobody has done so.

        The operator looks at a deadline only when something else makes it look at the job (seen with 1.9.3;
        kubeflow/trainer#3358).
        """
        begun = moment(manifest, "status", "startTime")
        allowed = whole(manifest, "spec", "runPolicy", "activeDeadlineSeconds")
        if begun is None or allowed is None or allowed <= 0 or flag(manifest, "spec", "runPolicy", "suspend"):
            return None
        found = conditions(manifest)
        due = begun + allowed + 1  # it counts whole seconds, and lets the last one pass
        done = moment(manifest, "metadata", "annotations", REMINDED)
        over = holds(found.get("Failed")) or holds(found.get("Succeeded"))
        return None if over or (done is not None and done >= due) else due


_SAID_BY: Final[dict[Phase, str]] = {
    "Pending": "Created",
    "Running": "Running",
    "Resuming": "Running",
    "Paused": "Suspended",
    "Succeeded": "Succeeded",
    "Failed": "Failed",
    "Unknown": "Created",
}


def _order(role: str) -> tuple[int, str]:
    return ("Master", "Worker").index(role) if role in ("Master", "Worker") else 2, role


def _index(pod: Json) -> int | None:
    label = text(pod, "metadata", "labels", _INDEX_LABEL) or ""
    index = int(label) if re.fullmatch(r"[0-9]{1,5}", label) else MOST_PLACES
    return index if index < MOST_PLACES else None


def _phase(manifest: Json, places: Sequence[ReplicaView], before: Phase | None) -> Phase:
    """Return the phase by the conditions, in the order in which the operator lets them count (kube-engines.md §2.3)."""
    found = conditions(manifest)
    if holds(found.get("Failed")):
        return "Failed"
    if holds(found.get("Succeeded")):
        return "Succeeded"
    suspend, suspended = flag(manifest, "spec", "runPolicy", "suspend"), found.get("Suspended")
    if suspend and holds(suspended):
        if any(map(goes_on, places)):  # its pods still end
            return before if before in ("Pending", "Resuming") else "Running"
        return "Paused"
    if holds(found.get("Restarting")):
        return "Running"
    if holds(found.get("Running")) and (before == "Running" or _all_run(manifest, places)):
        return "Running"
    # this condition is there, and false, from the first time that it was resumed
    return "Pending" if suspended is None or suspend else "Resuming"


def _all_run(manifest: Json, places: Sequence[ReplicaView]) -> bool:
    """Whether no replica is waited for; where pods can't be seen the operator's word is taken."""
    if all(place.pod is None for place in places):
        return True
    least = whole(manifest, "spec", "elasticPolicy", "minReplicas")
    if least is not None and sum(map(is_running, places)) >= max(1, least):
        return True
    return not any(map(is_waiting, places))


def _started_at(manifest: Json, places: Sequence[ReplicaView], phase: Phase) -> float | None:
    """Return when the master's training container began, or the job ran; else when the operator began with it."""
    running = conditions(manifest).get("Running")
    begun = [since(running) if holds(running) else None, *map(started_at, places[:1])]
    known = [time for time in begun if time is not None]
    return min(known, default=None if phase == "Pending" else moment(manifest, "status", "startTime"))


def _ended_at(manifest: Json, places: Sequence[ReplicaView], cause: str | None) -> float | None:
    """Return when it ended; the operator forgets that of some failures (kube-engines.md §2.3)."""
    found = conditions(manifest)
    if cause == "Stopped":
        return since(found.get("Suspended"))
    ends = (since(one) for one in (found.get("Failed"), found.get("Succeeded")) if holds(one))
    times = (moment(manifest, "status", "completionTime"), *ends, *map(ended_at, places[:1]))
    return next((time for time in times if time is not None), None)
