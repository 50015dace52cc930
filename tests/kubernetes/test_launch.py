"""From a file in the lab to a trained model in the cluster, through the API of a server; and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.em.load import read_mapping
from tests.kubernetes.harness import Kube, Volume
from tests.local.lab import Lab

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]
TRAIN = (Path(__file__).parent / "cpu_training.py").read_text()
RECORD = """
from t9k import em

with em.create_run(name="train", hparams=vars(args)) as run:
    run.log("train", {"loss": loss.item()}, step=step)
"""
RECORDED = TRAIN.replace("\ndist.barrier()", f"{RECORD}\ndist.barrier()")
SEED_003 = (Path(__file__).parents[1] / "unit" / "manifests" / "data" / "seed003.yaml").read_text()
PLURALS = {"t9k": "pytorchtrainingjobs", "kubeflow": "pytorchjobs"}
ENDED = ("Succeeded", "Failed")


@pytest.fixture(scope="module")
def lab(start_lab: Callable[..., Lab], volume: Volume, kube: Kube) -> Lab:
    """Start a lab that is no pod: its settings say where it has the PVC."""
    folder = volume.path / "proj"
    folder.mkdir(mode=0o777)
    (folder / "train.py").write_text(RECORDED)
    (volume.path / "torch_mnist_trainingjob.py").write_text(TRAIN)
    lab = start_lab(
        kubernetes_volumes=[{"claim": volume.claim, "lab_path": str(volume.path), "mount_path": "/t9k/mnt"}]
    )
    lab.until_available("t9k", "kubeflow")
    return lab


def form(lab: Lab, path: str, engine: str, **more: Any) -> dict[str, Any]:
    answer = lab.ask("POST", "launch", "prefill", body={"path": path, "engine": engine, **more})
    assert answer.status == 200, answer.body
    return answer.json


def small(spec: dict[str, Any], image: str, **changes: Any) -> dict[str, Any]:
    """Return a spec for a machine that has little."""
    resources = {"cpu": {"request": "50m"}, "memory": {"request": "128Mi"}}
    groups = [{"type": "worker", "replicas": 1, "resources": resources}]
    spec = spec | {"runtime": {"image": image, "pull_policy": "IfNotPresent"}, "replica_specs": groups}
    return spec | {"torchrun": {"proc_per_node": 1}} | changes


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
def test_from_a_click_to_a_trained_model(engine: str, lab: Lab, kube: Kube, volume: Volume, image: str) -> None:
    filled = form(lab, "proj/train.py", engine)
    spec = filled["spec"]
    assert filled["namespace"] == kube.namespace
    assert filled["empty"] == ([] if spec["runtime"]["image"] == image else ["/spec/runtime/image"])
    assert spec["entrypoint"]["value"] == "/t9k/mnt/proj/train.py"
    name = spec["name"]
    # the image has neither the recorder nor T9k's SDK
    assert [variable["value"] for variable in spec["env"]] == [filled["recorder"]["folder"]]
    # the user chooses an image and two nodes
    spec = small(spec, image)
    spec["replica_specs"][0]["replicas"] = 2
    dry = lab.ask("POST", "jobs", body={"engine": engine, "spec": spec, "request_id": f"dry-{name}", "dry_run": True})
    assert dry.status == 200, dry.body
    errors = [line for line in dry.json["checks"] if line["level"] == "error"]
    assert errors == [] and "DryRun" in {line["code"] for line in dry.json["checks"]}
    assert kube.find(PLURALS[engine], name) is None
    body = {"engine": engine, "spec": spec, "request_id": f"click-{engine}", "path": "proj/train.py"}
    answer = lab.ask("POST", "jobs", body=body)
    assert answer.status == 201, answer.body
    # the name is taken now, for both kinds
    assert form(lab, "proj/train.py", engine)["spec"]["name"] != name
    job = lab.until(answer.json["id"], lambda job: job["phase"] in ENDED)
    assert job["phase"] == "Succeeded", job
    assert (job["entrypoint_path"], job["log_dir_paths"]) == ("proj/train.py", [f"proj/runs/{name}"])
    runs = volume.path / "proj" / "runs" / name
    assert list(runs.glob("events.out.tfevents*")) and (runs / "model.pt").stat().st_size > 0
    records = {folder: read_mapping(folder / "metadata.yaml") for folder in (volume.path / ".em/runs").iterdir()}
    labels = [f"job={name}", f"job-request=click-{engine}"]  # of the name, and of this submission alone
    [(record, metadata)] = [item for item in records.items() if item[1]["labels"] == labels]
    assert metadata["status"] == "Complete"
    assert (record / "metrics/train.yaml").read_text().count("loss: ") == 1
    # the lab's own TensorBoard reads them where the lab has them
    opened = lab.ask("POST", "tensorboards", body={"job_id": job["id"]})
    assert (opened.status, opened.json["paths"]) == (201, [f"proj/runs/{name}"]), opened.body
    assert lab.ask("DELETE", "tensorboards", opened.json["id"]).status == 204
    again = form(lab, "proj/train.py", engine)
    assert again["spec"]["runtime"]["image"] == image and again["empty"] == []
    clone = form(lab, "proj/train.py", engine, spec=spec)["spec"]
    assert clone["name"] != name and clone["mounts"] == spec["mounts"]


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
def test_what_is_refused_leaves_nothing(engine: str, lab: Lab, kube: Kube, volume: Volume, image: str) -> None:
    spec = small(form(lab, "proj/train.py", engine)["spec"], image, name="refused-1")
    bad = {
        "/spec/mounts/1/claim": ({"mounts": [*spec["mounts"], {"claim": "nothing", "mount_path": "/x"}]}, {}),
        "/namespace": ({}, {"namespace": "there-is-none"}),
        "/spec/entrypoint/value": ({"entrypoint": {"kind": "script", "value": "/t9k/mnt/proj/gone.py"}}, {}),
        "/spec/runtime/image": ({"runtime": {}}, {}),
    }
    for field, (changes, request) in bad.items():
        body = {"engine": engine, "spec": spec | changes, "request_id": "refused-0001", **request}
        answer = lab.ask("POST", "jobs", body=body)
        assert (answer.status, answer.json["field"]) == (422, field), answer.body
        assert answer.json["hint"]
        preview = lab.ask("POST", "launch", "preview", body={"engine": engine, "spec": spec | changes, **request})
        errors = [line for line in preview.json["checks"] if line["level"] == "error"]
        assert field in {line["field"] for line in errors}, preview.body
    text = SEED_003.replace("claimName: mnist", f"claimName: {volume.claim}").replace("maxRestarts", "maxRestart")
    answer = lab.ask("POST", "jobs", body={"engine": "t9k", "manifest": text, "request_id": "refused-0002"})
    assert (answer.status, answer.json["field"]) == (422, "/manifest/spec/torchrunConfig/maxRestart"), answer.body
    for plural in PLURALS.values():
        assert not {job["metadata"]["name"] for job in kube.list(plural)}.intersection({"refused-1", "mnist"})


def test_a_name_that_is_taken_in_the_cluster(lab: Lab, kube: Kube, image: str) -> None:
    """By a job that somebody else made meanwhile; the same request again is no second job."""
    spec = small(form(lab, "proj/train.py", "kubeflow")["spec"], image, name="taken-1", paused=True)
    body = {"engine": "kubeflow", "spec": spec, "request_id": "taken-0001"}
    first = lab.ask("POST", "jobs", body=body)
    assert first.status == 201, first.body
    assert lab.ask("POST", "jobs", body=body).json["id"] == first.json["id"]
    second = lab.ask("POST", "jobs", body=body | {"request_id": "taken-0002"})
    assert (second.status, second.json["field"]) == (409, "/spec/name")
    kube.delete("pytorchjobs", "taken-1")


def test_a_manifest_that_was_copied_from_a_cluster(lab: Lab, kube: Kube, image: str) -> None:
    """The status and the owner of the old job are removed: with the owner, the new job would be garbage-collected."""
    spec = small(form(lab, "proj/train.py", "kubeflow")["spec"], image, name="copied-1", paused=True)
    first = lab.ask("POST", "jobs", body={"engine": "kubeflow", "spec": spec, "request_id": "copied-0001"})
    assert first.status == 201, first.body
    there = kube.find("pytorchjobs", "copied-1")
    assert there is not None
    metadata = there["metadata"]
    metadata["name"] = "copied-2"
    metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": metadata["uid"]}]
    metadata["annotations"]["jupyterlab-t9kjob/stopped"] = metadata["annotations"]["jupyterlab-t9kjob/paused"] = "x"
    body = {"engine": "kubeflow", "manifest": json.dumps(there), "request_id": "copied-0002"}
    second = lab.ask("POST", "jobs", body=body)
    assert (second.status, second.json["name"]) == (201, "copied-2"), second.body
    assert second.json["id"] != first.json["id"]
    copy = kube.find("pytorchjobs", "copied-2")
    assert copy is not None
    assert "ownerReferences" not in copy["metadata"]
    kept = copy["metadata"]["annotations"]
    assert kept["jupyterlab-t9kjob/request-id"] == "copied-0002"
    assert not kept.keys() & {"jupyterlab-t9kjob/stopped", "jupyterlab-t9kjob/paused"}
    for name in ("copied-1", "copied-2"):
        kube.delete("pytorchjobs", name)


def test_a_pasted_manifest_is_accepted_as_it_is(lab: Lab, kube: Kube) -> None:
    read = lab.ask("POST", "launch", "manifest", body={"text": SEED_003})
    assert (read.status, read.json["manifest"], read.json["engine"]) == (200, SEED_003, "t9k")
    assert [line["code"] for line in read.json["lost"]] == []
    body = {"engine": "t9k", "manifest": SEED_003, "request_id": "pasted-0001"}
    dry = lab.ask("POST", "jobs", body=body | {"dry_run": True})
    errors = [line["code"] for line in dry.json["checks"] if line["level"] == "error"]
    assert [code for code in errors if code != "NodeTooSmall"] == ["NoSuchVolume"]  # nodes of tests may be small
    assert "DryRun" in {line["code"] for line in dry.json["checks"]}
    # its PVC is called mnist, which is not here
    answer = lab.ask("POST", "jobs", body=body)
    assert (answer.status, answer.json["code"]) == (422, "NoSuchVolume")
    assert kube.find("pytorchtrainingjobs", "mnist") is None


def test_pvcs_of_the_namespace(lab: Lab, kube: Kube, volume: Volume) -> None:
    [found] = lab.ask("GET", "cluster", "volumes", engine="t9k", namespace=kube.namespace).json["volumes"]
    assert (found["claim"], found["access_modes"], found["phase"]) == (volume.claim, ["ReadWriteMany"], "Bound")
    assert (found["lab_path"], found["mount_path"]) == (str(volume.path), "/t9k/mnt")
    assert lab.ask("GET", "cluster", "volumes", engine="t9k", namespace="there-is-none").status == 422
    assert lab.ask("POST", "engines").status == 200


def test_the_fields_of_a_manifest_are_those_of_the_clusters_schema(lab: Lab) -> None:
    for engine, kind in (("t9k", "PyTorchTrainingJob"), ("kubeflow", "PyTorchJob")):
        answer = lab.ask("GET", "cluster", "manifest-schema", engine=engine)
        assert answer.status == 200, answer.body
        schema = answer.json
        assert (schema["source"], schema["kind"], schema["note"]) == ("cluster", kind, None)
        assert len(answer.body) < 400_000
        node = schema["nodes"][schema["root"]]
        groups = {"t9k": ["replicaSpecs", "[]"], "kubeflow": ["pytorchReplicaSpecs", "Master"]}[engine]
        for part in ("spec", *groups, "template", "spec", "containers", "[]", "imagePullPolicy"):
            inner = node["items"] if part == "[]" else node["fields"].get(part, node["values"])
            node = schema["nodes"][inner]
        assert node["types"] == ["string"] and "Always" in node["description"], node  # in the words of Kubernetes
