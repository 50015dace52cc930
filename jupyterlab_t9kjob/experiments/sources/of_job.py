"""Source of the runs of jobs without recorder, which have no folder of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..facts import Chunk, Facts, MetricLog
from ..model import Origin
from ..series import Part


class JobSource:
    """Runs of jobs; `job_runs` fills them."""

    origin: Origin = "job"
    closed = True

    def is_run(self, folder: Path, names: frozenset[str]) -> bool:
        """Return False: the runs of jobs have no folder.

        The parameters are those of `experiments.facts.Source.is_run`.
        """
        return False

    def own_folders(self, names: frozenset[str]) -> frozenset[str]:
        """Return nothing: there are no folders."""
        return frozenset()

    def files(self, folder: Path) -> Mapping[str, tuple[int, int]]:
        """Return nothing: there are no files."""
        return {}

    def facts(self, folder: Path) -> Facts:
        """Return empty facts."""
        return Facts(self.origin, folder.name)

    def metrics(self, folder: Path, files: Mapping[str, tuple[int, int]], log: MetricLog, end: float) -> bool:
        """Read nothing, and return True. The parameters are those of `experiments.facts.Source.metrics`."""
        return True

    def chunks(self, folder: Path, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
        """Yield nothing. The parameters are those of `experiments.facts.Source.chunks`."""
        yield from ()
