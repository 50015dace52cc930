"""Looking for event files, within bounds."""

import os
from pathlib import Path

import pytest

from jupyterlab_t9kjob.tensorboard import events
from jupyterlab_t9kjob.tensorboard.events import Found, Trouble, find_event_files


def write(path: Path, age: float, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (age, age))


def test_the_newest_event_file(tmp_path: Path) -> None:
    write(tmp_path / "a" / "events.out.tfevents.1.host", 1000.0)
    write(tmp_path / "a" / "deep" / "er" / "events.out.tfevents.2.host", 3000.0)
    write(tmp_path / "b" / "events.out.tfevents.3.host", 2000.0)
    write(tmp_path / "b" / "model.pt", 9000.0)
    assert find_event_files([tmp_path / "a"]) == Found(True, 3000.0)
    assert find_event_files([tmp_path / "b"]) == Found(True, 2000.0)
    assert find_event_files([tmp_path / "b", tmp_path / "a"]) == Found(True, 3000.0)


def test_nothing_to_show(tmp_path: Path) -> None:
    write(tmp_path / "empty" / "events.out.tfevents.1.host", 1000.0, "")
    (tmp_path / "tfevents-folder").mkdir()
    write(tmp_path / "file", 1.0)
    for path in ("empty", "tfevents-folder"):
        assert find_event_files([tmp_path / path]) == Found(False, None)
    for path, missing, words in (("gone", True, "No such file or directory"), ("file", False, "Not a directory")):
        assert find_event_files([tmp_path / path]) == Found(trouble=Trouble(tmp_path / path, missing, words))
    write(tmp_path / "log" / "events.out.tfevents.1.host", 1000.0)
    beside = find_event_files([tmp_path / "log", tmp_path / "gone"])
    assert (beside.newest, beside.trouble and beside.trouble.path) == (1000.0, tmp_path / "gone")


def test_links_are_followed_once(tmp_path: Path) -> None:
    write(tmp_path / "real" / "events.out.tfevents.1.host", 1000.0)
    (tmp_path / "real" / "loop").symlink_to(tmp_path)
    (tmp_path / "real" / "dangling").symlink_to(tmp_path / "gone")
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "link").symlink_to(tmp_path / "real")
    assert find_event_files([tmp_path / "log"]) == Found(True, 1000.0)


def test_a_look_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        write(tmp_path / f"{number:02}" / "events.out.tfevents.1.host", 1000.0 + number)
    monkeypatch.setattr(events, "MAX_ENTRIES", 10)
    assert find_event_files([tmp_path]).newest is None or find_event_files([tmp_path]).newest < 1029.0
    assert not find_event_files([tmp_path]).complete
    monkeypatch.setattr(events, "MAX_ENTRIES", 1000)
    assert find_event_files([tmp_path]) == Found(True, 1029.0)
    monkeypatch.setattr(events, "MAX_SECONDS", 0.0)
    assert find_event_files([tmp_path]) == Found(complete=False)
