"""Runs of the recorder and of T9k's SDK: the rules of t9k-facts.md, and damaged or hostile files."""

from __future__ import annotations

import math
import random
import time
from array import array
from collections.abc import Callable
from functools import partial
from operator import mul
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jupyter_server.services.contents.largefilemanager import LargeFileManager

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.job import JobSummary
from jupyterlab_t9kjob.em import files
from jupyterlab_t9kjob.em.yaml_text import dump
from jupyterlab_t9kjob.experiments.curves import Line, reduced
from jupyterlab_t9kjob.experiments.detail import association_of
from jupyterlab_t9kjob.experiments.facts import Facts, MetricLog
from jupyterlab_t9kjob.experiments.library.cells import small_curve
from jupyterlab_t9kjob.experiments.library.finder import find
from jupyterlab_t9kjob.experiments.library.packed import packed, unpacked
from jupyterlab_t9kjob.experiments.places import Places
from jupyterlab_t9kjob.experiments.series import MOST_BUCKETS, Position, Series
from jupyterlab_t9kjob.experiments.sources.metric_file import read_batch
from jupyterlab_t9kjob.experiments.sources.recorder import RecorderSource
from jupyterlab_t9kjob.experiments.sources.yaml_files import NotReadable, flat, parse, text
from jupyterlab_t9kjob.experiments.status import Jobs, sentence_of, status_of
from tests.patience import PATIENCE

SOURCE = RecorderSource()
ITEM = (
    "- value:\n    loss: {}\n  sequence:\n    epoch: 1\n    step: {}\n"
    "    timestamp: '2026-01-02T03:04:05.000006+08:00'\n"
)


def a_run(parent: Path, folder_name: str = "mnist", **metadata: object) -> Path:
    folder = parent / files.alternative_name(folder_name)
    content = {"kind": "Run", "name": folder_name, "status": "Running", "startTimestamp": files.now(), **metadata}
    files.make_directory(folder, {"metadata.yaml": content, "metrics": None})
    return folder


def read(folder: Path, log: MetricLog | None = None) -> MetricLog:
    log = log if log is not None else MetricLog()
    assert SOURCE.metrics(folder, SOURCE.files(folder), log, time.monotonic() + PATIENCE)
    return log


def values(log: MetricLog, name: str) -> list[float]:
    return [sample.value for sample in log.series[name].samples()]


# Rule 1
def test_finds_runs_in_any_folder(tmp_path: Path) -> None:
    runs = [a_run(tmp_path / place) for place in (".em/runs", "a/b/.em/runs", "elsewhere")]
    for left_out in (".hidden/.em/runs", "venv/.em/runs", "node_modules/runs", ".em/uploads/team/runs"):
        a_run(tmp_path / left_out)
    (tmp_path / "venv/pyvenv.cfg").touch()
    found = find(tmp_path, [SOURCE])
    assert sorted(found.runs) == sorted(runs)
    assert found.complete


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("project", "title: my project\n"),
        ("project", ""),
        ("project", "spec:\n  kind: Run\n"),
        ("chart", "apiVersion: v1\nkind: Deployment\n"),
        ("data_260101_000000_abcdef", "kind: Artifact\nname: data\n"),
    ],
)
def test_other_folders_with_these_names_are_no_runs_and_hide_none(tmp_path: Path, name: str, metadata: str) -> None:
    folder = tmp_path / name
    (folder / "metrics").mkdir(parents=True)
    (folder / "metadata.yaml").write_text(metadata)
    run = a_run(folder / ".em/runs")
    assert list(find(tmp_path, [SOURCE]).runs) == [run]


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("renamed", "kind: Run\nname: mnist\n"),
        ("renamed", "name: mnist\nkind: 'Run'\n"),
        ("mnist_260101_000000_abcdef", ""),  # T9k's SDK rewrites the file in place.
        ("mnist_260101_000000_abcdef", "kind: Run\nname: ["),
    ],
)
def test_runs_are_known_by_their_kind_or_their_name(tmp_path: Path, name: str, metadata: str) -> None:
    folder = tmp_path / name
    (folder / "metrics").mkdir(parents=True)
    (folder / "metadata.yaml").write_text(metadata)
    assert list(find(tmp_path, [SOURCE]).runs) == [folder]


