"""Jobs in a queue of Kueue: state and waiting reason, read from the job's Workload.

Kueue suspends a job until its queue admits the whole job, and evicts the job from the queue when it has to. Kueue
reverts suspensions and resumptions by others; ``spec.active`` of the Workload pauses a job of Kueue
[kueue.sigs.k8s.io/docs/concepts/workload; messages as of Kueue 0.9 to 0.18].
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Final

from ....core.checks import Capability
from ....core.job import Reason
from ....core.manifests.names import PAUSED, STOPPED
from ....core.texts.quantity import amount
from ....core.translation import Text, _, _n, sentences
from ..client.api import Json
from ..client.json_access import moment, part, parts, text, value, whole
from ..objects.kinds import State, conditions, holds, stopped
from ..objects.pods.requests import requests_of
from ..objects.resources import exact, quantity, said
from ..objects.text import made, named, waiting_since

_POD_SET: Final = re.compile(r"assign flavors to pod set (?P<name>[^\s:]{1,253}):")
_LACKS: Final = re.compile(
    r"insufficient unused quota for (?P<resource>[^\s,]{1,316}) in flavor [^\s,]{1,253},"
    r" (?P<more>[^\s,;]{1,30}) more needed"
)
_ABOVE: Final = re.compile(
    r"insufficient quota for (?P<resource>[^\s,]{1,316}) in flavor [^\s,]{1,253},[^;]{1,200}?> maximum capacity"
    r" \((?:[^\s()]{1,30} > )?(?P<most>[^\s()]{1,30})\)"
)
_NO_QUOTA: Final = re.compile(r"resource (?P<resource>[^\s,]{1,316}) unavailable in ClusterQueue")
_PREEMPTS: Final = re.compile(r"Pending the preemption of (?P<count>\d{1,6}) workload")
_QUEUE: Final = re.compile(
    r"(?P<kind>LocalQueue|ClusterQueue) (?P<name>\S{1,253})"
    r" (?:(?P<missing>doesn't exist|is terminating or missing|not found)|is (?:inactive|stopped))"
)
_OTHER_NAMESPACE: Final = "namespace doesn't match ClusterQueue selector"

_STARTS: Final = _("It starts by itself when its queue has room for the whole job.")
_NEW_SECONDS: Final = 60.0
"""Time that Kueue may take to make a Workload for a new job."""


@dataclass(frozen=True)
class KueueHold:
    """Kueue's view of a job that it queues.

    Attributes
    ----------
    queue
        Name of the LocalQueue; empty if it is not known.
    workload
        The job's Workload; None if this account can't read it, or it does not exist yet.
    ahead
        Number of Workloads of the same queue that come before the job's, as far as they can be read.
    changeable
        Whether the job can be paused and resumed, or why not.
    """

    queue: str
    workload: Json | None
    ahead: int
    changeable: Capability

    @property
    def active(self) -> bool:
        """True if Kueue may admit the job."""
        return value(self.workload, "spec", "active") is not False

    @property
    def queue_name(self) -> str:
        """Name of the queue for use in a sentence."""
        return named(self.queue) if self.queue else _("(unknown)")


def overlooked(manifest: Json, *, now: float) -> bool:
    """Return True if Kueue does not manage a suspended job that has no Workload.

    Kueue suspends a new job of its queues and makes a Workload within moments. A job that a lab paused and that has no
    Workload was therefore not managed by Kueue before the pause either.

    Parameters
    ----------
    manifest
        The job's object.
    now
        Seconds since the epoch.
    """
    ours = any(text(manifest, "metadata", "annotations", name) is not None for name in (PAUSED, STOPPED))
    return ours or now - (moment(manifest, "metadata", "creationTimestamp") or 0.0) > _NEW_SECONDS


def state_of(state: State, manifest: Json, hold: KueueHold) -> State:
    """Return the state of a job that Kueue suspends: it is paused only if its Workload was deactivated.

    Parameters
    ----------
    state
        State that the job's object alone shows.
    manifest
        The job's object.
    hold
        Kueue's view of the job.
    """
    if not hold.active:
        return replace(state, paused=True)
    if state.cause == "Stopped" and stopped(manifest):
        state = replace(state, phase="Paused", ended_at=None, cause=None)  # Somebody activated the Workload elsewhere.
    if state.phase == "Paused" or (state.paused and state.phase in ("Pending", "Resuming")):
        return replace(state, phase="Pending", paused=False, held=True, cause=None, message=None)
    return replace(state, paused=False, held=state.paused)


def deactivated(hold: KueueHold) -> Reason | None:
    """Return why Kueue itself deactivated a job's Workload; None if it did not."""
    evicted = part(conditions(hold.workload or {}).get("Evicted"))
    message = text(evicted, "message") or ""
    if hold.active or not holds(evicted) or " due to " not in message:
        return None
    queue = hold.queue_name
    if "maximum execution time" in message:
        sentence = _("Taken out of queue {queue} by Kueue: it ran longer than its maximum execution time", queue=queue)
    elif "re-queuing retries" in message:
        sentence = _(
            "Taken out of queue {queue} by Kueue: its replicas were not all ready in time, again and again", queue=queue
        )
    elif "check" in message:
        sentence = _("Taken out of queue {queue} by Kueue: a check of the queue refuses it", queue=queue)
    else:
        cause = named(message.partition(" due to ")[2])
        sentence = _("Taken out of queue {queue} by Kueue: {cause}", queue=queue, cause=cause)
    return made("PausedByPlatform", sentence, _("Resume puts it into its queue again."), verbatim=message)


