"""Which replica's end explains its job's, and what is kept of ends while pods go."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Final

from typing_extensions import TypedDict

from ..client.json_access import text
from ..objects.attempts import AttemptRecord
from ..objects.events import Happening
from ..objects.kinds import ReplicaView, State
from ..objects.pods import restarts, training
from .exits import Ending, ending_of, lost, of_code

_AT_ONCE: Final = 10.0
"""Seconds within which ends count as one: times are whole seconds, and a lost replica takes the others along."""

_TOLD: Final = re.compile(
    r"Error pod (?P<pod>\S+) container \S+ exitCode: (?P<code>[1-9]\d{0,2}) terminated message: (?P<message>.*)",
    re.DOTALL,
)
"""How Kubeflow's operator tells of an end in an event of the job; the event's reason is the container's."""
_OPERATORS: Final = ("BackoffLimitExceeded", "DeadlineExceeded")
"""Causes for which a job's controller itself deletes the pods, before it says that the job has failed."""


def first_failure(
    places: Sequence[ReplicaView],
    state: State,
    happenings: Sequence[Happening] = (),
    lives: Mapping[str, Sequence[AttemptRecord]] | None = None,
    kept: Mapping[str, EndingRecord] | None = None,
    *,
    cordoned: Container[str] = (),
) -> Ending | None:
    """Return how the replica ended that failed first; None if none is known to have failed.

    Of those that ended at nearly the same time it is the one whose end explains the others': out of memory, say,
    rather than a connection that was lost.

    Parameters
    ----------
    places
        The job's replicas.
    state
        The job's.
    happenings
        What happened to the job, newest first: Kubeflow's operator tells of ends in events.
    lives
        What was seen of the replicas' attempts, by their names.
    kept
        What is kept of how their newest pods ended, by their names; see `keep`.
    cordoned
        The nodes that take no new pods.
    """
    endings = []
    for place in places:
        known = (kept or {}).get(place.name)
        ending = ending_of(place, cordoned)
        if known is not None and _is_of(known, place):
            ending = _better(_recalled(known, place), ending)
        if ending is not None and _was_cleaned_up(ending, state):
            ending = None
        if ending is None and (place.pod is None or state.cause == "BackoffLimitExceeded"):
            ending = _unseen(place, state, happenings, (lives or {}).get(place.name))
        if ending is not None:
            endings.append(ending)
    start = min((one.at for one in endings if one.at is not None), default=None)
    near = [one for one in endings if start is None or one.at is None or one.at - start <= _AT_ONCE]
    return min(
        near, key=lambda one: (_weight(one), one.at is None, one.at or 0.0, one.code == "PodDeleted"), default=None
    )


def _unseen(
    place: ReplicaView, state: State, happenings: Sequence[Happening], lives: Sequence[AttemptRecord] | None
) -> Ending | None:
    """Say how a replica failed whose pod is gone: by what was seen of it, the job's status, or its events."""
    seen = list(lives or ())
    if state.cause == "BackoffLimitExceeded":  # the last life may have been ended for that
        seen = [life for life in seen if life["exit_code"] and life["cause"] is None]
    life = seen[-1] if seen else None
    if life is not None and life["exit_code"] and life["cause"] is None:
        return of_code(place, training(place), life["exit_code"], life["ended_at"], {"reason": life["reason"]})
    for one in happenings:
        told = _TOLD.match(one.message)
        if told is not None and told["pod"].endswith(f"-{place.name}"):
            said = {"reason": one.reason, "message": told["message"]}
            return of_code(place, training(place), int(told["code"]), one.last, said)
    return of_code(place, training(place), place.exit_code, None, {}) if place.exit_code else None


def _was_cleaned_up(ending: Ending, state: State) -> bool:
    """Return whether the failure of the job came first, and the deletion of the pod followed."""
    if ending.code != "PodDeleted":
        return False
    if state.cause in _OPERATORS:
        return True
    return ending.at is not None and state.ended_at is not None and ending.at > state.ended_at


def _weight(ending: Ending) -> int:
    """Return how well an end explains those of others; less is better."""
    if ending.code == "OOMKilled":
        return 0
    if ending.code not in ("ExitCode", "StartError", "ContainerFailed", "PodDeleted"):
        return 1
    if ending.code == "PodDeleted":
        return 2
    return {137: 3, 143: 4, 130: 4}.get(ending.exit_code or 0, 2)


# -- what is kept of an end, while its pod goes ------------------------------------------------------------------------


class EndingRecord(TypedDict):
    """How a replica's newest pod ended, as it is remembered; plain JSON. See `Ending`.

    `pod_uid` and `restart_count` name the run of its training container; the latter is the container's in its pod.
    """

    pod_uid: str
    restart_count: int
    code: str
    words: str
    exit_code: int | None
    at: float | None
    error: str | None
    hint: str | None
    verbatim: str | None
    rerun: bool


def keep(
    known: EndingRecord | None, place: ReplicaView, state: State, cordoned: Container[str] = ()
) -> EndingRecord | None:
    """Return what is known of how a replica's newest pod ended, with what is seen now.

    Clusters forget: a pod that was evicted is gone after seconds, and with it why. The end that explains most stays.

    Parameters
    ----------
    known
        As the last call returned it; None at first.
    place, state
        The replica, and its job's state. Only to be called while pods are listed and watched.
    cordoned
        The nodes that take no new pods.
    """
    if state.paused or state.held:
        return None  # its pods end for that, and what it starts next has not ended
    if place.pod is None:
        return known
    if known is not None and not _is_of(known, place):
        known = None
    seen = ending_of(place, cordoned) or lost(place, cordoned)
    if seen is None:
        return known
    best = _better(_recalled(known, place), seen) if known is not None else seen
    if best is not seen:
        return known
    return EndingRecord(
        pod_uid=text(place.pod, "metadata", "uid") or "",
        restart_count=restarts(place),
        code=seen.code,
        words=seen.words,
        exit_code=seen.exit_code,
        at=seen.at,
        error=seen.error,
        hint=seen.hint,
        verbatim=seen.verbatim,
        rerun=seen.rerun,
    )


def _is_of(known: EndingRecord, place: ReplicaView) -> bool:
    """Return whether a record is about the newest run of a replica, as far as its pod is there."""
    if place.pod is None:
        return place.pod_uid in (None, known["pod_uid"])
    return (known["pod_uid"], known["restart_count"]) == (text(place.pod, "metadata", "uid"), restarts(place))


def _recalled(known: EndingRecord, place: ReplicaView) -> Ending:
    return Ending(
        place,
        known["code"],
        known["words"],
        known["exit_code"],
        known["at"],
        known["error"],
        known["hint"],
        known["verbatim"],
        known["rerun"],
    )


def _better(known: Ending, seen: Ending | None) -> Ending:
    """Return the end that explains more; of two that explain as much the later seen, which may tell more."""
    return known if seen is None or _weight(known) < _weight(seen) else seen
