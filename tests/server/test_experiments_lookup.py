"""Runs and artifacts that are asked for before their folders were searched."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec
from jupyterlab_t9kjob.experiments import lookup
from jupyterlab_t9kjob.experiments.library import library
from jupyterlab_t9kjob.experiments.library.known import run_id
from tests.server.conftest import Api
from tests.server.fakes import FakeEngine
from tests.server.test_experiments import table, workspace  # noqa: F401 (a fixture)


@pytest.fixture
def slow_search(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Event:  # noqa: F811
    """Hold the search of the root until the event is set; requests do not wait for it."""
    go_on, find = threading.Event(), library.find

    def held(top: Path, *args: Any) -> Any:
        if top == workspace:
            go_on.wait()
        return find(top, *args)

    monkeypatch.setattr(library, "find", held)
    monkeypatch.setattr(lookup, "ANSWER_SECONDS", 0.0)
    return go_on


def ident_of(folder: str | None, root: Path) -> str:
    return run_id(Path(str(folder)).absolute().relative_to(root).as_posix())


async def test_nothing_is_said_to_be_missing_before_all_folders_were_searched(
    api: Api,
    workspace: Path,  # noqa: F811
    slow_search: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("a", "b"):
        (workspace / name).mkdir()
    monkeypatch.chdir(workspace / "a")
    with em.create_run(name="maker") as run:
        artifact = em.create_artifact("model")
        run.mark_output(artifact)
    made = ident_of(artifact.local, workspace)
    monkeypatch.chdir(workspace / "b")
    with em.create_run(name="user") as run:
        run.mark_input(em.load_artifact(f"../a/{artifact.local}"))
    used = ident_of(run.local, workspace)
    assert [each["name"] for each in (await table(api, folder="a"))["runs"]] == ["maker"]
    paths = [("runs", used), ("artifacts", made), ("runs", "none"), ("artifacts", "none")]
    for path in paths:
        answer = await api("GET", "experiments", *path)
        assert (answer.status, answer.json["code"]) == (503, "StillSearching")
    answer = await api("POST", "experiments", "removal", body={"ids": [used], "dry_run": True})
    assert (answer.status, answer.json["code"]) == (503, "StillSearching")
    monkeypatch.setattr(lookup, "ANSWER_SECONDS", 600.0)
    waiting = [asyncio.create_task(api("GET", "experiments", *path)) for path in paths]
    await asyncio.sleep(0)
    slow_search.set()
    detail, found, *unknown = [await answer for answer in waiting]
    assert detail.json["run"]["name"] == "user"
    assert [node["id"] for node in found.json["used_by"]] == [used]
    assert [node["name"] for node in found.json["made_by"]] == ["maker"]
    assert [(answer.status, answer.json["code"]) for answer in unknown] == [(404, "NoSuchRun"), (404, "NoSuchArtifact")]


async def test_the_run_of_a_job_is_found_before_any_table_was_open(
    api: Api,
    workspace: Path,  # noqa: F811
    engine: FakeEngine,
) -> None:
    spec = JobSpec(name="silent", entrypoint=Entrypoint(value="/w/train.py"))
    job = engine.put(spec=spec, phase="Failed", created_at=1.0, started_at=1.0)
    answer = await api("GET", "experiments", "runs", run_id(f"job:{job.id}"))
    assert answer.json["run"]["job"]["id"] == job.id


async def test_a_run_that_the_index_has_is_found_before_the_search_is_over(
    api: Api,
    workspace: Path,  # noqa: F811
    slow_search: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (workspace / "a").mkdir()
    monkeypatch.chdir(workspace / "a")
    with em.create_run(name="first") as run:
        pass
    monkeypatch.setattr(lookup, "ANSWER_SECONDS", 600.0)
    answer = asyncio.create_task(api("GET", "experiments", "runs", ident_of(run.local, workspace)))
    # The search of the folder, which publishes the run, goes on beside that of the root.
    await table(api, folder="a")
    assert (await answer).json["run"]["name"] == "first"
    slow_search.set()
