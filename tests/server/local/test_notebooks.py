"""Notebooks as jobs, through the public doors: they train, run their commands, and fail where a cell does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import nbformat
import pytest

from tests.server.conftest import ended
from tests.server.local.conftest import Place

SETUP = """\
import os, sys
import torch
import torch.distributed as dist
%env STEPS=3
dist.init_process_group("gloo")
rank = dist.get_rank()
!{sys.executable} -c "print('command of rank {rank}')"
"""
TRAINING = """\
torch.manual_seed(rank)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(steps):
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().mean().backward()
        optimizer.step()
    return model.module.weight.detach().clone()

%time weight = train(int(os.environ["STEPS"]))
"""
AGREEMENT = """\
others = [torch.empty_like(weight) for _ in range(dist.get_world_size())]
dist.all_gather(others, weight)
assert all(torch.equal(weight, other) for other in others)
print(f"rank {rank} agrees with {len(others) - 1} other after {os.environ['STEPS']} steps")
dist.destroy_process_group()
"""

Run = Callable[..., Awaitable[tuple[dict[str, Any], dict[str, str]]]]


async def filled(place: Place, *cells: str | Any, whole: bool = False) -> dict[str, Any]:
    """Return the form for a notebook of these cells."""
    made = [nbformat.v4.new_code_cell(cell) if isinstance(cell, str) else cell for cell in cells]
    nbformat.write(nbformat.v4.new_notebook(cells=made), place.root / "explore.ipynb")
    body = {"path": "explore.ipynb", "whole_notebook": whole}
    return (await place.api("POST", "launch", "prefill", body=body)).json


@pytest.fixture
def run(place: Place, open_page: Any) -> Run:
    """Run a notebook's cells; answer with the job's end, and each rank's output by `rank output`."""

    async def go(*cells: str, processes: int = 1) -> tuple[dict[str, Any], dict[str, str]]:
        form = await filled(place, *cells)
        assert [check for check in form["checks"] if check["level"] == "error"] == []
        job = await place.submit({**form["spec"], "torchrun": {"proc_per_node": processes}})
        job = await ended(await open_page("stream"), job["id"])
        logs = {}
        for stream in (await place.api("GET", "jobs", job["id"], "logs")).json["streams"]:
            text = (await place.api("GET", "jobs", job["id"], "logs", stream["id"])).body.decode()
            logs[f"{stream['rank']} {stream['output']}"] = text
        return job, logs

    return go


async def test_two_processes_train_together(run: Run) -> None:
    job, logs = await run(SETUP, TRAINING, AGREEMENT, processes=2)
    assert job["phase"] == "Succeeded", (job["reason"], logs)
    for rank in (0, 1):
        text = logs[f"{rank} stdout"]
        assert f"command of rank {rank}\n" in text
        assert "wall time: " in text
        assert f"rank {rank} agrees with 1 other after 3 steps\n" in text


async def test_a_cell_that_raises_is_named_with_its_line(run: Run) -> None:
    job, logs = await run("def loss(x):\n    return 1 / x", "print('begins')", "x = 0\n%time loss(x)")
    assert (job["phase"], job["failure"]["error"]) == ("Failed", "ZeroDivisionError: division by zero")
    text = logs["0 stderr"]
    assert 'explore.ipynb, cell 3", line 2, in <module>\n' in text
    assert 'explore.ipynb, cell 1", line 2, in loss\n    return 1 / x\n' in text
    assert "explore.t9kjob.py" not in text


@pytest.mark.parametrize(
    ("command", "failure"),
    [
        ("import sys\n!{sys.executable} train.py", "explore.ipynb, cell 3: the command ended with exit code 1"),
        ("%run train.py", "ValueError: invalid literal for int() with base 10: 'none'"),
    ],
)
async def test_a_script_that_a_notebook_runs_decides_its_end(
    run: Run, place: Place, command: str, failure: str
) -> None:
    (place.root / "train.py").write_text("import sys\nprint('trained', int(sys.argv[2]), flush=True)\n")
    job, logs = await run("'text only'", f"{command} --steps 2", f"{command} --steps none", "print('not reached')")
    assert logs["0 stdout"] == "trained 2\n"
    assert (job["phase"], failure in job["failure"]["error"]) == ("Failed", True), job["failure"]


async def test_the_form_tells_who_runs_commands(place: Place) -> None:
    (place.root / "train.py").write_text("import torch.distributed as dist\ndist.init_process_group('gloo')\n")
    told = {}
    for cell in ("%matplotlib inline\n%run train.py", "!torchrun --nproc-per-node=2 train.py"):
        form = await filled(place, cell, whole=True)
        hints = {check["code"]: check["link"] for check in form["checks"] if check["level"] != "passed"}
        told[cell] = (form["spec"]["torchrun"] is None, *sorted(hints))
    assert list(told.values()) == [(False, "CommandsRepeated", "LinesSkipped"), (True, "OwnProcesses")]


