"""Reason for the phase of a job: the sentence and the hint that a page shows.

====================  ================================================================
`.job_waits`          active jobs: what they wait for, what runs
`.replica`            one replica
`.pod_pending`        pods that do not run yet (`.scheduler_report`, `.image_pull`)
`.exits`              ends of replicas
`.causes`             the replica whose end explains the job's; records of ends
`.rank_failures`      failures of ranks, read from logs
`.finished`           replicas that have ended for good, and those that are restarted
`.api_refusals`       refusals by the API server (`.admission_rules`)
====================  ================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ....core.job import EndedBy, Failure, Fix, Reason
from ....core.manifests.names import PAUSED, SWEEP_VERDICT
from ....core.manifests.names import STOPPED as STOPPED_MARK
from ....core.spec import JobSpec
from ....core.sweep import ANNOTATION as SWEEP
from ....core.sweep import member_of, verdict_of
from ....core.texts.quantity import amount
from ....core.texts.wording import best_metric, duration, waits_for_sweep, worse_than_median
from ....core.translation import Text, _, _n, sentences
from ..client.api import Json
from ..client.json_access import text, whole
from ..objects.action_notes import Mark, marked
from ..objects.kinds import ReplicaView, State
from ..objects.pods.attempts import AttemptRecord, time_run
from ..objects.text import made, named
from ..scheduling import kueue
from ..scheduling.kueue import KueueHold
from ..scheduling.node_fit import ClusterRoom
from .api_refusals import of_pods, refused
from .causes import EndingRecord, first_failure
from .exits import Ending
from .finished import has_finished, is_over, lingering
from .job_waits import ActiveJob, runs
from .rank_failures import links_of, reason_of_failure, with_signal
from .replica import going_on, held_by, names_of

__all__ = ["ENDED_BY", "reason_of", "refused"]

ENDED_BY: Final[Mapping[str, EndedBy]] = {
    "Stopped": "user",
    "SweepPruned": "platform",
    "DeadlineExceeded": "deadline",
    "Evicted": "platform",
    "StorageLimit": "platform",
    "Preempted": "platform",
    "NodeLost": "platform",
    "NodeShutdown": "platform",
    "Drained": "platform",
    "Tainted": "platform",
    "PodDeleted": "platform",
}
"""Values of `JobSummary.ended_by` by the code of the reason. Jobs with other codes ended by themselves."""

_OVER_TIME: Final = "MaxDurationExceeded"
"""Reason of the event of T9k's Duration Keeper when it pauses a job (t9k-facts.md, Success and failure)."""


