"""YAML that somebody pasted: hostile, broken, or with more in it than a job."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.errors import JobError, TooLarge
from jupyterlab_t9kjob.core.manifests import (
    ManifestError,
    Pasted,
    parse,
    places_of,
    problems,
    read_job,
    render,
    to_yaml,
)
from jupyterlab_t9kjob.core.manifests.text.yaml_reader import MOST_BYTES, read_documents
from tests.unit.manifests.strategies import JSON

DATA = Path(__file__).parent / "data"
SEED = (DATA / "seed003.yaml").read_text()
EXAMPLES = int(os.environ.get("T9KJOB_EXAMPLES", "40"))
quick = settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))


def refused(text: str) -> ManifestError:
    with pytest.raises(ManifestError) as error:
        read_job(text)
    assert error.value.message[0].isupper() and error.value.message.endswith(".")
    return error.value


def test_a_text_above_the_limit_is_not_parsed() -> None:
    with pytest.raises(TooLarge) as error:
        read_job(SEED + "# " + "训" * (MOST_BYTES // 3))
    assert error.value.status == 413 and error.value.hint


BOMBS = {
    "laughs": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefghij", "bcdefghijk", strict=True)),
    "long text": "a: &a " + "x" * 900_000 + "\nb: [" + "*a," * 30_000 + "]\n",
    "merges": "a: &a {x: 1}\n"
    + "".join(f"b{i}: &b{i} {{<<: [*{'a' if i == 0 else f'b{i - 1}'}], k{i}: 1}}\n" for i in range(3000)),
    "endless": "a: &a [*a]\n",
    "endless keys": "a: &a {b: *a}\n",
    "deep lists": "[" * 50_000,
    "deep items": "- " * 50_000 + "x",
    "deep objects": "{a: " * 50_000,
    "deep lines": "\n".join(f"{' ' * i}k:" for i in range(1000)),
    "many values": "[" + "1," * 400_000 + "]",
    "long keys": "".join(f"{' ' * i}{'k' * 10_000}{i}:\n" for i in range(50)) + " " * 50 + "- x\n" * 1,
    "many keys": "{" + ",".join(f"k{i}: {{a: 1}}" for i in range(60_000)) + "}",
    "anchors": "".join(f"- &a{i} x\n" for i in range(60_000)),
    "flat": "apiVersion: x\nkind: PyTorchJob\nmetadata:\nspec:\nspec:\n" + "containers:\n- name: x\n" * 20_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_do_not_go_off(name: str) -> None:
    before = time.process_time()
    error = refused(BOMBS[name])
    assert error.hint or error.code in ("EndlessAlias", "TooDeep", "WrongKind")
    # CPU time in seconds, with much to spare: a manifest that is expanded takes minutes or all memory.
    assert time.process_time() - before < 120


def test_aliases_that_mean_well_are_followed() -> None:
    text = SEED.replace("limits: # 限制量", "limits: &amounts # 限制量")
    text = (
        text.split("            requests:")[0]
        + "            requests: *amounts\n"
        + SEED[SEED.index("          volumeMounts") :]
    )
    resources = read_job(text).spec.replica_specs[0].resources
    assert resources.cpu.request == resources.cpu.limit == "8"


def test_equal_keys_are_named_with_their_lines() -> None:
    error = refused(
        SEED.replace("  torchrunConfig:", "  runPolicy: {}\n  runPolicy: {backoffLimit: 1}\n  torchrunConfig:")
    )
    assert (error.line, error.column, error.field) == (19, 3, "/manifest/spec/runPolicy")
    assert error.message == "Line 19, column 3: runPolicy stands twice in spec, first in line 18."


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("kind: [", "BadYaml", 2, 1),
        ("kind: a: b", "BadYaml", 1, 8),
        ("kind:\n\tname: x", "BadYaml", 2, 1),
        ("kind: 'x", "BadYaml", 1, 9),
        ("kind: !!python/object/apply:os.system [x]", "Tag", 1, 7),
        ("kind: !!binary aGk=", "Tag", 1, 7),
        ("? [a]\n: b", "BadKey", 1, 3),
        ("a: *nothing", "UnknownAlias", 1, 4),
        ("a: {<<: 5}", "BadMerge", 1, 5),
        ("", "Empty", None, None),
        ("# nothing\n---\n---\n", "Empty", None, None),
        ("kind: \x00", "BadYaml", None, None),
        ("kind: \ud800", "BadYaml", None, None),
        ("just words", "InvalidManifest", 1, 1),
        ("- a\n- b", "InvalidManifest", 1, 1),
        ("kind: TFJob\napiVersion: kubeflow.org/v1", "WrongKind", 1, 1),
        ("kind: {a: b}", "WrongKind", 1, 1),
        ("kind: 5", "WrongKind", 1, 1),
        ("spec: {torchrunConfig: {}}", "NoKind", 1, 1),
        ("kind: PyTorchJob\nspec: {}", "NoReplicas", 2, 1),
        ("kind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Master: {replicas: one}}}", "WrongType", 2, 39),
        ("kind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Master: {}}}", "NoContainer", 2, 30),
        ("kind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Other: {}}}", "NoContainer", 2, 30),
        ("kind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Other: no}}", "NoContainer", 2, 30),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, reason: str, line: int | None, column: int | None) -> None:
    error = refused(text)
    assert (error.code, error.line, error.column) == (reason, line, column)
    if line is not None:
        assert error.message.startswith(f"Line {line}, column {column}: ")


def test_a_flat_text_that_can_not_be_mended_is_explained() -> None:
    flat = "\n".join(line.strip() for line in SEED.replace("PyTorchTrainingJob", "Other").splitlines())
    error = refused(flat)
    assert error.code == "NoIndentation" and error.hint


def test_values_are_what_kubernetes_takes_them_for() -> None:
    text = (
        "[yes, No, 010, 0o10, 0x1F, 1e3, 1:30, 2024-01-01, ~, '1', +5, -0, .5, 1_000, .nan, 08, 99999999999999999999]"
    )
    assert read_documents(text)[0].value == [
        True, False, 8, 8, 31, 1000.0, "1:30", "2024-01-01", None, "1", 5, 0, 0.5, "1_000", ".nan", 8.0,
        99999999999999999999.0,
    ]  # fmt: skip


def test_a_value_without_quotes_is_pointed_at() -> None:
    error = refused(SEED.replace("workingDir: /t9k", "env: [{name: DEBUG, value: yes}]\n          workingDir: /t9k"))
    assert error.field == "/manifest/spec/replicaSpecs/0/template/spec/containers/0/env/0/value"
    assert error.line == 36 and error.hint == "Write it in quotes."
    assert "value must be text, and is true or false." in error.message


def test_of_several_documents_the_job_is_taken() -> None:
    others = "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\ndata: {password: c2VjcmV0}\n"
    read = read_job(f"{others}---\n{SEED}\n---\nkind: ConfigMap\n---\n{SEED.replace('mnist #', 'second #')}")
    assert read.spec.name == "mnist"
    (note,) = read.notes
    assert note.code == "LeftOut" and "c2Vj" not in note.message
    assert "Secret “key”, ConfigMap and PyTorchTrainingJob “second”" in note.message
    listed = json.dumps({"kind": "List", "items": [{"kind": "Secret"}, read.manifest]})
    assert read_job(listed).spec == read.spec


def test_unknown_fields_are_noted_and_kept() -> None:
    text = SEED.replace("workingDir:", "workdir: /x\n          workingDir:").replace("maxRestarts", "maxRestart")
    read = read_job(text)
    unknown = {note.field: note for note in read.notes if note.code == "UnknownField"}
    assert [note.line for note in unknown.values()] == [20, 36]
    assert unknown["/manifest/spec/torchrunConfig/maxRestart"].hint == "Did you mean maxRestarts?"
    again = render(read.spec, "t9k")["spec"]
    assert again["torchrunConfig"]["maxRestart"] == 3
    assert again["replicaSpecs"][0]["template"]["spec"]["containers"][0]["workdir"] == "/x"


@pytest.mark.parametrize(
    ("version", "codes"),
    [("batch.tensorstack.dev/v1", ["OtherVersion"]), ("batch.tensorstack.dev/v1beta1", [])],
)
def test_another_version_is_read_with_a_warning(version: str, codes: list[str]) -> None:
    read = read_job(SEED.replace("batch.tensorstack.dev/v1beta1", version))
    assert [note.code for note in read.notes] == codes


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("WANDB_API_KEY", "0123456789abcdef", True),
        ("GIT_SYNC_PASSWORD", "yourpwd", True),
        ("MY_TOKEN", "abcd", True),
        ("URL", "https://jo:secret@example.org/x.git", True),
        ("X", "ghp_" + "a" * 36, True),
        ("X", "AKIAIOSFODNN7EXAMPLE", True),
        ("X", "-----BEGIN RSA PRIVATE KEY-----\nabc", True),
        ("TOKENIZERS_PARALLELISM", "false-ish", False),
        ("HF_TOKEN_PATH", "/secrets/token", False),
        ("API_KEY", "/run/secrets/key", False),
        ("API_KEY", "$(OTHER)", False),
        ("PAD_TOKEN", "<pad>", False),
        ("MAX_TOKENS", "2048", False),
        ("PWD", "home/jo", False),
        ("URL", "https://example.org:8080/a@b", False),
    ],
)
def test_a_secret_in_plain_sight_is_pointed_at(name: str, value: str, found: bool) -> None:
    manifest = read_job(SEED).manifest
    assert manifest is not None
    container = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": name, "value": value}]
    container["args"] += [f"--{name.lower()}={value}", f"--{name.lower()}", value]
    checks = [check for check in problems(parse(manifest).spec, "t9k") if check.code == "PlainSecret"]
    assert {check.field for check in checks} >= (
        {"/spec/env/0/value", "/spec/args/6", "/spec/args/8"} if found else set()
    )
    assert bool(checks) == found
    assert not any(value in check.message + (check.hint or "") for check in checks)


@quick
@given(st.text("apiVersionkdsc:- \n\t\"'{}[]&*!|>#?,@%~0123…", max_size=60) | st.text(max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    for whole in (text, f"{SEED}\n{text}", SEED.replace("node", text, 1)):
        try:
            assert isinstance(read_job(whole), Pasted)
        except JobError as error:
            assert error.message and error.status in (413, 422)


MANIFESTS = [
    read_job((DATA / name).read_text()).manifest for name in ("seed003.yaml", "arena.yaml", "t9k-sidecars.yaml")
]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: list[tuple[Any, ...]] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        inner += _places(item, (*path, key))
    return [path, *inner]


def test_a_mount_and_a_volume_without_a_name_are_no_pair() -> None:
    manifest = json.loads(json.dumps(read_job(SEED).manifest))
    pod = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]
    for entry in (pod["containers"][0]["volumeMounts"][1], pod["volumes"][1]):
        entry["name"] = None
    spec = parse(manifest).spec
    assert spec.shm is None and len(spec.mounts) == 1


@settings(quick, max_examples=max(100, EXAMPLES))
@given(manifest=st.sampled_from(MANIFESTS), data=st.data())
def test_any_manifest_is_read_or_refused_in_words(manifest: Any, data: st.DataObject) -> None:
    manifest = json.loads(json.dumps(manifest))
    for path in data.draw(st.lists(st.sampled_from(_places(manifest)[1:]), min_size=1, max_size=2)):
        place = manifest
        try:
            for part in path[:-1]:
                place = place[part]
            place[path[-1]] = data.draw(JSON | st.sampled_from(["\0", "x" * 5000, 2**70, -1, 1.5, "9" * 30]))
        except (KeyError, IndexError, TypeError):
            continue
    try:
        parsed = parse(manifest)
    except ManifestError as error:
        assert error.message and (error.field or "").startswith("/manifest")
        return
    again = render(parsed.spec, parsed.kind)
    assert parse(again).spec == parsed.spec
    assert read_job(to_yaml(again)).spec == parsed.spec
    problems(parsed.spec, parsed.kind)


def test_yaml_is_written_as_people_write_it() -> None:
    manifest = json.loads(json.dumps(read_job(SEED).manifest, sort_keys=True))
    container = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    container["args"] = ["-c", "set -e\npython train.py\n", "yes", "1e3", "训练", "x " * 100]
    text = to_yaml(manifest)
    lines = [line.strip() for line in text.splitlines()]
    order = ["apiVersion", "kind", "metadata", "name", "spec", "torchrunConfig", "replicaSpecs", "- type", "replicas"]
    places = [next(i for i, line in enumerate(lines) if line.startswith(f"{key}:")) for key in order]
    assert places == sorted(places)
    assert "          - |\n            set -e\n            python train.py\n" in text
    assert '- "yes"\n' in text and '- "1e3"\n' in text and "- 训练\n" in text
    assert read_job(text).manifest == manifest


@quick
@given(st.dictionaries(st.text(min_size=1), st.text() | JSON, max_size=4))
def test_yaml_that_was_written_reads_back(value: dict[str, Any]) -> None:
    assert read_documents(to_yaml(value))[0].value == json.loads(json.dumps(value))


def test_fields_are_found_in_the_text() -> None:
    torchrun = "/manifest/spec/torchrunConfig"
    line = SEED.splitlines().index("  torchrunConfig:") + 1
    assert places_of(SEED, [f"{torchrun}/nowhere", torchrun]) == [(line, 3), (line, 3)]
    assert places_of(f"a: 1\n---\n{SEED}", [torchrun]) == [(line + 2, 3)]
    assert places_of("kind: [", [torchrun]) == [None]


def test_a_later_state_is_written_in_the_same_order() -> None:
    """An API server sorts the keys, and a reader compares the two line by line."""
    first = {"spec": {"b": 1, "a": [{"z": 1, "y": 2}]}, "metadata": {"annotations": {"n": "1", "m": "2"}}}
    later = {"metadata": {"annotations": {"l": "0", "m": "2", "n": "1"}}, "spec": {"a": [{"y": 2, "z": 1}, 3], "b": 1}}
    text = to_yaml(later, like=first)
    assert read_documents(text)[0].value == later
    assert [line for line in text.splitlines() if line not in to_yaml(first).splitlines()] == ['    l: "0"', "  - 3"]
    kept = [line for line in text.splitlines() if line in to_yaml(first).splitlines()]
    assert kept == to_yaml(first).splitlines()


@quick
@given(value=st.dictionaries(st.text(min_size=1), JSON, max_size=4), other=JSON)
def test_the_order_of_another_changes_no_value(value: dict[str, Any], other: Any) -> None:
    assert read_documents(to_yaml(value, like=other))[0].value == json.loads(json.dumps(value))
