"""PyTorchTrainingJob of T9k's controller; its behavior is described in `docs/developer/t9k-facts.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ....core.errors import Unavailable
from ....core.job import ENDED_PHASES, EngineName, Phase
from ....core.manifests import CURRENT, Dialect, Kind
from ....core.manifests.kinds.dialect import GROUP, KIND
from ....core.manifests.names import T9K_SCHEDULER
from ....core.translation import Text, _
from ..client.api import Json
from ..client.json_access import count, flag, part, parts, text, whole
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
from .pods.pod import ended_at, goes_on, started_at

_PHASES: Final[dict[str, Phase]] = {
    "Pending": "Pending",
    "Running": "Running",
    "Paused": "Paused",
    "Resuming": "Resuming",
    "Succeeded": "Succeeded",
    "Failed": "Failed",
    "Unknown": "Unknown",
}
# Conditions whose reason and message explain a phase, the best one first.
_CONDITIONS_OF: Final[dict[Phase, tuple[str, ...]]] = {
    "Pending": ("ReplicaFailure", "Running", "Initialized"),
    "Running": ("ReplicaFailure", "Running"),
    "Paused": ("Paused",),
    "Resuming": ("ReplicaFailure", "Running"),
    "Succeeded": ("Completed",),
    "Failed": ("Failed", "ReplicaFailure"),
    "Unknown": (),
}
_RETRIED: Final = frozenset({130, 137, 138, 143})
"""Exit codes after which the controller replaces a pod under the policy ``ExitCode`` (t9k-facts.md, Spec)."""
_RESTARTS: Final = 3
"""Default of ``backoffLimit`` (t9k-facts.md, Spec)."""
_SWITCHES: Final = ("enabled", "enable")
# The list has three names in the versions of T9k (t9k-facts.md, Status).
_REPLICA_LISTS: Final = ("replicas", "status", "replicaStatus")
_TYPE_LABEL: Final = "replica-type"
_INDEX_LABEL: Final = "replica-index"
_DNS_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")


class T9k:
    """T9k's kind of job.

    Parameters
    ----------
    dialect
        Spelling of the fields in the cluster.
    """

    engine: EngineName = "t9k"
    manifests: Kind = "t9k"
    dialects = True
    together = False
    facts = facts_of(
        "t9k",
        KIND,
        restarts=_("Counted over all replicas together."),
        by_code=_("The codes 130, 137, 138 and 143 restart a replica, others end the job."),
        description=_(
            "Trains as a PyTorchTrainingJob of T9k: any replica types, restarts that are counted over all replicas, and"
            " T9k’s queues."
        ),
    )
    label: Text = Text.verbatim("T9k")
    order = 20
    group = GROUP
    version = "v1beta1"
    plural = "pytorchtrainingjobs"
    kind = KIND
    queues = T9K_SCHEDULER

    def __init__(self, dialect: Dialect = CURRENT) -> None:
        self.dialect = dialect

    def state(
        self,
        manifest: Json,
        pods: Sequence[Json],
        *,
        before: Phase | None = None,
        replicas: Sequence[ReplicaView] | None = None,
    ) -> State:
        """Return the state of a job; the parameters are those of `JobKind.state`.

        The phase is the object's own. The object has no start and end times, so these come from the master's pod and
        the conditions (t9k-facts.md, States).
        """
        written = text(manifest, "status", "phase")
        phase: Phase = "Pending" if written is None else _PHASES.get(written, "Unknown")
        paused = _is_paused(manifest)
        replicas = self.replicas(manifest, pods) if replicas is None else replicas
        if phase == "Paused" and any(map(goes_on, replicas)):
            phase = before if before in ("Pending", "Resuming") else "Running"  # Its pods are yet to be deleted.
        if phase == "Paused" and paused and stopped(manifest):
            return State(
                phase="Failed",
                paused=True,
                started_at=_started_at(manifest, None),
                ended_at=_became(manifest, "Paused"),
                restarts=_restarts(manifest),
                cause="Stopped",
            )
        master = next(iter(replicas), None)
        cause, message = _cause(manifest, phase)
        return State(
            phase=phase,
            paused=paused,
            started_at=_started_at(manifest, master) if phase != "Pending" else None,
            ended_at=_ended_at(manifest, master) if phase in ENDED_PHASES else None,
            restarts=_restarts(manifest),
            used_up=_restarts(manifest) >= _limit(manifest),
            cause=cause,
            message=message,
        )

    def replicas(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas in the manifest's order; the parameters are those of `JobKind.replicas`.

        A replica's pod is the one that the job's status names by uid, or one that has the labels of the replica.
        """
        groups = parts(manifest, "spec", "replicaSpecs")[:MOST_TYPES]
        written = [text(group, "type") or "worker" for group in groups]
        tasks = parts(manifest, "status", "tasks")
        elastic = _switched_on(manifest, "elastic")
        found: list[ReplicaView] = []
        for role, (group, kind, name) in enumerate(zip(groups, written, type_names(written), strict=True)):
            task = next((task for task in tasks if _same(text(task, "type"), kind)), {})
            slots = _slots(_replicas_of(task), [pod for pod in pods if _same(_label(pod, _TYPE_LABEL), kind)], pods)
            wanted = whole(group, "replicas")
            if elastic and len(groups) == 1:
                expected = whole(part(manifest, "spec", "elastic"), "expectedReplicas")
                wanted = expected if expected is not None and expected > 0 else wanted
            indexes = set(range(min(1 if wanted is None else wanted, MOST_REPLICAS)))
            if elastic and slots:
                indexes = {index for index, slot in slots.items() if slot.pods or slot.said != "Deleted"}
            container, policy = training_name(part(group, "template"), "python"), text(group, "restartPolicy")
            found += (
                slots.get(index, _Slot()).replica(name, index, role, container, policy)
                for index in sorted(indexes | slots.keys() if not elastic else indexes)
            )
        return found

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job that owns a pod; a job of another kind may have the same name."""
        return owner(pod, GROUP, KIND)

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return the uids of the pods in the job's status."""
        entries = (entry for task in parts(manifest, "status", "tasks") for entry in _replicas_of(task))
        return {uid for entry in entries if (uid := text(entry, "uid")) is not None}

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that pauses or resumes a job; the parameters are those of `JobKind.pause`.

        The patch does not change `resumeSpecs`.

        Raises
        ------
        Unavailable
            If the cluster's version of T9k can't pause jobs.
        """
        if not self.dialect.pause:
            raise Unavailable(
                _("This cluster's version of {kind} can't pause a job.", kind=KIND),
                hint=_("Delete the job, and run it again later."),
            )
        patch: Json = {"spec": {"runMode": {"pause": {self.dialect.switch: on}}}}
        return patch if on else resumed(patch)

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return the path of a job's TensorBoard on the platform's host (t9k-facts.md, TensorBoard)."""
        board = part(manifest, "status", "tensorboard", "dependent")
        namespace = text(board, "namespace") or text(manifest, "metadata", "namespace") or ""
        name = text(board, "name") or ""
        if not (_DNS_NAME.fullmatch(namespace) and _DNS_NAME.fullmatch(name)):
            return None
        return f"/t9k/tensorboards/projects/{namespace}/name/{name}/"

    def remind_at(self, manifest: Json) -> float | None:
        """Return None: T9k's controller notices deadlines by itself, as far as is known."""
        return None