# Rule 2
def test_finds_artifacts_through_mounts(tmp_path: Path) -> None:
    root = ContentsRoot(LargeFileManager(root_dir=str(tmp_path)))
    run = a_run(tmp_path / "exp/.em/runs")
    for place in ("exp/.em/artifacts/a_1", "exp/out/b", "data/c"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "metadata.yaml").write_text("kind: Artifact\n")

    def path(**entry: str) -> str | None:
        return association_of({"kind": "Artifact", **entry}, run, root, Places(root.folder)).path

    assert path(name="a_1", localDir=".em/artifacts/a_1") == "exp/.em/artifacts/a_1"
    assert path(name="b", localDir="out/b") == "exp/out/b"
    assert path(name="a_1", localDir="/gone/a_1") == "exp/.em/artifacts/a_1"
    assert path(name="c", localDir="/t9k/mnt/data/c") == "data/c"
    assert path(name="../../c", localDir="../../../../etc") is None
    assert not association_of({"kind": "Model", "id": "1", "path": "x"}, run, root, Places(root.folder)).found


# Rule 3
@pytest.mark.parametrize("cut", [1, 20, 60, len(ITEM) - 3])
def test_reads_half_written_metrics_by_offset(tmp_path: Path, cut: int) -> None:
    folder = a_run(tmp_path)
    path = folder / "metrics/train.yaml"
    whole = "".join(ITEM.format(number / 2, number) for number in range(3)).encode()
    path.write_bytes(whole + ITEM.format(9.0, 3).encode()[:cut])
    log = read(folder)
    assert values(log, "train.loss") == [0.0, 0.5, 1.0]
    assert log.offsets == {"metrics/train.yaml": len(whole)}
    path.write_bytes(whole + ITEM.format(9.0, 3).encode())
    assert values(read(folder, log), "train.loss") == [0.0, 0.5, 1.0, 9.0]
    path.write_bytes(ITEM.format(5.0, 1).encode())  # replaced
    assert values(read(folder, log), "train.loss") == [5.0]


@pytest.mark.parametrize("content", ["", "kind: Run\nname: [", "- 1", "kind: Artifact", "\x00", "a: &a [*a]\n: :"])
def test_damaged_metadata_is_a_problem(tmp_path: Path, content: str) -> None:
    folder = a_run(tmp_path)
    (folder / "metadata.yaml").write_text(content)
    with pytest.raises(NotReadable):
        SOURCE.facts(folder)


# Rule 4
def test_tags_build_no_objects(tmp_path: Path) -> None:
    assert parse(b"a: !!python/tuple [1, 2]\nb: !!python/object/apply:os.system ['touch /tmp/x']\n") == {
        "a": [1, 2],
        "b": ["touch /tmp/x"],
    }
    assert parse(b"a: !unknown {b: 1}") == {"a": {"b": 1}}


# Rule 5
def test_running_without_process_is_stale() -> None:
    facts = Facts("recorder", "a", status="Running", parameters={"epochs": 15})
    assert status_of(facts, None, time.time()) == "running"
    assert status_of(facts, None, time.time() - 3600) == "stale"
    assert sentence_of("running", facts, None, 11) == "Running, epoch 11 of 15"
    assert sentence_of("stale", facts, None, 11) == "Running, but nothing was recorded for a long time"


