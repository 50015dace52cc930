"""Names of the sampled values."""

from __future__ import annotations

from typing import NamedTuple


class Column(NamedTuple):
    """One sampled value.

    Attributes
    ----------
    replica
        Name of the replica; None for a value of the whole job or of its machine.
    kind
        Part that the value belongs to: ``job``, ``replica``, ``rank`` or ``gpu``.
    number
        Global rank, or number of the GPU in its replica; None for a job or a replica.
    metric
        Name of the metric: ``cpu`` (cores), ``memory`` (bytes), ``disk``, ``disk_read``, ``network`` (bytes a second),
        ``gpu_use`` (percent), ``gpu_memory`` (bytes), ``gpu_power`` (watts), ``throttled`` (share of the scheduler's
        periods, 0 to 1), ``shm`` (bytes).
    """

    replica: str | None
    kind: str
    number: int | None
    metric: str
