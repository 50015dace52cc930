"""Every kind of bad input of the experiments, through all endpoints: shown as it is, and no answer is 500 or more."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from jupyterlab_t9kjob import em
from tests.server.conftest import Api
from tests.server.test_experiments import record, table, workspace  # noqa: F401 (a fixture)

NAME = "<img src=x onerror=alert(1)>"
LABEL = "x" * 10_000
GIGABYTE = 10**9


def _damaged(workspace: Path) -> None:  # noqa: F811
    cut = record("cut", (0.5, 0.25))
    file = cut / "metrics/train.yaml"
    file.write_bytes(file.read_bytes()[:-30])

    record("odd", (float("nan"), float("inf"), float("-inf"), 1e308))

    with em.create_run(name="back", labels=[LABEL]) as run:
        for step in (1, 2, 3, 1, 2):
            run.log("train", {"loss": step}, step=step)

    both = record("both")
    sequence = "  sequence:\n    epoch: null\n    step: {}\n    timestamp: '2024-01-01T00:00:00+00:00'\n"
    item = f"- value:\n    loss: 1.0\n{sequence}"
    with (both / "metrics/train.yaml").open("a") as one, (both / "metrics/train.yaml").open("a") as other:
        for step in range(10):
            one.write(item.format(step))
            other.write(item.format(step))

    named = record("named")
    metadata = named / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("name: named", f"name: '{NAME}'"))
    (named / "metrics/train.yaml").rename(named / f"metrics/{NAME.replace('/', '')}.yaml")

    large = record("large")
    with (large / "metrics/train.yaml").open("r+b") as content:
        content.truncate(GIGABYTE)  # Zeros without an end of line.

    deep = record("deep")
    (deep / "hyperparameters.yaml").write_text("a: " + "[" * 100_000)

    first, second, gone = em.create_artifact("first"), em.create_artifact("second"), em.create_artifact("gone")
    for source, target in ((first, second), (second, first)):
        with em.create_run(name="circle") as run:
            run.mark_input(source)
            run.mark_output(target)
            run.mark_output(gone)
    shutil.rmtree(gone.local or "")

    strange = record("bytes")
    strange.rename(os.fsdecode(b"strange\xff"))

    far = record("far")
    target = workspace.parent / "far"
    shutil.move(far, target)
    far.symlink_to(target)
    os.mkfifo(record("pipe") / "metrics/val.yaml")


async def test_bad_input_is_shown_as_it_is(api: Api, workspace: Path) -> None:  # noqa: F811
    _damaged(workspace)
    answer = await table(api)
    runs = {run["name"]: run for run in answer["runs"]}
    assert set(runs) == {"cut", "odd", "back", "both", NAME, "large", "deep", "circle", "pipe", "bytes"}
    assert [Path(entry["path"]).name[:4] for entry in answer["unreadable"]] == ["far_"]
    assert runs["cut"]["metrics"]["train.loss"]["count"] == 1
    assert runs["odd"]["metrics"]["train.loss"]["min"] == runs["odd"]["metrics"]["train.loss"]["max"] == 1e308
    assert runs["both"]["metrics"]["train.loss"]["count"] == 22
    assert runs["back"]["labels"] == [LABEL]
    assert list(runs[NAME]["metrics"]) == [f"{NAME}.loss"]
    flow = {}
    for name, run in runs.items():
        metrics = [*run["metrics"], "none"]
        for x in ("step", "epoch", "time"):
            body = {"runs": [run["id"]], "metrics": metrics, "x": x, "width": 10}
            assert (await api("POST", "experiments", "curves", body=body)).status == 200
        for metric in metrics:
            values = await api("GET", "experiments", "runs", run["id"], "values", metric=metric)
            assert values.status in (200, 404), name
        detail = await api("GET", "experiments", "runs", run["id"])
        assert (detail.status, detail.json["run"]) == (200, run)
        body = {"ids": [run["id"]], "dry_run": True}
        listed = await api("POST", "experiments", "removal", body=body)
        assert listed.status == 200
        flow = (await api("GET", "experiments", "flow", id=run["id"])).json if name == "circle" else flow
    steps = (
        await api("POST", "experiments", "curves", body={"runs": [runs["back"]["id"]], "metrics": ["train.loss"]})
    ).json
    assert steps["curves"][0]["x"] == [1, 2, 3, 1, 2]
    assert [edge["cycle"] for edge in flow["edges"]].count(True) == 1
    assert [node["name"] for node in flow["nodes"] if not node["found"]] == ["gone"]
    for node in flow["nodes"]:
        if node["kind"] == "artifact":
            status = (await api("GET", "experiments", "artifacts", node["id"])).status
            assert status == (200 if node["found"] else 404)
