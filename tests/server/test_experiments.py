"""The experiments' API over runs that the recorder wrote."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob import em
from jupyterlab_t9kjob.core.spec import Entrypoint, EnvVar, JobSpec
from jupyterlab_t9kjob.em import files
from jupyterlab_t9kjob.experiments import service
from jupyterlab_t9kjob.experiments.library import library
from jupyterlab_t9kjob.secret_values import MASK
from tests.server.conftest import Api, eventually
from tests.server.fakes import FakeEngine


@pytest.fixture
def workspace(jp_root_dir: Path, fakes: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(jp_root_dir)
    return jp_root_dir


def record(name: str = "mnist", values: tuple[float, ...] = (0.7, 0.5), **hparams: Any) -> Path:
    with em.create_run(name=name, hparams=hparams, labels=["first"]) as run:
        for step, value in enumerate(values, 1):
            run.log("train", {"loss": value}, step=step, epoch=step)
    return Path(run.local or "")


async def table(api: Api, **query: Any) -> Any:
    """Return the table when everything was read."""
    query = {"revision": -1, **query}
    while True:
        answer = (await api("GET", "experiments", "runs", **query)).json
        if not answer["scanning"]:
            return answer


async def test_shows_recorded_runs(api: Api, workspace: Path) -> None:
    record(lr=0.01, optimizer={"name": "sgd", "nesterov": True})
    answer = await table(api, curves="train.loss")
    [run] = answer["runs"]
    assert run["name"] == "mnist"
    assert run["status"] == "complete"
    assert run["parameters"] == {"lr": 0.01, "optimizer.name": "sgd", "optimizer.nesterov": True}
    assert run["metrics"]["train.loss"] | {"curve": []} == {
        "last": 0.5, "last_step": 2, "min": 0.5, "min_step": 2, "max": 0.7, "max_step": 1, "count": 2, "curve": [],
    }  # fmt: skip
    assert run["metrics"]["train.loss"]["curve"] == pytest.approx([0.7, 0.5])
    columns = {(column["group"], column["name"]): column for column in answer["columns"]}
    assert columns["metrics", "train.loss"]["goal"] == "min"
    assert columns["parameters", "lr"]["kind"] == "number"
    assert run["labels"] == ["first"]


async def test_answers_with_changes_only(api: Api, workspace: Path) -> None:
    record()
    before = await table(api)
    added = record("second")
    after = await table(api, revision=before["revision"])
    while not after["runs"]:
        after = await table(api, revision=after["revision"])
    assert not after["complete"]
    assert [run["name"] for run in after["runs"]] == ["second"]
    listed = (await api("POST", "experiments", "removal", body={"ids": [after["runs"][0]["id"]], "dry_run": True})).json
    assert [item["path"] for item in listed["items"]] == [str(added)]
    assert listed["items"][0]["ours"]
    assert added.is_dir()
    deleted = await api("POST", "experiments", "removal", body={"ids": [after["runs"][0]["id"]], "dry_run": False})
    assert deleted.json == listed
    assert not added.exists()
    gone = await table(api, revision=after["revision"])
    assert gone["removed"] == [after["runs"][0]["id"]]


async def test_details_curves_and_values(api: Api, workspace: Path) -> None:
    record(values=(1.0, float("nan"), float("inf"), 0.25), lr=0.1)
    [run] = (await table(api))["runs"]
    detail = (await api("GET", "experiments", "runs", run["id"])).json
    assert {Path(file["path"]).name for file in detail["files"]} >= {"metadata.yaml", "train.yaml"}
    assert detail["parameters"] == [{"name": "lr", "value": 0.1}]
    wanted = {"runs": [run["id"], "gone"], "metrics": ["train.loss", "none"], "x": "epoch"}
    [curve] = (await api("POST", "experiments", "curves", body=wanted)).json["curves"]
    assert (curve["x"], curve["y"]) == ([1, 4], [1.0, 0.25])
    assert curve["not_finite"] == {"count": 2, "first_step": 2, "last_step": 3}
    points = (await api("GET", "experiments", "runs", run["id"], "values", metric="train.loss", first=1, limit=2)).json
    assert [point["value"] for point in points["points"]] == ["nan", "inf"]
    assert points["count"] == 4


# Rule 7 of t9k-facts.md, Recorder: rules for readers
async def test_runs_of_the_restarts_of_a_job_name_each_other(api: Api, workspace: Path, engine: FakeEngine) -> None:
    job = engine.put(created_at=1.0, started_at=1.0)
    for _restart in range(2):
        with em.create_run(name="mnist", labels=[f"job-uid={job.uid}"]):
            pass
    record("other")
    runs = (await table(api))["runs"]
    restarts = sorted((run for run in runs if run["name"] == "mnist"), key=lambda run: run["started_at"])
    wanted = [run["id"] for run in restarts]
    assert len(wanted) == 2
    for ident in wanted:
        detail = (await api("GET", "experiments", "runs", ident)).json
        assert (detail["run"]["job"]["id"], detail["attempts"]) == (job.id, wanted)


async def test_keeps_tags_outside_the_run(api: Api, workspace: Path) -> None:
    folder = record()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    [run] = (await table(api))["runs"]
    changed = await api(
        "PATCH", "experiments", "runs", run["id"], body={"tags": ["good"], "note": "<b>", "archived": True}
    )
    assert changed.json["tags"] == ["good"]
    [again] = (await table(api))["runs"]
    assert (again["tags"], again["note"], again["archived"]) == (["good"], "<b>", True)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


async def test_refuses_folders_outside(api: Api, workspace: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    assert (await api("GET", "experiments", "runs", folder="link")).status == 422
    assert (await api("GET", "experiments", "runs", folder="../..")).status == 422
    assert (await api("GET", "experiments", "runs", folder="none")).status == 404
    for odd in ("x" * 5000, "a/" * 3000, "\0", "\ud7ff\U0001f600", "%00", "~"):
        assert (await api("GET", "experiments", "runs", folder=odd)).status in (404, 422)
    assert (await api("GET", "experiments", "runs", "none")).status == 404
    assert (await api("GET", "experiments", "runs", revision="x")).status == 400
    assert (await api("GET", "experiments", "runs", metrics="x" * 2000)).status == 200


async def test_links_and_damaged_runs_are_named(api: Api, workspace: Path, tmp_path: Path) -> None:
    folder = record()
    outside = tmp_path / files.alternative_name("far")
    folder.rename(outside)
    (workspace / ".em/runs" / outside.name).symlink_to(outside)
    cut = record("cut")
    (cut / "metadata.yaml").write_text("kind: Run\nname: [")
    answer = await table(api)
    assert answer["runs"] == []
    assert {Path(entry["path"]).name for entry in answer["unreadable"]} == {outside.name, cut.name}


async def test_a_search_that_fails_is_not_said_to_have_found_nothing(
    api: Api, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record()
    tries: list[Path] = []

    def failing(top: Path, *_args: object) -> None:
        tries.append(top)
        raise RuntimeError("no search")

    monkeypatch.setattr(service, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(library, "find", failing)
    await api("GET", "experiments", "runs", revision=-1)
    await eventually(lambda: len(tries) > 2)
    answer = (await api("GET", "experiments", "runs", revision=-1)).json
    assert (answer["runs"], answer["scanning"]) == ([], True)
    monkeypatch.undo()
    assert [run["name"] for run in (await table(api))["runs"]] == ["mnist"]


async def test_jobs_without_recorder_have_runs(api: Api, workspace: Path, engine: FakeEngine) -> None:
    from tests.unit.experiments.test_event_folders import scalar, write

    args = ["--lr", "0.1", "--amp", "--data=/x", "--api-key", "hidden", "-b", "-8"]
    spec = JobSpec(name="silent", entrypoint=Entrypoint(value="/w/train.py"), args=args)
    started = 1700000000.0
    job = engine.put(
        spec=spec, phase="Failed", created_at=started, started_at=started, log_dirs=[str(workspace / "log")]
    )
    write(workspace / "log", [scalar("loss", 2.0), scalar("loss", 1.0)])
    write(workspace / "elsewhere", [scalar("loss", 2.0)])
    answer = await table(api)
    while not all(run["job"] or "elsewhere" in run["path"] for run in answer["runs"]) or len(answer["runs"]) != 2:
        answer = await table(api, revision=-1)
    runs = {run["origin"]: run for run in answer["runs"]}
    assert runs["events"]["path"] == "elsewhere"
    run = runs["job"]
    assert (run["status"], run["job"]["id"], run["path"]) == ("error", job.id, None)
    assert run["parameters"] == {"lr": 0.1, "amp": True, "data": "/x", "api-key": MASK, "b": -8}
    assert run["metrics"]["loss"]["last"] == 1.0
    detail = (await api("GET", "experiments", "runs", run["id"])).json
    assert [Path(file["path"]).parent.name for file in detail["files"]] == ["log"]
    assert all(detail["sources"][unknown].startswith("Not recorded") for unknown in ("packages", "git"))
    values = (await api("GET", "experiments", "runs", run["id"], "values", metric="loss")).json
    assert [point["value"] for point in values["points"]] == [2.0, 1.0]
    assert (await api("POST", "experiments", "removal", body={"ids": [run["id"]], "dry_run": True})).status == 409


async def test_what_is_missing_in_a_run_is_said(api: Api, workspace: Path) -> None:
    from tests.unit.experiments.test_event_folders import scalar, write

    path = write(workspace / "damaged", [scalar("loss", float(number)) for number in range(100)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + b"\xff" * 64 + whole[len(whole) // 2 + 64 :])
    many = record("many")
    for number in range(1000):
        (many / f"metrics/a{number}.yaml").touch()
    (record("odd") / "hyperparameters.yaml").write_text("a: [")
    record("whole")
    missing = {}
    for run in (await table(api))["runs"]:
        detail = (await api("GET", "experiments", "runs", run["id"])).json
        wanted = {"runs": [run["id"]], "metrics": detail["metrics"]}
        curves = (await api("POST", "experiments", "curves", body=wanted)).json["curves"]
        missing[run["name"]] = (
            [problem.split(":")[0] for problem in detail["problems"]],
            {c["truncated"] for c in curves},
        )
    assert missing == {
        "damaged": (["Files with metrics are damaged, and the values in the damaged parts are missing."], {True}),
        "many": (["It has too many files, and those of some metrics are left out."], set()),
        "odd": (["The file can't be read"], {False}),
        "whole": ([], {False}),
    }


async def test_folders_of_one_name_of_a_job_are_told_apart(api: Api, workspace: Path, engine: FakeEngine) -> None:
    from tests.unit.experiments.test_event_folders import scalar, write

    spec = JobSpec(name="folds", entrypoint=Entrypoint(value="/w/train.py"))
    times = {"created_at": 1700000000.0, "started_at": 1700000000.0}
    engine.put(spec=spec, phase="Succeeded", **times, log_dirs=[str(workspace / "log")])
    for number in range(3):
        values = [scalar("loss", value) for value in (9.0, float(number))]
        write(workspace / f"log/fold{number}/tensorboard", values[: number + 1])
    answer = await table(api)
    while [run["origin"] for run in answer["runs"] if run["metrics"]] != ["job"]:
        answer = await table(api, revision=-1)
    [run] = answer["runs"]
    names = {f"fold{number}/tensorboard/loss": min(number + 1, 2) for number in range(3)}
    assert {name: metric["count"] for name, metric in run["metrics"].items()} == names
    for number, name in enumerate(names):
        values = (await api("GET", "experiments", "runs", run["id"], "values", metric=name)).json["points"]
        assert [point["value"] for point in values] == [9.0, float(number)][: number + 1]


async def test_jobs_of_which_nobody_asked_have_runs_when_the_search_is_over(
    api: Api, workspace: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put(name: str) -> None:
        spec = JobSpec(name=name, entrypoint=Entrypoint(value="/w/train.py"))
        engine.put(spec=spec, phase="Succeeded", created_at=1700000000.0, started_at=1700000000.0)

    def is_watched() -> bool:
        return any(task.get_name().startswith("watch the runs") for task in asyncio.all_tasks())

    put("first")
    answer = await table(api)
    assert [run["job"]["name"] for run in answer["runs"]] == ["first"]
    monkeypatch.setattr(service, "WATCH_SECONDS", 0.0)
    await eventually(lambda: not is_watched())
    monkeypatch.undo()
    put("second")
    answer = await table(api)
    assert sorted(run["job"]["name"] for run in answer["runs"]) == ["first", "second"]


async def test_runs_outside_the_root_are_found_in_folders_that_jobs_name(
    api: Api, workspace: Path, tmp_path: Path, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:

    volume = tmp_path / "volume"
    for folder in ("project", "named", "unnamed"):
        (volume / folder).mkdir(parents=True)
        monkeypatch.chdir(volume / folder)
        record(folder, lr=0.1)
    secret = record("secret")
    (volume / "project/.em/runs/link_260101_000000_abcdef").symlink_to(secret.resolve())
    script = Entrypoint(value=str(volume / "project/train.py"))
    engine.put(spec=JobSpec(name="own", entrypoint=script), started_at=1.0)
    env = [EnvVar(name="EM_RUN_PARENT_DIR", value="../named/.em/runs")]
    engine.put("other", spec=JobSpec(name="other", entrypoint=script, env=env), started_at=1.0)
    foreign = JobSpec(name="foreign", working_dir=str(volume / "unnamed"), entrypoint=script)
    engine.put("foreign", spec=foreign, started_at=1.0, mine=False)
    answer = await table(api, revision=-1)
    while {run["name"] for run in answer["runs"]} != {"project", "named", "own", "other", "foreign"}:
        answer = await table(api, revision=-1)
    run = next(run for run in answer["runs"] if run["name"] == "project")
    assert (run["path"], Path(run["environment"]["folder"]).parent) == (None, volume / "project/.em/runs")
    assert [Path(each["path"]).name for each in answer["unreadable"]] == ["link_260101_000000_abcdef"]
    curves = await api("POST", "experiments", "curves", body={"runs": [run["id"]], "metrics": ["train.loss"]})
    assert curves.json["curves"][0]["y"] == [0.7, 0.5]
    assert (await api("GET", "experiments", "runs", run["id"])).json["parameters"] == [{"name": "lr", "value": 0.1}]
    removal = await api("POST", "experiments", "removal", body={"ids": [run["id"]], "dry_run": False})
    assert (removal.status, removal.json["code"]) == (409, "OutsideRoot")


async def test_only_event_files_are_removed_from_a_folder(api: Api, workspace: Path) -> None:
    from tests.unit.experiments.test_event_folders import scalar, write

    write(workspace, [scalar("loss", 2.0)])
    write(workspace / "train", [scalar("loss", 2.0)])
    (workspace / "train.py").write_text("precious")
    [run] = (await table(api))["runs"]
    assert run["path"] == ""
    body = {"ids": [run["id"]], "dry_run": True}
    listed = (await api("POST", "experiments", "removal", body=body)).json
    assert [(item["files"], item["ours"]) for item in listed["items"]] == [(2, False)]
    assert (await api("POST", "experiments", "removal", body={**body, "dry_run": False})).status == 200
    assert (workspace / "train.py").read_text() == "precious"
    assert (await table(api))["runs"] == []
    assert not (workspace / "train").exists()
