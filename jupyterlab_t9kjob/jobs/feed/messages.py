"""Messages of the feed to the pages: a snapshot, then changes, and the details of single jobs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from ...core.capacity import Capacity
from ...core.engine.info import EngineInfo
from ...core.job import Event, Job, JobSummary, Replica, Time
from ...core.notices import Notice
from ...core.spec import Model
from ...tensorboard.model import TensorBoard

PART = 500
"""Number of jobs in one message of a snapshot."""


class Snapshot(Model):
    """Server → client: the state of all that the page subscribed to, at a revision."""

    type: Literal["snapshot"] = "snapshot"
    revision: int
    time: Time
    engines: list[EngineInfo]
    jobs: list[JobSummary]
    tensorboards: list[TensorBoard]
    capacity: Capacity | None = Field(None, description="Null without a cluster, or before the first count.")
    notices: list[Notice] = Field(default_factory=list, description="The last notices, oldest first.")
    complete: bool = Field(
        True, description="False if these are only the newest jobs; deltas with the same revision have the others."
    )


class Delta(Model):
    """Server → client: the changes since the page's last revision."""

    type: Literal["delta"] = "delta"
    revision: int
    time: Time
    jobs: list[JobSummary] = Field(default_factory=list)
    removed_jobs: list[str] = Field(default_factory=list)
    tensorboards: list[TensorBoard] = Field(default_factory=list)
    removed_tensorboards: list[str] = Field(default_factory=list)
    engines: list[EngineInfo] | None = None
    capacity: Capacity | None = Field(None, description="Null if it has not changed.")
    notices: list[Notice] = Field(default_factory=list, description="New notices.")
    complete: bool = Field(True, description="False if more parts of a snapshot follow.")


class JobDetail(Model):
    """Server → client: the details of a job, after the subscription and after every change of the job."""

    type: Literal["job"] = "job"
    revision: int
    id: str
    job: Job | None = Field(description="Null if the job was removed.")
    replicas: list[Replica] = Field(default_factory=list)
    events: list[Event] = Field(default_factory=list)


class SnapshotParts:
    """A snapshot in parts, each encoded when it is first used; a page shows the newest jobs before it has all jobs."""

    def __init__(self, head: Snapshot, jobs: Sequence[JobSummary]) -> None:
        self._head = head
        self._jobs = jobs
        self._encoded: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for number, begin in enumerate(range(0, max(len(self._jobs), 1), PART)):
            if number == len(self._encoded):
                self._encoded.append(self._encode(begin))
            yield self._encoded[number]

    def _encode(self, begin: int) -> str:
        jobs, complete = self._jobs[begin : begin + PART], begin + PART >= len(self._jobs)
        if begin == 0:
            return self._head.model_copy(update={"jobs": jobs, "complete": complete}).model_dump_json()
        revision, now = self._head.revision, self._head.time
        return Delta(revision=revision, time=now, jobs=list(jobs), complete=complete).model_dump_json()
