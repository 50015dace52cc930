"""PyTorchTrainingJob as T9k's controller keeps it (t9k.md §1.5–1.8)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ....core.errors import Unavailable
from ....core.job import EngineName, Phase
from ....core.manifests import CURRENT, Dialect, Kind
from ....core.manifests.kinds.dialect import GROUP, KIND
from ....core.manifests.names import PAUSED, STOPPED, T9K_SCHEDULER
from ..client.api import Json
from ..client.json_access import count, flag, part, parts, text, whole
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
from .pods import ended_at, goes_on, started_at

_PHASES: Final[dict[str, Phase]] = {
    "Pending": "Pending",
    "Running": "Running",
    "Paused": "Paused",
    "Resuming": "Resuming",
    "Succeeded": "Succeeded",
    "Failed": "Failed",
    "Unknown": "Unknown",
}
# The condition that has the words for a phase, the best one first.
_SAID_BY: Final[dict[Phase, tuple[str, ...]]] = {
    "Pending": ("ReplicaFailure", "Running", "Initialized"),
    "Running": ("ReplicaFailure", "Running"),
    "Paused": ("Paused",),
    "Resuming": ("ReplicaFailure", "Running"),
    "Succeeded": ("Completed",),
    "Failed": ("Failed", "ReplicaFailure"),
    "Unknown": (),
}
_RETRIED: Final = frozenset({130, 137, 138, 143})
"""Exit codes after which the policy ``ExitCode`` has a pod replaced (t9k.md §1.2)."""
_RESTARTS: Final = 3
"""The default of ``backoffLimit`` (t9k.md §1.2)."""
_SWITCHES: Final = ("enabled", "enable")
# The list has had three names (t9k.md §1.7).
_REPLICA_LISTS: Final = ("replicas", "status", "replicaStatus")
_TYPE_LABEL: Final = "replica-type"
_INDEX_LABEL: Final = "replica-index"
_DNS_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")


class T9k:
    """The kind of T9k.

    Parameters
    ----------
    dialect
        The cluster's spelling.
    """

    engine: EngineName = "t9k"
    manifests: Kind = "t9k"
    facts = facts_of(
        "t9k",
        KIND,
        restarts="Counted over all replicas together.",
        by_code="The codes 130, 137, 138 and 143 restart a replica, others end the job.",
    )
    label = "T9k"
    group = GROUP
    version = "v1beta1"
    plural = "pytorchtrainingjobs"
    kind = KIND
    queues = T9K_SCHEDULER

    def __init__(self, dialect: Dialect = CURRENT) -> None:
        self.dialect = dialect

    def state(self, manifest: Json, pods: Sequence[Json], *, before: Phase | None = None) -> State:
        """Return what the object and its pods say.

        The phase is the object's own; what the condition ``Completed`` says differs from kind to kind. There are no
        times of start and end in it, so they come from the master's pod and the conditions (t9k.md §1.7, §1.8).
        """
        written = text(manifest, "status", "phase")
        phase: Phase = "Pending" if written is None else _PHASES.get(written, "Unknown")
        paused = _is_paused(manifest)
        places = self.places(manifest, pods)
        if phase == "Paused" and any(map(goes_on, places)):
            phase = before if before in ("Pending", "Resuming") else "Running"  # its pods are only about to be deleted
        if phase == "Paused" and paused and stopped(manifest):
            return State(
                phase="Failed",
                paused=True,
                started_at=_started_at(manifest, None),
                ended_at=_became(manifest, "Paused"),
                restarts=_restarts(manifest),
                cause="Stopped",
            )
        master = next(iter(places), None)
        cause, message = _cause(manifest, phase)
        return State(
            phase=phase,
            paused=paused,
            started_at=_started_at(manifest, master) if phase != "Pending" else None,
            ended_at=_ended_at(manifest, master) if phase in ("Succeeded", "Failed") else None,
            restarts=_restarts(manifest),
            used_up=_restarts(manifest) >= _limit(manifest),
            cause=cause,
            message=message,
        )

    def places(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas in the spec's order, with their newest pods.

        They are those that the status names, by uid; and those that are labelled as a replica of the job.
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
            indexes = set(range(min(1 if wanted is None else wanted, MOST_PLACES)))
            if elastic and slots:
                indexes = {index for index, slot in slots.items() if slot.pods or slot.said != "Deleted"}
            container, policy = training_name(part(group, "template"), "python"), text(group, "restartPolicy")
            found += (
                slots.get(index, _Slot()).place(name, index, role, container, policy)
                for index in sorted(indexes | slots.keys() if not elastic else indexes)
            )
        return found

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job that a pod belongs to; a job of another kind may have the same name."""
        return owner(pod, GROUP, KIND)

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return the uids of the pods that the job's status names."""
        entries = (entry for task in parts(manifest, "status", "tasks") for entry in _replicas_of(task))
        return {uid for entry in entries if (uid := text(entry, "uid")) is not None}

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that pauses the job, or resumes it; what it resumes with stays as it is.

        Raises
        ------
        Unavailable
            If this cluster's version can't pause.
        """
        if not self.dialect.pause:
            raise Unavailable("This cluster's version of T9k can't pause a job.", hint="Delete it, and run it again.")
        patch: Json = {"spec": {"runMode": {"pause": {self.dialect.switch: on}}}}
        return patch if on else {**patch, "metadata": {"annotations": {STOPPED: None, PAUSED: None}}}

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return the path of the job's TensorBoard on the platform's host (t9k.md §4.3)."""
        board = part(manifest, "status", "tensorboard", "dependent")
        namespace = text(board, "namespace") or text(manifest, "metadata", "namespace") or ""
        name = text(board, "name") or ""
        if not (_DNS_NAME.fullmatch(namespace) and _DNS_NAME.fullmatch(name)):
            return None
        return f"/t9k/tensorboards/projects/{namespace}/name/{name}/"

    def remind_at(self, manifest: Json) -> float | None:
        """Return None: nothing is known of a controller that would need it."""
        return None


