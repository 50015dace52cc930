"""Takes a sample of a job every few seconds and appends it to the job's directory.

The time between samples is at least `INTERVAL_SECONDS`, and longer where a sample is expensive, so that sampling takes
at most `SHARE` of a core.
"""

from __future__ import annotations

import math
import signal
import sys
import time
from pathlib import Path
from typing import Any, Final

from ....core.resources import Column
from ....core.system.processes import LINUX
from ....resources.storage.writer import SampleWriter
from ..supervisor.records.job_files import JobFiles
from ..supervisor.records.record import ReplicaRecord
from . import machine
from .gpus import Gpus, GpuUse
from .processes import JobProcesses, Owner, Use

INTERVAL_SECONDS: Final = 5.0
FIRST_SECONDS: Final = 1.0
"""Time between the first two samples, so that a short job has a curve as well."""
SHARE: Final = 0.003
"""Share of one core that sampling may take, apart from the share of `processes.PSS_SHARE`."""


class Sampler:
    """Samples one job.

    Parameters
    ----------
    files
        The job's directory.
    gpus
        The GPUs; None if there are none.
    """

    def __init__(self, files: JobFiles, gpus: Gpus | None) -> None:
        self._files = files
        self._gpus = gpus
        self._plan = files.read_plan()
        self._processes = JobProcesses(self._plan["uid"])
        self._cards: dict[str, dict[str, Any]] = {}
        self._time = self._clock = 0.0
        self._before: _Totals | None = None

    def sample(self) -> tuple[float, float, dict[Column, float], dict[str, Any]] | None:
        """Return time, duration, values and facts since the last call; None for the first call (blocking)."""
        now, clock = time.time(), time.monotonic()
        totals = _Totals(self._processes.read(), self._devices())
        before, self._before = self._before, totals
        began, seconds = self._time, clock - self._clock
        self._time, self._clock = now, clock
        if before is None or seconds <= 0 or not totals.uses:
            return None
        # A clock that was set back must not give a sample that ends before it begins.
        values = _values(before, totals, seconds)
        return min(began, now - seconds) if began > now else began, seconds, values, self._facts(totals)

    def _devices(self) -> dict[tuple[str, int], GpuUse]:
        found: dict[tuple[str, int], GpuUse] = {}
        if self._gpus is None:
            return found
        for replica in self._replicas():
            for number, name in enumerate(replica["devices"]):
                gpu = self._gpus.read(name)
                if gpu is not None:
                    found[replica["name"], number] = gpu
                    total = None if math.isnan(gpu.total) else gpu.total
                    self._cards[f"{replica['name']}/{number}"] = {"name": gpu.name, "memory": total}
        return found

    def _replicas(self) -> list[ReplicaRecord]:
        try:
            return [replica for replica in self._files.read_record()["replicas"] if replica["status"] == "Running"]
        except (OSError, ValueError):
            return []

    def _facts(self, totals: _Totals) -> dict[str, Any]:
        return {
            "interval": INTERVAL_SECONDS,
            "cpus": machine.cpu_count(),
            "memory": machine.memory_limit(),
            "shm": totals.shm[1] if totals.shm else None,
            "ranks": {f"{replica}/{local}": rank for (replica, local), rank in sorted(self._processes.ranks.items())},
            "gpus": self._cards,
        }


class _Totals:
    """Counters at one moment."""

    def __init__(self, uses: dict[Owner, Use], gpus: dict[tuple[str, int], GpuUse]) -> None:
        self.uses = uses
        self.gpus = gpus
        self.network = machine.network_bytes()
        self.periods = machine.periods()
        self.shm = machine.shared_memory()


