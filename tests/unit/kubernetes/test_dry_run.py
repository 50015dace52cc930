"""A dry run: what the API server says of a job object that is not created."""

from __future__ import annotations

from typing import Any, cast

import pytest

from jupyterlab_t9kjob.core.errors import JobError
from jupyterlab_t9kjob.engines.kubernetes.client.api import Json, KubeApi
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow
from jupyterlab_t9kjob.engines.kubernetes.submit import submission

MANIFEST: Json = {"kind": "PyTorchJob", "metadata": {"name": "job", "namespace": "demo"}, "spec": {}}
NO_DRY_RUN = 'admission webhook "jobs.example.test" does not support dry run'


class Server:
    """An API server that accepts an object, or refuses it."""

    def __init__(self, refusal: str | None = None) -> None:
        self.refusal = refusal
        self.queries: list[dict[str, str]] = []

    async def create(self, _path: str, manifest: Json, query: dict[str, str]) -> Json:
        self.queries.append(query)
        if self.refusal is not None:
            raise ApiError(400, {"reason": "BadRequest", "message": self.refusal})
        return manifest


async def dry_run(server: Server) -> bool:
    api = cast("KubeApi", cast("Any", server))
    tried = await submission.dry_run(api, Kubeflow(), MANIFEST, edited=False)
    assert [query["dryRun"] for query in server.queries] == ["All"]
    return tried


async def test_an_accepted_object_was_tried() -> None:
    assert await dry_run(Server())


async def test_a_webhook_without_dry_runs_is_no_error_of_the_job() -> None:
    assert not await dry_run(Server(NO_DRY_RUN))


async def test_a_refusal_is_one() -> None:
    with pytest.raises(JobError):
        await dry_run(Server("spec.nodes is wrong"))
