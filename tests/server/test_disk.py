"""Full and read-only disks as the API tells of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.local.disks import Disk, read_only, small_disk
from tests.server.conftest import Api, ended


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    with small_disk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], disk: Disk) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(disk.path / "home"), "grace_seconds": 10.0}
    return jp_server_config


def spec(root: Path, name: str = "train") -> dict[str, Any]:
    script = root / f"{name}.py"
    script.write_text("print('trained')")
    return {"name": name, "entrypoint": {"kind": "script", "value": str(script)}, "torchrun": None}


async def test_a_submission_on_a_full_disk(api: Api, disk: Disk, jp_root_dir: Path, open_page: Any):
    before = (await api("POST", "jobs", body={"spec": spec(jp_root_dir, "before"), "request_id": "request-0"})).json
    page = await open_page("stream")
    assert (await ended(page, before["id"]))["phase"] == "Succeeded"
    disk.fill()
    body = {"spec": spec(jp_root_dir), "request_id": "request-1"}
    answer = await api("POST", "jobs", body=body)
    assert (answer.status, answer.json["code"]) == (503, "DiskFull")
    assert answer.json["message"] == f"The job could not be written: the disk that holds {disk.path}/home is full."
    assert "Make room" in answer.json["hint"]
    assert (await api("GET", "jobs")).json["total"] == 1
    # what is there can be looked at, downloaded and removed
    stream = (await api("GET", "jobs", before["id"], "logs")).json["streams"][0]["id"]
    assert (await api("GET", "jobs", before["id"], "logs", stream)).body == b"trained\n"
    assert (await api("GET", "jobs", before["id"], "log-archive")).body[:2] == b"PK"
    assert (await api("POST", "jobs", before["id"], "remove")).status == 204
    disk.free()
    job = await api("POST", "jobs", body=body)
    assert job.status == 201, job.json
    assert (await ended(page, job.json["id"]))["phase"] == "Succeeded"


async def test_a_rerun_on_a_read_only_disk(api: Api, disk: Disk, jp_root_dir: Path, open_page: Any):
    job = (await api("POST", "jobs", body={"spec": spec(jp_root_dir), "request_id": "request-0"})).json
    await ended(await open_page("stream"), job["id"])
    with read_only(disk.path / "home"):
        for answer in (await api("POST", "jobs", job["id"], "rerun"), await api("POST", "jobs", job["id"], "remove")):
            assert (answer.status, answer.json["code"]) == (503, "DiskReadOnly")
    assert (await api("POST", "jobs", job["id"], "remove")).status == 204


@pytest.mark.parametrize("state", ["full", "read-only"])
async def test_a_notebook_whose_script_can_not_be_written(api: Api, jp_root_dir: Path, state: str):
    cells = [nbformat.v4.new_code_cell("print('from a notebook')\n" + "# long\n" * 2000)]
    with small_disk(jp_root_dir / "small") as small:
        notebook = small.path / "explore.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), notebook)
        form = (await api("POST", "launch", "prefill", body={"path": "small/explore.ipynb"})).json
        body = {"spec": {**form["spec"], "torchrun": {"proc_per_node": 1}}, "request_id": "request-0"}
        if state == "full":
            small.fill()
            answer = await api("POST", "jobs", body=body)
        else:
            with read_only(small.path):
                answer = await api("POST", "jobs", body=body)
        assert (answer.status, answer.json["field"]) == (422, "/spec/entrypoint/value")
        words = "is full" if state == "full" else "is read-only"
        assert answer.json["message"].startswith("explore.t9kjob.py can't be written beside the notebook: the disk")
        assert words in answer.json["message"] and answer.json["hint"]
        assert [path.name for path in small.path.iterdir() if path.name != "ballast"] == ["explore.ipynb"]
    assert (await api("GET", "jobs")).json["total"] == 0


async def test_a_home_that_is_read_only_at_the_start(api: Api, disk: Disk):
    with read_only(disk.path):
        engine = (await api("GET", "engines")).json["engines"][0]
    assert not engine["available"]
    assert f"the disk that holds {disk.path / 'home'} is read-only" in engine["reason"]
    assert engine["reason"].endswith("start JupyterLab with another folder: --T9kJobApp.home=/path/to/folder.")


async def test_a_home_that_can_not_be_used(api: Api, disk: Disk, jp_root_dir: Path):
    """The server starts, says why there are no jobs here, and goes on when it is mended."""
    await api("GET", "engines")
    home = disk.path / "home"
    home.rename(disk.path / "aside")
    home.write_text("in the way")
    answer = await api("POST", "jobs", body={"spec": spec(jp_root_dir), "request_id": "request-1"})
    assert answer.status == 503
    assert str(home) in answer.json["message"] and "is not a directory" in answer.json["message"]
    while (engine := (await api("GET", "engines")).json["engines"][0])["available"]:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert str(home) in engine["reason"]
    assert (await api("GET", "jobs")).status == 200
    home.unlink()
    (disk.path / "aside").rename(home)
    answer = await api("POST", "jobs", body={"spec": spec(jp_root_dir), "request_id": "request-1"})
    assert answer.status == 201
