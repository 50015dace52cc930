"""A notebook as a script."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, FieldError
from jupyterlab_t9kjob.launch.notebook import HEADER, Converted, convert, script_path, write_script
from jupyterlab_t9kjob.launch.script import SourceError

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


def body(converted: Converted) -> list[str]:
    """The script's lines without header and cell marks."""
    return [
        text for text, (cell, line) in zip(converted.text.splitlines(), converted.places, strict=True) if cell and line
    ]


def run(converted: Converted) -> str:
    return subprocess.run(
        [sys.executable, "-c", converted.text], capture_output=True, text=True, check=True, timeout=60
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
    [
        "%matplotlib inline",
        "!pip install torch",
        "! nvidia-smi",
        "?print",
        "print?",
        "torch.nn.Module??",
        "files = !ls",
        "a, b = %timeit -o f()",
        "pip install torch",
        ",call a b",
        "%%notacell in the middle",
    ],
)
def test_magics_are_commented_out_and_listed(line: str) -> None:
    converted = convert(notebook(f"x = 1\n{line}\nprint(x)"), "n.ipynb")
    assert [(s.cell, s.line, s.text) for s in converted.skipped] == [(1, 2, line)]
    assert body(converted)[1] == f"# {line}"
    assert run(converted) == "1\n"


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


def test_a_line_of_quotes_does_not_take_long() -> None:
    began = time.process_time()
    for line in ("\\'" * 50_000, "'" + "\\" * 100_001, '"' * 99_999, "a = " * 20_000, "a." * 50_000 + "?"):
        data = notebook(line)
        with contextlib.suppress(SourceError):
            convert(data, "n.ipynb")
    assert time.process_time() - began < 5


def test_a_magic_goes_on_after_a_backslash_and_may_be_alone_in_a_block() -> None:
    source = "!pip install \\\n  a \\\n  b\nif True:\n    %cd /tmp\nprint('end')"
    converted = convert(notebook(source), "n.ipynb")
    assert [s.line for s in converted.skipped] == [1, 2, 3, 5]
    assert run(converted) == "end\n"


def test_cell_magics() -> None:
    converted = convert(notebook("\n%%bash\nls |\n  wc", "%%time\nprint('timed')", "%%writefile a.py\nx ="), "n.ipynb")
    assert run(converted) == "timed\n"
    assert [(s.cell, s.text) for s in converted.skipped] == [
        (1, "%%bash"),
        (1, "ls |"),
        (1, "  wc"),
        (2, "%%time"),
        (3, "%%writefile a.py"),
        (3, "x ="),
    ]


def test_display_works_as_in_the_notebook() -> None:
    assert run(convert(notebook("display('shown')"), "n.ipynb")) == "shown\n"
    assert "IPython" not in convert(notebook("screen.display('x')"), "n.ipynb").text.split("# %%")[0].split("\n", 2)[2]


def test_a_syntax_error_names_its_cell() -> None:
    with pytest.raises(SourceError, match="cell 2, line 2, column 5") as caught:
        convert(notebook("x = 1", "y = 2\nz = = 3"), "n.ipynb")
    assert caught.value.field == "/spec/entrypoint/value"


@pytest.mark.parametrize(
    "metadata", [{"kernelspec": {"name": "ir", "language": "R"}}, {"language_info": {"name": "julia"}}]
)
def test_other_languages_are_refused(metadata: dict[str, Any]) -> None:
    with pytest.raises(FieldError, match="Only Python notebooks"):
        convert(notebook("x", metadata=metadata), "n.ipynb")


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
    written = write_script(path, convert(notebook("print('\ud83d\ude00 训练', '\\ud800' == chr(0xD800))"), path.name))
    assert written == script_path(path) == tmp_path / "my model.v2.t9kjob.py"
    output = subprocess.run(
        [sys.executable, written], capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"}
    ).stdout
    assert output.decode() == "😀 训练 True\n"
    assert written.stat().st_mode & 0o777 == 0o666 & ~_umask()
    again = write_script(path, convert(notebook("print(2)"), path.name))
    assert again.read_text().endswith("print(2)\n")
    assert [entry.name for entry in tmp_path.iterdir()] == [written.name]


def test_a_strangers_file_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    for theirs in (b"print('mine')\n", b"", b"\xff\xfe"):
        script_path(path).write_bytes(theirs)
        with pytest.raises(Conflict, match=r"n\.t9kjob\.py exists") as caught:
            write_script(path, convert(notebook("x = 1"), path.name))
        assert caught.value.hint
        assert script_path(path).read_bytes() == theirs
    script_path(path).unlink()
    os.mkfifo(script_path(path))
    with pytest.raises(Conflict):
        write_script(path, convert(notebook("x = 1"), path.name))


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(FieldError) as caught:
        write_script(tmp_path / "gone" / "n.ipynb", convert(notebook("x = 1"), "n.ipynb"))
    assert (caught.value.reason, bool(caught.value.hint)) == ("NotWritable", True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
