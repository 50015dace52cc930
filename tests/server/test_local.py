"""The whole server over the real local engine: torchrun, its files, its end."""

from __future__ import annotations

import asyncio
import io
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.server.conftest import Api, ended

COUNTER = """
import os, sys, time
rank = int(os.environ["RANK"])
for number in range(50):
    print(f"rank {rank} line {number} 世界", flush=True)
    time.sleep(0.01)
if rank == 0:
    for percent in range(0, 101, 10):
        print(f"\\rprogress {percent}%", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
"""


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "grace_seconds": 10.0}
    return jp_server_config


Submit = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def submit(api: Api, jp_root_dir: Path) -> Submit:
    """Submit a script through the filled form, with changes to its spec; answer with the job."""

    async def go(text: str, name: str = "train.py", processes: int = 2, **changes: Any) -> dict[str, Any]:
        (jp_root_dir / name).write_text(text, "utf-8")
        form = (await api("POST", "launch", "prefill", body={"path": name})).json
        spec = {**form["spec"], "torchrun": {"proc_per_node": processes}, **changes}
        answer = await api("POST", "jobs", body={"spec": spec, "request_id": f"request-{spec['name']}"})
        assert answer.status == 201, answer.json
        return answer.json

    return go


async def test_from_script_to_log(submit: Submit, api: Api, open_page, jp_root_dir: Path):
    stream = await open_page("stream")
    job = await submit(COUNTER)
    assert job["id"].startswith("local::train-1:")
    logs = await open_page("jobs", job["id"], "logs")
    await logs.send(type="follow", cursor={})
    end = asyncio.create_task(ended(stream, job["id"]))
    lines: dict[tuple[str, int], dict[str, Any]] = {}
    while sum("line 49" in line["text"] for line in lines.values()) < 2 or "progress 100%" not in [
        line["text"] for line in lines.values() if not line["partial"]
    ]:
        message = await logs.until(type="append")
        await logs.send(type="ack", sequence=message["sequence"])
        lines.update({(line["stream"], line["offset"]): line for line in message["lines"]})
    job = await end
    assert (job["phase"], job["ended_by"]) == ("Succeeded", "itself")

    await logs.send(type="read", request=1, anchor="start", lines=5000)
    page = await logs.until(type="page")
    assert page["at_start"] and page["at_end"]
    times = [line["time"] for line in page["lines"]]
    assert None not in times and times == sorted(times)
    assert job["created_at"] <= times[0] and times[-1] <= job["ended_at"] + 1
    for rank in range(2):
        own = [line["text"] for line in page["lines"] if line["text"].startswith(f"rank {rank} ")]
        assert own == [f"rank {rank} line {number} 世界" for number in range(50)]
    assert [line["updates"] for line in page["lines"] if line["text"] == "progress 100%"] == [11]

    archive = zipfile.ZipFile(io.BytesIO((await api("GET", "jobs", job["id"], "log-archive")).body))
    for described in (await api("GET", "jobs", job["id"], "logs")).json["streams"]:
        data = (await api("GET", "jobs", job["id"], "logs", described["id"])).body
        assert len(data) == described["size"]
        assert archive.read(f"{job['name']}/{described['id']}.log") == data
    await logs.send(type="search", request=2, pattern="line 49")
    assert len((await logs.until(type="hits"))["hits"]) == 2
    for part in ("replicas", "events", "manifest"):
        assert (await api("GET", "jobs", job["id"], part)).status == 200


async def test_stop_rerun_delete(submit: Submit, api: Api, open_page):
    job = await submit("import time\nprint('up', flush=True)\ntime.sleep(600)\n", processes=1)
    logs = await open_page("jobs", job["id"], "logs")
    await logs.send(type="follow", cursor={})
    text = ""
    while "up" not in text:
        text = "\n".join(line["text"] for line in (await logs.until(type="append"))["lines"])
    assert (await api("POST", "jobs", job["id"], "remove")).status == 409
    answer = await api("POST", "jobs", job["id"], "stop")
    assert (answer.status, answer.json["pending_action"]) == (200, "stopping")
    stream = await open_page("stream")
    job = await ended(stream, job["id"])
    assert (job["phase"], job["reason"]["code"], job["ended_by"]) == ("Failed", "Stopped", "user")
    refused = await api("POST", "jobs", job["id"], "pause")
    assert (refused.status, refused.json["message"]) == (409, "train-1 has ended. It can't be paused.")

    again = await api("POST", "jobs", job["id"], "rerun")
    assert (again.status, again.json["name"], again.json["rerun_of"]) == (201, "train-2", job["id"])
    assert again.json["spec"]["tensorboard"]["log_dirs"][0].endswith("/runs/train-2")
    other = again.json["id"]
    assert (await api("DELETE", "jobs", other, remove="true")).status == 202
    # it may have gone in the same moment: then it is in no snapshot either
    await stream.send(type="subscribe", jobs=True, tensorboards=False)
    while True:
        message = await stream.receive()
        present = {shown["id"] for shown in message.get("jobs", [])}
        if other in message.get("removed_jobs", []) or (message["type"] == "snapshot" and other not in present):
            break
    while (await api("GET", "jobs", other)).status != 404:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    assert (await api("POST", "jobs", job["id"], "remove")).status == 204
    assert (await api("GET", "jobs")).json["jobs"] == []


