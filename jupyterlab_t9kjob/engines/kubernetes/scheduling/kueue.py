"""A job that Kueue queues: whether it is let in, and if not, why, from its Workload.

Kueue suspends such a job until its queue has room for the whole of it, and takes it out again when it has to. It undoes
a suspension, and the end of one, that others ask for: what pauses a job of Kueue is its Workload's ``spec.active``
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
from ....core.quantity import amount
from ..client.api import Json
from ..client.json_access import moment, part, parts, text, value, whole
from ..objects.kinds import State, conditions, holds, stopped
from ..objects.requests import requests_of
from ..objects.resources import exact, quantity, said
from ..objects.text import counted, joined, made, named, waited

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

_EVICTIONS: Final = {
    "Preempted": "It had to make room for another job.",
    "PodsReadyTimeout": "Its replicas were not all up in time, so Kueue has taken it out.",
    "AdmissionCheck": "A check of its queue failed, so Kueue has taken it out.",
    "ClusterQueueStopped": "Its queue was stopped, so Kueue has taken it out.",
    "LocalQueueStopped": "Its queue was stopped, so Kueue has taken it out.",
    "NodeFailures": "A node that it ran on failed, so Kueue has taken it out.",
}
"""Why a job that ran waits again, by the reason of its Workload's condition `Evicted`."""

_STARTS: Final = "It starts by itself when its queue has room for the whole job."
_NEW_SECONDS: Final = 60.0
"""How long Kueue may take to see a new job."""


@dataclass(frozen=True)
class KueueHold:
    """What Kueue has to do with a job that it queues.

    Attributes
    ----------
    queue
        The LocalQueue's name; empty where nobody tells.
    workload
        What Kueue says of the job; None where that may not be read, or is not there yet.
    ahead
        Workloads of the same queue that come before it, as far as they can be seen.
    changeable
        Whether it can be paused and resumed, or why not.
    """

    queue: str
    workload: Json | None
    ahead: int
    changeable: Capability

    @property
    def active(self) -> bool:
        """Whether Kueue may let it in."""
        return value(self.workload, "spec", "active") is not False


def overlooked(manifest: Json, *, now: float) -> bool:
    """Whether Kueue does not look after a suspended job of which it says nothing.

    It suspends what comes into its queues, and has a Workload for it within moments; what we have paused ourselves
    without one was none of Kueue's then.
    """
    ours = any(text(manifest, "metadata", "annotations", name) is not None for name in (PAUSED, STOPPED))
    return ours or now - (moment(manifest, "metadata", "creationTimestamp") or 0.0) > _NEW_SECONDS


def state_of(state: State, manifest: Json, hold: KueueHold) -> State:
    """Return a job's state, given that it is Kueue which suspends it: only one that was deactivated is paused."""
    if not hold.active:
        return replace(state, paused=True)
    if state.cause == "Stopped" and stopped(manifest):
        state = replace(state, phase="Paused", ended_at=None, cause=None)  # it was activated again elsewhere
    if state.phase == "Paused" or (state.paused and state.phase in ("Pending", "Resuming")):
        return replace(state, phase="Pending", paused=False, held=True, cause=None, message=None)
    return replace(state, paused=False, held=state.paused)


def deactivated(hold: KueueHold) -> Reason | None:
    """Return why Kueue itself has taken a job out for good; None if it has not."""
    evicted = part(conditions(hold.workload or {}).get("Evicted"))
    message = text(evicted, "message") or ""
    if hold.active or not holds(evicted) or " due to " not in message:
        return None
    if "maximum execution time" in message:
        words = "it ran longer than it may"
    elif "re-queuing retries" in message:
        words = "its replicas were not all up in time, again and again"
    elif "check" in message:
        words = "a check of its queue refuses it"
    else:
        words = named(message.partition(" due to ")[2])
    again = "Resume puts it into its queue again."
    return made("PausedByPlatform", f"Taken out of {_queue(hold)} by Kueue: {words}", again, verbatim=message)


def leaving(hold: KueueHold) -> Reason:
    """Return why Kueue takes out a job whose pods still end."""
    evicted = part(conditions(hold.workload or {}).get("Evicted"))
    why = _EVICTIONS.get(text(evicted, "reason") or "") if holds(evicted) else None
    return made("TakenOut", f"Kueue is taking it out of {_queue(hold)}", why, verbatim=text(evicted, "message"))


