"""Cells of a notebook in a job: choice, parameters, install step, interactive calls, launch commands."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import FieldError
from jupyterlab_t9kjob.core.translation import translated
from jupyterlab_t9kjob.launch.notebooks.launch_lines import find_launch_line, read_launch_line
from jupyterlab_t9kjob.launch.notebooks.notebook import Notebook, read_notebook
from jupyterlab_t9kjob.launch.notebooks.outcomes import cells_of, install_steps
from jupyterlab_t9kjob.launch.notebooks.python_lines import lost_captures
from jupyterlab_t9kjob.launch.notebooks.reader import CodeCell
from jupyterlab_t9kjob.launch.scripts.source_text import SourceError
from tests.patience import PATIENCE


def read(*cells: "str | dict[str, Any]", ids: bool = True) -> Notebook:
    made = [{"source": cell} if isinstance(cell, str) else cell for cell in cells]
    content = {
        "nbformat": 4,
        "nbformat_minor": 5 if ids else 4,
        "metadata": {},
        "cells": [
            {"cell_type": "code", "metadata": {"tags": cell.get("tags", [])}, "source": cell["source"]}
            | ({"id": f"c{number}"} if ids else {})
            for number, cell in enumerate(made, 1)
        ],
    }
    return read_notebook(json.dumps(content).encode(), "n.ipynb")


def run(notebook: Notebook, *args: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", notebook.script(), *args], capture_output=True, text=True, check=False, timeout=PATIENCE
    )


PARAMETERS = {
    "source": "lr = 3e-4  # step size\nepochs = 15\nfast: bool = False\nname = 'vit'\nlayers = [1, 2]\nlimit = None\n"
    "scale: float = 1\nfolder = str(1)\nimport os\n_hidden = 1",
    "tags": ["parameters"],
}


@pytest.mark.parametrize(
    ("source", "mark", "note"),
    [
        ("import os\nprint(1)", "same", None),
        ("!pip install -q timm==1.0.9", "changed", "Install step: -q timm==1.0.9"),
        ("!{sys.executable} -m pip install 'timm>=1'", "changed", "Install step: 'timm>=1'"),
        ("%pip install timm", "changed", "Install step: timm"),
        ("%%writefile augment.py\nx = 1", "changed", "Writes augment.py"),
        ("%cd experiments", "changed", "Changes the working directory to experiments"),
        ("%env A=1", "changed", "Sets the variable A"),
        ("!ls", "changed", "Runs a command"),
        ("%run train.py", "changed", "Runs train.py"),
        ("%matplotlib inline", "left_out", "Left out: for the display only"),
        ("%matplotlib inline\nx = 1", "changed", "1 line is left out"),
        ("x = input('Save? ')", "question", "Nobody can type into a job, so input() fails."),
        ("def input(x): ...\ninput(1)", "same", None),
        ("import pdb; pdb.set_trace()", "question", "debugger pdb.set_trace()"),
        ("plt.plot(x); plt.show()", "question", "plt.show() shows nothing"),
        ("%matplotlib widget\nx = 1", "question", "%matplotlib widget is left out"),
        ("widgets.IntSlider()", "question", "widget widgets.IntSlider"),
        ("!torchrun train.py", "changed", "Starts train.py with torchrun"),
        ("x = = 1", "question", "syntax error in cell 2, line 1"),
        ("%store x", "question", "which only IPython can run"),
    ],
)
def test_what_becomes_of_a_cell(source: str, mark: str, note: str | None) -> None:
    cell = cells_of(read("pass", source))[1]
    assert cell.mark == mark
    assert (note or "") in (translated(cell.note) if cell.note else "")
    assert (cell.note is None) == (note is None)
    assert cell.runs is (mark != "left_out")


def test_tagged_cells_run_only_if_they_are_chosen() -> None:
    notebook = read("print('a')", {"source": "print('b')", "tags": ["skip-job"]}, "print('c')")
    assert [cell.runs for cell in cells_of(notebook)] == [True, False, True]
    assert [cell.cell.number for cell in notebook.convert().cells] == [1, 3]
    assert run(notebook).stdout == "a\nc\n"
    assert run(notebook, "--t9kjob-cells=c2,c3", "more").stdout == "b\nc\n"
    assert run(notebook, "--t9kjob-cells", "c1").stdout == "a\n"
    assert notebook.unknown_cells(["--t9kjob-cells=c1,gone"]) == 1


def test_cells_without_ids_are_named_by_number() -> None:
    notebook = read("print('a')", "print('b')", ids=False)
    assert [cell.key for cell in cells_of(notebook)] == ["1", "2"]
    assert run(notebook, "--t9kjob-cells=2").stdout == "b\n"


def test_a_broken_cell_counts_only_if_it_runs() -> None:
    notebook = read("x = 1", "%store x", "print(x)")
    with pytest.raises(SourceError):
        notebook.convert()
    args = ["--t9kjob-cells=c1,c3"]
    assert [cell.cell.number for cell in notebook.convert(args).cells] == [1, 3]
    assert run(notebook, *args).stdout == "1\n"


def test_parameters_are_options_with_their_types() -> None:
    notebook = read("x = 1", PARAMETERS)
    options = notebook.options(notebook.convert())
    shown = {option.dest: (option.kind, option.default) for option in options if not option.dest.startswith("t9kjob")}
    assert shown == {
        "lr": ("float", "3e-4"),
        "epochs": ("int", "15"),
        "fast": ("flag", "False"),
        "name": ("text", "vit"),
        "layers": ("text", "[1, 2]"),
        "limit": ("text", "None"),
        "scale": ("float", "1"),
        "folder": ("text", None),
    }
    assert (options[0].help, options[0].line, options[2].off_flag) == ("step size", 2, "--no-fast")
    assert next(item.name for item in notebook.parameters.without({"--lr"}).items) == "epochs"


def test_values_are_assigned_after_the_cell_with_their_types() -> None:
    notebook = read(
        PARAMETERS, "print(lr, epochs, fast, [name], layers, limit, scale, folder)\nimport sys", "print(sys.argv[1:])"
    )
    given = ["--lr", "0.1", "--epochs=3", "--fast", "--name=7", "--layers=[4]", "--limit", "10", "--scale=2", "--other"]
    done = run(notebook, *given, "--", "--lr=9")
    assert done.stdout == "0.1 3 True ['7'] [4] 10 2.0 1\n['--other', '--', '--lr=9']\n", done.stderr
    assert run(notebook, "--no-fast", "--folder=/data").stdout.startswith("0.0003 15 False ['vit'] [1, 2] None 1 /data")
    wrong = run(notebook, "--epochs=many")
    assert (wrong.returncode, "parameter epochs: 'many' is not of type int" in wrong.stderr) == (2, True)


def test_injected_parameters_replace_the_defaults() -> None:
    notebook = read(PARAMETERS, {"source": "lr = 0.5", "tags": ["injected-parameters"]}, "print(lr)")
    assert notebook.options(None)[0].default == "0.5"
    assert run(notebook).stdout == "0.5\n"
    assert run(notebook, "--lr=0.1").stdout == "0.1\n"


def test_the_install_step_can_be_switched_off() -> None:
    notebook = read("!pip install -q no-such-package-a", "%pip install no-such-package-b && true", "print('end')")
    assert install_steps(notebook.cells) == [
        "pip install -q no-such-package-a",
        "pip install no-such-package-b && true",
    ]
    done = run(notebook, "--t9kjob-no-install")
    assert done.stdout.splitlines()[-1] == "end"
    assert done.stdout.count("left out: pip install") == 2


def test_packages_are_installed_once_on_each_node(tmp_path: Path) -> None:
    """Two ranks of one node have the same parent process; pip itself is replaced."""
    (tmp_path / "pip.py").write_text("import sys\nprint('pip', *sys.argv[1:], flush=True)\n")
    script = tmp_path / "n.t9kjob.py"
    script.write_text(read("!pip install a", "print('end')").script())
    ranks = [
        subprocess.Popen(
            [sys.executable, script],
            stdout=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={"TORCHELASTIC_RUN_ID": str(tmp_path), "TMPDIR": str(tmp_path), "PYTHONPATH": str(tmp_path)},
        )
        for _rank in range(2)
    ]
    outputs = [rank.communicate(timeout=PATIENCE)[0] for rank in ranks]
    assert sorted(outputs) == ["end\n", "pip install a\nend\n"]


LINES = [
    ("torchrun --nproc_per_node=4 --nnodes 2 train.py --lr 0.1", ("script", "train.py", ["--lr", "0.1"], 4, 2)),
    ("torchrun --virtual-local-rank train.py --lr 0.1", ("script", "train.py", ["--lr", "0.1"], None, None)),
    (
        "python -m torch.distributed.run --nproc-per-node gpu -m pkg.train x",
        ("module", "pkg.train", ["x"], "gpu", None),
    ),
    ("{sys.executable} -m torch.distributed.launch --use_env train.py", ("script", "train.py", [], None, None)),
    ("accelerate launch --num_processes 8 --num_machines 2 t.py", ("script", "t.py", [], 4, 2)),
    ("accelerate launch --multi_gpu t.py", ("script", "t.py", [], None, None)),
    ("deepspeed --num_gpus=2 t.py --deepspeed ds.json", ("script", "t.py", ["--deepspeed", "ds.json"], 2, None)),
    ("deepspeed --include localhost:0,2 t.py", ("script", "t.py", [], 2, 1)),
    ("deepspeed t.py", ("script", "t.py", [], "gpu", None)),
    ("torchrun --standalone --nnodes=1:4 t.py 'a b' > log.txt 2>&1", ("script", "t.py", ["a b"], None, 4)),
    ("torchrun t.py --lr 0.1; echo done", ("script", "t.py", ["--lr", "0.1"], None, None)),
    ("torchrun t.py --lr 0.1 2>&1 | tee log.txt", ("script", "t.py", ["--lr", "0.1"], None, None)),
    ("torchrun t.py --color '#fff' x#y&", ("script", "t.py", ["--color", "#fff", "x#y"], None, None)),
    ("torchrun t.py --text 'a;b|c' # or --lr 1", ("script", "t.py", ["--text", "a;b|c"], None, None)),
]


@pytest.mark.parametrize(("text", "expected"), LINES)
def test_a_launch_command_is_read(text: str, expected: tuple[Any, ...]) -> None:
    line = read_launch_line(text)
    assert line is not None
    assert (line.kind, line.value, line.args, line.processes, line.nodes) == expected


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "torchrun",
        "torchrun --help",
        "echo torchrun t.py",
        "pip install accelerate",
        "accelerate config",
        "torchrun 't.py",
    ],
)
def test_what_is_no_launch_command(text: str) -> None:
    assert read_launch_line(text) is None


def test_the_parts_of_a_launch_command() -> None:
    line = find_launch_line(
        "x = 1\n!A=1 OMP_NUM_THREADS=2 accelerate launch --mixed_precision bf16 \\\n  --fsdp_x y t.py --lr {lr}"
    )
    assert line is not None
    assert line.env == {"A": "1", "OMP_NUM_THREADS": "2", "ACCELERATE_MIXED_PRECISION": "bf16"}
    assert (line.line, line.dropped, line.variables) == (2, ["--fsdp_x y"], ["{lr}"])
    assert find_launch_line("%%bash\ncd x\ntorchrun t.py") is not None
    assert find_launch_line("# !torchrun t.py\nprint('!torchrun t.py')") is None


@pytest.mark.parametrize(
    ("text", "dropped", "variables"),
    [
        ("torchrun t.py --lr 0.1; echo done", ["; echo done"], []),
        ("torchrun t.py 2>&1 | tee log.txt", ["| tee log.txt"], []),
        ("torchrun t.py && echo done &", ["&& echo done &"], []),
        ('torchrun t.py --dir ~/data --name "exp $(date)" --of `pwd`', [], ["$(date)", "`pwd`", "~/data"]),
        ("torchrun t.py --files data/*.csv --pattern '*.csv' --home \"$HOME\"", [], ["$HOME", "data/*.csv"]),
    ],
)
def test_what_the_form_does_not_take_over(text: str, dropped: list[str], variables: list[str]) -> None:
    line = read_launch_line(text)
    assert line is not None and (line.dropped, line.variables) == (dropped, variables)


def test_two_thousand_cells_are_read_in_time() -> None:
    began = time.process_time()
    notebook = read(*(f"x{number} = {number}\n!echo {number}" for number in range(2000)))
    assert len(cells_of(notebook)) == len(notebook.convert().cells) == 2000
    assert len(notebook.script().splitlines()) > 8000
    assert time.process_time() - began < 30


def test_many_cells_that_capture_their_output_are_read_in_time() -> None:
    """Each cell is searched once for the names of all captures."""
    body = "print('x', y, z)  # not out\n" * 20
    cells = [CodeCell(number, str(number), f"%%capture out{number}\n{body}", frozenset()) for number in range(2000)]
    began = time.process_time()
    assert lost_captures(cells, "n.ipynb") == {}
    assert list(lost_captures([*cells, CodeCell(2000, "2000", "out7()", frozenset())], "n.ipynb")) == [7]
    assert time.process_time() - began < 30


def test_a_notebook_with_too_many_cells_is_refused() -> None:
    with pytest.raises(FieldError) as caught:
        read(*["x = 1"] * 10_001)
    assert caught.value.code == "TooManyCells"
