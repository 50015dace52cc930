"""The accelerators of a job, before and after its specification is read."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.core.manifests import OLDER, parse, render
from jupyterlab_t9kjob.core.spec import Device, JobSpec
from jupyterlab_t9kjob.engines.kubernetes.objects.indexed_job import IndexedJob
from jupyterlab_t9kjob.engines.kubernetes.objects.jobset.jobset import JobSet
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from jupyterlab_t9kjob.engines.kubernetes.objects.trainjob import TrainJob
from jupyterlab_t9kjob.engines.kubernetes.scheduling.job_size import devices_in, size_of, size_text
from tests.unit.manifests.strategies import specs


@pytest.mark.parametrize("kind", [T9k(), Kubeflow(), IndexedJob(), JobSet(), TrainJob()], ids=lambda kind: kind.engine)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(data=st.data())
def test_the_object_says_what_the_spec_says(kind: JobKind, data: st.DataObject) -> None:
    manifest = json.loads(json.dumps(render(data.draw(specs(kind.manifests)), kind.manifests)))
    assert devices_in(kind, manifest, kind.replicas(manifest, [])) == size_of(parse(manifest).spec).devices


def elastic() -> JobSpec:
    return JobSpec.model_validate(
        {
            "name": "elastic",
            "entrypoint": {"kind": "script", "value": "/w/train.py"},
            "runtime": {"image": "torch:1"},
            "replica_specs": [{"replicas": 4, "resources": {"device": {"name": "nvidia.com/gpu", "count": 2}}}],
            "torchrun": {"proc_per_node": 2},
            "elastic": {"min": 1, "max": 4, "expected": 3},
        }
    )


@pytest.mark.parametrize("kind", [T9k(), Kubeflow()], ids=lambda kind: kind.engine)
def test_an_elastic_job_has_the_replicas_that_it_expects(kind: JobKind) -> None:
    manifest = json.loads(json.dumps(render(elastic(), kind.manifests)))
    size = size_of(parse(manifest).spec)
    assert size.replicas == len(kind.replicas(manifest, [])) == 3
    assert devices_in(kind, manifest, kind.replicas(manifest, [])) == size.devices
    assert size.devices == Device(name="nvidia.com/gpu", count=6)


def test_an_older_t9k_starts_all_replicas_of_an_elastic_job() -> None:
    manifest = json.loads(json.dumps(render(elastic(), "t9k", dialect=OLDER)))
    asked = len(T9k().replicas(manifest, []))
    assert asked == size_of(parse(manifest).spec).replicas == 4
    assert str(size_text(elastic(), "demo", asked)) == "4 replicas in demo"
