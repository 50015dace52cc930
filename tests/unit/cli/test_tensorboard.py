"""The folders that the command `tensorboard` shows, and what it says if it can't show any."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.cli.__main__ import run_program
from jupyterlab_t9kjob.cli.commands.tensorboard import log_folders
from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.core.job import Job, job_id
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, TensorBoardSpec
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


def test_the_log_folders_of_a_job() -> None:
    spec = JobSpec(name="a", entrypoint=Entrypoint(value="/w/a.py"), working_dir="/w")
    values: dict[str, Any] = {
        "id": job_id("kubeflow", "n", "a", "u"),
        "engine": "kubeflow",
        "namespace": "n",
        "name": "a",
    }
    job = Job(
        **values, uid="u", phase="Running", created_at=0.0, command=[], spec=spec, log_dirs=["/data/a", "/data/b"]
    )
    assert log_folders(job) == [Path("/data/a"), Path("/data/b")]
    with pytest.raises(FieldError, match="no log directory"):
        log_folders(job.model_copy(update={"log_dirs": []}))
    there = spec.model_copy(update={"tensorboard": TensorBoardSpec(log_dirs=["/elsewhere"])})
    with pytest.raises(FieldError, match="/elsewhere"):
        log_folders(job.model_copy(update={"log_dirs": [], "spec": there}))
