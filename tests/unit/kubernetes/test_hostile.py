"""No object of a cluster, of whatever shape, breaks what reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyterlab_t9kjob.engines.kubernetes.objects.indexed_job import IndexedJob
from jupyterlab_t9kjob.engines.kubernetes.objects.jobset.jobset import JobSet
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind, ReportsProgress, newest
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.objects.pods import pod as reading
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.attempts import attempts_of, observe
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.replicas import replica
from jupyterlab_t9kjob.engines.kubernetes.objects.t9k import T9k
from jupyterlab_t9kjob.engines.kubernetes.objects.training_runtimes import images_of
from jupyterlab_t9kjob.engines.kubernetes.objects.trainjob import TrainJob
from jupyterlab_t9kjob.engines.kubernetes.scheduling.job_size import devices_in

DATA = Path(__file__).parent / "data"


def lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


SEEN = [moment for name in ("pytorchjob-paused.jsonl", "pytorchjob-restarted.jsonl") for moment in lines(name)]
PODS = [seen["pod"] for seen in lines("pods.jsonl")] + [pod for moment in SEEN for pod in moment["pods"]]
T9K_JOB = {
    "metadata": {"name": "x", "uid": "u", "annotations": {"jupyterlab-t9kjob/stopped": "x"}},
    "spec": {
        "replicaSpecs": [{"type": "worker", "replicas": 2, "template": {"spec": {"containers": [{"name": "python"}]}}}],
        "elastic": {"enabled": True},
        "runMode": {"pause": {"enabled": True}},
        "runPolicy": {"activeDeadlineSeconds": 5, "backoffLimit": 2},
    },
    "status": {
        "phase": "Failed",
        "backoffCount": 1,
        "conditions": [
            {"type": "Failed", "status": "True", "reason": "-", "lastTransitionTime": "2026-11-21T10:00:00Z"}
        ],
        "tasks": [
            {"type": "worker", "restartCount": 1, "replicas": [
                {"name": "a", "uid": "p", "phase": "Running", "containers": [{"name": "python", "exitCode": 1}]},
            ]},
        ],
        "tensorboard": {"dependent": {"name": "x"}},
    },
}  # fmt: skip
INDEXED_JOB = {
    "metadata": {"name": "x", "uid": "u", "annotations": {"jupyterlab-t9kjob/ran": "true"}},
    "spec": {
        "completions": 2,
        "backoffLimit": 2,
        "suspend": True,
        "podFailurePolicy": {"rules": [{"action": "FailJob"}]},
        "template": {"spec": {"restartPolicy": "Never", "subdomain": "x", "containers": [{"name": "pytorch"}]}},
    },
    "status": {
        "startTime": "2026-11-21T10:00:00Z",
        "failed": 1,
        "ready": 1,
        "conditions": [{"type": "Suspended", "status": "True", "lastTransitionTime": "2026-11-21T10:00:00Z"}],
    },
}
JOBSET = {
    "metadata": {"name": "x", "uid": "u", "annotations": {"jupyterlab-t9kjob/ran": "true"}},
    "spec": {
        "suspend": True,
        "failurePolicy": {"maxRestarts": 2},
        "replicatedJobs": [{"name": "worker", "replicas": 1, "template": {"spec": INDEXED_JOB["spec"]}}],
    },
    "status": {
        "restarts": 1,
        "restartsCountTowardsMax": 1,
        "replicatedJobsStatus": [{"name": "worker", "ready": 1}],
        "conditions": [{"type": "Suspended", "status": "True", "lastTransitionTime": "2026-11-21T10:00:00Z"}],
    },
}
TRAINJOB = {
    "metadata": {"name": "x", "uid": "u", "annotations": {"jupyterlab-t9kjob/stopped": "x"}},
    "spec": {
        "runtimeRef": {"name": "torch-distributed"},
        "suspend": True,
        "activeDeadlineSeconds": 5,
        "trainer": {"numNodes": 2, "numProcPerNode": 2, "image": "torch:2", "env": [{"name": "A", "value": "b"}]},
        "podTemplateOverrides": [{"targetJobs": [{"name": "node"}], "spec": {"containers": [{"name": "node"}]}}],
    },
    "status": {
        "conditions": [
            {"type": "Failed", "status": "True", "reason": "-", "lastTransitionTime": "2026-11-21T10:00:00Z"}
        ],
        "jobsStatus": [{"name": "node", "ready": 1, "succeeded": 0, "failed": 1, "active": 1, "suspended": 0}],
        "trainerStatus": {"progressPercentage": 40, "lastUpdatedTime": "2026-01-01T00:10:00Z"},
    },
}
RUNTIME = {
    "metadata": {"name": "x", "namespace": "y", "labels": {"trainer.kubeflow.org/framework": "torch"}},
    "spec": {
        "mlPolicy": {"numNodes": 1, "torch": {"numProcPerNode": "auto"}},
        "template": {"spec": {"replicatedJobs": [{
            "name": "node",
            "template": {
                "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
                "spec": {"template": {"spec": {"containers": [
                    {"name": "node", "image": "torch:2", "resources": {"limits": {"nvidia.com/gpu": 1}}},
                ]}}},
            },
        }]}},
    },
}  # fmt: skip

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from(["True", "Running", "Failed", "0001-01-01T00:00:00Z", "9" * 400, "\ud800", "-", "../.."])
)  # fmt: skip
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)


@st.composite
def spoilt(draw: st.DrawFn, good: list[Any]) -> Any:
    """Return a real object in which some parts have been replaced by anything."""
    result = json.loads(json.dumps(draw(st.sampled_from(good))))
    for _ in range(draw(st.integers(0, 4))):
        node = result
        while isinstance(node, (dict, list)) and node:
            key = draw(st.sampled_from(sorted(node) if isinstance(node, dict) else range(len(node))))
            if not isinstance(node[key], (dict, list)) or not node[key] or draw(st.integers(0, 3)) == 0:
                node[key] = draw(anything)
                break
            node = node[key]
    return result


@pytest.mark.parametrize(
    ("kind", "good"),
    [
        (T9k(), [T9K_JOB]),
        (Kubeflow(), [moment["job"] for moment in SEEN]),
        (IndexedJob(), [INDEXED_JOB]),
        (JobSet(), [JOBSET]),
        (TrainJob(), [TRAINJOB]),
    ],
    ids=["t9k", "kubeflow", "indexed-job", "jobset", "trainjob"],
)
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_nothing_breaks_a_kind(kind: JobKind, good: list[Any], data: st.DataObject) -> None:
    manifest = data.draw(spoilt(good) | anything)
    pods = data.draw(st.lists(spoilt(PODS) | anything, max_size=4))
    state = kind.state(manifest, pods)
    assert state.cause != "-"
    kind.pod_uids(manifest)
    kind.pause(manifest, on=True)
    kind.remind_at(manifest)
    kind.tensorboard_url(manifest)
    if isinstance(kind, ReportsProgress):
        kind.progress(manifest)
    newest(pods)
    names = set()
    for place in kind.replicas(manifest, pods):
        names.add(place.name)
        assert "/" not in place.name
        history = observe([], place, state, now=1e9)
        history = observe(history, place, state, now=2e9)
        json.dumps(attempts_of(history)[0].model_dump() if history else None)
        replica(place, history, None, state).model_dump_json()
    assert len(names) == len(kind.replicas(manifest, pods))
    devices_in(kind, manifest, kind.replicas(manifest, pods))


@settings(max_examples=100, deadline=None)
@given(spoilt([RUNTIME]) | anything)
def test_nothing_breaks_the_reading_of_a_training_runtime(runtime: Any) -> None:
    for offered in images_of(runtime):
        offered.model_dump_json()


@settings(max_examples=100, deadline=None)
@given(spoilt(PODS) | anything)
def test_nothing_breaks_the_reading_of_a_pod(pod: Any) -> None:
    assert reading.status_text(pod)
    reading.device(pod)
    reading.held([pod])
    T9k().owner_of(pod)
    Kubeflow().owner_of(pod)
    IndexedJob().owner_of(pod)
    JobSet().job_name_of(pod)
    TrainJob().job_name_of(pod)
