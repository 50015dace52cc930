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
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ...core.system.locks import try_lock
from ...core.translation import Text, _
from ..facts import Facts, MetricLog
from .cells import cell_of
from .packed import packed, unpacked

log = logging.getLogger(__name__)

VERSION: Final = 4
_FEW: Final = 500
"""Number of runs up to which an answer names each of them."""
_PASSING: Final = frozenset({3, 5, 6, 7, 8, 9, 10, 13, 14, 15, 22})
"""SQLite's codes for a file that can't be used now: PERM, BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, FULL,
CANTOPEN, PROTOCOL, NOLFS."""
_GONE: Final = frozenset({522, 1032})
"""IOERR_SHORT_READ and READONLY_DBMOVED: the file was cut off, or removed."""
_PASSING_WORDS: Final = ("locked", "full", "disk I/O", "unable to open", "readonly", "out of memory", "permission")
_BUSY_SECONDS: Final = 1.0
_AGAIN_SECONDS: Final = 60.0
"""Time after which a file that could not be opened is tried again."""
_TABLES: Final = """
CREATE TABLE runs (
    num INTEGER PRIMARY KEY, path TEXT UNIQUE, origin TEXT, files TEXT, facts TEXT, row TEXT, epoch REAL, shape INTEGER
);
CREATE TABLE logs (run INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE shapes (num INTEGER PRIMARY KEY, names TEXT UNIQUE);
CREATE TABLE metrics (num INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE summaries (
    metric INTEGER, run INTEGER, numbers TEXT, curve TEXT, PRIMARY KEY (metric, run)
) WITHOUT ROWID;
"""


class Entry(NamedTuple):
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


