"""Events of a job and its pods: both APIs that have them, newest first, repeats folded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ....core.job import Event
from ..client.api import Json
from ..client.json_access import count, moment, part, text
from .attempts import AttemptRecord
from .kinds import ReplicaView
from .text import named, plain, quoted


@dataclass(frozen=True)
class Happening:
    """An event as the cluster tells it, whichever API it comes from.

    Attributes
    ----------
    kind, name, uid
        The object that it happened to.
    reason, message, warning
        What happened, in the cluster's words.
    first, last
        Seconds since the epoch; 0 where no time can be read.
    count
        How often it was seen.
    made
        When the event was first reported, in nanoseconds since the epoch; 0 where its name does not tell.
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


def read(event: Json) -> Happening:
    """Read a ``v1`` or an ``events.k8s.io/v1`` Event.

    Who reports through the newer API leaves the old fields empty, and counts repeats in a series.
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
    return Happening(
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


def newest_first(events: Iterable[Json]) -> list[Happening]:
    """Read events, the newest first."""
    return sorted(map(read, events), key=_age, reverse=True)


def events_of(
    events: Iterable[Json], places: Sequence[ReplicaView], lives: Mapping[str, Sequence[AttemptRecord]] | None = None
) -> list[Event]:
    """Return the events as the API gives them, newest first, with the replica that each is about.

    What was seen of the replicas' attempts (`lives`, by their names) tells whose the pods were that are gone.
    """
    replicas = {life["pod_uid"]: name for name, seen in (lives or {}).items() for life in seen}
    replicas |= {place.pod_uid: place.name for place in places if place.pod_uid}
    replicas |= {place.pod_name: place.name for place in places if place.pod_name}
    folded: dict[tuple[str, ...], list[Happening]] = {}
    for one in map(read, events):
        key = (one.kind, one.name, one.uid, one.reason, one.message, str(one.warning))
        folded.setdefault(key, []).append(one)
    ordered = sorted(folded.values(), key=lambda same: max(map(_age, same)), reverse=True)
    return [_event(same, replicas) for same in ordered]


def _event(same: list[Happening], replicas: dict[str, str]) -> Event:
    one = same[0]
    first, last = min(item.first for item in same), max(item.last for item in same)
    times = sum(item.count for item in same)
    replica = replicas.get(one.uid) or replicas.get(one.name) if one.kind == "Pod" else None
    return Event(
        time=last,
        type="Warning" if one.warning else "Normal",
        reason=named(one.reason),
        message=quoted(one.message) or "",
        replica=replica,
        object=plain(f"{one.kind} {one.name}") or None,
        count=times,
        first_time=first if times > 1 else None,
    )


def _age(one: Happening) -> tuple[float, int]:
    return one.last, one.made


def _made(name: str) -> int:
    """Read when an event was made out of its name, for its times are whole seconds.

    Kubernetes' own recorder calls it ``<object>.<nanoseconds since the epoch, in hexadecimal digits>``.
    """
    digits = name.rpartition(".")[2]
    return int(digits, 16) if re.fullmatch("[0-9a-f]{16}", digits) else 0


def _first(*times: float | None) -> float:
    return next((time for time in times if time), 0.0)
