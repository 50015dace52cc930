"""Elastic jobs, and PyTorchJobs without a Master: the number of nodes can be changed, within the bounds."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.client.options import JobOptions
from jupyterlab_t9kjob.core.manifests import KINDS, cross, launched, parse, problems, render
from jupyterlab_t9kjob.core.manifests.pod_fields import with_pod_fields
from jupyterlab_t9kjob.core.spec import JobSpec

WORKERS = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: a}
spec:
  %s
  pytorchReplicaSpecs:
    Worker:
      replicas: %d
      restartPolicy: OnFailure
      template: {spec: {containers: [{name: pytorch, image: img, workingDir: /w, command: [%s, train.py]}]}}
"""
POLICY = "elasticPolicy: {minReplicas: 1, maxReplicas: 3, rdzvBackend: c10d}"
T9K = """
apiVersion: batch.tensorstack.dev/v1beta1
kind: PyTorchTrainingJob
metadata: {name: e}
spec:
  torchrunConfig: {enabled: true, procPerNode: "1"}
  elastic: {enabled: true, minReplicas: 1, maxReplicas: 8, expectedReplicas: 2}
  replicaSpecs:
  - type: worker
    replicas: 2
    template: {spec: {containers: [{name: pytorch, image: i, workingDir: /w, args: [train.py]}]}}
"""


def read(text: str) -> JobSpec:
    return parse(yaml.safe_load(text)).spec


def worker(spec: JobSpec) -> dict[str, Any]:
    roles = render(spec, "kubeflow")["spec"]["pytorchReplicaSpecs"]
    assert list(roles) == ["Worker"]
    found: dict[str, Any] = roles["Worker"]
    return found


def bounds(spec: JobSpec, kind: str) -> list[str | None]:
    return [check.field for check in problems(spec, kind) if check.code == "ElasticBounds"]


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("program", ["python", "torchrun"])
@pytest.mark.parametrize("policy", [POLICY, "nprocPerNode: '1'"])
def test_workers_alone_can_be_changed(policy: str, program: str, replicas: int) -> None:
    spec = read(WORKERS % (policy, replicas, program))
    assert spec.total_replicas == replicas and worker(spec)["replicas"] == replicas
    spec = JobOptions(nodes=3, env={"FOO": "bar"}).applied(spec)
    assert worker(spec)["replicas"] == 3 and not bounds(spec, "kubeflow")
    assert "FOO" in {entry["name"] for entry in worker(spec)["template"]["spec"]["containers"][0]["env"]}
    assert parse(render(spec, "kubeflow")).spec == spec
    beyond = JobOptions(nodes=4).applied(spec)
    assert worker(beyond)["replicas"] == 4
    assert bounds(beyond, "kubeflow") == (["/spec/replica_specs/0/replicas"] if policy == POLICY else [])


def test_pods_of_workers_alone_can_be_changed() -> None:
    spec = read(WORKERS % ("nprocPerNode: '1'", 2, "python"))
    spec = with_pod_fields(spec, "kubeflow", lambda pod, container: pod.update(hostNetwork=True))
    assert worker(spec)["template"]["spec"]["hostNetwork"] is True and worker(spec)["replicas"] == 2


@pytest.mark.parametrize("target", ["t9k", "job", "jobset", "trainjob"])
def test_workers_alone_are_the_replicas_of_another_engine(target: str) -> None:
    text = WORKERS.replace("template: {spec: {", "template: {spec: {serviceAccountName: s, ")
    spec = read(text % ("nprocPerNode: '1'", 2, "python"))
    crossed, notes = cross(spec, "kubeflow", target, KINDS[target].capabilities)
    assert not [note for note in notes if note.field == "/spec/extra"]
    assert crossed.total_replicas == 2 and "'serviceAccountName': 's'" in str(render(crossed, target))


def test_an_elastic_torchrun_of_the_operator_is_elastic_on_t9k() -> None:
    spec = read(WORKERS % (POLICY, 2, "torchrun"))
    crossed, notes = cross(spec, "kubeflow", "t9k", KINDS["t9k"].capabilities)
    assert not [note for note in notes if note.field == "/spec/extra"]
    assert render(crossed, "t9k")["spec"]["elastic"] == {"enabled": True, "minReplicas": 1, "maxReplicas": 3}
    again = launched(spec, "kubeflow")[0]
    assert again.elastic is not None and worker(again)["replicas"] == 2
    assert bounds(JobOptions(nodes=4).applied(again), "kubeflow") == ["/spec/replica_specs/0/replicas"]


def test_a_master_hosts_the_rendezvous_when_torchrun_is_switched_on() -> None:
    spec = read(WORKERS % ("nprocPerNode: '1'", 2, "python"))
    spec = JobOptions(processes=4).applied(spec)
    roles = render(spec, "kubeflow")["spec"]["pytorchReplicaSpecs"]
    assert {name: role["replicas"] for name, role in roles.items()} == {"Master": 1, "Worker": 1}
    assert parse(render(spec, "kubeflow")).spec == spec


def test_the_expected_number_of_an_elastic_job_is_that_of_the_nodes() -> None:
    spec = JobOptions(nodes=6).applied(read(T9K))
    manifest = render(spec, "t9k")["spec"]
    assert manifest["elastic"]["expectedReplicas"] == 6 and manifest["replicaSpecs"][0]["replicas"] == 6
    assert not bounds(spec, "t9k")
    assert bounds(JobOptions(nodes=9).applied(read(T9K)), "t9k") == ["/spec/elastic/expected"]
