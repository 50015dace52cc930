"""Values of the whole machine or container: network, shared memory, throttling of the CPU, limits (Linux)."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ....core.system.processes import PROC

CGROUP = Path("/sys/fs/cgroup")
SHM = "/dev/shm"  # noqa: S108


def network_bytes() -> float | None:
    """Return the bytes that this machine has sent and received, without the loopback device; None if unknown."""
    try:
        lines = (PROC / "net/dev").read_text().splitlines()[2:]
        total = 0
        for line in lines:
            name, _colon, numbers = line.partition(":")
            fields = numbers.split()
            if name.strip() != "lo":
                total += int(fields[0]) + int(fields[8])
        return float(total)
    except (OSError, ValueError, IndexError):
        return None


def shared_memory() -> tuple[float, float] | None:
    """Return used and total bytes of ``/dev/shm``; None if there is none."""
    try:
        found = os.statvfs(SHM)
    except OSError:
        return None
    total = float(found.f_blocks * found.f_frsize)
    return (total - found.f_bfree * found.f_frsize, total) if total else None


def periods() -> tuple[int, int] | None:
    """Return the scheduler's periods so far, and those in which this container was throttled; None without a limit."""
    try:
        if _own_cgroup("cpu.max").split()[0] == "max":
            return None
        values = dict(line.split() for line in _own_cgroup("cpu.stat").splitlines())
        return int(values["nr_periods"]), int(values["nr_throttled"])
    except (OSError, ValueError, KeyError, IndexError):
        return None


def memory_limit() -> int | None:
    """Return the memory that this container may use, or that the machine has, in bytes; None if unknown."""
    limits = []
    with contextlib.suppress(OSError, StopIteration, ValueError, IndexError):
        total = next(line for line in (PROC / "meminfo").read_text().splitlines() if line.startswith("MemTotal:"))
        limits.append(int(total.split()[1]) * 1024)
    with contextlib.suppress(OSError, ValueError):  # No such file, or "max".
        limits.append(int(_own_cgroup("memory.max")))
    return min(limits, default=None)


def cpu_count() -> float:
    """Return the cores that this container may use."""
    cores = float(len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else float(os.cpu_count() or 1)
    try:
        quota, period = _own_cgroup("cpu.max").split()
        return min(cores, int(quota) / int(period))
    except (OSError, ValueError, ZeroDivisionError):  # No such file, or no limit.
        return cores


def _own_cgroup(name: str) -> str:
    for line in (PROC / "self/cgroup").read_text().splitlines():
        if line.startswith("0::"):
            return (CGROUP / line[3:].lstrip("/") / name).read_text().strip()
    raise FileNotFoundError(name)
