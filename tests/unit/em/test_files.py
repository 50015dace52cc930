"""The files of runs and artifacts, which T9k's SDK reads too (t9k-facts.md, Recorder: files)."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.em import files
from jupyterlab_t9kjob.em.load import parse, read_mapping, read_metrics
from jupyterlab_t9kjob.em.yaml_text import dump

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.floats(width=64) | st.integers(-(2**60), 2**60)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EM_RUN_PARENT_DIR", "EM_ARTIFACT_PARENT_DIR", "RANK", "T9KJOB_NAME", "T9KJOB_UID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def names(folder: str | Path) -> list[str]:
    return [entry.name for entry in Path(folder).iterdir()]


def same(one: object, other: object) -> bool:
    """Compare with NaN equal to NaN."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_pyyaml_reads_what_is_written(value: object) -> None:
    assert same(yaml.safe_load(dump(value)), value)
    assert same(yaml.load(dump(value), Loader=yaml.CSafeLoader), value)


@pytest.mark.parametrize("key", ["yes", "1", "1e5", "a: b", "#", "- x", "x" * 5000, "", "é\u2028\x85", "<b>", "!!x"])
def test_odd_names_of_metrics(key: str) -> None:
    assert yaml.safe_load(dump({key: [{key: key}]})) == {key: [{key: key}]}
    with em.create_run() as run:
        run.log(key, {key: 1e-05}, step=1)
    [file] = Path(run.local, "metrics").iterdir()
    assert file.name.endswith(".yaml")
    assert read_mapping(Path(run.local, "index.yaml"))["metrics"] == {key: f"metrics/{file.name}"}
    [metric] = read_metrics(file.read_bytes()).items
    assert metric.value == {key: 1e-05}


def test_the_files_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("T9KJOB_NAME", "mnist-1")
    run = em.create_run(name="mnist", hparams={"lr": 0.1, "shape": (3, 3)}, labels=["a"], description="d")
    assert run.local is not None
    folder = Path(run.local)
    assert folder.parent == Path(".em/runs")
    assert re.fullmatch(r"mnist_\d{6}_\d{6}_[a-z0-9]{6}", folder.name)
    expected = {
        "metadata.yaml",
        "index.yaml",
        "hyperparameters.yaml",
        "platform.yaml",
        "git.yaml",
        "stdout.log",
        "metrics",
    }
    assert {entry.name for entry in folder.iterdir()} == expected
    metadata = yaml.safe_load((folder / "metadata.yaml").read_text())
    assert list(metadata) == [
        *("kind", "name", "labels", "description", "startTimestamp", "endTimestamp", "status", "alternativeName"),
        *("associations", "remote"),
    ]
    assert metadata["labels"] == ["a", "job=mnist-1"]
    assert (metadata["status"], metadata["endTimestamp"]) == ("Running", None)
    assert isinstance(metadata["startTimestamp"], str)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d", metadata["startTimestamp"])
    run.hparams["batch"] = 8
    run.hparams.update({"lr": 1, "seed": 2}, override=False)
    assert yaml.safe_load((folder / "hyperparameters.yaml").read_text()) == {
        "lr": 0.1,
        "shape": [3, 3],
        "batch": 8,
        "seed": 2,
    }
    with pytest.raises(TypeError, match="hyperparameter"):
        run.hparams["f"] = print
    print("hello")
    run.log("train", {"loss": math.nan, "x": math.inf}, step=1)
    run.log("train", {"loss": 1}, step=2, epoch=1)
    text = (folder / "metrics/train.yaml").read_text()
    assert text.startswith("- value:\n    loss: .nan\n    x: .inf\n  sequence:\n    epoch: null\n    step: 1\n")
    second = yaml.safe_load(text)[1]
    assert second["value"] == {"loss": 1.0}
    assert (second["sequence"]["epoch"], second["sequence"]["step"]) == (1, 2)
    assert isinstance(second["sequence"]["timestamp"], str)
    Path("model.pt").write_bytes(b"weights")
    artifact = em.create_artifact("model", labels=["best"])
    artifact.add_file("model.pt", "checkpoints/")
    artifact.add_reference("s3://bucket/data.tar")
    run.mark_output(artifact)
    run.mark_output(artifact)
    run.finish()
    with pytest.raises(RuntimeError, match="has ended"):
        run.finish()
    assert "hello\n" in (folder / "stdout.log").read_text()
    metadata = yaml.safe_load((folder / "metadata.yaml").read_text())
    assert (metadata["status"], metadata["endTimestamp"]) == ("Complete", run.end_timestamp)
    assert metadata["associations"]["output"] == [
        {"kind": "Artifact", "name": artifact.alternative_name, "localDir": artifact.local}
    ]
    assert list(artifact.objects.values()) == [
        {"path": "checkpoints/model.pt", "size_bytes": 7, "checksum": hashlib.md5(b"weights").hexdigest()},
        {"path": "data.tar", "uri": "s3://bucket/data.tar"},
    ]
    assert em.load_artifact(artifact.local).objects == artifact.objects
    assert sorted(names(".em/runs") + names(".em/artifacts")) == sorted(
        [run.alternative_name, artifact.alternative_name]
    )  # no temporary file is left


