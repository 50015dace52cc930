"""What this machine has."""

from __future__ import annotations

import os
from collections.abc import Mapping

import psutil

from ....core.engine_info import Machine
from ....core.system.processes import machine_id
from .pool import DevicePool


def machine(pool: DevicePool, kernels: Mapping[int, str]) -> Machine:
    """Return the size of this machine (blocking).

    Parameters
    ----------
    pool
        Its accelerators.
    kernels
        Processes of this lab's kernels, in words.
    """
    memory = psutil.virtual_memory()
    return Machine(
        hostname=machine_id()["hostname"],
        cpus=cpu_count(),
        memory_total=memory.total,
        memory_available=memory.available,
        devices=pool.describe(kernels),
        devices_problem=pool.problem(),
    )


def cpu_count() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
