"""No code outside an engine compares the name of an engine: what differs is a fact that engines declare."""

from __future__ import annotations

import ast
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from jupyterlab_t9kjob.core.engine.info import EngineFacts
from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.engines.kubernetes import objects
from jupyterlab_t9kjob.engines.local.engine import LocalEngine

PACKAGE = Path(__file__).parents[2] / "jupyterlab_t9kjob"
NAMES = {"local", "t9k", "kubeflow", "jobset", "indexed-job"}


def comparisons(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the names of engines that are compared, matched, or keys of a table."""
    for node in ast.walk(tree):
        parts: list[ast.AST | None] = []
        if isinstance(node, ast.Compare):
            parts = [inner for side in (node.left, *node.comparators) for inner in ast.walk(side)]
        elif isinstance(node, ast.Dict):
            parts = list(node.keys)
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Subscript):
            parts = [node.slice]
        for part in parts:
            if isinstance(part, ast.Constant) and part.value in NAMES:
                yield part


def test_finds_what_it_looks_for() -> None:
    text = "a == 'local'\nb in ('t9k', 'x')\n{'kubeflow': 1}\nc['local']\nd = 'local'"
    assert [part.lineno for part in comparisons(ast.parse(text))] == [1, 2, 3, 4]


def test_no_name_of_an_engine_is_compared() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{part.lineno}"
        for path in PACKAGE.rglob("*.py")
        if "engines" not in path.relative_to(PACKAGE).parts
        for part in comparisons(ast.parse(path.read_text()))
    ]
    assert found == []


def kinds() -> Iterator[type]:
    """Yield the kinds of job objects, each of which has an engine."""
    for module in pkgutil.walk_packages(objects.__path__, f"{objects.__name__}."):
        for one in vars(import_module(module.name)).values():
            if isinstance(one, type) and isinstance(getattr(one, "facts", None), EngineFacts):
                yield one


def test_every_engine_says_what_its_choice_means() -> None:
    found = {one.__name__: one.facts.description for one in (LocalEngine, *kinds())}  # type: ignore[attr-defined]
    assert len(found) >= 5 and len(set(map(str, found.values()))) == len(found)
    assert all(isinstance(text, Text) and str(text).endswith(".") for text in found.values()), found
