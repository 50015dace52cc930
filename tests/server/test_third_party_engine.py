"""An engine of another distribution, from the list of engines to the deletion of its jobs; and one that fails."""

from __future__ import annotations

import asyncio
import io
import logging
import zipfile
from collections.abc import Awaitable, Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.engines import registry
from tests.server.conftest import Api, ended

ENGINE = "simple-processes"
COUNTER = """
import sys, time
for number in range(30):
    print(f"line {number} 世界", flush=True)
    time.sleep(0.02)
"""
ENDLESS = "import time\nprint('begun', flush=True)\ntime.sleep(600)\n"

Submit = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    pytest.importorskip("t9kjob_simple_processes")
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "kubernetes": False}
    jp_server_config["SimpleProcesses"] = {"enabled": True}
    return jp_server_config


@pytest.fixture
def submit(api: Api, jp_root_dir: Path) -> Submit:
    """Submit a script through a filled form."""

    async def go(text: str, name: str = "train.py", request_id: str = "request-0001") -> dict[str, Any]:
        (jp_root_dir / name).write_text(text, "utf-8")
        form = (await api("POST", "launch", "prefill", body={"path": name, "engine": ENGINE})).json
        preview = await api("POST", "launch", "preview", body={"engine": ENGINE, "spec": form["spec"]})
        assert preview.status == 200, preview.json
        assert [check for check in preview.json["checks"] if check["level"] == "error"] == []
        body = {"engine": ENGINE, "spec": form["spec"], "request_id": request_id}
        answer = await api("POST", "jobs", body=body)
        assert answer.status == 201, answer.json
        return answer.json

    return go


async def test_engine_is_listed_with_its_facts(api: Api):
    engines = (await api("GET", "engines")).json["engines"]
    assert [engine["name"] for engine in engines] == ["local", ENGINE]
    found = engines[1]
    assert (found["label"], found["available"]) == ("Simple processes", True)
    assert found["facts"]["shares_lab_filesystem"] and found["facts"]["runs_on_lab_machine"]
    assert found["facts"]["manifest_kind"] is None
    assert found["facts"]["description"] == "Runs one script as a process of this machine, once."
    assert not found["capabilities"]["torchrun"]["supported"]


async def test_form_has_what_the_engine_can_do(api: Api, jp_root_dir: Path):
    (jp_root_dir / "train.py").write_text(COUNTER)
    form = (await api("POST", "launch", "prefill", body={"path": "train.py", "engine": ENGINE})).json
    assert form["spec"]["torchrun"] is None and form["spec"]["runtime"]["kernel"] is not None
    local = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json["spec"]
    body = {"path": "train.py", "engine": ENGINE, "spec": local, "crossed_from": "local"}
    crossed = (await api("POST", "launch", "prefill", body=body)).json
    assert crossed["spec"]["torchrun"] is None
    assert [note["field"] for note in crossed["notes"]] == ["/spec/torchrun"]
    fields = [{"field": "--lr", "values": "1, 2"}]
    for at_a_time, code in ((1, "NoQueue"), (2, "NamesFree")):  # No program would start a job that waits.
        sweep = {"engine": ENGINE, "spec": form["spec"], "sweep": {"fields": fields, "at_a_time": at_a_time}}
        assert (await api("POST", "launch", "sweep", body=sweep)).json["checks"][0]["code"] == code


async def test_from_script_to_log(submit: Submit, api: Api, open_page):
    stream = await open_page("stream")
    job = await submit(COUNTER)
    assert job["id"].startswith(f"{ENGINE}::train-1:") and job["engine"] == ENGINE
    logs = await open_page("jobs", job["id"], "logs")
    listed = await logs.until(type="streams")
    assert [stream["id"] for stream in listed["streams"]] == ["worker-0.1.rank-0"]
    await logs.send(type="follow", cursor={})
    followed: list[str] = []
    while len(followed) < 30:
        message = await logs.until(type="append")
        followed += [line["text"] for line in message["lines"] if not line["partial"]]
        assert all(line["time"] is not None for line in message["lines"])
    assert followed == [f"line {number} 世界" for number in range(30)]
    done = await ended(stream, job["id"])
    assert done["phase"] == "Succeeded" and done["ended_by"] == "itself"

    await logs.send(type="read", request=1, anchor="end", direction="backward", lines=3)
    page = await logs.until(type="page", request=1)
    assert [line["text"] for line in page["lines"]] == followed[-3:]
    await logs.send(type="search", request=2, pattern="LINE 2")
    hits = await logs.until(type="hits", request=2)
    assert len(hits["hits"]) == 11 and hits["complete"]
    text = "".join(f"{line}\n" for line in followed).encode()
    assert (await api("GET", "jobs", job["id"], "logs", "worker-0.1.rank-0")).body == text
    archive = await api("GET", "jobs", job["id"], "log-archive")
    with zipfile.ZipFile(io.BytesIO(archive.body)) as found:
        assert found.read("train-1/worker-0.1.rank-0.log") == text

    assert (await api("POST", "jobs", job["id"], "remove")).status == 204
    assert (await api("GET", "jobs", job["id"])).status == 404


