"""The attempts of a replica: the runs of its training container, pod after pod.

The cluster reports only two runs of a container, both of its present pod. An engine keeps a history for each replica
and brings it up to date with `observe`. A run that no server saw is missing in the history, but it counts if the pod's
restart count includes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from typing_extensions import TypedDict

from .....core.job import Attempt
from .....core.texts.wording import end_in_words
from .....core.translation import Text, _
from ...client.api import Json
from ...client.json_access import count, moment, part, text, value, whole
from ..kinds import ReplicaView, State, conditions, holds
from .pod import has_ended, training_status


class AttemptRecord(TypedDict):
    """One run of a replica's training container as the history keeps it; plain JSON.

    `restart_count` is the container's restart count in its pod. `reason` is the cluster's reason for the end
    (``OOMKilled``). `cause` is the code of what ended the run from outside; null if it ended by itself. Times are
    seconds since the epoch.
    """

    number: int
    pod_uid: str
    restart_count: int
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    reason: str | None
    cause: str | None


def time_run(attempts: Sequence[AttemptRecord], until: float | None = None) -> float:
    """Return for how many seconds a replica has run, without pauses.

    Parameters
    ----------
    attempts
        The replica's attempts.
    until
        Time up to which a running attempt counts, in seconds since the epoch; None if it does not count.
    """
    spans = [(attempt["started_at"], attempt["ended_at"] or until) for attempt in attempts]
    return max(0.0, sum(ended - started for started, ended in spans if started is not None and ended is not None))


PAUSES: Final = frozenset({"PausedByUser", "Paused", "Stopped"})
"""Causes after which the next attempt is not a restart."""
_UNKNOWN_END: Final = "ContainerStatusUnknown"
_KEPT: Final = 100
"""Number of attempts that are kept of a replica: the newest ones."""

_REASONS: Final = {
    "Evicted": _("Evicted from its node"),
    "DeadlineExceeded": _("Ended at the deadline"),
    "NodeLost": _("Lost with its node"),
    "NodeShutdown": _("Ended with its node"),
    "Terminated": _("Ended with its node"),
    _UNKNOWN_END: _("Lost: the node did not report how it ended"),
}
"""Reasons that stand in place of an exit code."""
_NOT_STARTED: Final = ("StartError", "ContainerCannotRun")
# In addition to the causes of every engine: reasons of a pod's condition DisruptionTarget. "Stopped" names no user.
_OUTSIDE: Final = {
    "Stopped": _("Stopped"),
    "PreemptionByScheduler": _("Made way for a pod of higher priority"),
    "DeletionByTaintManager": _("Ended because its node failed or is drained"),
    "EvictionByEvictionAPI": _("Evicted from its node"),
    "DeletionByPodGC": _("Lost with its node"),
    "TerminationByKubelet": _("Ended by its node"),
}


# -- keeping -----------------------------------------------------------------------------------------------------------


def observe(history: Sequence[AttemptRecord], replica: ReplicaView, state: State, *, now: float) -> list[AttemptRecord]:
    """Return a replica's history, brought up to date.

    Parameters
    ----------
    history
        The result of the last call; empty at first.
    replica
        The replica with its newest pod. To be called only while pods are listed and watched: a replica without a pod
        has lost its pod.
    state
        The job's state; it gives the cause of a pod's deletion.
    now
        Seconds since the epoch.

    Returns
    -------
    list of AttemptRecord
        Oldest first; equal to `history` if nothing has changed.
    """
    attempts: list[AttemptRecord] = [{**attempt} for attempt in history]
    uid = text(replica.pod, "metadata", "uid") or replica.pod_uid if replica.pod is not None else None
    if uid is not None:
        base = earlier(attempts, uid)
        for seen in _attempts_in(replica, uid):
            _merge(attempts, seen, base)
    for index, attempt in enumerate(attempts):
        if attempt["ended_at"] is not None:
            continue
        following = attempts[index + 1] if index + 1 < len(attempts) else None
        if following is not None and following["pod_uid"] == attempt["pod_uid"]:
            attempt["ended_at"] = following["started_at"] or now
        elif attempt["pod_uid"] != uid or has_ended(replica.pod):
            _end(attempt, replica, state, now)
    if attempts:
        _update_cause(attempts[-1], replica, state)
    return attempts[-_KEPT:]


def earlier(history: Sequence[AttemptRecord], pod_uid: str | None) -> int:
    """Return how many attempts a replica had before a pod.

    Parameters
    ----------
    history
        The replica's history.
    pod_uid
        Uid of the pod; None for the next pod.
    """
    for attempt in history:
        if attempt["pod_uid"] == pod_uid:
            return attempt["number"] - attempt["restart_count"] - 1
    return max((attempt["number"] for attempt in history), default=0)


def _attempts_in(replica: ReplicaView, uid: str) -> Iterator[AttemptRecord]:
    """Yield the attempts that a pod's status reports, oldest first."""
    status = training_status(replica)
    current, last = part(status, "state"), part(status, "lastState", "terminated")
    number = count(status, "restartCount")
    ended, runs = part(current, "terminated"), isinstance(value(current, "running"), dict)
    if last and not (runs or ended):
        yield _ended_attempt(last, replica, uid, number)  # The next run is not counted yet.
    elif last and number and text(last, "reason") != _UNKNOWN_END:
        yield _ended_attempt(last, replica, uid, number - 1)
    elif last and text(ended, "reason") == _UNKNOWN_END:
        number = max(0, number - 1)  # The kubelet counts an end that it did not see as a restart.
    if ended:
        yield _ended_attempt(ended, replica, uid, number)
    elif runs:
        yield _attempt(uid, number, moment(current, "running", "startedAt"))


