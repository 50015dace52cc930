"""A notebook as a script."""

import contextlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, FieldError
from jupyterlab_t9kjob.launch.notebooks.notebook import SkippedLine, read_notebook
from jupyterlab_t9kjob.launch.notebooks.script_file import HEADER, script_path, write_script
from jupyterlab_t9kjob.launch.scripts.source_text import SourceError
from tests.patience import PATIENCE

PYTHON = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}


def notebook(*cells: str, metadata: dict[str, Any] = PYTHON) -> bytes:
    content = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": metadata,
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": source}
            for source in cells
        ],
    }
    return json.dumps(content).encode()


@dataclass
class Made:
    """The cells that a job without arguments runs, and the script."""

    code: str
    places: list[tuple[int, int]]
    cells: int
    skipped: list[SkippedLine]
    kernel: str | None
    text: str


def convert(data: bytes, name: str) -> Made:
    read = read_notebook(data, name)
    made = read.convert()
    return Made(made.code, made.places, len(made.cells), made.skipped, read.kernel, read.script())


def body(converted: Made) -> list[str]:
    """The lines of the cells."""
    return [
        text for text, (cell, line) in zip(converted.code.splitlines(), converted.places, strict=True) if cell and line
    ]


def run(converted: Made, *args: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", converted.text, *args], capture_output=True, text=True, check=True, timeout=PATIENCE
    ).stdout


def test_cells_in_order_under_a_header() -> None:
    content = json.loads(notebook("x = 1\ny = 2", "", "print(x + y)"))
    content["cells"].insert(0, {"cell_type": "markdown", "metadata": {}, "source": "# Title\n%notmagic"})
    content["cells"].append({"cell_type": "raw", "metadata": {}, "source": "raw ("})
    content["cells"][-2]["source"] = ["print(", "x + y)"]
    converted = convert(json.dumps(content).encode(), "explore.ipynb")
    lines = converted.text.splitlines()
    assert lines[0].startswith(HEADER)
    assert '"explore.ipynb"' in lines[0]
    assert [line for line in lines if line.startswith("# %%")] == ["# %% [cell 2]", "# %% [cell 4]"]
    assert (converted.cells, converted.kernel, converted.skipped) == (2, "python3", [])
    assert run(converted) == "3\n"


@pytest.mark.parametrize(
    "line",
    ["%matplotlib inline", "?print", "print?", "torch.nn.Module??", "%load_ext autoreload", "%autoreload 2", "%env"],
)
def test_what_only_shows_something_is_commented_out_and_listed(line: str) -> None:
    converted = convert(notebook(f"x = 1\n{line}\nprint(x)"), "n.ipynb")
    assert [(s.cell, s.line, s.text) for s in converted.skipped] == [(1, 2, line)]
    assert body(converted)[1] == f"# {line}"
    assert run(converted) == "1\n"


@pytest.mark.parametrize(
    "line",
    [
        *("a, b = %timeit -o f()", ",call a b", "%%notacell in the middle", "%prun train()", "%run other.ipynb"),
        *("%run -p train.py", "%time for i in x: f(i)", "%pylab", "%dotenv", "/call a", ";call a", "%cd -b mark"),
        *("%memit f()", "%macro", "%store x", "x = %cd /tmp"),
    ],
)
def test_what_a_job_can_not_run_is_refused_with_its_cell(line: str) -> None:
    with pytest.raises(SourceError, match=r"in cell 2, line 2, which only IPython can run") as caught:
        convert(notebook("x = 1", f"y = 1\n{line}"), "n.ipynb")
    assert (caught.value.cell, bool(caught.value.hint)) == (2, True)


@pytest.mark.parametrize(
    "magic", ["%%prun", "%%cython", "%%python2", "%%bash --bg", "%%bash --out x", "%%timeit", "%%javascripty"]
)
def test_cells_that_a_job_can_not_run_are_refused(magic: str) -> None:
    with pytest.raises(SourceError, match="in cell 1, line 2, which only"):
        convert(notebook(f"\n{magic}\nf()"), "n.ipynb")


