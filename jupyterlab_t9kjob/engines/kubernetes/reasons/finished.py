"""Replicas whose training has ended, before their pods or the job's object say so; and which of them start again.

A pod goes on as long as any of its containers runs, and its phase follows the last container's end by a second or two.
So the state of the training container and the restart policy decide, not the pod's phase.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..client.json_access import part, text, whole
from ..objects.kinds import ReplicaView, State
from ..objects.pods import containers, has_ended, stays, trained, training


def starts_again(place: ReplicaView, state: State) -> bool | None:
    """Return whether a replica that has ended is started again; None where that is not known.

    Parameters
    ----------
    place
        The replica; its pod has ended, its training container has, or the pod is about to be lost.
    state
        The job's.
    """
    if state.paused or state.held or state.phase not in ("Pending", "Running", "Resuming"):
        return False
    policy, code = place.policy, whole(trained(place), "exitCode")
    if policy == "Never":
        return False
    again = {
        "Always": True,
        "OnFailure": code != 0,
        "ExitCode": code is None or code in place.retried,
    }.get(policy or "")
    return None if again and state.used_up else again


def has_finished(place: ReplicaView, state: State) -> bool:
    """Return whether a replica's training has ended for good, as far as that is known."""
    return bool(trained(place) or has_ended(place.pod)) and not starts_again(place, state)


def is_over(places: Sequence[ReplicaView], state: State) -> bool:
    """Return whether a job's training has ended for good: that of its first replica, which decides, or of all."""
    if not places or state.paused or state.held or state.phase not in ("Pending", "Running", "Resuming"):
        return False  # the pods of a job that is paused, or that its queue holds, end for that
    return has_finished(places[0], state) or all(has_finished(place, state) for place in places)


def lingering(place: ReplicaView) -> list[str]:
    """Return the containers that keep a pod from ending whose training has ended.

    A sidecar among the init containers is none of them: its node ends it by itself.
    """
    if not trained(place) or has_ended(place.pod):
        return []
    own = text(training(place), "name")
    others = [(text(one, "name"), status) for init, one, status in containers(place.pod) if not init]
    return [name for name, status in others if name and name != own and not part(status, "state", "terminated")]


def leaving(place: ReplicaView) -> list[str]:
    """Return the sidecars that a node is ending, now that the pod's other containers have ended."""
    if not trained(place) or has_ended(place.pod) or lingering(place):
        return []
    sidecars = [(text(one, "name"), status) for init, one, status in containers(place.pod) if init and stays(one)]
    return [name for name, status in sidecars if name and part(status, "state", "running")]
