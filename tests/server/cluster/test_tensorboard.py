"""TensorBoards of jobs in a cluster: on the PVC that the lab has as well, else in the cluster, else nowhere."""

from __future__ import annotations

import json

from jupyterlab_t9kjob.core.spec import Entrypoint, JobSpec, Mount, TensorBoardSpec
from tests.server.cluster.conftest import Place
from tests.server.conftest import Answer


def spec(*log_dirs: str) -> JobSpec:
    return JobSpec(
        name="train-1",
        entrypoint=Entrypoint(kind="command", value="make"),
        mounts=[Mount(claim="work", mount_path="/w"), Mount(claim="theirs", mount_path="/theirs")],
        tensorboard=TensorBoardSpec(log_dirs=list(log_dirs)),
    )


async def opened(cluster: Place, job_id: str) -> Answer:
    return await cluster.api("POST", "tensorboards", body={"job_id": job_id})


async def test_on_a_volume_that_the_lab_has(cluster: Place) -> None:
    """An engine in a cluster says of a job where the lab sees its log directories."""
    runs = cluster.root / "work" / "runs" / "train-1"
    job = cluster.t9k.put(spec=spec("/w/runs/train-1"), engine="t9k", namespace="team", log_dirs=[str(runs)])
    answer = await opened(cluster, job.id)
    assert answer.status == 201, answer.json
    assert answer.json["log_dirs"] == [str(runs)] and answer.json["paths"] == ["work/runs/train-1"]
    assert (await opened(cluster, job.id)).json["id"] == answer.json["id"]


async def test_on_a_volume_that_the_lab_has_not(cluster: Place) -> None:
    job = cluster.t9k.put(spec=spec("/theirs/runs"), engine="t9k", namespace="team")
    answer = await opened(cluster, job.id)
    assert (answer.status, answer.json["code"]) == (422, "LogDirectoryElsewhere")
    assert answer.json["message"] == (
        "/theirs/runs is not on this machine: it is on the PVC theirs, which is not mounted here."
    )
    url = "https://t9k.example/t9k/tensorboards/projects/team/name/train-1/"
    job = cluster.t9k.put(spec=spec("/theirs/runs"), engine="t9k", namespace="team", tensorboard_url=url)
    answer = await opened(cluster, job.id)
    assert (answer.status, answer.json["hint"]) == (422, f"Open the cluster's own TensorBoard: {url}")
    job = cluster.t9k.put(spec=spec("/tmp/runs"), engine="t9k", namespace="team")
    assert "on none of the job's volumes" in (await opened(cluster, job.id)).json["message"]
    job = cluster.t9k.put(spec=spec(), engine="t9k", namespace="team")
    assert (await opened(cluster, job.id)).json["code"] == "NoLogDirectory"
    assert json.loads((await cluster.api("GET", "tensorboards")).body)["tensorboards"] == []