# -- replicas ----------------------------------------------------------------------------------------------------------


@dataclass
class _Slot:
    """One replica: its entry in the job's status, and its pods.

    Attributes
    ----------
    name, uid
        Name and uid of the pod in the status.
    said
        The replica's phase in the status.
    exit_codes
        Names and exit codes of the containers in the status.
    pods
        All pods of the replica.
    """

    name: str | None = None
    uid: str | None = None
    said: str | None = None
    exit_codes: tuple[tuple[str | None, int | None], ...] = ()
    pods: tuple[Json, ...] = ()

    def replica(self, kind: str, index: int, role: int, container: str | None, policy: str | None) -> ReplicaView:
        pod = newest(self.pods)
        uid = text(pod, "metadata", "uid")
        is_current = pod is None or self.uid in (None, uid)
        return ReplicaView(
            type=kind,
            index=index,
            role=role,
            container=container,
            pod_name=self.name if pod is None else text(pod, "metadata", "name"),
            pod_uid=self.uid if pod is None else uid,
            said=self.said if is_current else None,
            exit_code=self._exit_code(container) if is_current else None,
            policy=policy,
            retried=_RETRIED,
            pod=pod,
        )

    def _exit_code(self, container: str | None) -> int | None:
        codes = [code for name, code in self.exit_codes if name == container]
        return next(iter(codes or [code for _name, code in self.exit_codes]), None)


