"""The command `runs`: lists the runs of experiments below a folder, and shows one."""

from __future__ import annotations

import gettext
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.cli.__main__ import run_program
from jupyterlab_t9kjob.cli.commands import lab
from jupyterlab_t9kjob.cli.output import width_of
from jupyterlab_t9kjob.core import translation

LOSSES = {"slow": [3.0, 2.5], "fast": [3.0, 0.25], "bad": [3.0, float("nan")]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "work"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for number, (name, losses) in enumerate(LOSSES.items()):
            run = em.create_run(name=name, hparams={"lr": 0.1 * (number + 1), "seed": 1}, labels=[f"n={number}"])
            for step, loss in enumerate(losses):
                run.log("train", {"loss": loss, "acc": loss / 4}, step=step)
            run.finish()
    return folder


@pytest.fixture
def run(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(recorded)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))

    def run(*words: str, code: int = 0) -> Any:
        done = run_program(["runs", *words, "-E", "local", "--home", str(tmp_path / "home")])
        captured = capsys.readouterr()
        assert done == code, captured
        return captured

    return run


def names(shown: Any) -> list[str]:
    return str(shown.out).split()


@pytest.mark.timeout(300)
def test_runs_are_listed_sorted_and_chosen(run: Any, recorded: Path) -> None:
    table = run("list").out.splitlines()
    assert table[0].split()[:3] == ["NAME", "STATUS", "JOB"] and "train.loss" in table[0]
    assert {line.split()[0] for line in table[1:]} == set(LOSSES)
    assert all(line.split()[1] == "Complete" for line in table[1:])
    assert names(run("-o", "name")) == ["bad", "fast", "slow"]  # Newest first; the group lists by default.
    # The best value is first, and a value that is no number last.
    assert names(run("--sort", "train.loss", "-o", "name")) == ["fast", "slow", "bad"]
    assert names(run("--sort", "train.acc", "-o", "name")) == ["slow", "fast", "bad"]
    assert names(run("--sort", "lr", "--reverse", "-o", "name")) == ["bad", "fast", "slow"]
    assert names(run("--tag", "n=1", "-o", "name")) == ["fast"]
    assert run("--status", "running", "-o", "name").out == ""
    assert "no runs" in run("--job", "train-1").err
    data = json.loads(run(str(recorded), "--metric", "train.loss", "-o", "json").out)["runs"]
    assert {each["name"]: each["metrics"]["train.loss"]["last"] for each in data} == {
        "slow": 2.5,
        "fast": 0.25,
        "bad": "nan",
    }
    wide = run("list", "-o", "wide").out
    assert "lr" in wide.splitlines()[0] and "seed" not in wide.splitlines()[0]
    assert "“nothing”" in run("--sort", "nothing", code=2).err
    assert "no-such-folder" in run("no-such-folder", code=1).err


@pytest.mark.timeout(300)
def test_a_run_is_shown_by_name_or_id(run: Any, recorded: Path) -> None:
    shown = run("get", "fast").out
    assert "Complete" in shown and "lr" in shown and "0.25" in shown
    ident = run("get", "fast", "-o", "name").out.strip()
    detail = json.loads(run("get", ident, "--folder", str(recorded), "-o", "json").out)
    assert detail["run"]["name"] == "fast" and detail["run"]["labels"] == ["n=1"]
    assert "There is no run “nope”" in run("get", "nope", code=1).err
    first = next(recorded.rglob("fast*/metadata.yaml")).parent
    again = shutil.copytree(first, first.with_name("again"))
    try:
        assert ident in run("get", "fast", code=1).err
        assert sorted(names(run("-o", "name"))) != sorted(LOSSES)  # Names that mean two runs are ids.
    finally:
        shutil.rmtree(again)


class Chinese(gettext.NullTranslations):
    def gettext(self, message: str) -> str:
        return {"Name": "名称", "Status": "状态"}.get(message, message)


@pytest.mark.timeout(300)
def test_values_stand_in_one_column_in_every_language(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "_current", Chinese)
    fields = run("get", "fast").out.partition("\n\n")[0].splitlines()
    assert fields[0].split() == ["名称:", "fast"] and len(fields) > 4
    assert len({width_of(line) - width_of(line.partition(":")[2].lstrip()) for line in fields}) == 1, fields


@pytest.mark.timeout(300)
def test_ids_and_notes_are_those_of_the_lab_above_the_folder(
    run: Any, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run("get", "fast", "-o", "name").out
    servers = [{"url": "http://x/", "root_dir": str(root)} for root in (recorded / "other", recorded)]
    monkeypatch.setattr(lab, "running_servers", lambda: servers)
    assert run("get", "fast", "-o", "name").out != alone
    assert json.loads(run("get", "fast", "-o", "json").out)["run"]["path"].startswith(".em/")
