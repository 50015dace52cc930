"""The option by which a clone of a job resumes from a checkpoint."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.jobs.checkpoints import CheckpointFile, Checkpoints
from jupyterlab_t9kjob.launch.model import ScriptOption
from jupyterlab_t9kjob.launch.options.resume import any_resume_option, resume_option, with_checkpoint_of
from jupyterlab_t9kjob.launch.options.values import with_option
from jupyterlab_t9kjob.resuming.checkpoints import checkpoint_path, with_resumes


def option(flag: str, **fields: Any) -> ScriptOption:
    dest = flag.lstrip("-").replace("-", "_")
    return ScriptOption(**{"flags": [flag], "dest": dest, "kind": "text", "line": 1, **fields})


@pytest.mark.parametrize(
    "flag",
    [
        *("--resume", "--resume-from", "--resume_from_checkpoint", "--checkpoint", "--ckpt-path", "--load"),
        *("--load-checkpoint", "--restore_from", "--continue-from", "--from_checkpoint", "--resume_path"),
    ],
)
def test_names_that_tell(flag: str) -> None:
    found = resume_option([option("--lr"), option(flag), option("--output")], [])
    assert found is not None and found.flags == [flag]


@pytest.mark.parametrize(
    "options",
    [
        [option("--resume", kind="flag")],
        [option("--resume-epoch", kind="int")],
        [option("--resume_id")],
        [option("--resume-step")],
        [option("--load-model")],
        [option("--checkpoint-dir")],
        [option("--checkpoint-interval")],
        [option("--preload")],
        [option("--checkpoint", roles=["checkpoints"])],
        [option("--resume", choices=["yes", "no"], kind="choice")],
        [option("--resume", condition="args.full")],
        [option("--resume", command="evaluate")],
        [option("--resume", flags=[])],
        [option("--resume", exclusive="a"), option("--scratch", kind="flag", exclusive="a")],
        [option("--load"), option("--restore")],
    ],
    ids=lambda options: " ".join(str(each.dest) + " " + each.kind for each in options),
)
def test_names_that_do_not_tell(options: list[ScriptOption]) -> None:
    assert resume_option(options, ["train", "--scratch"]) is None


def test_the_clearest_name_and_the_given_subcommand() -> None:
    load, resume = option("--load"), option("--resume")
    assert resume_option([load, resume], []) is resume
    assert resume_option([option("--resume", command="train")], ["train", "--lr", "1"])


def test_an_option_of_any_subcommand_counts_for_the_form() -> None:
    train = option("--resume", command="train")
    assert any_resume_option([option("--lr"), train]) is train
    assert any_resume_option([option("--lr"), option("--load"), option("--restore")]) is None


def test_a_renamed_job_names_the_checkpoint_of_the_old_one() -> None:
    options = [option("--resume"), option("--out")]
    old, new = ["--resume", "runs/a-1/x.pt", "--out", "runs/a-1"], ["--resume", "runs/a-2/x.pt", "--out", "runs/a-2"]
    assert with_checkpoint_of(old, new, options) == ["--resume", "runs/a-1/x.pt", "--out", "runs/a-2"]
    assert with_checkpoint_of(old[2:], new[2:], options) == new[2:]
    assert with_checkpoint_of(old, old, options) == old
    assert with_checkpoint_of(old, new, [option("--out")]) == new


def test_the_option_replaces_an_earlier_value() -> None:
    resume, flags = option("--resume"), ["--lr", "1"]
    assert with_option(["--resume", "a.pt", *flags], resume, "b.pt", [resume]) == ["--resume", "b.pt", *flags]
    assert with_option(["--resume=a.pt", *flags], resume, "b.pt", [resume]) == ["--resume", "b.pt", *flags]
    assert with_option([], resume, "b.pt", [resume]) == ["--resume", "b.pt"]
    bare = option("--resume", value_optional=True)
    assert with_option(["--resume", *flags], bare, "b.pt", [bare]) == ["--resume", "b.pt", *flags]
    assert with_option([*flags, "--resume"], bare, "b.pt", [bare]) == [*flags, "--resume", "b.pt"]
    hydra = option("resume", syntax="assignment")
    assert with_option(["resume=a.pt", "lr=1"], hydra, "b.pt", [hydra]) == ["resume=b.pt", "lr=1"]


def test_a_checkpoint_may_be_a_folder() -> None:
    paths = ["/out/checkpoint-500/model.safetensors", "/out/step/__0_0.distcp", "/out/best.pt"]
    names = [str(checkpoint_path(PurePosixPath(path))) for path in paths]
    assert names == ["/out/checkpoint-500", "/out/step", "/out/best.pt"]


SCRIPT = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float)
{option}
args = parser.parse_args()
"""