def leaving(hold: KueueHold) -> Reason:
    """Return why Kueue evicts a job whose pods have not ended yet."""
    evicted = _eviction(hold)
    sentence = _("Kueue is taking it out of queue {queue}", queue=hold.queue_name)
    message = text(part(conditions(hold.workload or {}).get("Evicted")), "message")
    return made("TakenOut", sentence, _evicted_because(evicted), verbatim=message)


def waiting(hold: KueueHold, *, now: float) -> Reason:
    """Return why Kueue has not admitted a job.

    Parameters
    ----------
    hold
        Kueue's view of the job.
    now
        Seconds since the epoch.
    """
    found = conditions(hold.workload or {})
    if hold.workload is None:
        return _not_admitted(hold)
    if holds(found.get("Admitted")):
        return made("LetIn", _("Queue {queue} has let it in, and it is being started", queue=hold.queue_name))
    if holds(found.get("QuotaReserved")):
        return _checked(hold, now)
    evicted = _eviction(hold)
    again = _evicted_because(evicted)
    message = text(found.get("QuotaReserved"), "message") or ""
    reason = _why(hold, message)
    sentence = Text.restored(reason.sentence)
    if hold.ahead:
        sentence = _n(
            "{state}; {n} job is ahead of it", "{state}; {n} jobs are ahead of it", hold.ahead, state=sentence
        )
    since = moment(evicted, "lastTransitionTime") if again else moment(hold.workload, "metadata", "creationTimestamp")
    verbatim = text(evicted, "message") if again and not message else message
    return made(reason.code, waiting_since(sentence, since, now), sentences(again, reason.hint), verbatim=verbatim)


def _eviction(hold: KueueHold) -> Json:
    """Return the Workload's condition ``Evicted`` if it holds, else an empty object."""
    evicted = part(conditions(hold.workload or {}).get("Evicted"))
    return evicted if holds(evicted) else {}


def _evicted_because(evicted: Json) -> Text | None:
    """Return why a job that ran waits again, by the reason of the condition ``Evicted``."""
    match text(evicted, "reason"):
        case "Preempted":
            return _("It had to make room for another job.")
        case "PodsReadyTimeout":
            return _("Its replicas were not all ready in time, so Kueue has taken it out.")
        case "AdmissionCheck":
            return _("A check of its queue failed, so Kueue has taken it out.")
        case "ClusterQueueStopped" | "LocalQueueStopped":
            return _("Its queue was stopped, so Kueue has taken it out.")
        case "NodeFailures":
            return _("A node that it ran on failed, so Kueue has taken it out.")
    return None


def _not_admitted(hold: KueueHold) -> Reason:
    """Return the reason of a job that waits in its queue without a message of Kueue."""
    return made("InQueue", _("Waits in queue {queue} for Kueue to let it in", queue=hold.queue_name), _STARTS)


def _why(hold: KueueHold, message: str) -> Reason:
    """Return the reason that a Workload's message gives."""
    queue, preempts, none = _QUEUE.search(message), _PREEMPTS.search(message), _NO_QUOTA.search(message)
    if queue is not None:
        return _no_queue(hold, queue["kind"], named(queue["name"]), missing=queue["missing"] is not None)
    if _OTHER_NAMESPACE in message:
        sentence = _("Waits in queue {queue}, which is not open to its namespace", queue=hold.queue_name)
        hint = _("Run it again in another queue, or ask an administrator of this one.")
        return made("QueueNotOpen", sentence, hint)
    if none is not None:
        sentence = _(
            "Waits in queue {queue}, which has no {resource} at all",
            queue=hold.queue_name,
            resource=named(none["resource"]),
        )
        hint = _("It does not start until the queue has some. Run it again in another queue, or without asking for it.")
        return made("AboveQueueQuota", sentence, hint)
    if preempts is not None:
        sentence = _n(
            "Waits in queue {queue} for {n} less important job to make room for it",
            "Waits in queue {queue} for {n} less important jobs to make room for it",
            int(preempts["count"]),
            queue=hold.queue_name,
        )
        return made("InQueue", sentence)
    return _lack(hold, message) or _not_admitted(hold)


