"""Folders that change while they are watched: only they are listed again."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.experiments.library import finder as finder_module
from jupyterlab_t9kjob.experiments.library import library as library_module
from jupyterlab_t9kjob.experiments.library.library import Library
from tests.unit.experiments.test_event_folders import scalar, write
from tests.unit.experiments.test_index import opened, record


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders that were listed, in order. Folders that change are listed in each check, without a rest."""
    folders: list[Path] = []
    real = finder_module.listed

    def noted(folder: Path, most: int) -> Any:
        folders.append(folder)
        return real(folder, most)

    monkeypatch.setattr(finder_module, "listed", noted)
    monkeypatch.setattr(library_module, "REST", 0.0)
    return folders


def touch(folder: Path) -> None:
    """Give a folder another modification time than it had, however coarse the disk's clock is."""
    modified = folder.lstat().st_mtime_ns + 1_000_000
    os.utime(folder, ns=(modified, modified))


def check(library: Library, top: Path) -> None:
    asyncio.run(library.check(top, 0))


def test_a_folder_that_can_not_be_listed_is_not_searched_again_and_again(
    root: ContentsRoot, listed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    record([1.0])
    closed = root.folder / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refusing(folder: Any) -> Any:
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(finder_module.os, "scandir", refusing)
    library = opened(root, None)
    listed.clear()
    for _check in range(3):
        check(library, root.folder)
    assert listed == []


def test_only_a_busy_folder_is_listed_in_each_check(root: ContentsRoot, listed: list[Path]) -> None:
    run, busy = record([1.0]), root.folder / "cache"
    for name in ("cache/a/b", "cache/c", "data/d"):
        (root.folder / name).mkdir(parents=True)
    library = opened(root, None)
    for number in range(3):
        (busy / f"part{number}").touch()
        touch(busy)
        listed.clear()
        check(library, root.folder)
        assert listed == [busy]
    assert set(library.runs) == {run}


def test_a_busy_folder_is_left_alone_for_a_while(
    root: ContentsRoot, listed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_module, "REST", 1e9)
    busy = root.folder / "cache"
    busy.mkdir()
    library = opened(root, None)
    listed.clear()
    for _check in range(3):
        touch(busy)
        check(library, root.folder)
    assert listed == [busy]


def test_runs_in_new_and_removed_folders(
    root: ContentsRoot, listed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = record([1.0])
    (root.folder / "data/old").mkdir(parents=True)
    library = opened(root, None)
    monkeypatch.chdir(root.folder / "data/old")
    second = record([2.0])
    touch(root.folder / "data/old")
    listed.clear()
    check(library, root.folder)
    assert {known.names for known in library.runs.values()} == {("train.loss",)}
    assert set(library.runs) == {first, second}
    assert root.folder not in listed
    # A run that begins beside it is found, too, and a link in place of one is named.
    third, link = record([3.0]), second.parent / "link"
    link.symlink_to(first)
    touch(second.parent)
    check(library, root.folder)
    assert set(library.runs) == {first, second, third}
    assert library.area(root.folder).links == [link]
    ident = library.runs[second].id
    monkeypatch.chdir(root.folder)
    shutil.rmtree(root.folder / "data/old")
    touch(root.folder / "data")
    check(library, root.folder)
    assert set(library.runs) == {first}
    assert ident in library.removed
    assert library.area(root.folder).links == []
    shutil.copytree(first, root.folder / "data/old")
    touch(root.folder / "data")
    check(library, root.folder)
    assert set(library.runs) == {first, root.folder / "data/old"}


def test_a_folder_becomes_a_run_and_an_open_run_gets_others_in_it(root: ContentsRoot, listed: list[Path]) -> None:
    first = record([1.0])
    top, copy = root.folder / "log", root.folder / "copy"
    top.mkdir()
    copy.mkdir()
    library = opened(root, None)
    write(top, [scalar("loss", 2.0)])
    shutil.copytree(first, copy, dirs_exist_ok=True)
    for folder in (top, copy):
        touch(folder)
    check(library, root.folder)
    assert set(library.runs) == {first, top, copy}
    write(top / "late", [scalar("loss", 2.0)])
    touch(top)
    check(library, root.folder)
    assert set(library.runs) == {first, top, top / "late", copy}
    for file in copy.glob("*.yaml"):
        file.unlink()
    shutil.rmtree(copy / "metrics")
    touch(copy)
    check(library, root.folder)
    assert set(library.runs) == {first, top, top / "late"}


def test_a_new_folder_is_searched_down_to_the_same_depth(root: ContentsRoot, listed: list[Path]) -> None:
    top = root.folder / "deep"
    top.mkdir()
    library = opened(root, None)
    for depth in (12, 13):
        path = top.joinpath(*"abcdefghijklmn"[: depth - 2], f"log{depth}")
        write(path, [scalar("loss", 2.0)])
    touch(top)
    check(library, root.folder)
    area = library.area(root.folder)
    assert [len(folder.relative_to(root.folder).parts) for folder in library.runs] == [12]
    assert not area.complete


async def test_a_change_during_a_complete_search_is_found(
    root: ContentsRoot, listed: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = record([1.0])
    library, search = Library(root, None), finder_module.find
    await library.search(root.folder)
    searched, go_on = threading.Event(), threading.Event()

    def slowly(*arguments: Any) -> Any:
        answer = search(*arguments)
        searched.set()
        go_on.wait()
        return answer

    monkeypatch.setattr(library_module, "find", slowly)
    whole = asyncio.create_task(library.search(root.folder))
    await asyncio.to_thread(searched.wait)
    second = await asyncio.to_thread(record, [2.0])
    touch(second.parent)
    await library.check(root.folder, 0)
    assert set(library.runs) == {first, second}
    go_on.set()
    await whole
    assert set(library.runs) == {first, second}
    await library.check(root.folder, 0)
    shutil.rmtree(second)
    touch(second.parent)
    await library.check(root.folder, 0)
    assert set(library.runs) == {first}