def waiting(hold: KueueHold, *, now: float) -> Reason:
    """Return why Kueue has not let a job in."""
    where = f"Waits in {_queue(hold)}"
    found = conditions(hold.workload or {})
    evicted = part(found.get("Evicted"))
    again = _EVICTIONS.get(text(evicted, "reason") or "") if holds(evicted) else None
    if hold.workload is None:
        return made("InQueue", f"{where} for Kueue to let it in", _STARTS)
    if holds(found.get("Admitted")):
        return made("LetIn", f"{_queue(hold, 'Queue')} has let it in, and it is being started")
    if holds(found.get("QuotaReserved")):
        return _checked(hold, now)
    message = text(found.get("QuotaReserved"), "message") or ""
    reason = _why(hold, where, message)
    ahead = f"; {counted(hold.ahead, 'job')} {'is' if hold.ahead == 1 else 'are'} ahead of it" if hold.ahead else ""
    since = moment(evicted, "lastTransitionTime") if again else moment(hold.workload, "metadata", "creationTimestamp")
    wait = waited(since, now, " · waiting ")
    told = text(evicted, "message") if again and not message else message
    return made(reason.code, f"{reason.sentence}{ahead}{wait}", joined(again, reason.hint), verbatim=told)


def _why(hold: KueueHold, where: str, message: str) -> Reason:
    """Say what a Workload's own words amount to."""
    queue, preempts, none = _QUEUE.search(message), _PREEMPTS.search(message), _NO_QUOTA.search(message)
    if queue is not None:
        return _no_queue(where, queue["kind"], named(queue["name"]), missing=queue["missing"] is not None)
    if _OTHER_NAMESPACE in message:
        hint = "Run it again in another queue, or ask whoever runs this one."
        return made("QueueNotOpen", f"{where}, which is not open to its namespace", hint)
    if none is not None:
        hint = "It does not start until the queue has some. Run it again in another queue, or without asking for it."
        return made("AboveQueueQuota", f"{where}, which has no {named(none['resource'])} at all", hint)
    if preempts is not None:
        others = counted(int(preempts["count"]), "less important job")
        return made("InQueue", f"{where} for {others} to make room for it")
    return _lack(hold, where, message) or made("InQueue", f"{where} for Kueue to let it in", _STARTS)


def _no_queue(where: str, kind: str, name: str, *, missing: bool) -> Reason:
    """Say that the job's queue, or the one behind it, is not there or stopped."""
    if kind == "LocalQueue" and missing:
        hint = "Run it again in a queue that exists; it starts by itself if somebody makes this one."
        return made("NoSuchQueue", f"There is no queue {name} in its namespace", hint)
    hint = "It starts by itself when whoever runs the queue has put that right. Another queue may be open."
    if kind == "LocalQueue":
        return made("QueueStopped", f"{where}, which is stopped", hint)
    return made("QueueStopped", f"{where}: its ClusterQueue {name} {'is not there' if missing else 'is stopped'}", hint)


def _lack(hold: KueueHold, where: str, message: str) -> Reason | None:
    """Say of what the queue has too little, free or at all."""
    above = [(match, amount(match["most"])) for match in _ABOVE.finditer(message[:20_000])]
    lacks = [(match, amount(match["more"])) for match in _LACKS.finditer(message[:20_000])]
    if lacks:
        # of several flavors the one that lacks least decides
        match, more = min(lacks, key=lambda one: one[1] or 0.0)
        resource = match["resource"]
        free = max(0.0, _asked(hold, resource, message) - (more or 0.0))
        needs = f"needs {said(resource, _asked(hold, resource))}, {quantity(resource, free)} of its quota"
        return made("InQueue", f"{where}: {needs} {'is' if free == 1 else 'are'} free", _STARTS)
    if above:
        match, most = max(above, key=lambda one: one[1] or 0.0)
        resource = match["resource"]
        asked, room = said(resource, _asked(hold, resource)), quantity(resource, most or 0.0)
        hint = "It does not start until the quota is raised. Ask for less, or use another queue."
        return made("AboveQueueQuota", f"{where}: needs {asked}, and the most that it can have there is {room}", hint)
    return None


def _checked(hold: KueueHold, now: float) -> Reason:
    """Say for which check a Workload waits that has its quota."""
    checks = [check for check in parts(hold.workload, "status", "admissionChecks") if check.get("state") != "Ready"]
    start = f"{_queue(hold, 'Queue')} has room for it"
    if not checks:
        return made("LetIn", f"{start}, and it is about to be let in")
    check = checks[0]
    name, since = named(text(check, "name") or ""), moment(check, "lastTransitionTime")
    wait = waited(since, now, " · waiting ")
    return made("WaitingForCheck", f"{start}; it waits for the check {name}{wait}", verbatim=text(check, "message"))


def _queue(hold: KueueHold, word: str = "queue") -> str:
    return f"{word} {named(hold.queue)}" if hold.queue else f"{'Its' if word[0] == 'Q' else 'its'} queue"


def _asked(hold: KueueHold, resource: str, message: str | None = None) -> float:
    """Return what a Workload asks for, in the resource's base unit.

    Parameters
    ----------
    message
        With it: as much as Kueue had counted when it wrote this, which is up to the first pod set that did not fit.
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
