"""Facts that are read from a script's text."""

import sys
import tracemalloc
from pathlib import Path

import pytest

from jupyterlab_t9kjob.launch.model import ScriptOption
from jupyterlab_t9kjob.launch.scripts.script import Script, read_script
from jupyterlab_t9kjob.launch.scripts.source_text import MAX_BYTES, SourceError, decode
from jupyterlab_t9kjob.launch.scripts.workspace import Workspace

EXAMPLE = Path(__file__).parents[2] / "examples" / "mnist_ddp" / "train.py"

# The tutorial's script as it is given to users, shortened.
TUTORIAL = """
import argparse, logging, os, shutil
import torch
import torch.distributed as dist
from torch.utils.tensorboard import SummaryWriter
parser = argparse.ArgumentParser(description='Distributed training of Keras model for MNIST.')
parser.add_argument('--backend', type=str, help='Distributed backend',
                    choices=[dist.Backend.GLOO, dist.Backend.NCCL, dist.Backend.MPI], default=dist.Backend.GLOO)
parser.add_argument('--log_dir', type=str, help='Path of the TensorBoard log directory.')
parser.add_argument('--no_cuda', action='store_true', default=False, help='Disable CUDA training.')
if __name__ == '__main__':
    dist.init_process_group(backend='gloo')
    train_loader = torch.utils.data.DataLoader(train, batch_size=32)
"""


def read(source: str, workspace: Workspace | None = None) -> Script:
    return read_script(source, "train.py", workspace)


def options(body: str, before: str = "") -> dict[str, ScriptOption]:
    source = f"import argparse, os\nfrom pathlib import Path\n{before}\np = argparse.ArgumentParser()\n{body}\n"
    return {option.dest: option for option in read(source).info.options}


def test_the_example() -> None:
    script = read_script(decode(EXAMPLE.read_bytes(), EXAMPLE.name), EXAMPLE.name)
    by_dest = {option.dest: option for option in script.info.options}
    assert set(by_dest) >= {"backend", "log_dir", "save_path", "epochs", "batch_size", "lr"}
    assert by_dest["backend"].kind == "choice"
    assert "gloo" in by_dest["backend"].choices
    assert by_dest["epochs"].kind == "int"
    assert by_dest["lr"].kind == "float"
    assert script.info.distributed
    assert script.info.writes_events
    assert "sampler" not in {finding.rule for finding in script.findings}
    assert "torch" in {module.name for module in script.info.imports}
    assert EXAMPLE.read_text().splitlines()[by_dest["lr"].line - 1].count("--lr") == 1


def test_the_tutorials_script() -> None:
    script = read(TUTORIAL)
    backend, log_dir, no_cuda = script.info.options
    assert (backend.kind, backend.default, backend.choices) == ("choice", "gloo", ["gloo", "nccl", "mpi"])
    assert (log_dir.kind, log_dir.default, log_dir.required) == ("text", None, False)
    assert (no_cuda.kind, no_cuda.default, no_cuda.flag_value) == ("flag", "False", True)
    assert script.info.description == "Distributed training of Keras model for MNIST."
    assert script.info.writes_events
    # torch.utils.tensorboard needs a package that the text does not name
    assert {module.name for module in script.info.imports} == {"torch", "tensorboard"}
    assert [finding.line for finding in script.findings if finding.rule == "sampler"] == [13]


@pytest.mark.parametrize(
    ("arguments", "kind", "default"),
    [
        ("'--x'", "text", None),
        ("'--x', default='a b'", "text", "a b"),
        ("'--x', type=int, default=3", "int", "3"),
        ("'--x', type=float, default=1e-3", "float", "1e-3"),
        ("'--x', type=float, default=-0.5", "float", "-0.5"),
        ("'--x', type=int, default=60 * 60", "int", "3600"),
        ("'--x', type=int, default=SIZE", "int", "64"),
        ("'--x', type=int, default=TWICE", "int", "2"),
        ("'--x', nargs='+', type=int, default=[1, 2]", "list", "1 2"),
        ("'--x', nargs='*', default=['a b', 'c']", "list", "'a b' c"),
        ("'--x', nargs=2", "list", None),
        ("'--x', nargs='?', default='a'", "text", "a"),
        ("'--x', choices=('a', 'b'), default='a'", "choice", "a"),
        ("'--x', action='store_true'", "flag", "False"),
        ("'--x', action='store_false'", "flag", "True"),
        ("'--x', action='count', default=0", "flag", "0"),
        ("'--x', default=os.environ.get('X', 'y')", "text", "y"),
        ("'--x', default=os.environ.get('X') or 'y'", "text", "y"),
        ("'--x', default=os.path.join('a', 'b')", "text", "a/b"),
        ("'--x', default=Path('a') / 'b'", "text", "a/b"),
        ("'--x', default=argparse.SUPPRESS", "text", None),
        ("'--x', default=compute()", "text", None),
        ("'--x', default=f'{SIZE}'", "text", "64"),
        ("'x'", "text", None),
    ],
)
def test_kinds_and_defaults(arguments: str, kind: str, default: str | None) -> None:
    option = options(f"p.add_argument({arguments})", "SIZE = 64\nTWICE = 1\nTWICE = 2")["x"]
    assert (option.kind, option.default) == (kind, default)