RUNS = [
    ("%time print('trained')", "trained"),
    ("def f():\n    %time x = 4\n    return x\nprint(f())", "4"),
    ("x = %time 3 + 4\nprint(x)", "7"),
    ("!echo one", "one"),
    ("name = 'two'\n!echo {name} $name '$name' $$HOME {1 + 1} $missing", "two two $name"),
    ("found = !printf 'a\\nb\\n'\nprint(found, found.n == 'a\\nb', found.s)", "['a', 'b'] True a b"),
    ("%env MODE=fast\nimport os\nprint(os.environ['MODE'])", "fast"),
    ("where = 'sub'\n!mkdir sub\n%cd {where}\nimport os\nprint(os.path.basename(os.getcwd()))", "sub"),
    ("!mkdir sub\n%cd -q sub\n!pwd", "/sub"),
    ("%%writefile made.py\nprint('%time is text here')\n", "Wrote made.py"),
    ("%%bash\nfor i in 1 2; do\n  echo n$i\ndone", "n1\nn2"),
    ("%%time\n%%bash\necho both", "both"),
    ("name = 'x y'\nprint(name)", "x y"),
    ('%%bash -s 3 "two words"\necho $2 $1', "two words 3"),
    ("%load_ext autoreload\n%aimport own\nprint(own.LEARNED)", "5"),
    ("mkdir deep\ncd deep\ncd ..\nls own.py", "own.py"),
    ("mkdir -p deep/er\ncp -r own.py deep/er\ncd -q deep\nls -1 er", "own.py"),
    ("ls -l -a own.py\nrm -f *.log\nls ./own.py", "own.py"),
    ("name = 'own'\nls -1 {name}.py\nrm -rf $name", "own.py"),
    ("ls, x, data, cp = 5, 1, 2, 3\nls -x\nls - x if data else 0\nls -x in [4]\nprint(ls\\\n-x)", "4"),
    ("print(get_ipython() is None, 'colab' in str(get_ipython()))", "True False"),
    ("%run own.py --lr 3\nprint(LEARNED)", "args ['own.py', '--lr', '3'] __main__\n5"),
    ("%run own\nimport sys\nprint(len(sys.argv))", "args ['own.py'] __main__\n1"),
    ("%timeit 1 + 1", "per loop"),
    ("!grep nothing own.py\nprint('goes on')", "goes on"),
    ("!echo a \\\n  b\nprint('end')", "a b\nend"),
    ("if True:\n    !echo inner\n    %matplotlib inline\nprint('end')", "inner\nend"),
    ("import asyncio\nawait asyncio.sleep(0)\nprint('awaited')", "awaited"),
    ("from __future__ import annotations\ndef f(x: no_such_name): ...\nprint('future')", "future"),
    ("display('shown')", "shown"),
]