async def test_parameters_and_chosen_cells_are_arguments_of_the_job(place: Place, open_page: Any) -> None:
    """The spec keeps them, so that a rerun has them too. torchrun is off, so torch is not imported."""
    parameters = nbformat.v4.new_code_cell("lr = 0.1\nfast = True", metadata={"tags": ["parameters"]})
    left_out = nbformat.v4.new_code_cell("print('never')", metadata={"tags": ["skip-job"]})
    cells = [parameters, left_out, "answer = input('Go on? ')", "print('lr', lr, fast)"]
    form = await filled(place, *cells)
    keys = [cell["key"] for cell in form["notebook"]["cells"]]
    assert [cell["runs"] for cell in form["notebook"]["cells"]] == [True, False, True, True]
    found = next(check for check in form["checks"] if check["code"] == "Interactive")
    assert (found["level"], found["link"]["cell"], found["option"]) == ("warning", 3, "--t9kjob-cells")
    args = found["fix"]["changes"]["/spec/args"]
    assert args == [f"--t9kjob-cells={keys[0]},{keys[3]}"]
    spec = {**form["spec"], "torchrun": None, "args": [*args, "--lr=0.5", "--no-fast"]}
    assert not [check for check in await place.checks(spec) if check["code"] in ("Interactive", "OptionsGiven")]
    job = await place.submit(spec)
    page = await open_page("stream")
    assert (await ended(page, job["id"]))["phase"] == "Succeeded"
    again = (await place.api("POST", "jobs", job["id"], "rerun", body={"request_id": "request-again"})).json
    assert (await ended(page, again["id"]))["phase"] == "Succeeded"
    streams = (await place.api("GET", "jobs", again["id"], "logs")).json["streams"]
    logs = [(await place.api("GET", "jobs", again["id"], "logs", stream["id"])).body for stream in streams]
    assert b"lr 0.5 False\n" in logs


async def test_a_launch_command_fills_the_form_of_its_script(place: Place) -> None:
    (place.root / "src").mkdir()
    (place.root / "src" / "train.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--log_dir')\n"
        "parser.add_argument('--lr', type=float)\nparser.parse_args()\n"
    )
    command = "A=1 torchrun --nproc-per-node=3 --nnodes=2 --monitor-interval 1 src/train.py --lr {lr}"
    form = await filled(place, "lr = 1", f"!{command}")
    spec = form["spec"]
    assert (form["path"], form["notebook"]) == ("src/train.py", None)
    assert form["launched_by"] == {"path": "explore.ipynb", "cell": 2, "command": command}
    assert spec["entrypoint"] == {"kind": "script", "value": str(place.root / "src" / "train.py")}
    assert spec["args"] == ["--lr", "{lr}", "--log_dir", f"runs/{spec['name']}"]
    assert (spec["working_dir"], spec["env"][0]["name"]) == (str(place.root), "A")
    assert (spec["torchrun"]["proc_per_node"], spec["replica_specs"][0]["replicas"]) == (3, 2)
    assert [note["code"] for note in form["notes"]] == ["LaunchOptions", "LaunchVariables"]
    assert (await filled(place, "!torchrun gone.py"))["spec"]["entrypoint"]["kind"] == "notebook"


async def test_a_launch_command_keeps_what_its_script_needs(place: Place) -> None:
    (place.root / "train.py").write_text(
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float)\n"
        "parser.add_argument('--local_rank', type=int, required=True)\nparser.parse_args()\n"
    )
    form = await filled(place, "!python -m torch.distributed.launch --nproc_per_node=2 train.py --lr 0.1; echo done")
    assert form["spec"]["args"] == ["--lr", "0.1", "--local_rank=${local_rank}"]


async def test_an_option_of_the_notebooks_parser_is_no_parameter(place: Place, open_page: Any) -> None:
    parameters = nbformat.v4.new_code_cell("lr = 0.1\nsteps = 1", metadata={"tags": ["parameters"]})
    parser = (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', type=float, default=0.5)\n"
        "args = parser.parse_args()\nprint('parsed', args.lr, 'lr', lr, 'steps', steps)"
    )
    form = await filled(place, parameters, parser)
    options = {option["dest"]: option["default"] for option in form["script"]["options"]}
    assert (options["lr"], options["steps"]) == ("0.5", "1")
    job = await place.submit({**form["spec"], "torchrun": None, "args": ["--lr", "0.9", "--steps", "3"]})
    assert (await ended(await open_page("stream"), job["id"]))["phase"] == "Succeeded"
    streams = (await place.api("GET", "jobs", job["id"], "logs")).json["streams"]
    logs = [(await place.api("GET", "jobs", job["id"], "logs", stream["id"])).body for stream in streams]
    assert b"parsed 0.9 lr 0.1 steps 3\n" in logs
