"""Sizes of files and folders, and the sections of docstrings."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("jupyterlab_t9kjob", "src", "style", ".make")
GENERATED = {"src/api/types.ts", "jupyterlab_t9kjob/_version.py"}
SUFFIXES = {".py", ".ts", ".tsx", ".css"}
MOST_LINES = 400
MOST_MODULES = 15


def sources() -> Iterator[Path]:
    """Yield the files that people write, relative to the root."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            relative = path.relative_to(ROOT)
            if path.suffix in SUFFIXES and "labextension" not in relative.parts and str(relative) not in GENERATED:
                yield relative


def test_no_file_is_too_long() -> None:
    lengths = {str(path): len((ROOT / path).read_text().splitlines()) for path in sources()}
    assert {path: length for path, length in lengths.items() if length > MOST_LINES} == {}


def test_no_folder_has_too_many_modules() -> None:
    counts = Counter(str(path.parent) for path in sources() if path.name not in ("__init__.py", "__main__.py"))
    assert {folder: count for folder, count in counts.items() if count > MOST_MODULES} == {}


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef, is_method: bool) -> list[str]:
    """Return the parameters that a docstring describes: not `self`, and none that is there for a signature only."""
    written = function.args
    names = [each.arg for each in (*written.posonlyargs, *written.args, *written.kwonlyargs)]
    names = names[1:] if is_method and not is_static(function) else names
    names += [each.arg for each in (written.vararg, written.kwarg) if each is not None]
    return [name for name in names if not name.startswith("_")]


def is_static(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in function.decorator_list)


def undescribed(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    """Yield the public functions of several parameters whose docstring does not describe these."""
    for child in node.body:
        if isinstance(child, ast.ClassDef) and not child.name.startswith("_"):
            yield from (f"{child.name}.{name}" for name in undescribed(child))
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            names = parameters_of(child, isinstance(node, ast.ClassDef))
            text = ast.get_docstring(child) or ""
            # “The parameters are those of `read`”, “see `Engine.act`”, “Merge the JSON patch `body` into … `path`”
            described = re.search(r"^Parameters\n---|parameters\s+are\s+those\s+of|\bsee\s+`", text, re.MULTILINE)
            if len(names) > 1 and not (described or all(f"`{name}`" in text for name in names)):
                yield child.name


# The text of this module is part of users' scripts; its docstring describes what all its functions take.
SHORT = {"jupyterlab_t9kjob/launch/notebooks/runtime.py"}


@pytest.mark.parametrize("folder", ["jupyterlab_t9kjob", ".make"])
def test_functions_describe_their_parameters(folder: str) -> None:
    missing = [
        f"{path}: {name}"
        for path in sources()
        if path.suffix == ".py" and path.parts[0] == folder and str(path) not in SHORT
        for name in undescribed(ast.parse((ROOT / path).read_text()))
    ]
    assert missing == []
