"""Indexed Job of Kubernetes with a headless Service, for clusters without an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ....core.job import ENDED_PHASES, EngineName, Phase
from ....core.manifests import CURRENT, Kind
from ....core.manifests.kinds.indexed_job import (
    COMPLETION_INDEX,
    DEFAULT_BACKOFF,
    GROUP,
    KIND,
    LABEL,
    PORT,
    RETRIED,
    TYPE,
)
from ....core.manifests.names import ENGINE, KUEUE, RAN
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import count, flag, moment, part, text, whole
from .facts import facts_of
from .kinds import (
    JOBSET,
    MOST_REPLICAS,
    ReplicaView,
    State,
    conditions,
    holds,
    index_in,
    newest,
    noted_pause,
    owner,
    reason_and_message,
    since,
    stopped,
    training_name,
)
from .pods.pod import ended_at, is_waiting, phase_of_suspended, restarts, started_at

_NAME_LABEL: Final = "batch.kubernetes.io/job-name"
# The first of a pair comes when the outcome is certain, the second when all pods have ended [Kubernetes 1.31].
_FAILED: Final = ("FailureTarget", "Failed")
_SUCCEEDED: Final = ("SuccessCriteriaMet", "Complete")


class IndexedJob:
    """Kubernetes' own kind of job, in the form of `core.manifests.kinds.indexed_job`."""

    engine: EngineName = "indexed-job"
    manifests: Kind = "job"
    dialects = False
    together = False
    facts = facts_of(
        "job",
        KIND,
        restarts=_(
            "Only the replica that failed starts again, and all restarts count together. When the first replica starts"
            " again, the others lose their connection and start again too."
        ),
        by_code=_(
            "The codes 130, 137, 138 and 143 restart a replica, others end the job. A replica that loses its node"
            " starts again without being counted."
        ),
        description=_(
            "Trains as a Kubernetes Job, with a headless Service where there are several replicas; the cluster needs no"
            " operator."
        ),
    )
    label: Text = Text.verbatim("Kubernetes Job")
    order = 50
    group = GROUP
    version = "v1"
    plural = "jobs"
    kind = KIND
    queues = KUEUE
    label_name = ENGINE
    label_value = LABEL
    least_version = (1, 31)
    """`successPolicy` is on by default since then."""

    def __init__(self) -> None:
        self.dialect = CURRENT

    def state(
        self,
        manifest: Json,
        pods: Sequence[Json],
        *,
        before: Phase | None = None,
        replicas: Sequence[ReplicaView] | None = None,
    ) -> State:
        """Return the state of a job; the parameters are those of `JobKind.state`."""
        found = conditions(manifest)
        replicas = self.replicas(manifest, pods) if replicas is None else replicas
        phase = _phase(manifest, found, replicas, before)
        condition = _first(found, {"Failed": _FAILED, "Succeeded": _SUCCEEDED, "Paused": ("Suspended",)}.get(phase, ()))
        cause, message = reason_and_message(condition) if condition is not None else (None, None)
        paused = flag(manifest, "spec", "suspend")
        if phase == "Paused" and paused and stopped(manifest):
            phase, cause, message = "Failed", "Stopped", None
        counted, limit = _restarts(manifest, replicas, phase), _limit(manifest)
        if cause == "BackoffLimitExceeded" and not limit:
            cause = "ReplicaFailed"  # No restarts were allowed, so none are used up.
        return State(
            phase=phase,
            paused=paused,
            started_at=_started_at(manifest, replicas, phase),
            ended_at=_ended_at(manifest, condition, replicas) if phase in ENDED_PHASES else None,
            restarts=counted,
            used_up=counted >= limit,
            cause=cause,
            message=message,
        )

    def replicas(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas by index; the parameters are those of `JobKind.replicas`."""
        found: dict[int, list[Json]] = {}
        for pod in pods:
            if (index := index_in(pod, COMPLETION_INDEX)) is not None:
                found.setdefault(index, []).append(pod)
        container, policy = training_name(part(manifest, "spec", "template"), "python"), _policy(manifest)
        replicas: list[ReplicaView] = []
        for index in range(min(_wanted(manifest), MOST_REPLICAS)):
            last = newest(found.get(index, ()))
            names = (text(last, "metadata", "name"), text(last, "metadata", "uid"))
            replicas.append(ReplicaView(TYPE, index, 0, container, *names, policy=policy, retried=RETRIED, pod=last))
        return replicas

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the Job that a pod belongs to; None if the Job is a part of a JobSet."""
        return owner(pod, GROUP, KIND) if text(pod, "metadata", "labels", JOBSET) is None else None

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return an empty set: the status of a Job names no pods that still exist."""
        return set()

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that suspends or resumes a job; the parameters are those of `JobKind.pause`."""
        ran = any(count(manifest, "status", name) for name in ("ready", "failed", "succeeded"))
        return noted_pause(on=on, ran=ran)

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return None: Kubernetes runs no TensorBoard."""
        return None

    def remind_at(self, manifest: Json) -> float | None:
        """Return None: the controller notices deadlines by itself."""
        return None

    def companions(self, manifest: Json) -> list[Json]:
        """Return the headless Service that gives the replicas their names; the parameters are those of `HasCompanions`.

        A job with one replica needs no Service, nor does a job whose pods use a Service that exists already.
        """
        name = text(manifest, "metadata", "name")
        if name is None or text(manifest, "spec", "template", "spec", "subdomain") != name:
            return []
        spec = {
            "clusterIP": "None",
            # Replicas look for the first one before its containers are ready, and it looks for itself.
            "publishNotReadyAddresses": True,
            "selector": {_NAME_LABEL: name},
            "ports": [{"name": "rendezvous", "port": PORT}],
        }
        labels = {self.label_name: self.label_value}
        return [{"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "labels": labels}, "spec": spec}]


def _wanted(manifest: Json) -> int:
    """Return the number of replicas of a Job."""
    asked = (whole(manifest, "spec", "completions"), whole(manifest, "spec", "parallelism"))
    return max(0, next((number for number in asked if number is not None), 1))


def _policy(manifest: Json) -> str:
    """Return the restart policy in T9k's words; see `core.manifests.kinds.indexed_job`."""
    if text(manifest, "spec", "template", "spec", "restartPolicy") != "Never":
        return "OnFailure"
    if part(manifest, "spec", "podFailurePolicy"):
        return "ExitCode"
    return "OnFailure" if _limit(manifest) else "Never"


def _limit(manifest: Json) -> int:
    limit = whole(manifest, "spec", "backoffLimit")
    return DEFAULT_BACKOFF if limit is None else limit


def _first(found: dict[str, Json], types: Sequence[str]) -> Json | None:
    """Return the first condition of these types that holds."""
    return next((found[kind] for kind in types if holds(found.get(kind))), None)


def _phase(manifest: Json, found: dict[str, Json], replicas: Sequence[ReplicaView], before: Phase | None) -> Phase:
    if _first(found, _FAILED) is not None:
        return "Failed"
    if _first(found, _SUCCEEDED) is not None:
        return "Succeeded"
    if holds(found.get("Suspended")):
        return phase_of_suspended(replicas, before)
    if before == "Running" or _all_run(manifest, replicas):
        return "Running"
    return "Pending" if text(manifest, "metadata", "annotations", RAN) is None else "Resuming"


def _all_run(manifest: Json, replicas: Sequence[ReplicaView]) -> bool:
    """Return True if no replica waits. If no pods can be seen, the number in the status is trusted."""
    if all(replica.pod is None for replica in replicas):
        return 0 < _wanted(manifest) <= count(manifest, "status", "ready")
    return not any(map(is_waiting, replicas))


def _restarts(manifest: Json, replicas: Sequence[ReplicaView], phase: Phase) -> int:
    """Return the number of restarts: of containers in their pods, and of failed pods that were replaced.

    The pods that failed when the job ended, or was paused, were not replaced.
    """
    replaced = 0
    if phase not in ENDED_PHASES and text(manifest, "spec", "template", "spec", "restartPolicy") == "Never":
        replaced = count(manifest, "status", "failed")
    return sum(map(restarts, replicas)) + replaced


def _started_at(manifest: Json, replicas: Sequence[ReplicaView], phase: Phase) -> float | None:
    """Return when the first replica's training container started; else when the controller created the pods."""
    begun = next((time for time in map(started_at, replicas[:1]) if time is not None), None)
    return begun if begun is not None or phase == "Pending" else moment(manifest, "status", "startTime")


def _ended_at(manifest: Json, condition: Json | None, replicas: Sequence[ReplicaView]) -> float | None:
    """Return when the job ended: when its outcome was certain."""
    times = (since(condition), moment(manifest, "status", "completionTime"), *map(ended_at, replicas[:1]))
    return next((time for time in times if time is not None), None)
