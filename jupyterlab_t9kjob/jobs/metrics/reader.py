"""Metrics that jobs reported: scalars in the event files of their log directories, else numbers in their logs."""

from __future__ import annotations

import asyncio
import os
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from ...core.errors import JobError
from ...core.job import JobSummary, LogStream
from ...core.log_sources import LogFile
from ...core.progress import metrics_in
from ...core.system.disk_threads import on_disk
from ...logs.serving.sources import open_log
from ...tensorboard.scalars import MOST_POINTS, Scalars
from ..engines import Engines

MOST_JOBS: Final = 1000
MOST_BYTES: Final = 8 * 1024 * 1024
"""Bytes of a log that one call reads."""
_LONGEST_LINE: Final = 4096

Series = Mapping[int, float]


@dataclass(frozen=True)
class Metrics:
    """Metrics of a job.

    Attributes
    ----------
    of
        Meaning of the keys of a series: steps of event files, or the numbers of the reports in a log, from 1.
    series
        Values by name of the metric.
    """

    of: Literal["step", "report"] = "step"
    series: Mapping[str, Series] = field(default_factory=dict)

    def find(self, name: str) -> Series:
        """Return the series with a name, see `metric_named`; an empty one if there is none."""
        found = metric_named(name, self.series)
        return self.series[found] if found is not None else {}


def metric_named(name: str, metrics: Iterable[str]) -> str | None:
    """Return the metric with a name; it may be given without its folder if no other one ends with it.

    Parameters
    ----------
    name
        Name as a user writes it; upper and lower case are the same.
    metrics
        Names of the metrics.
    """
    wanted, known = name.casefold(), list(metrics)
    same = [each for each in known if each.casefold() == wanted]
    ending = [each for each in known if each.casefold().endswith(f"/{wanted}")]
    return same[0] if same else ending[0] if len(ending) == 1 else None


class LineMetrics:
    """Metrics in the lines of logs, read on from the offset of the last call."""

    def __init__(self) -> None:
        self.series: dict[str, dict[int, float]] = {}
        self._counts: dict[str, int] = {}
        self._logs: dict[str, tuple[int, bytes]] = {}

    def read(self, files: Iterable[LogFile]) -> None:
        """Read what was appended since the last call (blocking). Files that can't be read are skipped."""
        for file in files:
            offset, rest = self._logs.get(file.stream.id, (0, b""))
            try:
                with os.fdopen(open_log(file.path, file.within), "rb") as opened:
                    opened.seek(offset)
                    data = opened.read(MOST_BYTES)
            except OSError:  # The file was removed, or its disk has an error: the next call tries again.
                continue
            lines = re.split(rb"[\r\n]", rest + data)
            self._logs[file.stream.id] = offset + len(data), lines.pop()[-_LONGEST_LINE:]
            for line in lines:
                self._note(metrics_in(line[:_LONGEST_LINE].decode(errors="replace")))

    def _note(self, metrics: Mapping[str, float]) -> None:
        for name, value in metrics.items():
            count = self._counts[name] = self._counts.get(name, 0) + 1
            if count <= MOST_POINTS:
                self.series.setdefault(name, {})[count] = value


class _Job:
    """Metrics of one job that were read so far."""

    def __init__(self) -> None:
        self.scalars, self.lines, self.lock = Scalars(), LineMetrics(), asyncio.Lock()


class MetricReader:
    """Reads metrics of jobs; a repeated call reads only what is new.

    Parameters
    ----------
    engines
        All engines.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._jobs: OrderedDict[str, _Job] = OrderedDict()

    async def of(self, job: JobSummary) -> Metrics:
        """Return a job's metrics; none if neither its log directories nor its logs can be read here."""
        known = self._jobs.setdefault(job.id, _Job())
        self._jobs.move_to_end(job.id)
        while len(self._jobs) > MOST_JOBS:
            self._jobs.popitem(last=False)
        async with known.lock:
            try:
                if job.log_dirs:
                    folders = [Path(path) for path in job.log_dirs]
                    await on_disk(folders, known.scalars.read, folders)
                if not known.scalars.series:
                    files = await self._logs(job)
                    await on_disk([file.path for file in files], known.lines.read, files)
            except (JobError, OSError):  # The next call tries again.
                pass
        if known.scalars.series:
            return Metrics("step", {name: dict(points) for name, points in known.scalars.series.items()})
        return Metrics("report", {name: dict(points) for name, points in known.lines.series.items()})

    async def _logs(self, job: JobSummary) -> list[LogFile]:
        """Return the files with the output of the job's rank 0, or of its first process while the ranks are unknown."""
        engine, uid = self._engines.find(job.id)
        files = [source for source in await engine.log_sources(uid) if isinstance(source, LogFile)]
        ranks = [file for file in files if file.stream.source in ("rank", "container") and not file.stream.container]
        first = [file for file in ranks if file.stream.rank == 0] or [
            file for file in ranks if file.stream.rank is None and _is_first(file.stream, ranks)
        ]
        newest = max((file.stream.attempt for file in first), default=0)
        return [file for file in first if file.stream.attempt == newest]


def _is_first(stream: LogStream, ranks: Sequence[LogFile]) -> bool:
    return stream.replica == ranks[0].stream.replica and stream.local_rank in (0, None)
