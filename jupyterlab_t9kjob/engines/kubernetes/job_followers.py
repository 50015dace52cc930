"""Followers of the jobs of an engine, as long as its server runs: of their logs, failures, progress and resources."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...core.job import Failure, Progress
from .cluster.connection import Cluster
from .jobs.records import Record, Records
from .jobs.snapshot import JobSnapshot
from .logs.failure_reader import FailureReader
from .logs.manager import LogManager
from .logs.progress_reader import LiveProgress
from .resources.prometheus.source import PrometheusSource
from .resources.sampler import ClusterSampler


class JobFollowers:
    """Everything that follows the jobs of one kind.

    Parameters
    ----------
    cluster
        The cluster of the jobs.
    records
        The records of the jobs.
    failed
        Called with a job's uid and the failures that were read from its logs.
    moved
        Called with a job's uid and its progress.

    Attributes
    ----------
    logs
        Their logs.
    resources
        Samples of what they use.
    """

    def __init__(
        self,
        cluster: Cluster,
        records: Records,
        failed: Callable[[str, Iterable[Failure]], None],
        moved: Callable[[str, Progress], None],
    ) -> None:
        settings = cluster.settings
        self._records = records
        self.logs = LogManager(cluster, records, settings.follow_replicas, settings.log_bytes)
        self._failures = FailureReader(cluster, self.logs, failed)
        self._progress = LiveProgress(self.logs, moved)
        prometheus = PrometheusSource(settings, lambda: cluster.api)
        self.resources = ClusterSampler(records, lambda: cluster.api, prometheus)

    def update(self, snapshot: JobSnapshot) -> None:
        """Take in a job's new state."""
        for part in (self.logs, self._failures, self._progress, self.resources):
            part.update(snapshot)

    async def drop(self, record: Record) -> None:
        """Remove everything that is kept of a job."""
        self._progress.drop(record.uid)
        self.resources.drop(record.uid)
        await self._failures.drop(record.uid)
        await self.logs.drop(record.uid)
        await self._records.drop(record)

    async def stop(self) -> None:
        """Stop following."""
        for part in (self._failures, self._progress, self.resources, self.logs):
            await part.stop()
