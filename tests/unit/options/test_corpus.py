"""Options of the scripts in ``scripts/<family>/<name>``, compared with what the real libraries know about them.

``expected.json`` has the options as ``record_expected.py`` wrote them, the number of options that a library defines
(``library``), and the lines with options that can't be read (``unread``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from jupyterlab_t9kjob.launch.model import ScriptOption
from jupyterlab_t9kjob.launch.options.model import OptionsRead
from jupyterlab_t9kjob.launch.options.reader import read_options

SCRIPTS = Path(__file__).parent / "scripts"
FOLDERS = sorted(path.parent for path in SCRIPTS.glob("*/*/expected.json"))
Facts = set[tuple[Any, ...]]


def read(folder: Path) -> OptionsRead:
    """Return what is read from a script of the corpus."""
    script = next(folder.rglob("train.py"))
    return read_options(folder, script, script.read_text())


def plain(text: str | None) -> Any:
    """Return a default for comparison: numbers by value, empty collections as no default."""
    try:
        return float(text or "")
    except ValueError:
        return None if text in (None, "", "{}", "[]") else text


def facts(options: list[dict[str, Any]]) -> Facts:
    """Return the facts about options: kind, default, choices, required and help of each."""
    found: Facts = set()
    for option in options:
        flags = option.get("flags") or [option.get("dest", "").replace("sub", "")]
        key = (option.get("command"), *sorted(flags))
        found |= {
            (key, "kind", option["kind"]),
            (key, "default", plain(option.get("default"))),
            (key, "choices", tuple(option.get("choices", ()))),
            (key, "required", bool(option.get("required"))),
            (key, "help", re.sub(r" ?\(default: .*\)$", "", option.get("help") or "")),
        }
    return found


def as_dict(option: ScriptOption) -> dict[str, Any]:
    """Return an option that was read as ``expected.json`` has it."""
    off = option.off_flag if option.off_flag and "=" not in option.off_flag else None
    flags = [*option.flags, *([off] if off else [])]
    if off and off.startswith("--no_"):
        flags.append(off.replace("_", "-"))
    return {**option.model_dump(), "flags": list(dict.fromkeys(flags))}


def score(folder: Path) -> tuple[float, Facts, Facts]:
    """Return F of a script, with the facts that are missing and those that are wrong."""
    expected = json.loads((folder / "expected.json").read_text())
    result = read(folder)
    wanted = facts(expected["options"])
    got = facts([as_dict(option) for option in result.options if option.library is None])
    right = len(wanted & got)
    total = len(wanted) + len(got)
    return (2 * right / total if total else 1.0), wanted - got, got - wanted


def test_the_corpus_has_scripts_of_every_style() -> None:
    families = {folder.parent.name for folder in FOLDERS}
    assert len(FOLDERS) >= 60
    assert {"argparse", "hf", "fire", "hydra", "jsonargparse", "lightning", "absl", "click", "typer"} < families
    assert {"tyro", "simple_parsing", "sys_argv", "nanogpt", "deepspeed"} < families


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_options_are_those_of_the_library(folder: Path) -> None:
    expected = json.loads((folder / "expected.json").read_text())
    result = read(folder)
    value, missing, wrong = score(folder)
    names = {fact[0] for fact in facts(expected["options"])}
    invented = {fact[0] for fact in wrong} - names
    assert not invented, "invented options"
    assert not {fact for fact in wrong if fact[1] == "kind"}, "kinds of options"
    assert value >= 0.9, f"missing {missing}, wrong {wrong}"
    assert len([option for option in result.options if option.library]) == expected.get("library", 0)
    assert sorted(unread.line for unread in result.unread) == expected.get("unread", [])


def test_the_mean_score_of_all_families() -> None:
    scores: dict[str, list[float]] = {}
    for folder in FOLDERS:
        scores.setdefault(folder.parent.name, []).append(score(folder)[0])
    assert mean(value for values in scores.values() for value in values) >= 0.97
    assert min(mean(values) for values in scores.values()) >= 0.9
