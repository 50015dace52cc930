"""The protocol of a kind of job object: how to find, read, pause and resume it. A module beside it for each kind."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

from ....core.engine.info import EngineFacts
from ....core.job import EngineName, Phase, Progress
from ....core.manifests import Kind
from ....core.manifests.names import PAUSED, RAN, STOPPED
from ....core.spec import NAME_PATTERN, JobSpec, ReplicaSpec
from ....core.texts.job_names import name_from
from ....core.translation import Text
from ..client.api import Json
from ..client.json_access import moment, part, parts, text

JOBSET: Final = "jobset.sigs.k8s.io/jobset-name"
"""Label of the pods of a JobSet with its name."""

MOST_TYPES: Final = 64
MOST_REPLICAS: Final = 10_000
"""Most replica types, and most replicas of a type, that are shown; a manifest may have any number."""


@dataclass(frozen=True)
class ReplicaView:
    """A replica of a job, with its pod if there is one.

    Attributes
    ----------
    type, index
        Replica type and index as the cluster counts: ``worker``, 0. A PyTorchJob has ``master``, 0 and ``worker``, 0
        even if its specification has one replica type for both (see `group`). The first replica is the master.
    role
        Index of the replica type in the manifest.
    container
        Name of the training container; None if the manifest names none.
    pod_name, pod_uid
        Name and uid of the pod, from the job's status or the pod; None if neither has them.
    said
        Status of the replica in the job's status (``Running``, ``Creating`` …); None if it has none.
    exit_code
        Exit code of the training container in the job's status; it may outlive the pod.
    policy
        Restart policy of the replica type; None if it is not known.
    retried
        Exit codes after which the controller replaces a pod under the policy ``ExitCode``.
    pod
        The newest pod as last seen; None if there is none.
    earlier
        Number of recorded attempts in earlier pods (see `attempts`).
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
        """Return the index of this replica's type in the specification's `replica_specs`.

        Equal Master and Workers are one type there, so not every role has a type of its own.
        """
        return min(self.role, len(spec.replica_specs) - 1)

    def replica_spec(self, spec: JobSpec) -> ReplicaSpec:
        """Return this replica's type in the specification."""
        return spec.replica_specs[self.group(spec)]


@dataclass(frozen=True)
class State:
    """State of a job as its object and its pods give it.

    Attributes
    ----------
    phase
        The phase. A job that was stopped from a lab is ``Failed`` with the cause ``Stopped``. A job counts as stopped
        or paused only when its processes have ended.
    paused
        True if the object's ``spec`` asks for a pause, whether or not it has taken effect.
    held
        True if a queue suspended the job. A user's own pause is `paused`.
    started_at, ended_at
        Seconds since the epoch; None if neither the object nor its pods have the time.
    restarts
        Number of restarts that the object and its pods report; the recorded attempts may contain more.
    used_up
        True if the job has reached its limit of restarts.
    cause
        The cluster's code for the cause of the phase (``BackoffLimitExceeded`` …); never the literal ``-``.
    message
        The cluster's message about the cause.
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
    """One kind of job object. All methods take raw JSON of any shape and don't raise because of its shape."""

    engine: EngineName
    facts: EngineFacts
    order: int
    """Position of the engine in lists, see `Engine.order`."""
    manifests: Kind
    dialects: bool
    """True if the kind has had more than one spelling, which its schema tells."""
    together: bool
    """True if all replicas start again when one has failed: that is one restart of the job."""
    dialect: Any
    """Spelling that the cluster uses; None for kinds with one spelling."""
    label: Text
    """Name for users: “T9k”, “Kubeflow”."""
    group: str
    version: str
    plural: str
    kind: str
    queues: str
    """API group of the queues that jobs of the kind are put into."""

    def state(
        self,
        manifest: Json,
        pods: Sequence[Json],
        *,
        before: Phase | None = None,
        replicas: Sequence[ReplicaView] | None = None,
    ) -> State:
        """Return the state of a job.

        Parameters
        ----------
        manifest
            The job's object.
        pods
            Its pods, found by `owner_of` and `pod_uids`.
        before
            The last known phase: a running job stays running while one of its replicas starts again.
        replicas
            What `replicas` returns for the object and the pods, if the caller knows it already.
        """

    def replicas(self, manifest: Json, pods: Sequence[Json]) -> list[ReplicaView]:
        """Return the replicas in the order of the manifest, with their newest pods.

        Parameters
        ----------
        manifest
            The job's object.
        pods
            Its pods.
        """

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job of this kind that owns a pod; None if no job of this kind does."""

    def pod_uids(self, manifest: Json) -> set[str]:
        """Return the uids of the pods in the job's status: they belong to the job, whatever `owner_of` returns."""

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that pauses or resumes a job.

        The patch of a resume also removes the annotations of a pause and a stop. For a pause or a stop, the caller adds
        the annotation, see `action_notes`.

        Parameters
        ----------
        manifest
            The job's object.
        on
            True to pause the job, False to resume it.
        """

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return the page of the TensorBoard that the platform runs for a job; None if it runs none."""

    def remind_at(self, manifest: Json) -> float | None:
        """Return when an active job's deadline passes without its controller noticing; None if it notices by itself.

        Any change of the object makes the controller notice; `DeadlineNudge` writes the time into the annotation
        `names.REMINDED`. The time is in seconds since the epoch.
        """


