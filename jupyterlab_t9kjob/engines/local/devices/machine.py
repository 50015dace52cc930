"""Size of this machine: cores, memory and accelerators."""

from __future__ import annotations

import os
from collections.abc import Mapping

import psutil

from ....core.engine.info import Machine
from ....core.system.processes import machine_id
from .pool import DevicePool


def machine(pool: DevicePool, kernels: Mapping[int, str]) -> Machine:
    """Return the size of this machine (blocking).

    Parameters
    ----------
    pool
        Accelerators of this machine.
    kernels
        Process ids of this lab's kernels, with texts that name the kernels.
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
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
