"""What an engine asks of a kind of job: how to find, read, pause and resume it. See `t9k` and `kubeflow`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...core.job import EngineName, Phase
from ...core.manifests import Kind
from .transport import Json


@dataclass(frozen=True)
class Place:
    """A replica of a job, with its pod if there is one.

    Attributes
    ----------
    type, index
        As the job's spec counts: ``worker``, 0. The first place of all is the master.
    pod_name, pod_uid
        As the job's status names them, or the pod's own; None where neither does.
    said
        What the job's status says of it (``Running``, ``Creating`` …), if anything.
    pod
        The pod, as last seen; None if it is not there (any more).
    """

    type: str
    index: int
    pod_name: str | None = None
    pod_uid: str | None = None
    said: str | None = None
    pod: Json | None = None

    @property
    def name(self) -> str:
        """The replica's name: ``worker-0``."""
        return f"{self.type}-{self.index}"


@dataclass(frozen=True)
class State:
    """What a job's object says of it.

    Attributes
    ----------
    phase
        One of the seven.
    paused
        Whether its spec asks for a pause, reached or not.
    started_at, ended_at
        Seconds since the epoch, as far as the object or its pods still tell.
    restarts
        How many are counted.
    cause
        The cluster's code of why it is so (``BackoffLimitExceeded`` …); never the literal ``-``.
    message
        The cluster's own words for that.
    """

    phase: Phase
    paused: bool = False
    started_at: float | None = None
    ended_at: float | None = None
    restarts: int = 0
    cause: str | None = None
    message: str | None = None


class JobKind(Protocol):
    """One kind of job object."""

    engine: EngineName
    manifests: Kind
    label: str
    """For people: “T9k”, “Kubeflow”."""
    group: str
    version: str
    plural: str
    kind: str

    def state(self, manifest: Json, pods: Sequence[Json]) -> State:
        """Return what the object and its pods say; `pods` are those of `owner_of`."""

    def places(self, manifest: Json, pods: Sequence[Json]) -> list[Place]:
        """Return the replicas in the spec's order, with their newest pods."""

    def owner_of(self, pod: Json) -> str | None:
        """Return the uid of the job of this kind that a pod belongs to; None if it is none's."""

    def pause(self, manifest: Json, *, on: bool) -> Json:
        """Return the merge patch that pauses the job, or resumes it."""

    def tensorboard_url(self, manifest: Json) -> str | None:
        """Return the page of the TensorBoard that the platform runs for it, if it does."""


def newest(pods: Iterable[Json]) -> Json | None:
    """Return the pod that was made last."""
    return max(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp") or ""), default=None)