async def test_copies_of_a_log_go_with_the_last_page(submit: Submit, open_page, app, tmp_path: Path):
    job = await submit(COUNTER)
    page = await open_page("jobs", job["id"], "logs")
    await page.send(type="read", request=1, anchor="start", direction="forward", lines=1)
    await page.until(type="page", request=1)
    copies = (await app.services()).jobs._mirror._copies
    folder = copies[job["id"]]._folder
    while not folder.is_dir():  # noqa: ASYNC110 - the job's first line makes it
        await asyncio.sleep(0.02)
    page.close()
    while copies or folder.exists():  # noqa: ASYNC110
        await asyncio.sleep(0.02)


async def test_stop_rerun_and_delete(submit: Submit, api: Api, open_page):
    stream = await open_page("stream")
    job = await submit(ENDLESS)
    assert (await api("POST", "jobs", job["id"], "pause")).status == 409
    stopping = await api("POST", "jobs", job["id"], "stop")
    assert stopping.status == 200 and stopping.json["pending_action"] in ("stopping", None)
    done = await ended(stream, job["id"])
    assert (done["phase"], done["ended_by"], done["reason"]["code"]) == ("Failed", "user", "Stopped")
    again = await api("POST", "jobs", job["id"], "rerun")
    assert again.status == 201 and again.json["name"] == "train-2" and again.json["rerun_of"] == job["id"]
    assert (await api("DELETE", "jobs", again.json["id"], remove="true")).status == 202
    removed: list[str] = []
    while again.json["id"] not in removed:
        removed += (await stream.until(type="delta"))["removed_jobs"]
    assert (await api("GET", "jobs", again.json["id"])).status == 404


async def test_what_the_engine_lacks_is_said(submit: Submit, api: Api):
    job = await submit(ENDLESS)
    manifest = await api("GET", "jobs", job["id"], "manifest")
    assert (manifest.status, manifest.json["code"]) == (404, "NoManifest")
    queues = (await api("GET", "cluster", "queues", engine=ENGINE)).json
    assert queues == {"queues": [], "applied": None, "limited": "Simple processes has no queues."}
    assert (await api("GET", "cluster", "volumes", engine=ENGINE)).json["volumes"] == []
    board = await api("POST", "tensorboards", body={"job_id": job["id"]})
    assert board.status in (200, 201, 503), board.json  # its event files are on this machine


@pytest.mark.parametrize("attribute", ["order", "label", "facts"])
async def test_engine_without_an_identity(api: Api, monkeypatch: pytest.MonkeyPatch, attribute: str):
    from t9kjob_simple_processes.engine import SimpleProcesses

    monkeypatch.setattr(SimpleProcesses, attribute, None)
    engines = (await api("GET", "engines")).json["engines"]
    assert [(engine["name"], engine["available"]) for engine in engines] == [("local", True), (ENGINE, False)]
    assert attribute in engines[1]["reason"]


async def test_engine_has_a_home_of_its_own(api: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    import t9kjob_simple_processes

    homes: list[Path] = []
    monkeypatch.setattr(t9kjob_simple_processes, "make_engine", lambda context: homes.append(context.home))
    assert (await api("GET", "engines")).status == 200
    assert homes == [tmp_path / "jobs" / "engines" / ENGINE]


async def test_engine_that_can_not_be_loaded(
    api: Api, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    broken = EntryPoint("broken", "t9kjob_simple_processes:nothing", registry.GROUP)
    odd = EntryPoint("a:b", "t9kjob_simple_processes:make_engine", registry.GROUP)
    found = [*registry.entry_points(group=registry.GROUP), broken, odd]
    monkeypatch.setattr(registry, "entry_points", lambda group: found)
    with caplog.at_level(logging.WARNING, "jupyterlab_t9kjob"):
        engines = (await api("GET", "engines")).json["engines"]
    assert [engine["name"] for engine in engines] == ["local", ENGINE, "broken"]
    assert not engines[2]["available"] and "AttributeError" in engines[2]["reason"]
    assert "The engine broken of" in caplog.text and "'a:b'" in caplog.text
    assert (await api("GET", "jobs")).json["jobs"] == []
    answer = await api(
        "POST", "launch", "preview", body={"engine": "broken", "spec": {"name": "a", "entrypoint": {"value": "/x"}}}
    )
    assert answer.status == 200
