"""Commands as the form shows them: an option and its values share a line."""

from __future__ import annotations

import subprocess

import pytest

from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, ReplicaSpec, Torchrun
from jupyterlab_t9kjob.core.texts.command_lines import option_lines, typed
from jupyterlab_t9kjob.engines.kubernetes.jobs.api_views import command_text


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ([], []),
        (["--lr", "0.1", "-v", "--x=1", "y"], ["--lr 0.1", "-v", "--x=1", "y"]),
        (["--range", "-1", "2.5", "--name", "a b"], ["--range -1 2.5", "--name 'a b'"]),
        (["a", "-5", "b"], ["a", "-5", "b"]),
    ],
)
def test_lines(words: list[str], lines: list[str]) -> None:
    assert option_lines(words) == lines


def test_a_job_in_a_cluster() -> None:
    spec = JobSpec(
        name="train",
        entrypoint=Entrypoint(kind="script", value="/w/train.py"),
        working_dir="/w",
        args=["--lr", "0.1"],
        torchrun=None,
        replica_specs=[ReplicaSpec(type="worker")],
    )
    assert command_text(spec) == "python train.py \\\n  --lr 0.1"
    started = spec.model_copy(update={"torchrun": Torchrun(proc_per_node=2)})
    assert command_text(started).splitlines()[-2:] == ["  train.py \\", "  --lr 0.1"]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["python", "my train.py", "--lr=0.1"], "python 'my train.py' --lr=0.1"),
        (["echo", "$HOME", "it's", ""], """echo '$HOME' 'it'"'"'s' ''"""),
        (["echo", "\x03rm -rf ~\r", "a\tb'c\\d"], r"echo $'\U00000003rm -rf ~\U0000000d' $'a\U00000009b\'c\\d'"),
    ],
)
def test_a_typed_line_has_no_key_that_runs_something(words: list[str], line: str):
    assert typed(words) == line
    assert typed(words).isprintable()
    shown = subprocess.run(["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True).stdout
    assert shown.decode().split("\0")[:-1] == words
