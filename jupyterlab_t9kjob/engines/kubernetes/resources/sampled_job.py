"""A job of the cluster while its samples are taken."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ....core.system.disk_threads import on_disk
from ....logs.storage.lease import Lease
from ....resources.storage.blocks import read
from ....resources.storage.writer import TIERS, SampleWriter
from ..client.json_access import flag
from ..jobs.snapshot import JobSnapshot
from .pod_metrics import limits_of
from .prometheus.frames import GpuNumbers, SampledReplica

WATCHED_SECONDS: Final = 60.0
"""Time for which a job of another user is sampled after the request of a page, which is repeated every 15 s."""


@dataclass
class SampledJob:
    """A job that is sampled.

    Attributes
    ----------
    seen
        The job's state.
    writer
        Writes its samples.
    lease
        Lease of the folder of its samples: one of the servers that share a home takes and writes them.
    timestamps
        End of the last sample of each pod: the metrics API repeats a sample until there is a newer one.
    at
        End of the last sample, in seconds since the epoch, or the time from which samples are wanted; None before the
        kept samples were read.
    limits
        Limits and requests that were noted with the kept samples; the pods of an ended job may be gone.
    by_prometheus
        True if the last sample came from Prometheus.
    silent_since
        When Prometheus first had no newer sample, by the monotonic clock; None while it has.
    numbers
        Numbers of the GPUs that Prometheus reports.
    watched_at
        When a page asked last, by the monotonic clock.
    """

    seen: JobSnapshot
    writer: SampleWriter | None = None
    lease: Lease | None = None
    timestamps: dict[str, str] = field(default_factory=dict)
    at: float | None = None
    limits: dict[str, Any] = field(default_factory=dict)
    by_prometheus: bool = False
    silent_since: float | None = None
    numbers: GpuNumbers = field(default_factory=GpuNumbers)
    watched_at: float = float("-inf")

    @property
    def wanted(self) -> bool:
        """True if samples are to be taken."""
        runs = self.seen.job.present and self.seen.state.phase == "Running"
        return runs and (self.seen.mine or time.monotonic() - self.watched_at < WATCHED_SECONDS)

    async def hold(self, folder: Path | None) -> bool:
        """Return True if this server may write the samples, which are in a folder; to be called at least each 15 s.

        Without the lease the samples of another server are continued later.
        """
        held = False
        # The disk is full, or no record is kept of the job.
        with contextlib.suppress(OSError):
            if folder is not None and self.lease is None:
                await on_disk(folder, lambda: folder.mkdir(mode=0o700, exist_ok=True))
                self.lease = Lease(folder / "lease")
            held = self.lease is not None and await self.lease.hold()
        if not held:
            self.at, self.writer = None, None
        return held

    async def release(self, folder: Path | None) -> None:
        """Let another server write the samples; they are continued after the next `hold`."""
        self.at, self.writer = None, None
        if folder is not None and self.lease is not None:
            with contextlib.suppress(OSError):
                await on_disk(folder, self.lease.release)

    def resume(self, facts: dict[str, Any]) -> None:
        """Continue the kept samples, with which these facts were noted."""
        limits = facts.get("limits")
        self.limits = limits if isinstance(limits, dict) else {}
        self.by_prometheus = facts.get("source") == "prometheus"

    def has_samples_of_prometheus(self, until: float) -> None:
        """Note that Prometheus had samples up to a time, in seconds since the epoch."""
        self.by_prometheus, self.silent_since, self.at = True, None, until

    def waits_for_prometheus(self, seconds: float) -> bool:
        """Return True if Prometheus had samples of the job before and may have newer ones soon.

        The job waits at most for the given time: a sample from another source would hide what Prometheus has of it.
        """
        now = time.monotonic()
        if self.silent_since is None:
            self.silent_since = now
        return self.by_prometheus and now - self.silent_since < seconds

    def facts(self, interval: float) -> dict[str, Any]:
        """Return the facts that are noted with a sample; `interval` is the time between two samples in seconds."""
        return {"interval": interval, "limits": limits_of(self.seen.replicas) or self.limits}


def sampled_replicas(seen: JobSnapshot) -> list[SampledReplica]:
    """Return the replicas of a job that have, or had, pods; those of the record if the job's pods are gone."""
    found = [
        SampledReplica(replica.name, replica.pod_name, replica.container, not flag(replica.pod, "spec", "hostNetwork"))
        for replica in seen.replicas
        if replica.pod_name
    ]
    record = seen.job.record
    if found or record is None:
        return found
    return [SampledReplica(replica.name, replica.pod.name) for replica in record.replicas if replica.pod is not None]


def kept_samples(folder: Path) -> tuple[float, dict[str, Any]]:
    """Return the end of the kept samples, and the facts noted with the newest; 0 and no facts if there are none.

    It blocks.
    """
    newest = [segments[-1] for tier in TIERS if (segments := read(folder / tier.name))]
    end = max((segment.times[-1] + segment.seconds[-1] for segment in newest), default=0.0)
    return end, newest[0].facts if newest else {}
