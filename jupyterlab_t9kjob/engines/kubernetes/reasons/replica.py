"""Reason for which one replica, or one container of its pod, waits, has failed or continues to run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ....core.job import ENDED_PHASES, Reason
from ....core.translation import Text, _, _n, sentences
from ..client.api import Json
from ..client.json_access import text
from ..objects.events import kind_of, newest_first, uid_of
from ..objects.kinds import ReplicaView, State
from ..objects.pods.pod import has_ended, trained
from ..objects.text import listed, made
from ..scheduling.node_fit import ClusterRoom
from .api_refusals import of_pods
from .exits import Ending, ending_of, lost
from .finished import leaving, lingering, starts_again
from .pod_pending import waiting, waiting_container


def replica_reason(
    replica: ReplicaView, state: State, events: Sequence[Json], *, now: float, room: ClusterRoom | None = None
) -> Reason | None:
    """Return why one replica waits or failed; None if its status says everything.

    Parameters
    ----------
    replica, state
        The replica, and its job's state.
    events
        Events of its pod, or of the job if the replica has no pod; in any order.
    now
        Seconds since the epoch; long waits are counted from their start.
    room
        Nodes of the cluster, if this account can read them.
    """
    if replica.pod is None:
        return of_pods(newest_first(event for event in events if kind_of(event) != "Pod"), replica, now=now)
    own = [event for event in events if uid_of(event) == replica.pod_uid]
    return of_pod(replica, state, own, now=now, room=room)


def container_reason(replica: ReplicaView, name: str, events: Sequence[Json], *, now: float) -> Reason | None:
    """Return why one waiting container of a replica's pod is not started.

    Parameters
    ----------
    replica, now
        See `replica_reason`.
    name
        Name of the container.
    events
        Events of the pod, in any order.
    """
    going, reason = lost(replica), waiting_container(replica, name, events, now=now)
    if going is not None:
        return _of_lost(going, None)
    ending = ending_of(replica) if reason is None else None
    if ending is None:
        return reason
    return made(ending.code, ending.of(_("The replica")), ending.hint, verbatim=ending.verbatim)


def of_pod(
    replica: ReplicaView, state: State, events: Sequence[Json], *, now: float, room: ClusterRoom | None = None
) -> Reason | None:
    """Return why a replica that has a pod does not run; None if it runs, or ended as it should.

    Parameters
    ----------
    replica, state, now, room
        See `replica_reason`.
    events
        Events of the pod, in any order.
    """
    cordoned = room.cordoned if room is not None else ()
    over = state.phase in ENDED_PHASES or state.paused
    going = lost(replica, cordoned)
    if going is not None and going.code == "PodDeleted" and over:
        return None  # The pod is cleaned up, or deleted for a pause.
    if going is not None:
        return _of_lost(going, starts_again(replica, state))
    if not trained(replica) and (reason := waiting(replica, events, now=now, room=room)) is not None:
        return reason
    ending = ending_of(replica, cordoned)
    if ending is not None and ending.code == "PodDeleted" and over:
        return None
    if ending is None and (has_ended(replica.pod) or not trained(replica)):
        return None
    return _of_ending(replica, state, ending)


def _again() -> Text:
    return _("It starts again by itself.")


def _of_lost(going: Ending, again: bool | None) -> Reason:
    """Return why the cluster is ending a pod; `again` is True if the replica is restarted."""
    sentence = _("Its pod is being deleted") if going.code == "PodDeleted" else going.of(_("Its pod"))
    if going.code == "NodeLost":
        hint: Text | None = _("The cluster keeps its pod until the node is back, or removed.")
    else:
        hint = sentences(going.hint, _again() if again else None)
    return made(going.code, sentence, hint, verbatim=going.verbatim)


def _of_ending(replica: ReplicaView, state: State, ending: Ending | None) -> Reason:
    """Return how a replica's training ended, whether it is restarted, and what keeps its pod from ending.

    `ending` is None for a training that ended without an error.
    """
    again, holding = starts_again(replica, state), lingering(replica)
    last = _("Its last attempt")
    waits_for_pod = again and holding and text(replica.pod, "spec", "restartPolicy") in (None, "Never")
    if waits_for_pod:
        sentence = _n(
            "{end}; it starts again once its container {containers} has ended",
            "{end}; it starts again once its containers {containers} have ended",
            len(holding),
            end=_end(ending, last),
            containers=listed(holding),
        )
    elif again and not has_ended(replica.pod):
        sentence = _("{end}; it starts again", end=_end(ending, last))
    else:
        sentence = going_on(_end(ending, _("The replica")), [replica])
    hint = sentences(
        ending.hint if ending is not None else None,
        _again() if again and has_ended(replica.pod) else None,
        held_by(holding) if not again else None,
    )
    code = ending.code if ending is not None else "TrainingEnded"
    return made(code, sentence, hint, verbatim=ending.verbatim if ending is not None else None)


def _end(ending: Ending | None, who: Text) -> Text:
    return (
        ending.of(who) if ending is not None else _("{who} ended without an error ({exit_code})", who=who, exit_code=0)
    )


def going_on(end: Text, replicas: Sequence[ReplicaView]) -> Text:
    """Return how the training ended, and what still runs in the pods.

    Parameters
    ----------
    end
        How the training ended, a sentence without a full stop.
    replicas
        The replicas whose training has ended.
    """
    pods = len(replicas)
    holding, sidecars = names_of(map(lingering, replicas)), names_of(map(leaving, replicas))
    if holding and pods == 1:
        return _n(
            "{end}; its pod continues because the container {containers} still runs",
            "{end}; its pod continues because the containers {containers} still run",
            len(holding),
            end=end,
            containers=listed(holding),
        )
    if holding:
        return _n(
            "{end}; their pods continue because the container {containers} still runs",
            "{end}; their pods continue because the containers {containers} still run",
            len(holding),
            end=end,
            containers=listed(holding),
        )
    if sidecars and pods == 1:
        return _("{end}; its pod ends as soon as {containers} has ended", end=end, containers=listed(sidecars))
    if sidecars:
        return _("{end}; their pods end as soon as {containers} has ended", end=end, containers=listed(sidecars))
    return end


def held_by(holding: Sequence[str]) -> Text | None:
    """Return what to do about containers that keep a pod from ending; None without any."""
    if not holding:
        return None
    stop = _n(
        "The cluster counts the job as running until that container has ended.",
        "The cluster counts the job as running until those containers have ended.",
        len(holding),
    )
    free = _("Stop or delete it to free what it holds.")
    istio = _('The annotation sidecar.istio.io/inject: "false" on its pods keeps Istio out of the next job.')
    return sentences(stop, free, istio if "istio-proxy" in holding else None)


def names_of(lists: Iterable[Sequence[str]]) -> list[str]:
    """Return the names of all lists, each one once."""
    return list(dict.fromkeys(name for names in lists for name in names))
