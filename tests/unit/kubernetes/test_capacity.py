"""Free resources of a cluster by the scheduler's arithmetic, which differs from a sum of limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from jupyterlab_t9kjob.core.capacity import Amount, NodeCapacity
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.requests import held_by, kept_of_pod, requests_of
from jupyterlab_t9kjob.engines.kubernetes.objects.resources import is_accelerator
from jupyterlab_t9kjob.engines.kubernetes.scheduling import node_capacity
from jupyterlab_t9kjob.engines.kubernetes.scheduling.node_capacity import most_beside, pools_of, quota_of, sum_of
from tests.unit.manifests.strategies import JSON

GPU = "nvidia.com/gpu"


def container(
    restart: str | None = None, limits: bool = False, name: str | None = None, **resources: str
) -> dict[str, Any]:
    asked = {GPU if name == "gpu" else name: value for name, value in resources.items()}
    found: dict[str, Any] = {"resources": {"limits" if limits else "requests": asked}}
    return found | ({"restartPolicy": restart} if restart else {}) | ({"name": name} if name else {})


def pod(
    *containers: dict[str, Any], phase: str = "Running", node: str | None = "node-1", **spec: Any
) -> dict[str, Any]:
    placed = {"nodeName": node} if node else {}
    started = {"startTime": "2026-11-22T04:00:00Z"} if node else {}
    return {"spec": {"containers": list(containers), **placed, **spec}, "status": {"phase": phase, **started}}


def resized(pod: dict[str, Any], pending: str | None = None, **has: dict[str, str]) -> dict[str, Any]:
    """Give containers another size than their spec says, by name."""
    sidecars = {each.get("name") for each in pod["spec"].get("initContainers", [])}
    for name, got in has.items():
        kind = "initContainerStatuses" if name in sidecars else "containerStatuses"
        status = {"name": name, "allocatedResources": got, "resources": {"requests": got}}
        pod["status"].setdefault(kind, []).append(status)
    if pending is not None:
        pod["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": pending}]
    return pod


def node(
    name: str = "node-1",
    *,
    capacity: dict[str, str] | None = None,
    allocatable: dict[str, str] | None = None,
    ready: str = "True",
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    capacity = capacity if capacity is not None else {"cpu": "64", "memory": "512Gi", GPU: "8", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
        "status": {
            "capacity": capacity,
            "allocatable": capacity if allocatable is None else capacity | allocatable,
            "conditions": [{"type": "Ready", "status": ready}],
            "addresses": [{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": "10.0.0.7"}],
        },
    }


def node_of(node: dict[str, Any], pods: list[dict[str, Any]], mine: Mapping[str, float] | None = None) -> NodeCapacity:
    """Count a node with its pods, both as they are kept."""
    kept = [kept_of_pod({"metadata": {"uid": "1", "resourceVersion": "1"}, **pod}) for pod in pods]
    held = [pod["held"] for pod in kept if pod["held"] is not None]
    return node_capacity.node_of(node_capacity.kept_of_node({"metadata": {}, **node}), held, mine)


def of(found: NodeCapacity, resource: str = GPU) -> Amount:
    return next(one for one in found.amounts if one.resource == resource)


ROUNDS = {
    "containers run together": (pod(container(gpu="1", cpu="500m"), container(gpu="2")), {GPU: 3, "cpu": 0.5}),
    "a limit is a request": (pod(container(limits=True, gpu="4")), {GPU: 4}),
    "a small init container hides behind the rest": (
        pod(container(gpu="2"), initContainers=[container(gpu="1", cpu="1")]),
        {GPU: 2, "cpu": 1},
    ),
    "a large init container counts": (pod(container(gpu="1"), initContainers=[container(gpu="4")]), {GPU: 4}),
    "init containers run one after the other": (
        pod(container(cpu="1"), initContainers=[container(cpu="2"), container(cpu="3")]),
        {"cpu": 3},
    ),
    "a sidecar runs beside the rest": (
        pod(container(cpu="2"), initContainers=[container("Always", cpu="1")]),
        {"cpu": 3},
    ),
    "an init container runs beside the sidecars before it": (
        pod(container(cpu="1"), initContainers=[container("Always", cpu="1"), container(cpu="4")]),
        {"cpu": 5},
    ),
    "and not beside those after it": (
        pod(container(cpu="1"), initContainers=[container(cpu="4"), container("Always", cpu="1")]),
        {"cpu": 4},
    ),
    "a request of the whole pod replaces the sum": (
        pod(container(cpu="1", gpu="1"), resources={"requests": {"cpu": "8"}}),
        {"cpu": 8, GPU: 1},
    ),
    "but only CPU, memory and hugepages can be asked for a whole pod": (
        pod(container(gpu="2"), resources={"requests": {GPU: "1", "hugepages-2Mi": "4Mi"}}),
        {GPU: 2, "hugepages-2Mi": 2**22},
    ),
    "and its limits are no requests": (pod(container(cpu="1"), resources={"limits": {"cpu": "8"}}), {"cpu": 1}),
    "a pod that becomes larger in place": (
        resized(pod(container(name="a", cpu="3"), container(name="b", cpu="1")), a={"cpu": "1"}, b={"cpu": "1"}),
        {"cpu": 4},
    ),
    "a pod that becomes smaller in place holds what it had until then": (
        resized(pod(container(name="a", cpu="1"), container(name="b", cpu="1")), a={"cpu": "3"}),
        {"cpu": 4},
    ),
    "a pod that was to become larger than its node": (
        resized(pod(container(name="a", cpu="900")), "Infeasible", a={"cpu": "2"}),
        {"cpu": 2},
    ),
    "a sidecar that is resized": (
        resized(pod(container(cpu="1"), initContainers=[container("Always", name="s", cpu="1")]), s={"cpu": "2"}),
        {"cpu": 3},
    ),
    "the overhead of its runtime": (pod(container(cpu="1"), overhead={"cpu": "250m"}), {"cpu": 1.25}),
    "nothing": (pod({}), {}),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_what_a_pod_holds(name: str) -> None:
    asked, expected = ROUNDS[name]
    assert dict(requests_of(asked)) == expected


def test_only_pods_that_run_or_will_take_something() -> None:
    gpu = container(gpu="1")
    pods = [
        pod(gpu),
        pod(gpu, phase="Pending"),
        pod(gpu, phase="Succeeded"),
        pod(gpu, phase="Failed"),
        pod(gpu, phase="Unknown"),
    ]
    assert [held_by(each) is not None for each in pods] == [True, True, False, False, True]
    assert held_by(pod(gpu, phase="Pending", node=None)) is None
    found = node_of(node(), pods)
    assert (of(found).allocated, of(found).free, found.pods) == (3, 5, 3)


def test_a_node_that_is_partly_healthy() -> None:
    found = node_of(node(allocatable={GPU: "6", "cpu": "63500m"}), [pod(container(gpu="5"))])
    assert of(found) == Amount(resource=GPU, total=8, unhealthy=2, allocated=5, free=1)
    assert of(found, "cpu") == Amount(resource="cpu", total=64, unhealthy=0.5, allocated=0, free=63.5)
    assert [one.resource for one in found.amounts] == ["cpu", "memory", GPU]


def test_devices_that_broke_while_they_were_held() -> None:
    found = node_of(node(allocatable={GPU: "2"}), [pod(container(gpu="5"))])
    assert of(found) == Amount(resource=GPU, total=8, unhealthy=6, allocated=5, free=0)


@pytest.mark.parametrize(
    ("state", "why"),
    [({"unschedulable": True}, "cordoned"), ({"ready": "False"}, "not ready"), ({"ready": "Unknown"}, "not heard of")],
)
def test_a_node_that_takes_no_pods_has_nothing_free(state: dict[str, Any], why: str) -> None:
    found = node_of(node(**state), [pod(container(gpu="1"))])
    assert (of(found).total, of(found).allocated, of(found).free) == (8, 1, 0), why
    assert (found.ready, found.cordoned) == (why == "cordoned", why == "cordoned")


@pytest.mark.parametrize("key", ["node.kubernetes.io/disk-pressure", "node.cloudprovider.kubernetes.io/uninitialized"])
def test_a_node_whose_own_taint_keeps_all_pods_away_has_nothing_free(key: str) -> None:
    found = node_of(node(taints=[{"key": key, "effect": "NoSchedule"}]), [])
    assert (of(found).total, of(found).free, [taint.key for taint in found.taints]) == (8, 0, [key])


def test_what_is_free_of_a_tainted_node_is_free_for_those_who_tolerate_it() -> None:
    found = node_of(node(taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}]), [pod(container(gpu="1"))])
    assert (of(found).free, [taint.key for taint in found.taints]) == (7, ["nvidia.com/gpu"])


def test_sums_are_exact() -> None:
    nodes = [node_of(node(), [pod(container(cpu="100m")) for _ in range(3)]) for _ in range(3)]
    (cpu, memory) = sum_of(nodes)
    assert (of(nodes[0], "cpu").allocated, cpu.allocated, cpu.free) == (0.3, 0.9, 191.1)
    assert (memory.total, most_beside(nodes)["cpu"]) == (3 * 2.0**39, 63.7)


def test_what_else_a_node_says() -> None:
    found = node_of(
        node(
            labels={
                "node-role.kubernetes.io/worker": "",
                "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
                "nvidia.com/gpu.count": "8",
            },
            taints=[
                {"key": "gpu", "value": "reserved", "effect": "NoSchedule"},
                {"key": "soft", "effect": "PreferNoSchedule"},
                {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
            ],
        ),
        [],
    )
    assert (found.roles, found.address, found.product) == (["worker"], "10.0.0.7", "NVIDIA-A100-SXM4-80GB")
    assert [(taint.key, taint.value, taint.effect) for taint in found.taints] == [("gpu", "reserved", "NoSchedule")]


def test_accelerators_of_all_makers_and_nothing_else() -> None:
    names = ["nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "amd.com/gpu", "hygon.com/dcu"]
    names += ["huawei.com/Ascend910", "huawei.com/npu", "enflame.com/gcu", "cambricon.com/mlu", "google.com/tpu"]
    names += ["gpu.intel.com/i915", "gpu.intel.com/xe", "nvidia.com/mig-3g.40gb.shared", "aws.amazon.com/neuroncore"]
    names += ["gpu.intel.com/xpu", "volcano.sh/vgpu-number", "habana.ai/gaudi"]
    others = ["cpu", "memory", "pods", "ephemeral-storage", "hugepages-2Mi", "rdma/hca", "nvidia.com/hostdev"]
    others += ["gpu.intel.com/i915_monitoring", "nvidia.com/gpumem", "requests.nvidia.com", "hugepages-1Gi"]
    others += ["example.com/dongle", "attachable-volumes-csi-x", "kubernetes.io/batch-cpu", "gpu"]
    others += ["aliyun.com/gpu-mem", "volcano.sh/gpu-memory", "volcano.sh/vgpu-memory", "elasticgpu.io/gpu-core"]
    others += ["aliyun.com/gpu-core.percentage", "huawei.com/Ascend910A-memory"]
    assert [name for name in [*names, *others] if is_accelerator(name)] == names


def test_pools_by_resource_and_product() -> None:
    a100, h100 = {"nvidia.com/gpu.product": "A100"}, {"nvidia.com/gpu.product": "H100"}
    nodes = [
        node_of(node("a", labels=a100), [pod(container(gpu="6"))], {GPU: 2}),
        node_of(node("b", labels=a100), [pod(container(gpu="5"))], {GPU: 1}),
        node_of(node("c", labels=a100, unschedulable=True), []),
        node_of(node("d", labels=h100, capacity={GPU: "4"}), []),
        node_of(node("e", capacity={"cpu": "4"}), []),
    ]
    first, second = pools_of(nodes)
    assert first.amount == Amount(resource=GPU, total=24, allocated=11, free=5)
    assert (first.product, first.nodes, first.most_on_a_node, first.mine) == ("A100", 3, 3, 3)
    assert (second.product, second.amount.free, second.mine) == ("H100", 4, 0)
    assert (first.product_label, first.largest_node) == ("nvidia.com/gpu.product", 8)
    assert first.most_beside == {"cpu": 64, "memory": 2.0**39}


def test_a_label_chooses_a_pool_only_if_all_of_its_nodes_have_it() -> None:
    same = [node("a", labels={"nvidia.com/gpu.product": "A100"}), node("b", labels={"hami.io/gpu-product": "A100"})]
    (pool,) = pools_of([node_of(each, []) for each in same])
    assert (pool.product, pool.product_label, pool.nodes) == ("A100", None, 2)


def test_quotas() -> None:
    status = {"hard": {"requests.nvidia.com/gpu": "32", "limits.memory": "1Ti", "odd": "?"}, "used": {"odd": "1"}}
    status["used"]["requests.nvidia.com/gpu"] = "24"
    lines = quota_of({"metadata": {"name": "team"}, "status": status})
    assert [(line.resource, line.used, line.hard) for line in lines] == [
        ("requests.nvidia.com/gpu", 24, 32),
        ("limits.memory", 0, 2.0**40),
    ]


@given(JSON)
def test_anything_can_stand_anywhere(value: Any) -> None:
    """Any field of the objects may have any shape."""
    assert node_of({"metadata": value, "spec": value, "status": value}, [{"spec": value, "status": value}]).pods >= 0
    assert isinstance(quota_of({"metadata": value, "status": value}), list)
