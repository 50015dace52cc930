"""JobSet of Kubernetes' batch working group, which starts all replicas of a job again when one has failed.

Read in the source of JobSet 0.10.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from .....core.job import ENDED_PHASES, EngineName, Phase
from .....core.manifests import CURRENT, Kind
from .....core.manifests.kinds.indexed_job import COMPLETION_INDEX, DEFAULT_BACKOFF, RETRIED, TYPE
from .....core.manifests.kinds.jobset.jobset import GROUP, KIND, LABEL, VERSION
from .....core.manifests.names import ENGINE, KUEUE, RAN
from .....core.translation import Text, _
from ...client.api import Json
from ...client.json_access import count, flag, part, parts, text, whole
from ..events import kind_of, name_of
from ..facts import facts_of
from ..kinds import (
    MOST_REPLICAS,
    MOST_TYPES,
    ReplicaView,
    State,
    conditions,
    holds,
    index_in,
    newest,
    noted_pause,
    reason_and_message,
    since,
    stopped,
    training_name,
    type_names,
)
from ..pods.pod import are_running, ended_at, phase_of_suspended, restarts, started_at
from .pods import JOB_INDEX, REPLICATED_JOB, jobset_of

_CONDITION_OF: Final[dict[Phase, str]] = {"Paused": "Suspended", "Succeeded": "Completed", "Failed": "Failed"}
_USED_UP: Final = "ReachedMaxRestarts"
_FINAL: Final = "FailJobSetFailurePolicyAction"
_OF_A_JOB: Final = re.compile(rf"(?P<name>.+)-{TYPE}-\d+")
"""Name of a Job that a JobSet of ours makes."""


class JobSet:
    """Kind of job whose replicas start again together, in the form of `core.manifests.kinds.jobset`.

    Its pods belong to Jobs, and those to the JobSet, which has its name in a label of each pod: see `NamesJobs`.
    JobSets of other programs, such as those that Kubeflow Trainer makes for its TrainJobs, don't have our label.
    """

    engine: EngineName = "jobset"
    manifests: Kind = "jobset"
    dialects = False
    together = True
    facts = facts_of(
        "jobset",
        KIND,
        restarts=_("When a replica fails or is lost, all replicas start again, which counts as one restart."),
        by_code=_(
            "After the codes 130, 137, 138 and 143, and when a replica is lost, all replicas start again, which counts"
            " as one restart. Other codes end the job."
        ),
        description=_(
            "Trains as a JobSet: when a replica fails or is lost, all replicas start again together, as one restart."
        ),
    )
    label: Text = Text.verbatim("JobSet")
    order = 45
    group = GROUP
    version = VERSION
    plural = "jobsets"
    kind = KIND
    queues = KUEUE
    label_name = ENGINE
    label_value = LABEL
    least_version = (1, 31)
    """`successPolicy` of the Job is on by default since then."""

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
        condition = found.get(_CONDITION_OF.get(phase, ""))
        cause, message = reason_and_message(condition) if holds(condition) else (None, None)
        ended = since(condition) if phase in ENDED_PHASES else None
        paused = flag(manifest, "spec", "suspend")
        if phase == "Paused" and paused and stopped(manifest):
            phase, cause, message, ended = "Failed", "Stopped", None, since(condition)
        if phase in ENDED_PHASES and ended is None:
            ended = next((time for time in map(ended_at, replicas[:1]) if time is not None), None)
        limit = _limit(manifest)
        counted = whole(manifest, "status", "restartsCountTowardsMax")
        if phase == "Failed" and cause != "Stopped":
            cause = _cause(manifest, cause, limit)
        return State(
            phase=phase,
            paused=paused,
            started_at=next(map(started_at, replicas[:1]), None) if phase != "Pending" else None,
            ended_at=ended,
            restarts=count(manifest, "status", "restarts") + sum(map(restarts, replicas)),
            used_up=(count(manifest, "status", "restarts") if counted is None else counted) >= limit,
            cause=cause,
            message=message,
        )

    def replicas(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas by template and index; the parameters are those of `JobKind.replicas`.

        The replicas of a template with several Jobs are numbered through.
        """
        jobs = parts(manifest, "spec", "replicatedJobs")[:MOST_TYPES]
        names = [text(job, "name") or "" for job in jobs]
        found: dict[tuple[str, int, int], list[Json]] = {}
        for pod in pods:
            at, index = index_in(pod, JOB_INDEX), index_in(pod, COMPLETION_INDEX)
            if at is not None and index is not None:
                key = (text(pod, "metadata", "labels", REPLICATED_JOB) or "", at, index)
                found.setdefault(key, []).append(pod)
        replicas: list[ReplicaView] = []
        for role, (job, name, shown) in enumerate(zip(jobs, names, type_names(names), strict=True)):
            fields, policy = part(job, "template", "spec"), _policy(manifest, job)
            container = training_name(part(fields, "template"), "python")
            each = max(1, _wanted(fields))
            for number in range(min(_number(job, "replicas") * _wanted(fields), MOST_REPLICAS)):
                last = newest(found.get((name, *divmod(number, each)), ()))
                known = (text(last, "metadata", "name"), text(last, "metadata", "uid"))
                replicas.append(
                    ReplicaView(shown, number, role, container, *known, policy=policy, retried=RETRIED, pod=last)
                )
        return replicas

    def owner_of(self, pod: Json) -> str | None:
        """Return None: not all versions of JobSet write their uid into the pods, see `job_name_of`."""
        return None

    def job_name_of(self, pod: Json) -> str | None:
        """Return the name of the JobSet of a pod; None if it belongs to none."""
        return jobset_of(pod)

    def job_named_in(self, event: Json) -> str | None:
        """Return the name of the JobSet about whose Job an event is; None for other objects."""
        found = _OF_A_JOB.fullmatch(name_of(event)) if kind_of(event) == "Job" else None
        return found["name"] if found is not None else None

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return an empty set: the status of a JobSet names no pods."""
        return set()

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that suspends or resumes a job; the parameters are those of `JobKind.pause`."""
        return noted_pause(on=on, ran=_ready(manifest))

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return None: JobSet runs no TensorBoard."""
        return None

    def remind_at(self, manifest: Json) -> float | None:
        """Return None: the controller notices deadlines by itself."""
        return None


def _number(value: Json, name: str) -> int:
    """Return a number of an object that is 1 if it is not given."""
    number = whole(value, name)
    return 1 if number is None else max(0, number)


def _wanted(job: Json) -> int:
    """Return the number of pods of a Job, given the fields of its ``spec``."""
    return _number(job, "completions" if whole(job, "completions") is not None else "parallelism")


def _limit(manifest: Json) -> int:
    return count(manifest, "spec", "failurePolicy", "maxRestarts")


def _policy(manifest: Json, job: Json) -> str:
    """Return the restart policy of a template of Jobs in T9k's words; see `core.manifests.kinds.jobset`."""
    fields, limit = part(job, "template", "spec"), whole(job, "template", "spec", "backoffLimit")
    if text(fields, "template", "spec", "restartPolicy") != "Never":
        return "OnFailure"
    if part(fields, "podFailurePolicy"):
        return "ExitCode"
    return "OnFailure" if _limit(manifest) or (DEFAULT_BACKOFF if limit is None else limit) else "Never"


