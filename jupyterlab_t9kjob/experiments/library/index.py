"""Index of the runs that were read: an SQLite file on a disk of this machine, since locks of network disks fail.

The index can be deleted at any time. It is made again from the files of the runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import stat
import tempfile
import threading
from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...core.system.locks import try_lock
from ..facts import Facts, MetricLog
from ..series import Part, Position, Sample, Series, small_curve

log = logging.getLogger(__name__)

VERSION: Final = 2
_SAMPLE: Final = 5
_HEADER: Final = 9
_FIXED: Final = _HEADER + 3 * _SAMPLE
_PART: Final = 11
_SUMMARY: Final = 7
_NAN: Final = float("nan")
_NAN_BYTES: Final = array("d", [_NAN]).tobytes()
_TABLES: Final = """
CREATE TABLE runs (
    num INTEGER PRIMARY KEY, path TEXT UNIQUE, origin TEXT, files TEXT, facts TEXT, epoch REAL, shape INTEGER, log BLOB
);
CREATE TABLE shapes (num INTEGER PRIMARY KEY, names TEXT UNIQUE);
CREATE TABLE metrics (num INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE summaries (metric INTEGER, run INTEGER, data BLOB, PRIMARY KEY (metric, run)) WITHOUT ROWID;
"""


@dataclass
class Entry:
    """A run in the index.

    Attributes
    ----------
    num
        Its number in the index.
    names
        Names of its metrics.
    """

    num: int
    path: str
    origin: str
    files: dict[str, tuple[int, int]]
    facts: Facts
    epoch: float | None
    names: tuple[str, ...]


@dataclass
class Summary:
    """A metric of a run as the index keeps it."""

    last: float
    last_step: float | None
    low: float | None
    low_step: float | None
    high: float | None
    high_step: float | None
    count: int
    curve: list[float]


class Index:
    """The index of one contents root. All methods block, and may be called from any thread.

    Parameters
    ----------
    root
        The folder that the runs are in.
    folder
        Folder of the file; None for one in memory.
    """

    def __init__(self, root: Path, folder: Path | None) -> None:
        self._lock = threading.Lock()
        self._held: int | None = None
        self.path: Path | None = None
        name = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        if folder is not None:
            with contextlib.suppress(OSError):
                # Another server of the same folder has the lock: this one keeps its index in memory.
                self._held = try_lock(folder / f"{name}.lock")
            if self._held is not None:
                self.path = folder / f"{name}.sqlite"
        self._database = self._open()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()
            if self._held is not None:
                os.close(self._held)
                self._held = None

    def _open(self) -> sqlite3.Connection:
        if self.path is not None:
            for _attempt in range(2):
                with contextlib.suppress(sqlite3.Error, OSError):
                    return _connected(str(self.path))
                with contextlib.suppress(OSError):  # Damaged, or of another version.
                    self.path.unlink()
            log.warning("The index of runs can't be kept in %s.", self.path)
            self.path = None
        return _connected(":memory:")

    def entries(self) -> list[Entry]:
        """Return all runs; entries that can't be read are left out."""
        with self._lock, self._recovering():
            shapes = {
                num: tuple(json.loads(names)) for num, names in self._database.execute("SELECT num, names FROM shapes")
            }
            rows = self._database.execute("SELECT num, path, origin, files, facts, epoch, shape FROM runs").fetchall()
            return [
                Entry(
                    num,
                    path,
                    origin,
                    {name: (modified, size) for name, (modified, size) in json.loads(files).items()},
                    Facts(**json.loads(facts)),
                    epoch,
                    shapes.get(shape, ()),
                )
                for num, path, origin, files, facts, epoch, shape in rows
            ]
        return []

    def put(
        self, path: str, origin: str, files: Mapping[str, tuple[int, int]], facts: Facts, metrics: MetricLog
    ) -> int | None:
        """Store a run that was read to its end; return its number.

        Parameters
        ----------
        path, origin
            Contents path and program of the run.
        files
            Modification times and sizes of its files.
        facts, metrics
            What was read.
        """
        names = list(metrics.series)
        with self._lock, self._recovering(), self._database:
            execute = self._database.execute
            shape = json.dumps(names)
            execute("INSERT OR IGNORE INTO shapes (names) VALUES (?)", (shape,))
            execute(
                "INSERT INTO runs (path) VALUES (?) ON CONFLICT (path) DO NOTHING",
                (path,),
            )
            (num,) = execute("SELECT num FROM runs WHERE path = ?", (path,)).fetchone()
            execute(
                "UPDATE runs SET origin = ?, files = ?, facts = ?, epoch = ?, log = ?,"
                " shape = (SELECT num FROM shapes WHERE names = ?) WHERE num = ?",
                (origin, json.dumps(files), json.dumps(vars(facts)), metrics.epoch(), _packed(metrics), shape, num),
            )
            self._database.executemany("INSERT OR IGNORE INTO metrics (name) VALUES (?)", ((name,) for name in names))
            self._database.executemany(
                "INSERT OR REPLACE INTO summaries VALUES ((SELECT num FROM metrics WHERE name = ?), ?, ?)",
                ((name, num, _packed_summary(series)) for name, series in metrics.series.items()),
            )
            return int(num)
        return None

    def remove(self, numbers: Collection[int]) -> None:
        """Forget runs; their summaries are overwritten by the next run of that number, or stay unused."""
        with self._lock, self._recovering(), self._database:
            self._database.executemany("DELETE FROM runs WHERE num = ?", ((num,) for num in numbers))

    def metrics(self, num: int) -> MetricLog | None:
        """Return the metrics of a run; None if the index has lost it."""
        with self._lock, self._recovering():
            row = self._database.execute("SELECT log FROM runs WHERE num = ?", (num,)).fetchone()
            return _unpacked(row[0]) if row and row[0] else None
        return None

    def summaries(self, name: str, numbers: Collection[int]) -> dict[int, Summary]:
        """Return a metric of runs in short, by the runs' numbers.

        Parameters
        ----------
        name
            Name of the metric.
        numbers
            Numbers of the runs.
        """
        one = len(numbers) < 20
        places = f" AND run IN ({','.join('?' * len(numbers))})" if one else ""
        with self._lock, self._recovering():
            rows = self._database.execute(
                f"SELECT run, data FROM summaries WHERE metric = (SELECT num FROM metrics WHERE name = ?){places}",  # noqa: S608
                (name, *(numbers if one else ())),
            )
            return {num: _unpacked_summary(data) for num, data in rows}
        return {}

    @contextlib.contextmanager
    def _recovering(self) -> Iterator[None]:
        """Begin with an empty index if the file is damaged or gone."""
        try:
            yield
        except (sqlite3.Error, ValueError, TypeError, KeyError, EOFError) as problem:
            log.warning("The index of runs is made again: %s", problem)
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
            if self.path is not None:
                with contextlib.suppress(OSError):
                    self.path.unlink()
            self._database = self._open()


def machine_folder() -> Path | None:
    """Return this user's own folder on a disk of this machine; None if another user may have made it."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"t9kjob-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(status.st_mode) and getattr(status, "st_uid", user) == user
    return folder if own and not status.st_mode & 0o022 else None


def _connected(path: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, check_same_thread=False, isolation_level="DEFERRED")
    try:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError("another version")
        # The index can be made again, so a crash of the machine may damage it.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("PRAGMA cache_size = -65536")
        if version == 0:
            database.executescript(_TABLES)
            database.execute(f"PRAGMA user_version = {VERSION}")
            database.commit()
    except BaseException:
        database.close()
        raise
    return database


# -- numbers as bytes -------------------------------------------------------------------------------------------------


def _packed(metrics: MetricLog) -> bytes:
    """Return metrics as bytes: a head in JSON, the fixed numbers of all metrics, then the columns of each."""
    files = list(metrics.offsets)
    head = {"offsets": metrics.offsets, "unreadable": metrics.unreadable, "names": list(metrics.series)}
    numbers, rest = array("d"), []
    for series in metrics.series.values():
        columns = [column.tobytes() for column in series.kept.columns()]
        unknown = _NAN_BYTES * len(series.kept)
        present = [column != unknown for column in columns]
        parts = _stored_parts(series, metrics)
        mask = sum(bit << number for number, bit in enumerate(present))
        header = (series.count, series.size, series.bad, series.first_bad, series.last_bad)
        lengths = len(series.lengths), len(series.kept), len(parts), mask
        numbers.extend(_NAN if value is None else value for value in (*header, *lengths))
        for sample in (series.last, series.low, series.high):
            numbers.extend(_numbers(sample))
        rest.append(bytes(series.lengths))
        rest += [column for column, wanted in zip(columns, present, strict=True) if wanted]
        flat = array("d")
        for part in parts:
            bounds = (_NAN if bound is None else bound for bound in (*part.low, *part.high))
            flat.extend((files.index(part.file), part.begin, part.end, part.first, part.values, *bounds))
        rest.append(flat.tobytes())
    text = json.dumps(head).encode()
    return b"".join([len(text).to_bytes(4, "little"), text, numbers.tobytes(), *rest])


def _stored_parts(series: Series, metrics: MetricLog) -> list[Part]:
    """Return the parts of a metric, or nothing if it has one, which `_unpacked` makes again."""
    known = all(part.file in metrics.offsets for part in series.parts)
    return series.parts if known and not (len(series.parts) == len(metrics.offsets) == 1) else []


def _unpacked(data: bytes) -> MetricLog:
    begin = 4 + int.from_bytes(data[:4], "little")
    head: dict[str, Any] = json.loads(data[4:begin])
    files, names = list(head["offsets"]), head["names"]
    at = begin + 8 * _FIXED * len(names)
    fixed = array("d", data[begin:at])
    found = MetricLog(head["offsets"], {}, head["unreadable"])
    for number, name in enumerate(names):
        numbers = fixed[number * _FIXED : (number + 1) * _FIXED]
        count, size, bad, first_bad, last_bad = numbers[:5]
        buckets, samples, parts, mask = map(int, numbers[5:_HEADER])
        last, low, high = (_sample(numbers, _HEADER + _SAMPLE * each) for each in range(3))
        series = Series(int(count), last, low, high, int(bad), _known(first_bad), _known(last_bad), int(size))
        series.lengths, at = bytearray(data[at : at + buckets]), at + buckets
        for bit, column in enumerate(series.kept.columns()):
            if mask >> bit & 1:
                column.frombytes(data[at : at + 8 * samples])
                at += 8 * samples
            else:
                column.frombytes(_NAN_BYTES * samples)
        flat, at = array("d", data[at : at + 8 * _PART * parts]), at + 8 * _PART * parts
        series.parts = [_part(flat[begin : begin + _PART], files) for begin in range(0, len(flat), _PART)]
        if not parts and len(files) == 1:
            series.parts = [Part(files[0], 0, head["offsets"][files[0]], 0, series.count)]
        found.series[name] = series
    return found


def _part(numbers: array[float], files: list[str]) -> Part:
    file, begin, end, first, count = map(int, numbers[:5])
    bounds = [_known(bound) for bound in numbers[5:]]
    return Part(files[file], begin, end, first, count, Position(*bounds[:3]), Position(*bounds[3:]))


def _numbers(sample: Sample | None) -> tuple[float, ...]:
    if sample is None:
        return (-1.0, _NAN, _NAN, _NAN, _NAN)
    return (sample.number, *(_NAN if value is None else value for value in sample.position), sample.value)


def _sample(numbers: array[float], at: int) -> Sample | None:
    number, step, epoch, time, value = numbers[at : at + _SAMPLE]
    return None if number < 0 else Sample(int(number), Position(_known(step), _known(epoch), _known(time)), value)


def _known(number: float) -> float | None:
    return None if number != number else number


def _packed_summary(series: Series) -> bytes:
    last, low, high = series.last, series.low, series.high
    numbers = array("d", [last.value if last else _NAN])
    for value in (
        last.position.step if last else None,
        low.value if low else None,
        low.position.step if low else None,
        high.value if high else None,
        high.position.step if high else None,
        series.count,
    ):
        numbers.append(_NAN if value is None else value)
    return numbers.tobytes() + array("f", map(_single, small_curve(series))).tobytes()


def _single(value: float) -> float:
    return max(-3.4e38, min(3.4e38, value))


def _unpacked_summary(data: bytes) -> Summary:
    numbers = array("d", data[: 8 * _SUMMARY])
    curve = array("f", data[8 * _SUMMARY :])
    last_step, low, low_step, high, high_step = map(_known, numbers[1:6])
    return Summary(numbers[0], last_step, low, low_step, high, high_step, int(numbers[6]), list(curve))
