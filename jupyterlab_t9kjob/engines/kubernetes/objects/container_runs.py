"""The lives of a pod's containers, as far as the cluster's API still gives their logs: the present one and the last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ....logs.storage.records import SpoolRecord
from ..client.api import Json
from ..client.json_access import count, moment, part, text, value
from .kinds import ReplicaView
from .pods import containers, training

Source = Literal["container", "init"]

_NAME: Final = re.compile(r"[A-Za-z0-9][-A-Za-z0-9._]{0,252}")
"""What a uid and a container's name look like: they become parts of a path."""


@dataclass(frozen=True)
class ContainerRun:
    """One life of a container.

    Attributes
    ----------
    restart
        Restarts before it in this pod.
    container_id
        The runtime's, which tells it from all others.
    started_at, ended_at
        Seconds since the epoch; the second is None while it runs.
    """

    restart: int
    container_id: str
    started_at: float | None
    ended_at: float | None


@dataclass(frozen=True)
class ContainerState:
    """A container of a pod as the cluster tells it.

    Attributes
    ----------
    pod, pod_uid
        Name and uid of its pod.
    name
        Its own.
    source
        Whether it is an init container.
    main
        Whether it is the one that trains.
    current
        The life whose log the API gives when asked for no other; None if there was none yet.
    previous
        The one before that, whose log the API gives as well.
    waits
        Whether it is still to be started, for the first time or again.
    """

    pod: str
    pod_uid: str
    name: str
    source: Source
    main: bool
    current: ContainerRun | None
    previous: ContainerRun | None
    waits: bool

    @property
    def runs(self) -> bool:
        """Whether it runs now."""
        return self.current is not None and self.current.ended_at is None


def gone(record: SpoolRecord) -> ContainerState:
    """Return the container of a record as one of a pod that is not there any more."""
    source: Source = "init" if record.source == "init" else "container"
    return ContainerState(record.pod, record.pod_uid, record.container, source, record.main, None, None, waits=False)


def containers_of(place: ReplicaView) -> list[ContainerState]:
    """Return the containers of a place's pod: those that initialise it first, in the pod's order."""
    uid = text(place.pod, "metadata", "uid") or ""
    pod = text(place.pod, "metadata", "name") or ""
    if not _NAME.fullmatch(uid) or not _NAME.fullmatch(pod):
        return []
    trains = text(training(place), "name")
    found = []
    for source, name, status in _statuses(place):
        current, previous = lives_of(status)
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
            )
        )
    return found


def _statuses(place: ReplicaView) -> Iterator[tuple[Source, str, Json]]:
    for init, container, status in containers(place.pod):
        name = text(container, "name")
        if name is not None and _NAME.fullmatch(name):
            yield "init" if init else "container", name, status


def lives_of(status: Json) -> tuple[ContainerRun | None, ContainerRun | None]:
    """Return a container's present life and the one before; of one that waits the last one is the present one.

    That is how the API takes it that is asked for its log.
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
