"""Jobs of all namespaces: those with jobs if the account may list them, else those that it sees, up to a limit."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from jupyterlab_t9kjob.core.translation import translated
from jupyterlab_t9kjob.engines.kubernetes.client.errors import ApiError, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.cluster.engine_part import MOST_NAMESPACES, ReadsCluster
from jupyterlab_t9kjob.engines.kubernetes.objects.kubeflow import Kubeflow

MANY = [f"team-{number}" for number in range(MOST_NAMESPACES + 2)]


class Engine(ReadsCluster):
    """An engine whose cluster answers with the namespaces of its jobs, or with an error."""

    def __init__(self, answer: list[str] | Exception) -> None:
        self.watched: list[str] = []
        self._kind = Kubeflow()

        async def read(path: str, take: Callable[[Any], None]) -> str:
            assert path == "/apis/kubeflow.org/v1/pytorchjobs"
            if isinstance(answer, Exception):
                raise answer
            for name in answer:
                take({"metadata": {"namespace": name}})
            return "1"

        async def discovered() -> None:
            pass

        async def use(namespace: str) -> None:
            self.watched.append(namespace)

        self._cluster: Any = SimpleNamespace(
            api=SimpleNamespace(read=read),
            found=lambda _kind: object(),
            discovered=discovered,
            use=use,
            namespaces=["own", "seen"],
        )


@pytest.mark.parametrize(
    ("answer", "watched", "reason"),
    [
        (["a", "b", "a"], ["a", "b"], None),
        (ApiError(403, {"message": "no"}), ["own", "seen"], "permission to list PyTorchJob"),
        (ApiError(500, {"message": "it burns"}), [], "it burns"),
        (Unreachable("The cluster does not answer."), [], "does not answer"),
        (MANY, MANY[:MOST_NAMESPACES], "2 more namespaces"),
    ],
    ids=["allowed", "forbidden", "error", "unreachable", "many"],
)
async def test_all_namespaces(answer: Any, watched: list[str], reason: str | None) -> None:
    engine = Engine(answer)
    told = await engine.watch_all_namespaces()
    assert engine.watched == watched
    assert told is None if reason is None else reason in translated(told or "")
