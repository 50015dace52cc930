"""Active jobs: what they wait for, and which of their replicas run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ....core.job import Reason
from ....core.spec import Debug, JobSpec
from ....core.translation import Text, _, _n, sentences
from ..client.api import Json
from ..client.json_access import moment, text
from ..objects.events import ClusterEvent, kind_of, newest_first, read, uid_of
from ..objects.kinds import ReplicaView, State
from ..objects.pods.pod import is_running
from ..objects.text import cleaned, lasting_since, listed, made, minutes_since, named
from ..scheduling import kueue, pod_group
from ..scheduling.kueue import KueueHold
from ..scheduling.node_fit import ClusterRoom
from .api_refusals import of_pods
from .exits import ending_of, lost
from .finished import has_finished, lingering
from .replica import of_pod

_OTHERS: Final = 2
_WEIGHTS: Final = {
    **dict.fromkeys(("QuotaExceeded", "QuotaNeedsResources", "Refused", "WebhookDown"), 0),
    **dict.fromkeys(("Unschedulable", "NoPlaceYet", "NoSuchClaim", "UnboundClaim"), 1),
    **dict.fromkeys(("SchedulingGated", "InQueue", "NotScheduled", "MakingRoom"), 3),
    **dict.fromkeys(("Pulling", "ContainerCreating"), 4),
    **dict.fromkeys(("WaitingForMaster", "InitContainer"), 5),
}
"""Order of replicas' reasons as the cause of the job's wait, by code; less is better, `_OTHERS` for other codes."""


@dataclass(frozen=True)
class ActiveJob:
    """A job that is pending or running; see `.job.reason_of` for the attributes."""

    manifest: Json
    spec: JobSpec | None
    state: State
    replicas: Sequence[ReplicaView]
    events: Sequence[Json]
    now: float
    room: ClusterRoom | None
    hold: KueueHold | None
    group: Json | None

    @cached_property
    def own(self) -> list[ClusterEvent]:
        """Events of the job's object, newest first."""
        return newest_first(event for event in self.events if kind_of(event) != "Pod")

    def pending(self) -> Reason:
        """Return what a job waits for: the reason of the replicas that explains the wait best."""
        if self.state.held and self.hold is not None:
            return kueue.waiting(self.hold, now=self.now)
        wait = self._of_group(self._wait())
        back = sum(map(runs, self.replicas))
        if self.state.phase == "Resuming":
            return self._resuming(back, wait)
        if wait is not None:
            return wait
        if self.replicas and back == len(self.replicas):
            return self.running()
        since = moment(self.manifest, "metadata", "creationTimestamp")
        hint = _("The job's controller in this cluster has not reported anything; it may be down.")
        return made(
            "Creating",
            lasting_since(_("Its replicas are being created"), since, self.now),
            hint if minutes_since(since, self.now) else None,
            verbatim=self.state.message,
        )

    def _resuming(self, back: int, wait: Reason | None) -> Reason:
        total = len(self.replicas)
        if total > 1:
            state = _n("{n} of {total} replicas is back", "{n} of {total} replicas are back", back, total=total)
        else:
            state = _("It starts again")
        return _waiting(state, wait) if wait is not None else made("Resuming", state)

    def running(self) -> Reason:
        """Return how many replicas run, and why the others do not."""
        if self.state.held and self.hold is not None:
            return kueue.leaving(self.hold)
        total, running = len(self.replicas), sum(map(runs, self.replicas))
        if all(replica.pod is None for replica in self.replicas):
            if total <= 1:
                return made("Started", _("Running"))
            return made("Started", _n("Its {n} replica is running", "Its {n} replicas are running", total))
        if running == total and self.spec is not None and self.spec.debug is not None:
            return self._debugged([one.command for one in self.spec.debug.values()] or [Debug().command])
        if running == total:
            node = text(self.replicas[0].pod, "spec", "nodeName")
            if total > 1:
                return made("Started", _n("{n} replica is running", "All {n} replicas are running", total))
            return made("Started", _("Running on {node}", node=named(node)) if node else _("Running"))
        wait = self._wait()
        if total == 1:
            return wait or made("Started", _("Its pod is starting"))
        state = _n("{n} of {total} replicas is running", "{n} of {total} replicas are running", running, total=total)
        done = sum(_is_done(replica, self.state) for replica in self.replicas)
        if done:
            state = _n(
                "{state}, {n} has ended without an error", "{state}, {n} have ended without an error", done, state=state
            )
        return _waiting(state, wait) if wait is not None else made("Started", state)

    def _debugged(self, commands: Sequence[Sequence[str]]) -> Reason:
        """Return that the pods run other commands in debug mode."""
        lines, pods = {shlex.join(command) for command in commands}, len(self.replicas)
        if len(lines) == 1:
            sentence = _n(
                "Debug mode: its pod runs “{command}” in place of the training",
                "Debug mode: its {n} pods run “{command}” in place of the training",
                pods,
                command=named(lines.pop()),
            )
        else:
            sentence = _n(
                "Debug mode: its pod runs other commands in place of the training",
                "Debug mode: its {n} pods run other commands in place of the training",
                pods,
            )
        hint = _("Open a terminal in a pod to look around. Run it again without debug mode to train.")
        return made("Debug", sentence, hint)

    def unknown(self) -> Reason:
        """Return that the cluster does not report the job's state."""
        hint = _("Its node may be unreachable. The state is shown again when the cluster reports it.")
        return made("Unknown", _("The cluster does not report its state"), hint, verbatim=self.state.message)

    def _wait(self) -> Reason | None:
        """Return the reason that explains the wait best, with the replicas that have it."""
        reasons: dict[tuple[str, str], Reason] = {}
        waiters: dict[tuple[str, str], list[ReplicaView]] = {}
        for replica, reason in self._waits():
            key = (reason.code, reason.sentence)
            reasons.setdefault(key, reason)
            waiters.setdefault(key, []).append(replica)
        if not reasons:
            # The event of a refusal need not name the pod.
            without_pod = any(replica.pod is None for replica in self.replicas)
            return of_pods(self.own, now=self.now) if without_pod else None
        best = min(reasons, key=lambda key: (_WEIGHTS.get(key[0], _OTHERS), -len(waiters[key])))
        reason, names = reasons[best], [replica.name for replica in waiters[best]]
        if len(self.replicas) == 1:
            return self._made_room(reason)
        if len(names) == len(self.replicas):
            sentence = _n("{n} replica: {reason}", "All {n} replicas: {reason}", len(names), reason=reason.sentence)
        else:
            sentence = _("{replicas}: {reason}", replicas=listed(names, 2), reason=reason.sentence)
        return self._made_room(reason.model_copy(update={"sentence": cleaned(sentence)}))

    def _of_group(self, wait: Reason | None) -> Reason | None:
        """Return what T9k's scheduler says about the whole job if the reasons of its pods say nothing."""
        if self.group is None or (wait is not None and wait.code not in ("NotScheduled", "NoPlaceYet")):
            return wait
        return pod_group.waiting(self.group, now=self.now) or wait

    def _waits(self) -> Iterator[tuple[ReplicaView, Reason]]:
        """Yield the replicas that do not run, each with the reason."""
        events: dict[str, list[Json]] = {}
        for event in self.events:
            events.setdefault(uid_of(event), []).append(event)
        for replica in self.replicas:
            reason = None
            if replica.pod is None:
                reason = of_pods(self.own, replica, now=self.now)
            elif not _is_done(replica, self.state) and not runs(replica):
                own = events.get(replica.pod_uid or "", [])
                reason = of_pod(replica, self.state, own, now=self.now, room=self.room)
            if reason is not None:
                yield replica, reason

    def _made_room(self, reason: Reason) -> Reason:
        """Return a reason with the hint that a pod of the job was preempted lately, which is why it waits again."""
        uids = {replica.pod_uid for replica in self.replicas}
        gone = next(
            (event for event in self.events if event.get("reason") == "Preempted" and uid_of(event) not in uids), None
        )
        if gone is None:
            return reason
        preempted = _("Its pod {pod} had to make room for a more important one.", pod=named(read(gone).name))
        return reason.model_copy(update={"hint": sentences(preempted, reason.hint)})


def _waiting(state: Text, wait: Reason) -> Reason:
    """Return what runs, and why the rest waits."""
    sentence = _("{state} · {reason}", state=state, reason=wait.sentence)
    return made(wait.code, sentence, sentences(wait.hint), verbatim=wait.verbatim, fix=wait.fix)


def runs(replica: ReplicaView) -> bool:
    """Return True if a replica runs, and the cluster is not ending its pod."""
    return is_running(replica) and lost(replica) is None


def _is_done(replica: ReplicaView, state: State) -> bool:
    """Return True if a replica's training has ended without an error, and nothing keeps its pod running."""
    return has_finished(replica, state) and not lingering(replica) and ending_of(replica) is None
