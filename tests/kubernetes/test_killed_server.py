"""A job outlives the server that submitted it, and its object: through the API of a server that is killed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.harness import Kube, Volume, files_in
from tests.local.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]

SCRIPT = Path(__file__).with_name("cpu_training.py")
ENDED = ("Succeeded", "Failed")


def test_a_job_outlives_the_server(kube: Kube, volume: Volume, image: str, start_lab: Callable[..., Lab]) -> None:
    engine = "kubeflow"
    mount = {"claim": volume.claim, "lab_path": str(volume.path), "mount_path": "/t9k/mnt"}
    lab = start_lab(kubernetes_volumes=[mount], kubernetes_owner="tester")
    lab.until_available("t9k", "kubeflow")
    place = volume.path / engine
    place.mkdir()
    shutil.copy(SCRIPT, place / "train.py")
    prefill = lab.ask("POST", "launch", "prefill", body={"path": f"{engine}/train.py", "engine": engine})
    assert prefill.status == 200, prefill.body
    spec: dict[str, Any] = prefill.json["spec"]
    spec["runtime"]["image"] = image
    spec["replica_specs"][0]["replicas"] = 2
    spec["torchrun"] = {"proc_per_node": 1}
    body = {"engine": engine, "namespace": kube.namespace, "spec": spec, "request_id": f"request-{engine}"}
    made = lab.ask("POST", "jobs", body=body)
    assert made.status == 201, made.body
    job = made.json
    assert job["entrypoint_path"] == f"{engine}/train.py"
    lab.until(job["id"], lambda seen: seen["phase"] == "Running")
    lab.kill()
    lab.start()
    lab.until_available(engine)
    again = lab.ask("POST", "jobs", body=body)
    assert again.json["id"] == job["id"]
    done = lab.until(job["id"], lambda seen: seen["phase"] in ENDED)
    assert done["phase"] == "Succeeded", done["reason"]
    assert files_in(place, "events.out.tfevents.*")
    assert (volume.path / engine / "runs" / job["name"]).is_dir()
    assert [path.startswith(f"{engine}/runs/") for path in done["log_dir_paths"]] == [True]
    # the job ends with its first replica: the other one may be ended in its last moment
    lab.until_part((job["id"], "replicas"), lambda part: part["replicas"][0]["attempts"][0]["exit_code"] == 0)
    reasons = {event["reason"] for event in lab.ask("GET", "jobs", job["id"], "events").json["events"]}
    assert "Scheduled" in reasons
    replicas = lab.ask("GET", "jobs", job["id"], "replicas").json["replicas"]
    assert len(replicas) == 2
    streams = lab.ask("GET", "jobs", job["id"], "logs").json["streams"]
    assert {(each["replica"], each["source"]) for each in streams} >= {
        (replica["name"], "rank") for replica in replicas
    }
    deleted = lab.ask("DELETE", "jobs", job["id"])
    assert deleted.status == 202, deleted.body
    gone = lab.until(job["id"], lambda seen: seen["deleted"] and not seen["pending_action"])
    assert gone["phase"] == "Succeeded"
    lab.until_listed(lambda ids: job["id"] not in ids)
    assert job["id"] in [each["id"] for each in lab.listed(deleted="true")]
    assert lab.ask("GET", "jobs", job["id"], "logs").json["streams"]
    assert lab.ask("POST", "jobs", job["id"], "remove", body={}).status == 204
    assert lab.ask("GET", "jobs", job["id"]).status == 404
