"""Why a job in a cluster is as it is, in words; and refusals of the cluster, at the field.

=================  ======================================================================================
`.replica`         one replica
`.pod_pending`     a pod that does not run yet; `.scheduler_report` and `.image_pull` are parts of it
`.exits`           how a replica ended
`.causes`          which replica's end explains the job's, also when its pod is gone
`.finished`        what has ended for good, and what starts again
`.api_refusals`    what the API server refuses, of us or of the job's controller
=================  ======================================================================================
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ....core.job import EndedBy, Failure, Fix, Reason
from ....core.manifests.names import PAUSED
from ....core.manifests.names import STOPPED as STOPPED_MARK
from ....core.quantity import amount
from ....core.spec import Debug, JobSpec
from ....core.wording import best_metric, duration
from ..client.api import Json
from ..client.json_access import moment, text, whole
from ..objects.action_notes import marked
from ..objects.attempts import AttemptRecord, time_run
from ..objects.events import Happening, kind_of, newest_first, read, uid_of
from ..objects.kinds import ReplicaView, State
from ..objects.pods import is_running
from ..objects.text import MOST_SENTENCE, joined, listed, made, named, plain, waited, within
from ..scheduling import kueue, pod_group
from ..scheduling.kueue import KueueHold
from ..scheduling.node_fit import ClusterRoom
from .api_refusals import of_pods, refused
from .causes import EndingRecord, first_failure
from .exits import Ending, ending_of, lost
from .finished import has_finished, is_over, lingering
from .rank_failures import links_of, reason_of_failure, with_signal
from .replica import going_on, held_by, names_of, of_pod

__all__ = ["ENDED_BY", "reason_of", "refused"]

ENDED_BY: Final[Mapping[str, EndedBy]] = {
    "Stopped": "user",
    "DeadlineExceeded": "deadline",
    "Evicted": "platform",
    "Preempted": "platform",
    "NodeLost": "platform",
    "NodeShutdown": "platform",
    "Drained": "platform",
    "Tainted": "platform",
    "PodDeleted": "platform",
}
"""Who ended a job, by its reason's code; all others end by themselves."""

_OTHERS: Final = 2
_WEIGHTS: Final = {
    **dict.fromkeys(("QuotaExceeded", "QuotaNeedsResources", "Refused", "WebhookDown"), 0),
    **dict.fromkeys(("Unschedulable", "NoPlaceYet", "NoSuchClaim", "UnboundClaim"), 1),
    **dict.fromkeys(("SchedulingGated", "InQueue", "NotScheduled", "MakingRoom"), 3),
    **dict.fromkeys(("Pulling", "ContainerCreating"), 4),
    **dict.fromkeys(("WaitingForMaster", "InitContainer"), 5),
}
"""Which of several replicas' waits explains the job's: the less, the better; `_OTHERS` for what is not named."""

_RERUN: Final = "Run it again."

_OVER_TIME: Final = "MaxDurationExceeded"
"""Reason of the event by which T9k's Duration Keeper says that it has paused a job (t9k.md §1.5)."""