class Index:
    """The index of one contents root. All methods block, and may be called from any thread.

    The number of a run is not used again after the run was removed or the index was made again. An index whose file
    can't be opened is in memory until the file can be opened; the file then has what is in memory.

    Parameters
    ----------
    root
        The folder that the runs are in.
    folder
        Folder of the file; None for one in memory.

    Attributes
    ----------
    problem
        Why the file can't be used: the reason of the last call that tried; None if it could, or if there is no file.
    generation
        How many times the index was made again, without the runs that it had.
    """

    def __init__(self, root: Path, folder: Path | None) -> None:
        self._lock = threading.Lock()
        self._held: int | None = None
        self._last = 0
        self.path: Path | None = None
        self.problem: Text | None = None
        self.generation = 0
        self._later: Path | None = None
        self._again_at = 0.0
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
        """Open the file, or an index in memory, and note the last number in it."""
        if self.path is not None:
            for _attempt in range(2):
                try:
                    return self._connect(self.path)
                except (sqlite3.Error, OSError) as problem:
                    if not isinstance(problem, sqlite3.Error) or not is_damaged(problem):
                        self._note(problem)
                        self._later, self._again_at = self.path, time.monotonic() + _AGAIN_SECONDS
                        break
                with contextlib.suppress(OSError):  # Damaged, or of another version.
                    self.path.unlink()
            log.warning("The index of runs can't be kept in %s.", self.path)
            self.path = None
        return _connected(":memory:")

    def _try_again(self) -> None:
        """Move an index in memory to the file that could not be opened, if it can be opened now."""
        if self._later is None or time.monotonic() < self._again_at:
            return
        self._again_at = time.monotonic() + _AGAIN_SECONDS
        try:
            database = self._connect(self._later)
        except (sqlite3.Error, OSError) as problem:
            if isinstance(problem, sqlite3.Error) and is_damaged(problem):
                with contextlib.suppress(OSError):  # The next try makes it again.
                    self._later.unlink()
            self._note(problem)
            return
        try:
            # The numbers in memory are those that the library knows, so the file's own runs are given up.
            self._database.backup(database, progress=_no_wait)
        except sqlite3.Error as problem:
            database.close()
            self._note(problem)
            return
        self._database.close()
        self._database, self.path, self._later, self.problem = database, self._later, None, None

    def _connect(self, path: Path) -> sqlite3.Connection:
        database = _connected(str(path))
        try:
            self._last = max(self._last, _last_number(database))
        except BaseException:
            database.close()
            raise
        return database

    def entries(self) -> list[Entry]:
        """Return all runs; entries that can't be read are left out."""
        with self._lock, self._recovering():
            shapes = {
                num: tuple(json.loads(names)) for num, names in self._database.execute("SELECT num, names FROM shapes")
            }
            rows = self._database.execute(
                "SELECT num, path, origin, epoch, shape, row, files, facts FROM runs"
            ).fetchall()
            # One text for all runs is read in half the time that a text for each of them takes.
            files, facts = (json.loads(f"[{','.join(row[column] for row in rows)}]") for column in (-2, -1))
            return [
                Entry(
                    num,
                    path,
                    origin,
                    {name: (modified, size) for name, (modified, size) in sizes.items()},
                    Facts(**stored, row=row),
                    epoch,
                    shapes.get(shape, ()),
                )
                for (num, path, origin, epoch, shape, row, *_texts), sizes, stored in zip(
                    rows, files, facts, strict=True
                )
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
            known = execute("SELECT num FROM runs WHERE path = ?", (path,)).fetchone()
            if known is None:
                self._last += 1
                execute("INSERT INTO runs (num, path) VALUES (?, ?)", (self._last, path))
            num = self._last if known is None else int(known[0])
            execute(
                "UPDATE runs SET origin = ?, files = ?, facts = ?, row = ?, epoch = ?,"
                " shape = (SELECT num FROM shapes WHERE names = ?) WHERE num = ?",
                (origin, json.dumps(files), json.dumps(facts.stored()), facts.row, metrics.epoch(), shape, num),
            )
            execute("INSERT OR REPLACE INTO logs VALUES (?, ?)", (num, packed(metrics)))
            self._database.executemany("INSERT OR IGNORE INTO metrics (name) VALUES (?)", ((name,) for name in names))
            self._database.executemany(
                "INSERT OR REPLACE INTO summaries VALUES ((SELECT num FROM metrics WHERE name = ?), ?, ?, ?)",
                ((name, num, *cell_of(series)) for name, series in metrics.series.items()),
            )
            return num
        return None

    def remove(self, numbers: Collection[int]) -> None:
        """Forget runs; their summaries stay unused, since no other run gets their numbers."""
        with self._lock, self._recovering(), self._database:
            for table, column in (("runs", "num"), ("logs", "run")):
                self._database.executemany(
                    f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608
                    ((num,) for num in numbers),
                )

    def metrics(self, num: int) -> MetricLog | None:
        """Return the metrics of a run; None if the index does not have it."""
        with self._lock, self._recovering():
            row = self._database.execute("SELECT data FROM logs WHERE run = ?", (num,)).fetchone()
            return unpacked(row[0]) if row and row[0] else None
        return None

    def cells(self, name: str, numbers: Collection[int], *, curves: bool) -> dict[int, str]:
        """Return the JSON of a metric of runs in a table, by the runs' numbers; also of runs that had the metric once.

        Parameters
        ----------
        name
            Name of the metric.
        numbers
            Numbers of the runs. The answer may have others.
        curves
            True to add the small curves.
        """
        few = len(numbers) <= _FEW
        places = f" AND run IN ({','.join('?' * len(numbers))})" if few else ""
        curve = "curve" if curves else "'[]'"
        with self._lock, self._recovering():
            rows = self._database.execute(
                f"SELECT run, numbers || ',\"curve\":' || {curve} || '}}' FROM summaries"  # noqa: S608
                f" WHERE metric = (SELECT num FROM metrics WHERE name = ?){places}",
                (name, *(numbers if few else ())),
            )
            return dict(rows)
        return {}

    @contextlib.contextmanager
    def _recovering(self) -> Iterator[None]:
        """Begin with an empty index if the file is damaged or gone; keep the file if it can't be used at the moment."""
        self._try_again()
        try:
            yield
            if self.path is not None:
                self.problem = None
        except (sqlite3.Error, ValueError, TypeError, KeyError, EOFError) as problem:
            if isinstance(problem, sqlite3.Error) and not is_damaged(problem):
                self._note(problem)
                return
            log.warning("The index of runs is made again: %s", problem)
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
            if self.path is not None:
                with contextlib.suppress(OSError):
                    self.path.unlink()
            self._database = self._open()
            self.generation += 1

    def _note(self, problem: Exception) -> None:
        """Note that the file can't be used at the moment; log it once."""
        said = _(
            "The index of runs can't be used now: {problem}. Runs are read from their files.", problem=str(problem)
        )
        if self.problem != said:
            log.warning("The index of runs in %s can't be used now: %s", self.path or self._later, problem)
        self.problem = said


def is_damaged(problem: sqlite3.Error) -> bool:
    """Return True for an error of the file's content; False if the file is busy, or its disk is full or fails."""
    code: int | None = getattr(problem, "sqlite_errorcode", None)  # Python 3.11 and newer.
    if code in _GONE:
        return True
    if code is not None:
        return code & 0xFF not in _PASSING
    return not any(words in str(problem) for words in _PASSING_WORDS)


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
    database = sqlite3.connect(path, _BUSY_SECONDS, check_same_thread=False, isolation_level="DEFERRED")
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


def _no_wait(status: int, _left: int, _pages: int) -> None:
    """End a copy whose file is busy, for which SQLite's module waits without an end."""
    if status in (5, 6):  # BUSY, LOCKED.
        raise sqlite3.OperationalError("database is locked")


def _last_number(database: sqlite3.Connection) -> int:
    """Return the highest number of a run or of the summaries of one that was removed; 0 if there is none."""
    (last,) = database.execute(
        "SELECT max(num) FROM (SELECT max(num) AS num FROM runs UNION ALL"
        " SELECT (SELECT max(run) FROM summaries WHERE metric = metrics.num) FROM metrics)"
    ).fetchone()
    return int(last or 0)
