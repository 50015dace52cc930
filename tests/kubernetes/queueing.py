"""Kueue and T9k's scheduler as far as their objects go: the CRDs, and what their controllers write, by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.kubernetes.harness import GROUPS, Kube
from tests.unit.kubernetes.queues import workload

Json = dict[str, Any]

KUEUE, T9K = "kueue.x-k8s.io", "scheduler.tensorstack.dev"
KINDS = {
    "localqueues": (KUEUE, "v1beta2", "LocalQueue", "Namespaced"),
    "clusterqueues": (KUEUE, "v1beta2", "ClusterQueue", "Cluster"),
    "workloads": (KUEUE, "v1beta2", "Workload", "Namespaced"),
    "queues": (T9K, "v1beta1", "Queue", "Namespaced"),
    "podgroups": (T9K, "v1beta1", "PodGroup", "Namespaced"),
}
SYSTEM = "t9k-system"
ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition(plural: str) -> Json:
    group, version, kind, scope = KINDS[plural]
    schema = {"type": "object", "properties": {"spec": ANYTHING, "status": ANYTHING}}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()},
            "versions": [{**served, "subresources": {"status": {}}}],
        },
    }


@contextmanager
def installed(kube: Kube) -> Iterator[None]:
    """Have both in the cluster; everything of them is gone afterwards."""
    kube.until("namespaces", SYSTEM, lambda found: found is None)  # one of a run before may still be ending
    try:
        for plural, (group, version, _kind, _scope) in KINDS.items():
            GROUPS[plural] = f"/apis/{group}/{version}"
            kube.create("customresourcedefinitions", definition(plural))
        for plural in KINDS:
            kube.until("customresourcedefinitions", f"{plural}.{KINDS[plural][0]}", _is_served)
        kube.create("namespaces", {"metadata": {"name": SYSTEM}})
        yield
    finally:
        kube.delete("namespaces", SYSTEM)
        for plural, (group, *_) in KINDS.items():
            kube.delete("customresourcedefinitions", f"{plural}.{group}")


def _is_served(definition: Json | None) -> bool:
    conditions = (definition or {}).get("status", {}).get("conditions") or []  # null until the first one is written
    return any(each["type"] == "Established" and each["status"] == "True" for each in conditions)


def path(kube: Kube, plural: str, namespace: str | None = None) -> str:
    group, version, _kind, scope = KINDS[plural]
    where = f"/namespaces/{namespace or kube.namespace}" if scope == "Namespaced" else ""
    return f"/apis/{group}/{version}{where}/{plural}"


def put(kube: Kube, plural: str, item: Json, namespace: str | None = None) -> Json:
    """Make an object with its status, as its controller would have it by now."""
    group, version, kind, _scope = KINDS[plural]
    where = path(kube, plural, namespace)
    metadata = {key: item["metadata"][key] for key in ("name", "ownerReferences") if key in item["metadata"]}
    body = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, "spec": item["spec"]}
    kube.ask("POST", where, body)
    return tell(kube, plural, metadata["name"], item["status"], namespace)


def tell(kube: Kube, plural: str, name: str, status: Json, namespace: str | None = None) -> Json:
    return kube.ask("PATCH", f"{path(kube, plural, namespace)}/{name}/status", {"status": status})


class Kueue:
    """Acts on one job as Kueue's controllers do.

    Parameters
    ----------
    name
        The PyTorchJob's.
    """

    def __init__(self, kube: Kube, name: str) -> None:
        self._kube, self._name = kube, name

    def notices(self, *conditions: Json, queue: str = "team-a", **more: Any) -> None:
        """Make a Workload for the job."""
        job = self._kube.find("pytorchjobs", self._name)
        assert job is not None
        item = workload(*conditions, queue=queue, job=job["metadata"]["uid"], **more)
        item["metadata"]["name"] = f"pytorchjob-{self._name}"
        item["metadata"]["ownerReferences"][0]["name"] = self._name
        put(self._kube, "workloads", item)

    def says(self, *conditions: Json) -> None:
        tell(self._kube, "workloads", f"pytorchjob-{self._name}", {"conditions": list(conditions)})

    def suspends(self, on: bool) -> None:
        self._kube.patch("pytorchjobs", self._name, {"spec": {"runPolicy": {"suspend": on}}})

    @property
    def active(self) -> bool:
        found = self._kube.ask("GET", f"{path(self._kube, 'workloads')}/pytorchjob-{self._name}")
        return bool(found["spec"]["active"])

    @property
    def suspended(self) -> bool:
        job = self._kube.find("pytorchjobs", self._name)
        assert job is not None
        return bool(job["spec"]["runPolicy"].get("suspend"))
