"""What this machine has."""

from __future__ import annotations

import psutil

from ...core.engine import Machine
from .checks import cpu_count
from .devicepool import DevicePool
from .process import machine_id


def machine(pool: DevicePool) -> Machine:
    """Return the size of this machine (blocking)."""
    memory = psutil.virtual_memory()
    return Machine(
        hostname=machine_id()["hostname"],
        cpus=cpu_count(),
        memory_total=memory.total,
        memory_available=memory.available,
        devices=pool.describe(),
    )