# Rule 6
def test_reads_what_the_recorder_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with em.create_run(name="mnist", hparams={"lr": 1e-5, "model": {"depth": 3}}, labels=["x"]) as run:
        for step in range(5):
            run.log("train", {"loss": step / 3, "odd: name": float("nan")}, step=step)
            run.log("val/α", {"acc": 1}, step=step, epoch=1.5)
    folder = Path(run.local or "").resolve()
    facts = SOURCE.facts(folder)
    assert (facts.name, facts.status, facts.labels) == ("mnist", "Complete", ["x"])
    assert facts.parameters == {"lr": 1e-5, "model.depth": 3}
    log = read(folder)
    assert values(log, "train.loss") == [step / 3 for step in range(5)]
    assert log.series["train.odd: name"].bad == 5
    [chunk] = SOURCE.chunks(folder, next(name for name in log.series if ".acc" in name), None)
    assert [chunk.locate(index).epoch for index in range(5)] == [1.5] * 5


def test_of_too_many_types_the_first_are_read(tmp_path: Path) -> None:
    folder = a_run(tmp_path)
    for number in range(1000):
        (folder / f"metrics/t{number:04d}.yaml").write_text(ITEM.format(1.0, 1))
    assert not SOURCE.facts(folder).partial
    (folder / "metrics/u.yaml").write_text(ITEM.format(1.0, 1))
    assert SOURCE.facts(folder).partial
    assert list(read(folder).series) == [f"t{number:04d}.loss" for number in range(1000)]


# Rules 7 and 9
def test_runs_are_linked_to_jobs() -> None:
    place = {"engine": "a", "namespace": "b", "name": "train-1", "phase": "Running"}
    job = JobSummary(**place, id="a:b:train-1:u", uid="u", created_at=1000.0, request_id="r-1")
    again = JobSummary(**place, id="a:b:train-1:v", uid="v", created_at=1002.0, request_id="r-2")
    for labels, found in ((["job-uid=u"], job), (["job-request=r-1"], job), (["job-request=r-2"], again)):
        facts = Facts("recorder", "a", labels=["job=train-1", *labels], started=1005.0)
        assert Jobs([again, job]).of(facts) is found
    gone = Facts("recorder", "a", labels=["job=train-1", "job-request=r-0"], started=1005.0)
    assert Jobs([job]).of(gone) is None  # Its name was used again.
    jobs = Jobs([job])
    for labels, host in (([f"job-uid={job.uid}"], ""), (["job=train-1"], ""), ([], "train-1-worker-0")):
        facts = Facts("recorder", "a", labels=labels, environment={"hostname": host}, started=job.created_at + 5)
        assert jobs.of(facts) is job
    assert jobs.of(Facts("recorder", "a", environment={"hostname": "other-worker-0"})) is None
    assert jobs.of(Facts("recorder", "a", labels=["job=train-1"], started=job.created_at - 100)) is None


# Rule 8
def test_two_writers_of_one_run(tmp_path: Path) -> None:
    folder = a_run(tmp_path)
    items = "".join(ITEM.format(rank, step) for step in range(3) for rank in (0, 1))
    (folder / "metrics/train.yaml").write_text(items + "- value:\n    loss: 3" + ITEM.format(4, 3))
    log = read(folder)
    assert log.series["train.loss"].count >= 6
    assert log.series["train.loss"].last is not None


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = "<img onerror=alert(1)>"
    facts = SOURCE.facts(a_run(tmp_path, "x", name=name, labels=["l" * 10_000, {"a": 1}], status=["?"]))
    assert facts.name == name
    assert facts.labels == ["l" * 10_000, "{a: 1}"]
    assert status_of(facts, None, time.time()) == "unknown"
    with pytest.raises(NotReadable):
        parse(b"- " * 100_000)
    bomb = b"a: &a [x, x, x]\n" + b"".join(b"b%d: &b%d [*a, *a, *a, *a, *a]\n" % (n, n) for n in range(100))
    assert len(text(parse(bomb + b"c: [*b1, *b2, *b3]"), 100)) <= 100
    loop = {"a": 1.0}
    loop["self"] = loop  # type: ignore[assignment]
    assert flat(loop)["a"] == 1.0


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = a_run(tmp_path / "outside")
    (outside / "metrics/train.yaml").write_text(ITEM.format(1.0, 1))
    folder = a_run(tmp_path / "root/.em/runs")
    (folder / "metrics/train.yaml").symlink_to(outside / "metrics/train.yaml")
    (folder / "hyperparameters.yaml").symlink_to("/etc/passwd")
    (folder.parent / outside.name).symlink_to(outside)
    found = find(tmp_path / "root", [SOURCE])
    assert list(found.runs) == [folder]
    assert found.links == [folder.parent / outside.name]
    assert SOURCE.facts(folder).problems
    assert not read(folder).series
    (folder / "metrics/train.yaml").unlink()
    (folder / "metrics").rmdir()
    (folder / "metrics").symlink_to(outside / "metrics")
    assert not read(folder).series