def _attempt(uid: str, restart_count: int, started_at: float | None) -> AttemptRecord:
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


def _ended_attempt(terminated: Json, replica: ReplicaView, uid: str, restart_count: int) -> AttemptRecord:
    attempt = _attempt(uid, restart_count, moment(terminated, "startedAt"))
    attempt["ended_at"] = moment(terminated, "finishedAt")
    attempt["exit_code"] = whole(terminated, "exitCode")
    attempt["reason"] = text(replica.pod, "status", "reason") or text(terminated, "reason")
    return attempt


def _merge(attempts: list[AttemptRecord], seen: AttemptRecord, base: int) -> None:
    """Add an attempt to the history, or complete it there; facts that the pod no longer reports stay."""
    key = (seen["pod_uid"], seen["restart_count"])
    for attempt in attempts:
        if (attempt["pod_uid"], attempt["restart_count"]) == key:
            if attempt["exit_code"] is None and attempt["cause"] is None:
                attempt["exit_code"], attempt["reason"] = seen["exit_code"], seen["reason"]
            attempt["started_at"] = attempt["started_at"] or seen["started_at"]
            attempt["ended_at"] = attempt["ended_at"] or seen["ended_at"]
            return
    seen["number"] = base + seen["restart_count"] + 1
    attempts.append(seen)
    attempts.sort(key=lambda attempt: attempt["number"])


# -- ends that come from outside ---------------------------------------------------------------------------------------


def _end(attempt: AttemptRecord, replica: ReplicaView, state: State, now: float) -> None:
    """Set the end of an attempt whose end was not reported."""
    started_at = attempt["started_at"] or 0.0
    end = state.ended_at if state.ended_at is not None and state.ended_at >= started_at else now
    attempt["ended_at"] = min(end, now)
    if attempt["exit_code"] is not None:
        return  # It ended by itself; only the time was missing.
    if replica.pod is not None and attempt["pod_uid"] == text(replica.pod, "metadata", "uid"):
        attempt["reason"] = text(replica.pod, "status", "reason") or attempt["reason"]
    elif replica.exit_code is not None and attempt["pod_uid"] == replica.pod_uid:
        attempt["exit_code"] = replica.exit_code
    elif state.phase == "Succeeded" and _is_first(replica):
        attempt["exit_code"] = 0  # The job succeeds when its first replica does.
    else:
        attempt["cause"] = _cause(replica, state)


