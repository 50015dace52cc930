"""Counting points in event files, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from jupyterlab_t9kjob.tensorboard import event_records, points
from jupyterlab_t9kjob.tensorboard.event_records import NotEvents
from jupyterlab_t9kjob.tensorboard.events import find_event_files, shape
from jupyterlab_t9kjob.tensorboard.points import PointCounter
from tests.tensorboard.conftest import Events


def counted(counter: PointCounter, folder: Path) -> int | None:
    return counter.count(find_event_files([folder]).files)


def test_points_are_counted_as_they_are_written(tmp_path: Path) -> None:
    counter = PointCounter()
    train = Events(tmp_path / "train")
    train.add("loss", [1.0] * 100)
    Events(tmp_path / "eval").add("loss", [1.0] * 60)
    assert counted(counter, tmp_path) == 160
    assert find_event_files([tmp_path]).runs == 2
    train.add("loss", [1.0])
    assert counted(counter, tmp_path) == 161


def test_what_is_no_point_of_a_curve(tmp_path: Path) -> None:
    writer = EventFileWriter(str(tmp_path))
    values = [Summary.Value(tag=tag, simple_value=1.0) for tag in ("loss", "x" * 200, "_hparams_/experiment")]
    writer.add_event(Event(step=1, summary=Summary(value=values)))
    writer.add_event(Event(step=2, graph_def=b"graph"))
    picture = Summary.Image(encoded_image_string=bytes(event_records.PARSED_BYTES))
    writer.add_event(Event(step=3, summary=Summary(value=[Summary.Value(tag="picture", image=picture)])))
    writer.flush()
    assert counted(PointCounter(), tmp_path) == 3


def test_a_record_that_is_being_written_is_read_later(tmp_path: Path) -> None:
    Events(tmp_path / "a").add("loss", [1.0, 2.0])
    whole = next((tmp_path / "a").iterdir()).read_bytes()
    file = tmp_path / "b" / "events.out.tfevents.1"
    file.parent.mkdir()
    counter = PointCounter()
    for size, expected in ((5, 0), (len(whole) - 1, 1), (len(whole), 2), (len(whole) - 2, 1)):
        file.write_bytes(whole[:size])
        assert counted(counter, file.parent) == expected


@pytest.mark.parametrize("spoil", [lambda data: b"x" * 100, lambda data: data[:12] + b"\xff" * len(data)])
def test_what_is_no_event_file(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    Events(tmp_path).add("loss", [1.0])
    file = next(tmp_path.iterdir())
    file.write_bytes(spoil(file.read_bytes()))
    with pytest.raises(NotEvents):
        counted(PointCounter(), tmp_path)


def test_a_call_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        Events(tmp_path / name).add("loss", [1.0] * 10)
    monkeypatch.setattr(points, "MAX_BYTES", 100)
    counter = PointCounter()
    told = [counted(counter, tmp_path)]
    while told[-1] is None and len(told) < 50:
        told.append(counted(counter, tmp_path))
    assert len(told) > 2
    assert told[-1] == 20


def test_the_shape_of_a_folder(tmp_path: Path) -> None:
    assert shape(tmp_path / "gone") == (False, False)
    Events(tmp_path / "a").add("loss", [1.0])
    assert shape(tmp_path) == (False, True)
    assert shape(tmp_path / "a") == (True, False)
