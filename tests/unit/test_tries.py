"""Parts of tries that need no process: steps in logs, changed arguments, and what an error says about the job."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import Failure, Job, Reason
from jupyterlab_t9kjob.core.lab import Lab, LabMount
from jupyterlab_t9kjob.core.progress import StepCounter
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, Mount
from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.launch.model import ScriptOption
from jupyterlab_t9kjob.launch.options.values import with_option
from jupyterlab_t9kjob.launch.scripts.training.outputs import Destination
from jupyterlab_t9kjob.launch.source_file import Source
from jupyterlab_t9kjob.tries.arguments import redirected
from jupyterlab_t9kjob.tries.memory import RankMemory
from jupyterlab_t9kjob.tries.output import shown
from jupyterlab_t9kjob.tries.plan import TryPlan
from jupyterlab_t9kjob.tries.verdict import verdict


@pytest.mark.parametrize(
    ("log", "steps"),
    [
        ("", 0),
        ("step 1 loss 2.4\nstep 2 loss 2.3\nstep 3\n", 3),
        ("step 12000\nstep 12001\n", 2),  # resumed
        ("Epoch 1 batch 0/938\nEpoch 1 batch 100/938\nEpoch 2 batch 0/938\nEpoch 2 batch 100/938\n", 200),
        ("Epoch 1 of 10\nEpoch 2 of 10\n", 0),
        ("  0%|          | 0/100\r  7%|#         | 7/100 [00:12<00:20,  3.10it/s]\r", 7),
        ("Downloading data: 50%|##### | 50/100 [00:01<00:01]\r", 0),
        ("Map: 100%|##########| 1000/1000\nLoading weights: 10%|# | 3/30\n", 0),
        ("iteration 999999999999999999999\n\x00\xff step x\n", 0),
    ],
)
def test_steps_in_a_log(log: str, steps: int) -> None:
    whole, pieces = StepCounter(), StepCounter()
    whole.feed(log.encode("latin-1"))
    for byte in log.encode("latin-1"):
        pieces.feed(bytes([byte]))
    assert (whole.steps, pieces.steps) == (steps, steps)


def test_lines_are_shown_as_a_terminal_does() -> None:
    assert shown(b"10%\r20%\r\x1b[1m30%\x1b[0m\x07\r") == "30%"
    assert len(shown(b"\xff" * 10**6)) == 300


@pytest.mark.parametrize(
    ("args", "result"),
    [
        (["x", "--out", "a", "-v"], ["x", "--out", "b", "-v"]),
        (["--out=a", "x"], ["--out", "b", "x"]),
        (["--out=a", "x", "--out", "c"], ["--out", "b", "x"]),
        (["x", "--", "--out"], ["x", "--out", "b", "--", "--out"]),
        ([], ["--out", "b"]),
        (["--out"], ["--out", "b"]),
    ],
)
def test_an_option_gets_another_value(args: list[str], result: list[str]) -> None:
    option = ScriptOption(flags=["--out"], dest="out", kind="text", line=1)
    assert with_option(args, option, "b", [option]) == result


def test_an_option_may_stand_without_a_value() -> None:
    option = ScriptOption(flags=["--out"], dest="out", kind="text", line=1, value_optional=True)
    assert with_option(["--out", "--lr", "1"], option, "b", [option]) == ["--out", "b", "--lr", "1"]
    assert with_option(["--out", "a", "--lr", "1"], option, "b", [option]) == ["--out", "b", "--lr", "1"]


@pytest.mark.parametrize(
    ("fields", "args", "value", "result"),
    [
        ({"kind": "list"}, ["--out", "1", "-2", "3", "--lr", "1"], "4 '5 6'", ["--out", "4", "5 6", "--lr", "1"]),
        ({"kind": "list", "items": 2}, ["--out", "1", "2", "x"], "4 5", ["--out", "4", "5", "x"]),
        ({"kind": "list"}, ["x"], "4", ["x", "--out", "4"]),
        ({"kind": "flag"}, ["--out", "x"], "True", ["--out", "x"]),
        ({"kind": "flag"}, ["--out", "x"], "False", ["x"]),
        ({"kind": "flag", "flag_value": False}, ["x"], "False", ["x", "--out"]),
        ({"kind": "flag", "off_flag": "--no-out"}, ["--no-out", "x"], "True", ["--out", "x"]),
        ({"kind": "flag", "off_flag": "--no-out"}, ["--out", "x"], "0", ["--no-out", "x"]),
        ({"syntax": "equals"}, ["x", "--out", "y"], "1", ["x", "--out=1", "y"]),
        ({"flags": ["out"], "syntax": "assignment"}, ["a=1"], "1", ["a=1", "out=1"]),
        ({"flags": ["--output", "-o"]}, ["-o", "1"], "-2", ["--output=-2"]),
    ],
)
def test_an_option_is_written_as_its_kind_wants(
    fields: dict[str, Any], args: list[str], value: str, result: list[str]
) -> None:
    option = ScriptOption(**{"flags": ["--out"], "dest": "out", "kind": "text", "line": 1, **fields})
    assert with_option(args, option, value, [option]) == result


@pytest.mark.parametrize(
    ("fields", "args", "value"),
    [
        ({}, [], "a"),
        ({}, ["--out", "b"], "b"),
        ({}, ["--out=b", "--out", "c"], "c"),
        ({}, ["--out"], None),
        ({}, ["--out", "-1"], "-1"),
        ({}, ["--", "--out", "b"], "a"),
        ({"value_optional": True}, ["--out", "--lr", "1"], None),
        ({"value_optional": True}, ["--out", "b"], "b"),
        ({"kind": "flag"}, ["--out", "/data"], "True"),
        ({"kind": "flag", "off_flag": "--no-out"}, ["--out", "--no-out", "/data"], "False"),
        ({"kind": "flag", "value_optional": True}, ["--out", "False"], "False"),
        ({"kind": "flag", "value_optional": True}, ["--out", "/data"], "True"),
        ({"syntax": "equals"}, ["--out", "b"], "a"),
        ({"flags": ["out"], "syntax": "assignment"}, ["out=b", "out"], "b"),
    ],
)
def test_the_value_of_an_option(fields: dict[str, Any], args: list[str], value: str | None) -> None:
    option = ScriptOption(**{"flags": ["--out"], "dest": "out", "kind": "text", "line": 1, "default": "a", **fields})
    assert option.value_in(args) == value


def test_an_option_of_the_program_stands_before_the_subcommand() -> None:
    option = ScriptOption(flags=["--out"], dest="out", kind="text", line=1)
    command = ScriptOption(flags=[], dest="command", kind="choice", line=2, is_command=True)
    assert with_option(["train", "--lr", "1"], option, "b", [option, command]) == ["--out", "b", "train", "--lr", "1"]
    of_command = option.model_copy(update={"command": "train", "syntax": "equals"})
    assert with_option(["train", "--out=a"], of_command, "b", [of_command, command]) == ["train", "--out=b"]


@pytest.mark.parametrize("dest", ["../../../out", "/tmp/t9kjob-out", "..", "a/b", "x" * 300, "\0"])
def test_outputs_stay_in_the_folder_of_the_try(tmp_path: Path, dest: str) -> None:
    """The destination of an option, which is a name of the script, leads nowhere else."""
    option = ScriptOption(flags=["--out"], dest=dest, kind="text", default="out/..", roles=["checkpoints"], line=1)
    source = Source(tmp_path / "train.py", "train.py", "script")
    source.script.info.options = [option]
    (tmp_path / "a" / "b").mkdir(parents=True)
    folders = source.script.outputs
    for outputs in (folders, replace(folders, checkpoints=Destination(1, None, dest, is_file=True))):
        source.script.outputs = outputs
        args, changed = redirected([], source, tmp_path / "a" / "b")
        assert args[0] == "--out" and changed == ["--out"]
        assert Path(args[1]).resolve().parent == tmp_path / "a" / "b" / "checkpoints"


# -- verdicts ----------------------------------------------------------------------------------------------------------


def plan_of(root: Path, *, elsewhere: bool = True) -> TryPlan:
    mounts = [Mount(claim="work", mount_path="/t9k/mnt"), Mount(claim="once", mount_path="/once")]
    spec = JobSpec(name="x", entrypoint=Entrypoint(value="/t9k/mnt/train.py"), mounts=mounts)
    lab = Lab(mounts=(LabMount("work", "team", root, PurePosixPath("/t9k/mnt")),))
    here = spec.model_copy(update={"working_dir": str(root)})
    return TryPlan(spec, lab, "team", elsewhere=elsewhere, spec=here, secrets=["TOKEN"])


def state_of(error: str | None, plan: TryPlan, *, exit_code: int = 1, signaled: bool = False) -> str:
    failure = Failure(replica="worker-0", attempt=1, rank=0, exit_code=exit_code, signaled=signaled, error=error)
    reason = Reason(code="ExitCode", sentence=_("Rank 0 failed"))
    job = Job.model_construct(phase="Failed", reason=reason, failure=failure, ran_seconds=3.0)
    found = verdict(job, plan, steps=0, reached=False, stopped=None)
    assert found.sentence and (found.reason is None) == (found.state == "not_tried")
    return f"{found.state}: {found.sentence}"


ONLY_THERE = [
    ("ModuleNotFoundError: No module named 'apex.amp'", "The module apex is not"),
    ("ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory", "libcudnn.so.9 is not"),
    ("FileNotFoundError: [Errno 2] No such file or directory: '/data/train.bin'", "/data/train.bin can't be used"),
    ("PermissionError: [Errno 13] Permission denied: '/workspace'", "/workspace can't be used"),
    ("OSError: [Errno 30] Read-only file system: '/models/x'", "/models/x can't be used"),
    ("FileNotFoundError: [Errno 2] No such file or directory: '/once/a'", "/once/a is on the PVC once"),
    ("FileNotFoundError: [Errno 2] No such file or directory: '/t9k/mnt/set.bin'", "at another path"),
    ("KeyError: 'TOKEN'", "TOKEN, which comes from a Secret"),
    ("RuntimeError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!", "needs a GPU"),
    *(
        (error, "needs a GPU")
        for error in (
            "AssertionError: Torch not compiled with CUDA enabled",
            "RuntimeError: No CUDA GPUs are available",
            "RuntimeError: No HIP GPUs are available",
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and"
            " installed a driver from http://www.nvidia.com/Download/index.aspx",
            "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False.",
            "RuntimeError: Distributed package doesn't have NCCL built in",
            "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!",
            "ValueError: fp16 mixed precision requires a GPU (not 'mps').",
            "AssertionError: CUDA is not available",
            "SystemExit: no GPU found, stopping",
            "RuntimeError: This script needs at least one GPU",
            "ValueError: FP16 Mixed precision training can only be used on CUDA devices",
            "RuntimeError: 0 active drivers ([]). There should only be one.",
        )
    ),
]
ALSO_THERE = [
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.bin'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'gpu.yaml'",
    "FileNotFoundError: [Errno 2] No such file or directory: '/t9k/mnt/gone.bin'",
    "FileNotFoundError: [Errno 2] No such file or directory: '{root}/gone.bin'",
    "KeyError: 'loss'",
    "KeyError: 'gpu'",
    "AttributeError: 'Namespace' object has no attribute 'gpu'",
    "NameError: name 'gpu' is not defined",
    "train.py: error: unrecognized arguments: --gpus 2",
    "TypeError: train() missing 1 required positional argument: 'gpu'",
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
    "ValueError: gpus must be divisible by nodes",
    "ValueError: bad split 1/2 of https://x/y",
    None,
]


@pytest.mark.parametrize(("error", "words"), ONLY_THERE)
def test_errors_of_what_only_the_cluster_has(tmp_path: Path, error: str, words: str) -> None:
    (tmp_path / "set.bin").touch()
    found = state_of(error, plan_of(tmp_path))
    assert found.startswith("not_tried: ") and words in found


@pytest.mark.parametrize("error", ALSO_THERE)
def test_errors_of_the_job_itself(tmp_path: Path, error: str | None) -> None:
    assert state_of(error and error.format(root=tmp_path), plan_of(tmp_path)).startswith("failed: ")


@pytest.mark.parametrize(("error", "_words"), ONLY_THERE[:7])
def test_a_job_of_this_machine_fails_as_its_try_does(tmp_path: Path, error: str, _words: str) -> None:
    assert state_of(error, plan_of(tmp_path, elsewhere=False)).startswith("failed: ")


def test_a_killed_process_may_have_more_memory_there(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    assert "out of memory" in state_of(None, plan, exit_code=137, signaled=True)
    assert state_of(None, plan, exit_code=137).startswith("failed: ")


def test_memory_of_each_rank_is_its_largest_process() -> None:
    """The peak counts also after the memory was released; processes that have ended are no error."""
    text = "import sys\nblock = b'x' * (64 << 20)\ndel block\nprint('up', flush=True)\nsys.stdin.read()\n"
    memory = RankMemory()
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", text],
            env=os.environ | {"RANK": rank},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for rank in ("1", "0", "none")
    ]
    for process in ranks:
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            memory.read([process.pid])
        memory.read([process.pid])
    assert sorted(memory.peaks) == [0, 1]
    assert all(peak > 64 << 20 for peak in memory.peaks.values())
    memory.peaks = {1: 31 << 27, 0: 5 << 20}
    assert memory.note() == "Memory of the largest process of each rank: rank 0: 5 MiB and rank 1: 3.9 GiB."
    assert RankMemory().note() is None
