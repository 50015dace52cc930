"""The schema of a kind's manifests, read from a cluster as rarely as possible."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.translation import Text
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.cluster.discovery import Found
from jupyterlab_t9kjob.engines.kubernetes.cluster.manifest_schema import ManifestSchemas
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow

pytestmark = pytest.mark.asyncio
DOCUMENT = "/openapi/v3/apis/kubeflow.org/v1"


class FakeCluster:
    """A cluster with one document, which counts the requests."""

    identity = "c"

    def __init__(self) -> None:
        kind = {
            "properties": {"spec": {"properties": {"nprocPerNode": {"type": "string"}}}},
            "x-kubernetes-group-version-kind": [{"group": "kubeflow.org", "kind": "PyTorchJob"}],
        }
        self.documents: dict[str, Any] = {DOCUMENT: {"components": {"schemas": {"k": kind}}}}
        self.api: Any = SimpleNamespace(get=self.get)
        self.version: str | None = "hash=1"
        self.asked: list[str] = []
        self.failure: Exception = ApiError(403, {"reason": "Forbidden", "message": "no"})

    async def discovered(self) -> None:
        return None

    def found(self, _kind: Any) -> Found | None:
        return Found(schema=self.version) if self.version is not None else None

    async def get(self, path: str) -> Any:
        self.asked.append(path)
        if path not in self.documents:
            raise self.failure
        return self.documents[path]


async def test_a_schema_is_read_once_for_each_version() -> None:
    cluster = FakeCluster()
    schemas = ManifestSchemas(Kubeflow(), cluster)  # type: ignore[arg-type]
    first = await schemas.schema()
    assert (first.source, first.note, cluster.asked.count(DOCUMENT)) == ("cluster", None, 1)
    assert await schemas.schema() is first and cluster.asked.count(DOCUMENT) == 1
    cluster.version = "hash=2"
    assert (await schemas.schema()).source == "cluster" and cluster.asked.count(DOCUMENT) == 2


@pytest.mark.parametrize("how", ["forbidden", "unreachable", "no kind", "no cluster"])
async def test_without_the_clusters_schema_the_known_fields_are_used_and_it_is_asked_again(how: str) -> None:
    cluster = FakeCluster()
    documents, api = cluster.documents, cluster.api
    if how in ("forbidden", "unreachable"):
        cluster.documents = {}
        cluster.failure = cluster.failure if how == "forbidden" else Unreachable(Text.verbatim("gone"))
    cluster.version = None if how == "no kind" else "hash=1"
    cluster.api = None if how == "no cluster" else api
    schemas = ManifestSchemas(Kubeflow(), cluster)  # type: ignore[arg-type]
    schema = await schemas.schema()
    assert schema.source == "bundled" and schema.note is not None and "can't be read" in schema.note
    cluster.documents, cluster.version, cluster.api = documents, "hash=1", api
    assert (await schemas.schema()).source == "cluster"
