"""The catalogue of messages, as translators get it and as a language pack brings it back."""

from __future__ import annotations

import ast
import copy
import gettext
import importlib.util
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import jupyterlab_t9kjob
from jupyterlab_t9kjob.languages import catalogue_of

ROOT = Path(__file__).parents[2]
SOURCES = Path(jupyterlab_t9kjob.__file__).parent
CALL = re.compile(r"\.(?:__|_n)\(\s*'((?:[^'\\]|\\.)*)'")
WITH_CONTEXT = re.compile(r"\._p\(\s*'([^'\\]*)',\s*'([^'\\]*)'")


@pytest.fixture(scope="module")
def catalogue() -> Any:
    spec = importlib.util.spec_from_file_location("catalogue", ROOT / ".make" / "catalogue.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def messages(catalogue: Any) -> Any:
    """All messages of the sources; it takes seconds to collect them."""
    return catalogue.collect()


@pytest.fixture(scope="module")
def pack(catalogue: Any, messages: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    catalogue.write_pack(folder, "eo", copy.deepcopy(messages))
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
    contexts = {
        (path.name, f"{context}\x04{message}")
        for path in (ROOT / "src").rglob("*.ts*")
        for context, message in WITH_CONTEXT.findall(path.read_text())
    }
    assert len(contexts) > 20
    used |= contexts
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


PLACEHOLDER = re.compile(r"%\d+|\{\{|\}\}|\{[^{}]*\}")


@pytest.mark.parametrize("locale", ["zh_CN"])
def test_the_translations_of_the_package_are_complete(catalogue: Any, messages: Any, locale: str) -> None:
    """`make catalogue` takes new messages in; they have to be translated then."""
    found = catalogue.read(catalogue.LOCALES / locale / "LC_MESSAGES" / "jupyterlab_t9kjob.po")
    wanted = {(message.context, message.id) for message in messages if message.id}
    there = {(message.context, message.id): message for message in found if message.id}
    assert wanted - there.keys() == set(), "messages are missing: run `make catalogue` and translate them"
    assert there.keys() - wanted == set(), "messages are no longer used: run `make catalogue`"
    problems = []
    for message in there.values():
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        *_, most = message.id if isinstance(message.id, tuple) else (message.id,)
        if message.fuzzy or not all(texts) or any(places(text) != places(most) for text in texts):
            problems.append(message.id)
    assert not problems


def places(text: str) -> Counter[str]:
    return Counter(PLACEHOLDER.findall(text))


def test_compiled_translations_are_those_of_the_file(catalogue: Any) -> None:
    paths = catalogue.compile_all()
    binary, page = (next(path for path in paths if path.suffix == suffix) for suffix in (".mo", ".json"))
    texts = json.loads(page.read_text())
    assert texts[""] == {"domain": "jupyterlab_t9kjob", "language": "zh-CN", "plural_forms": "nplurals=1; plural=0;"}
    server = gettext.translation("jupyterlab_t9kjob", localedir=binary.parents[2], languages=["zh_CN"])
    assert server.gettext("Running") == texts["Running"][0] != "Running"
    assert texts["%1 job"] == [server.ngettext("%1 job", "%1 jobs", 2)] * 2
    assert len(texts) == sum(1 for _ in catalogue.read(binary.with_suffix(".po")))


def test_the_packages_translations_stand_in_for_a_language_pack(catalogue: Any) -> None:
    catalogue.compile_all()
    chinese = catalogue_of(["zh_CN"])
    assert chinese is not None and chinese.gettext("Running") != "Running"
    assert catalogue_of(["xx_YY"]) is None