@pytest.mark.parametrize(("source", "printed"), RUNS)
def test_what_a_job_runs_as_the_notebook_does(tmp_path: Path, source: str, printed: str) -> None:
    (tmp_path / "own.py").write_text(
        "import sys\nprint('args', sys.argv, __name__)\nLEARNED = 5\nsys.exit() if len(sys.argv) > 9 else 0\n"
    )
    done = run_script(tmp_path, "'a cell before'", source)
    assert done.returncode == 0, done.stderr
    assert printed in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("x = 1\n\nraise ValueError('bad')", 'n.ipynb, cell 2", line 3, in <module>\n    raise ValueError'),
        ("def f():\n    return 1 / 0\nf()", 'n.ipynb, cell 2", line 2, in f\n    return 1 / 0'),
        ("!{sys.executable} -c 'import sys; sys.exit(3)'", "ended with exit code 3"),
        ("import sys\n!{sys.executable} gone.py", "gone.py"),
        ("!torchrun-is-not-here\n!python gone.py", "n.ipynb, cell 2: the command ended with exit code 127"),
        ("%%bash\nexit 4", "ended with exit code 4: bash"),
        ("%run fails.py", "SystemExit"),
        ("%time 1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_fails_fails_the_job_and_names_its_cell(tmp_path: Path, source: str, said: str) -> None:
    (tmp_path / "fails.py").write_text("raise SystemExit('SystemExit 2')\n")
    done = run_script(tmp_path, "import sys", source)
    assert done.returncode != 0
    assert said in done.stderr, done.stderr
    assert "t9kjob.py" not in done.stderr


def run_script(folder: Path, *cells: str) -> "subprocess.CompletedProcess[str]":
    script = write_script(folder / "n.ipynb", convert(notebook(*cells), "n.ipynb").text)
    return subprocess.run(
        [sys.executable, script], check=False, capture_output=True, text=True, timeout=PATIENCE, cwd=folder
    )


def test_all_processes_of_a_job_run_the_commands(tmp_path: Path) -> None:
    """The processes write whole files, and run commands one after the other if these would disturb each other."""
    cells = (
        "%%writefile sub.py\nVALUE = 7\n",
        "!mkdir -p once && mkdir once/own.$$RANK && sleep 0.1 && ls once | wc -l",
        "from sub import VALUE\nimport os\nprint('rank', os.environ['RANK'], VALUE)",
    )
    script = write_script(tmp_path / "n.ipynb", convert(notebook(*cells), "n.ipynb").text)
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(script)]
    done = subprocess.run(launcher, check=False, capture_output=True, text=True, timeout=PATIENCE, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {"rank 0 7", "rank 1 7", "1", "2"} <= set(done.stdout.splitlines())


@pytest.mark.parametrize(
    "source",
    [
        'text = """\n%matplotlib inline\n!ls\nx?\n"""\nprint(text)',
        "text = '''it''s\n!ls'''\nprint(text)",
        "value = (7\n% 4)\nprint(value)",
        "value = 7 \\\n% 4\nprint(value)",
        "print('%d' % 3, '!', \"it's?\")",
        "x = 3\nx %= 2\nprint(x != 2, x == 1)",
        "print({'a': '''\n?'''}['a'])  # it's a comment with ' and (\nprint(1)",
        'print(f"""\n%{1 + 1}\n""")',
        "print('\\'%')\nprint(\"\\\\\")\nprint(5)",
        "print('a\\\n%b')\nprint(2)",
        "  x = 1\n  if x:\n    print(x)",
        'a = "(" # "\nprint(a)\n\n\n',
        "print(1); # ends in a backslash \\\nprint(2)",
        "def f(a, /, *, b):\n    return a \\\n        / b\nprint(f(4, b=2))",
    ],
)
def test_what_only_looks_like_a_magic_is_kept(source: str) -> None:
    converted = convert(notebook(source), "n.ipynb")
    assert converted.skipped == []
    expected = subprocess.run([sys.executable, "-c", dedent(source)], capture_output=True, text=True, check=True)
    assert run(converted) == expected.stdout


def test_output_that_a_cell_captures_for_another_is_refused() -> None:
    with pytest.raises(SourceError, match=r"has %%capture out in cell 2, line 1, which only IPython") as caught:
        convert(notebook("x = 1", "%%capture out\nprint(x)", "print(out.stdout)"), "n.ipynb")
    assert caught.value.cell == 2
    for used in ("print(1)", "print('output')", "x.out = 3"):
        converted = convert(notebook("%%capture out\nprint(2)", "%%capture --no-stderr\nprint('y')", used), "n.ipynb")
        assert [line.text for line in converted.skipped] == ["%%capture out", "%%capture --no-stderr"]


def test_a_line_of_quotes_does_not_take_long() -> None:
    began = time.process_time()
    for line in ("\\'" * 50_000, "'" + "\\" * 100_001, '"' * 99_999, "a = " * 20_000, "a." * 50_000 + "?"):
        data = notebook(line)
        with contextlib.suppress(SourceError):
            convert(data, "n.ipynb")
    assert time.process_time() - began < 30


def test_a_syntax_error_names_its_cell() -> None:
    with pytest.raises(SourceError, match="cell 2, line 2, column 5") as caught:
        convert(notebook("x = 1", "y = 2\nz = = 3"), "n.ipynb")
    assert caught.value.field == "/spec/entrypoint/value"


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"name": "ir", "language": "R"}},
        {"language_info": {"name": "julia"}},
        {"kernelspec": {"language": {"a": 1}}, "language_info": {"name": "julia"}},
    ],
)
def test_other_languages_are_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(FieldError, match=r"a notebook in (R|julia)\. Only Python notebooks"):
        convert(notebook("x", metadata=metadata), "n.ipynb")