async def offered(folder: Path, script: str, lab: Any = None, **changes: Any) -> Checkpoints:
    """Return the checkpoints of a job that runs a script, with what a clone changes."""
    (folder / "train.py").write_text(SCRIPT.format(option=script))
    spec = JobSpec.model_validate(
        {"name": "train", "entrypoint": {"value": "/job/train.py"}, "args": ["--lr", "1"], **changes}
    )
    job = Job(
        id="local::train:u1", engine="local", namespace="", name="train", uid="u1", phase="Failed",
        created_at=1.0, spec=spec, command=[], entrypoint_path="train.py",
    )  # fmt: skip
    files = [CheckpointFile(path=f"out/{number}.pt", time=number) for number in range(30, 0, -1)]
    found = Checkpoints(folders=["out"], count=30, newest=files[0], files=files)

    async def of_engine(_engine: str, _namespace: str) -> Any:
        return lab

    facts = SimpleNamespace(shares_lab_filesystem=lab is None)
    engines: Any = SimpleNamespace(facts=lambda _engine: facts, lab=of_engine)
    root = ContentsRoot(FileContentsManager(root_dir=os.fspath(folder)))
    return await with_resumes(found, job, root, engines)


RESUME = 'parser.add_argument("--resume")'


async def test_the_newest_checkpoints_are_offered(tmp_path: Path) -> None:
    found = await offered(tmp_path, RESUME)
    assert (found.resume_option, found.resume_problem) == ("--resume", None)
    assert [file.resume is not None for file in found.files] == [True] * 20 + [False] * 10
    assert found.newest == found.files[0] and found.newest.resume is not None
    assert found.newest.resume.changes == {"/spec/args": ["--lr", "1", "--resume", f"{tmp_path}/out/30.pt"]}
    assert str(found.newest.resume.label) == "Run again from out/30.pt"


async def test_a_job_in_a_cluster_gets_its_own_path(tmp_path: Path) -> None:
    def seen_by(path: Path, *_job: object) -> PurePosixPath | None:
        return PurePosixPath("/data", path.name)

    found = await offered(tmp_path, RESUME, lab=SimpleNamespace(seen_by=seen_by))
    assert found.newest is not None and found.newest.resume is not None
    assert found.newest.resume.changes["/spec/args"][-1] == "/data/30.pt"
    found = await offered(tmp_path, RESUME, lab=SimpleNamespace(seen_by=lambda *_job: None))
    assert "can’t be given to a job" in str(found.resume_problem)


async def test_it_is_said_why_no_checkpoint_is_offered(tmp_path: Path) -> None:
    found = await offered(tmp_path, "")
    assert str(found.resume_problem) == "train.py has no option that is known to take a checkpoint."
    found = await offered(tmp_path, "(")
    assert "script can’t be read here" in str(found.resume_problem)
    found = await offered(tmp_path, RESUME, replica_specs=[{"type": "worker", "args": ["--lr", "2"]}])
    assert "replica types have commands of their own" in str(found.resume_problem)
    assert not any(file.resume for file in found.files)