def test_steps_may_go_backwards_and_values_be_anything(tmp_path: Path) -> None:
    folder = a_run(tmp_path)
    steps = [1, 2, 3, 2, 3, 4]
    words = ["0.5", ".nan", "1e-05", ".inf", "-.inf", "7"]
    items = "".join(ITEM.format(word, step) for word, step in zip(words, steps, strict=True))
    (folder / "metrics/train.yaml").write_text(items)
    series = read(folder).series["train.loss"]
    assert [(sample.position.step, sample.value) for sample in series.samples()] == [(1, 0.5), (3, 1e-5), (4, 7.0)]
    assert (series.count, series.bad, series.first_bad, series.last_bad) == (6, 3, 2, 3)
    batch = read_batch(b"- {value: {loss: 2}, sequence: {step: 1, epoch: null, timestamp: x}}\n- 5\n- value: {")
    assert (batch.unreadable, list(batch.values["loss"][0])) == (1, [2.0])


def test_a_single_spike_is_kept() -> None:
    series = Series()
    for begin in range(0, 1_000_000, 100_000):
        part = [0.5] * 100_000
        if begin == 300_000:
            part[77_777] = 99.0
        series.extend(part, lambda index, begin=begin: Position(float(begin + index), None, None))  # type: ignore[misc]
    assert len(series.lengths) <= MOST_BUCKETS
    assert max(series.samples(), key=lambda sample: sample.value).position.step == 377_777
    assert max(small_curve(series)) == 99.0
    shown = reduced(Line(series.kept.steps, series.kept.values, *series.means()), 100)
    assert (377_777, 99.0) in zip(shown.x, shown.y, strict=True)
    assert len(shown.x) <= 200


