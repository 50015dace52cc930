"""PyTorchJob of Kubeflow's Training Operator (v1.9, `pkg/controller.v1/pytorch`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from ....core.job import ENDED_PHASES, EngineName, Phase
from ....core.manifests import Kind
from ....core.manifests.kinds.pytorchjob import GROUP, KIND
from ....core.manifests.names import CONTAINER, KUEUE, REMINDED
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import flag, moment, part, text, value, whole
from .facts import facts_of
from .kinds import (
    MOST_REPLICAS,
    MOST_TYPES,
    ReplicaView,
    State,
    conditions,
    holds,
    index_in,
    newest,
    owner,
    reason_and_message,
    resumed,
    since,
    stopped,
    training_name,
    type_names,
)
from .pods.pod import ended_at, is_running, is_waiting, phase_of_suspended, restarts, started_at

_TYPE_LABEL: Final = "training.kubeflow.org/replica-type"
_INDEX_LABEL: Final = "training.kubeflow.org/replica-index"
_RETRIED: Final = range(128, 256)
"""Exit codes after which the operator replaces a pod under the policy ``ExitCode`` (`pkg/util/train/train_util.go`)."""
# The operator gives all failures the reason PyTorchJobFailed; only the messages differ (seen with 1.9.3).
_CAUSES: Final = {
    "reached the specified backoff limit": "BackoffLimitExceeded",
    "active longer than specified deadline": "DeadlineExceeded",
}


class Kubeflow:
    """Kubeflow's kind of job."""

    engine: EngineName = "kubeflow"
    manifests: Kind = "kubeflow"
    dialects = False
    together = False
    facts = facts_of(
        "kubeflow",
        KIND,
        restarts=_(
            "Only the replica that failed starts again. The operator counts what it sees of running pods, so"
            " there may be more."
        ),
        by_code=_("Codes of 128 and more restart a replica (on T9k only 130, 137, 138 and 143), others end the job."),
        description=_(
            "Trains as a PyTorchJob, the kind of Kubeflow’s Training Operator: a master and workers, of which only the"
            " failed one can start again."
        ),
    )
    label: Text = Text.verbatim("Kubeflow")
    order = 30
    group = GROUP
    version = "v1"
    plural = "pytorchjobs"
    kind = KIND
    queues = KUEUE

    def __init__(self) -> None:
        self.dialect = None

    def state(
        self,
        manifest: Json,
        pods: Sequence[Json],
        *,
        before: Phase | None = None,
        replicas: Sequence[ReplicaView] | None = None,
    ) -> State:
        """Return the state of a job; the parameters are those of `JobKind.state`.

        The operator calls a job running as soon as its master runs, so the pods decide when the job starts to run.
        """
        found = conditions(manifest)
        replicas = self.replicas(manifest, pods) if replicas is None else replicas
        paused = flag(manifest, "spec", "runPolicy", "suspend")
        phase = _phase(manifest, found, replicas, before)
        condition = found.get(_CONDITION_OF[phase])
        cause, message = reason_and_message(condition) if holds(condition) else (None, None)
        if phase == "Paused" and stopped(manifest):
            phase, cause, message = "Failed", "Stopped", None
        elif phase == "Failed":
            cause = next((code for words, code in _CAUSES.items() if words in (message or "")), cause)
        counted, limit = sum(map(restarts, replicas)), whole(manifest, "spec", "runPolicy", "backoffLimit")
        return State(
            phase=phase,
            paused=paused,
            started_at=_started_at(manifest, found, replicas, phase),
            ended_at=_ended_at(manifest, found, replicas, cause) if phase in ENDED_PHASES else None,
            restarts=counted,
            used_up=limit is not None and counted >= limit,
            cause=cause,
            message=message,
        )

    def replicas(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas, Master before Workers; the parameters are those of `JobKind.replicas`."""
        roles = part(manifest, "spec", "pytorchReplicaSpecs")
        ordered = sorted((name for name in roles if isinstance(roles[name], dict)), key=_order)[:MOST_TYPES]
        elastic = isinstance(value(manifest, "spec", "elasticPolicy"), dict)
        found: dict[tuple[str, int], list[Json]] = {}
        for pod in pods:
            kind, index = text(pod, "metadata", "labels", _TYPE_LABEL), index_in(pod, _INDEX_LABEL)
            if kind is not None and index is not None:
                found.setdefault((kind.casefold(), index), []).append(pod)
        replicas: list[ReplicaView] = []
        for role, (written, name) in enumerate(zip(ordered, type_names(map(str.lower, ordered)), strict=True)):
            container = training_name(part(roles, written, "template"), CONTAINER)
            policy = text(roles, written, "restartPolicy") or "OnFailure"
            wanted = whole(roles, written, "replicas")
            indexes = set(range(min(1 if wanted is None else wanted, MOST_REPLICAS)))
            if elastic:  # Replicas that were added, or that are still to be removed.
                indexes |= {index for kind, index in found if kind == written.casefold()}
            for index in sorted(indexes):
                last = newest(found.get((written.casefold(), index), ())) if found else None
                metadata = part(last, "metadata")
                names = (text(metadata, "name"), text(metadata, "uid")) if metadata else (None, None)
                replica = ReplicaView(name, index, role, container, *names, policy=policy, retried=_RETRIED, pod=last)
                replicas.append(replica)
        return replicas

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job that a pod belongs to."""
        return owner(pod, GROUP, KIND)

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return an empty set: the status of a PyTorchJob names no pods."""
        return set()

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that suspends or resumes a job; the parameters are those of `JobKind.pause`."""
        patch: Json = {"spec": {"runPolicy": {"suspend": on}}}
        return patch if on else resumed(patch)

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return None: the operator runs no TensorBoard."""
        return None

    def remind_at(self, manifest: Json) -> float | None:
        """Return when the deadline of an active job passes; None if the job was annotated since.

        The operator checks a deadline only when the object changes (seen with 1.9.3; kubeflow/trainer#3358).
        """
        begun = moment(manifest, "status", "startTime")
        allowed = whole(manifest, "spec", "runPolicy", "activeDeadlineSeconds")
        if begun is None or allowed is None or allowed <= 0 or flag(manifest, "spec", "runPolicy", "suspend"):
            return None
        found = conditions(manifest)
        due = begun + allowed + 1  # The operator counts whole seconds and waits for the end of the last one.
        done = moment(manifest, "metadata", "annotations", REMINDED)
        over = holds(found.get("Failed")) or holds(found.get("Succeeded"))
        return None if over or (done is not None and done >= due) else due


_CONDITION_OF: Final[dict[Phase, str]] = {
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


def _phase(manifest: Json, found: Mapping[str, Json], replicas: Sequence[ReplicaView], before: Phase | None) -> Phase:
    """Return the phase by the conditions, in the operator's order of precedence (`pkg/util/status.go`)."""
    if holds(found.get("Failed")):
        return "Failed"
    if holds(found.get("Succeeded")):
        return "Succeeded"
    suspend, suspended = flag(manifest, "spec", "runPolicy", "suspend"), found.get("Suspended")
    if suspend and holds(suspended):
        return phase_of_suspended(replicas, before)
    if holds(found.get("Restarting")):
        return "Running"
    if holds(found.get("Running")) and (before == "Running" or _all_run(manifest, replicas)):
        return "Running"
    # A job that was resumed has the condition Suspended with the status False. One that was created paused, as the
    # waiting jobs of a sweep, has never run and has no condition Running.
    return "Pending" if suspended is None or suspend or "Running" not in found else "Resuming"


def _all_run(manifest: Json, replicas: Sequence[ReplicaView]) -> bool:
    """Return True if no replica waits. If no pods can be seen, the operator's condition is trusted."""
    if all(replica.pod is None for replica in replicas):
        return True
    least = whole(manifest, "spec", "elasticPolicy", "minReplicas")
    if least is not None and sum(map(is_running, replicas)) >= max(1, least):
        return True
    return not any(map(is_waiting, replicas))


def _started_at(
    manifest: Json, found: Mapping[str, Json], replicas: Sequence[ReplicaView], phase: Phase
) -> float | None:
    """Return when the master's training container or the job started; else when the operator accepted the job."""
    running = found.get("Running")
    begun = [since(running) if holds(running) else None, *map(started_at, replicas[:1])]
    known = [time for time in begun if time is not None]
    return min(known, default=None if phase == "Pending" else moment(manifest, "status", "startTime"))


def _ended_at(
    manifest: Json, found: Mapping[str, Json], replicas: Sequence[ReplicaView], cause: str | None
) -> float | None:
    """Return when the job ended; after some failures the operator does not set ``completionTime``."""
    if cause == "Stopped":
        return since(found.get("Suspended"))
    ends = (since(one) for one in (found.get("Failed"), found.get("Succeeded")) if holds(one))
    times = (moment(manifest, "status", "completionTime"), *ends, *map(ended_at, replicas[:1]))
    return next((time for time in times if time is not None), None)