@runtime_checkable
class SharedKind(JobKind, Protocol):
    """A kind whose objects other programs make too: only the objects with a label are jobs.

    An account without permissions on such a kind does not miss anything, so the engine is unavailable and its objects
    are not watched.
    """

    label_name: str
    label_value: str
    least_version: tuple[int, int]
    """First version of Kubernetes in which jobs of the kind work."""


@runtime_checkable
class HasCompanions(JobKind, Protocol):
    """A kind whose jobs need objects beside their own; they are created after the job and deleted with it."""

    def companions(self, manifest: Json) -> list[Json]:
        """Return the objects that a job needs beside its own, without their namespace and owner.

        Parameters
        ----------
        manifest
            The job's object.
        """


def selector_of(kind: JobKind) -> str | None:
    """Return the label selector of a kind's jobs; None if all objects of the kind are jobs."""
    return f"{kind.label_name}={kind.label_value}" if isinstance(kind, SharedKind) else None


@runtime_checkable
class NamesJobs(Protocol):
    """A kind whose pods belong to other objects, which have a part of the job's name; a `JobKind` may be one too.

    A name may be used again. A pod or an event therefore counts as the job's only if it is not older than the job.
    """

    def job_name_of(self, pod: Json) -> str | None:
        """Return the name of the job of this kind to which a pod belongs; None if it belongs to none."""

    def job_named_in(self, event: Json) -> str | None:
        """Return the name of the job of this kind about whose objects an event is; None for the job itself."""


@runtime_checkable
class ReportsProgress(Protocol):
    """A kind whose objects may have the progress of their training; a `JobKind` may be one too."""

    def progress(self, manifest: Json) -> Progress | None:
        """Return the progress that a job's object has; None if it has none, so that it is read from the log."""


def newest(pods: Iterable[Json]) -> Json | None:
    """Return the pod that was created last; None if there are none."""
    return max(pods, key=lambda pod: moment(pod, "metadata", "creationTimestamp") or 0.0, default=None)


# -- shared by the kinds -----------------------------------------------------------------------------------------------


def stopped(manifest: Json) -> bool:
    """Return True if the job was stopped from a lab. A stopped job is paused; the annotation goes when it resumes."""
    return text(manifest, "metadata", "annotations", STOPPED) is not None


def resumed(patch: Json) -> Json:
    """Return the merge patch of a resume, which also removes the annotations of a pause and a stop."""
    return {**patch, "metadata": {"annotations": {STOPPED: None, PAUSED: None}}}


def noted_pause(*, on: bool, ran: bool) -> Json:
    """Return the merge patch that suspends or resumes a job whose status forgets that it ran: an annotation says so.

    Parameters
    ----------
    on
        True to suspend.
    ran
        True if the job runs, or ran before.
    """
    patch: Json = {"spec": {"suspend": on}}
    if not on:
        return resumed(patch)
    return {**patch, "metadata": {"annotations": {RAN: "true"}}} if ran else patch


def index_in(pod: Json | None, label: str) -> int | None:
    """Return a replica's index in a label of its pod; None if the pod has none, or one that is not shown.

    Parameters
    ----------
    pod
        The pod.
    label
        Name of the label.
    """
    written = text(pod, "metadata", "labels", label) or ""
    index = int(written) if re.fullmatch(r"[0-9]{1,5}", written) else MOST_REPLICAS
    return index if index < MOST_REPLICAS else None


def owner(pod: Json, group: str, kind: str) -> str | None:
    """Return the uid of the owner in a pod's `ownerReferences`; None if the pod has no owner of the kind.

    Parameters
    ----------
    pod
        The pod.
    group, kind
        API group and kind of the owner.
    """
    for reference in parts(pod, "metadata", "ownerReferences"):
        version = text(reference, "apiVersion") or ""
        if reference.get("kind") == kind and version.partition("/")[0] == group:
            return text(reference, "uid")
    return None


def conditions(manifest: Json) -> dict[str, Json]:
    """Return the conditions of an object by type; the last one if a type occurs several times."""
    return {kind: one for one in parts(manifest, "status", "conditions") if (kind := text(one, "type")) is not None}


def holds(condition: Json | None) -> bool:
    """Return True if a condition exists and its status is true."""
    return part(condition).get("status") in ("True", True)


def since(condition: Json | None) -> float | None:
    """Return the time of a condition's last transition, in seconds since the epoch."""
    return moment(condition, "lastTransitionTime")


def reason_and_message(condition: Json | None) -> tuple[str | None, str | None]:
    """Return a condition's reason and message; T9k's literal ``-`` counts as None (t9k-facts.md, States)."""
    reason, message = text(condition, "reason"), text(condition, "message")
    return (None if reason == "-" else reason), (None if message == "-" else message)


def type_names(written: Iterable[str]) -> list[str]:
    """Return unique lower-case names of replica types, as a specification has them."""
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
    """Return True if the deletion of a pod was requested."""
    return text(pod, "metadata", "deletionTimestamp") is not None


def training_name(template: Json, insisted: str | None) -> str | None:
    """Return the name of the training container (t9k-facts.md, Launch); None if there are no containers.

    Parameters
    ----------
    template
        The pod template.
    insisted
        Name that the kind requires; the first container is used if no container has this name.
    """
    names = [text(container, "name") for container in parts(template, "spec", "containers")]
    return insisted if insisted in names else next(iter(names), None)
