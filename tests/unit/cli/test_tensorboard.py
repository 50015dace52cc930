"""The folders that the command `tensorboard` shows, and what it says if it can't show any."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.cli.__main__ import run_program
from jupyterlab_t9kjob.tensorboard import manager


@pytest.mark.timeout(300)
def test_folders_that_can_not_be_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    (tmp_path / "file").touch()
    (tmp_path / "runs").mkdir()

    def said(*words: str) -> str:
        assert run_program(["tensorboard", *words, "-E", "local", "--home", str(tmp_path / "home")]) == 1
        return capsys.readouterr().err

    assert "There is no job “train-1”" in said("train-1")
    assert "There is no folder" in said("./nowhere")
    assert "is a file" in said("file")
    with monkeypatch.context() as patch:  # The account of the tests may read everything.
        patch.setattr("os.access", lambda path, _mode: Path(path).name != "runs")
        assert "permission to read" in said("runs")
    monkeypatch.setattr(manager, "_installed", lambda: False)
    assert "pip install tensorboard" in said("runs")
