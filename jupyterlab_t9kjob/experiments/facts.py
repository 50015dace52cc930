"""Facts of a run, as the reader of a program's files returns them."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..core.system.files import open_regular
from .model import Origin
from .series import PART_BYTES, Locate, Part, Series


@dataclass(slots=True)
class Facts:
    """A run without its metrics. Everything in it can be written as JSON.

    Attributes
    ----------
    status
        `Running`, `Complete`, `Error`, or another text from the file.
    started, ended
        Seconds since the epoch.
    parameters, environment
        Plain values by name.
    associations
        Inputs and outputs: kind, name, and the folder or id that the file names.
    partial
        True if the run has more files than are read.
    row
        JSON of the facts that the table shows; empty until they are shown. Facts are not changed after that.
    """

    origin: Origin
    name: str
    suffix: str = ""
    status: str = ""
    started: float | None = None
    ended: float | None = None
    description: str = ""
    labels: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, Any] = field(default_factory=dict)
    packages: dict[str, str] = field(default_factory=dict)
    git: dict[str, Any] = field(default_factory=dict)
    associations: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    partial: bool = False
    row: str = ""

    def stored(self) -> dict[str, Any]:
        """Return the fields for a record, without those that are empty and without `row`."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "row"}
        return {
            name: value
            for name, value in values.items()
            if name in ("origin", "name") or (value is not False and value not in (None, "", [], {}))
        }


@dataclass
class MetricLog:
    """Metrics of one file or of the event files of one folder, read up to an offset.

    Attributes
    ----------
    offsets
        Number of bytes that were read, by the name of the file.
    series
        The metrics by name.
    unreadable
        Number of items that could not be read, or of event files that could not be read to their end.
    """

    offsets: dict[str, int] = field(default_factory=dict)
    series: dict[str, Series] = field(default_factory=dict)
    unreadable: int = 0

    def epoch(self) -> float | None:
        """Return the last epoch that was recorded."""
        epochs = (series.last.position.epoch for series in self.series.values() if series.last is not None)
        return max((epoch for epoch in epochs if epoch is not None), default=None)


class Chunk(NamedTuple):
    """Values of a metric from a file.

    Attributes
    ----------
    locate
        Returns the position of a value by its index.
    part
        The part of the file that they are from, if it was asked for.
    """

    values: Sequence[float]
    locate: Locate
    part: Part | None = None


class Source(Protocol):
    """Reader of the runs of one program. All methods block.

    Attributes
    ----------
    closed
        True if the folder of a run has no other runs in it.
    """

    origin: Origin
    closed: bool

    def is_run(self, folder: Path, names: frozenset[str]) -> bool:
        """Return True if a folder is a run.

        Parameters
        ----------
        folder
            The folder.
        names
            Names of the files and folders in it.
        """
        ...

    def own_folders(self, names: frozenset[str]) -> frozenset[str]:
        """Return those names in the folder of a run that belong to the run, so that they are no runs of their own."""
        ...

    def files(self, folder: Path) -> Mapping[str, tuple[int, int]]:
        """Return modification time (nanoseconds) and size of each file of the run, by its path below the folder."""
        ...

    def facts(self, folder: Path) -> Facts:
        """Read everything except the metrics.

        Raises
        ------
        OSError, NotReadable
            If the files can't be read.
        """
        ...

    def metrics(self, folder: Path, files: Mapping[str, tuple[int, int]], log: MetricLog, end: float) -> bool:
        """Read on until a time of `time.monotonic`; return True if everything was read.

        Parameters
        ----------
        folder
            The run.
        files
            Result of `files`.
        log
            Metrics that were read before, to which the new values are added.
        end
            Time of `time.monotonic` at which reading stops, in seconds.
        """
        ...

    def chunks(self, folder: Path, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
        """Yield the values of a metric in the order of appearance.

        Parameters
        ----------
        folder
            The run.
        metric
            Name of the metric.
        parts
            Parts of the files to read; None to read all.
        """
        ...


def is_folder(path: Path) -> bool:
    """Return True for a folder that is no link: what is behind a link is no part of a run (blocking)."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def read_part(path: Path, offset: int, most: int = PART_BYTES) -> bytes:
    """Return a part of a file; links are refused.

    Parameters
    ----------
    path
        The file.
    offset
        Where the part begins.
    most
        Largest size in bytes.
    """
    with open_regular(path, follow=False) as file:
        file.seek(offset)
        return file.read(most)


def wanted_parts(
    files: Mapping[str, tuple[int, int]], parts: Sequence[Part] | None
) -> Iterator[tuple[str, int, int, Part | None]]:
    """Yield the name, begin and end of the parts of files to read.

    Parameters
    ----------
    files
        Modification time and size of each file.
    parts
        The parts; None for whole files.
    """
    if parts is None:
        yield from ((name, 0, size, None) for name, (_time, size) in files.items())
    else:
        yield from ((part.file, part.begin, part.end, part) for part in parts if part.file in files)
