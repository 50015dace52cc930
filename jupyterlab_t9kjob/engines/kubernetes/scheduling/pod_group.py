"""Reasons for which T9k's scheduler has not given a job resources, read from the job's PodGroup (t9k-facts.md, Queues).

Only the names of the conditions, and their messages for success, are documented. Other messages are shown verbatim.
"""

from __future__ import annotations

from ....core.job import Reason
from ....core.translation import _, _n
from ..client.api import Json
from ..client.json_access import moment, part, text, whole
from ..objects.kinds import conditions, holds
from ..objects.text import made, named, waiting_since


def waiting(group: Json, *, now: float) -> Reason | None:
    """Return why the scheduler has given a job no resources; None if it has, or if the PodGroup does not tell.

    Parameters
    ----------
    group
        The job's PodGroup.
    now
        Seconds since the epoch.
    """
    found = conditions(group)
    scheduled, complete = part(found.get("GroupScheduled")), part(found.get("SufficientGroupMember"))
    if holds(scheduled) or not (scheduled or complete):
        return None
    queue = named(text(group, "spec", "queue") or "default")
    since = moment(group, "metadata", "creationTimestamp")
    if complete and not holds(complete):
        sentence = _n(
            "Waits in queue {queue} until {n} pod of it exists",
            "Waits in queue {queue} until {n} pods of it exist",
            whole(group, "spec", "minMember") or 1,
            queue=queue,
        )
        return made("InQueue", waiting_since(sentence, since, now), verbatim=text(complete, "message"))
    sentence = _("Waits in queue {queue} for T9k's scheduler to give it resources", queue=queue)
    hint = _("It starts when its queue, and the nodes of it, have room for all of its pods at once.")
    verbatim = text(scheduled, "message") or text(scheduled, "reason")
    return made("InQueue", waiting_since(sentence, since, now), hint, verbatim=verbatim)
