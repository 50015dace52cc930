"""The index of runs, and the library that reads it."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.system.disk_threads import Lane, lane_of, on_disk
from jupyterlab_t9kjob.experiments import at_step as at_step_module
from jupyterlab_t9kjob.experiments import curves as curves_module
from jupyterlab_t9kjob.experiments.at_step import values_at_steps
from jupyterlab_t9kjob.experiments.curves import curves_of, curves_on_disks
from jupyterlab_t9kjob.experiments.facts import Facts, MetricLog
from jupyterlab_t9kjob.experiments.library import index as index_module
from jupyterlab_t9kjob.experiments.library import library as library_module
from jupyterlab_t9kjob.experiments.library.finder import find
from jupyterlab_t9kjob.experiments.library.index import Index, is_damaged
from jupyterlab_t9kjob.experiments.library.library import Library
from jupyterlab_t9kjob.experiments.library.packed import packed, unpacked
from jupyterlab_t9kjob.experiments.library.reading import read_facts
from jupyterlab_t9kjob.experiments.model import CurvesRequest, StepMetric
from jupyterlab_t9kjob.experiments.rows import Cells, Rows
from jupyterlab_t9kjob.experiments.series import Part, Position, Series
from jupyterlab_t9kjob.experiments.sources.recorder import RecorderSource


def sqlite3_code(name: str, code: int) -> int:
    """Return SQLite's code of an error; Python 3.10 does not name the codes."""
    return int(getattr(sqlite3, name, code))