@pytest.mark.parametrize("path", ["../x", "a/../../x", "metadata.yaml", "/references.yaml", ""])
def test_an_object_stays_in_its_artifact(path: str) -> None:
    Path("x").write_text("x")
    artifact = em.create_artifact("a")
    with pytest.raises(ValueError, match="path of an object"):
        artifact.add_file("x", path)


@pytest.mark.parametrize("name", ["", "a/b", "..", "-a", "a_", "x" * 41, "名"])
def test_bad_names(name: str) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        em.create_run(name=name)
    assert not Path(".em").exists()


def test_a_configuration_file_wins_and_has_no_other_keys() -> None:
    Path("run.yaml").write_text("name: mine\nhparams: {lr: 1}\n")
    with em.create_run("run.yaml", name="other", labels=["a"]) as run:
        assert (run.name, dict(run.hparams), run.labels) == ("mine", {"lr": 1}, ["a"])
    Path("run.yaml").write_text("name: mine\nnme: x\n")
    with pytest.raises(ValueError, match="unknown keys: nme"):
        em.create_run("run.yaml")


def test_only_rank_0_records_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    with em.create_run(hparams={"lr": 1}) as run:
        run.log("train", {"loss": 1}, step=1)
        run.hparams["x"] = 1
        artifact = em.create_artifact("a")
        Path("x").write_text("x")
        artifact.add_file("x")
        run.mark_output(artifact)
    run.upload()
    assert (run.local, run.status, Path(".em").exists()) == (None, "Complete", False)
    with em.create_run(all_ranks=True) as run:
        run.log("train", {"loss": 1}, step=1)
    assert Path(run.local, "metrics/train.yaml").exists()


def test_how_a_run_ends() -> None:
    with pytest.raises(ZeroDivisionError), em.create_run(name="a") as run:
        1 / 0  # noqa: B018
    assert run.status == "Error"
    script = "from jupyterlab_t9kjob import em; em.create_run(name='b'); print('x'); raise SystemExit(3)"
    subprocess.run([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(Path.cwd())}, check=False)
    [folder] = Path(".em/runs").glob("b_*")
    assert read_mapping(folder / "metadata.yaml")["status"] == "Error"
    assert (folder / "stdout.log").read_text() == "x\n"


def test_a_loaded_run_goes_on() -> None:
    with em.create_run(name="a", hparams={"lr": 1}) as first:
        first.log("my type!", {"loss": 1}, step=1)
    again = em.load_run(first.local)
    assert (again.status, again.end_timestamp, dict(again.hparams)) == ("Running", None, {"lr": 1})
    again.log("my type!", {"loss": 2}, step=2)
    again.finish()
    assert [item["value"] for item in again.metrics["my type!"]] == [{"loss": 1.0}, {"loss": 2.0}]
    assert len(names(f"{first.local}/metrics")) == 1


