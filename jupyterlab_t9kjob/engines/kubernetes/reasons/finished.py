"""Replicas whose training has ended, before their pods or the job's object say so; and those that start again.

A pod continues as long as one of its containers runs, and its phase follows the end of the last one by a second or two.
Therefore the state of the training container and the restart policy decide, not the pod's phase.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..client.json_access import part, text, whole
from ..objects.kinds import ReplicaView, State
from ..objects.pods.pod import containers, has_ended, stays, trained, training


def starts_again(replica: ReplicaView, state: State) -> bool | None:
    """Return True if a replica that has ended is restarted; None if that is not known.

    Parameters
    ----------
    replica
        The replica: its pod or its training container has ended, or the cluster is ending its pod.
    state
        The job's state.
    """
    if state.paused or state.held or state.phase not in ("Pending", "Running", "Resuming"):
        return False
    policy, code = replica.policy, whole(trained(replica), "exitCode")
    if policy == "Never":
        return False
    again = {
        "Always": True,
        "OnFailure": code != 0,
        "ExitCode": code is None or code in replica.retried,
    }.get(policy or "")
    return None if again and state.used_up else again


def has_finished(replica: ReplicaView, state: State) -> bool:
    """Return True if a replica's training has ended for good, as far as that is known.

    Parameters
    ----------
    replica
        The replica with its newest pod.
    state
        The job's state, which decides whether a replica starts again.
    """
    return bool(trained(replica) or has_ended(replica.pod)) and not starts_again(replica, state)


def is_over(replicas: Sequence[ReplicaView], state: State) -> bool:
    """Return True if a job's training has ended for good: that of its first replica, which decides, or of all.

    Parameters
    ----------
    replicas
        All replicas in the order of `JobKind.replicas`; a job without replicas is not over.
    state
        The job's state. A job that is paused, suspended or has ended is not over in this sense.
    """
    if not replicas or state.paused or state.held or state.phase not in ("Pending", "Running", "Resuming"):
        return False  # Pods of a job that is paused, or suspended by its queue, end because of that.
    return has_finished(replicas[0], state) or all(has_finished(replica, state) for replica in replicas)


def lingering(replica: ReplicaView) -> list[str]:
    """Return the containers that keep a pod running although its training has ended.

    Sidecars among the init containers do not count: the node ends them.
    """
    if not trained(replica) or has_ended(replica.pod):
        return []
    own = text(training(replica), "name")
    others = [(text(one, "name"), status) for init, one, status in containers(replica.pod) if not init]
    return [name for name, status in others if name and name != own and not part(status, "state", "terminated")]


def leaving(replica: ReplicaView) -> list[str]:
    """Return the sidecars that a node is ending, now that the pod's other containers have ended."""
    if not trained(replica) or has_ended(replica.pod) or lingering(replica):
        return []
    sidecars = [(text(one, "name"), status) for init, one, status in containers(replica.pod) if init and stays(one)]
    return [name for name, status in sidecars if name and part(status, "state", "running")]
