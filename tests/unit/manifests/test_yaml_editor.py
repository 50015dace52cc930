"""Changing values in a YAML text: what does not change stays as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.manifests.text.yaml_editor import edited
from jupyterlab_t9kjob.core.manifests.text.yaml_reader import read_documents
from jupyterlab_t9kjob.core.manifests.text.yaml_writer import to_yaml

DATA = Path(__file__).parent / "data"

TEXT = """\
# What we train
spec:   # first, in an odd order
  # how often
  backoffLimit: 3   # three
  mine: {a: 1, b: [x, "y"]}   # unknown to all
  args: [--lr, '0.1']
  containers:
  # the trainer
  - name: pytorch   # by this name
    image: "a:1"

    env:
      - name: A
        value: 'x'   # quoted
      - {name: B, value: y}
    command:
    - sh
    - -c
    - |
      echo "# no comment"
      exit 1
  # the end of containers
kind: K
metadata:
  name: x
# the end
"""


def value(text: str = TEXT) -> Any:
    return read_documents(text)[0].value


def change(text: str = TEXT, **paths: Any) -> str:
    """Return a text with values set at dotted paths; `...` removes one."""
    wanted = value(text)
    for path, new in paths.items():
        *parents, last = path.split("__")
        at = wanted
        for part in parents:
            at = at[int(part)] if isinstance(at, list) else at[part]
        key: Any = int(last) if isinstance(at, list) else last
        if new is ...:
            del at[key]
        elif isinstance(at, list) and key == len(at):
            at.append(new)
        else:
            at[key] = new
    result = edited(text, wanted)
    assert result is not None and value(result) == wanted
    return result


def lines_changed(result: str, text: str = TEXT) -> tuple[list[str], list[str]]:
    """Return the lines that went and those that came."""
    before, after = text.splitlines(), result.splitlines()
    return [line for line in before if line not in after], [line for line in after if line not in before]


@pytest.mark.parametrize(
    ("paths", "gone", "come"),
    [
        ({"spec__backoffLimit": 4}, ["  backoffLimit: 3   # three"], ["  backoffLimit: 4   # three"]),
        ({"spec__backoffLimit": ...}, ["  backoffLimit: 3   # three"], []),
        ({"spec__containers__0__image": "b: 2"}, ['    image: "a:1"'], ["    image: 'b: 2'"]),
        (
            {"spec__containers__0__env__0__value": "1"},
            ["        value: 'x'   # quoted"],
            ['        value: "1"   # quoted'],
        ),
        ({"spec__containers__0__env__1__value": "z"}, ["      - {name: B, value: y}"], ["      - {name: B, value: z}"]),
        ({"spec__containers__0__env__2": {"name": "C", "value": "c"}}, [], ["      - name: C", "        value: c"]),
        ({"spec__containers__0__env__0": ...}, ["      - name: A", "        value: 'x'   # quoted"], []),
        ({"spec__containers__0__workingDir": "/w"}, [], ["    workingDir: /w"]),
        ({"spec__containers__0__command__1": "-ec"}, ["    - -c"], ["    - -ec"]),
        (
            {"spec__containers__0__command__2": "exit 2"},
            ["    - |", '      echo "# no comment"', "      exit 1"],
            ["    - exit 2"],
        ),
        ({"spec__containers__1": {"name": "side"}}, [], ["  - name: side"]),
        ({"spec__args__1": "0.2"}, ["  args: [--lr, '0.1']"], ['  args: [--lr, "0.2"]']),
        ({"metadata__namespace": "team"}, [], ["  namespace: team"]),
        ({"metadata__labels": {"a": "b"}}, [], ["  labels:", "    a: b"]),
        ({"spec__mine": 1}, ['  mine: {a: 1, b: [x, "y"]}   # unknown to all'], ["  mine: 1"]),
    ],
)  # fmt: skip
def test_only_the_lines_of_a_value_change(paths: dict[str, Any], gone: list[str], come: list[str]) -> None:
    assert lines_changed(change(**paths)) == (gone, come)


def test_a_text_with_the_wanted_value_is_returned_as_it_is() -> None:
    assert edited(TEXT, value()) == TEXT
    assert edited("a: 1\nb: null", {"a": 1}) == "a: 1\nb: null"
    assert edited("a: 1", {"a": True}) == "a: true\n"


def test_anchors_are_kept_and_no_other_value_changes_with_them() -> None:
    text = "a: &x {k: 1}\nb: *x\nc:\n  d: *x # same\n"
    assert change(text, c__e=2) == "a: &x {k: 1}\nb: *x\nc:\n  d: *x # same\n  e: 2\n"
    assert value(change(text, a__k=3))["b"] == {"k": 1}
    assert change(text, b__k=2) == "a: &x {k: 1}\nb:\n  k: 2\nc:\n  d: *x # same\n"
    merged = "base: &b\n  k: 1 # one\nc:\n  <<: *b\n  m: 2\nd: 3 # three\n"
    assert change(merged, d=4) == merged.replace("d: 3", "d: 4")
    assert "# one" in change(merged, c__k=5)


@pytest.mark.parametrize("text", ["a: 1\n---\nb: 2", "- 1", "a: [", "x", "", "a: &a\n  b: 1\na2: *a\na: 1"])
def test_what_cannot_be_changed_is_none(text: str) -> None:
    assert edited(text, {"z": 1}) is None


@pytest.mark.parametrize("name", ["arena.yaml", "seed003.yaml", "seed004-whole.yaml", "t9k-sidecars.yaml"])
def test_manifests_of_users_keep_each_comment(name: str) -> None:
    text = (DATA / name).read_text()
    comments = [line.split("#", 1)[1] for line in text.splitlines() if " #" in line]
    wanted = value(text)
    wanted["metadata"]["labels"] = {**wanted["metadata"].get("labels", {}), "added": "1"}
    wanted["metadata"]["name"] = "another"
    wanted["spec"].setdefault("runPolicy", {})["backoffLimit"] = 9
    groups = wanted["spec"].get("replicaSpecs") or list(wanted["spec"]["pytorchReplicaSpecs"].values())
    container = groups[0]["template"]["spec"]["containers"][0]
    container["image"] = "another:1"
    container.setdefault("env", []).append({"name": "ADDED", "value": "x"})
    result = edited(text, wanted)
    assert result is not None and value(result) == wanted
    assert [line.split("#", 1)[1] for line in result.splitlines() if " #" in line] == comments
    if "&" not in text:
        assert len(result.splitlines()) - len(text.splitlines()) <= 8


SCALARS = st.none() | st.booleans() | st.integers(-9, 99) | st.text("ab: #-\n'\"{[&*|1", max_size=5)
NAMES = st.sampled_from(["a", "name", "env", "args", "spec", "x: y", "1"])
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=12
)
OBJECTS = st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(OBJECTS, OBJECTS)
def test_the_result_always_has_the_wanted_value(before: dict[str, Any], wanted: dict[str, Any]) -> None:
    text = "# begin\n" + to_yaml(before) + "# end\n"
    result = edited(text, wanted)
    if result is not None:
        assert "# begin" in result
        assert _without_nulls(value(result)) == _without_nulls(wanted)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