@pytest.mark.parametrize(("length", "piece"), [(1, 1), (1024, 7), (1025, 1000), (5000, 63), (70_001, 3001)])
@pytest.mark.parametrize("kind", [list, partial(array, "d")], ids=["list", "array"])
def test_means_of_a_reduced_curve_are_those_of_its_values(
    length: int, piece: int, kind: Callable[[list[float]], Any]
) -> None:
    source = random.Random(length)
    values = [source.lognormvariate(0, 1) for _ in range(length)]
    values[length // 2] = 1e6
    values[length // 3] = math.nan
    series = Series()
    for begin in range(0, length, piece):
        part = kind(values[begin : begin + piece])
        series.extend(part, lambda index, begin=begin: Position(float(begin + index), None, None))  # type: ignore[misc]
    series = unpacked(packed(MetricLog({}, {"loss": series}))).series["loss"]
    line = Line(series.kept.steps, series.kept.values, *series.means())
    finite = [value for value in values if math.isfinite(value)]
    for shown in (line, reduced(line, 100)):
        weights = shown.values or [1.0] * len(shown.x)
        assert sum(weights) == pytest.approx(len(finite))
        means = shown.means or shown.y
        assert sum(map(mul, means, weights)) == pytest.approx(sum(finite))


@given(
    st.lists(st.tuples(st.floats(), st.integers(-10, 10**9), st.sampled_from(["loss", "a b", "é: x"])), max_size=30),
    st.data(),
)
def test_every_finished_call_survives_a_kill(written: list[tuple[float, int, str]], data: st.DataObject) -> None:
    lines: list[bytes] = []
    for value, step, name in written:
        sequence = {"epoch": None, "step": step, "timestamp": files.now()}
        lines.append(dump([{"value": {name: value}, "sequence": sequence}]).replace("-\n  value", "- value").encode())
    cut = data.draw(st.integers(0, len(lines[-1]) - 1)) if lines else 0
    content = b"".join(lines[:-1]) + (lines[-1][:cut] if lines else b"")
    batch = read_batch(content)
    found = sum(len(numbers) for numbers, _locate in batch.values.values())
    assert found == max(0, len(lines) - 1)
    assert batch.unreadable == 0
    for name in {name for _value, _step, name in written[:-1]}:
        wanted = [value for value, _step, each in written[:-1] if each == name]
        assert all(
            a == b or (math.isnan(a) and math.isnan(b)) for a, b in zip(batch.values[name][0], wanted, strict=True)
        )


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "a b", "odd"]), st.integers(1, 40)), max_size=12))
@settings(max_examples=15, deadline=None)
def test_items_of_two_writers_are_those_that_are_read_one_by_one(stretches: list[tuple[str, int]]) -> None:
    items, step = [], 0
    for names, count in [*stretches, ("a", 1)]:  # The end of a last item that is odd is not known.
        for _number in range(count):
            step += 1
            values = "".join(f"    {name}: {step / 7}\n" for name in names.split())
            moment = f"'2026-01-01T10:{step // 60 % 60:02d}:{step % 60:02d}.000000+00:00'"
            sequence = f"  sequence:\n    epoch: {step // 9}\n    step: {step}\n    timestamp: {moment}\n"
            odd = f"- {{value: {{a: {step}}}, sequence: {{step: {step}, timestamp: {moment}, epoch: 1}}}}\n"
            items.append((odd if names == "odd" else f"- value:\n{values}{sequence}").encode())
    wanted: dict[str, list[tuple[float, Position]]] = {}
    for item in items:
        for name, (numbers, locate) in read_batch(item + b"- ").values.items():
            wanted.setdefault(name, []).append((numbers[0], locate(0)))
    batch = read_batch(b"".join(items) + b"- ")
    found = {
        name: [(number, locate(index)) for index, number in enumerate(numbers)]
        for name, (numbers, locate) in batch.values.items()
    }
    assert found == wanted
    low, high = batch.bounds()
    for _number, position in (point for points in wanted.values() for point in points):
        for at, least, greatest in zip(position, low, high, strict=True):
            assert at is None or least is None or least <= at
            assert at is None or greatest is None or at <= greatest


@given(st.lists(st.lists(st.floats(width=32), max_size=3000), max_size=5), st.booleans(), st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_an_overview_has_every_extreme(parts: list[list[float]], is_array: bool, repeated: int) -> None:
    # Large arrays go through numpy.
    parts = [array("f", part * repeated) if is_array else part for part in parts]  # type: ignore[misc]
    series, values = Series(), [value for part in parts for value in part]
    begin = 0
    for part in parts:
        series.extend(part, lambda index, begin=begin: Position(float(begin + index), None, None))  # type: ignore[misc]
        begin += len(part)
    samples = list(series.samples())
    assert len(series.lengths) <= MOST_BUCKETS
    assert series.count == len(values)
    finite = [value for value in values if math.isfinite(value)]
    assert series.bad == len(values) - len(finite)
    assert [sample.number for sample in samples] == sorted(sample.number for sample in samples)
    assert all(sample.value == values[sample.number] == values[int(sample.position.step or 0)] for sample in samples)
    for begin in range(0, len(values), series.size):
        bucket = [value for value in values[begin : begin + series.size] if math.isfinite(value)]
        first = sum(series.lengths[: begin // series.size])
        kept = series.kept.values[first : first + series.lengths[begin // series.size]]
        assert {min(kept, default=0), max(kept, default=0)} == {min(bucket, default=0), max(bucket, default=0)}
