"""Folders of TensorBoard event files as runs."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.plugins.hparams.summary_v2 import hparams_pb
from tensorboard.summary.writer.record_writer import RecordWriter

from jupyterlab_t9kjob.experiments.facts import MetricLog
from jupyterlab_t9kjob.experiments.library.finder import find
from jupyterlab_t9kjob.experiments.sources.event_folder import EventSource
from jupyterlab_t9kjob.experiments.sources.yaml_files import NotReadable
from tests.patience import PATIENCE

SOURCE = EventSource()
NAME = "events.out.tfevents.1700000000.node-1.42.0"


def write(folder: Path, summaries: Iterable[Summary], name: str = NAME) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=1700000000.5, file_version="brain.Event:2").SerializeToString())
        for step, summary in enumerate(summaries):
            writer.write(Event(step=step, wall_time=1700000001.0 + step, summary=summary).SerializeToString())
    return folder / name


def scalar(tag: str, value: float) -> Summary:
    return Summary(value=[Summary.Value(tag=tag, simple_value=value)])


def tensor(tag: str, value: float) -> Summary:
    return Summary(value=[Summary.Value(tag=tag, tensor=TensorProto(dtype=1, float_val=[value]))])


def read(folder: Path, log: MetricLog | None = None) -> MetricLog:
    log = log if log is not None else MetricLog()
    assert SOURCE.metrics(folder, SOURCE.files(folder), log, time.monotonic() + PATIENCE)
    return log


def test_scalars_of_both_kinds_are_read_on(tmp_path: Path) -> None:
    two = Summary(value=[Summary.Value(tag="a/x", simple_value=1.0), Summary.Value(tag="b", simple_value=2.0)])
    path = write(tmp_path, [*(scalar("loss", number) for number in range(200)), tensor("acc", 0.25), two])
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    log = read(tmp_path)
    assert (log.series["loss"].count, list(log.series)) == (200, ["loss", "acc"])
    path.write_bytes(whole)
    read(tmp_path, log)
    assert {name: series.count for name, series in log.series.items()} == {"loss": 200, "acc": 1, "a/x": 1, "b": 1}
    last = log.series["loss"].last
    assert last is not None
    assert (last.value, last.position) == (199.0, (199.0, None, 1700000200.0))
    assert [value for chunk in SOURCE.chunks(tmp_path, "acc", None) for value in chunk.values] == [0.25]


def test_hyperparameters_and_texts_become_parameters(tmp_path: Path) -> None:
    write(tmp_path, [hparams_pb({"lr": 0.5, "opt": "sgd", "amp": True})])
    args = TensorProto(dtype=7, string_val=[b'{"epochs": 3, "lr": 9}'])
    write(tmp_path, [Summary(value=[Summary.Value(tag="args/text_summary", tensor=args)])], NAME + ".1")
    facts = SOURCE.facts(tmp_path)
    assert facts.parameters == {"epochs": 3, "lr": 0.5, "opt": "sgd", "amp": True}
    assert (facts.started, facts.environment) == (1700000000.5, {"hostname": "node-1"})


def test_folders_of_types_belong_to_one_run(tmp_path: Path) -> None:
    write(tmp_path / "keras/train", [scalar("loss", 1.0)])
    write(tmp_path / "keras/validation", [scalar("loss", 2.0)])
    write(tmp_path / "torch", [scalar("loss", 3.0)])
    write(tmp_path / "torch/1700000000.25", [scalar("hparam/acc", 3.0)])
    write(tmp_path / "torch/other", [scalar("loss", 4.0)])
    found = find(tmp_path, [SOURCE])
    assert sorted(found.runs) == [tmp_path / "keras", tmp_path / "torch", tmp_path / "torch/other"]
    assert sorted(read(tmp_path / "keras").series) == ["train.loss", "validation.loss"]
    assert sorted(read(tmp_path / "torch").series) == ["hparam/acc", "loss"]


def test_damaged_files_are_a_problem(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"\xff" * 100)
    with pytest.raises(NotReadable):
        SOURCE.facts(tmp_path)
    path = write(tmp_path, [scalar("loss", 1.0)])
    path.write_bytes(path.read_bytes() + b"\xff" * 100)
    log = read(tmp_path)
    assert (log.series["loss"].count, log.unreadable) == (1, 1)


def test_of_too_many_files_the_newest_are_read(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"events.out.tfevents.{1700000000 + number}.node-1.42.{number}").touch()
    assert not SOURCE.facts(tmp_path).partial
    newest = write(tmp_path / "train", [scalar("loss", 1.0)], "events.out.tfevents.1700009999.node-1.42.0")
    assert SOURCE.facts(tmp_path).partial
    found = SOURCE.files(tmp_path)
    assert (len(found), f"train/{newest.name}" in found) == (500, True)
    assert "events.out.tfevents.1700000000.node-1.42.0" not in found
    assert list(read(tmp_path).series) == ["train.loss"]


def test_a_file_that_is_written_on_is_damaged_no_more(tmp_path: Path) -> None:
    path = write(tmp_path, [scalar("loss", float(number)) for number in range(100)])
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + b"\xff" * 64 + whole[middle + 64 :])
    log = read(tmp_path)
    assert (log.series["loss"].count < 100, log.unreadable, read(tmp_path, log).unreadable) == (True, 1, 1)
    path.write_bytes(whole)
    assert (read(tmp_path, log).unreadable, log.series["loss"].count) == (0, 100)
