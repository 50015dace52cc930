"""Memory that the ranks of a try use."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

from ..core.translation import Text, _, listing

_PEAK: Final = re.compile(r"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
_SHOWN: Final = 8


class RankMemory:
    """Largest resident memory of each rank's processes. `read` blocks."""

    def __init__(self) -> None:
        self._ranks: dict[tuple[int, float], int | None] = {}
        self.peaks: dict[int, int] = {}
        """Bytes by rank; of several processes of a rank, such as workers that load data, the largest one counts."""

    def read(self, roots: Iterable[int]) -> None:
        """Read the memory of the processes.

        Parameters
        ----------
        roots
            Process ids of the replicas, whose descendants are the ranks.
        """
        for root in roots:
            with contextlib.suppress(psutil.Error, OSError):  # The replica has ended.
                first = psutil.Process(root)
                for process in [first, *first.children(recursive=True)]:
                    self._add(process)

    def _add(self, process: psutil.Process) -> None:
        with contextlib.suppress(psutil.Error, OSError):  # The process has ended.
            rank = self._rank_of(process)
            if rank is not None:
                self.peaks[rank] = max(self.peaks.get(rank, 0), _peak(process))

    def _rank_of(self, process: psutil.Process) -> int | None:
        key = (process.pid, process.create_time())
        if key not in self._ranks:
            rank = process.environ().get("RANK", "")
            self._ranks[key] = int(rank) if rank.isdecimal() and len(rank) < 7 else None
        return self._ranks[key]

    def note(self) -> Text | None:
        """Return a sentence about the memory of the ranks; None if none was read."""
        if not self.peaks:
            return None
        ranks = [_("rank {rank}: {size}", rank=rank, size=_size(peak)) for rank, peak in sorted(self.peaks.items())]
        if len(ranks) == 1:
            return _("The largest process used {size} of memory.", size=_size(max(self.peaks.values())))
        return _("Memory of the largest process of each rank: {ranks}.", ranks=listing(ranks, _SHOWN))


def _peak(process: psutil.Process) -> int:
    """Return the largest resident memory that a process had; the present one on systems that do not tell the peak."""
    with contextlib.suppress(OSError):
        found = _PEAK.search(Path(f"/proc/{process.pid}/status").read_text(errors="replace"))
        if found is not None:
            return int(found[1]) * 1024
    return int(process.memory_info().rss)


def _size(size: int) -> str:
    gibibytes = size / 2**30
    if gibibytes < 1:
        return f"{size / 2**20:.0f} MiB"
    return f"{gibibytes:.1f} GiB" if gibibytes < 10 else f"{gibibytes:.0f} GiB"
