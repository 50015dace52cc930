"""What an Indexed Job of Kubernetes looks like, and what is understood of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import KINDS, cross, parse, problems, read_job, render
from jupyterlab_t9kjob.core.spec import JobSpec

DATA = Path(__file__).parent / "data"
INDEX = {"fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}


def make(**changes: Any) -> JobSpec:
    return JobSpec.model_validate(
        {
            "name": "mnist",
            "entrypoint": {"value": "/w/train.py"},
            "args": ["--epochs", "2"],
            "runtime": {"image": "torch:2"},
            "replica_specs": [{"replicas": 3, "restart_policy": "OnFailure"}],
            "torchrun": {"proc_per_node": 2, "max_restarts": 1},
            "mounts": [{"claim": "c", "mount_path": "/w"}],
            **changes,
        }
    )


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = manifest["spec"]["template"]["spec"]
    return pod


def test_three_pods_meet_at_the_first() -> None:
    spec = make()
    manifest = render(spec, "job")
    fields = {name: value for name, value in manifest["spec"].items() if name != "template"}
    assert (manifest["apiVersion"], manifest["kind"]) == ("batch/v1", "Job")
    assert manifest["metadata"]["labels"] == {"jupyterlab-t9kjob/engine": "indexed-job"}  # Other Jobs are not listed.
    assert fields == {
        "completionMode": "Indexed",
        "completions": 3,
        "parallelism": 3,
        "backoffLimit": 3,
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
        "podReplacementPolicy": "Failed",
    }
    pod = pod_of(manifest)
    assert (pod["restartPolicy"], pod["subdomain"]) == ("OnFailure", "mnist")
    (container,) = pod["containers"]
    assert container["command"] == ["sh"]
    hosted = 'exec torchrun --rdzv_conf=is_host=$((JOB_COMPLETION_INDEX == 0)),read_timeout=600 "$@"'
    assert container["args"][1].endswith(f"; {hosted}")
    assert (container["args"][0], container["args"][2]) == ("-c", "torchrun")
    assert {"--nnodes=3", "--nproc_per_node=2", "--rdzv_endpoint=mnist-0.mnist:29500"} < set(container["args"])
    assert container["args"][-3:] == ["train.py", "--epochs", "2"]
    assert parse(manifest).spec == spec


def test_processes_without_torchrun_find_each_other() -> None:
    manifest = render(make(torchrun=None), "job")
    (container,) = pod_of(manifest)["containers"]
    assert (container["command"], container["args"]) == (["python"], ["train.py", "--epochs", "2"])
    found = {entry["name"]: entry.get("value", entry.get("valueFrom")) for entry in container["env"]}
    assert found["MASTER_ADDR"] == "mnist-0.mnist" and found["WORLD_SIZE"] == "3" and found["RANK"] == INDEX
    own = make(torchrun=None, env=[{"name": "WORLD_SIZE", "value": "1"}])
    (container,) = pod_of(render(own, "job"))["containers"]
    assert [entry["value"] for entry in container["env"] if entry["name"] == "WORLD_SIZE"] == ["1"]


def test_one_pod_needs_no_name() -> None:
    manifest = render(make(replica_specs=[{"replicas": 1}]), "job")
    pod = pod_of(manifest)
    assert "subdomain" not in pod and manifest["spec"]["backoffLimit"] == 0  # never restarted
    assert pod["containers"][0]["command"] == ["torchrun"]
    assert "--rdzv_endpoint=localhost:0" in pod["containers"][0]["args"]


def test_exit_codes_decide() -> None:
    spec = make(replica_specs=[{"replicas": 2, "restart_policy": "ExitCode"}])
    manifest = render(spec, "job")
    assert pod_of(manifest)["restartPolicy"] == "Never"  # podFailurePolicy allows no other.
    assert manifest["spec"]["podFailurePolicy"]["rules"] == [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [130, 137, 138, 143]}},
    ]
    assert parse(manifest).spec == spec


def test_a_job_as_the_cluster_has_it() -> None:
    """The API server adds defaults, and the controller adds a selector and labels."""
    read = read_job((DATA / "indexed-job.yaml").read_text())
    assert (read.kind, read.name, read.namespace) == ("job", "counting", "demo")
    assert [(group.replicas, group.restart_policy) for group in read.spec.replica_specs] == [(2, "Never")]
    assert read.spec.extra == {} and read.notes == []
    assert read.spec.entrypoint.value == "/t9k/mnt/count.py" and read.spec.torchrun is None


def test_a_job_without_indexes_says_so() -> None:
    spec = "{template: {spec: {containers: [{name: x, image: i}]}}}"
    text = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a}}\nspec: {spec}"
    read = read_job(text)
    assert [note.code for note in read.notes] == ["NotIndexed", "Kept"]
    assert parse(render(read.spec, "job")).spec == read.spec
    assert render(read.spec, "job")["spec"]["completionMode"] == "NonIndexed"


@pytest.mark.parametrize("other", ["t9k", "kubeflow"])
def test_a_job_crosses_to_other_kinds_and_back(other: str) -> None:
    manifest = render(make(), "job")
    pod_of(manifest)["hostNetwork"] = True
    spec = parse(manifest).spec
    there, notes = cross(spec, "job", other, KINDS[other].capabilities)
    assert notes == []
    assert "'hostNetwork': True" in str(render(there, other))
    back, notes = cross(there, other, "job", KINDS["job"].capabilities)
    assert notes == [] and back == spec


def test_two_types_are_refused() -> None:
    spec = make(replica_specs=[{"type": "master"}, {"type": "worker", "replicas": 2}])
    (problem,) = [check for check in problems(spec, "job") if check.level == "error"]
    assert (problem.code, problem.field) == ("Unsupported", "/spec/replica_specs/1")


@pytest.mark.parametrize("args", [["", "a"], ["-m", ""], ["-c", "pass"]])
def test_a_python_without_a_script_stays_a_command(args: list[str]) -> None:
    spec = make(entrypoint={"kind": "command", "value": "python"}, args=args, torchrun=None)
    assert parse(render(spec, "job")).spec == spec