def _update_cause(attempt: AttemptRecord, replica: ReplicaView, state: State) -> None:
    """Set why the last attempt was ended from outside, as soon as it is known."""
    pod = replica.pod if attempt["pod_uid"] == text(replica.pod, "metadata", "uid") else None
    cause = attempt["cause"]
    asked = cause is None and pod is not None and _ended_by_deletion(pod, attempt, state)
    if asked or cause == "PodGone" or (cause == "Paused" and state.cause == "Stopped"):
        attempt["cause"] = _cause(replica, state)


def _ended_by_deletion(pod: Json, attempt: AttemptRecord, state: State) -> bool:
    """Return True if a container ended because its pod was deleted; in a pause it may end with exit code 0."""
    gone = moment(pod, "metadata", "deletionTimestamp")
    if attempt["exit_code"] is None or attempt["ended_at"] is None or gone is None:
        return False
    if attempt["exit_code"] == 0 and not state.paused:
        return False
    return attempt["ended_at"] >= gone - count(pod, "metadata", "deletionGracePeriodSeconds")


def _cause(replica: ReplicaView, state: State) -> str:
    disruption = conditions(part(replica.pod)).get("DisruptionTarget")
    if holds(disruption) and (reason := text(disruption, "reason")) is not None:
        return reason
    if state.cause in ("Stopped", "DeadlineExceeded"):
        return state.cause
    if state.paused:
        return "Paused"
    if state.held:
        return "TakenOut"
    if state.phase == "Succeeded" and not _is_first(replica):
        return "Succeeded"
    if state.phase == "Failed":
        return "JobFailed" if _is_first(replica) else "ExitCode"
    return "PodGone"


def _is_first(replica: ReplicaView) -> bool:
    return replica.role == 0 and replica.index == 0


def restarts_of(history: Sequence[AttemptRecord]) -> int:
    """Return how often a replica was restarted, in the same or another pod; the return from a pause does not count."""
    pauses = sum(attempt["cause"] in PAUSES for attempt in history[:-1])
    return max(0, history[-1]["number"] - 1 - pauses) if history else 0


# -- showing -----------------------------------------------------------------------------------------------------------


def attempts_of(history: Sequence[AttemptRecord]) -> list[Attempt]:
    """Return the API's models of a history."""
    shown = []
    for index, attempt in enumerate(history):
        resumed = index > 0 and history[index - 1]["cause"] in PAUSES
        shown.append(
            Attempt(
                number=attempt["number"],
                started_at=attempt["started_at"],
                ended_at=attempt["ended_at"],
                exit_code=attempt["exit_code"],
                ended=ended_in_words(attempt),
                restart=None if resumed or attempt["number"] == 1 else restarts_of(history[: index + 1]),
            )
        )
    return shown


def ended_in_words(attempt: AttemptRecord) -> Text | None:
    """Return how an attempt ended: “Killed: out of memory (137)”, “Error (1)”; None if it has not ended."""
    code, reason, cause = attempt["exit_code"], attempt["reason"] or "", attempt["cause"]
    if attempt["ended_at"] is None and code is None:
        return None
    if cause in _OUTSIDE and code != 0:
        return _OUTSIDE[cause]
    if cause is None and code != 0:
        if reason == "OOMKilled":
            return _out_of_memory(code)
        if reason in _NOT_STARTED:
            return _not_started(code)
        if reason in _REASONS:
            return _REASONS[reason]
    return end_in_words(code, cause if code is not None else cause or "PodGone")


def _out_of_memory(code: int | None) -> Text:
    if code is None:
        return _("Killed: out of memory")
    if code == 137:
        return _("Killed: out of memory ({exit_code})", exit_code=code)
    return _("One of its processes was killed: out of memory ({exit_code})", exit_code=code)


def _not_started(code: int | None) -> Text:
    return _("Could not be started") if code is None else _("Could not be started ({exit_code})", exit_code=code)