def test_spellings_names_and_help() -> None:
    found = options(
        "g = p.add_argument_group('data')\n"
        "g.add_argument('-b', '--batch-size', type=int, default=8, help='per process (%(default)s), 100%%')\n"
        "g.add_argument('--lr', dest='rate', required=True,\n    help='how '\n    'fast')\n"
        "p.add_argument('--amp', action=argparse.BooleanOptionalAction, default=True)\n"
        "p.add_argument('--secret', help=argparse.SUPPRESS)\n"
        "p.add_argument('--version', action='version')\n"
        "p.add_argument('files', nargs='*')\n"
        "p.add_argument('data')\n"
        "p.set_defaults(batch_size=16)\n"
    )
    assert list(found) == ["batch_size", "rate", "amp", "files", "data"]
    assert found["batch_size"].flags == ["--batch-size", "-b"]
    assert found["batch_size"].help == "per process (16), 100%"
    assert found["batch_size"].default == "16"
    assert (found["rate"].help, found["rate"].required) == ("how fast", True)
    assert (found["amp"].kind, found["amp"].default, found["amp"].off_flag) == ("flag", "True", "--no-amp")
    assert (found["files"].required, found["data"].required) == (False, True)


def test_subcommands_and_a_parser_that_is_not_known() -> None:
    script = read(
        "import argparse\n"
        "def main():\n"
        "    parser = argparse.ArgumentParser()\n"
        "    commands = parser.add_subparsers()\n"
        "    train = commands.add_parser('train')\n"
        "    train.add_argument('--inner')\n"
        "    parser.add_argument('--outer')\n"
        "main()\n"
        "make_parser().add_argument('--last')\n"
    )
    found = [(option.dest, option.command, option.is_command) for option in script.info.options]
    assert found == [("outer", None, False), ("command", None, True), ("inner", "train", False)]
    assert [unread.line for unread in script.unread] == [9]


def test_imports_leave_out_what_needs_no_installing(tmp_path: Path) -> None:
    (tmp_path / "data.py").touch()
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "resnet.py").touch()
    imports = read(
        "import os, numpy as np\n"
        "import data, models.resnet\n"
        "from . import sibling\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import pandas\n"
        "try:\n    import apex\nexcept ImportError:\n    apex = None\n"
        "try:\n    import yaml\nfinally:\n    pass\n"
        "def late():\n    from sklearn import svm\n",
        Workspace(tmp_path, tmp_path / "train.py"),
    ).info.imports
    assert [(module.name, module.line) for module in imports] == [("numpy", 1), ("yaml", 12), ("sklearn", 16)]


def test_environment_that_nobody_gives() -> None:
    reads = read(
        "import os\nfrom os import environ, getenv\n"
        "rank = os.environ['LOCAL_RANK']\n"
        "token = os.environ['HF_HOME']\n"
        "threads = int(getenv('OMP_NUM_THREADS', '4'))\n"
        "data = environ.get('DATA', '/data')\n"
        "os.environ['TOKENIZERS_PARALLELISM'] = 'false'\n"
    ).info.env_reads
    assert [(r.name, r.line, r.default) for r in reads] == [
        ("HF_HOME", 4, None),
        ("OMP_NUM_THREADS", 5, "4"),
        ("DATA", 6, "/data"),
    ]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("DataLoader(d, sampler=s)", []),
        ("DataLoader(d, 8, False, s)", []),
        ("DataLoader(d, **options)", []),
        ("DataLoader(d, 8)\nDataLoader(d)", [3]),
        ("DataLoader(d)\nDistributedSampler(d)", []),
        ("import accelerate\nDataLoader(d)", []),
    ],
)
def test_loaders_that_give_every_process_the_same(source: str, lines: list[int]) -> None:
    imports = "from torch.utils.data import DataLoader\n"
    found = read(f"{imports}dist.init_process_group()\n{source}\n").findings
    assert [finding.line for finding in found if finding.rule == "sampler"] == lines
    assert not any(finding.rule == "sampler" for finding in read(f"{imports}{source}").findings)


