"""What a JobSet looks like, and what is understood of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.manifests import KINDS, ManifestError, cross, parse, problems, read_job, render, to_yaml
from jupyterlab_t9kjob.core.spec import JobSpec
from tests.unit.manifests.test_indexed_job import make

DATA = Path(__file__).parent / "data"
FORM = KINDS["jobset"]


def job_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the only Job, without its pod template."""
    (job,) = manifest["spec"]["replicatedJobs"]
    return {name: value for name, value in job["template"]["spec"].items() if name != "template"}


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


def test_three_pods_meet_at_the_first_and_start_again_together() -> None:
    spec = make()
    manifest = render(spec, "jobset")
    assert (manifest["apiVersion"], manifest["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
    assert manifest["metadata"]["labels"] == {"jupyterlab-t9kjob/engine": "jobset"}  # Other JobSets are not listed.
    assert manifest["spec"].keys() == {"network", "failurePolicy", "replicatedJobs"}
    assert manifest["spec"]["network"] == {"enableDNSHostnames": True}
    assert manifest["spec"]["failurePolicy"] == {"maxRestarts": 3}
    (job,) = manifest["spec"]["replicatedJobs"]
    assert (job["name"], job["replicas"]) == ("worker", 1)
    assert job_of(manifest) == {
        "completionMode": "Indexed",
        "completions": 3,
        "parallelism": 3,
        "backoffLimit": 0,
        "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
        "podReplacementPolicy": "Failed",
    }
    pod = pod_of(manifest)
    assert pod["restartPolicy"] == "Never" and "subdomain" not in pod  # JobSet sets it.
    (container,) = pod["containers"]
    hosted = 'exec torchrun --rdzv_conf=is_host=$((JOB_COMPLETION_INDEX == 0)),read_timeout=600 "$@"'
    assert container["args"][1].endswith(hosted)
    assert (container["args"][0], container["args"][2]) == ("-c", "torchrun")
    assert {"--nnodes=3", "--rdzv_endpoint=mnist-worker-0-0.mnist:29500"} < set(container["args"])
    assert parse(manifest).spec == spec
    assert read_job(to_yaml(manifest)).spec == spec
    assert FORM.translate(manifest, FORM.usual)[0] == manifest
    assert FORM.translate(FORM.translate(manifest, FORM.inner)[0], FORM.usual)[0] == manifest


@pytest.mark.parametrize(
    ("policy", "deadline", "restarts", "final"),
    [
        ("Never", None, 0, []),
        ("OnFailure", None, 3, []),
        ("OnFailure", 60, 3, ["DeadlineExceeded"]),
        ("ExitCode", None, 3, ["PodFailurePolicy"]),
        ("ExitCode", 60, 3, ["DeadlineExceeded", "PodFailurePolicy"]),
    ],
)
def test_what_ends_the_job_at_once(policy: str, deadline: int | None, restarts: int, final: list[str]) -> None:
    spec = make(
        replica_specs=[{"replicas": 2, "restart_policy": policy}],
        run_policy={"active_deadline_seconds": deadline, "ttl_seconds": 60},
    )
    manifest = render(spec, "jobset")
    rules = [{"name": "final", "action": "FailJobSet", "onJobFailureReasons": final}]
    assert manifest["spec"]["failurePolicy"] == {"maxRestarts": restarts, **({"rules": rules} if final else {})}
    assert manifest["spec"]["ttlSecondsAfterFinished"] == 60
    assert job_of(manifest).get("activeDeadlineSeconds") == deadline
    assert [rule["action"] for rule in job_of(manifest).get("podFailurePolicy", {}).get("rules", [])] == (
        ["Count", "FailJob"] if policy == "ExitCode" else []
    )
    assert parse(manifest).spec == spec


def test_a_jobset_as_the_cluster_has_it() -> None:
    """The API server and JobSet's webhook add defaults."""
    read = read_job((DATA / "jobset.yaml").read_text())
    assert (read.kind, read.name, read.namespace) == ("jobset", "counting", "demo")
    assert [(group.replicas, group.restart_policy) for group in read.spec.replica_specs] == [(2, "OnFailure")]
    assert read.spec.extra == {} and read.notes == []
    assert read.spec.run_policy.backoff_limit == 2
    assert read.spec.entrypoint.value == "/t9k/mnt/count.py" and read.spec.torchrun is None


def test_jobsets_of_others_keep_what_the_form_lacks() -> None:
    """Of a JobSet with several Jobs, the first is the form's."""
    container = {"name": "main", "image": "torch:2", "command": ["torchrun", "train.py"]}
    fields = {"parallelism": 2, "completions": 2, "template": {"spec": {"containers": [container]}}}
    jobs = [
        {"name": name, "replicas": replicas, "template": {"spec": fields}}
        for name, replicas in (("leader", 1), ("helpers", 3))
    ]
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "theirs"},
        "spec": {
            "replicatedJobs": jobs,
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "failurePolicy": {"maxRestarts": 2, "restartStrategy": "BlockingRecreate"},
        },
    }
    spec = parse(manifest).spec
    assert (spec.total_replicas, spec.run_policy.backoff_limit, spec.entrypoint.value) == (2, 2, "torchrun")
    rendered = render(spec, "jobset")
    assert parse(rendered).spec == spec
    assert [job["name"] for job in rendered["spec"]["replicatedJobs"]] == ["leader", "helpers"]
    assert rendered["spec"]["replicatedJobs"][1] == jobs[1]
    assert rendered["spec"]["startupPolicy"] == {"startupPolicyOrder": "InOrder"}
    assert rendered["spec"]["failurePolicy"]["restartStrategy"] == "BlockingRecreate"
    assert job_of({"spec": {"replicatedJobs": rendered["spec"]["replicatedJobs"][:1]}})["backoffLimit"] == 6
    assert pod_of(rendered)["restartPolicy"] == "OnFailure"


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ({}, "NoReplicas", "/manifest/spec/replicatedJobs/0/template/spec/template"),
        ({"replicatedJobs": []}, "NoReplicas", "/manifest/spec/replicatedJobs/0/template/spec/template"),
        ({"replicatedJobs": [{"name": "a"}]}, "NoReplicas", "/manifest/spec/replicatedJobs/0/template/spec/template"),
        ({"replicatedJobs": [{"template": {"spec": {"template": {"spec": {"containers": []}}}}}]}, "NoContainer",
         "/manifest/spec/replicatedJobs/0/template/spec/template/spec/containers"),
        ({"replicatedJobs": [{"template": 5}]}, "WrongType", "/manifest/spec/replicatedJobs/0/template"),
    ],
)  # fmt: skip
def test_a_jobset_without_pods_is_refused_at_its_field(spec: Any, code: str, field: str) -> None:
    with pytest.raises(ManifestError) as refused:
        parse({"kind": "JobSet", "apiVersion": FORM.api_version, "metadata": {"name": "a"}, "spec": spec})
    assert (refused.value.code, refused.value.field) == (code, field)


@pytest.mark.parametrize("other", ["t9k", "kubeflow", "job", "trainjob"])
def test_a_jobset_crosses_to_other_kinds_and_back(other: str) -> None:
    changes: dict[str, Any] = {}
    if other == "trainjob":  # It has no restart policy.
        changes = {"replica_specs": [{"replicas": 3}], "run_policy": {"backoff_limit": 3}}
    manifest = render(make(**changes), "jobset")
    template = manifest["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    template["metadata"] = {"labels": {"team": "vision"}}
    spec = parse(manifest).spec
    there, notes = cross(spec, "jobset", other, KINDS[other].capabilities)
    assert notes == []
    assert "'team': 'vision'" in str(render(there, other))
    back, notes = cross(there, other, "jobset", FORM.capabilities)
    assert notes == [] and back == spec


def test_two_types_are_refused() -> None:
    spec: JobSpec = make(replica_specs=[{"type": "master"}, {"type": "worker", "replicas": 2}])
    (problem,) = [check for check in problems(spec, "jobset") if check.level == "error"]
    assert (problem.code, problem.field) == ("Unsupported", "/spec/replica_specs/1")
