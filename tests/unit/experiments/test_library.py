"""The library of runs: reads that overlap, runs that can't be read, folders that change."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.experiments.library import known as known_module
from jupyterlab_t9kjob.experiments.library import store as store_module
from jupyterlab_t9kjob.experiments.library.index import Index
from jupyterlab_t9kjob.experiments.library.library import Library
from jupyterlab_t9kjob.experiments.rows import Cells, Rows
from jupyterlab_t9kjob.experiments.sources.recorder import RecorderSource
from tests.unit.experiments.test_event_folders import scalar, write
from tests.unit.experiments.test_index import loss, opened, record


class AskedLock:
    """A lock that notes when a thread asks for it while another one has it."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            self.asked.set()
            self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._lock.release()


async def test_values_that_are_written_while_another_page_reads_the_run_are_read(
    root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = Library(root, tmp_path / "cache")
    run = em.create_run(name="mnist")
    run.log("train", {"loss": 1.0}, step=1)
    begun, metrics = threading.Event(), RecorderSource.metrics

    def held(source: RecorderSource, *args: Any) -> bool:
        read = metrics(source, *args)
        if not begun.is_set():
            begun.set()
            lock.asked.wait()
        return read

    await library.search(root.folder)
    [known] = library.runs.values()
    known.lock = lock = AskedLock()  # type: ignore[assignment]
    monkeypatch.setattr(RecorderSource, "metrics", held)
    run.log("train", {"loss": 2.0}, step=2)
    first = asyncio.create_task(library.refresh([known]))
    await asyncio.to_thread(begun.wait)
    run.log("train", {"loss": 3.0}, step=3)
    run.finish()
    await asyncio.gather(first, library.refresh([known]))
    assert loss(library) == [(3, 3.0, 3.0)]
    library.close()
    library = await asyncio.to_thread(opened, root, tmp_path / "cache")
    assert await asyncio.to_thread(loss, library) == [(3, 3.0, 3.0)]
    library.close()


@pytest.mark.parametrize(
    "odd", ["!!bool maybe", "!!int ''", "!!timestamp y", "!!float ''", "0x" + "f" * 4000, "{!!bool maybe: 1}"]
)
def test_odd_parameters_of_one_run_leave_the_others_readable(root: ContentsRoot, odd: str) -> None:
    strange, plain = record([1.0]), record([2.0])
    (strange / "hyperparameters.yaml").write_text(f"x: {odd}\n")
    library = opened(root, None)
    assert sorted(loss(library)) == [(1, 0.0, 1.0), (1, 0.0, 2.0)]
    facts = library.runs[strange].facts
    assert facts is not None and (facts.problems or str(facts.parameters["x"]).startswith("0xff"))
    known = library.runs[plain].facts
    assert known is not None and known.parameters == {"lr": 0.1}


@pytest.mark.parametrize("part", ["facts", "metrics"])
def test_an_error_of_one_run_is_its_own(
    root: ContentsRoot,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    part: str,
) -> None:
    wrong, right = record([1.0]), record([2.0])
    method = getattr(RecorderSource, part)

    def failing(source: RecorderSource, folder: Path, *args: Any) -> Any:
        if folder == wrong:
            raise ZeroDivisionError("a bug")
        return method(source, folder, *args)

    monkeypatch.setattr(RecorderSource, part, failing)
    library = opened(root, None)
    problem = library.runs[wrong].problem
    assert problem is not None and "a bug" in str(problem)
    assert library.runs[right].names == ("train.loss",)
    for _again in range(3):
        asyncio.run(library.check(root.folder, 0))
    assert [record.levelname for record in caplog.records if record.exc_info] == ["ERROR"]
    monkeypatch.undo()
    os.utime(wrong / "metadata.yaml", (1, 1))
    asyncio.run(library.check(root.folder, 0))
    assert (library.runs[wrong].problem, library.runs[wrong].names) == (None, ("train.loss",))


def shown(library: Library) -> list[float]:
    """Return the last value of each run as the table shows it."""
    runs = list(library.runs.values())
    cells = Cells("train.loss", library.cells("train.loss", runs, curves=False))
    rows = [json.loads(Rows(lambda _known: None, {}, [cells]).text(known)) for known in runs]
    return sorted(row["metrics"]["train.loss"]["last"] for row in rows if row["metrics"])


def test_an_index_that_was_deleted_is_made_again_from_the_files(root: ContentsRoot, tmp_path: Path) -> None:
    for value in (1.0, 2.0, 3.0):
        record([value])
    library = opened(root, tmp_path / "cache")
    [path] = (tmp_path / "cache").glob("*.sqlite")
    path.unlink()
    record([4.0])
    asyncio.run(library.search(root.folder))
    assert shown(library) == [1.0, 2.0, 3.0, 4.0]
    asyncio.run(library.check(root.folder, 0))
    library.close()
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (4,)


async def test_searches_that_begin_together_share_the_index(
    root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record([1.0])
    folder = record([2.0])
    go_on = threading.Event()
    made: list[Index] = []

    class SlowIndex(Index):
        def __init__(self, *args: Any) -> None:
            made.append(self)
            go_on.wait()
            super().__init__(*args)

    monkeypatch.setattr(store_module, "Index", SlowIndex)
    library = Library(root, tmp_path / "cache")
    searches = [asyncio.create_task(library.search(top)) for top in (root.folder, folder.parent)]
    await asyncio.sleep(0)  # Both wait for the index.
    go_on.set()
    await asyncio.gather(*searches)
    assert (len(made), shown(library)) == (1, [1.0, 2.0])
    library.close()
    [path] = (tmp_path / "cache").glob("*.sqlite")
    with contextlib.closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (2,)


def test_runs_are_stored_once_nobody_writes_them_any_more(root: ContentsRoot, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root.folder / "log", [scalar("loss", 2.0)])
    library = opened(root, None)
    [known] = library.runs.values()
    assert (known.loaded, known.names) == (True, ("loss",))
    monkeypatch.setattr(known_module, "ACTIVE_SECONDS", 0.0)
    revision = library.revision
    asyncio.run(library.check(root.folder, 0))
    assert (known.loaded, list(library.cells("loss", [known], curves=False))) == (False, [known.num])
    # An answer that was written meanwhile may have the run without its metrics.
    assert known.revision > revision
    asyncio.run(library.check(root.folder, 1))
    assert library.revision == known.revision
