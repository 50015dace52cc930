"""CPU time, memory and disk traffic of a job's processes, by replica and rank (Linux).

A process belongs to the replica and rank in its environment, as the supervisor and torchrun set it; the workers of a
data loader inherit it. The time of a process that has ended counts for its parent, which collected it.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from ....core.system.processes import PROC, is_dead, stat_of
from ..supervisor.process_tree import MARK, REPLICA_MARK

TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
PSS_SHARE = 0.002
"""Share of one core that reading proportional memory may take: it walks a process's page tables, up to 0.1 s each."""


@dataclass
class Use:
    """Use of resources by some processes: CPU seconds and bytes of disk so far, bytes of memory now."""

    cpu: float = 0.0
    memory: float = 0.0
    read: float = 0.0
    written: float = 0.0


@dataclass
class _Process:
    started: str
    replica: str
    rank: int | None
    share: float = 1.0
    """Proportional share of the resident memory: pages that several processes have are divided among them."""
    measured_at: float = field(default=float("-inf"))


Owner = tuple[str, int | None]
"""Name of a replica, and global rank; None for processes of the replica that are no rank, such as torchrun."""


class JobProcesses:
    """The processes of one job.

    Parameters
    ----------
    uid
        The job's uid.
    """

    def __init__(self, uid: str) -> None:
        self._mark = f"{MARK}={uid}".encode()
        self._own: dict[int, _Process] = {}
        self._others: set[int] = set()
        self._allowed_at = time.monotonic()
        self._rank_by_local: dict[tuple[str, int], int] = {}

    def read(self) -> dict[Owner, Use]:
        """Return what the job's processes use, by owner (blocking)."""
        self._find()
        found: dict[Owner, Use] = {}
        for pid, process in self._own.items():
            self._add(pid, process, found.setdefault((process.replica, process.rank), Use()))
        return found

    @property
    def ranks(self) -> dict[tuple[str, int], int]:
        """Global rank by replica and local rank, of all ranks seen so far."""
        return self._rank_by_local

    def _find(self) -> None:
        present = {int(name) for name in os.listdir(PROC) if name.isdecimal()}  # noqa: PTH208
        self._others &= present
        for pid in set(self._own) - present:
            del self._own[pid]
        for pid in present - self._others:
            known = self._own.get(pid)
            fields = stat_of(pid)
            if fields is None or is_dead(fields):
                self._own.pop(pid, None)
            elif known is None or known.started != fields[19] or known.rank is None:
                # A rank has the environment of its launcher until it executes its program.
                self._note(pid, fields[19])

    def _note(self, pid: int, started: str) -> None:
        try:
            variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
        except OSError:
            variables = []
        values = dict(part.partition(b"=")[::2] for part in variables)
        replica = values.get(REPLICA_MARK.encode(), b"").decode(errors="replace")
        if self._mark not in variables or not replica:
            self._own.pop(pid, None)
            self._others.add(pid)
            return
        rank, local = _number(values.get(b"RANK")), _number(values.get(b"LOCAL_RANK"))
        if rank is not None and local is not None:
            self._rank_by_local[replica, local] = rank
        known = self._own.get(pid)
        if known is None or known.started != started or known.rank != rank:
            self._own[pid] = _Process(started, replica, rank)

    def _add(self, pid: int, process: _Process, use: Use) -> None:
        fields = stat_of(pid)
        if fields is None or is_dead(fields):
            return
        use.cpu += sum(map(int, fields[11:15])) / TICKS
        resident = int(fields[21]) * PAGE
        self._measure_share(pid, process, resident)
        use.memory += resident * process.share
        try:
            text = (PROC / str(pid) / "io").read_bytes()
        except OSError:
            return
        for line in text.splitlines():
            if line.startswith(b"read_bytes: "):
                use.read += int(line[12:])
            elif line.startswith(b"write_bytes: "):
                use.written += int(line[13:])

    def _measure_share(self, pid: int, process: _Process, resident: int) -> None:
        """Read the proportional memory of the process that was measured longest ago, when the budget allows it."""
        begun = time.monotonic()
        oldest = min(known.measured_at for known in self._own.values())
        if begun < self._allowed_at or process.measured_at > oldest:
            return
        process.measured_at = begun
        try:
            text = (PROC / str(pid) / "smaps_rollup").read_bytes()
            pss = next(int(line.split()[1]) for line in text.splitlines() if line.startswith(b"Pss:"))
        except (OSError, StopIteration, ValueError):
            return
        process.share = min(1.0, pss * 1024 / resident) if resident else 1.0
        self._allowed_at = begun + (time.monotonic() - begun) / PSS_SHARE


def _number(text: bytes | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