def test_threads_and_processes_write_whole_items() -> None:
    with em.create_run() as run:
        other = em.load_run(run.local)  # as a second process would

        def work(writer: em.Run, number: int) -> None:
            for step in range(300):
                writer.log("train", {f"metric{number}": step}, step=step)

        threads = [threading.Thread(target=work, args=(writer, n)) for n, writer in enumerate([run, run, other])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        other.finish()
    found = read_metrics(Path(run.local, "metrics/train.yaml").read_bytes())
    assert (len(found.items), found.unreadable) == (900, 0)


def test_a_full_disk_costs_metrics_but_not_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    with em.create_run() as run:
        run.log("train", {"loss": 1}, step=1)
        write = os.write
        monkeypatch.setattr(os, "write", lambda file, content: write(file, content[: len(content) // 2]))
        with pytest.warns(UserWarning, match="No space left"):
            run.log("train", {"loss": 2}, step=2)
        run.log("train", {"loss": 3}, step=3)
        monkeypatch.setattr(os, "write", write)
        run.log("train", {"loss": 4}, step=4)
    items = yaml.safe_load(Path(run.local, "metrics/train.yaml").read_text())
    assert [item["sequence"]["step"] for item in items] == [1, 4]


def test_many_types_leave_the_script_its_descriptors() -> None:
    with em.create_run() as run:
        for step in (1, 2):
            for number in range(200):
                run.log(f"layer{number}", {"norm": step}, step=step)
        folder = f"{Path(run.local).resolve()}/metrics/"
        links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
        assert 0 < sum(link.startswith(folder) for link in links) <= 64
    assert all([item["value"]["norm"] for item in items] == [1, 2] for items in run.metrics.values())
    assert len(run.metrics) == 200


KILLED = """
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
from jupyterlab_t9kjob import em
run = None
for call, arguments in json.loads(sys.argv[2]):
    if call == "create":
        run = em.create_run(**arguments)
        os.write(2, run.local.encode() + b"\\n")
    elif call == "log":
        run.log(**arguments)
    elif call == "hparams":
        run.hparams.update(arguments)
    os.write(2, b".")
sys.stdin.read()
"""
CALLS = st.lists(
    st.tuples(st.just("hparams"), st.dictionaries(TEXTS, VALUES, max_size=3))
    | st.tuples(
        st.just("log"),
        st.fixed_dictionaries(
            {
                "type": st.sampled_from(["train", "val", "my/type", ".."]),
                "metrics": st.dictionaries(TEXTS, NUMBERS, max_size=4),
                "step": st.integers(0, 10**12),
                "epoch": st.none() | st.integers(0, 100),
            }
        ),
    ),
    max_size=40,
)


@given(CALLS, st.integers(0, 41))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_finished_call_survives_sigkill(calls: list[tuple[str, dict]], after: int) -> None:
    """Rules 3 and 5: the process is killed after some call; what had returned can be read."""
    plan = [("create", {"name": "killed"}), *calls]
    root = str(Path(em.__file__).parents[2])
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED, root, json.dumps(plan)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    folder = Path(child.stderr.readline().decode().strip())
    finished = 0
    while finished < min(after + 1, len(plan)) and child.stderr.read(1) == b".":
        finished += 1
    os.kill(child.pid, signal.SIGKILL)
    finished += child.stderr.read().count(b".")
    child.communicate()
    assert finished >= 1
    metadata = read_mapping(folder / "metadata.yaml")
    assert (metadata["status"], metadata["endTimestamp"]) == ("Running", None)
    hparams: dict = {}
    logged: dict[str, list] = {}
    for call, arguments in plan[1:finished]:
        if call == "hparams":
            hparams.update(arguments)
        else:
            value = {name: float(number) for name, number in arguments["metrics"].items()}
            logged.setdefault(arguments["type"], []).append([value, arguments["step"], arguments["epoch"]])
    written = read_mapping(folder / "hyperparameters.yaml")
    follow = plan[finished : finished + 1]  # the call that was interrupted may have been written
    also = {**hparams, **follow[0][1]} if follow and follow[0][0] == "hparams" else hparams
    assert same(written, hparams) or same(written, also)
    index = read_mapping(folder / "index.yaml")["metrics"]
    for kind, expected in logged.items():
        found = read_metrics((folder / index[kind]).read_bytes()).items
        assert same([[item.value, item.step, item.epoch] for item in found[: len(expected)]], expected)


def test_the_reader_takes_what_others_wrote() -> None:
    """Rules 3 and 4: half-written files, tuples and tags."""
    assert parse("a: !!python/tuple [1, 2]\nb: !!python/object/apply:os.system [x]\nc: !secret y") == {
        "a": [1, 2],
        "b": ["x"],
        "c": "y",
    }
    item = "- value: {loss: 1.5}\n  sequence:\n    epoch: null\n    step: 7\n    timestamp: '2024-01-01T00:00:00'\n"
    whole = (item * 3).encode()
    for cut in range(len(whole) + 1):
        part = read_metrics(whole[:cut])
        assert len(part.items) == cut // len(item)
        rest = read_metrics(whole[part.end :], part.end)
        assert (len(part.items) + len(rest.items), rest.end) == (3, len(whole))
    broken = read_metrics((item + "- value: {loss\n" + item).encode())
    assert (len(broken.items), broken.unreadable) == (2, 1)
    huge = read_metrics((item + item.replace("1.5", "1" + "0" * 400) + item).encode())
    assert (len(huge.items), huge.unreadable) == (2, 1)
    Path("x.yaml").write_text("")
    assert read_mapping(Path("x.yaml")) == {}
    Path("x.yaml").write_text("a: [")
    with pytest.raises(ValueError, match=r"x\.yaml"):
        read_mapping(Path("x.yaml"))


@pytest.mark.parametrize("text", ["[" * 1_000_000, "{a: " * 300_000, "- " * 200_000, "a: &a [*a, " * 1000])
def test_deep_nesting_is_refused(text: str) -> None:
    """The parser in C calls itself for each level, and would end the process."""
    Path("x.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"x\.yaml"):
        read_mapping(Path("x.yaml"))


@pytest.mark.parametrize("text", ["!!bool maybe", "!!int ''", "!!timestamp y", "{!!float '': 1}"])
def test_values_that_do_not_fit_their_tags_are_refused(text: str) -> None:
    Path("x.yaml").write_text(f"a: {text}")
    with pytest.raises(ValueError, match=r"x\.yaml"):
        read_mapping(Path("x.yaml"))


def test_a_file_that_another_writer_left_half_written_is_readable_after_the_next_item() -> None:
    with em.create_run() as run:
        run.log("train", {"loss": 1}, step=1)
    file = Path(run.local, "metrics/train.yaml")
    file.write_bytes(file.read_bytes() + b"- value:\n    los")
    with em.load_run(run.local) as again:
        again.log("train", {"loss": 2}, step=2)
    found = read_metrics(file.read_bytes(), final=True)
    assert ([item.step for item in found.items], found.unreadable) == ([1, 2], 1)


def test_names_of_directories_differ_also_with_equal_seeds() -> None:
    import random

    names = set()
    for _ in range(50):
        random.seed(1)
        names.add(files.alternative_name("a"))
    assert len(names) == 50


def test_runs_as_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables: list[list[dict[str, object]]] = []
    # pandas itself is not among the packages of the tests.
    pandas = SimpleNamespace(DataFrame=lambda rows: tables.append(rows) or {})
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    monkeypatch.chdir(tmp_path)
    with em.create_run(name="a", hparams={"lr": 0.1, "model": {"depth": 3}}) as run:
        run.log("val", {"acc": 0.5, "loss": float("nan")}, step=1)
        run.log("val", {"acc": 0.25, "loss": 1.0}, step=2)
    (tmp_path / ".em/runs/b/metrics").mkdir(parents=True)
    (tmp_path / ".em/runs/b/metadata.yaml").write_text("kind: [")
    hostile = tmp_path / ".em/runs/c"
    (hostile / "metrics").mkdir(parents=True)
    (hostile / "metadata.yaml").write_text("kind: Run")
    laughs = "\n".join(f"k{at}: &k{at} {{{', '.join(f'x{n}: *k{at - 1}' for n in range(9))}}}" for at in range(1, 12))
    (hostile / "hyperparameters.yaml").write_text(f"k0: &k0 {{y: 1}}\n{laughs}\nloop: &l {{again: *l}}\n")
    run.upload(folder="team", make_folder=True)
    assert list(tmp_path.glob(".em/uploads/team/**/metadata.yaml"))
    em.dataframe(tmp_path)
    [[row, large]] = tables
    assert len(large) <= 2000
    assert {"name": "a", "status": "Complete", "lr": 0.1, "model.depth": 3}.items() <= row.items()
    assert {"val.acc": 0.25, "val.acc.min": 0.25, "val.acc.max": 0.5, "val.loss.max": 1.0}.items() <= row.items()
