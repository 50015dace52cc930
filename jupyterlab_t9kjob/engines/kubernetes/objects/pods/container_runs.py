"""Runs of a pod's containers whose logs the API server still gives: the present run and the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from .....logs.storage.records import SpoolRecord
from ...client.api import Json
from ...client.json_access import count, moment, part, text, value
from ..kinds import ReplicaView
from .pod import containers, training

Source = Literal["container", "init"]

_NAME: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._]{0,252}")
"""Form of uids and container names; they become parts of a path."""


@dataclass(frozen=True)
class ContainerRun:
    """One run of a container.

    Attributes
    ----------
    restart
        Number of restarts in this pod before the run.
    container_id
        Id that the container runtime gave the run; it is unique.
    started_at, ended_at
        Seconds since the epoch; `ended_at` is None while the container runs.
    """

    restart: int
    container_id: str
    started_at: float | None
    ended_at: float | None


@dataclass(frozen=True)
class ContainerState:
    """State of a container in its pod's status.

    Attributes
    ----------
    pod, pod_uid
        Name and uid of the pod.
    name
        Name of the container.
    source
        ``init`` for an init container.
    main
        True for the training container.
    current
        Run whose log the API server gives by default; None if there was no run yet.
    previous
        Run whose log the API server gives with ``previous=true``; None if there is none.
    waits
        True if the container is yet to be started, for the first time or again.
    may_restart
        True if the node may start the container again after its end.
    """

    pod: str
    pod_uid: str
    name: str
    source: Source
    main: bool
    current: ContainerRun | None
    previous: ContainerRun | None
    waits: bool
    may_restart: bool

    @property
    def runs(self) -> bool:
        """True if the container runs now."""
        return self.current is not None and self.current.ended_at is None


def gone(record: SpoolRecord) -> ContainerState:
    """Return the container of a spool's record as a container of a pod that no longer exists."""
    source: Source = "init" if record.source == "init" else "container"
    return ContainerState(
        pod=record.pod,
        pod_uid=record.pod_uid,
        name=record.container,
        source=source,
        main=record.main,
        current=None,
        previous=None,
        waits=False,
        may_restart=False,
    )


def containers_of(replica: ReplicaView) -> list[ContainerState]:
    """Return the containers of a replica's pod in the order in which they start: init containers first."""
    uid = text(replica.pod, "metadata", "uid") or ""
    pod = text(replica.pod, "metadata", "name") or ""
    if not _NAME.fullmatch(uid) or not _NAME.fullmatch(pod):
        return []
    trains = text(training(replica), "name")
    ends = text(replica.pod, "status", "phase") in ("Succeeded", "Failed")
    found = []
    for source, name, policy, status in _statuses(replica):
        current, previous = runs_of(status)
        found.append(
            ContainerState(
                pod=pod,
                pod_uid=uid,
                name=name,
                source=source,
                main=source == "container" and name == trains,
                current=current,
                previous=previous,
                waits=not status or bool(part(status, "state", "waiting")),
                may_restart=not ends and policy != "Never",
            )
        )
    return found


def _statuses(replica: ReplicaView) -> Iterator[tuple[Source, str, str | None, Json]]:
    """Yield the kind, name, restart policy and status of each container."""
    of_pod = text(replica.pod, "spec", "restartPolicy")
    for init, container, status in containers(replica.pod):
        name = text(container, "name")
        if name is not None and _NAME.fullmatch(name):
            yield "init" if init else "container", name, text(container, "restartPolicy") or of_pod, status


def runs_of(status: Json) -> tuple[ContainerRun | None, ContainerRun | None]:
    """Return a container's present run and the run before, as the API server counts them for logs.

    While a container waits for its next run, the last run is the present one.
    """
    restarts = count(status, "restartCount")
    last = part(status, "lastState", "terminated")
    ended = part(status, "state", "terminated")
    if isinstance(value(status, "state", "running"), dict):
        container_id = text(status, "containerID")
        current = (
            ContainerRun(restarts, container_id, moment(status, "state", "running", "startedAt"), None)
            if container_id is not None
            else None
        )
    else:
        current = _ended(ended, restarts)
    if current is None:
        return _ended(last, restarts), None
    return current, _ended(last, restarts - 1) if restarts else None


def _ended(terminated: Json, restart: int) -> ContainerRun | None:
    container_id = text(terminated, "containerID")
    if container_id is None:
        return None
    ended_at = moment(terminated, "finishedAt")
    return ContainerRun(
        restart, container_id, moment(terminated, "startedAt"), ended_at if ended_at is not None else 0.0
    )