async def test_a_failed_rank_is_named(submit: Submit, open_page):
    job = await submit("import os\nassert os.environ['RANK'] == '0', 'no luck'\n")
    job = await ended(await open_page("stream"), job["id"])
    assert job["phase"] == "Failed"
    assert (job["failure"]["local_rank"], job["failure"]["error"]) == (1, "AssertionError: no luck")


async def test_a_notebook(api: Api, open_page, jp_root_dir: Path):
    cells = [nbformat.v4.new_code_cell("%matplotlib inline\nprint('from a notebook')")]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), jp_root_dir / "explore.ipynb")
    form = (await api("POST", "launch", "prefill", body={"path": "explore.ipynb"})).json
    assert form["spec"]["entrypoint"]["kind"] == "notebook"
    spec = {**form["spec"], "torchrun": {"proc_per_node": 1}}
    preview = await api("POST", "launch", "preview", body={"spec": spec})
    assert [check for check in preview.json["checks"] if check["level"] == "error"] == []
    job = (await api("POST", "jobs", body={"spec": spec, "request_id": "request-notebook"})).json
    assert (await ended(await open_page("stream"), job["id"]))["phase"] == "Succeeded"
    assert (jp_root_dir / "explore.t9kjob.py").exists()
    streams = (await api("GET", "jobs", job["id"], "logs")).json["streams"]
    out = next(stream["id"] for stream in streams if stream["output"] == "stdout")
    assert (await api("GET", "jobs", job["id"], "logs", out)).body == b"from a notebook\n"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"entrypoint": {"kind": "script", "value": "/gone/train.py"}}, "/spec/entrypoint/value"),
        ({"entrypoint": {"kind": "script", "value": "train.py"}}, "/spec/entrypoint/value"),
        ({"working_dir": "/gone"}, "/spec/working_dir"),
        ({"runtime": {"kernel": "gone"}}, "/spec/runtime/kernel"),
        ({"replica_specs": [{"restart_policy": "Always"}]}, "/spec/replica_specs/0/restart_policy"),
        ({"elastic": {"min": 1, "max": 2}}, "/spec/elastic"),
    ],
)
async def test_what_can_not_run_is_refused_at_its_field(
    api: Api, jp_root_dir: Path, change: dict[str, Any], field: str
):
    (jp_root_dir / "train.py").write_text("print(1)")
    form = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json
    body = {"spec": {**form["spec"], **change}, "request_id": "request-0001"}
    answer = await api("POST", "jobs", body=body)
    assert (answer.status, answer.json["field"]) == (422, field)
    dry = await api("POST", "jobs", body={**body, "dry_run": True})
    assert field in [check["field"] for check in dry.json["checks"] if check["level"] == "error"]
    assert (await api("GET", "jobs", deleted="true")).json["total"] == 0


async def test_create_is_idempotent_over_a_restart(submit: Submit, api: Api, app: Any, jp_root_dir: Path):
    job = await submit("print(1)", processes=1)
    await app.stop_extension()
    app.stopping = False  # the next request starts it anew, from what is on disk
    body = {"spec": job["spec"], "request_id": "request-train-1"}
    answer = await api("POST", "jobs", body=body)
    assert (answer.status, answer.json["id"]) == (201, job["id"])
    assert (await api("GET", "jobs")).json["total"] == 1


async def test_a_job_without_a_kernel_keeps_the_name_of_the_one_that_runs_it(submit: Submit, api: Api):
    job = await submit("print(1)", processes=1, runtime={"kernel": None})
    assert job["spec"]["runtime"]["kernel"] == "python3"
    again = (await api("POST", "jobs", job["id"], "rerun", body={"request_id": "request-again"})).json
    assert again["spec"]["runtime"] == job["spec"]["runtime"]


@pytest.mark.parametrize("path", ["gone.py", "../outside.py", "a\0b.py", "folder", "data.csv"])
async def test_prefill_of_what_is_no_script(api: Api, jp_root_dir: Path, path: str):
    (jp_root_dir / "folder").mkdir()
    (jp_root_dir / "data.csv").write_text("1")
    answer = await api("POST", "launch", "prefill", body={"path": path})
    assert answer.status in (404, 422)
    assert answer.json["field"] == "/path" or answer.status == 404


async def test_a_form_without_a_file(api: Api, jp_root_dir: Path):
    """A job that runs a module is cloned from its spec alone."""
    spec = {"name": "job-1", "entrypoint": {"kind": "module", "value": "timeit"}, "working_dir": str(jp_root_dir)}
    form = await api("POST", "launch", "prefill", body={"spec": spec})
    assert form.status == 200, form.json
    assert (form.json["path"], form.json["spec"]["entrypoint"]) == (None, spec["entrypoint"])
    answer = await api("POST", "launch", "prefill", body={})
    assert (answer.status, answer.json["field"]) == (422, "/path")