def _slots(entries: list[Json], labelled: list[Json], pods: Sequence[Json]) -> dict[int, _Slot]:
    """Return the replicas of a type by index: the index in the pod's label, else the position in the status."""
    by_uid = {uid: pod for pod in pods if (uid := text(pod, "metadata", "uid")) is not None}
    by_name = {name: pod for pod in pods if (name := text(pod, "metadata", "name")) is not None}
    slots: dict[int, _Slot] = {}
    unsure: list[tuple[int, _Slot]] = []
    for position, entry in enumerate(entries[:MOST_REPLICAS]):
        name, uid = text(entry, "name"), text(entry, "uid")
        pod = by_uid.get(uid) if uid is not None else by_name.get(name or "")
        codes = tuple((text(one, "name"), whole(one, "exitCode")) for one in parts(entry, "containers"))
        slot = _Slot(name, uid, text(entry, "phase"), codes, () if pod is None else (pod,))
        index = index_in(pod, _INDEX_LABEL)
        if index is None or index in slots:
            unsure.append((position, slot))
        else:
            slots[index] = slot
    for position, slot in unsure:
        index = position if position not in slots else next(n for n in range(len(entries)) if n not in slots)
        slots[index] = slot
    for pod in labelled:
        if (index := index_in(pod, _INDEX_LABEL)) is not None:
            slot = slots.setdefault(index, _Slot())
            slot.pods = (*(one for one in slot.pods if one is not pod), pod)
    return slots


def _label(pod: Json | None, name: str) -> str | None:
    return text(pod, "metadata", "labels", name)


def _same(one: str | None, other: str) -> bool:
    return one is not None and one.casefold() == other.casefold()


def _replicas_of(task: Json) -> list[Json]:
    return next((parts(task, name) for name in _REPLICA_LISTS if isinstance(task.get(name), list)), [])


# -- state -------------------------------------------------------------------------------------------------------------


def _switched_on(manifest: Json, *path: str) -> bool:
    return any(flag(manifest, "spec", *path, switch) for switch in _SWITCHES)


def _is_paused(manifest: Json) -> bool:
    return _switched_on(manifest, "runMode", "pause")


def _restarts(manifest: Json) -> int:
    """Return the number of counted restarts; some versions leave out one of the two numbers."""
    by_type = sum(count(task, "restartCount") for task in parts(manifest, "status", "tasks"))
    return max(count(manifest, "status", "backoffCount"), by_type)


def _became(manifest: Json, condition: str) -> float | None:
    found = conditions(manifest).get(condition)
    return since(found) if holds(found) else None


def _started_at(manifest: Json, master: ReplicaView | None) -> float | None:
    """Return when the master's training container or the job started; else when the job was initialized."""
    of_pod = started_at(master) if master is not None else None
    begun = [time for time in (of_pod, _became(manifest, "Running")) if time is not None]
    return min(begun, default=_became(manifest, "Initialized"))


def _ended_at(manifest: Json, master: ReplicaView | None) -> float | None:
    of_pod = ended_at(master) if master is not None else None
    times = (_became(manifest, "Completed"), _became(manifest, "Failed"), of_pod)
    return next((time for time in times if time is not None), None)


def _cause(manifest: Json, phase: Phase) -> tuple[str | None, str | None]:
    """Return the cluster's code and message for the cause of a job's phase.

    The status does not say that a deadline has passed or that the restarts are used up, so these causes are derived
    (t9k-facts.md, States).
    """
    cause: str | None = None
    message: str | None = None
    for condition in _conditions_for(manifest, phase):
        reason, words = reason_and_message(condition)
        cause, message = cause or reason, message or words
    if phase == "Failed" and cause in (None, "Failed", "ErrorInPod"):
        cause = _derived(manifest) or cause
    return cause, message


def _conditions_for(manifest: Json, phase: Phase) -> Iterator[Json]:
    """Yield the conditions that explain a phase, the best one first."""
    found = conditions(manifest)
    for name in _CONDITIONS_OF[phase]:
        condition = found.get(name)
        # `Running` that is false explains why a job waits; a false failure condition explains nothing.
        if condition is not None and (holds(condition) or (phase in ("Pending", "Resuming") and name == "Running")):
            yield condition


def _derived(manifest: Json) -> str | None:
    started, ended = _started_at(manifest, None), _ended_at(manifest, None)
    deadline = whole(manifest, "spec", "runPolicy", "activeDeadlineSeconds")
    if deadline and started is not None and ended is not None and ended - started >= deadline:
        return "DeadlineExceeded"
    return "BackoffLimitExceeded" if 0 < _limit(manifest) <= _restarts(manifest) else None


def _limit(manifest: Json) -> int:
    limit = whole(manifest, "spec", "runPolicy", "backoffLimit")
    return _RESTARTS if limit is None else limit
