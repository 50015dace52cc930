"""Why a job in a cluster is as it is, in words; and refusals of the cluster, at the field."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.errors import JobError
from ...core.job import Reason
from ...core.spec import JobSpec
from .kinds import Place, State
from .transport import ApiError, Json, Unreachable


def reason_of(
    manifest: Json,
    spec: JobSpec | None,
    state: State,
    places: Sequence[Place],
    events: Sequence[Json],
    *,
    now: float,
) -> Reason | None:
    """Return why the job is in its phase, in a sentence, with what to do about it.

    Parameters
    ----------
    manifest
        The job's object.
    spec
        What it amounts to; None if it can't be read.
    state, places
        What its kind says of it.
    events
        The cluster's events of the job and its pods, in any order.
    now
        Seconds since the epoch: a long wait counts up.
    """
    raise NotImplementedError


def place_reason(place: Place, events: Sequence[Json], *, now: float) -> Reason | None:
    """Return why one replica waits or failed; None where its status says it all."""
    raise NotImplementedError


def refused(error: ApiError | Unreachable, manifest: Json | None = None) -> JobError:
    """Return a refusal of the API server as an error for the user, at the field that it means."""
    raise NotImplementedError
