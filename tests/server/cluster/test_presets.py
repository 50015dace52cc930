"""Presets and locks through the REST API: the user's file, the administrator's settings, and every door to a job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.presets.identifiers import preset_id
from tests.server.cluster.conftest import Place

REASON = "Only scanned images. <b>Ask</b> gpu-admins."
SIZE = {"/replica_specs/0/replicas": 2, "/replica_specs/0/resources": {"device": {"count": 4}}}


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {
        "home": str(tmp_path / "home"),
        "presets": [{"name": "Team", "values": SIZE, "engines": ["t9k"]}, {"name": "Bad", "values": {"/x": 1}}],
        "locks": [
            {"field": "/runtime/image", "allowed": ["scan/torch:2"], "reason": REASON, "engines": ["t9k"]},
            {"field": "/total_replicas", "maximum": 3, "reason": "At most 3 nodes."},
            {"field": "/runtime/imag", "value": "a", "reason": "a typo"},
        ],
    }
    return jp_server_config


async def test_every_door_refuses_a_job_that_breaks_a_lock(cluster: Place) -> None:
    cluster.write("work/train.py")
    form = await cluster.form()
    assert form["spec"]["runtime"]["image"] == "scan/torch:2", "a fresh form observes the locks"
    spec = form["spec"] | {"runtime": {"image": "evil:1"}}
    # the form, its preview, and a dry run
    refused = await cluster.refused("Locked", "/spec/runtime/image", spec=spec)
    assert "evil:1 is not allowed" in refused["message"] and REASON in refused["hint"]
    check = (await cluster.checks(spec, "error"))["Locked"]
    assert (check["field"], check["message"]) == ("/spec/runtime/image", refused["message"])
    assert check["fix"]["changes"] == {"/spec/runtime/image": "scan/torch:2"}
    dry = await cluster.create(spec=spec, dry_run=True)
    assert "Locked" in [line["code"] for line in dry.json["checks"]]
    # a replica type's own image, and the edited manifest
    worker = spec["replica_specs"][0]
    of_type = form["spec"] | {"replica_specs": [worker | {"runtime": {"image": "evil:1"}}]}
    await cluster.refused("Locked", "/spec/replica_specs/0/runtime/image", spec=of_type)
    manifest = yaml.safe_load((await cluster.preview(spec=form["spec"])).json["manifest"])
    container = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    container["image"] = "evil:1"
    await cluster.refused("Locked", "/spec/runtime/image", manifest=yaml.safe_dump(manifest))
    said = await cluster.preview(manifest=yaml.safe_dump(manifest), spec=form["spec"])
    assert "Locked" in [line["code"] for line in said.json["checks"]]
    await cluster.refused("Locked", "/spec/runtime/image", spec=form["spec"] | {"extra": {"spec": manifest["spec"]}})
    container["image"] = "scan/torch:2"
    manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["initContainers"] = [{"name": "i", "image": "evil:1"}]
    await cluster.refused("Locked", "/spec/extra", manifest=yaml.safe_dump(manifest))
    await cluster.refused("Locked", "/spec/replica_specs/0/replicas", spec=form["spec"] | {
        "replica_specs": [worker | {"replicas": 4}]
    })  # fmt: skip
    # a sweep, in its preview and at its creation
    sweep = {"fields": [{"field": "/runtime/image", "values": "scan/torch:2, evil:2"}], "at_a_time": 2}
    body = {"engine": "t9k", "spec": form["spec"] | {"name": "s"}, "sweep": sweep}
    expanded = (await cluster.api("POST", "launch", "sweep", body=body)).json
    assert "Locked" in [line["code"] for line in expanded["checks"] if line["level"] == "error"]
    created = await cluster.api("POST", "sweeps", body=body | {"request_id": "request-0001"})
    assert (created.status, created.json["code"]) == (422, "Locked") and not cluster.t9k.submitted
    # a try, which runs on this machine
    tried = await cluster.api("POST", "tries", body={"engine": "t9k", "spec": spec})
    assert (tried.status, tried.json["code"]) == (422, "Locked")
    # another engine has no such lock
    other = form["spec"] | {"runtime": {"image": "evil:1"}}
    assert (await cluster.create("kubeflow", spec=other)).status == 201


async def test_a_job_from_before_the_lock_can_not_be_run_again(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    job = (await cluster.create(spec=spec)).json
    uid = job["uid"]
    old = cluster.t9k.known[uid]
    cluster.t9k.known[uid] = old.model_copy(
        update={
            "spec": old.spec.model_copy(update={"runtime": old.spec.runtime.model_copy(update={"image": "evil:1"})}),
            "actions": ["rerun"],
        }
    )
    answer = await cluster.api("POST", "jobs", job["id"], "rerun")
    assert (answer.status, answer.json["code"], answer.json["field"]) == (422, "Locked", "/spec/runtime/image")
    assert len(cluster.t9k.submitted) == 1


async def test_presets_are_saved_listed_applied_renamed_and_deleted(cluster: Place, tmp_path: Path) -> None:
    api, file = cluster.api, tmp_path / "home" / "presets.json"
    listed = (await api("GET", "launch", "presets", engine="t9k")).json
    assert [(preset["name"], preset["source"]) for preset in listed["presets"]] == [
        ("Team", "administrator"),
        ("Bad", "administrator"),
    ]
    assert [(lock["field"], lock["rule"]) for lock in listed["locks"]] == [
        ("/runtime/image", "allowed"),
        ("/total_replicas", "maximum"),
    ]
    assert [problem["name"] for problem in listed["problems"]] == ["Bad", "/runtime/imag"]
    name = "4 × <img src=x>/.. A100 “bf16”"
    body = {"name": name, "values": SIZE, "args": ["--lr", "0.1"]}
    saved = await api("POST", "launch", "presets", body=body)
    assert saved.status == 201 and saved.json["source"] == "own" and file.stat().st_mode & 0o777 == 0o600
    again = await api("POST", "launch", "presets", body=body)
    assert (again.status, again.json["code"]) == (409, "PresetExists") and name in again.json["message"]
    assert (await api("POST", "launch", "presets", body=body | {"replace": True, "args": []})).status == 201
    other = (await api("POST", "launch", "presets", body={"name": "b", "values": {"/keep_logs": False}})).json
    taken = await api("POST", "launch", "presets", other["id"], body={"name": name})
    assert (taken.status, taken.json["code"]) == (409, "PresetExists")
    renamed = await api("POST", "launch", "presets", other["id"], body={"name": "c"})
    assert renamed.json["name"] == "c" and renamed.json["id"] != other["id"]
    listed = (await api("GET", "launch", "presets", engine="t9k")).json
    assert [preset["name"] for preset in listed["presets"]][:2] == [name, "c"]
    assert (await api("DELETE", "launch", "presets", renamed.json["id"])).status == 204
    gone = await api("DELETE", "launch", "presets", renamed.json["id"])
    assert (gone.status, gone.json["code"]) == (404, "NoSuchPreset")
    for bad in ("", " a", "a\nb", "a\u202e\0", "x" * 1_000_000, None):
        answer = await api("POST", "launch", "presets", body={"name": bad, "values": SIZE}, contract=False)
        assert (answer.status, answer.json["field"]) == (422, "/name"), bad
    assert [entry["name"] for entry in json.loads(file.read_text())["presets"]] == [name]


async def test_a_preset_applies_what_it_can_and_says_the_rest(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    values = SIZE | {
        **{"/runtime/image": "gone:1", "/old_field": 1, "/scheduling/priority": 1000, "/name": "x"},
        **{"/labels/a~1b": "c", "/env": [{"name": "NCCL_DEBUG", "value": "INFO"}], "/torchrun/x~0": 1},
    }
    body = {"engine": "t9k", "spec": spec | {"env": [{"name": "A", "value": "1"}]}, "values": values}
    answer = await cluster.api("POST", "launch", "applied-preset", body=body)
    assert answer.status == 200
    got, notes = answer.json["spec"], answer.json["notes"]
    assert got["replica_specs"][0]["replicas"] == 2 and got["replica_specs"][0]["resources"]["device"]["count"] == 4
    assert got["runtime"]["image"] == "gone:1" and got["labels"] == {"a/b": "c"} and got["name"] == spec["name"]
    assert [each["name"] for each in got["env"]] == ["A", "NCCL_DEBUG"]
    assert sorted(note["field"] for note in notes) == [
        "/spec/name", "/spec/old_field", "/spec/scheduling/priority", "/spec/torchrun/x~0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"presets": [\n  {"name": "a",}\n]}', 2, "no JSON"),
        ("[]", 1, "no list"),
        ("\xff", 1, "not UTF-8"),
        ("[" * 100_000, None, "no JSON"),
        ("{}" + " " * (1 << 20), None, "larger"),
    ],
)
async def test_a_broken_file_is_reported_and_kept(
    cluster: Place, tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    file = tmp_path / "home" / "presets.json"
    await cluster.api("GET", "launch", "presets")
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode("latin-1"))
    listed = await cluster.api("GET", "launch", "presets")
    problem = next(each for each in listed.json["problems"] if each["source"] == "own")
    assert (
        listed.status == 200 and words in problem["message"] and (problem["path"], problem["line"]) == (str(file), line)
    )
    answer = await cluster.api("POST", "launch", "presets", body={"name": "a", "values": SIZE})
    assert (answer.status, answer.json["code"]) == (409, "BrokenPresets") and str(file) in answer.json["hint"]
    assert file.read_bytes() == text.encode("latin-1")


async def test_entries_with_an_error_stay_in_the_file(cluster: Place, tmp_path: Path) -> None:
    file = tmp_path / "home" / "presets.json"
    entries = [
        {"name": "a", "values": SIZE},
        {"name": "a", "values": SIZE},
        {"name": 3},
        "x",
        {"name": "o", "values": {"/old": 1}},
    ]
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"presets": entries}, indent=1))
    listed = (await cluster.api("GET", "launch", "presets")).json
    assert [preset["name"] for preset in listed["presets"] if preset["source"] == "own"] == ["a", "o"]
    assert len([each for each in listed["problems"] if each["source"] == "own" and each["line"] > 1]) == 4
    assert (await cluster.api("POST", "launch", "presets", body={"name": "b", "values": SIZE})).status == 201
    assert json.loads(file.read_text())["presets"][:5] == entries


async def test_values_of_the_wrong_type_are_reported(cluster: Place, tmp_path: Path) -> None:
    """Values come from files: nothing in them is an error of the server."""
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    for value in ([{"name": []}], [{"name": {}}, 1], {"name": 1}, None, "x"):
        body = {"engine": "t9k", "spec": spec, "values": {"/env": value, "/keep_logs": False}}
        answer = await cluster.api("POST", "launch", "applied-preset", body=body)
        assert (answer.status, answer.json["spec"]["keep_logs"]) == (200, False), answer.json
        assert [note["field"] for note in answer.json["notes"]] == ["/spec/env"]
    file = tmp_path / "home" / "presets.json"
    file.parent.mkdir(exist_ok=True)
    text = json.dumps({"presets": [{"name": "empty", "values": {}}]})
    file.write_text(text)
    renamed = await cluster.api("POST", "launch", "presets", preset_id("own", "empty"), body={"name": "b"})
    assert (renamed.status, renamed.json["code"]) == (409, "BrokenPreset") and str(file) in renamed.json["hint"]
    assert file.read_text() == text


class TestAFileThatCannotBeRead:
    """Nobody knows the locks then, so no job is submitted."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
        jp_server_config["T9kJobApp"]["presets_file"] = str(tmp_path / "locks.yaml")
        return jp_server_config

    async def test_no_job_is_submitted(self, cluster: Place, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        file = tmp_path / "locks.yaml"
        cluster.write("work/train.py")
        spec = (await cluster.form())["spec"]
        for text in (None, "- a\n", "locks: ["):
            if text is not None:
                file.write_text(text)
            answer = await cluster.create(spec=spec)
            assert (answer.status, answer.json["code"]) == (503, "LocksUnknown"), answer.json
            assert str(file) in answer.json["hint"]
            check = (await cluster.checks(spec, "error"))["LocksUnknown"]
            assert check["message"] == answer.json["message"]
            tried = await cluster.api("POST", "tries", body={"engine": "t9k", "spec": spec})
            assert (tried.status, tried.json["code"]) == (503, "LocksUnknown")
        said = [record.getMessage() for record in caplog.records if str(file) in record.getMessage()]
        assert sum("No job can be submitted until" in line for line in said) == 3, said
        file.write_text("locks:\n- {field: /keep_logs, value: true, reason: because}\n")
        answer = await cluster.create(spec={**spec, "keep_logs": False})
        assert (answer.status, answer.json["field"]) == (422, "/spec/keep_logs")
        file.write_text("locks: [")
        answer = await cluster.create(spec={**spec, "keep_logs": False})
        assert (answer.status, answer.json["code"]) == (422, "Locked"), "what was read once stays"
        assert (await cluster.create(spec=spec)).status == 201
