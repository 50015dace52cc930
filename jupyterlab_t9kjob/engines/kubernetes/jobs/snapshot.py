"""The state of one job at one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ....core.checks import Capability
from ....core.job import Failure, PendingAction, Reason
from ....core.translation import Text
from ..client.api import Json
from ..objects.kinds import ReplicaView, State
from ..scheduling.kueue import KueueHold
from ..scheduling.node_fit import ClusterRoom
from .tracked_job import TrackedJob


@dataclass(frozen=True)
class JobSnapshot:
    """A job and everything that is known of it at one moment; `Observer` makes it.

    Attributes
    ----------
    job
        The job.
    manifest
        Its object.
    state
        The state as the job's kind reads it from the object and the pods.
    replicas
        The replicas with their newest pods; empty if the job is not in the cluster.
    events
        Events of the job and its pods, in no order.
    reason
        Why the job is in its state.
    permissions
        The account's permissions in the job's namespace, by the names of `ClusterInfo.rights`.
    pausable
        Tells if the job can be paused, and if not, why.
    mine
        True if the user of this lab submitted the job.
    hold
        State of the job in its Kueue queue; None if Kueue does not queue the job.
    failure
        The rank that failed first; None if it is not known.
    over
        True if the training has ended for good, even if the object says that the job is active.
    read_only
        Why no action is possible on the job; None if actions are possible.
    pending
        Action that was requested and has not taken effect.
    complete
        True if the job's pods are known: they have been listed, or the job has none any more.
    removable
        True if only the record is left of the job.
    room
        Nodes and quotas of the cluster; None if they are not known.
    """

    job: TrackedJob
    manifest: Json
    state: State
    replicas: Sequence[ReplicaView]
    events: Sequence[Json]
    reason: Reason | None
    permissions: Mapping[str, Capability]
    pausable: Capability
    mine: bool
    hold: KueueHold | None = None
    failure: Failure | None = None
    over: bool = False
    read_only: Text | None = None
    pending: PendingAction | None = None
    complete: bool = True
    removable: bool = False
    room: ClusterRoom | None = None