def test_a_language_that_is_no_text_is_passed_over() -> None:
    convert(notebook("x", metadata={"kernelspec": {"language": {"a": 1}}, "language_info": {"name": 3}}), "n.ipynb")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b'{"nbformat": 4}',
        b'{"nbformat": 4, "cells": 3}',
        b'{"nbformat": 3}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_what_is_not_a_notebook(data: bytes) -> None:
    with pytest.raises(FieldError, match="not a Jupyter notebook"):
        convert(data, "n.ipynb")


def test_odd_parts_are_passed_over() -> None:
    content = {
        "nbformat": 4,
        "metadata": None,
        "cells": [None, 3, {"cell_type": "code"}, {"cell_type": "code", "source": 4}],
    }
    with pytest.raises(FieldError, match="has no code"):
        convert(json.dumps(content).encode(), "n.ipynb")
    content["cells"].append({"cell_type": "code", "source": ["print(", 5, "1)"]})
    converted = convert(json.dumps(content).encode(), "n.ipynb")
    assert (converted.cells, converted.kernel) == (1, None)


def test_an_old_notebook() -> None:
    content = {
        "nbformat": 3,
        "nbformat_minor": 0,
        "metadata": {},
        "worksheets": [
            {"cells": [{"cell_type": "code", "input": "print('old')", "language": "python", "outputs": []}]}
        ],
    }
    assert run(convert(json.dumps(content).encode(), "n.ipynb")) == "old\n"


def test_a_name_stays_a_comment(tmp_path: Path) -> None:
    made = tmp_path / "made"
    converted = convert(notebook("x = 1\rprint(x)"), f"a\nopen({str(made)!r}, 'w')\r#.ipynb")
    assert run(converted) == "1\n"
    assert not made.exists()


def test_written_beside_the_notebook(tmp_path: Path) -> None:
    path = tmp_path / "my model.v2.ipynb"
    written = write_script(
        path, convert(notebook("print('\ud83d\ude00 训练', '\\ud800' == chr(0xD800))"), path.name).text
    )
    assert written == script_path(path) == tmp_path / "my model.v2.t9kjob.py"
    output = subprocess.run(
        [sys.executable, written], capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"}
    ).stdout
    assert output.decode() == "😀 训练 True\n"
    assert written.stat().st_mode & 0o777 == 0o666 & ~_umask()
    again = write_script(path, convert(notebook("print(2)"), path.name).text)
    assert "print(2)" in again.read_text()
    assert [entry.name for entry in tmp_path.iterdir()] == [written.name]


def test_a_strangers_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    for theirs in (b"print('mine')\n", b"", b"\xff\xfe"):
        script_path(path).write_bytes(theirs)
        with pytest.raises(Conflict, match=r"n\.t9kjob\.py exists") as caught:
            write_script(path, convert(notebook("x = 1"), path.name).text)
        assert caught.value.hint
        assert script_path(path).read_bytes() == theirs
    script_path(path).unlink()
    os.mkfifo(script_path(path))
    with pytest.raises(Conflict):
        write_script(path, convert(notebook("x = 1"), path.name).text)


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(FieldError) as caught:
        write_script(tmp_path / "gone" / "n.ipynb", convert(notebook("x = 1"), "n.ipynb").text)
    assert (caught.value.code, bool(caught.value.hint)) == ("NotWritable", True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