def _values(before: _Totals, now: _Totals, seconds: float) -> dict[Column, float]:
    values: dict[Column, float] = {}
    job = Use()
    earlier = _by_part(before.uses)
    # A new part has no earlier counters; its processes have just begun.
    for (replica, rank), use in sorted(_by_part(now.uses).items(), key=str):
        rate = _difference(use, earlier.get((replica, rank), Use()), seconds)
        kind = "replica" if rank is None else "rank"
        values[Column(replica, kind, rank, "cpu")] = rate.cpu
        values[Column(replica, kind, rank, "memory")] = rate.memory
        values[Column(replica, kind, rank, "disk")] = rate.read + rate.written
        if rank is None:
            _add(job, rate)
    values[Column(None, "job", None, "cpu")] = job.cpu
    values[Column(None, "job", None, "memory")] = job.memory
    values[Column(None, "job", None, "disk")] = job.read + job.written
    values[Column(None, "job", None, "disk_read")] = job.read
    if now.network is not None and before.network is not None:
        values[Column(None, "job", None, "network")] = max(0.0, now.network - before.network) / seconds
    if now.periods is not None and before.periods is not None:
        periods = now.periods[0] - before.periods[0]
        throttled = now.periods[1] - before.periods[1]
        values[Column(None, "job", None, "throttled")] = throttled / periods if periods > 0 else 0.0
    if now.shm is not None:
        values[Column(None, "job", None, "shm")] = now.shm[0]
    _add_gpus(values, before, now, seconds)
    return values


def _by_part(uses: dict[Owner, Use]) -> dict[Owner, Use]:
    """Return the counters of each rank, and of each whole replica with rank None.

    The counters of a rank that has ended go over to its launcher, so only the sum of the replica grows steadily.
    """
    found: dict[Owner, Use] = {}
    for (replica, rank), use in uses.items():
        for owner in {(replica, rank), (replica, None)}:
            _add(found.setdefault(owner, Use()), use)
    return found


def _add(total: Use, use: Use) -> None:
    total.cpu += use.cpu
    total.memory += use.memory
    total.read += use.read
    total.written += use.written


def _difference(now: Use, before: Use, seconds: float) -> Use:
    """Return rates; a counter that has fallen belongs to processes that were replaced."""
    return Use(
        cpu=max(0.0, now.cpu - before.cpu) / seconds,
        memory=now.memory,
        read=max(0.0, now.read - before.read) / seconds,
        written=max(0.0, now.written - before.written) / seconds,
    )


def _add_gpus(values: dict[Column, float], before: _Totals, now: _Totals, seconds: float) -> None:
    by_replica: dict[str | None, list[tuple[GpuUse, float]]] = {}
    for (replica, number), gpu in now.gpus.items():
        earlier = before.gpus.get((replica, number))
        power = (gpu.energy - earlier.energy) / seconds if earlier is not None else math.nan
        power = gpu.power if math.isnan(power) or power < 0 else power
        values[Column(replica, "gpu", number, "gpu_use")] = gpu.use
        values[Column(replica, "gpu", number, "gpu_memory")] = gpu.memory
        values[Column(replica, "gpu", number, "gpu_power")] = power
        by_replica.setdefault(replica, []).append((gpu, power))
        by_replica.setdefault(None, []).append((gpu, power))
    for owner, found in by_replica.items():
        kind = "job" if owner is None else "replica"
        values[Column(owner, kind, None, "gpu_use")] = sum(gpu.use for gpu, _power in found) / len(found)
        values[Column(owner, kind, None, "gpu_memory")] = max(gpu.memory for gpu, _power in found)
        values[Column(owner, kind, None, "gpu_power")] = sum(power for _gpu, power in found)


def main(directory: Path) -> None:
    """Sample the job in a directory until this process is ended, or the directory is gone."""
    if not LINUX:
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    files = JobFiles(directory)
    sampler, writer = Sampler(files, _gpus(files)), SampleWriter(files.samples)
    wait = FIRST_SECONDS
    try:
        while files.path.exists():
            begun = time.process_time()
            sample = sampler.sample()
            if sample is not None:
                _write(writer, sample)
                wait = INTERVAL_SECONDS
            time.sleep(max(wait, (time.process_time() - begun) / SHARE))
    finally:
        _flush(writer)


def _gpus(files: JobFiles) -> Gpus | None:
    if not files.read_plan()["devices"]:
        return None
    try:
        return Gpus()
    except OSError:  # The devices are those of another maker.
        return None


def _write(writer: SampleWriter, sample: tuple[float, float, dict[Column, float], dict[str, Any]]) -> None:
    try:
        writer.write(*sample)
    except OSError:  # The disk is full; the next sample tries again, and the curve has a gap.
        return


def _flush(writer: SampleWriter) -> None:
    try:
        writer.flush()
    except OSError:
        return