def _cause(manifest: Json, cause: str | None, limit: int) -> str | None:
    """Return why a job failed, in the words of the other kinds.

    A JobSet does not say for which of a Job's reasons its policy ended it. An exit code is seen in the pods.
    """
    if cause == _USED_UP:
        return "BackoffLimitExceeded" if limit else "FailedJobs"  # No restarts were allowed, so none are used up.
    if cause == _FINAL:
        jobs = parts(manifest, "spec", "replicatedJobs")
        limited = any(whole(job, "template", "spec", "activeDeadlineSeconds") is not None for job in jobs)
        return "DeadlineExceeded" if limited else "FailedJobs"
    return cause


def _phase(manifest: Json, found: dict[str, Json], replicas: Sequence[ReplicaView], before: Phase | None) -> Phase:
    """Return the phase: by the conditions as far as there are any, then by the pods."""
    if holds(found.get("Failed")):
        return "Failed"
    if holds(found.get("Completed")):
        return "Succeeded"
    if holds(found.get("Suspended")):
        return phase_of_suspended(replicas, before)
    if all(replica.pod is None for replica in replicas):
        if _ready(manifest) and not flag(manifest, "spec", "suspend"):  # The account may not see the pods.
            return "Running"
    elif are_running(replicas, before):
        return "Running"
    again = count(manifest, "status", "restarts") or text(manifest, "metadata", "annotations", RAN) is not None
    return "Resuming" if again else "Pending"


def _ready(manifest: Json) -> bool:
    """Return True if the job's status says that all pods of a Job are ready, or have succeeded."""
    jobs = parts(manifest, "status", "replicatedJobsStatus")
    return any(count(job, name) for job in jobs for name in ("ready", "succeeded"))
