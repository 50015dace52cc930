"""What an engine asks of a kind of job: how to find, read, pause and resume it. See `t9k` and `kubeflow`."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from ....core.engine_facts import EngineFacts
from ....core.job import EngineName, Phase
from ....core.manifests import Kind
from ....core.manifests.names import STOPPED
from ....core.spec import NAME_PATTERN, JobSpec, ReplicaSpec, name_from
from ..client.api import Json
from ..client.json_access import moment, part, parts, text

MOST_TYPES: Final = 64
MOST_PLACES: Final = 10_000
"""Replica types, and replicas of a type, that are shown; a manifest may say any number."""


@dataclass(frozen=True)
class ReplicaView:
    """A replica of a job, with its pod if there is one.

    Attributes
    ----------
    type, index
        As the cluster counts: ``worker``, 0; of a PyTorchJob ``master``, 0 and ``worker``, 0, also where its spec
        has one replica type for both (see `group`). The first place of all is the master.
    role
        Number of the type among the manifest's, from 0.
    container
        Name of the container that trains; None if the manifest tells none.
    pod_name, pod_uid
        As the job's status names them, or the pod's own; None where neither does.
    said
        What the job's status says of it (``Running``, ``Creating`` …), if anything.
    exit_code
        Of the training container, where the job's status tells it; it may outlive the pod.
    policy
        The replica type's restart policy; None if neither the manifest nor the kind's default tells it.
    retried
        Exit codes after which the controller replaces a pod under the policy ``ExitCode``.
    pod
        The pod, as last seen; None if it is not there (any more).
    earlier
        How many attempts it had in earlier pods, as far as they were seen (see `attempts`).
    """

    type: str
    index: int
    role: int = 0
    container: str | None = None
    pod_name: str | None = None
    pod_uid: str | None = None
    said: str | None = None
    exit_code: int | None = None
    policy: str | None = None
    retried: Container[int] = ()
    pod: Json | None = None
    earlier: int = 0

    @property
    def name(self) -> str:
        """The replica's name: ``worker-0``; safe as a part of a path."""
        return f"{self.type}-{self.index}"

    def group(self, spec: JobSpec) -> int:
        """Return which of the spec's `replica_specs` describes it.

        A Master and Workers that do the same are one type of the spec, so not every role has one of its own.
        """
        return min(self.role, len(spec.replica_specs) - 1)

    def replica_spec(self, spec: JobSpec) -> ReplicaSpec:
        """Return what describes it in the spec."""
        return spec.replica_specs[self.group(spec)]


@dataclass(frozen=True)
class State:
    """What a job's object says of it.

    Attributes
    ----------
    phase
        One of the seven. A job that was stopped by us is Failed with `cause` ``Stopped``. Neither a stop nor a pause is
        reached before its processes have ended.
    paused
        Whether its spec asks for a pause, reached or not.
    started_at, ended_at
        Seconds since the epoch, as far as the object or its pods still tell.
    restarts
        How many are counted, as far as the object and its pods still tell: the attempts of its replicas may know more.
    used_up
        Whether that are as many as the job may have.
    held
        Whether a queue keeps it from running, which is no pause of anybody's.
    cause
        The cluster's code of why it is so (``BackoffLimitExceeded`` …); never the literal ``-``.
    message
        The cluster's own words for that.
    """

    phase: Phase
    paused: bool = False
    held: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    restarts: int = 0
    used_up: bool = False
    cause: str | None = None
    message: str | None = None


class JobKind(Protocol):
    """One kind of job object; every method takes raw JSON of any shape and never raises because of it."""

    engine: EngineName
    facts: EngineFacts
    manifests: Kind
    label: str
    """For people: “T9k”, “Kubeflow”."""
    group: str
    version: str
    plural: str
    kind: str
    queues: str
    """API group whose queues such a job is put into."""

    def state(self, manifest: Json, pods: Sequence[Json], *, before: Phase | None = None) -> State:
        """Return what the object and its pods say.

        Parameters
        ----------
        manifest
            The object.
        pods
            Those of `owner_of` and `pod_uids`.
        before
            The phase in which it was last seen: a job that runs still does while a replica of it starts again.
        """

    def places(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas in the spec's order, with their newest pods."""

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job of this kind that a pod belongs to; None if it is none's."""

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return the uids of the pods that the job's status names: they are its own, whatever `owner_of` says."""

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that pauses the job, or resumes it; to resume takes the notes of pause and stop away.

        Who pauses or stops it adds its note itself, see `action_notes`.
        """

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return the page of the TensorBoard that the platform runs for it, if it does."""

    def remind_at(self, manifest: Json) -> float | None:
        """Return when the job's controller has to be made to look at it again; None if it looks by itself.

        Any change of the object does that; we put this time into its annotation `names.REMINDED`. In seconds since the
        epoch.
        """


def newest(pods: Iterable[Json]) -> Json | None:
    """Return the pod that was made last."""
    return max(pods, key=lambda pod: moment(pod, "metadata", "creationTimestamp") or 0.0, default=None)


# -- what both kinds share ---------------------------------------------------------------------------------------------


def stopped(manifest: Json) -> bool:
    """Whether we have stopped the job; it is so as long as it stays paused."""
    return text(manifest, "metadata", "annotations", STOPPED) is not None


def owner(pod: Json, group: str, kind: str) -> str | None:
    """Return the uid of a pod's owner of a kind, by its `ownerReferences`."""
    for reference in parts(pod, "metadata", "ownerReferences"):
        version = text(reference, "apiVersion") or ""
        if reference.get("kind") == kind and version.partition("/")[0] == group:
            return text(reference, "uid")
    return None


def conditions(manifest: Json) -> dict[str, Json]:
    """Return the conditions of a job by type; of several of a type the last one."""
    return {kind: one for one in parts(manifest, "status", "conditions") if (kind := text(one, "type")) is not None}


def holds(condition: Json | None) -> bool:
    """Whether a condition is there and true."""
    return part(condition).get("status") in ("True", True)


def since(condition: Json | None) -> float | None:
    """Return when a condition became what it is, in seconds since the epoch."""
    return moment(condition, "lastTransitionTime")


def said_by(condition: Json | None) -> tuple[str | None, str | None]:
    """Return a condition's reason and message; T9k's literal ``-`` is none (t9k.md §1.8)."""
    reason, message = text(condition, "reason"), text(condition, "message")
    return (None if reason == "-" else reason), (None if message == "-" else message)


def type_names(written: Iterable[str]) -> list[str]:
    """Return the names of replica types as a spec has them, in small letters, each one once."""
    names: list[str] = []
    for kind in written:
        plain = name = kind if re.fullmatch(NAME_PATTERN, kind) else name_from(kind)
        number = 1
        while name in names:
            number += 1
            name = f"{plain[:36]}-{number}"
        names.append(name)
    return names


def is_terminating(pod: Json) -> bool:
    """Whether a pod has been asked to end."""
    return text(pod, "metadata", "deletionTimestamp") is not None


def training_name(template: Json, insisted: str | None) -> str | None:
    """Return the name of the container that trains: the one that the kind insists on, else the first (t9k.md §1.4)."""
    names = [text(container, "name") for container in parts(template, "spec", "containers")]
    return insisted if insisted in names else next(iter(names), None)
