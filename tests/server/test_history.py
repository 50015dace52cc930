"""Disk space of the records of jobs, with real local jobs; the limit removes the jobs that ended first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from jupyterlab_t9kjob.jobs.history import History, _sizes
from tests.server.conftest import Api, Page, ended


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, Any], tmp_path: Path) -> dict[str, Any]:
    jp_server_config["T9kJobApp"] = {"home": str(tmp_path / "jobs"), "grace_seconds": 10.0}
    return jp_server_config


async def test_sizes_of_records_are_listed_and_records_are_removed(
    api: Api, open_page: Callable[..., Awaitable[Page]], jp_root_dir: Path
) -> None:
    (jp_root_dir / "train.py").write_text("")
    filled = (await api("POST", "launch", "prefill", body={"path": "train.py"})).json
    spec = {**filled["spec"], "torchrun": None, "entrypoint": {"kind": "command", "value": "echo"}}
    spec |= {"args": ["x" * 5000], "tensorboard": {"log_dirs": []}}
    page = await open_page("stream")
    ids = []
    for name in ("first", "second"):
        body = {"spec": {**spec, "name": name}, "request_id": f"request-{name}"}
        job = (await api("POST", "jobs", body=body)).json
        await ended(page, job["id"])
        ids.append(job["id"])
    space = (await api("GET", "space")).json
    assert space["limit"] is None and space["size"] == sum(job["size"] for job in space["jobs"])
    assert {job["id"] for job in space["jobs"]} == set(ids)
    for job in space["jobs"]:
        assert job["removable"] and job["sizes"]["logs"] >= 5000 and job["sizes"]["record"] > 0
        assert job["size"] == sum(job["sizes"].values())
    done = (await api("POST", "job-actions", body={"action": "remove", "ids": ids[:1]})).json
    assert done == {"done": ids[:1], "problems": []}
    assert [job["id"] for job in (await api("GET", "space")).json["jobs"]] == ids[1:]


def test_logs_samples_and_stacks_are_counted_apart(tmp_path: Path) -> None:
    for name, size in (("job/record.json", 7), ("job/logs/a/b.log", 50), ("job/resources/0", 11), ("stacks/1.json", 3)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    sizes = _sizes(tmp_path / "job", tmp_path / "stacks")
    assert sizes.model_dump() == {"record": 7, "logs": 50, "samples": 11, "stacks": 3}
    assert sum(_sizes(tmp_path / "none", tmp_path / "none").model_dump().values()) == 0


async def test_the_limit_removes_the_jobs_that_ended_first(tmp_path: Path) -> None:
    folders, jobs, removed = {}, [], []
    for number, (end, actions) in enumerate([(30.0, ["remove"]), (10.0, ["remove"]), (20.0, []), (15.0, ["remove"])]):
        folder = folders[f"u{number}"] = tmp_path / f"u{number}"
        (folder / "logs").mkdir(parents=True)
        (folder / "logs/a.log").write_bytes(b"x" * 1000)
        facts = {"id": f"fake::j{number}:u{number}", "name": f"j{number}", "uid": f"u{number}", "engine": "fake"}
        state = {"phase": "Succeeded", "deleted": False, "created_at": 1.0, "ended_at": end, "actions": actions}
        jobs.append(SimpleNamespace(**facts, **state))
    engine = SimpleNamespace(name="fake", history_folders=lambda: folders)

    async def listed(_query: object) -> list[Any]:
        return jobs

    async def remove(ident: str) -> None:
        removed.append(ident)

    service = SimpleNamespace(engines=SimpleNamespace(all=lambda: [engine]), jobs=listed, remove=remove)
    history = History(cast("Any", service), lambda _ident: tmp_path / "none", 2500)
    assert await history.clean() == ["fake::j1:u1", "fake::j3:u3"] == removed
    removed.clear()
    assert await History(cast("Any", service), lambda _ident: tmp_path / "none", None).clean() == [] == removed
