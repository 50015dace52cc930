"""Why one replica, or a container of its pod, waits, has failed or goes on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ....core.job import Reason
from ..client.api import Json
from ..client.json_access import text
from ..objects.events import kind_of, newest_first, uid_of
from ..objects.kinds import ReplicaView, State
from ..objects.pods import has_ended, trained
from ..objects.text import joined, listed, made
from ..scheduling.node_fit import ClusterRoom
from .api_refusals import of_pods
from .exits import Ending, ending_of, lost
from .finished import leaving, lingering, starts_again
from .pod_pending import waiting, waiting_container

_AGAIN: Final = "It starts again by itself."
_NO_ISTIO: Final = 'The annotation sidecar.istio.io/inject: "false" on its pods keeps Istio out of the next job.'


def place_reason(
    place: ReplicaView, state: State, events: Sequence[Json], *, now: float, room: ClusterRoom | None = None
) -> Reason | None:
    """Return why one replica waits or failed; None where its status says it all.

    Parameters
    ----------
    place, state
        The replica, and its job's state.
    events
        The cluster's events of its pod, or of the job where it has none; in any order.
    now
        Seconds since the epoch: a long wait counts up.
    room
        What the cluster has, where that is known.
    """
    if place.pod is None:
        return of_pods(newest_first(event for event in events if kind_of(event) != "Pod"), place, now=now)
    own = [event for event in events if uid_of(event) == place.pod_uid]
    return of_pod(place, state, own, now=now, room=room)


def container_reason(place: ReplicaView, name: str, events: Sequence[Json], *, now: float) -> Reason | None:
    """Return why one container of a replica's pod, which waits, is not started.

    Parameters
    ----------
    place, now
        See `place_reason`.
    name
        The container's.
    events
        The cluster's events of the pod, in any order.
    """
    going, reason = lost(place), waiting_container(place, name, events, now=now)
    if going is not None:
        return _of_lost(going, None)
    ending = ending_of(place) if reason is None else None
    if ending is None:
        return reason
    return made(ending.code, ending.words[0].upper() + ending.words[1:], ending.hint, verbatim=ending.verbatim)


def of_pod(
    place: ReplicaView, state: State, events: Sequence[Json], *, now: float, room: ClusterRoom | None = None
) -> Reason | None:
    """Return why a replica that has a pod does not run; None if it runs, or nothing is amiss with its end."""
    cordoned = room.cordoned if room is not None else ()
    over = state.phase in ("Succeeded", "Failed") or state.paused
    going = lost(place, cordoned)
    if going is not None and going.code == "PodDeleted" and over:
        return None  # it is cleaned up, or paused
    if going is not None:
        return _of_lost(going, starts_again(place, state))
    if not trained(place) and (reason := waiting(place, events, now=now, room=room)) is not None:
        return reason
    ending = ending_of(place, cordoned)
    if ending is not None and ending.code == "PodDeleted" and over:
        return None
    if ending is None and (has_ended(place.pod) or not trained(place)):
        return None
    return _of_ending(place, state, ending)


def _of_lost(going: Ending, again: bool | None) -> Reason:
    """Say why a pod is being ended from outside."""
    words = "is being deleted" if going.code == "PodDeleted" else going.words
    held = "The cluster keeps its pod until the node is back, or taken out."
    hint = held if going.code == "NodeLost" else joined(going.hint, _AGAIN if again else None)
    return made(going.code, f"Its pod {words}", hint, verbatim=going.verbatim)


def _of_ending(place: ReplicaView, state: State, ending: Ending | None) -> Reason:
    """Say how a replica's training ended, whether it starts again, and what keeps its pod from ending."""
    words = ending.words if ending is not None else "ended without an error (0)"
    again, holding = starts_again(place, state), lingering(place)
    if again and holding and text(place.pod, "spec", "restartPolicy") in (None, "Never"):
        verb = "has" if len(holding) == 1 else "have"
        sentence = f"Its last attempt {words}; it starts again once its {_containers(holding)} {verb} ended"
    elif again and not has_ended(place.pod):
        sentence = f"Its last attempt {words}; it starts again"
    else:
        sentence = words[0].upper() + words[1:] + going_on([place])
    hint = joined(ending.hint if ending is not None else None, _AGAIN if again and has_ended(place.pod) else None)
    if not again:
        hint = joined(hint, held_by(holding))
    code = ending.code if ending is not None else "TrainingEnded"
    return made(code, sentence, hint, verbatim=ending.verbatim if ending is not None else None)


def going_on(places: Sequence[ReplicaView]) -> str:
    """Say what still runs in pods whose training has ended, to stand after how it ended."""
    one = len(places) == 1
    holding, sidecars = names_of(map(lingering, places)), names_of(map(leaving, places))
    if holding:
        verb = "runs" if len(holding) == 1 else "run"
        return f"; {'its pod goes' if one else 'their pods go'} on, for the {_containers(holding)} still {verb}"
    if sidecars:
        return f"; {'its pod ends' if one else 'their pods end'} as soon as {listed(sidecars)} has ended"
    return ""


def held_by(holding: Sequence[str]) -> str | None:
    """Say what to do about containers that keep a pod from ending; None without any."""
    if not holding:
        return None
    which = "that container has" if len(holding) == 1 else "those containers have"
    stop = f"The cluster counts the job as running until {which} ended. Stop or delete it to free what it holds."
    return joined(stop, _NO_ISTIO if "istio-proxy" in holding else None)


def _containers(names: Sequence[str]) -> str:
    return f"container{'' if len(names) == 1 else 's'} {listed(names)}"


def names_of(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the names of all lists, each one once."""
    return list(dict.fromkeys(name for names in lists for name in names))
