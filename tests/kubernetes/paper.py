"""Nodes that exist on paper only, and pods on them, to count what is free."""

from __future__ import annotations

import contextlib
import threading
from datetime import datetime, timezone
from typing import Any

import httpx

from jupyterlab_t9kjob.core.capacity import Capacity
from tests.kubernetes.harness import Kube

GPU = "nvidia.com/gpu"
OURS = {"key": "t9kjob.test/paper", "value": "true", "effect": "NoSchedule"}
"""On all nodes of paper, so that nobody's pods go there."""
NOT_READY = "node.kubernetes.io/not-ready"


class Paper:
    """Nodes that exist on paper only, whose hearts beat, and pods that say of themselves that they run there."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        self._conditions: dict[str, list[dict[str, str]]] = {}
        self._end = threading.Event()
        self._heart = threading.Thread(target=self._beat)
        self._heart.start()

    def node(
        self,
        name: str,
        *,
        ready: str = "True",
        allocatable: dict[str, str] | None = None,
        labels: dict[str, str] | None = None,
        taints: tuple[dict[str, str], ...] = (),
        unschedulable: bool = False,
        full: bool = False,
        **devices: str,
    ) -> str:
        """Make a node of 64 cores with devices, ``node("a", **{"nvidia.com/gpu": "8"})``; `full` is its disk."""
        name = f"{self._kube.namespace}-{name}"
        spec = {"taints": [OURS, *taints], "unschedulable": unschedulable}
        capacity = {"cpu": "64", "memory": "512Gi", "pods": "110", **devices}
        self._kube.create("nodes", {"metadata": {"name": name, "labels": labels or {}}, "spec": spec})
        status = {
            "capacity": capacity,
            "allocatable": capacity | (allocatable or {}),
            "conditions": [{"type": "Ready", "status": ready}, {"type": "DiskPressure", "status": str(full)}],
            "addresses": [{"type": "InternalIP", "address": "10.9.9.9"}],
        }
        self._conditions[name] = status["conditions"]
        self._kube.patch("nodes", name, {"status": status}, "status")
        if ready == "True":
            self._kube.until("nodes", name, _takes_pods)
        return name

    def _beat(self) -> None:
        while not self._end.wait(10):
            now = {"lastHeartbeatTime": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")}
            for name, conditions in list(self._conditions.items()):
                with contextlib.suppress(httpx.HTTPError):  # its test has removed it; else the next beat comes soon
                    status = {"conditions": [each | now for each in conditions]}
                    self._kube.patch("nodes", name, {"status": status}, "status")

    def pod(self, name: str, node: str, *containers: dict[str, Any], phase: str = "Running", **spec: Any) -> None:
        """Put a pod on a node, past the scheduler."""
        body = {"nodeName": node, "tolerations": [{"operator": "Exists"}], "containers": list(containers), **spec}
        self._kube.create("pods", {"metadata": {"name": name}, "spec": body})
        self._kube.patch("pods", name, {"status": {"phase": phase}}, "status")

    def remove(self) -> None:
        self._end.set()
        self._heart.join()
        self._kube.ask("DELETE", self._kube.path("pods"), {"gracePeriodSeconds": 0})
        for node in self._conditions:
            self._kube.delete("nodes", node)


def _takes_pods(node: dict[str, Any] | None) -> bool:
    """Return True if the cluster has removed the taint `not-ready`, which each new node has."""
    return node is not None and all(taint["key"] != NOT_READY for taint in node["spec"].get("taints", []))


def container(name: str = "main", *, limits: bool = False, **asked: str) -> dict[str, Any]:
    """Describe a container; devices have to have a limit."""
    devices = {name: value for name, value in asked.items() if "/" in name}
    resources = {"limits": asked} if limits else {"requests": asked, "limits": devices}
    return {"name": name, "image": "test.local/none:1", "resources": resources}


def pool_of(capacity: Capacity, product: str) -> Any:
    """Return the pool of a product, which no other test has; None if there is none."""
    return next((pool for pool in capacity.pools if pool.product == product), None)
