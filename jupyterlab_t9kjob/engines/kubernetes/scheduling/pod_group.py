"""What T9k's scheduler says of a job as a whole, in its PodGroup (t9k.md §4.4).

Only the conditions' names, and their words for when all is well, are public; so those for when it is not are passed on.
"""

from __future__ import annotations

from ....core.job import Reason
from ..client.api import Json
from ..client.json_access import moment, part, text, whole
from ..objects.kinds import conditions, holds
from ..objects.text import counted, made, named, waited


def waiting(group: Json, *, now: float) -> Reason | None:
    """Return why the scheduler has given a job no resources; None if it has, or nothing is said."""
    found = conditions(group)
    scheduled, complete = part(found.get("GroupScheduled")), part(found.get("SufficientGroupMember"))
    if holds(scheduled) or not (scheduled or complete):
        return None
    queue = named(text(group, "spec", "queue") or "default")
    wait = waited(moment(group, "metadata", "creationTimestamp"), now, " · waiting ")
    if complete and not holds(complete):
        needed = counted(whole(group, "spec", "minMember") or 1, "pod")
        sentence = f"Waits in queue {queue} until {needed} of it are there{wait}"
        return made("InQueue", sentence, verbatim=text(complete, "message"))
    hint = "It starts when its queue, and the nodes of it, have room for all of its pods at once."
    sentence = f"Waits in queue {queue} for T9k's scheduler to give it resources{wait}"
    return made("InQueue", sentence, hint, verbatim=text(scheduled, "message") or text(scheduled, "reason"))
