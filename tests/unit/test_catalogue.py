"""The catalogue of messages, as translators get it and as a language pack brings it back."""

from __future__ import annotations

import ast
import gettext
import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

import jupyterlab_t9kjob

ROOT = Path(__file__).parents[2]
SOURCES = Path(jupyterlab_t9kjob.__file__).parent
CALL = re.compile(r"\.(?:__|_n)\(\s*'((?:[^'\\]|\\.)*)'")


@pytest.fixture(scope="module")
def catalogue() -> Any:
    spec = importlib.util.spec_from_file_location("catalogue", ROOT / ".make" / "catalogue.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pack(catalogue: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    catalogue.write_pack(folder, "eo")
    return folder / "jupyterlab_language_pack_eo" / "locale"


def test_every_message_is_collected(pack: Path) -> None:
    """The tools overlook a call among the arguments of another."""
    known = json.loads((pack / "eo" / "LC_MESSAGES" / "jupyterlab_t9kjob.json").read_text())
    used = {
        (path.name, call[1])
        for path in (ROOT / "src").rglob("*.ts*")
        for call in CALL.finditer(path.read_text())
        if "\\" not in call[1]
    }
    used |= {
        (path.name, node.args[0].value)
        for path in SOURCES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("_", "_n")
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(used) > 1000
    assert not [found for found in used if found[1] not in known]


def test_a_pack_translates_both_halves(pack: Path) -> None:
    python = gettext.translation("jupyterlab_t9kjob", localedir=pack, languages=["eo"])
    assert python.gettext("Killed ({exit_code})") == "[Ķîļļéð ({exit_code}) ·····]"
    page = json.loads((pack / "eo" / "LC_MESSAGES" / "jupyterlab_t9kjob.json").read_text())
    assert page["%1 taint"] == ["[%1 ţåîñţ ·]", "[%1 ţåîñţš ·]"]
    assert any(key.startswith("schema\x04") for key in page)