# -- replicas ----------------------------------------------------------------------------------------------------------


@dataclass
class _Slot:
    """What is known of one replica: the status's entry and pods.

    `exit_codes` are those of its containers, with their names.
    """

    name: str | None = None
    uid: str | None = None
    said: str | None = None
    exit_codes: tuple[tuple[str | None, int | None], ...] = ()
    pods: tuple[Json, ...] = ()

    def place(self, kind: str, index: int, role: int, container: str | None, policy: str | None) -> ReplicaView:
        pod = newest(self.pods)
        uid = text(pod, "metadata", "uid")
        named = pod is None or self.uid in (None, uid)
        return ReplicaView(
            type=kind,
            index=index,
            role=role,
            container=container,
            pod_name=self.name if pod is None else text(pod, "metadata", "name"),
            pod_uid=self.uid if pod is None else uid,
            said=self.said if named else None,
            exit_code=self._exit_code(container) if named else None,
            policy=policy,
            retried=_RETRIED,
            pod=pod,
        )

    def _exit_code(self, container: str | None) -> int | None:
        codes = [code for name, code in self.exit_codes if name == container] or [code for _, code in self.exit_codes]
        return next(iter(codes), None)


def _slots(entries: list[Json], labelled: list[Json], pods: Sequence[Json]) -> dict[int, _Slot]:
    """Return what is known of a type's replicas by index: what its pod's label says, else its place in the list."""
    by_uid = {uid: pod for pod in pods if (uid := text(pod, "metadata", "uid")) is not None}
    by_name = {name: pod for pod in pods if (name := text(pod, "metadata", "name")) is not None}
    slots: dict[int, _Slot] = {}
    unsure: list[tuple[int, _Slot]] = []
    for position, entry in enumerate(entries[:MOST_PLACES]):
        name, uid = text(entry, "name"), text(entry, "uid")
        pod = by_uid.get(uid) if uid is not None else by_name.get(name or "")
        codes = tuple((text(one, "name"), whole(one, "exitCode")) for one in parts(entry, "containers"))
        slot = _Slot(name, uid, text(entry, "phase"), codes, () if pod is None else (pod,))
        index = _index(pod)
        if index is None or index in slots:
            unsure.append((position, slot))
        else:
            slots[index] = slot
    for position, slot in unsure:
        index = position if position not in slots else next(n for n in range(len(entries)) if n not in slots)
        slots[index] = slot
    for pod in labelled:
        if (index := _index(pod)) is not None:
            slot = slots.setdefault(index, _Slot())
            slot.pods = (*(one for one in slot.pods if one is not pod), pod)
    return slots


def _index(pod: Json | None) -> int | None:
    label = _label(pod, _INDEX_LABEL) or ""
    index = int(label) if re.fullmatch(r"[0-9]{1,5}", label) else MOST_PLACES
    return index if index < MOST_PLACES else None


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
    """Return how many restarts are counted; some versions leave out one of the two numbers."""
    by_type = sum(count(task, "restartCount") for task in parts(manifest, "status", "tasks"))
    return max(count(manifest, "status", "backoffCount"), by_type)


def _became(manifest: Json, condition: str) -> float | None:
    found = conditions(manifest).get(condition)
    return since(found) if holds(found) else None


def _started_at(manifest: Json, master: ReplicaView | None) -> float | None:
    """Return when the master's training container began, or the job ran; else when it was ready to."""
    of_pod = started_at(master) if master is not None else None
    begun = [time for time in (of_pod, _became(manifest, "Running")) if time is not None]
    return min(begun, default=_became(manifest, "Initialized"))


def _ended_at(manifest: Json, master: ReplicaView | None) -> float | None:
    of_pod = ended_at(master) if master is not None else None
    times = (_became(manifest, "Completed"), _became(manifest, "Failed"), of_pod)
    return next((time for time in times if time is not None), None)


def _cause(manifest: Json, phase: Phase) -> tuple[str | None, str | None]:
    """Return why the job is in its phase, in the cluster's words.

    What it does not tell of an end is derived (t9k.md §1.8): no text for a deadline or for restarts that are used up is
    known.
    """
    cause: str | None = None
    message: str | None = None
    for condition in _words(manifest, phase):
        reason, words = said_by(condition)
        cause, message = cause or reason, message or words
    if phase == "Failed" and cause in (None, "Failed", "ErrorInPod"):
        cause = _derived(manifest) or cause
    return cause, message


def _words(manifest: Json, phase: Phase) -> Iterator[Json]:
    found = conditions(manifest)
    for name in _SAID_BY[phase]:
        condition = found.get(name)
        # what has not come yet says why; a failure that is none says that all is well
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
