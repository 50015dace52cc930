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
    """A process of the job.

    Attributes
    ----------
    share
        Proportional share of its resident memory, since pages that several processes have are divided among them; None
        if it was not measured since the family changed.
    resident
        Bytes of resident memory.
    disk
        Bytes read from the disk and written to it. A dead process that was not collected yet tells no others.
    """

    started: str
    replica: str
    rank: int | None
    share: float | None = None
    measured_at: float = field(default=float("-inf"))
    resident: int = 0
    disk: tuple[int, int] = (0, 0)


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
        self._families: dict[str, list[int]] = {}
        self._rank_by_local: dict[tuple[str, int], int] = {}

    def read(self) -> dict[Owner, Use]:
        """Return what the job's processes use, by owner (blocking)."""
        self._find()
        found: dict[Owner, Use] = {}
        families: dict[str, list[int]] = {}
        for pid, process in self._own.items():
            family = self._add(pid, process, found.setdefault((process.replica, process.rank), Use()))
            families.setdefault(family or str(pid), []).append(pid)
        for family, members in families.items():
            members.sort(key=lambda pid: (int(self._own[pid].started), pid))
            if members != self._families.get(family):
                for pid in members:
                    self._own[pid].share, self._own[pid].measured_at = None, float("-inf")
        self._families = families
        self._measure_share()
        for members in families.values():
            self._add_memory(members, found)
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
            if fields is not None and is_dead(fields) and known is not None and known.started == fields[19]:
                continue  # Its counters go to its parent when that collects it.
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

    def _add(self, pid: int, process: _Process, use: Use) -> str | None:
        """Add what a process has used so far; return the family of forks that it belongs to, None if it has none."""
        fields = stat_of(pid)
        process.resident = 0
        if fields is None:
            return None
        use.cpu += sum(map(int, fields[11:15])) / TICKS
        if not is_dead(fields):
            process.resident = int(fields[21]) * PAGE
            process.disk = _disk_of(pid) or process.disk
        use.read += process.disk[0]
        use.written += process.disk[1]
        # The address of the stack is another one after each execve, and that of its parent after a fork.
        return fields[25] if process.resident and fields[25] != "0" else None

    def _measure_share(self) -> None:
        """Read the proportional memory of the process that was measured longest ago, when the budget allows it."""
        begun = time.monotonic()
        living = [pid for members in self._families.values() for pid in members if self._own[pid].resident]
        if begun < self._allowed_at or not living:
            return
        pid = min(living, key=lambda pid: (self._own[pid].measured_at, -self._own[pid].resident))
        process = self._own[pid]
        process.measured_at = begun
        try:
            text = (PROC / str(pid) / "smaps_rollup").read_bytes()
            pss = next(int(line.split()[1]) for line in text.splitlines() if line.startswith(b"Pss:"))
        except (OSError, StopIteration, ValueError):
            return
        process.share = min(1.0, pss * 1024 / process.resident)
        self._allowed_at = begun + (time.monotonic() - begun) / PSS_SHARE

    def _add_memory(self, members: list[int], found: dict[Owner, Use]) -> None:
        """Add the memory of a family of forks, the oldest process first.

        Before one of them is measured, the memory of the oldest one counts, and of each other one what it has more.
        """
        processes = [self._own[pid] for pid in members]
        known = next((process.share for process in processes if process.share is not None), None)
        for number, process in enumerate(processes):
            share = process.share if process.share is not None else known
            if share is not None:
                memory = process.resident * share
            else:
                memory = float(process.resident if number == 0 else max(0, process.resident - processes[0].resident))
            found[process.replica, process.rank].memory += memory


def _disk_of(pid: int) -> tuple[int, int] | None:
    """Return the bytes that a process has read from the disk and written to it; None if that can't be read."""
    try:
        text = (PROC / str(pid) / "io").read_bytes()
    except OSError:
        return None
    numbers = dict(line.split(b": ") for line in text.splitlines())
    return int(numbers.get(b"read_bytes", 0)), int(numbers.get(b"write_bytes", 0))


def _number(text: bytes | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None
