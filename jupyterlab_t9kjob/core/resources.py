"""Samples of the resources that a job uses, as an engine returns them (`core.engine.options.HasResources`).

The sampler of local jobs uses this module, so it needs only the standard library.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from .job import Reason
    from .translation import Text


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


@dataclass
class Segment:
    """Consecutive frames with the same columns.

    Attributes
    ----------
    columns
        The columns.
    width
        Values for each column: 1, or 3 for minimum, mean and maximum.
    facts
        Facts that the writer noted with the columns, such as limits.
    times, seconds
        Start and duration of each frame, in seconds.
    values
        The values of all frames, frame by frame; NaN for one that is missing.
    """

    columns: list[Column]
    width: int
    facts: dict[str, Any]
    times: array[float] = field(default_factory=lambda: array("d"))
    seconds: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("f"))


@dataclass(frozen=True)
class Level:
    """A horizontal line in the charts of a metric.

    Attributes
    ----------
    metric
        The metric.
    kind
        ``limit`` for a value that can't be exceeded, ``request`` for one that is reserved, ``share`` for an even share.
    value
        The value, in the metric's unit.
    part
        Part to which the line applies: ``job``, ``replica``, ``rank`` or ``gpu``.
    label
        Words for the line: “limit 32”.
    """

    metric: str
    kind: Literal["limit", "request", "share"]
    value: float
    part: str
    label: Text


@dataclass(frozen=True)
class ResourceSource:
    """Source of the samples.

    Attributes
    ----------
    code
        Identifier for programs.
    label
        Words: “from the process trees on this machine”.
    seconds
        Time between two samples.
    """

    code: str
    label: Text
    seconds: float


@dataclass(frozen=True)
class Samples:
    """All samples of a job.

    Attributes
    ----------
    source
        Where they come from; None if the engine has no source for the job.
    tiers
        Nominal duration of a frame with the segments, the finest first. A coarser tier reaches further back.
    levels
        Lines in the charts.
    notes
        Words that say what the values of a metric cover, by metric.
    missing
        Sentences that say why a metric has no values, by metric.
    unavailable
        Why there are no samples, and who can change that; None if there are some, or will be.
    trouble
        Why there are no newer samples, or fewer metrics than usual, although the job runs.
    """

    source: ResourceSource | None
    tiers: Sequence[tuple[float, list[Segment]]] = ()
    levels: Sequence[Level] = ()
    notes: Mapping[str, Text] = field(default_factory=dict)
    missing: Mapping[str, Text] = field(default_factory=dict)
    unavailable: Reason | None = None
    trouble: Reason | None = None


@dataclass(frozen=True)
class SampleSpan:
    """Range of samples that a request needs. An engine that has all samples at hand returns all of them.

    Attributes
    ----------
    first, last
        The range, in seconds since the epoch; None for the start or the end of all samples.
    points
        Largest number of points.
    """

    first: float | None
    last: float | None
    points: int
