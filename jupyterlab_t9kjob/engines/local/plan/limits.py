"""Limits of this machine for a job: memory and number of processes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

CGROUPS = Path("/sys/fs/cgroup")


def most_memory() -> int:
    """Return the bytes that all processes together can have: memory and swap, or the container's limit."""
    limits = [psutil.virtual_memory().total + psutil.swap_memory().total]
    limits += _limits("memory", ("memory.max", "memory.limit_in_bytes"))
    return min(limits)


def most_processes() -> int | None:
    """Return the number of processes that the container or this user can have; None without a limit."""
    limits = list(_limits("pids", ("pids.max",)))
    with contextlib.suppress(ImportError):  # Windows
        import resource

        own = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        if own != resource.RLIM_INFINITY and os.getuid() != 0:  # The limit does not apply to root, see setrlimit(2).
            limits.append(own)
    return min(limits, default=None)


def _limits(controller: str, names: tuple[str, ...]) -> Iterator[int]:
    """Yield the limits of this process's control group and of the groups that contain it, see cgroups(7)."""
    for folder in _groups(controller):
        for name in names:
            with contextlib.suppress(OSError, ValueError):  # The file does not exist, or has “max”.
                yield int((folder / name).read_text())


def _groups(controller: str) -> Iterator[Path]:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _number, controllers, path = line.split(":", 2)
        if controllers in ("", controller):
            root = CGROUPS / controller if controllers else CGROUPS
            inner = root / path.lstrip("/")
            yield from (inner, *(folder for folder in inner.parents if folder.is_relative_to(root)))
