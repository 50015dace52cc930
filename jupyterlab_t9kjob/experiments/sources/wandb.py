"""Reads offline runs of W&B (`wandb/offline-run-*`), without W&B. Nothing is changed.

The file `run-<id>.wandb` is a log in LevelDB's format, of protobuf messages `wandb_internal.Record`. Values that are no
numbers, such as pictures and tables, are left out.
"""

from __future__ import annotations

import json
import math
import re
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Final

from ...tensorboard.event_records import NotEvents, fields, messages
from ..facts import Chunk, Facts, MetricLog, is_folder, read_part
from ..model import Origin
from ..series import Part, Position, Series
from .yaml_files import NotReadable, flat, read_bytes, text

FOLDER: Final = re.compile(r"(?:offline-)?run-(\d{8}_\d{6})-(\w+)\Z")
_SUFFIX: Final = ".wandb"
_MAGIC: Final = b":W&B"
_HEAD: Final = 7
_BLOCK: Final = 32 * 1024
_RECORD: Final = struct.Struct("<IHB")
_PART: Final = 128 * _BLOCK
_TAIL: Final = 8 * _BLOCK
_CHUNK: Final = 1000
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4
_LONGEST_NAME: Final = 500

# Numbers of fields of the messages Record, HistoryRecord, items of history and configuration, RunRecord.
_HISTORY, _CONFIG, _RUN, _EXIT = 2, 5, 17, 18
_ITEM, _STEP = 1, 2
_KEY, _NESTED, _JSON = 1, 2, 16
_RUN_CONFIG, _RUN_NAME, _RUN_NOTES, _RUN_TAGS, _RUN_HOST, _RUN_START = 4, 8, 9, 10, 13, 17


