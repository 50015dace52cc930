"""Pods of a real cluster, with what its `kubectl get pods` showed of them; and pods that are written here."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import PodMount
from jupyterlab_t9kjob.core.spec import Device
from jupyterlab_t9kjob.engines.kubernetes.client.json_access import seconds
from jupyterlab_t9kjob.engines.kubernetes.cluster.pod_fields import slim
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView
from jupyterlab_t9kjob.engines.kubernetes.objects.pods import pod as pods

# Recorded with kubectl 1.32 and an API server 1.34: the server makes that text.
WHOLE = [json.loads(line) for line in (Path(__file__).parent / "data" / "pods.jsonl").read_text().splitlines()]


def container(name: str = "pytorch", **limits: str | int) -> dict[str, Any]:
    return {"name": name, "resources": {"limits": limits}}


def gpus(count: int | str, name: str = "c") -> dict[str, Any]:
    return {"name": name, "resources": {"limits": {"nvidia.com/gpu": count}}}


RECORDED = [{**seen, "pod": slim(seen["pod"])} for seen in WHOLE]
"""With the fields that are kept."""


@pytest.mark.parametrize("seen", RECORDED, ids=lambda seen: f"{seen['status']}-{seen['pod']['metadata']['name']}")
def test_the_status_is_kubectls(seen: dict[str, Any]) -> None:
    assert pods.status_text(seen["pod"]) == seen["status"]


def test_many_statuses_are_recorded() -> None:
    assert len({seen["status"] for seen in RECORDED}) >= 18


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({}, "Unknown"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
        ({"phase": "Running", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}, "ExitCode:3"),
        ({"phase": "Running", "containerStatuses": [{"state": {"terminated": {"signal": 9}}}]}, "Signal:9"),
        ({"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"signal": 9}}}]}, "Init:Signal:9"),
        (
            {"phase": "Pending", "initContainerStatuses": [{"state": {"terminated": {"exitCode": 2}}}]},
            "Init:ExitCode:2",
        ),
    ],
)
def test_statuses_that_are_rare(status: dict[str, Any], text: str) -> None:
    assert pods.status_text({"status": status}) == text


def test_a_pod_of_a_lost_node_that_is_deleted() -> None:
    gone = {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Running"}}
    assert pods.status_text(gone) == "Terminating"
    gone["status"]["reason"] = "NodeLost"
    assert pods.status_text(gone) == "Unknown"


def test_mounts_say_what_they_are() -> None:
    sources = {
        "data": {"persistentVolumeClaim": {"claimName": "t9k-mnt"}},
        "dshm": {"emptyDir": {"medium": "Memory"}},
        "tmp": {"emptyDir": {}},
        "host": {"hostPath": {"path": "/data"}},
        "cm": {"configMap": {"name": "settings"}},
        "secret": {"secret": {"secretName": "s3"}},
        "token": {"projected": {"sources": [{"serviceAccountToken": {}}, {"configMap": {"name": "kube-root-ca.crt"}}]}},
        "mixed": {"projected": {"sources": [{"configMap": {"name": "a"}}, {"secret": {"name": "b"}}]}},
        "nfs": {"nfs": {"server": "nas", "path": "/export"}},
        "odd": {"iscsi": {"iqn": "x"}},
    }
    container = {
        "name": "pytorch",
        "image": "torch:1",
        "command": ["torchrun"],
        "args": ["train.py"],
        "volumeMounts": [
            {"name": name, "mountPath": f"/{name}", **({"subPath": "me/x"} if name == "data" else {})}
            for name in [*sources, "missing"]
        ],
    }
    volumes = [{"name": name, **source} for name, source in sources.items()]
    pod = {
        "metadata": {"name": "train-worker-0", "uid": "u", "creationTimestamp": "2026-11-21T23:18:05Z"},
        "spec": {"containers": [{"name": "istio"}, container], "volumes": volumes},
        "status": {"podIP": "10.0.0.7"},
    }
    shown = pods.describe(ReplicaView("worker", 0, container="pytorch", pod=pod))
    assert shown is not None
    assert (shown.name, shown.ip, shown.image, shown.command) == (
        "train-worker-0",
        "10.0.0.7",
        "torch:1",
        ["torchrun", "train.py"],
    )
    assert shown.created_at == seconds("2026-11-21T23:18:05Z")
    assert shown.mounts[0] == PodMount(path="/data", source="PVC t9k-mnt", sub_path="me/x")
    assert [(one.source, one.read_only) for one in shown.mounts[1:]] == [
        ("memory", False),
        ("empty folder", False),
        ("/data on the node", False),
        ("ConfigMap settings", True),
        ("Secret s3", True),
        ("service account", True),
        ("ConfigMap a and Secret b", True),
        ("NFS nas:/export", False),
        ("iscsi", False),
        ("unknown volume", False),
    ]


@pytest.mark.parametrize(
    ("init", "main", "count"),
    [
        ([], [gpus(2)], 2),
        ([], [gpus("2"), gpus(1)], 3),
        ([gpus(4)], [gpus(2), gpus(1)], 4),  # an init container runs alone, before the others
        ([gpus(2)], [gpus(2), gpus(1)], 3),
        ([{**gpus(1), "restartPolicy": "Always"}], [gpus(2)], 3),  # a sidecar runs beside them
        ([{**gpus(1), "restartPolicy": "Always"}, gpus(4)], [gpus(2)], 5),  # and beside the init containers after it
        ([gpus(4), {**gpus(1), "restartPolicy": "Always"}], [gpus(2)], 4),
        ([], [{"resources": {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 1}}}], 1),
    ],
)
def test_devices_are_counted_as_the_scheduler_does(init: list[Any], main: list[Any], count: int) -> None:
    pod = {"spec": {"initContainers": init, "containers": main}}
    assert pods.devices(pod) == {"nvidia.com/gpu": count}
    assert pods.device(pod) == Device(name="nvidia.com/gpu", count=count)


def test_devices_that_compute_come_before_those_that_carry() -> None:
    pod = {"spec": {"containers": [container(**{"rdma/hca": 1, "hygon.com/dcu": 4, "cpu": "8", "memory": "16Gi"})]}}
    assert pods.devices(pod) == {"rdma/hca": 1, "hygon.com/dcu": 4}
    assert pods.device(pod) == Device(name="hygon.com/dcu", count=4)
    assert pods.device({"spec": {"containers": [container(cpu=4)]}}) is None


def test_only_pods_on_a_node_that_are_not_over_hold_devices() -> None:
    spec = {"containers": [gpus(2)]}
    waiting = {"spec": spec, "status": {"phase": "Pending"}}
    starting = {"spec": {**spec, "nodeName": "n1"}, "status": {"phase": "Pending"}}
    over = {"spec": {**spec, "nodeName": "n1"}, "status": {"phase": "Succeeded"}}
    assert pods.held([waiting, starting, over]) == {"nvidia.com/gpu": 2}


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-11-21T23:18:05Z", 1795303085.0),
        ("2026-11-21T23:18:05.250000000Z", 1795303085.25),
        ("2026-11-22T07:18:05+08:00", 1795303085.0),
        ("0001-01-01T00:00:00Z", None),
        ("1970-01-01T00:00:00Z", None),
        ("2026-13-01T00:00:00Z", None),
        ("9999-12-31T23:59:59-23:59", 253402387139.0),
        ("2026-11-21", None),
        ("", None),
        (None, None),
        (7, None),
    ],
)
def test_times_of_the_api(written: Any, read: float | None) -> None:
    assert seconds(written) == read
