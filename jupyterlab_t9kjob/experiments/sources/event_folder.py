"""Folders of TensorBoard event files as runs.

Folders named `train`, `validation`, … and folders that `SummaryWriter.add_hparams` makes belong to the run in the
folder above them; the first give the type of their metrics.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ...tensorboard.event_records import LONGEST_RECORD
from ...tensorboard.events import MARK
from ..facts import Chunk, Facts, MetricLog, read_part, wanted_parts
from ..model import Origin
from ..series import BOUNDED_BYTES, NOWHERE, PART_BYTES, Part, Series
from .event_file import Events, Positions, read_events, record_size, tags_of
from .yaml_files import NotReadable, flat, text

TYPES: Final = frozenset({"train", "training", "val", "valid", "validation", "test", "eval", "evaluation"})
_HPARAMS: Final = re.compile(r"\d{10}(\.\d+)?\Z")
_FILE: Final = re.compile(r"events\.out\.tfevents\.(\d{9,11})\.(.+?)(?:\.\d+\.\d+)?\Z")
_HEAD_BYTES: Final = 64 * 1024
"""Bytes of the begin of a file in which hyperparameters and texts are looked for."""
_MOST_FILES: Final = 500
_LONGEST_DESCRIPTION: Final = 2000


class EventSource:
    """Folders of event files."""

    origin: Origin = "events"
    closed = False

    def is_run(self, folder: Path, names: frozenset[str]) -> bool:
        """Return True if a folder has event files, or folders of types that have.

        The parameters are those of `experiments.facts.Source.is_run`.
        """
        if any(MARK in name for name in names):
            return True
        return any(any(MARK in each for each in _names(folder / name)) for name in sorted(names & TYPES))

    def own_folders(self, names: frozenset[str]) -> frozenset[str]:
        """Return the names of the folders that belong to the run."""
        return frozenset(name for name in names if name in TYPES or _HPARAMS.match(name))

    def files(self, folder: Path) -> Mapping[str, tuple[int, int]]:
        """Return modification time and size of the event files; of too many, the newest."""
        found: dict[str, tuple[int, int]] = {}
        entries = self._entries(folder)
        newest = set(sorted(entries, key=_written_at)[-_MOST_FILES:]) if len(entries) > _MOST_FILES else entries
        for name in filter(newest.__contains__, entries):
            with contextlib.suppress(OSError):
                status = entries[name].stat(follow_symlinks=False)
                found[name] = status.st_mtime_ns, status.st_size
        return found

    def _entries(self, folder: Path) -> dict[str, os.DirEntry[str]]:
        """Return all event files by their paths below the folder of the run."""
        found: dict[str, os.DirEntry[str]] = {}
        inner = [""]
        for prefix in inner:
            try:
                with os.scandir(folder / prefix) as entries:
                    for entry in sorted(entries, key=lambda each: each.name):
                        if MARK in entry.name and entry.is_file(follow_symlinks=False):
                            found[f"{prefix}{entry.name}"] = entry
                        elif (
                            not prefix
                            and entry.is_dir(follow_symlinks=False)
                            and self.own_folders(frozenset({entry.name}))
                        ):
                            inner.append(f"{entry.name}/")
            except OSError:
                continue
        return found

    def facts(self, folder: Path) -> Facts:
        """Read hyperparameters and texts from the begin of the files."""
        facts = Facts(origin=self.origin, name=text(folder.name), status="Events")
        files = self.files(folder)
        written = max((modified for modified, _size in files.values()), default=0) / 1e9
        damaged = 0
        for name in files:
            try:
                events = read_events(read_part(folder / name, 0, _HEAD_BYTES))
            except OSError as problem:
                facts.problems.append(f"{name}: {problem.strerror or problem}")
                continue
            damaged += events.damaged and events.end == 0
            _take(events, facts)
            match = _FILE.match(name.rpartition("/")[2])
            started = events.first_time if events.first_time is not None else float(match[1]) if match else None
            if started is not None and math.isfinite(started) and (facts.started is None or started < facts.started):
                facts.started = started
            if match:
                facts.environment.setdefault("hostname", text(match[2]))
        if files and damaged == len(files):
            raise NotReadable("no events")
        facts.ended = written or None
        facts.partial = len(self._entries(folder)) > _MOST_FILES
        return facts

    def metrics(self, folder: Path, files: Mapping[str, tuple[int, int]], log: MetricLog, end: float) -> bool:
        """Read on in all event files. The parameters are those of `experiments.facts.Source.metrics`."""
        complete = True
        log.unreadable = 0  # A damaged file is met again each time.
        for name, (_time, size) in files.items():
            if size < log.offsets.get(name, 0):  # The file was replaced: all files are read again.
                log.offsets.clear()
                log.series.clear()
        for name, (_time, size) in files.items():
            prefix = _prefix(name)
            for offset, events in events_of(folder / name, log.offsets.get(name, 0), size):
                for tag in tags_of(events):
                    values = events.scalars[tag].values
                    series = log.series.setdefault(f"{prefix}{tag}", Series())
                    bounds = events.bounds(tag) if size > BOUNDED_BYTES else (NOWHERE, NOWHERE)
                    series.note(Part(name, offset, offset + events.end, 0, len(values), *bounds))
                    series.extend(values, Positions(events, tag))
                log.offsets[name] = offset + events.end
                log.unreadable += events.damaged
                if time.monotonic() > end:
                    complete = False
                    break
        return complete

    def chunks(self, folder: Path, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
        """Yield the values of a metric. The parameters are those of `experiments.facts.Source.chunks`."""
        for name, begin, end, part in wanted_parts(self.files(folder), parts):
            prefix = _prefix(name)
            if metric.startswith(prefix):
                tag = metric[len(prefix) :]
                for _offset, events in events_of(folder / name, begin, end):
                    if tag in events.scalars:
                        yield Chunk(events.scalars[tag].values, Positions(events, tag), part)


def events_of(path: Path, offset: int, size: int) -> Iterator[tuple[int, Events]]:
    """Yield the events of a file from an offset on, and where they begin; data that can't be read end the iteration.

    Parameters
    ----------
    path
        The file.
    offset
        Begin of a record, in bytes.
    size
        Offset at which to end, in bytes.
    """
    while offset < size:
        try:
            content = read_part(path, offset, min(PART_BYTES, size - offset))
        except OSError:  # The next round tries again.
            return
        events = read_events(content)
        if events.end == 0 and not events.damaged:
            record = record_size(content)
            if len(content) < PART_BYTES or not PART_BYTES < record <= min(LONGEST_RECORD, size - offset):
                return
            events.end = record  # A record as large as this holds a picture, no scalar.
        yield offset, events
        if events.damaged:
            return
        offset += events.end


def _written_at(name: str) -> tuple[int, str]:
    """Return the time in the name of an event file, and the name."""
    match = _FILE.match(name.rpartition("/")[2])
    return int(match[1]) if match else 0, name


def _prefix(name: str) -> str:
    folder = name.partition("/")[0] if "/" in name else ""
    return f"{folder}." if folder in TYPES else ""


def _take(events: Events, facts: Facts) -> None:
    """Take over hyperparameters and texts."""
    facts.parameters.update(flat(events.parameters))
    for tag, words in events.texts.items():
        name = tag.removesuffix("/text_summary")
        found = _mapping(words)
        if found is not None and name in ("args", "hparams", "hyperparameters", "config", "params"):
            facts.parameters = {**flat(found), **facts.parameters}
        elif len(facts.description) < _LONGEST_DESCRIPTION:
            facts.description += f"{name}: {words[:_LONGEST_DESCRIPTION]}\n"


def _mapping(words: str) -> dict[str, Any] | None:
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _names(folder: Path) -> list[str]:
    try:
        return [] if folder.is_symlink() else [each.name for each in folder.iterdir()]
    except OSError:
        return []
