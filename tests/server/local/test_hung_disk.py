"""A network folder whose server is gone: what needs it is answered in words and in time, and all else goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyterlab_t9kjob.app import T9kJobApp
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.core.system import disk_threads
from jupyterlab_t9kjob.core.system.disk_threads import DiskSilent
from tests.local.disks import HungDisk, hung_disk
from tests.patience import PATIENCE
from tests.server.conftest import Answer, Api, ended
from tests.server.local.conftest import Place

BOUND = 120.0
"""Seconds for any answer: far more than the limits below add up to. A call on a hung disk never returns."""
WAITING = "import pathlib, time\nwhile not pathlib.Path('enough').exists(): time.sleep(0.02)\n"


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    # A disk that answers has the product's time to answer a probe: a loaded machine may need it.
    monkeypatch.setattr(disk_threads, "ANSWER_SECONDS", 0.5)


@pytest.fixture
def hung(place: Place) -> Iterator[HungDisk]:
    """A folder of the root that does not answer, with a link to it elsewhere."""
    (place.root / "home").mkdir()
    (place.root / "home" / "work").symlink_to(place.root / "nfs")
    with hung_disk(place.root / "nfs") as disk:
        yield disk


def silent(answer: Answer, disk: HungDisk) -> None:
    assert (answer.status, answer.json["code"]) == (503, "DiskSilent"), answer.json
    assert str(disk.path) in answer.json["message"] and "does not answer" in answer.json["message"]
    assert answer.json["hint"]


async def ask(api: Api, *args: str, **options: Any) -> Answer:
    return await asyncio.wait_for(api(*args, **options), BOUND)


@pytest.mark.parametrize("folder", ["nfs", "home/work"])
async def test_what_lies_on_it_is_refused_in_words(place: Place, hung: HungDisk, folder: str) -> None:
    form = await place.form()
    script, elsewhere = f"{place.root}/{folder}/train.py", str(place.root)
    silent(await ask(place.api, "POST", "launch", "prefill", body={"path": f"{folder}/train.py"}), hung)
    changes: dict[str, dict[str, Any]] = {
        "/spec/entrypoint/value": {"entrypoint": {"kind": "script", "value": script}, "working_dir": elsewhere},
        "/spec/working_dir": {"working_dir": f"{place.root}/{folder}/x"},
    }
    for field, change in changes.items():
        spec = {**form, **change}
        found = (await ask(place.api, "POST", "launch", "preview", body={"spec": spec})).json["checks"]
        told = [check for check in found if check["code"] == "DiskSilent"]
        assert (told[0]["level"], str(hung.path) in told[0]["message"]) == ("error", True)
        assert field in [check["field"] for check in told]
        refused = await asyncio.wait_for(place.create(spec, "request-hung"), BOUND)
        assert refused.json["code"] == "DiskSilent" and refused.status in (422, 503), refused.json
    spec = {**form, "tensorboard": {"log_dirs": [f"{place.root}/{folder}/runs"]}}
    refused = await asyncio.wait_for(place.create(spec, "request-hung"), BOUND)
    silent(refused, hung)


async def test_tensorboards_of_it_are_refused_and_hold_up_nobody(place: Place, hung: HungDisk) -> None:
    """Also more of them than there are shared threads, by which names are resolved and much else is done."""
    (place.root / "well").mkdir()
    paths = [f"{folder}/runs{number}" for number in range(20) for folder in ("nfs", "home/work")]
    questions = [ask(place.api, "POST", "tensorboards", body={"paths": [path]}) for path in paths]
    answers = asyncio.gather(*questions)
    assert await asyncio.wait_for(asyncio.get_running_loop().getaddrinfo("localhost", 80), BOUND)
    for answer in await answers:
        silent(answer, hung)
    opened = await ask(place.api, "POST", "tensorboards", body={"paths": ["well"]})
    assert opened.status in (201, 503) and opened.json.get("code") != "DiskSilent", opened.json
    silent(await ask(place.api, "POST", "tensorboards", body={"paths": ["well", "nfs/runs"]}), hung)


async def test_the_script_of_a_notebook_on_it(place: Place, app: T9kJobApp) -> None:
    """Its disk falls silent after the notebook was read."""
    (place.root / "old").mkdir()
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1)")])
    nbformat.write(notebook, place.root / "old" / "explore.ipynb")
    launch = (await app.services()).launch
    prepares = [await launch.admit(JobSpec(**await place.form("old/explore.ipynb"))) for _ in range(10)]
    with hung_disk(place.root / "old") as disk:
        writing = [asyncio.wait_for(prepare.prepare(), BOUND) for prepare in prepares]
        for written in await asyncio.gather(*writing, return_exceptions=True):
            assert isinstance(written, DiskSilent) and str(disk.path) in written.message, written


async def test_all_else_goes_on(place: Place, open_page: Any) -> None:
    stream = await open_page("stream")
    (place.root / "old").mkdir()
    (place.root / "old" / "train.py").write_text(WAITING + "print('done')")
    running = await place.submit(await place.form("old/train.py", name="running", torchrun=None), "request-running")
    await stream.send(type="subscribe", details=[running["id"]])
    while (await stream.until(type="job", id=running["id"]))["job"]["phase"] != "Running":
        pass
    form = await place.form(torchrun=None)
    with hung_disk(place.root / "old" / "mounted") as disk:
        questions = [
            ask(place.api, "POST", "launch", "prefill", body={"path": "old/mounted/train.py"}) for _ in range(30)
        ]
        answers = asyncio.gather(*questions)
        other = await asyncio.wait_for(place.submit({**form, "name": "other"}, "request-other"), BOUND)
        assert (await asyncio.wait_for(ended(stream, other["id"]), PATIENCE))["phase"] == "Succeeded"
        for answer in await answers:
            silent(answer, disk)
        names = [thread.name for thread in threading.enumerate()]
        assert names.count(f"disk {disk.path}") <= disk_threads.WIDTH
        assert {job["name"] for job in (await ask(place.api, "GET", "jobs")).json["jobs"]} == {"running", "other"}
        assert (await ask(place.api, "GET", "engines")).status == 200
        assert await asyncio.wait_for(asyncio.get_running_loop().getaddrinfo("localhost", 80), BOUND)
        streams = (await ask(place.api, "GET", "jobs", other["id"], "logs")).json["streams"]
        log = await ask(place.api, "GET", "jobs", other["id"], "logs", streams[-1]["id"], contract=False)
        assert log.body == b"1\n"
        assert (await ask(place.api, "POST", "jobs", running["id"], "stop")).status == 200
        assert (await asyncio.wait_for(ended(stream, running["id"]), PATIENCE))["phase"] == "Failed"


async def test_a_job_whose_own_folder_hangs_holds_up_no_other(place: Place, open_page: Any) -> None:
    """Its script lies outside the root, so the server looks where its links lead."""
    stream = await open_page("stream")
    folder = place.root.parent / "far"
    folder.mkdir()
    (place.root / "far").symlink_to(folder)
    (folder / "train.py").write_text(WAITING)
    form = await place.form("far/train.py", torchrun=None)
    far = {**form, "name": "far", "tensorboard": {"log_dirs": [f"{folder}/runs"]}, "working_dir": str(folder)}
    job = await place.submit(far, "request-far")
    await stream.send(type="subscribe", details=[job["id"]])
    while (await stream.until(type="job", id=job["id"]))["job"]["phase"] != "Running":
        pass
    with hung_disk(folder):
        other = await asyncio.wait_for(
            place.submit(await place.form(name="other", torchrun=None), "request-other"), BOUND
        )
        assert (await asyncio.wait_for(ended(stream, other["id"]), PATIENCE))["phase"] == "Succeeded"
        assert (await ask(place.api, "GET", "jobs", job["id"])).json["phase"] == "Running"
        assert (await ask(place.api, "POST", "jobs", job["id"], "stop")).status == 200
        done = await asyncio.wait_for(ended(stream, job["id"]), PATIENCE)
        assert (done["phase"], done["reason"]["code"]) == ("Failed", "Stopped")


async def test_the_home_itself(place: Place, api: Api, tmp_path: Path) -> None:
    job = await place.submit(await place.form(torchrun=None), "request-first")
    with hung_disk(place.home) as disk:
        engine = {"available": True}
        while engine["available"]:  # the engine looks at its home several times a second
            engine = (await ask(api, "GET", "engines")).json["engines"][0]
        assert str(disk.path) in engine["reason"] and "does not answer" in engine["reason"]
        silent(await ask(api, "GET", "jobs", job["id"]), disk)
        silent(await ask(api, "GET", "jobs", job["id"], "events"), disk)
        listed = await ask(api, "GET", "jobs")
        assert [one["name"] for one in listed.json["jobs"]] == ["train-1"]
        refused = await asyncio.wait_for(place.create({**job["spec"], "name": "second"}, "request-second"), BOUND)
        assert refused.status == 503 and "does not answer" in refused.json["message"]

    while (answer := await ask(api, "GET", "jobs", job["id"])).status == 503:
        pass  # The disk counts as silent until the calls that hung have returned.
    assert answer.status == 200
