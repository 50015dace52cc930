"""TrainJob of Kubeflow Trainer, which runs as a JobSet of Jobs (read in the source of Trainer 2.1 and JobSet 0.10)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from ....core.engine.info import EngineFacts, RestartTexts
from ....core.job import ENDED_PHASES, EngineName, Phase, Progress
from ....core.manifests import Kind
from ....core.manifests.kinds.indexed_job import COMPLETION_INDEX
from ....core.manifests.kinds.trainer.spelling import GROUP, KIND, NODE
from ....core.manifests.names import KUEUE
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import count, flag, moment, part, parts, text, whole
from .events import kind_of, name_of
from .jobset.pods import REPLICATED_JOB, jobset_of
from .kinds import (
    MOST_REPLICAS,
    ReplicaView,
    State,
    conditions,
    holds,
    index_in,
    newest,
    reason_and_message,
    resumed,
    since,
    stopped,
    type_names,
)
from .pods.pod import are_running, ended_at, phase_of_suspended, restarts, started_at

_OF_A_JOB: Final = re.compile(rf"(?P<name>.+)-(?:{NODE}|launcher|dataset-initializer|model-initializer)-\d+")
"""Name of a Job that a JobSet makes for a TrainJob."""
_LONGEST: Final = 10 * 365 * 24 * 3600
"""Seconds; a training that says it needs longer does not know."""
_MOST_METRICS: Final = 50
_LONGEST_NAME: Final = 100
_RESTARTS: Final = _("The runtime of a TrainJob says whether a replica that failed starts again; the job can't.")


class TrainJob:
    """Kubeflow Trainer's kind of job.

    Its pods belong to Jobs, those to a JobSet, and that to the TrainJob. All three have the TrainJob's name at the
    beginning of their own, so a pod leads to its TrainJob without further requests: see `NamesJobs`.
    """

    engine: EngineName = "trainer"
    manifests: Kind = "trainjob"
    dialects = True
    together = False
    facts = EngineFacts(
        outlives_server=True,
        has_namespaces=True,
        has_pods=True,
        manifest_kind="trainjob",
        manifest_object=KIND,
        restart_texts=RestartTexts(with_torchrun={"Never": _RESTARTS}, without_torchrun={"Never": _RESTARTS}),
        description=_(
            "Trains as a TrainJob of Kubeflow Trainer: a runtime of the cluster gives what the job does not say, such"
            " as the image and the restarts."
        ),
    )
    label: Text = Text.verbatim("Kubeflow Trainer")
    order = 25
    group = GROUP
    version = "v1alpha1"
    plural = "trainjobs"
    kind = KIND
    queues = KUEUE

    def __init__(self) -> None:
        self.dialect: Any = None

    def state(
        self,
        manifest: Json,
        pods: Sequence[Json],
        *,
        before: Phase | None = None,
        replicas: Sequence[ReplicaView] | None = None,
    ) -> State:
        """Return the state of a job; the parameters are those of `JobKind.state`.

        The object has only the conditions Suspended, Complete and Failed, so the pods decide when the job runs.
        """
        found = conditions(manifest)
        replicas = self.replicas(manifest, pods) if replicas is None else replicas
        nodes = [replica for replica in replicas if replica.type == NODE]
        phase = _phase(manifest, found, nodes, before)
        condition = found.get(_CONDITION_OF.get(phase, ""))
        cause, message = reason_and_message(condition) if holds(condition) else (None, None)
        ended = since(condition) if phase in ENDED_PHASES and holds(condition) else None
        if phase == "Paused" and stopped(manifest):
            phase, cause, message, ended = "Failed", "Stopped", None, since(condition)
        elif phase == "Paused":
            cause = message = None
        begun = started_at(nodes[0]) if nodes and phase != "Pending" else None
        if phase in ENDED_PHASES and ended is None and nodes:
            ended = ended_at(nodes[0])
        return State(
            phase=phase,
            paused=flag(manifest, "spec", "suspend"),
            started_at=begun,
            ended_at=ended,
            restarts=sum(map(restarts, nodes)),
            cause=cause,
            message=message,
        )

    def replicas(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the nodes, then the pods of the runtime's other jobs; the parameters are those of `JobKind.replicas`.

        A TrainJob without `numNodes` has as many nodes as its runtime says: those whose pods are there.
        """
        found: dict[str, dict[int, list[Json]]] = {NODE: {}}
        for pod in pods:
            job, index = text(pod, "metadata", "labels", REPLICATED_JOB), index_in(pod, COMPLETION_INDEX)
            if job is not None and index is not None:
                found.setdefault(job, {}).setdefault(index, []).append(pod)
        nodes = whole(manifest, "spec", "trainer", "numNodes")
        wanted = range(min(1 if nodes is None else max(nodes, 0), MOST_REPLICAS))
        written = sorted(found, key=lambda job: (job != NODE, job))
        replicas: list[ReplicaView] = []
        for job, name in zip(written, type_names(written), strict=True):
            indexes = {*found[job], *(wanted if job == NODE else ())}
            if job == NODE and nodes is not None:
                indexes = set(wanted)
            for index in sorted(indexes):
                last = newest(found[job].get(index, ()))
                names = (text(last, "metadata", "name"), text(last, "metadata", "uid"))
                # A Job makes a new pod for one that failed, as often as the runtime says.
                replicas.append(
                    ReplicaView(name, index, 0, _container_of(job, last), *names, policy="OnFailure", pod=last)
                )
        return replicas

    def owner_of(self, pod: Json) -> str | None:
        """Return None: a pod names the uid of its Job only, see `job_name_of`."""
        return None

    def job_name_of(self, pod: Json) -> str | None:
        """Return the name of the TrainJob to which a pod belongs, which is that of its JobSet."""
        return jobset_of(pod)

    def job_named_in(self, event: Json) -> str | None:
        """Return the name of the TrainJob whose JobSet or Job an event is about; None for other objects."""
        name = name_of(event)
        match kind_of(event):
            case "JobSet":
                return name or None
            case "Job":
                found = _OF_A_JOB.fullmatch(name)
                return found["name"] if found is not None else None
        return None

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return an empty set: the status of a TrainJob names no pods."""
        return set()

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that suspends or resumes a job; the parameters are those of `JobKind.pause`."""
        patch: Json = {"spec": {"suspend": on}}
        return patch if on else resumed(patch)

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return None: Trainer runs no TensorBoard."""
        return None

    def remind_at(self, manifest: Json) -> float | None:
        """Return None: Trainer's controller watches the deadline itself."""
        return None

    def progress(self, manifest: Json) -> Progress | None:
        """Return what the training has told the controller, see `ReportsProgress`.

        Trainer has had the field since 2.2, where its feature gate `TrainJobStatus` is on.
        """
        told = part(manifest, "status", "trainerStatus")
        percent, updated = whole(told, "progressPercentage"), moment(told, "lastUpdatedTime")
        if percent is None or not 0 <= percent <= 100 or updated is None:
            return None
        remaining = whole(told, "estimatedRemainingSeconds")
        return Progress(
            text=_("{percent} of the training", percent=f"{percent}%"),
            fraction=percent / 100,
            eta_seconds=remaining if remaining is not None and 0 <= remaining <= _LONGEST else None,
            metrics=dict(islice(_metrics(told), _MOST_METRICS)),
            updated_at=updated,
        )