class WandbSource:
    """Offline runs of W&B."""

    origin: Origin = "wandb"
    closed = True

    def is_run(self, folder: Path, names: frozenset[str]) -> bool:
        """Return True if a folder is a run. The parameters are those of `experiments.facts.Source.is_run`."""
        return FOLDER.match(folder.name) is not None and any(name.endswith(_SUFFIX) for name in names)

    def own_folders(self, names: frozenset[str]) -> frozenset[str]:
        """Return all names."""
        return names

    def files(self, folder: Path) -> Mapping[str, tuple[int, int]]:
        """Return modification time and size of the log."""
        found: dict[str, tuple[int, int]] = {}
        try:
            for path in sorted(folder.iterdir()):
                if path.name.endswith(_SUFFIX) and not path.is_symlink() and path.is_file():
                    status = path.lstat()
                    found[path.name] = status.st_mtime_ns, status.st_size
        except OSError:
            pass
        return found

    def facts(self, folder: Path) -> Facts:
        """Read the run's own record, its configuration and its end."""
        match = FOLDER.match(folder.name)
        ident = match[2] if match else ""
        facts = Facts(origin=self.origin, name=ident or text(folder.name), suffix=ident[-6:], status="Running")
        config: dict[str, Any] = {}
        files = self.files(folder)
        for name, (modified, size) in files.items():
            if read_part(folder / name, 0, len(_MAGIC)) != _MAGIC:
                raise NotReadable("no log of W&B")
            for record in _head_and_tail(folder / name, size):
                for number, value in _safe_fields(record):
                    if number == _RUN and isinstance(value, bytes):
                        _take_run(value, facts, config)
                    elif number == _CONFIG and isinstance(value, bytes):
                        config.update(_items(value))
                    elif number == _EXIT and isinstance(value, bytes):
                        code = dict(_safe_fields(value)).get(1, 0)
                        facts.status, facts.ended = "Error" if code else "Complete", modified / 1e9
        config.pop("_wandb", None)
        facts.parameters = flat(config)
        facts.environment |= self._machine(folder)
        return facts

    @staticmethod
    def _machine(folder: Path) -> dict[str, Any]:
        inner = folder / "files"
        if not is_folder(inner):
            return {}
        try:
            found = json.loads(read_bytes(inner / "wandb-metadata.json"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        git = found["git"] if isinstance(found.get("git"), dict) else {}
        wanted = {
            "hostname": found.get("host"),
            "os": found.get("os"),
            "python": found.get("python"),
            "devices": found.get("gpu_count"),
            "gpu": found.get("gpu"),
            "commit": git.get("commit"),
        }
        return {name: text(value) for name, value in wanted.items() if value is not None}

    def metrics(self, folder: Path, files: Mapping[str, tuple[int, int]], log: MetricLog, end: float) -> bool:
        """Read on in the log. The parameters are those of `experiments.facts.Source.metrics`."""
        for name, (_time, size) in files.items():
            if size < log.offsets.get(name, 0):  # The file was replaced.
                log.offsets.clear()
                log.series.clear()
            for offset, record in records(folder / name, log.offsets.get(name, 0), size):
                for metric, (value, position) in _history(record).items():
                    log.series.setdefault(metric, Series()).extend([value], partial(_same, position))
                log.offsets[name] = offset
                if time.monotonic() > end:
                    return False
        return True

    def chunks(self, folder: Path, metric: str, parts: Sequence[Part] | None) -> Iterator[Chunk]:
        """Yield the values of a metric. The parameters are those of `experiments.facts.Source.chunks`."""
        for name, (_time, size) in self.files(folder).items():
            read = (_history(record).get(metric) for _offset, record in records(folder / name, 0, size))
            points = (point for point in read if point is not None)
            while some := list(islice(points, _CHUNK)):
                values, positions = zip(*some, strict=True)
                yield Chunk(values, positions.__getitem__)


def _head_and_tail(path: Path, size: int) -> Iterator[bytes]:
    """Yield the records at the begin and the end of a log, which describe the run; its history is between them."""
    head = min(size, _PART)
    yield from (record for _end, record in records(path, 0, head))
    tail = max(head, size - _TAIL) // _BLOCK * _BLOCK
    if head < size:
        yield from (record for _end, record in records(path, tail, size))


def _same(position: Position, _index: int) -> Position:
    return position


def records(path: Path, offset: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the complete records of a log from an offset on, with the offset behind them.

    Parameters
    ----------
    path
        The log.
    offset
        End of a record, or 0.
    size
        Size of the log.
    """
    at = max(offset, _HEAD)
    content, begin = b"", at
    pending: list[bytes] = []
    while at + _RECORD.size <= size:
        if at % _BLOCK > _BLOCK - _RECORD.size:  # The rest of a block is too small for a record.
            at += _BLOCK - at % _BLOCK
            continue
        if at + _BLOCK > begin + len(content):
            try:
                content, begin = read_part(path, at, _PART), at
            except OSError:  # The next round tries again.
                return
        header = content[at - begin : at - begin + _RECORD.size]
        if len(header) < _RECORD.size:
            return
        _checksum, length, kind = _RECORD.unpack(header)
        end = at + _RECORD.size + length
        if end > size or not _FULL <= kind <= _LAST or end - at > _BLOCK:
            return  # It is still being written, or damaged.
        data = content[at - begin + _RECORD.size : end - begin]
        at = end
        if kind in (_FULL, _FIRST):
            pending = []
        elif not pending:  # The begin of this record was not read.
            continue
        pending.append(data)
        if kind in (_FULL, _LAST):
            whole, pending = b"".join(pending), []
            yield at, whole


def _safe_fields(message: bytes) -> list[tuple[int, int | bytes]]:
    try:
        return list(fields(message))
    except NotEvents:
        return []


def _items(record: bytes) -> dict[str, Any]:
    """Return the items of a configuration or of a history by name; names of nested ones are joined by dots."""
    found: dict[str, Any] = {}
    try:
        for item in messages(record, _ITEM):
            keys: list[str] = []
            value: Any = None
            for number, content in fields(item):
                if number in (_KEY, _NESTED) and isinstance(content, bytes) and content:
                    keys.append(content.decode(errors="replace"))
                elif number == _JSON and isinstance(content, bytes):
                    value = json.loads(content)
            found[".".join(keys)[:_LONGEST_NAME]] = value
    except (NotEvents, ValueError, RecursionError):
        pass
    return found


def _history(record: bytes) -> dict[str, tuple[float, Position]]:
    """Return the numbers of one step."""
    found: dict[str, tuple[float, Position]] = {}
    for number, history in _safe_fields(record):
        if number != _HISTORY or not isinstance(history, bytes):
            continue
        items = _items(history)
        step: Any = items.get("_step")
        for field, content in _safe_fields(history):
            if field == _STEP and isinstance(content, bytes):
                step = dict(_safe_fields(content)).get(1, 0)
        position = Position(_finite(step), _finite(items.get("epoch")), _finite(items.get("_timestamp")))
        for name, value in items.items():
            value = (
                {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}.get(value, value)
                if isinstance(value, str)
                else value
            )
            if not name.startswith("_") and isinstance(value, int | float) and not isinstance(value, bool):
                found[text(name, _LONGEST_NAME)] = float(value), position
    return found


def _finite(value: Any) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _take_run(record: bytes, facts: Facts, config: dict[str, Any]) -> None:
    for number, value in _safe_fields(record):
        if not isinstance(value, bytes):
            continue
        if number == _RUN_CONFIG:
            config.update(_items(value))
        elif number == _RUN_NAME and value:
            facts.name = text(value.decode(errors="replace"))
        elif number == _RUN_NOTES:
            facts.description = text(value.decode(errors="replace"), 10_000)
        elif number == _RUN_TAGS:
            facts.labels.append(text(value.decode(errors="replace")))
        elif number == _RUN_HOST and value:
            facts.environment["hostname"] = text(value.decode(errors="replace"))
        elif number == _RUN_START:
            parts = dict(_safe_fields(value))
            facts.started = _finite(parts.get(1))
