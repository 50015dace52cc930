"""The replica whose end explains the job's, and records of ends that outlive their pods."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from typing import Final

from typing_extensions import TypedDict

from ....core.translation import Text, _
from ..client.json_access import text
from ..objects.events import ClusterEvent
from ..objects.kinds import ReplicaView, State
from ..objects.pods.attempts import AttemptRecord
from ..objects.pods.pod import restarts, training
from ..objects.text import named
from .exits import Ending, ending_of, lost, of_code

_SAME_TIME_SECONDS: Final = 10.0
"""Ends within this time count as simultaneous: pods report whole seconds, and one lost replica ends the others."""

_REPORT: Final = re.compile(
    r"Error pod (?P<pod>\S+) container \S+ exitCode: (?P<code>[1-9]\d{0,2}) terminated message: (?P<message>.*)",
    re.DOTALL,
)
"""Message of the event by which Kubeflow's operator reports a failed pod; its reason is the container's."""
_CONTROLLER_DELETES: Final = ("BackoffLimitExceeded", "DeadlineExceeded", "FailedJobs")
"""Causes for which a job's controller deletes the pods before it marks the job as failed."""


class EndingRecord(TypedDict):
    """End of a replica's newest pod, as the job's record keeps it; see `Ending`.

    `pod_uid` and `restart_count` identify the run of the training container; the latter is the container's in its pod.
    `words` is `Ending.sentence`; in records of earlier versions, English words that follow the subject.
    """

    pod_uid: str
    restart_count: int
    code: str
    words: Text
    exit_code: int | None
    at: float | None
    error: str | None
    hint: Text | None
    verbatim: str | None
    rerun: bool


def first_failure(
    replicas: Sequence[ReplicaView],
    state: State,
    cluster_events: Sequence[ClusterEvent] = (),
    attempts: Mapping[str, Sequence[AttemptRecord]] | None = None,
    kept: Mapping[str, EndingRecord] | None = None,
    *,
    cordoned: Container[str] = (),
) -> Ending | None:
    """Return how the replica ended that failed first; None if no replica is known to have failed.

    Of replicas that ended at nearly the same time, the one whose end explains the others' is chosen: one that ran out
    of memory rather than one that lost its connection.

    Parameters
    ----------
    replicas
        The job's replicas.
    state
        The job's state.
    cluster_events
        Events of the job, newest first: Kubeflow's operator reports ends in events.
    attempts
        Recorded attempts by replica name.
    kept
        Records of the ends of the replicas' newest pods, by replica name; see `keep`.
    cordoned
        Names of the cordoned nodes.
    """
    endings = []
    for replica in replicas:
        record = (kept or {}).get(replica.name)
        ending = ending_of(replica, cordoned)
        if record is not None and _is_of(record, replica):
            ending = _better(_recalled(record, replica), ending)
        if ending is not None and _was_cleaned_up(ending, state):
            ending = None
        if ending is None and (replica.pod is None or state.cause == "BackoffLimitExceeded"):
            ending = _without_pod(replica, state, cluster_events, (attempts or {}).get(replica.name))
        if ending is not None:
            endings.append(ending)
    start = min((one.at for one in endings if one.at is not None), default=None)
    near = [one for one in endings if start is None or one.at is None or one.at - start <= _SAME_TIME_SECONDS]
    return min(
        near, key=lambda one: (_weight(one), one.at is None, one.at or 0.0, one.code == "PodDeleted"), default=None
    )


def _without_pod(
    replica: ReplicaView, state: State, cluster_events: Sequence[ClusterEvent], attempts: Sequence[AttemptRecord] | None
) -> Ending | None:
    """Return how a replica failed whose pod is gone, by its recorded attempts, the job's events or the job's status."""
    seen = list(attempts or ())
    if state.cause == "BackoffLimitExceeded":  # The controller may have ended the last attempt for this cause.
        seen = [attempt for attempt in seen if attempt["exit_code"] and attempt["cause"] is None]
    last = seen[-1] if seen else None
    if last is not None and last["exit_code"] and last["cause"] is None:
        return of_code(replica, training(replica), last["exit_code"], last["ended_at"], {"reason": last["reason"]})
    for one in cluster_events:
        report = _REPORT.match(one.message)
        if report is not None and report["pod"].endswith(f"-{replica.name}"):
            ended = {"reason": one.reason, "message": report["message"]}
            return of_code(replica, training(replica), int(report["code"]), one.last, ended)
    return of_code(replica, training(replica), replica.exit_code, None, {}) if replica.exit_code else None


def _was_cleaned_up(ending: Ending, state: State) -> bool:
    """Return True if a pod was deleted because its job had failed before."""
    if ending.code != "PodDeleted":
        return False
    if state.cause in _CONTROLLER_DELETES:
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


# -- records -----------------------------------------------------------------------------------------------------------


def keep(
    record: EndingRecord | None, replica: ReplicaView, state: State, cordoned: Container[str] = ()
) -> EndingRecord | None:
    """Return the updated record of how a replica's newest pod ended.

    The cluster deletes an evicted pod after seconds, and the cause with it. The record keeps the end that explains
    most.

    Parameters
    ----------
    record
        Result of the last call; None at first.
    replica, state
        The replica, and its job's state. Call this only while the pods are listed and watched.
    cordoned
        Names of the cordoned nodes.
    """
    if state.paused or state.held:
        return None  # The pods end because of the pause; the next pods have not ended.
    if replica.pod is None:
        return record
    if record is not None and not _is_of(record, replica):
        record = None
    seen = ending_of(replica, cordoned) or lost(replica, cordoned)
    if seen is None:
        return record
    best = _better(_recalled(record, replica), seen) if record is not None else seen
    if best is not seen:
        return record
    return EndingRecord(
        pod_uid=text(replica.pod, "metadata", "uid") or "",
        restart_count=restarts(replica),
        code=seen.code,
        words=seen.sentence,
        exit_code=seen.exit_code,
        at=seen.at,
        error=seen.error,
        hint=seen.hint,
        verbatim=seen.verbatim,
        rerun=seen.rerun,
    )


def _is_of(record: EndingRecord, replica: ReplicaView) -> bool:
    """Return True if a record is about the newest run of a replica, as far as its pod still exists."""
    if replica.pod is None:
        return replica.pod_uid in (None, record["pod_uid"])
    run = (text(replica.pod, "metadata", "uid"), restarts(replica))
    return (record["pod_uid"], record["restart_count"]) == run


def _recalled(record: EndingRecord, replica: ReplicaView) -> Ending:
    """Return the end that a record keeps."""
    sentence, hint = Text.restored(record["words"]), record["hint"]
    if sentence.message is None:  # A record of an earlier version.
        sentence = _("{who} {words}", who=named(replica.name), words=str(sentence))
    return Ending(
        replica,
        record["code"],
        sentence,
        record["exit_code"],
        record["at"],
        record["error"],
        Text.restored(hint) if hint else None,
        record["verbatim"],
        record["rerun"],
    )


def _better(recalled: Ending, seen: Ending | None) -> Ending:
    """Return the end that explains more; of two that explain as much, the one that was seen later."""
    return recalled if seen is None or _weight(recalled) < _weight(seen) else seen
