"""A server that speaks enough of the Kubernetes API for an engine: a namespace, and collections by their path."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyterlab_t9kjob.engines.kubernetes.cluster.connection import Cluster
from jupyterlab_t9kjob.engines.kubernetes.cluster.settings import Settings
from jupyterlab_t9kjob.engines.kubernetes.engine import KubernetesEngine
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import JobKind
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from tests.kubernetes.engines import patient
from tests.kubernetes.fakeapi import Act, Call, FakeApi, Json, hang, refuse, write_kubeconfig

GROUP = "/apis/kubeflow.org/v1"
EMPTY = ("pods", "events", "nodes", "resourcequotas", "namespaces")
JOBS = f"{GROUP}/namespaces/lab/pytorchjobs"


def training(name: str, *, created: str = "2026-01-01T00:00:00Z", **more: Any) -> Json:
    """Return a PyTorchJob."""
    template = {"spec": {"containers": [{"name": "pytorch", "image": "i", "command": ["true"]}]}}
    metadata = {"uid": name, "name": name, "namespace": "lab", "resourceVersion": "1", "creationTimestamp": created}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {**metadata, **more},
        "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1, "template": template}}},
    }


class FakeCluster(FakeApi):
    """Collections that change only as is told.

    Attributes
    ----------
    items
        By the collection's path; of others there are none.
    instead
        What is done instead of answering, by path.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.items: dict[str, list[Json]] = {JOBS: []}
        self.instead: dict[str, Act] = {}

    async def tell(self, path: str, kind: str, item: Json) -> None:
        """Tell of a change to whoever watches a collection."""
        self.version += 1
        item = {**item, "metadata": {**item["metadata"], "resourceVersion": str(self.version)}}
        for call in self.watches.values():
            if call.request.path == path:
                await call.event(kind, item)

    async def _handle(self, call: Call) -> None:
        path, method = call.request.path, call.request.method
        if path in self.instead:
            await self.instead[path](call)
        elif "sendInitialEvents" in call.request.query:
            await refuse(422, "Invalid", "sendInitialEvents is forbidden for watch")(call)
        elif call.request.query.get("watch"):
            await call.begin()
            async with self._changed:
                self.watches[len(self.requests)] = call
                self._changed.notify_all()
            await hang(call)
        elif path == "/version":
            await call.answer(200, {"gitVersion": "v1.34.0"})
        elif path == GROUP:
            await call.answer(200, {"resources": [{"name": "pytorchjobs", "kind": "PyTorchJob"}]})
        elif path.endswith("selfsubjectaccessreviews"):
            await call.answer(201, {"status": {"allowed": True}})
        elif method == "PATCH":
            (found,) = [one for items in self.items.values() for one in items if path.endswith(one["metadata"]["name"])]
            changed = json.loads(call.request.body)
            await call.answer(200, {**found, **{name: {**found[name], **part} for name, part in changed.items()}})
        elif path in self.items or path.rpartition("/")[2] in EMPTY:
            await call.answer(200, {"metadata": {"resourceVersion": "1"}, "items": self.items.get(path, [])})
        else:
            await refuse(404, "NotFound", "it is not there")(call)


@asynccontextmanager
async def kubeflow(
    server: FakeCluster, home: Path, kind: Callable[[], JobKind] = Kubeflow, **settings: Any
) -> AsyncIterator[KubernetesEngine]:
    """Run an engine against it, which has listed the jobs; its kind may be one that is made from Kubeflow's."""
    before = os.environ.get("KUBECONFIG")
    os.environ["KUBECONFIG"] = str(write_kubeconfig(home / "kubeconfig", {"server": server.url}))
    cluster = Cluster(Settings(**{"owner": "tester", **settings}))
    engine = KubernetesEngine(kind(), cluster, home, None)
    await engine.start()
    try:
        with patient():
            await cluster.discovered()
            yield engine
    finally:
        await engine.stop()
        os.environ.pop("KUBECONFIG") if before is None else os.environ.update(KUBECONFIG=before)
