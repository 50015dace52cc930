"""Objects as Kueue (0.13 to 0.18) and T9k's scheduler write them, and an API that has them.

From the types and controllers of kubernetes-sigs/kueue, and T9k's API reference and manual of the scheduler.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyterlab_t9kjob.engines.kubernetes.client.api import ApiError

Json = dict[str, Any]

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
T9K = "/apis/scheduler.tensorstack.dev/v1beta1"


class Objects:
    """An API that has some objects, and collections of them, by path; a number is what it refuses with."""

    def __init__(self, things: Mapping[str, Json | list[Json] | int]) -> None:
        self._things = things

    async def get(self, path: str) -> Json:
        return self._found(path)

    async def list(self, path: str) -> tuple[list[Json], str]:
        return self._found(path), "1"

    def _found(self, path: str) -> Any:
        thing = self._things.get(path, 404)
        if isinstance(thing, int):
            raise ApiError(thing, {"message": f"{path} is refused"})
        return thing


def condition(kind: str, status: bool, reason: str, message: str = "", at: str = "2026-11-22T05:00:00Z") -> Json:
    found = {"type": kind, "status": str(status), "reason": reason, "message": message, "lastTransitionTime": at}
    return {**found, "observedGeneration": 1}


def local_queue(name: str, cluster_queue: str = "gpus", *, waiting: int = 0, **spec: Any) -> Json:
    """Return a LocalQueue that takes jobs; with a stop policy one that doesn't."""
    stopped = spec.get("stopPolicy", "None") != "None"
    active = (
        condition("Active", False, "Stopped", "LocalQueue is stopped")
        if stopped
        else condition("Active", True, "Ready", "Can submit new workloads to localQueue")
    )
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": name, "namespace": "team", "uid": f"uid-{name}", "resourceVersion": "5"},
        "spec": {"clusterQueue": cluster_queue, "stopPolicy": "None", **spec},
        "status": {
            "conditions": [active],
            "pendingWorkloads": waiting,
            "reservingWorkloads": 1,
            "admittedWorkloads": 1,
            "flavorsReservation": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "total": "6"}]}],
        },
    }


def cluster_queue(name: str = "gpus", **spec: Any) -> Json:
    """Return a ClusterQueue with 8 GPUs in two flavors, of which 6 are reserved, and 40 cores."""
    flavors = [("a100", "6", "6"), ("v100", "2", "0")]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": name, "resourceVersion": "7"},
        "spec": {
            "namespaceSelector": {},
            "queueingStrategy": "BestEffortFIFO",
            "stopPolicy": "None",
            "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
            "resourceGroups": [
                {
                    "coveredResources": ["nvidia.com/gpu"],
                    "flavors": [
                        {"name": flavor, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": quota}]}
                        for flavor, quota, _used in flavors
                    ],
                },
                {
                    "coveredResources": ["cpu"],
                    "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": "40"}]}],
                },
            ],
            **spec,
        },
        "status": {
            "conditions": [condition("Active", True, "Ready", "Can admit new workloads")],
            "flavorsReservation": [
                {"name": flavor, "resources": [{"name": "nvidia.com/gpu", "total": used, "borrowed": "0"}]}
                for flavor, _quota, used in flavors
            ]
            + [{"name": "any", "resources": [{"name": "cpu", "total": "2500m", "borrowed": "0"}]}],
            "pendingWorkloads": 3,
            "admittedWorkloads": 1,
        },
    }


def t9k_queue(name: str, allocated: Json | None = None, **spec: Any) -> Json:
    """Return a queue of T9k's scheduler, open to every namespace."""
    return {
        "apiVersion": "scheduler.tensorstack.dev/v1beta1",
        "kind": "Queue",
        "metadata": {"name": name, "namespace": "t9k-system", "resourceVersion": "9"},
        "spec": {"namespaceSelector": {}, **spec},
        "status": {"allocated": allocated or {}, "podGroups": {"total": 2}, "pods": {"running": 4}},
    }


def namespace(**labels: str) -> Json:
    return {"metadata": {"name": "team", "labels": {"kubernetes.io/metadata.name": "team", **labels}}}


def workload(
    *conditions: Json, gpus: tuple[int, ...] = (2, 6), queue: str = "team-a", job: str = "uid-job", **more: Any
) -> Json:
    """Return the Workload of a PyTorchJob whose master has the first of these numbers of GPUs, and each worker 2."""
    master, *workers = gpus
    pod_sets = [("master", 1, master), *(("worker", number // 2, 2) for number in workers)]
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "pytorchjob-train-3f2a1",
            "namespace": "team",
            "uid": "uid-workload",
            "resourceVersion": "12",
            "creationTimestamp": "2026-11-22T05:00:00Z",
            "labels": {"kueue.x-k8s.io/job-uid": job},
            "ownerReferences": [
                {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "name": "train", "uid": job, "controller": True}
            ],
        },
        "spec": {
            "active": True,
            "queueName": queue,
            "priority": 0,
            "podSets": [
                {
                    "name": name,
                    "count": count,
                    "template": {
                        "spec": {"containers": [{"name": "pytorch", "resources": {"limits": {"nvidia.com/gpu": each}}}]}
                    },
                }
                for name, count, each in pod_sets
            ],
            **more.pop("spec", {}),
        },
        "status": {"conditions": list(conditions), **more},
    }


def pending(message: str, reason: str = "Pending") -> Json:
    return condition("QuotaReserved", False, reason, message)
