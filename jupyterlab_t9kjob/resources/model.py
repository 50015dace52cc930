"""The API's models of the resources that a job uses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..core.base_model import Model
from ..core.job import Reason, Time
from ..core.translation import Text

By = Literal["sum", "replica", "unit"]
Part = Literal["job", "replica", "rank", "gpu", "spread"]
Unit = Literal["percent", "bytes", "cores", "bytes_per_second", "watts"]


class ResourceCurve(Model):
    """Values of one part of the job at the times of the answer; null where there is no value."""

    part: Part = Field(description="`spread`: mean and extremes of all replicas, instead of a curve for each.")
    replica: str | None = None
    number: int | None = Field(None, description="Global rank, or number of the GPU in its replica.")
    low: list[float | None] = Field(description="Smallest values.")
    mean: list[float | None]
    high: list[float | None] = Field(description="Largest values.")


class ResourceLevel(Model):
    """A horizontal line in the charts of a metric."""

    kind: Literal["limit", "request", "share"]
    value: float
    label: Text


class ResourceRow(Model):
    """A metric."""

    metric: str = Field(description="gpu_use, gpu_memory, gpu_power, cpu, memory, network, disk.")
    title: Text
    unit: Unit
    scope: Text | None = Field(None, description="Parts of the job that the values cover, where that is not obvious.")
    facts: list[Text] = Field(default_factory=list, description="Single figures: “mean 88 %”.")
    curves: list[ResourceCurve] = Field(default_factory=list)
    levels: list[ResourceLevel] = Field(default_factory=list)
    missing: Text | None = Field(None, description="Why there are no values.")


class ResourceFinding(Model):
    """A sentence about the use of resources, with its evidence and a way to check it."""

    code: str
    sentence: Text
    evidence: Text
    check: Text = Field(description="A way to check the finding, or the change that mends it.")
    replica: str | None = None
    rank: int | None = None
    since: Time
    until: Time


class ResourceUsage(Model):
    """Total use of the job: GPU-hours and energy."""

    gpu_hours: float | None = Field(
        None, description="Requested GPUs times hours of all attempts; null for a job without GPUs."
    )
    gpu_hours_source: Text | None = None
    energy_joules: float | None = Field(None, description="Of the GPUs; null where it is not measured.")
    energy_source: Text | None = None


class ResourceView(Model):
    """Use of resources in a range of time."""

    version: str = Field(description="Changes when there are newer samples.")
    source: str | None = Field(None, description="Code of the source: processes, prometheus, metrics_api.")
    source_label: Text | None = Field(None, description="Source and resolution in words.")
    interval: float | None = Field(None, description="Seconds between two samples of the source.")
    resolution: float | None = Field(None, description="Seconds that a point of this answer stands for, on the mean.")
    first: Time | None = Field(None, description="Start of all samples; null before the first one.")
    last: Time | None = Field(None, description="End of all samples.")
    times: list[float] = Field(default_factory=list, description="Start of each point, seconds since the epoch.")
    gaps: list[int] = Field(
        default_factory=list, description="Indexes of points before which samples are missing, in `times`."
    )
    rows: list[ResourceRow] = Field(default_factory=list)
    replicas: list[str] = Field(default_factory=list, description="Replicas that have samples.")
    findings: list[ResourceFinding] = Field(default_factory=list)
    usage: ResourceUsage
    unavailable: Reason | None = Field(None, description="Why there are no samples, and who can change that.")
    trouble: Reason | None = Field(
        None, description="Why there are no newer samples, or fewer metrics than usual, although the job runs."
    )


class LogMarker(Model):
    """A line of the log that stands on the axis of time."""

    kind: Literal["error", "warning", "checkpoint"]
    time: Time
    replica: str
    stream: str
    offset: int = Field(description="Offset of the line in its stream, in bytes.")
    text: str = Field(description="The line, cut after 200 characters.")


class LogMarkers(Model):
    """Lines of the log that stand on the axis of time."""

    markers: list[LogMarker] = Field(default_factory=list)
    complete: bool = Field(True, description="False if there are more such lines.")