def record(values: list[float]) -> Path:
    with em.create_run(name="mnist", hparams={"lr": 0.1}) as run:
        for step, value in enumerate(values):
            run.log("train", {"loss": value}, step=step, epoch=step // 10)
    return Path(run.local or "").resolve()


def opened(root: ContentsRoot, cache: Path | None) -> Library:
    library = Library(root, cache)
    asyncio.run(library.search(root.folder))
    return library


def loss(library: Library) -> list[tuple[int, float | None, float]]:
    runs = list(library.runs.values())
    request = CurvesRequest(runs=[known.id for known in runs], metrics=["train.loss"])
    return [(curve.count, curve.x[-1], max(curve.y)) for curve in curves_of(runs, request, library)]


def test_a_second_server_reads_no_file_again(
    root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    record([*(float(number) for number in range(5000)), float("nan")])
    first = opened(root, cache)
    wanted = loss(first)
    assert wanted == [(5001, 4999.0, 4999.0)]
    # Another server of the same folder has no lock, and keeps an index of its own in memory.
    assert loss(opened(root, cache)) == wanted
    first.close()
    monkeypatch.setattr(RecorderSource, "facts", None)
    monkeypatch.setattr(RecorderSource, "metrics", None)
    second = opened(root, cache)
    [known] = second.runs.values()
    assert (known.names, known.epoch) == (("train.loss",), 500.0)
    [cell] = second.cells("train.loss", [known], curves=True).values()
    summary = json.loads(cell)
    assert (summary["last"], summary["min"], summary["max"], summary["count"]) == ("nan", 0, 4999, 5001)
    assert max(summary["curve"]) == 4999
    assert loss(second) == wanted
    second.close()


def test_changed_and_removed_runs(root: ContentsRoot, tmp_path: Path) -> None:
    folder, gone = record([1.0]), record([2.0])
    opened(root, tmp_path / "cache").close()
    shutil.rmtree(gone)
    run = em.load_run(str(folder))
    run.log("train", {"loss": 9.0}, step=7)
    run.finish()
    library = opened(root, tmp_path / "cache")
    assert loss(library) == [(2, 7.0, 9.0)]
    library.close()


async def test_a_run_that_begins_during_a_long_search_is_kept(
    root: ContentsRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of its folder has found it while the root is still searched."""
    library, search = Library(root, None), find
    found, go_on = threading.Event(), threading.Event()

    def slowly(top: Path, *arguments: Any) -> Any:
        answer = search(top, *arguments)
        if top == root.folder:
            found.set()
            go_on.wait()
        return answer

    monkeypatch.setattr(library_module, "find", slowly)
    whole = asyncio.create_task(library.search(root.folder))
    await asyncio.to_thread(found.wait)
    folder = record([1.0])
    await library.search(folder.parent)
    known = library.runs[folder]
    go_on.set()
    await whole
    assert library.by_id.get(known.id) is known


def test_metrics_are_stored_as_they_are() -> None:
    log = MetricLog({"a": 10**12, "b": 7}, {"empty": Series()}, 3)
    for name, count, epoch in (("one", 1, None), ("many", 5000, 2.0)):
        series = log.series[name] = Series()
        for begin in range(0, count, 2500):
            values = [
                math.sin(number) if number % 50 else math.nan for number in range(begin, min(count, begin + 2500))
            ]
            low, high = Position(float(begin), None, 0.5), Position(float(count), None, None)
            series.note(Part("ab"[begin > 0], begin, begin + 10**7, 0, len(values), low, high))
            series.extend(values, lambda index, begin=begin, epoch=epoch: Position(float(begin + index), epoch, None))  # type: ignore[misc]
    found = unpacked(packed(log))
    assert (found.offsets, found.unreadable, list(found.series)) == (log.offsets, log.unreadable, list(log.series))
    for name, series in found.series.items():
        wanted = log.series[name]
        assert list(series.samples()) == list(wanted.samples())
        assert (series.lengths, series.parts, series.size) == (wanted.lengths, wanted.parts, wanted.size)
        assert (series.count, series.bad, series.low, series.high) == (
            wanted.count,
            wanted.bad,
            wanted.low,
            wanted.high,
        )
        assert repr(series.last) == repr(wanted.last)


@pytest.mark.parametrize("content", [b"", b"no database" * 1000])
def test_a_damaged_index_is_made_again(root: ContentsRoot, tmp_path: Path, content: bytes) -> None:
    record([1.0, 2.0])
    opened(root, tmp_path / "cache").close()
    [path] = (tmp_path / "cache").glob("*.sqlite")
    path.write_bytes(content)
    library = opened(root, tmp_path / "cache")
    assert loss(library) == [(2, 1.0, 2.0)]
    path.write_bytes(content)
    library.unload(next(iter(library.runs.values())))
    record([3.0])
    asyncio.run(library.search(root.folder))
    assert sorted(loss(library)) == [(1, 0.0, 3.0), (2, 1.0, 2.0)]
    library.close()


def test_a_busy_index_is_kept_and_said(root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_module, "_BUSY_SECONDS", 0.0)
    record([1.0, 2.0])
    library = opened(root, tmp_path / "cache")
    assert library.index_problem is None
    [path] = (tmp_path / "cache").glob("*.sqlite")
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    record([3.0])
    asyncio.run(library.search(root.folder))
    assert "locked" in str(library.index_problem)
    runs = list(library.runs.values())
    request = CurvesRequest(runs=[known.id for known in runs], metrics=["train.loss"])
    curves = asyncio.run(curves_on_disks(runs, request, library)).curves
    assert sorted(curve.y for curve in curves) == [[1.0, 2.0], [3.0]]
    other.rollback()
    record([4.0])
    asyncio.run(library.search(root.folder))
    assert library.index_problem is None
    library.close()
    assert other.execute("SELECT count(*) FROM runs").fetchone() == (2,)
    other.close()


@pytest.mark.parametrize(
    ("text", "code", "damaged"),
    [
        ("database is locked", sqlite3_code("SQLITE_BUSY", 5), False),
        ("database or disk is full", sqlite3_code("SQLITE_FULL", 13), False),
        ("disk I/O error", sqlite3_code("SQLITE_IOERR", 10), False),
        ("database disk image is malformed", sqlite3_code("SQLITE_CORRUPT", 11), True),
        ("file is not a database", sqlite3_code("SQLITE_NOTADB", 26), True),
        ("no such table: runs", sqlite3_code("SQLITE_ERROR", 1), True),
    ],
)
def test_only_damage_resets_the_index(text: str, code: int, damaged: bool) -> None:
    problem = sqlite3.OperationalError(text)
    assert is_damaged(problem) is damaged  # Python 3.10 has no codes.
    problem.sqlite_errorcode = code
    assert is_damaged(problem) is damaged


def test_values_at_a_step(root: ContentsRoot, tmp_path: Path) -> None:
    short, long = record([1.0, 2.0, math.nan, 4.0]), record([float(number) for number in range(5000)])
    library = opened(root, tmp_path / "cache")
    runs = [library.runs[short], None, library.runs[long]]
    wanted = [StepMetric(metric="train.loss", step=step) for step in (1.5, 2, 3, 4321, 5000)]
    answer = asyncio.run(values_at_steps(runs, [*wanted, StepMetric(metric="gone", step=0)], library))
    found = json.loads(answer.model_dump_json())
    assert found == {
        "values": [
            [2.0, None, 1.0],
            ["nan", None, 2.0],
            [4.0, None, 3.0],
            [None, None, 4321.0],
            [None, None, None],
            [None, None, None],
        ],
        "complete": True,
    }
    library.close()


def test_values_at_a_step_are_read_from_the_files_of_a_run_while_the_index_is_busy(
    root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module, "_BUSY_SECONDS", 0.0)
    runs = [record([1.0, 2.0]), record([float(number) for number in range(5000)])]
    library = opened(root, tmp_path / "cache")
    known = [library.runs[run] for run in runs]
    assert not any(run.loaded for run in known)
    [path] = (tmp_path / "cache").glob("*.sqlite")
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    wanted = [StepMetric(metric="train.loss", step=step) for step in (1, 4321)]
    answer = asyncio.run(values_at_steps(known, wanted, library))
    assert (answer.values, answer.complete) == ([[2.0, 1.0], [None, 4321.0]], True)
    other.close()
    # Files that could not be read in time are told from a metric without a value.
    monkeypatch.setattr(at_step_module, "READ_SECONDS", -1.0)
    answer = asyncio.run(values_at_steps(known, wanted, library))
    assert (answer.values, answer.complete) == ([[2.0, None], [None, None]], False)
    library.close()


def test_a_silent_disk_leaves_out_its_own_curves(
    root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record([1.0])
    library = opened(root, None)
    outside = tmp_path / "silent/run"
    outside.parent.mkdir()
    record([2.0]).rename(outside)
    asyncio.run(library.search_outside([outside.parent]))

    async def lane(path: Path) -> Lane:
        if path == outside.parent:
            raise TimeoutError(110, "Connection timed out")
        return await lane_of(path)

    monkeypatch.setattr(curves_module, "lane_of", lane)
    silent, shown = library.runs[outside], next(known for known in library.runs.values() if not known.outside)
    request = CurvesRequest(runs=[silent.id, shown.id], metrics=["train.loss"])
    answer = asyncio.run(curves_on_disks([silent, shown], request, library))
    assert [curve.run for curve in answer.curves] == [shown.id]
    assert [(part.runs, str(part.problem)) for part in answer.left_out] == [
        ([silent.id], "The files can't be read: Connection timed out.")
    ]
    with pytest.raises(TimeoutError):
        asyncio.run(curves_on_disks([silent], request, library))
    values = asyncio.run(values_at_steps([silent, shown], [StepMetric(metric="train.loss", step=0)], library))
    assert (values.values, values.complete) == ([[None, 1.0]], False)


def put(index: Index, path: str, *names: str) -> int:
    log = MetricLog()
    for name in names:
        log.series[name] = Series()
        log.series[name].extend([1.0], lambda index: Position(float(index), None, None))
    facts = Facts("recorder", path)
    facts.row = "{}"
    num = index.put(path, "recorder", {}, facts, log)
    assert num is not None
    return num


def test_the_number_of_a_removed_run_is_not_used_again(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    index = Index(tmp_path, cache)
    first, second = put(index, "a", "loss"), put(index, "b", "loss", "accuracy")
    assert put(index, "a", "loss") == first
    index.remove([second])
    index.close()
    index = Index(tmp_path, cache)
    third = put(index, "c", "loss")
    assert third > second
    # The same holds for an index that was made again.
    assert index.path is not None
    index.path.write_bytes(b"no database" * 1000)
    index._database.close()
    assert index.entries() == []
    assert put(index, "d", "loss") > third
    index.close()


def state(index: Index) -> tuple[Path | None, bool]:
    return index.path, index.problem is not None


@pytest.mark.parametrize("lock", ["EXCLUSIVE", "IMMEDIATE"])
def test_an_index_in_memory_moves_to_its_file_once_the_file_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lock: str
) -> None:
    monkeypatch.setattr(index_module, "_BUSY_SECONDS", 0.0)
    first = Index(tmp_path, tmp_path)
    put(first, "earlier", "loss")
    first.close()
    assert first.path is not None
    other = sqlite3.connect(first.path)
    other.execute("BEGIN EXCLUSIVE")
    index = Index(tmp_path, tmp_path)
    other.rollback()
    other.execute(f"BEGIN {lock}")
    num = put(index, "a", "loss", "accuracy")
    assert state(index) == (None, True)
    monkeypatch.setattr(index_module, "_AGAIN_SECONDS", 0.0)
    index._again_at = 0.0
    assert index.metrics(num) is not None
    assert state(index) == (None, True) and "locked" in str(index.problem)
    other.close()
    found = index.metrics(num)
    assert found is not None and list(found.series) == ["loss", "accuracy"]
    assert state(index) == (first.path, False)
    index.close()
    index = Index(tmp_path, tmp_path)
    assert [(entry.num, entry.path) for entry in index.entries()] == [(num, "a")]
    index.close()


def test_a_row_has_only_the_metrics_that_the_run_has_now(root: ContentsRoot) -> None:
    record([1.0])
    library = opened(root, None)
    [known] = library.runs.values()
    assert not known.loaded
    cells = [Cells(name, {known.num or 0: '{"last":1}'}) for name in ("train.loss", "earlier")]
    row = json.loads(Rows(lambda _known: None, {}, cells).text(known))
    assert list(row["metrics"]) == ["train.loss"]


def test_a_silent_disk_outside_does_not_stop_the_others(
    root: ContentsRoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = record([1.0])
    outside = []
    for name in ("silent", "other"):
        monkeypatch.chdir(tmp_path)
        outside.append(tmp_path / name / "run")
        outside[-1].parent.mkdir()
        record([2.0]).rename(outside[-1])
    library = opened(root, None)
    tops = [folder.parent for folder in outside]
    asyncio.run(library.search_outside(tops))
    assert set(library.runs) == {inside, *outside}
    read: list[Path] = []

    async def answer(folder: Path, function: Callable[..., Any], *args: Any) -> Any:
        if folder.is_relative_to(tops[0]):
            raise TimeoutError("silent")
        if function is read_facts:
            read.extend(known.folder for known in args[0])
        return await on_disk(folder, function, *args)

    monkeypatch.setattr(library_module, "on_disk", answer)
    asyncio.run(library.search(root.folder))
    assert read == [inside, outside[1]]
    asyncio.run(library.search_outside(tops))
    assert set(library.runs) == {inside, *outside}
    assert [area.silent for area in library.outside.values()] == [True, False]


def test_runs_in_a_folder_outside_that_is_a_run_are_found(root: ContentsRoot, tmp_path: Path) -> None:
    top = tmp_path / "logs"
    library = opened(root, None)
    for folder in (top, top / "late"):
        folder.mkdir()
        (folder / "events.out.tfevents.1700000000.node-1.42.0").touch()
        asyncio.run(library.search_outside([top]))
    assert set(library.runs) == {top, top / "late"}