def _no_queue(hold: KueueHold, kind: str, name: str, *, missing: bool) -> Reason:
    """Return the reason of a job whose LocalQueue or ClusterQueue is missing or stopped."""
    if kind == "LocalQueue" and missing:
        hint = _("Run it again in a queue that exists. It starts by itself if this queue is created.")
        return made("NoSuchQueue", _("There is no queue {queue} in its namespace", queue=name), hint)
    hint = _("It starts by itself when an administrator has fixed the queue. Another queue may be open.")
    if kind == "LocalQueue":
        sentence = _("Waits in queue {queue}, which is stopped", queue=hold.queue_name)
    elif missing:
        sentence = _(
            "Waits in queue {queue}: its ClusterQueue {cluster_queue} does not exist",
            queue=hold.queue_name,
            cluster_queue=name,
        )
    else:
        sentence = _(
            "Waits in queue {queue}: its ClusterQueue {cluster_queue} is stopped",
            queue=hold.queue_name,
            cluster_queue=name,
        )
    return made("QueueStopped", sentence, hint)


def _lack(hold: KueueHold, message: str) -> Reason | None:
    """Return the reason of a job whose queue has too little free quota, or too little quota in total."""
    above = [(match, amount(match["most"])) for match in _ABOVE.finditer(message[:20_000])]
    lacks = [(match, amount(match["more"])) for match in _LACKS.finditer(message[:20_000])]
    if lacks:
        # The flavor that lacks least decides.
        match, more = min(lacks, key=lambda one: one[1] or 0.0)
        resource = match["resource"]
        free = max(0.0, _asked(hold, resource, message) - (more or 0.0))
        sentence = _(
            "Waits in queue {queue}: needs {asked}; free in its quota: {free}",
            queue=hold.queue_name,
            asked=said(resource, _asked(hold, resource)),
            free=quantity(resource, free),
        )
        return made("InQueue", sentence, _STARTS)
    if above:
        match, most = max(above, key=lambda one: one[1] or 0.0)
        resource = match["resource"]
        sentence = _(
            "Waits in queue {queue}: needs {asked}, and its quota allows {most} at most",
            queue=hold.queue_name,
            asked=said(resource, _asked(hold, resource)),
            most=quantity(resource, most or 0.0),
        )
        hint = _("It does not start until the quota is raised. Ask for less, or use another queue.")
        return made("AboveQueueQuota", sentence, hint)
    return None


def _checked(hold: KueueHold, now: float) -> Reason:
    """Return the reason of a job that has its quota and waits for an admission check."""
    checks = [check for check in parts(hold.workload, "status", "admissionChecks") if check.get("state") != "Ready"]
    if not checks:
        sentence = _("Queue {queue} has room for it, and it is about to be let in", queue=hold.queue_name)
        return made("LetIn", sentence)
    check = checks[0]
    sentence = _(
        "Queue {queue} has room for it; it waits for the check {check}",
        queue=hold.queue_name,
        check=named(text(check, "name") or ""),
    )
    sentence = waiting_since(sentence, moment(check, "lastTransitionTime"), now)
    return made("WaitingForCheck", sentence, verbatim=text(check, "message"))


def _asked(hold: KueueHold, resource: str, message: str | None = None) -> float:
    """Return the amount of a resource that a Workload asks for, in the resource's base unit.

    Parameters
    ----------
    hold
        Kueue's view of the job.
    resource
        Name of the resource.
    message
        Message of the Workload: count only the pod sets up to the one that it names. Kueue stops counting at the first
        pod set that does not fit.
    """
    last = _POD_SET.search(message) if message is not None else None
    asked: Counter[str] = Counter()
    for pods in parts(hold.workload, "spec", "podSets")[:64]:
        each = requests_of({"spec": part(pods, "template", "spec")})
        count = whole(pods, "count")
        asked[resource] += each[resource] * (1 if count is None else count)
        if last is not None and text(pods, "name") == last["name"]:
            break
    return exact(float(asked[resource]))
