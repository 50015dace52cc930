"""Messages that `Feed` sends to the pages: a snapshot, then what changes, and single jobs in full."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..core.capacity import Capacity
from ..core.engine_info import EngineInfo
from ..core.job import Event, Job, JobSummary, Replica, Time
from ..core.spec import Model
from ..tensorboard.model import TensorBoard


class Snapshot(Model):
    """Server → client: everything that was subscribed to, at `revision`."""

    type: Literal["snapshot"] = "snapshot"
    revision: int
    time: Time
    engines: list[EngineInfo]
    jobs: list[JobSummary]
    tensorboards: list[TensorBoard]
    capacity: Capacity | None = Field(None, description="Null: no cluster, or not counted yet.")
    complete: bool = Field(
        True, description="False: these are the newest jobs, and deltas of the same revision bring the others."
    )


class Delta(Model):
    """Server → client: what changed since the revision before this one."""

    type: Literal["delta"] = "delta"
    revision: int
    time: Time
    jobs: list[JobSummary] = Field(default_factory=list)
    removed_jobs: list[str] = Field(default_factory=list)
    tensorboards: list[TensorBoard] = Field(default_factory=list)
    removed_tensorboards: list[str] = Field(default_factory=list)
    engines: list[EngineInfo] | None = None
    capacity: Capacity | None = Field(None, description="Null if it has not changed.")
    complete: bool = Field(True, description="False: more of a snapshot follows.")


class JobDetail(Model):
    """Server → client: one job in full, on subscription and at every change of it."""

    type: Literal["job"] = "job"
    revision: int
    id: str
    job: Job | None = Field(description="Null: the job is gone.")
    replicas: list[Replica] = Field(default_factory=list)
    events: list[Event] = Field(default_factory=list)