def _metrics(told: Json) -> Iterator[tuple[str, float]]:
    """Yield the names and values of metrics that are numbers; the object has them as texts."""
    for metric in parts(told, "metrics"):
        name, written = text(metric, "name"), text(metric, "value")
        with suppress(ValueError):
            number = float(written or "")
            if name and math.isfinite(number):
                yield name[:_LONGEST_NAME], number


_CONDITION_OF: Final[dict[Phase, str]] = {"Paused": "Suspended", "Succeeded": "Complete", "Failed": "Failed"}


def _container_of(job: str, pod: Json | None) -> str | None:
    """Return the name of the container that does the work: the node's is called as its job is."""
    names = [text(container, "name") for container in parts(pod, "spec", "containers")]
    return job if job == NODE or job in names else next(iter(names), None)


def _phase(manifest: Json, found: dict[str, Json], nodes: Sequence[ReplicaView], before: Phase | None) -> Phase:
    """Return the phase: by the conditions as far as there are any, then by the pods."""
    if holds(found.get("Failed")):
        return "Failed"
    if holds(found.get("Complete")):
        return "Succeeded"
    suspend, suspended = flag(manifest, "spec", "suspend"), found.get("Suspended")
    if suspend and holds(suspended):
        return phase_of_suspended(nodes, before)
    if all(node.pod is None for node in nodes):
        if not suspend and _ready(manifest):  # The account may not see the pods.
            return "Running"
    elif are_running(nodes, before):
        return "Running"
    # A job that was resumed has the condition Suspended with the status False.
    return "Pending" if suspended is None or suspend else "Resuming"


def _ready(manifest: Json) -> bool:
    """Return True if the job's status says that its nodes are ready."""
    jobs = parts(manifest, "status", "jobsStatus")
    return any(text(job, "name") == NODE and count(job, "ready") > 0 for job in jobs)
