"""The metrics API's answers, also wrong ones."""

from __future__ import annotations

from typing import Any

import pytest

from jupyterlab_t9kjob.core.resources import Column
from jupyterlab_t9kjob.engines.kubernetes.objects.kinds import ReplicaView
from jupyterlab_t9kjob.engines.kubernetes.resources.pod_metrics import limits_of, read_pods, values_of

pytestmark = pytest.mark.asyncio


class _Api:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def get(self, _path: str) -> Any:
        return self.answer


def item(name: str, cpu: Any, memory: Any) -> dict[str, Any]:
    usage = {"cpu": cpu, "memory": memory}
    sidecar = {"name": "sidecar", "usage": {"cpu": "1", "memory": "1Gi"}}
    return {
        "metadata": {"name": name},
        "timestamp": "t",
        "containers": [{"name": "pytorch", "usage": usage}, sidecar],
    }


async def test_the_training_container_counts() -> None:
    api: Any = _Api({"items": [item("a-0", "1500m", "2Gi"), item("b-0", "1", "1Gi")]})
    pods = await read_pods(api, "demo")
    replica = ReplicaView("worker", 0, container="pytorch", pod_name="a-0")
    values = values_of([replica], ["worker-0"], pods)
    assert values[Column("worker-0", "replica", None, "cpu")] == 1.5
    assert values[Column(None, "job", None, "memory")] == 2 * 1024**3


@pytest.mark.parametrize("wrong", ["NaN", "-1", "", None, 5, {}, "1e99999"])
async def test_wrong_quantities_are_no_values(wrong: Any) -> None:
    api: Any = _Api({"items": [{"metadata": {}}, "x", item("a-0", wrong, wrong)]})
    pods = await read_pods(api, "demo")
    replica = ReplicaView("worker", 0, container="pytorch", pod_name="a-0")
    assert all(value >= 0 for value in values_of([replica], ["worker-0"], pods).values())
    assert await read_pods(_Api({"items": None}), "demo") == {}  # type: ignore[arg-type]


async def test_limits_are_those_of_all_replicas() -> None:
    def pod(cpu: str) -> Any:
        return {"spec": {"containers": [{"name": "pytorch", "resources": {"limits": {"cpu": cpu, "memory": "4Gi"}}}]}}

    one, other = (ReplicaView("worker", 0, container="pytorch", pod=pod(cpu)) for cpu in ("2", "3"))
    assert limits_of([one, one]) == {"limits.cpu": 2.0, "limits.memory": 4 * 1024.0**3}
    assert limits_of([one, other]) == {}
