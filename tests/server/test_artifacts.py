"""Artifacts and the data flow over runs that the recorder wrote."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from tests.server.conftest import Api
from tests.server.fakes import FakeEngine


@pytest.fixture
def workspace(jp_root_dir: Path, fakes: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(jp_root_dir)
    return jp_root_dir


async def record(api: Api, workspace: Path) -> SimpleNamespace:
    """Record a model that one run makes and another one uses."""
    (workspace / "notes.md").write_text("# Notes")
    model = em.create_artifact("model")
    model.add_file("notes.md")
    with em.create_run(name="train") as train:
        train.mark_output(model)
    with em.create_run(name="test") as test:
        test.mark_input(model)
    folder = workspace / str(model.local)
    flow = (await api("GET", "experiments", "flow", folder="")).json
    ids = {node["name"]: node["id"] for node in flow["nodes"]}
    return SimpleNamespace(folder=folder, flow=flow, model=ids["model"], train=ids["train"], test=ids["test"])


async def test_an_artifact_has_its_files_and_runs(api: Api, workspace: Path) -> None:
    recorded = await record(api, workspace)
    assert [edge["cycle"] for edge in recorded.flow["edges"]] == [False, False]
    shown = (await api("GET", "experiments", "artifacts", recorded.model)).json
    assert [file["path"] for file in shown["files"]] == ["notes.md"]
    assert [run["name"] for run in shown["made_by"]] == ["train"]
    assert [run["name"] for run in shown["used_by"]] == ["test"]
    run = (await api("GET", "experiments", "runs", recorded.train)).json
    assert [(each["id"], each["found"]) for each in run["outputs"]] == [(recorded.model, True)]
    for start in (recorded.model, recorded.test):
        around = (await api("GET", "experiments", "flow", id=start)).json
        assert len(around["nodes"]) == 3
    near = (await api("GET", "experiments", "flow", id=recorded.test, steps=1)).json
    assert len(near["nodes"]) == 2


async def test_files_are_previewed_downloaded_and_summed(
    api: Api, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = await record(api, workspace)
    route = ("experiments", "artifacts", recorded.model)
    preview = (await api("GET", *route, "preview", path="notes.md")).json
    assert (preview["kind"], preview["text"]) == ("markdown", "# Notes")
    (recorded.folder / "classes.csv").write_text("class,images\nForest,600\n")
    table = (await api("GET", *route, "preview", path="classes.csv")).json
    assert (table["kind"], table["columns"], table["has_text"]) == ("table", ["class", "images"], True)
    text = (await api("GET", *route, "preview", path="classes.csv", text="true")).json
    assert (text["kind"], text["text"]) == ("text", "class,images\nForest,600\n")
    assert (await api("GET", *route, "preview", path="classes.csv", text="yes")).status == 400
    (recorded.folder / "classes.csv").unlink()
    (recorded.folder / "x.svg").write_text("<svg><script>alert(1)</script></svg>")
    image = await api("GET", *route, "file", path="x.svg")
    assert image.headers["Content-Disposition"].startswith("attachment")
    assert image.headers["X-Content-Type-Options"] == "nosniff" and image.headers["Content-Type"] == "image/svg+xml"
    assert "default-src 'none'" in image.headers["Content-Security-Policy"]
    summed = (await api("POST", *route, "checksum", body={"path": "notes.md"})).json
    assert (summed["size"], len(summed["md5"]), len(summed["sha256"])) == (7, 32, 64)
    (recorded.folder / "sub").mkdir()
    (recorded.folder / "sub/weights.bin").write_bytes(bytes(1_000_000))
    (recorded.folder / "secret").symlink_to("/etc/passwd")
    whole = await api("GET", *route, "archive")
    assert whole.headers["Content-Disposition"].startswith(f'attachment; filename="{recorded.folder.name}.zip"')
    with zipfile.ZipFile(io.BytesIO(whole.body)) as archive:
        assert archive.testzip() is None
        names = [name.partition("/")[2] for name in archive.namelist()]
        assert names == ["metadata.yaml", "notes.md", "x.svg", "sub/weights.bin", ""]
        assert archive.read(f"{recorded.folder.name}.left-out.txt").splitlines()[1:] == [b"secret"]
        assert archive.read(f"{recorded.folder.name}/notes.md") == b"# Notes"
    with monkeypatch.context() as few:
        few.setattr("jupyterlab_t9kjob.experiments.artifacts.files.MOST_WALKED", 3)
        assert (await api("GET", *route)).json["more_files"] is True
        refused = await api("GET", *route, "archive")
    assert (refused.status, refused.json["code"]) == (413, "TooLarge")
    [node] = [node for node in (await api("GET", "experiments", "flow", folder="")).json["nodes"] if node["files"]]
    assert (node["name"], node["files"], node["size"]) == ("model", 4, 1_000_043)


async def test_what_is_gone_outside_or_no_artifact_is_not_found(api: Api, workspace: Path) -> None:
    recorded = await record(api, workspace)
    route = ("experiments", "artifacts", recorded.model)
    for path in ("gone", "../../../notes.md", "/etc/passwd", "a\0b", "", "x" * 5000):
        for verb in ("preview", "file"):
            assert (await api("GET", *route, verb, path=path)).status in (400, 404)
    assert (await api("POST", *route, "checksum", body={"path": ""})).status == 422
    assert (await api("GET", "experiments", "flow", id="nothing")).status == 404
    assert (await api("GET", "experiments", "flow", folder="../..")).status == 422
    assert (await api("GET", "experiments", "flow", id=recorded.test, steps="x")).status == 400
    assert (await api("GET", "experiments", "artifacts", recorded.train)).status == 404
    shutil.rmtree(recorded.folder)
    assert (await api("GET", *route)).status == 404
    around = (await api("GET", "experiments", "flow", id=recorded.test)).json
    assert [node["found"] for node in around["nodes"] if node["kind"] == "artifact"] == [False]


async def test_an_artifact_is_archived_and_restored(api: Api, workspace: Path) -> None:
    recorded = await record(api, workspace)
    route = ("experiments", "artifacts", recorded.model)
    before = sorted(path.name for path in recorded.folder.iterdir())

    async def archived() -> list[bool]:
        nodes = (await api("GET", "experiments", "flow", id=recorded.train)).json["nodes"]
        detail = (await api("GET", *route)).json
        return [detail["archived"], *(node["archived"] for node in nodes if node["kind"] == "artifact")]

    assert await archived() == [False, False]
    assert (await api("PATCH", *route, body={"archived": True})).json["archived"] is True
    assert await archived() == [True, True]
    assert (await api("PATCH", *route, body={"archived": False})).json["archived"] is False
    assert await archived() == [False, False]
    assert sorted(path.name for path in recorded.folder.iterdir()) == before
    assert (await api("PATCH", "experiments", "artifacts", recorded.train, body={"archived": True})).status == 404
    assert (await api("PATCH", *route, body={"archived": "?"})).status == 422


async def test_artifacts_outside_the_root_are_listed_with_their_place(
    api: Api, workspace: Path, tmp_path: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = tmp_path / "volume"
    (volume / "project").mkdir(parents=True)
    monkeypatch.chdir(volume / "project")
    (volume / "project/notes.md").write_text("# Notes")
    model, elsewhere = em.create_artifact("model"), em.create_artifact("elsewhere")
    model.add_file("notes.md")
    with em.create_run(name="train") as train:
        train.mark_output(model)
        train.mark_output(elsewhere)
    folder, gone = (volume / "project" / str(each.local) for each in (model, elsewhere))
    shutil.rmtree(gone)
    metadata = volume / "project" / str(train.local) / "metadata.yaml"
    metadata.write_text(re.sub(r"localDir: .*elsewhere.*", "localDir: /nowhere/model", metadata.read_text()))
    script = Entrypoint(value=str(volume / "project/train.py"))
    engine.put(spec=JobSpec(name="own", entrypoint=script), started_at=1.0)
    run: dict[str, Any] | None = None
    while run is None:
        runs = (await api("GET", "experiments", "runs", folder="", revision=-1)).json["runs"]
        run = next((each for each in runs if each["name"] == "train"), None)
    nodes = {node["name"]: node for node in (await api("GET", "experiments", "flow", id=run["id"])).json["nodes"]}
    assert [(node["found"], node["path"], node["place"]) for node in (nodes["model"], nodes["elsewhere"])] == [
        (True, None, str(folder)),
        (False, None, "/nowhere/model"),
    ]
    route = ("experiments", "artifacts", nodes["model"]["id"])
    detail = (await api("GET", *route)).json
    assert (detail["place"], detail["path"], [file["path"] for file in detail["files"]]) == (
        str(folder),
        None,
        ["notes.md"],
    )
    assert (await api("GET", *route, "preview", path="notes.md")).json["text"] == "# Notes"
    outputs = (await api("GET", "experiments", "runs", run["id"])).json["outputs"]
    assert [(each["found"], each["place"]) for each in outputs] == [(True, str(folder)), (False, "/nowhere/model")]
    removal = await api("POST", "experiments", "removal", body={"ids": [nodes["model"]["id"]], "dry_run": False})
    assert (removal.status, removal.json["code"], folder.is_dir()) == (409, "OutsideRoot", True)
    (folder / "passwd").symlink_to("/etc/passwd")
    assert (await api("GET", *route, "file", path="passwd")).status == 404


async def test_an_artifact_is_deleted_after_it_was_listed(api: Api, workspace: Path) -> None:
    recorded = await record(api, workspace)
    request = {"ids": [recorded.model, recorded.test], "dry_run": True}
    listed = (await api("POST", "experiments", "removal", body=request)).json
    assert [(item["id"], item["ours"]) for item in listed["items"]] == [(ident, True) for ident in request["ids"]]
    assert listed["items"][0]["files"] == 2 and recorded.folder.is_dir()
    assert (await api("POST", "experiments", "removal", body={**request, "dry_run": False})).json == listed
    assert not recorded.folder.exists()
    assert (await api("POST", "experiments", "removal", body=request)).status == 404