def reason_of(
    manifest: Json,
    spec: JobSpec | None,
    state: State,
    replicas: Sequence[ReplicaView],
    events: Sequence[Json],
    *,
    now: float,
    user: str | None = None,
    attempts: Mapping[str, Sequence[AttemptRecord]] | None = None,
    endings: Mapping[str, EndingRecord] | None = None,
    failure: Failure | None = None,
    metrics: Mapping[str, float] | None = None,
    hold: KueueHold | None = None,
    group: Json | None = None,
    room: ClusterRoom | None = None,
) -> Reason | None:
    """Return why a job is in its phase, with what the user can do about it.

    Parameters
    ----------
    manifest
        The job's object.
    spec
        The job's spec; None if the object can't be read as one.
    state, replicas
        The job's state and replicas, as its kind reads them from the object and the pods.
    events
        Events of the job and its pods, in any order.
    now
        Seconds since the epoch; long waits are counted from their start.
    user
        Name of the lab's user, whose own actions are “by you”.
    attempts
        Recorded attempts by replica name; they outlive the pods.
    endings
        Records of how the replicas' newest pods ended, by replica name; see `causes.keep`.
    failure
        The rank that failed first, if a log was read.
    metrics
        Newest metrics in the log.
    hold
        Kueue's view of the job; None if the job is in none of its queues.
    group
        The job's PodGroup; None if the job is in no queue of T9k's scheduler.
    room
        Nodes of the cluster, if this account can read them.
    """
    about = _Job(
        manifest,
        spec,
        state,
        replicas,
        events,
        now,
        room,
        hold,
        group,
        attempts or {},
        endings or {},
        user,
        failure,
        metrics or {},
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
    if is_over(replicas, state):
        return about.ended()
    if state.phase == "Running":
        return about.running()
    if state.phase == "Unknown":
        return about.unknown()
    return about.pending()


@dataclass(frozen=True)
class _Job(ActiveJob):
    """A job in any phase; see `reason_of`."""

    attempts: Mapping[str, Sequence[AttemptRecord]]
    endings: Mapping[str, EndingRecord]
    user: str | None
    failure: Failure | None
    metrics: Mapping[str, float]

    # -- stopped, paused, succeeded ------------------------------------------------------------------------------------

    def stopped(self) -> Reason:
        hint = _("In the cluster it is paused: it can still be resumed, from the beginning.")
        verdict = verdict_of(text(self.manifest, "metadata", "annotations", SWEEP_VERDICT))
        if verdict is not None:
            return made("SweepPruned", worse_than_median(verdict.model_dump()), hint)
        mark = marked(self.manifest, STOPPED_MARK)
        other, at = self._other(mark), mark.at if mark and mark.at is not None else self.state.ended_at
        if self.state.started_at is None:
            sentence = _("Stopped by you before it started")
            if other:
                sentence = _("Stopped by {user} before it started", user=other)
        elif at is None:
            sentence = _("Stopped by {user}", user=other) if other else _("Stopped by you")
        else:
            ran = duration(self._time_run(self.state.started_at, at))
            if other:
                sentence = _("Stopped by {user} after {duration}", user=other, duration=ran)
            else:
                sentence = _("Stopped by you after {duration}", duration=ran)
        return made("Stopped", sentence, hint)

    def succeeded(self) -> Reason:
        started, ended = self.state.started_at, self.state.ended_at
        if started is None or ended is None:
            ran = _("Succeeded")
        else:
            ran = _("Ran {duration}", duration=duration(self._time_run(started, ended)))
        best = best_metric(self.metrics)
        return made("Succeeded", _("{ran} · {metric}", ran=ran, metric=best) if best else ran)

    def pausing(self) -> Reason:
        """Return that the pods of a stopped or paused job have not ended yet."""
        stop = marked(self.manifest, STOPPED_MARK)
        mark = stop or marked(self.manifest, PAUSED)
        other = self._other(mark)
        if stop is not None:
            sentence = _("Stopped by you; its pods are ending")
            if other:
                sentence = _("Stopped by {user}; its pods are ending", user=other)
            return made("Stopping", sentence)
        sentence = _("Paused; its pods are ending") if mark is None else _("Paused by you; its pods are ending")
        if other:
            sentence = _("Paused by {user}; its pods are ending", user=other)
        return made("Pausing", sentence)

    def paused(self) -> Reason:
        if not self.state.paused:
            return made("Resuming", _("Resumed; it starts once the job's controller has seen the change"))
        again = _("Resume starts it from the beginning, as its next attempt.")
        mark = marked(self.manifest, PAUSED)
        over = next((one for one in self.own if one.reason == _OVER_TIME), None)
        if over is not None and (mark is None or mark.at is None or mark.at < over.last):
            sentence = _("Paused by the platform: it ran longer than its queue allows")
            return made("PausedByPlatform", sentence, again, verbatim=over.message)
        taken_out = kueue.deactivated(self.hold) if self.hold is not None else None
        if taken_out is not None:
            return taken_out
        if mark is not None:
            other = self._other(mark)
            return made("PausedByUser", _("Paused by {user}", user=other) if other else _("Paused by you"), again)
        if whole(self.manifest, "metadata", "generation") == 1:
            sweep = member_of({SWEEP: text(self.manifest, "metadata", "annotations", SWEEP) or ""})
            if sweep is not None:
                return made("WaitingForSweep", waits_for_sweep(sweep.at_a_time), _("Resume starts it now."))
            sentence = _("Not started yet: it was submitted paused")
            return made("CreatedPaused", sentence, _("Resume starts it."))
        return made("Paused", _("Paused from outside JupyterLab"), again, verbatim=self.state.message)

    def _other(self, mark: Mark | None) -> str | None:
        """Return the user who stopped or paused the job; None if it was this lab's user, or if that is not known."""
        return None if mark is None or mark.by in (None, self.user) else named(mark.by or "")

    def _time_run(self, started: float, ended: float) -> float:
        """Return how long the job ran, in seconds: the time of its first replica, which the page shows too."""
        names = [self.replicas[0].name] if self.replicas else list(self.attempts)[:1]
        attempts = self.attempts.get(names[0]) if names else None
        return time_run(attempts, ended) if attempts else ended - started

    # -- failed, ended -------------------------------------------------------------------------------------------------

    def failed(self) -> Reason:
        first = self._first_failure()
        if self.state.cause == "DeadlineExceeded" and not _failed_by_itself(first):
            allowed = self.spec.run_policy.active_deadline_seconds if self.spec is not None else None
            sentence = _("Ended at its deadline")
            if allowed:
                sentence = _("Ended at its deadline of {duration}", duration=duration(allowed))
            hint = _("Give it a longer deadline, or none, and run it again.")
            return made("DeadlineExceeded", sentence, hint, verbatim=self.state.message)
        return self._failed_unseen() if first is None else self._of_failure(first)

    def ended(self) -> Reason:
        """Return how the training ended of a job that its controller still counts as active."""
        over = [replica for replica in self.replicas if has_finished(replica, self.state)]
        hint = held_by(names_of(map(lingering, over)))
        first = self._first_failure()
        if first is None:
            return made("TrainingEnded", self._still_running(going_on(self._without_error(over), over)), hint)
        reason = self._of_failure(first)
        sentence = self._still_running(going_on(Text.restored(reason.sentence), over))
        hint = sentences(reason.hint, hint)
        whole_reason = made(reason.code, sentence, hint, verbatim=reason.verbatim, fix=reason.fix)
        return whole_reason.model_copy(update={"links": reason.links})

    def _without_error(self, over: Sequence[ReplicaView]) -> Text:
        """Return that the training ended without an error, of these replicas."""
        total = len(self.replicas)
        if total == 1:
            return _("The training has ended without an error")
        if len(over) == total:
            return _n("{n} replica has ended without an error", "All {n} replicas have ended without an error", total)
        return _("{replica} has ended without an error", replica=named(over[0].name))

    def _still_running(self, end: Text) -> Text:
        """Return how the training ended, and how many replicas still run."""
        running, total = sum(map(runs, self.replicas)), len(self.replicas)
        if not running:
            return end
        return _n(
            "{end}; {n} of {total} replicas still runs",
            "{end}; {n} of {total} replicas still run",
            running,
            end=end,
            total=total,
        )

    def _first_failure(self) -> Ending | None:
        cordoned = self.room.cordoned if self.room is not None else ()
        return first_failure(self.replicas, self.state, self.own, self.attempts, self.endings, cordoned=cordoned)

    def _of_failure(self, first: Ending) -> Reason:
        """Return which replica failed, and how; the log of its ranks may tell more than its pod."""
        used_up, failure = self._used_up(first), self.failure
        code = "BackoffLimitExceeded" if used_up and first.code == "ExitCode" else first.code
        if failure is not None and first.code == "ExitCode" and (failure.rank is not None or failure.error):
            return reason_of_failure(failure, self._who(first), code, used_up)
        if failure is not None:
            first = with_signal(first, failure)
        note = failure.note if failure is not None and first.code == "ExitCode" else None
        again = _("Run it again.") if first.rerun and self.state.phase == "Failed" else None
        hint = sentences(note, first.hint, used_up, again)
        words = first.verbatim or self.state.message
        reason = made(code, first.of(self._who(first)), hint, verbatim=words, fix=self._more_memory(first))
        return reason.model_copy(update={"links": links_of(failure)})

    def _failed_unseen(self) -> Reason:
        """Return why the job failed if nothing is known of the ends of its pods."""
        message = self.state.message
        if self.state.cause == "BackoffLimitExceeded":
            sentence = _("It failed, and its restarts are used up")
            return made("BackoffLimitExceeded", sentence, self._limit_used_up(), verbatim=message)
        without_pods = all(replica.pod is None for replica in self.replicas)
        refusal = of_pods(self.own, now=self.now) if without_pods else None
        if refusal is not None:
            return refusal
        gone = None
        if self.replicas and without_pods:
            gone = _("Its pods are gone, and their ends were not recorded.")
        if message:
            return made("Failed", _("The job failed: {message}", message=message), gone, verbatim=message)
        hint = sentences(gone, _("The cluster does not give a cause. The log of the job may."))
        return made("Failed", _("The job failed"), hint)

    def _used_up(self, first: Ending) -> Text | None:
        """Return the sentence that no restart is left, if the job would have been restarted otherwise."""
        return self._limit_used_up() if self.state.cause == "BackoffLimitExceeded" else None

    def _limit_used_up(self) -> Text | None:
        limit = self.spec.run_policy.backoff_limit if self.spec else self.state.restarts
        return _n("Its one restart is used up.", "All {n} restarts are used up.", limit) if limit else None

    def _who(self, ending: Ending) -> str:
        """Return the subject of the sentence about an end."""
        if len(self.replicas) > 1:
            return named(ending.replica.name)
        if ending.code != "ExitCode" or self.spec is None:
            return _("The job")
        if self.spec.torchrun is not None:
            return "torchrun"
        return _("The command") if self.spec.entrypoint.kind == "command" else _("The script")

    def _more_memory(self, first: Ending) -> Fix | None:
        """Return a fix that doubles the memory of a job that ran out of it."""
        if first.code != "OOMKilled" or self.spec is None:
            return None
        group = first.replica.group(self.spec)
        memory = self.spec.replica_specs[group].resources.memory
        size = amount(memory.limit)
        if size is None or not 2**20 <= size < 2**50:
            return None
        twice = f"{round(2 * size / 2**30)}Gi" if size >= 2**30 else f"{round(2 * size / 2**20)}Mi"
        field = f"/spec/replica_specs/{group}/resources/memory"
        changes = {f"{field}/limit": twice}
        if memory.request == memory.limit:
            changes[f"{field}/request"] = twice
        return Fix(label=_("Clone with {memory}", memory=twice), changes=changes)


def _failed_by_itself(first: Ending | None) -> bool:
    """Return True if a replica failed on its own, rather than being ended at the deadline."""
    return first is not None and first.code != "DeadlineExceeded" and first.exit_code not in (None, 137, 143)
