"""Finding the checkpoint files of a job, within bounds."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.jobs import checkpoints
from jupyterlab_t9kjob.jobs.checkpoints import checkpoints_of, folders_of

STARTED, ENDED = 10_000.0, 20_000.0


@pytest.fixture
def root(tmp_path: Path) -> ContentsRoot:
    return ContentsRoot(FileContentsManager(root_dir=str(tmp_path)))


def write(path: Path, time: float, text: str = "weights") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time, time))


def a_job(*args: str, working_dir: str | None = "work", **fields: object) -> Job:
    spec = JobSpec(name="train-1", entrypoint=Entrypoint(value="/work/train.py"), args=list(args))
    return Job(
        id="local::train-1:u1", engine="local", namespace="", name="train-1", uid="u1", phase="Failed",
        created_at=1.0, spec=spec, command=[], working_dir_path=working_dir,
        **{"started_at": STARTED, "ended_at": ENDED, **fields},
    )  # fmt: skip


async def test_files_that_were_changed_while_the_job_ran(tmp_path: Path, root: ContentsRoot) -> None:
    write(tmp_path / "work" / "out" / "step_100.pt", 11_000.0)
    write(tmp_path / "work" / "out" / "step_200.pt", 12_000.0)
    write(tmp_path / "work" / "out" / "checkpoint-3" / "model.safetensors", 11_500.0)
    write(tmp_path / "work" / "before.pt", 9_000.0)
    write(tmp_path / "work" / "after.ckpt", 21_000.0)
    write(tmp_path / "work" / "train.py", 15_000.0)
    write(tmp_path / "work" / "data" / "processed" / "training.pt", 10_500.0)
    write(tmp_path / "work" / ".venv" / "torch" / "a.pt", 10_500.0)
    found = await checkpoints_of(a_job(), root)
    assert (found.count, found.size, found.complete) == (3, 21, True)
    assert found.newest == found.files[0]
    assert (found.newest.path, found.newest.time) == ("work/out/step_200.pt", 12_000.0)
    assert found.folders == ["work"]


async def test_a_folder_that_an_argument_names_may_lie_elsewhere_but_not_outside(
    tmp_path: Path, root: ContentsRoot
) -> None:
    write(tmp_path / "models" / "m.pt", 11_000.0)
    job = a_job("--save_path", "../models/m.pt", "--out=/etc/x", f"--log={tmp_path}/logs", "https://a.b/c", "0.1/2")
    assert folders_of(job, root) == [tmp_path / name for name in ("models", "logs", "work/0.1/2", "work")]
    assert (await checkpoints_of(job, root)).count == 1


async def test_nothing_is_looked_for_where_jupyterlab_shows_no_folder_or_nothing_ran(
    tmp_path: Path, root: ContentsRoot
) -> None:
    write(tmp_path / "work" / "a.pt", 11_000.0)
    assert (await checkpoints_of(a_job(working_dir=None), root)).folders == []
    assert (await checkpoints_of(a_job(started_at=None), root)).folders == []
    elsewhere = ContentsRoot(SimpleNamespace())
    assert (await checkpoints_of(a_job(), elsewhere)).folders == []


async def test_many_files_are_not_all_looked_at(
    tmp_path: Path, root: ContentsRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        write(tmp_path / "work" / f"{number}.pt", 11_000.0)
    monkeypatch.setattr(checkpoints, "MOST_ENTRIES", 3)
    found = await checkpoints_of(a_job(), root)
    assert (found.count, found.complete) == (3, False)
    monkeypatch.setattr(checkpoints, "MOST_ENTRIES", 100)
    monkeypatch.setattr(checkpoints, "DEEPEST", 0)
    (tmp_path / "work" / "deep").mkdir()
    assert not (await checkpoints_of(a_job(), root)).complete
