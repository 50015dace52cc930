"""GPU-hours and energy of a job."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from ..core.job import Job, Replica
from ..core.translation import _
from .model import ResourceUsage
from .reduction import Reduced
from .view import integral


def usage_of(job: Job, replicas: Sequence[Replica], whole: Reduced, now: float | None = None) -> ResourceUsage:
    """Return what a job used in total.

    GPU-hours need no samples: they are the durations of the attempts times the GPUs of their replicas.

    Parameters
    ----------
    job, replicas
        The job.
    whole
        Samples of the whole job.
    now
        The present time, in seconds since the epoch.
    """
    now = time.time() if now is None else now
    usage = ResourceUsage()
    if job.devices is not None and job.devices.count:
        seconds = sum(_gpus(job, replica) * _ran(replica, now) for replica in replicas)
        usage.gpu_hours = seconds / 3600
        usage.gpu_hours_source = _("from the times of the attempts and the number of their GPUs")
    energy = integral(whole, "gpu_power")
    if math.isfinite(energy):
        usage.energy_joules = energy
        usage.energy_source = _("measured by the GPUs while samples were taken")
    return usage


def _gpus(job: Job, replica: Replica) -> float:
    if replica.devices:
        return len(replica.devices)
    if replica.pod is not None and replica.pod.device is not None:
        return replica.pod.device.count
    return (job.devices.count if job.devices is not None else 0) / max(1, job.replicas)


def _ran(replica: Replica, now: float) -> float:
    total = 0.0
    for attempt in replica.attempts:
        if attempt.started_at is not None:
            end = attempt.ended_at if attempt.ended_at is not None else now
            total += max(0.0, end - attempt.started_at)
    return total
