"""GPU-hours and energy of a job."""

from __future__ import annotations

import math
import time

from ..core.job import JobSummary
from ..core.translation import _
from .model import ResourceUsage
from .reduction import Reduced
from .view import integral


def usage_of(job: JobSummary, whole: Reduced, now: float | None = None) -> ResourceUsage:
    """Return the total use of a job: GPU-hours, which need no samples, and energy.

    Parameters
    ----------
    job
        The job.
    whole
        Samples of the whole job.
    now
        The present time, in seconds since the epoch.

    Returns
    -------
    ResourceUsage
        GPU-hours up to `now`, and joules; None where they are unknown.
    """
    usage = ResourceUsage(gpu_hours=job.gpu_hours_until(time.time() if now is None else now))
    if usage.gpu_hours is not None:
        usage.gpu_hours_source = _("requested GPUs times the running time")
    energy = integral(whole, "gpu_power")
    if math.isfinite(energy):
        usage.energy_joules = energy
        usage.energy_source = _("measured by the GPUs while samples were taken")
    return usage
