"""The command line in Chinese, with the texts that click writes."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

ROOT = Path(__file__).parents[3]
WRONG = [
    ["frobnicate"],
    ["lisst"],
    ["list", "--phse", "Running"],
    ["get", "a", "b"],
    ["get", "a", "--events=1"],
    ["submit", "a.py", "--nodes", "0"],
    ["submit", "a.py", "--nodes", "x"],
    ["submit", "a.py", "--nodes"],
    ["submit", "a.py", "--clean-up", "Some"],
    ["submit", "a.py", "--procs", "auto"],
    ["exec"],
    ["completion"],
    ["data", "frobnicate"],
    ["data"],
    [],
]
PROGRAM = """
import os, sys
from jupyterlab_t9kjob.cli import __main__ as program
program.use_language(os.environ)
for words in {words}:
    print(program.run_program(words), file=sys.stderr)
"""


def said(text: str, *more: str) -> str:
    """Return what a program of Python writes in Chinese."""
    environment = {"LANG": "zh_CN.UTF-8", "PATH": "/usr/bin:/bin", "PYTHONUTF8": "1"}
    done = subprocess.run(
        [sys.executable, *more, text], check=True, capture_output=True, text=True, env=environment, cwd=ROOT
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    subprocess.run([sys.executable, ROOT / ".make" / "catalogue.py", "compile"], check=True)


def english() -> Iterator[str]:
    """Yield the words of click's messages, of the version that is installed."""
    for path in Path(click.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("_", "ngettext"):
                messages = [each.value for each in node.args if isinstance(each, ast.Constant)]
                for part in re.split(r"\{.*?\}|\n", " \n ".join(map(str, messages))):
                    words = part.strip()
                    if re.search(r"[A-Za-z]+(:| [a-z])", words):
                        yield words


def test_the_help_is_chinese_as_a_whole() -> None:
    shown = said("--help", "-m", "jupyterlab_t9kjob.cli")
    assert shown.startswith("用法")
    for words in ("Run PyTorch", "Print the version", "Exit codes", "Show this message", "Options", "Commands"):
        assert words not in shown


def test_no_message_of_click_is_english() -> None:
    words = [*WRONG, ["submit", "--help"], ["top", "--help"]]
    shown = said(PROGRAM.format(words=words), "-c")
    assert shown.count("用法") >= len(WRONG) - 1  # click gives no usage where an option lacks its value
    assert not sorted({part for part in english() if part in shown}), shown
