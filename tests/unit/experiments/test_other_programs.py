"""Runs of MLflow and of W&B. What their packages wrote was read by hand: mlflow 3.17.2, wandb 0.31.0."""

from __future__ import annotations

import json
import struct
import time
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.experiments.facts import MetricLog, Source
from jupyterlab_t9kjob.experiments.library.finder import find
from jupyterlab_t9kjob.experiments.sources.mlflow import MlflowSource
from jupyterlab_t9kjob.experiments.sources.wandb import WandbSource
from jupyterlab_t9kjob.experiments.sources.yaml_files import NotReadable
from tests.patience import PATIENCE


def read(source: Source, folder: Path, log: MetricLog | None = None) -> MetricLog:
    log = log if log is not None else MetricLog()
    assert source.metrics(folder, source.files(folder), log, time.monotonic() + PATIENCE)
    return log


def test_mlflow(tmp_path: Path) -> None:
    run = tmp_path / "mlruns/1/d7db6f00c1f8428293019d9aa4eb518e"
    for name, content in {
        "meta.yaml": "run_name: mine\nstatus: 3\nstart_time: 1795522115605\nend_time: 1795522116614\n",
        "params/lr": "0.1",
        "params/amp": "True",
        "metrics/acc": "1795522115613 0.5 0\n1795522115614 nan 1\n1795522115615 0.2",
        "metrics/val/loss": "broken\n1795522115613 1e-3 7\n",
        "tags/mlflow.source.git.commit": "abc",
        "tags/team": "x",
        "artifacts/metrics/params": "",
        "../meta.yaml": "name: exp\n",
    }.items():
        path = run / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    source = MlflowSource()
    assert list(find(tmp_path, [source]).runs) == [run]
    facts = source.facts(run)
    assert (facts.name, facts.status, facts.started, facts.ended) == (
        "mine",
        "Complete",
        1795522115.605,
        1795522116.614,
    )
    assert facts.parameters == {"lr": 0.1, "amp": True}
    assert (facts.environment, facts.labels) == ({"commit": "abc", "experiment": "exp"}, ["team=x"])
    log = read(source, run)
    assert (log.series["acc"].count, log.series["acc"].bad) == (2, 1)  # The last line is not complete.
    last = log.series["val/loss"].last
    assert last is not None
    assert (last.value, last.position) == (0.001, (7.0, None, 1795522115.613))
    with (run / "metrics/acc").open("a") as file:
        file.write("1 2\n")
    assert read(source, run, log).series["acc"].count == 3


def test_mlflow_with_too_many_files(tmp_path: Path) -> None:
    for folder in ("params", "metrics"):
        (tmp_path / folder).mkdir()
    (tmp_path / "meta.yaml").write_text("status: 3\n")
    for number in range(4999):
        (tmp_path / f"params/p{number}").touch()
    assert not MlflowSource().facts(tmp_path).partial
    (tmp_path / "metrics/acc").write_text("1 0.5 0\n")
    facts = MlflowSource().facts(tmp_path)
    assert (len(facts.parameters), facts.partial) == (4999, True)


def message(*parts: tuple[int, Any]) -> bytes:
    """Return a protobuf message: numbers as varint, other values as bytes."""
    encoded = b""
    for number, value in parts:
        if isinstance(value, int):
            encoded += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            encoded += varint(number << 3 | 2) + varint(len(data)) + data
    return encoded


def varint(value: int) -> bytes:
    data = b""
    while value > 0x7F:
        data += bytes([value & 0x7F | 0x80])
        value >>= 7
    return data + bytes([value])


def items(values: dict[str, Any]) -> bytes:
    encoded = b""
    for name, value in values.items():
        keys = [(2, part) for part in name.split(".")] if "." in name else [(1, name)]
        encoded += message((1, message(*keys, (16, json.dumps(value)))))
    return encoded


def log_of(*entries: bytes) -> bytes:
    """Return records in the format of LevelDB's log, split at the ends of blocks of 32 KiB."""
    written = bytearray(b":W&B\xe1\xbe\x00")
    for entry in entries:
        first = True
        while True:
            room = 32768 - len(written) % 32768 - 7
            if room < 0:
                written += bytes(room + 7)
                continue
            part, entry = entry[:room], entry[room:]
            kind = (1 if not entry else 2) if first else (4 if not entry else 3)
            written += struct.pack("<IHB", 0, len(part), kind) + part
            first = False
            if not entry:
                break
    return bytes(written)


def test_wandb(tmp_path: Path) -> None:
    folder = tmp_path / "wandb/offline-run-20261124_120835-g79cgk4l"
    folder.mkdir(parents=True)
    run = message((4, items({"lr": 0.01, "model": {"depth": 3}, "_wandb": {}})), (8, "nice"), (10, "a"), (13, "node"))
    steps = []
    for step in range(100):
        values = {"loss": 1 / (step + 1), "val.acc": step, "_timestamp": 5.0 + step, "text": "x" * 3000}
        steps.append(message((2, items(values) + message((2, message((1, step)))))))
    steps[3] = message((2, items({"loss": "NaN"})))
    whole = log_of(message((17, run)), *steps, message((18, message((1, 1)))))
    path = folder / "run-g79cgk4l.wandb"
    source = WandbSource()
    log = MetricLog()
    for cut in (3, 100, 32768, 40_000, len(whole)):
        path.write_bytes(whole[:cut])
        read(source, folder, log)
    assert list(find(tmp_path, [source]).runs) == [folder]
    facts = source.facts(folder)
    assert (facts.name, facts.status, facts.labels) == ("nice", "Error", ["a"])
    assert (facts.parameters, facts.environment) == ({"lr": 0.01, "model.depth": 3}, {"hostname": "node"})
    assert {name: (series.count, series.bad) for name, series in log.series.items()} == {
        "loss": (100, 1),
        "val.acc": (99, 0),
    }
    last = log.series["val.acc"].last
    assert last is not None
    assert (last.value, last.position) == (99.0, (99.0, None, 104.0))
    assert [value for chunk in source.chunks(folder, "val.acc", None) for value in chunk.values][:3] == [0.0, 1.0, 2.0]
    path.write_bytes(b"\xff" * 100_000)
    with pytest.raises(NotReadable):
        source.facts(folder)


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    for name, content in {
        "secret/id_rsa": "1 2 3\n",
        "secret/wandb-metadata.json": '{"host": "elsewhere"}',
        "root/mlruns/0/abc/meta.yaml": "status: 3\n",
        "root/mlruns/0/abc/metrics/acc": "1 0.5 0\n",
        "root/run-20261124_120835-g79cgk4l/run-g79cgk4l.wandb": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    mlflow, wandb = tmp_path / "root/mlruns/0/abc", tmp_path / "root/run-20261124_120835-g79cgk4l"
    (wandb / "run-g79cgk4l.wandb").write_bytes(log_of(message((17, message((8, "nice"))))))
    for link in (mlflow / "params", mlflow / "tags", mlflow / "metrics/more", wandb / "files"):
        link.symlink_to(tmp_path / "secret")
    facts = MlflowSource().facts(mlflow)
    assert (facts.parameters, facts.labels) == ({}, [])
    assert list(read(MlflowSource(), mlflow).series) == ["acc"]
    assert WandbSource().facts(wandb).environment == {}
    (mlflow / "metrics/more").unlink()
    (mlflow / "metrics").rename(mlflow / "real")
    (mlflow / "metrics").symlink_to(mlflow / "real")
    assert not read(MlflowSource(), mlflow).series
