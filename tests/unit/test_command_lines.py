"""Commands as the form shows them: an option and its values share a line."""

from __future__ import annotations

import pytest

from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, ReplicaSpec, Torchrun
from jupyterlab_t9kjob.core.texts.command_lines import option_lines
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
