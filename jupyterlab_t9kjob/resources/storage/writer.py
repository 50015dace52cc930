"""Writes samples in three tiers: each sample for an hour, minutes for a day, ten minutes for months.

A tier keeps up to twice its time before its file is rewritten. A process that is killed loses at most the minute, or
the ten minutes, that have not ended; the finer tier still has them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...core.resources import Column
from ...core.system.files import write_atomically
from .blocks import append, columns_block, frame_block, read


@dataclass(frozen=True)
class Tier:
    """A file of samples.

    Attributes
    ----------
    name
        Name of the file.
    seconds
        Duration of a frame; 0 for each sample as it is.
    keep
        Seconds for which frames are kept, at least.
    """

    name: str
    seconds: float
    keep: float


TIERS: Final = (Tier("samples", 0, 3600), Tier("minutes", 60, 86400), Tier("ten-minutes", 600, 120 * 86400))


class SampleWriter:
    """Appends samples to the files of a folder, which is created with the first sample.

    Parameters
    ----------
    folder
        The folder. Only one process writes there at a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tiers = [_TierWriter(folder / tier.name, tier) for tier in TIERS]

    def write(self, time: float, seconds: float, values: Mapping[Column, float], facts: dict[str, Any]) -> None:
        """Write a sample.

        Parameters
        ----------
        time, seconds
            Start and duration of the sample, in seconds since the epoch and in seconds.
        values
            The values; values that are not finite are missing.
        facts
            Facts about the job and its machine, such as limits; plain JSON.

        Raises
        ------
        OSError
            If the disk is full or gone.
        """
        self._folder.mkdir(mode=0o700, exist_ok=True)
        for tier in self._tiers:
            tier.add(time, seconds, values, facts)

    def flush(self) -> None:
        """Write the minutes that have not ended, because no sample follows.

        Raises
        ------
        OSError
            If the disk is full or gone.
        """
        for tier in self._tiers:
            tier.flush()


class _TierWriter:
    def __init__(self, path: Path, tier: Tier) -> None:
        self._path = path
        self._tier = tier
        self._head: tuple[list[Column], dict[str, Any]] | None = None
        self._first: float | None = None
        self._slot: float | None = None
        self._facts: dict[str, Any] = {}
        self._sums: dict[Column, list[float]] = {}
        self._span = (0.0, 0.0)

    def add(self, time: float, seconds: float, values: Mapping[Column, float], facts: dict[str, Any]) -> None:
        if not self._tier.seconds:
            self._write(time, seconds, list(values), list(values.values()), facts)
            return
        slot = time // self._tier.seconds
        if self._slot is not None and slot != self._slot:
            self.flush()
        if self._slot is None:
            self._slot, self._span = slot, (time, time + seconds)
        self._facts = facts
        self._span = (self._span[0], max(self._span[1], time + seconds))
        for column, value in values.items():
            if math.isfinite(value):
                known = self._sums.get(column)
                if known is None:
                    self._sums[column] = [value, value, value, 1]
                else:
                    known[0] = min(known[0], value)
                    known[1] += value
                    known[2] = max(known[2], value)
                    known[3] += 1

    def flush(self) -> None:
        sums, self._sums = self._sums, {}
        slot, self._slot = self._slot, None
        if slot is None or not sums:
            return
        values = [value for low, total, high, count in sums.values() for value in (low, total / count, high)]
        self._write(self._span[0], max(1e-3, self._span[1] - self._span[0]), list(sums), values, self._facts)

    def _write(
        self, time: float, seconds: float, columns: list[Column], values: list[float], facts: dict[str, Any]
    ) -> None:
        if self._first is not None and time - self._first > 2 * self._tier.keep:
            self._trim(time - self._tier.keep)
        data = frame_block(time, seconds, values)
        if self._head != (columns, facts):
            data = columns_block(columns, 3 if self._tier.seconds else 1, facts) + data
        append(self._path, data)
        self._head = (columns, facts)
        if self._first is None:
            self._first = next((segment.times[0] for segment in read(self._path)), time)

    def _trim(self, since: float) -> None:
        """Remove frames that are older than a time."""
        data = []
        self._first = None
        for segment in read(self._path):
            kept = [index for index, time in enumerate(segment.times) if time >= since]
            if kept and self._first is None:
                self._first = segment.times[kept[0]]
            size = len(segment.columns) * segment.width
            if kept:
                data.append(columns_block(segment.columns, segment.width, segment.facts))
            for index in kept:
                values = segment.values[index * size : (index + 1) * size].tolist()
                data.append(frame_block(segment.times[index], segment.seconds[index], values))
        write_atomically(self._path, b"".join(data))
        self._head = None
