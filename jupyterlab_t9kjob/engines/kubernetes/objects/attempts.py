"""The attempts of a replica, kept while the cluster forgets them: lives of its training container, pod after pod.

The cluster tells two lives of a container in its present pod and nothing of earlier pods. An engine keeps a history
for each place and lets `observe` bring it up to date; what nobody saw is missing from it, but still counted where
the pod's restart count tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from typing_extensions import TypedDict

from ....core.job import Attempt
from ....core.wording import end_in_words
from ..client.api import Json
from ..client.json_access import count, moment, part, text, value, whole
from .kinds import ReplicaView, State, conditions, holds
from .pods import has_ended, training_status


class AttemptRecord(TypedDict):
    """One life of a replica's training container, as it is remembered; plain JSON.

    `restart_count` is the container's in its pod. `reason` is the cluster's for its end (``OOMKilled``), `cause` why it
    was ended from outside, null if it ended by itself. Times are seconds since the epoch.
    """

    number: int
    pod_uid: str
    restart_count: int
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    reason: str | None
    cause: str | None


def time_run(lives: Sequence[AttemptRecord], until: float | None = None) -> float:
    """Return for how many seconds a replica has run, pauses left out; a life that goes on counts up to `until`."""
    spans = [(life["started_at"], life["ended_at"] or until) for life in lives]
    return max(0.0, sum(ended - started for started, ended in spans if started is not None and ended is not None))


PAUSES: Final = frozenset({"PausedByUser", "Paused", "Stopped"})
_UNKNOWN_END: Final = "ContainerStatusUnknown"
_KEPT: Final = 100
"""Lives that are kept of a replica: the newest ones."""

_REASONS: Final = {
    "OOMKilled": "Killed: out of memory",
    "StartError": "Could not be started",
    "ContainerCannotRun": "Could not be started",
    "Evicted": "Evicted from its node",
    "DeadlineExceeded": "Ended at the deadline",
    "NodeLost": "Lost with its node",
    "NodeShutdown": "Ended with its node",
    "Terminated": "Ended with its node",
    _UNKNOWN_END: "Lost: nobody saw how it ended",
}
# Beside those of every engine: reasons of a pod's condition DisruptionTarget; and who stopped it may be somebody else.
_OUTSIDE: Final = {
    "Stopped": "Stopped",
    "PreemptionByScheduler": "Made way for a pod of higher priority",
    "DeletionByTaintManager": "Ended because its node failed or is drained",
    "EvictionByEvictionAPI": "Evicted from its node",
    "DeletionByPodGC": "Lost with its node",
    "TerminationByKubelet": "Ended by its node",
}


# -- keeping -----------------------------------------------------------------------------------------------------------


def observe(history: Sequence[AttemptRecord], place: ReplicaView, state: State, *, now: float) -> list[AttemptRecord]:
    """Return a place's history with what is seen of it now.

    Parameters
    ----------
    history
        As the last call returned it; empty at first.
    place
        With its pod. Only to be called while pods are listed and watched: no pod means that it is gone.
    state
        The job's: it tells why a pod was taken away.
    now
        Seconds since the epoch.

    Returns
    -------
    list of AttemptRecord
        Oldest first; equal to `history` if nothing has changed.
    """
    lives: list[AttemptRecord] = [{**life} for life in history]
    uid = text(place.pod, "metadata", "uid") or place.pod_uid if place.pod is not None else None
    if uid is not None:
        base = earlier(lives, uid)
        for seen in _seen(place, uid):
            _take(lives, seen, base)
    for index, life in enumerate(lives):
        if life["ended_at"] is not None:
            continue
        following = lives[index + 1] if index + 1 < len(lives) else None
        if following is not None and following["pod_uid"] == life["pod_uid"]:
            life["ended_at"] = following["started_at"] or now
        elif life["pod_uid"] != uid or has_ended(place.pod):
            _close(life, place, state, now)
    if lives:
        _explain(lives[-1], place, state)
    return lives[-_KEPT:]


def earlier(history: Sequence[AttemptRecord], pod_uid: str | None) -> int:
    """Return how many attempts a place had before a pod; with None, before one that is still to come."""
    for life in history:
        if life["pod_uid"] == pod_uid:
            return life["number"] - life["restart_count"] - 1
    return max((life["number"] for life in history), default=0)


def _seen(place: ReplicaView, uid: str) -> Iterator[AttemptRecord]:
    """Yield what a pod tells of the lives of its training container, oldest first."""
    status = training_status(place)
    current, last = part(status, "state"), part(status, "lastState", "terminated")
    number = count(status, "restartCount")
    ended, runs = part(current, "terminated"), isinstance(value(current, "running"), dict)
    if last and not (runs or ended):
        yield _ended_life(last, place, uid, number)  # it waits for its next life, which isn't counted yet
    elif last and number and text(last, "reason") != _UNKNOWN_END:
        yield _ended_life(last, place, uid, number - 1)
    elif last and text(ended, "reason") == _UNKNOWN_END:
        number = max(0, number - 1)  # the kubelet counts an end that it has made up as a restart
    if ended:
        yield _ended_life(ended, place, uid, number)
    elif runs:
        yield _life(uid, number, moment(current, "running", "startedAt"))


def _life(uid: str, restart_count: int, started_at: float | None) -> AttemptRecord:
    return AttemptRecord(
        number=0,
        pod_uid=uid,
        restart_count=restart_count,
        started_at=started_at,
        ended_at=None,
        exit_code=None,
        reason=None,
        cause=None,
    )


def _ended_life(terminated: Json, place: ReplicaView, uid: str, restart_count: int) -> AttemptRecord:
    life = _life(uid, restart_count, moment(terminated, "startedAt"))
    life["ended_at"] = moment(terminated, "finishedAt")
    life["exit_code"] = whole(terminated, "exitCode")
    life["reason"] = text(place.pod, "status", "reason") or text(terminated, "reason")
    return life


def _take(lives: list[AttemptRecord], seen: AttemptRecord, base: int) -> None:
    """Put in what is seen of a life; what was known of it before and is not told any more stays."""
    key = (seen["pod_uid"], seen["restart_count"])
    for life in lives:
        if (life["pod_uid"], life["restart_count"]) == key:
            if life["exit_code"] is None and life["cause"] is None:
                life["exit_code"], life["reason"] = seen["exit_code"], seen["reason"]
            life["started_at"] = life["started_at"] or seen["started_at"]
            life["ended_at"] = life["ended_at"] or seen["ended_at"]
            return
    seen["number"] = base + seen["restart_count"] + 1
    lives.append(seen)
    lives.sort(key=lambda life: life["number"])


# -- ends that come from outside ---------------------------------------------------------------------------------------


def _close(life: AttemptRecord, place: ReplicaView, state: State, now: float) -> None:
    """End a life whose end nobody told."""
    told = state.ended_at if state.ended_at is not None and state.ended_at >= (life["started_at"] or 0.0) else now
    life["ended_at"] = min(told, now)
    if life["exit_code"] is not None:
        return  # it ended by itself, only the time is missing
    if place.pod is not None and life["pod_uid"] == text(place.pod, "metadata", "uid"):
        life["reason"] = text(place.pod, "status", "reason") or life["reason"]
    elif place.exit_code is not None and life["pod_uid"] == place.pod_uid:
        life["exit_code"] = place.exit_code
    elif state.phase == "Succeeded" and _is_first(place):
        life["exit_code"] = 0  # that is what success means
    else:
        life["cause"] = _cause(place, state)


def _explain(life: AttemptRecord, place: ReplicaView, state: State) -> None:
    """Say why the last life was ended, if it was, as soon as that is known."""
    pod = place.pod if life["pod_uid"] == text(place.pod, "metadata", "uid") else None
    cause = life["cause"]
    asked = cause is None and pod is not None and _was_ended(pod, life, state)
    if asked or cause == "PodGone" or (cause == "Paused" and state.cause == "Stopped"):
        life["cause"] = _cause(place, state)


def _was_ended(pod: Json, life: AttemptRecord, state: State) -> bool:
    """Whether a container's end is the answer to its pod's deletion; some answer a pause as if they had succeeded."""
    gone = moment(pod, "metadata", "deletionTimestamp")
    if life["exit_code"] is None or life["ended_at"] is None or gone is None:
        return False
    if life["exit_code"] == 0 and not state.paused:
        return False
    return life["ended_at"] >= gone - count(pod, "metadata", "deletionGracePeriodSeconds")


def _cause(place: ReplicaView, state: State) -> str:
    disruption = conditions(part(place.pod)).get("DisruptionTarget")
    if holds(disruption) and (reason := text(disruption, "reason")) is not None:
        return reason
    if state.cause in ("Stopped", "DeadlineExceeded"):
        return state.cause
    if state.paused:
        return "Paused"
    if state.held:
        return "TakenOut"
    if state.phase == "Succeeded" and not _is_first(place):
        return "Succeeded"
    if state.phase == "Failed":
        return "JobFailed" if _is_first(place) else "ExitCode"
    return "PodGone"


def _is_first(place: ReplicaView) -> bool:
    return place.role == 0 and place.index == 0


def restarts_of(history: Sequence[AttemptRecord]) -> int:
    """Return how often a replica was begun anew, be it in another pod; its return from a pause is none."""
    pauses = sum(life["cause"] in PAUSES for life in history[:-1])
    return max(0, history[-1]["number"] - 1 - pauses) if history else 0


# -- showing -----------------------------------------------------------------------------------------------------------


def attempts_of(history: Sequence[AttemptRecord]) -> list[Attempt]:
    """Return a history as the API gives it."""
    shown = []
    for index, life in enumerate(history):
        resumed = index > 0 and history[index - 1]["cause"] in PAUSES
        shown.append(
            Attempt(
                number=life["number"],
                started_at=life["started_at"],
                ended_at=life["ended_at"],
                exit_code=life["exit_code"],
                ended=ended_in_words(life),
                restart=None if resumed or life["number"] == 1 else restarts_of(history[: index + 1]),
            )
        )
    return shown


def ended_in_words(life: AttemptRecord) -> str | None:
    """Say how a life ended: “Killed: out of memory (137)”, “Error (1)”; None if it has not."""
    code, reason, cause = life["exit_code"], life["reason"] or "", life["cause"]
    if life["ended_at"] is None and code is None:
        return None
    if cause in _OUTSIDE and code != 0:
        return _OUTSIDE[cause]
    if cause is None and code != 0 and reason in _REASONS:
        if reason == "OOMKilled" and code not in (None, 137):
            return f"A process of it was killed: out of memory ({code})"
        made_up = code is None or reason not in ("OOMKilled", "StartError", "ContainerCannotRun")
        return _REASONS[reason] if made_up else f"{_REASONS[reason]} ({code})"
    return end_in_words(code, cause if code is not None else cause or "PodGone")
