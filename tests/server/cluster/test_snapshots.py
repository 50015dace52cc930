"""Snapshots of code for jobs in a cluster: they lie on the volume of the code, which lab and job see differently."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import parse, render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.snapshots.hashes import digest_of
from jupyterlab_t9kjob.snapshots.listing import list_files
from jupyterlab_t9kjob.snapshots.store import SnapshotStore
from tests.server.cluster.conftest import Place
from tests.server.conftest import eventually


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "home")}
    return jp_server_config


async def test_the_copy_lies_on_the_volume(cluster: Place) -> None:
    cluster.write("work/proj/train.py")
    cluster.write("work/proj/model.py", "x = 1\n")
    spec = (await cluster.form("work/proj/train.py"))["spec"]
    spec["source"] = {"kind": "snapshot", "folder": "/t9k/mnt/proj"}
    seen = (await cluster.preview(spec=spec, path="work/proj/train.py")).json
    assert not [line for line in seen["checks"] if line["level"] == "error"], seen["checks"]
    answer = await cluster.create(spec=spec, path="work/proj/train.py")
    assert answer.status == 201, answer.json
    [(submitted, _namespace, _edited)] = cluster.t9k.submitted
    taken = submitted.source.taken
    assert taken.path == f"/t9k/mnt/.t9kjob/code/{taken.digest}/files"
    here = cluster.root / "work/.t9kjob/code" / taken.digest / "files"
    assert sorted(path.name for path in here.iterdir()) == ["model.py", "train.py"]
    assert f"{taken.path}/train.py" in seen["manifest"], "the preview names the copy that the submission makes"

    manifest = render(submitted, "t9k")
    container = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]
    assert container["workingDir"] == "/t9k/mnt/proj"
    assert {"name": "PYTHONPATH", "value": taken.path} in container["env"]
    assert parse(manifest).spec == submitted

    # A submitted manifest names the copy, and is submitted again as it is.
    again = {**submitted.model_dump(mode="json"), "name": "train-2"}
    cluster.write("work/proj/model.py", "x = 2\n")
    answer = await cluster.create(spec=again, request_id="request-0002")
    assert answer.status == 201, answer.json
    assert cluster.t9k.submitted[1][0] == JobSpec.model_validate(again)


@pytest.fixture
def leftover(place: Place, tmp_path: Path) -> Path:
    """Make the copy and note of a job that was removed while no server ran; return the copy's folder."""
    file = place.write("work/old/train.py")
    copies = place.root / "work/.t9kjob/code"
    copies.mkdir(parents=True)
    store = SnapshotStore(copies)
    ident = "t9k:team:old:uid-1"
    digest = digest_of(store.add(file.parent, list_files(file.parent, []).files, ident))
    notes = tmp_path / "home" / "code-jobs"
    notes.mkdir(parents=True)
    note = json.dumps({"id": ident, "store": str(copies), "digest": digest})
    (notes / f"{hashlib.sha256(ident.encode()).hexdigest()[:40]}.json").write_text(note)
    return copies / digest


async def test_the_copy_of_a_removed_job_goes_at_the_next_start(leftover: Path, cluster: Place) -> None:
    cluster.write("work/proj/train.py")
    assert (await cluster.api("GET", "jobs")).status == 200
    await eventually(lambda: not leftover.exists())


async def test_a_folder_on_no_volume(cluster: Place) -> None:
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"]
    spec["source"] = {"kind": "snapshot", "folder": "/elsewhere"}
    checks = await cluster.checks(spec, "error")
    assert checks["SnapshotNotMounted"]["field"] == "/spec/source/folder"
    local = (await cluster.form("work/train.py", "local"))["spec"]
    local["source"] = {"kind": "snapshot", "folder": str(cluster.root / "work")}
    moved = (await cluster.form("work/train.py", "t9k", spec=local, crossed_from="local"))["spec"]
    assert moved["source"]["folder"] == "/t9k/mnt"


async def test_users_of_one_volume_have_stores_of_their_own(cluster: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster.write("work/proj/train.py")
    (cluster.root / "work/.t9kjob/code").mkdir(parents=True)
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    spec = (await cluster.form("work/proj/train.py"))["spec"]
    spec["source"] = {"kind": "snapshot", "folder": "/t9k/mnt/proj"}
    answer = await cluster.create(spec=spec, path="work/proj/train.py")
    assert answer.status == 201, answer.json
    [(submitted, _namespace, _edited)] = cluster.t9k.submitted
    taken = submitted.source.taken
    assert taken.path == f"/t9k/mnt/.t9kjob/code-{other}/{taken.digest}/files"
    assert (cluster.root / f"work/.t9kjob/code-{other}" / taken.digest / "files" / "train.py").exists()
    first = cluster.root / "work/.t9kjob/code"
    for _each in range(2):  # Now somebody else owns the other user's store; and the first store is a loop of links.
        answer = await cluster.create(spec={**spec, "name": "c"}, request_id="request-0003")
        assert (answer.status, answer.json["code"]) == (422, "SnapshotStoreNotOwned"), answer.json
        if first.is_dir():
            first.rmdir()
            first.symlink_to(first.name)
    monkeypatch.undo()  # The first user clones the job of the other one.
    answer = await cluster.create(spec={**submitted.model_dump(mode="json"), "name": "b"}, request_id="request-0002")
    assert answer.status == 201, answer.json


async def test_the_submodules_of_a_repository_obey_the_administrator(cluster: Place) -> None:
    """The clone in the pods reads submodules by the allowed protocols only, whatever the request says."""
    cluster.write("work/train.py")
    spec = (await cluster.form())["spec"] | {"entrypoint": {"kind": "script", "value": "train.py"}}
    source = {"kind": "git", "address": "https://127.0.0.1:1/a.git", "submodules": True, "protocols": ["file", "git"]}
    answer = await cluster.create(spec={**spec, "source": source})
    assert answer.status == 201, answer.json
    [(submitted, _namespace, _edited)] = cluster.t9k.submitted
    for sealed, allowed in (
        (submitted.source, "https:ssh"),
        (submitted.source.model_copy(update={"submodules": False}), "https"),
    ):
        manifest = render(submitted.model_copy(update={"source": sealed}), "t9k")
        [clone] = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["initContainers"]
        assert {"name": "GIT_ALLOW_PROTOCOL", "value": allowed} in clone["env"]
    assert parse(render(submitted, "t9k")).spec == submitted
    for address, secret, warned in (
        ("git@127.0.0.1:a/b", None, True),
        ("ssh://git@127.0.0.1/a/b", "git-lin", False),
        ("https://127.0.0.1:1/a.git", None, False),
    ):
        changed = {"kind": "git", "address": address, "secret": secret}
        found = await cluster.checks({**spec, "source": changed}, "warning")
        assert [line["field"] for code, line in found.items() if code == "SecretNeeded"] == [
            "/spec/source/secret"
        ] * warned, found
