"""Events of a job and its pods, from both APIs of Kubernetes: newest first, repeats folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....core.job import Event
from ....core.translation import Text
from ..client.api import Json
from ..client.json_access import count, moment, part, text
from .kinds import ReplicaView
from .pods.attempts import AttemptRecord
from .text import named, plain, quoted


@dataclass(frozen=True)
class ClusterEvent:
    """An event of the cluster, whichever API it comes from.

    Attributes
    ----------
    kind, name, uid
        The object that the event is about.
    reason, message
        Reason and message in the cluster's words.
    warning
        True if the event's type is ``Warning``.
    first, last
        First and last occurrence in seconds since the epoch; 0 if no time can be read.
    count
        Number of occurrences.
    made
        Time of the first report in nanoseconds since the epoch; 0 if the event's name does not contain it.
    """

    kind: str
    name: str
    uid: str
    reason: str
    message: str
    warning: bool
    first: float
    last: float
    count: int
    made: int


def uid_of(event: Json) -> str:
    """Return the uid of the object that an event is about; empty without one."""
    return text(event, "involvedObject", "uid") or text(event, "regarding", "uid") or ""


def kind_of(event: Json) -> str:
    """Return the kind of the object that an event is about; empty without one."""
    return text(event, "involvedObject", "kind") or text(event, "regarding", "kind") or ""


def name_of(event: Json) -> str:
    """Return the name of the object that an event is about; empty without one."""
    return text(event, "involvedObject", "name") or text(event, "regarding", "name") or ""


def read(event: Json) -> ClusterEvent:
    """Read a ``v1`` or an ``events.k8s.io/v1`` Event.

    Events that were reported through the newer API have empty old fields and count repeats in a series.
    """
    about = part(event, "involvedObject") or part(event, "regarding")
    series = part(event, "series")
    begun = moment(event, "eventTime")
    first = _first(moment(event, "firstTimestamp"), moment(event, "deprecatedFirstTimestamp"), begun)
    last = _first(
        moment(series, "lastObservedTime"),
        moment(event, "lastTimestamp"),
        moment(event, "deprecatedLastTimestamp"),
        begun,
        moment(event, "metadata", "creationTimestamp"),
    )
    return ClusterEvent(
        kind=text(about, "kind") or "",
        name=text(about, "name") or "",
        uid=text(about, "uid") or "",
        reason=text(event, "reason") or "",
        message=text(event, "message") or text(event, "note") or "",
        warning=text(event, "type") == "Warning",
        first=min(first or last, last),
        last=last,
        count=max(1, count(series, "count"), count(event, "count"), count(event, "deprecatedCount")),
        made=_made(text(event, "metadata", "name") or ""),
    )


def newest_first(events: Iterable[Json]) -> list[ClusterEvent]:
    """Read events and sort them, newest first."""
    return sorted(map(read, events), key=_age, reverse=True)


def events_of(
    events: Iterable[Json],
    replicas: Sequence[ReplicaView],
    attempts: Mapping[str, Sequence[AttemptRecord]] | None = None,
) -> list[Event]:
    """Return the API's models of events, newest first, with the replica that each event is about.

    Parameters
    ----------
    events
        The cluster's events.
    replicas
        The replicas with their newest pods.
    attempts
        Recorded attempts by the replicas' names; they name the replicas of pods that no longer exist.
    """
    names = {attempt["pod_uid"]: name for name, recorded in (attempts or {}).items() for attempt in recorded}
    names |= {replica.pod_uid: replica.name for replica in replicas if replica.pod_uid}
    names |= {replica.pod_name: replica.name for replica in replicas if replica.pod_name}
    folded: dict[tuple[str, ...], list[ClusterEvent]] = {}
    for one in map(read, events):
        key = (one.kind, one.name, one.uid, one.reason, one.message, str(one.warning))
        folded.setdefault(key, []).append(one)
    ordered = sorted(folded.values(), key=lambda same: max(map(_age, same)), reverse=True)
    return [_event(same, names) for same in ordered]


def _event(same: list[ClusterEvent], names: dict[str, str]) -> Event:
    one = same[0]
    first, last = min(item.first for item in same), max(item.last for item in same)
    times = sum(item.count for item in same)
    replica = names.get(one.uid) or names.get(one.name) if one.kind == "Pod" else None
    return Event(
        time=last,
        type="Warning" if one.warning else "Normal",
        reason=named(one.reason),
        message=Text.verbatim(quoted(one.message) or ""),
        replica=replica,
        object=plain(f"{one.kind} {one.name}") or None,
        count=times,
        first_time=first if times > 1 else None,
    )


def _age(one: ClusterEvent) -> tuple[float, int]:
    return one.last, one.made


def _made(name: str) -> int:
    """Return the time of an event from its name, since the event's own times are whole seconds.

    Kubernetes' recorder names events ``<object>.<nanoseconds since the epoch, in hexadecimal digits>``.
    """
    digits = name.rpartition(".")[2]
    return int(digits, 16) if re.fullmatch("[0-9a-f]{16}", digits) else 0


def _first(*times: float | None) -> float:
    return next((time for time in times if time), 0.0)
