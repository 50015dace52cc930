"""PyTorchJobs: rendered from a spec, and read into one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import Context, parse, read_job, render
from jupyterlab_t9kjob.core.spec import JobSpec

DATA = Path(__file__).parent / "data"


def make(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(
        {
            "name": "mnist",
            "entrypoint": {"value": "/w/train.py"},
            "args": ["--epochs", "2"],
            "runtime": {"image": "torch:2"},
            "replica_specs": [{"replicas": 3}],
            "torchrun": {"proc_per_node": 2, "max_restarts": 1, "extra_options": ["--role", "trainer"]},
            "mounts": [{"claim": "c", "mount_path": "/w"}],
            **changes,
        }
    )


def container_of(manifest: dict[str, Any], role: str) -> dict[str, Any]:
    container: dict[str, Any] = manifest["spec"]["pytorchReplicaSpecs"][role]["template"]["spec"]["containers"][0]
    return container


def test_a_master_and_workers() -> None:
    spec = make()
    manifest = render(spec, "kubeflow", context=Context(namespace="demo"))
    roles = manifest["spec"]["pytorchReplicaSpecs"]
    assert (manifest["apiVersion"], manifest["kind"]) == ("kubeflow.org/v1", "PyTorchJob")
    assert manifest["spec"]["nprocPerNode"] == "2"
    assert manifest["spec"]["runPolicy"] == {"backoffLimit": 3, "cleanPodPolicy": "Running"}
    assert (roles["Master"]["replicas"], roles["Worker"]["replicas"]) == (1, 2)
    assert container_of(manifest, "Master")["name"] == "pytorch"
    assert container_of(manifest, "Master")["command"] == ["torchrun"]
    assert container_of(manifest, "Master")["args"] == [
        "--role",
        "trainer",
        "--nnodes=3",
        "--nproc_per_node=2",
        "--max_restarts=1",
        "--rdzv_backend=c10d",
        "--rdzv_id=mnist",
        "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)",
        "--rdzv_conf=is_host=1",
        "--log_dir=/w/.t9kjob/logs/mnist/$(T9KJOB_POD_UID)",
        "--tee=3",
        "train.py",
        "--epochs",
        "2",
    ]
    assert "--rdzv_conf=is_host=0" in container_of(manifest, "Worker")["args"]
    assert {"name": "dshm", "mountPath": "/dev/shm"} in container_of(manifest, "Worker")["volumeMounts"]
    assert parse(manifest).spec == spec


def test_one_node_needs_no_name() -> None:
    spec = make(replica_specs=[{"replicas": 1}])
    manifest = render(spec, "kubeflow")
    assert list(manifest["spec"]["pytorchReplicaSpecs"]) == ["Master"]
    assert "--rdzv_endpoint=localhost:0" in container_of(manifest, "Master")["args"]


def test_an_elastic_job_has_no_master() -> None:
    spec = make(elastic={"min": 1, "max": 4})
    manifest = render(spec, "kubeflow")
    assert list(manifest["spec"]["pytorchReplicaSpecs"]) == ["Worker"]
    assert manifest["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 3
    assert manifest["spec"]["elasticPolicy"] == {"minReplicas": 1, "maxReplicas": 4, "rdzvBackend": "c10d"}
    args = container_of(manifest, "Worker")["args"]
    assert "--nnodes=1:4" in args and "--rdzv_endpoint=$(PET_RDZV_ENDPOINT)" in args
    assert parse(manifest).spec == spec


def test_processes_are_counted_also_without_torchrun() -> None:
    spec = make(torchrun=None)
    manifest = render(spec, "kubeflow")
    assert manifest["spec"]["nprocPerNode"] == "1"
    container = container_of(manifest, "Worker")
    assert (container["command"], container["args"]) == (["python"], ["train.py", "--epochs", "2"])


def test_policies() -> None:
    spec = make(
        paused=True,
        run_policy={"backoff_limit": 0, "clean_up": "All", "ttl_seconds": 60, "active_deadline_seconds": 5},
        scheduling={"queue": "team"},
    )
    manifest = render(spec, "kubeflow")
    assert manifest["spec"]["runPolicy"] == {
        "suspend": True,
        "backoffLimit": 0,
        "activeDeadlineSeconds": 5,
        "cleanPodPolicy": "All",
        "ttlSecondsAfterFinished": 60,
    }
    assert manifest["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "team"}
    assert parse(manifest).spec == spec
    gang = make(scheduling={"queue": "team", "scheduler": "volcano"})
    manifest = render(gang, "kubeflow")
    assert manifest["spec"]["runPolicy"]["schedulingPolicy"] == {"queue": "team"}
    assert "labels" not in manifest["metadata"]


def test_debug_replaces_the_command() -> None:
    spec = make(debug={})
    manifest = render(spec, "kubeflow")
    container = container_of(manifest, "Worker")
    assert (container["command"], container["args"]) == (["sleep"], ["inf"])
    assert parse(manifest).spec == spec


def test_arenas_jobs_are_understood() -> None:
    read = read_job((DATA / "arena.yaml").read_text())
    spec = read.spec
    assert (read.kind, read.name, read.namespace) == ("kubeflow", "pytorch-dist", "default")
    assert [(group.type, group.replicas) for group in spec.replica_specs] == [("master", 1), ("worker", 2)]
    assert [group.restart_policy for group in spec.replica_specs] == ["Never", "OnFailure"]
    assert spec.entrypoint.model_dump() == {"kind": "command", "value": "sh"}
    assert spec.torchrun is None and spec.shm is not None and spec.shm.size_limit == "2Gi"
    assert [mount.claim for mount in spec.mounts] == ["training-data"]
    assert spec.replica_specs[0].resources.device is not None
    assert [note.code for note in read.notes] == ["Unlimited", "Kept"]
    again = render(spec, "kubeflow")
    pod = again["spec"]["pytorchReplicaSpecs"]["Worker"]["template"]
    assert pod["spec"]["initContainers"][0]["name"] == "init-code"
    assert pod["metadata"]["labels"]["release"] == "pytorch-dist"
    assert "ownerReferences" not in again["metadata"]
    assert "last-applied" not in str(again["metadata"]["annotations"])


@pytest.mark.parametrize(
    "args",
    [
        ["--nproc_per_node=2", "train.py"],
        ["--nnodes=3", "--nproc_per_node=2", "train.py"],
        ["--nnodes=9", "--nproc_per_node=2", "--max_restarts=1", "--rdzv_backend=c10d", "--rdzv_id=x",
         "--rdzv_endpoint=$(MASTER_ADDR):$(MASTER_PORT)", "train.py"],
        [],
    ],
)  # fmt: skip
def test_a_torchrun_command_that_is_not_ours_is_kept_as_it_is(args: list[str]) -> None:
    manifest = render(make(), "kubeflow")
    for role in ("Master", "Worker"):
        container_of(manifest, role)["args"] = list(args)
    parsed = parse(manifest)
    assert parsed.spec.torchrun is None
    assert (parsed.spec.entrypoint.value, parsed.spec.args) == ("torchrun", args)
    again = render(parsed.spec, "kubeflow")
    assert container_of(again, "Master").get("args", []) == args


def test_workers_alone_are_kept() -> None:
    manifest = render(make(torchrun=None), "kubeflow")
    del manifest["spec"]["pytorchReplicaSpecs"]["Master"]
    spec = parse(manifest).spec
    roles = render(spec, "kubeflow")["spec"]["pytorchReplicaSpecs"]
    assert list(roles) == ["Worker"] and roles["Worker"]["replicas"] == 2