def test_a_docstring_describes_a_script_without_a_parser() -> None:
    assert read('"""Train\na model.\n\nMore."""\n').info.description == "Train a model."


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        ("x = (1,\ny = 2\n", 1, 5),
        ("def f():\nreturn 1\n", 2, 1),
        ("x = 1\ny = = 2\n", 2, 5),
        ("print 'x'", 1, 1),
        # what only the compiler finds
        ("x = 1\nreturn x\n", 2, 1),
        ("x = 1\nawait g()\n", 2, 1),
        ("def f():\n    x = 1\n    global x\n", 3, 5),
        ("x = 1\nfrom __future__ import annotations\n", 2, 1),
        ("break\n", 1, 1),
    ],
)
def test_syntax_errors_name_their_place(source: str, line: int, column: int) -> None:
    with pytest.raises(SourceError) as caught:
        read(source)
    assert caught.value.field == "/spec/entrypoint/value"
    assert (caught.value.line, caught.value.column) == (line, column)
    assert f"line {line}, column {column}" in caught.value.message
    assert caught.value.hint


def test_an_arguments_name_twice() -> None:
    with pytest.raises(SourceError, match=r"line 2.*duplicate argument"):  # Python 3.10 has another column
        read("x = 1\ndef f(a, a): ...\n")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfx = 1\r\n", "x = 1\n"),
        ("# coding: gbk\nx = '训练'\n".encode("gbk"), "# coding: gbk\nx = '训练'\n"),
        ("#!x\n# -*- coding: latin-1 -*-\n# é\n".encode("latin-1"), "#!x\n# -*- coding: latin-1 -*-\n# é\n"),
    ],
)
def test_encodings(data: bytes, text: str) -> None:
    assert decode(data, "train.py") == text


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"x = 1\ny = '\xff'\n", "in line 2 that are not utf-8"),
        (b"x = 1\ny = 1\n\nz = '\xff'\n", "in line 4 that are not utf-8"),
        (b"x = 1\n\0\n", "NUL byte in line 2"),
        (b"# coding: klingon\n", "klingon"),
        (b"#" * (MAX_BYTES + 1), "larger than"),
    ],
)
def test_what_is_not_a_script(data: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        decode(data, "train.py")


@pytest.mark.parametrize(
    "source",
    [
        "-" * 100_000 + "1",
        "a" + ".b" * 50_000,
        "a" + "[0]" * 50_000,
        "+".join(["1"] * 50_000),
        "(" * 50_000,
        "lambda:" * 20_000 + "0",
        "if a:\n pass\n" + "elif b:\n pass\n" * 20_000,
        "\n".join(f"a{i} = [a{i + 1}, a{i + 1}]" for i in range(60)) + "\np.add_argument('--x', default=a0)",
        "a = a\np.add_argument('--x', default=a)",
        "p.add_argument('--x', default=" + "9 * " * 5_000 + "9)",
        "p.add_argument('--x', default='a' * 10 ** 12)",
        "x = " + "9" * 100_000,
        "p.add_argument('--x', default=" + repr(["x" * 1500] * 2) + ")",
        "p.add_argument('--x', default='" + "x" * 100_000 + "')",
        "\n".join(f"p.add_argument('--x', default=[{'10,' * 900}])" for _ in range(400)),
    ],
)
def test_hostile_sources_are_survived(source: str) -> None:
    try:
        options_found = read(source).info.options
    except SourceError as error:
        assert error.field
    else:
        assert all(option.default is None for option in options_found)


def test_texts_that_json_can_not_carry() -> None:
    found = options(
        "p.add_argument('--x', help='\\ud800', default='\\udfff')\n"
        "p.add_argument('--\\ud800')\n"
        "p.add_argument('--y', dest='\\ud800', choices=['\\ud800', 'b'])\n"
        "os.environ['\\ud800']\n"
    )
    assert [option.model_dump_json() for option in found.values()]
    assert (found["x"].help, found["x"].default) == ("?", None)
    described = read("'\\ud800'\nimport argparse\nargparse.ArgumentParser(description='\\ud800')")
    assert described.info.model_dump_json()


def test_strings_do_not_grow_without_bound() -> None:
    doubled = "\n".join(f"a{number} = a{number - 1} + a{number - 1}" for number in range(1, 9))
    tracemalloc.start()
    try:
        found = options("p.add_argument('--x', default=a8)", f"a0 = {'x' * 500_000!r}\n{doubled}")
        assert found["x"].default is None
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


def test_reading_runs_nothing(tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("raise SystemExit")
    read(f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport evil\nopen({str(tmp_path / 'made')!r}, 'w')\n")
    assert "evil" not in sys.modules
    assert not (tmp_path / "made").exists()