def reason_of(
    manifest: Json,
    spec: JobSpec | None,
    state: State,
    places: Sequence[ReplicaView],
    events: Sequence[Json],
    *,
    now: float,
    user: str | None = None,
    lives: Mapping[str, Sequence[AttemptRecord]] | None = None,
    endings: Mapping[str, EndingRecord] | None = None,
    failure: Failure | None = None,
    metrics: Mapping[str, float] | None = None,
    hold: KueueHold | None = None,
    group: Json | None = None,
    room: ClusterRoom | None = None,
) -> Reason | None:
    """Return why the job is in its phase, in a sentence, with what to do about it.

    Parameters
    ----------
    manifest
        The job's object.
    spec
        What it amounts to; None if it can't be read.
    state, places
        What its kind says of it.
    events
        The cluster's events of the job and its pods, in any order.
    now
        Seconds since the epoch: a long wait counts up.
    user
        Whose lab it is: what this one did was done “by you”.
    lives
        What was seen of the replicas' attempts, by their names: it may be known still how a pod ended that is gone.
    endings
        What is kept of how the replicas' newest pods ended, by their names; see `causes.keep`.
    failure
        Which rank failed first, as its log tells it, where that was read.
    metrics
        The newest that its log tells.
    hold
        What Kueue has to do with it, where it is in a queue of Kueue's.
    group
        Its PodGroup, where it is in a queue of T9k's scheduler.
    room
        What the cluster has, where that is known.
    """
    about = _Job(
        manifest,
        spec,
        state,
        places,
        events,
        lives or {},
        endings or {},
        now,
        user,
        failure,
        metrics or {},
        hold,
        group,
        room,
    )
    if state.cause == "Stopped" and state.paused:
        return about.stopped()
    if state.paused and state.phase in ("Pending", "Running", "Resuming"):
        return about.pausing()
    if state.phase == "Paused":
        return about.paused()
    if state.phase == "Succeeded":
        return about.succeeded()
    if state.phase == "Failed":
        return about.failed()
    if is_over(places, state):
        return about.ended()
    if state.phase == "Running":
        return about.running()
    if state.phase == "Unknown":
        return about.unknown()
    return about.pending()


@dataclass(frozen=True)
class _Job:
    """What there is to say of one job; see `reason_of`."""

    manifest: Json
    spec: JobSpec | None
    state: State
    places: Sequence[ReplicaView]
    events: Sequence[Json]
    lives: Mapping[str, Sequence[AttemptRecord]]
    endings: Mapping[str, EndingRecord]
    now: float
    user: str | None
    failure: Failure | None
    metrics: Mapping[str, float]
    hold: KueueHold | None
    group: Json | None
    room: ClusterRoom | None

    @cached_property
    def own(self) -> list[Happening]:
        """What happened to the job itself, newest first."""
        return newest_first(event for event in self.events if kind_of(event) != "Pod")

    # -- it is paused or over ------------------------------------------------------------------------------------------

    def stopped(self) -> Reason:
        mark = marked(self.manifest, STOPPED_MARK)
        by = mark.whom(self.user) if mark else "you"
        at = mark.at if mark and mark.at is not None else self.state.ended_at
        if self.state.started_at is None:
            sentence = f"Stopped by {by} before it started"
        elif at is None:
            sentence = f"Stopped by {by}"
        else:
            sentence = f"Stopped by {by} after {duration(self._time_run(self.state.started_at, at))}"
        return made("Stopped", sentence, "In the cluster it is paused: it can still be resumed, from the beginning.")

    def succeeded(self) -> Reason:
        started, ended = self.state.started_at, self.state.ended_at
        ran = "Succeeded" if started is None or ended is None else f"Ran {duration(self._time_run(started, ended))}"
        best = best_metric(self.metrics)
        return made("Succeeded", f"{ran} · {best}" if best else ran)

    def pausing(self) -> Reason:
        stop = marked(self.manifest, STOPPED_MARK)
        mark = stop or marked(self.manifest, PAUSED)
        verb = "Stopped" if stop is not None else "Paused"
        by = f" by {mark.whom(self.user)}" if mark is not None else ""
        return made("Stopping" if stop is not None else "Pausing", f"{verb}{by}; its pods are ending")

    def paused(self) -> Reason:
        if not self.state.paused:
            return made("Resuming", "Resumed; it starts once the job's controller has taken note of that")
        again = "Resume starts it from the beginning, as its next attempt."
        mark = marked(self.manifest, PAUSED)
        over = next((one for one in self.own if one.reason == _OVER_TIME), None)
        if over is not None and (mark is None or mark.at is None or mark.at < over.last):
            sentence = "Paused by the platform: it ran longer than its queue allows"
            return made("PausedByPlatform", sentence, again, verbatim=over.message)
        taken_out = kueue.deactivated(self.hold) if self.hold is not None else None
        if taken_out is not None:
            return taken_out
        if mark is not None:
            return made("PausedByUser", f"Paused by {mark.whom(self.user)}", again)
        if whole(self.manifest, "metadata", "generation") == 1:
            return made("CreatedPaused", "Not started yet: it was submitted paused", "Resume starts it.")
        return made("Paused", "Paused from outside JupyterLab", again, verbatim=self.state.message)

    def failed(self) -> Reason:
        first = self._first_failure()
        if self.state.cause == "DeadlineExceeded" and not _failed_by_itself(first):
            allowed = self.spec.run_policy.active_deadline_seconds if self.spec is not None else None
            sentence = f"Ended at its deadline of {duration(allowed)}" if allowed else "Ended at its deadline"
            hint = "Give it a longer deadline, or none, and run it again."
            return made("DeadlineExceeded", sentence, hint, verbatim=self.state.message)
        return self._failed_unseen() if first is None else self._of_failure(first)

    def ended(self) -> Reason:
        """Say how the training ended of a job that its controller still counts as active."""
        over = [place for place in self.places if has_finished(place, self.state)]
        rest, total = going_on(over), len(self.places)
        hint = held_by(names_of(map(lingering, over)))
        if running := sum(map(_runs, self.places)):
            rest += f"; {running} of {total} replicas still run{'s' if running == 1 else ''}"
        first = self._first_failure()
        if first is None:
            if len(over) == total > 1:
                done = f"All {total} replicas have"
            else:
                done = "The training has" if total == 1 else f"{named(over[0].name)} has"
            return made("TrainingEnded", f"{done} ended without an error{rest}", hint)
        reason = self._of_failure(first)
        sentence = plain(reason.sentence, MOST_SENTENCE - len(rest)) + rest
        return reason.model_copy(update={"sentence": sentence, "hint": joined(reason.hint, hint)})

    def _first_failure(self) -> Ending | None:
        cordoned = self.room.cordoned if self.room is not None else ()
        return first_failure(self.places, self.state, self.own, self.lives, self.endings, cordoned=cordoned)

    def _of_failure(self, first: Ending) -> Reason:
        """Say which replica failed, and how; its log may know better."""
        used_up, failure = self._used_up(first), self.failure
        code = "BackoffLimitExceeded" if used_up and first.code == "ExitCode" else first.code
        if failure is not None and first.code == "ExitCode" and (failure.rank is not None or failure.error):
            return reason_of_failure(failure, self._who(first), code, used_up)
        if failure is not None:
            first = with_signal(first, failure)
        note = failure.note if failure is not None and first.code == "ExitCode" else None
        hint = joined(note, first.hint, used_up, _RERUN if first.rerun and self.state.phase == "Failed" else None)
        sentence, words = f"{self._who(first)} {first.words}", first.verbatim or self.state.message
        reason = made(code, sentence, hint, verbatim=words, fix=self._more_memory(first))
        return reason.model_copy(update={"links": links_of(failure)})

    def _failed_unseen(self) -> Reason:
        """Say of what the job failed when nothing is known of how its pods ended."""
        message = self.state.message
        if self.state.cause == "BackoffLimitExceeded":
            sentence = "It failed, and its restarts are used up"
            return made("BackoffLimitExceeded", sentence, self._limit_words(), verbatim=message)
        refusal = of_pods(self.own, now=self.now) if all(place.pod is None for place in self.places) else None
        if refusal is not None:
            return refusal
        sentence = f"The job failed: {message}" if message else "The job failed"
        gone = "Its pods are gone, and nobody saw how they ended." if self._saw_nothing() else None
        hint = gone if message else joined(gone, "The cluster does not say of what. Its log may.")
        return made("Failed", sentence, hint, verbatim=message)

    def _saw_nothing(self) -> bool:
        """Return whether no pod is left that tells how it ended."""
        return bool(self.places) and all(place.pod is None for place in self.places)

    def _used_up(self, first: Ending) -> str | None:
        """Say that there is no restart left, where the job would have been restarted otherwise."""
        if self.state.cause == "BackoffLimitExceeded":
            return self._limit_words()
        return None

    def _limit_words(self) -> str | None:
        limit = self.spec.run_policy.backoff_limit if self.spec else self.state.restarts
        if not limit:
            return None
        return "Its one restart is used up." if limit == 1 else f"All {limit} restarts are used up."

    def _who(self, ending: Ending) -> str:
        if len(self.places) > 1:
            return named(ending.place.name)
        if ending.code != "ExitCode" or self.spec is None:
            return "The job"
        if self.spec.torchrun is not None:
            return "torchrun"
        return "The command" if self.spec.entrypoint.kind == "command" else "The script"

    def _more_memory(self, first: Ending) -> Fix | None:
        """Offer twice the memory to a job that ran out of it."""
        if first.code != "OOMKilled" or self.spec is None:
            return None
        group = first.place.group(self.spec)
        memory = self.spec.replica_specs[group].resources.memory
        size = amount(memory.limit)
        if size is None or not 2**20 <= size < 2**50:
            return None
        twice = f"{round(2 * size / 2**30)}Gi" if size >= 2**30 else f"{round(2 * size / 2**20)}Mi"
        field = f"/spec/replica_specs/{group}/resources/memory"
        changes = {f"{field}/limit": twice}
        if memory.request == memory.limit:
            changes[f"{field}/request"] = twice
        return Fix(label=f"Clone with {twice}", changes=changes)

    def _time_run(self, started: float, ended: float) -> float:
        """Return for how many seconds it ran: the same as is shown beside, so by its first replica if that was seen."""
        lives = self.lives.get(self.places[0].name) if self.places else next(iter(self.lives.values()), None)
        return time_run(lives, ended) if lives else ended - started

    # -- it waits or runs ----------------------------------------------------------------------------------------------

    def pending(self) -> Reason:
        """Say what an active job waits for: that of all replicas which explains it best."""
        if self.state.held and self.hold is not None:
            return kueue.waiting(self.hold, now=self.now)
        wait = self._grouped(self._wait())
        back = sum(map(_runs, self.places))
        if self.state.phase == "Resuming":
            sentence = f"{back} of {len(self.places)} replicas are back" if len(self.places) > 1 else "It starts again"
            if wait is None:
                return made("Resuming", sentence)
            return made(wait.code, f"{sentence}; {within(wait.sentence)}", wait.hint, verbatim=wait.verbatim)
        if wait is not None:
            return wait
        if self.places and back == len(self.places):
            return self.running()
        since = moment(self.manifest, "metadata", "creationTimestamp")
        long = waited(since, self.now)
        hint = "Nothing has been heard of what runs such jobs in this cluster; it may be down." if long else None
        return made("Creating", f"Its replicas are being created{long}", hint, verbatim=self.state.message)

    def running(self) -> Reason:
        """Say what runs, and why the rest does not."""
        if self.state.held and self.hold is not None:
            return kueue.leaving(self.hold)
        total, running = len(self.places), sum(map(_runs, self.places))
        if all(place.pod is None for place in self.places):
            return made("Started", "Running" if total <= 1 else f"Its {total} replicas are running")
        if running == total and self.spec is not None and self.spec.debug is not None:
            return self._debugged([one.command for one in self.spec.debug.values()] or [Debug().command])
        if running == total:
            node = text(self.places[0].pod, "spec", "nodeName")
            if total > 1:
                return made("Started", f"All {total} replicas are running")
            return made("Started", f"Running on {named(node)}" if node else "Running")
        wait = self._wait()
        if total == 1:
            return wait or made("Started", "Its pod is starting")
        sentence = f"{running} of {total} replicas are running"
        done = sum(_is_done(place, self.state) for place in self.places)
        if done:
            sentence += f", {done} {'has' if done == 1 else 'have'} ended without an error"
        if wait is None:
            return made("Started", sentence)
        return made(wait.code, f"{sentence}; {within(wait.sentence)}", wait.hint, verbatim=wait.verbatim)

    def _debugged(self, commands: Sequence[Sequence[str]]) -> Reason:
        """Say that the pods are there to be looked into."""
        told = {shlex.join(command) for command in commands}
        what = f"“{named(told.pop())}”" if len(told) == 1 else "other commands"
        whose = "its pod runs" if len(self.places) == 1 else f"its {len(self.places)} pods run"
        hint = "Open a terminal in a pod to look around. Run it again without debug mode to train."
        return made("Debug", f"Debug mode: {whose} {what} in place of the training", hint)

    def unknown(self) -> Reason:
        hint = "Its node may be out of reach. It is shown again when the cluster knows more."
        return made("Unknown", "The cluster does not know what has become of it", hint, verbatim=self.state.message)

    def _wait(self) -> Reason | None:
        """Return what the job waits for, with the replicas that wait for it."""
        reasons: dict[tuple[str, str], Reason] = {}
        waiters: dict[tuple[str, str], list[ReplicaView]] = {}
        for place, reason in self._waits():
            key = (reason.code, reason.sentence)
            reasons.setdefault(key, reason)
            waiters.setdefault(key, []).append(place)
        if not reasons:
            # a refusal need not say which pod it was about
            return of_pods(self.own, now=self.now) if any(place.pod is None for place in self.places) else None
        best = min(reasons, key=lambda key: (_WEIGHTS.get(key[0], _OTHERS), -len(waiters[key])))
        reason, names = reasons[best], [place.name for place in waiters[best]]
        if len(self.places) > 1:
            who = f"All {len(names)} replicas" if len(names) == len(self.places) else listed(names, 2)
            reason = reason.model_copy(update={"sentence": plain(f"{who}: {within(reason.sentence)}")})
        return self._made_room(reason)

    def _grouped(self, wait: Reason | None) -> Reason | None:
        """Return what the job waits for, by what T9k's scheduler says of the whole where its pods tell nothing."""
        if self.group is None or (wait is not None and not _tells_nothing(wait)):
            return wait
        return pod_group.waiting(self.group, now=self.now) or wait

    def _waits(self) -> Iterator[tuple[ReplicaView, Reason]]:
        """Yield the replicas that do not run, each with the reason."""
        events: dict[str, list[Json]] = {}
        for event in self.events:
            events.setdefault(uid_of(event), []).append(event)
        for place in self.places:
            if place.pod is None:
                reason = of_pods(self.own, place, now=self.now)
            elif _is_done(place, self.state):
                reason = None
            elif not _runs(place):
                own = events.get(place.pod_uid or "", [])
                reason = (
                    None
                    if _is_done(place, self.state)
                    else of_pod(place, self.state, own, now=self.now, room=self.room)
                )
            else:
                reason = None
            if reason is not None:
                yield place, reason

    def _made_room(self, reason: Reason) -> Reason:
        """Add that a pod of the job was preempted lately: that is why it waits again."""
        uids = {place.pod_uid for place in self.places}
        gone = next(
            (event for event in self.events if event.get("reason") == "Preempted" and uid_of(event) not in uids), None
        )
        if gone is None:
            return reason
        hint = joined(f"Its pod {named(read(gone).name)} had to make room for a more important one.", reason.hint)
        return reason.model_copy(update={"hint": hint})


def _runs(place: ReplicaView) -> bool:
    """Whether a replica runs, and is not about to be lost."""
    return is_running(place) and lost(place) is None


def _is_done(place: ReplicaView, state: State) -> bool:
    """Return whether a replica's training has ended without an error, and nothing keeps its pod."""
    return has_finished(place, state) and not lingering(place) and ending_of(place) is None


def _tells_nothing(wait: Reason) -> bool:
    """Whether a wait is for a scheduler that says no more than that."""
    return wait.code in ("NotScheduled", "NoPlaceYet")


def _failed_by_itself(first: Ending | None) -> bool:
    """Whether a replica failed on its own, rather than being ended at the deadline."""
    return first is not None and first.code != "DeadlineExceeded" and first.exit_code not in (None, 137, 143)
