"""Checks before submission: a cluster can never take a job, or can not take it now."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from jupyterlab_t9kjob.core.capacity import QuotaLine
from jupyterlab_t9kjob.core.checks import Check
from jupyterlab_t9kjob.core.manifests import Kind, render
from jupyterlab_t9kjob.core.spec import JobSpec
from jupyterlab_t9kjob.engines.kubernetes.objects.pods.requests import Held
from jupyterlab_t9kjob.engines.kubernetes.scheduling.node_capacity import node_of
from jupyterlab_t9kjob.engines.kubernetes.scheduling.node_fit import ClusterRoom, Node
from jupyterlab_t9kjob.engines.kubernetes.submit.capacity_checks import checks

GPU = "nvidia.com/gpu"
RESOURCES = "/spec/replica_specs/0/resources"


def node(
    name: str,
    gpu: int = 8,
    used: int = 0,
    *,
    product: str | None = "NVIDIA-A100-SXM4-80GB",
    cpu: str = "64",
    memory: str = "512Gi",
    healthy: int | None = None,
    taint: tuple[str, str] | None = None,
    cordoned: bool = False,
    labels: dict[str, str] | None = None,
    resource: str = GPU,
) -> Node:
    capacity = {"cpu": cpu, "memory": memory, **({resource: str(gpu)} if gpu else {})}
    allocatable = capacity | ({resource: str(healthy)} if healthy is not None else {})
    labels = {**({"nvidia.com/gpu.product": product} if product and gpu else {}), **(labels or {})}
    manifest = {
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "unschedulable": cordoned,
            "taints": [{"key": taint[0], "value": taint[1], "effect": "NoSchedule"}] if taint else [],
        },
        "status": {
            "capacity": capacity,
            "allocatable": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    return Node(node_of(manifest, [Held(name, Counter({resource: used}))]), labels)


def job(replicas: int = 1, gpu: int | None = None, **more: Any) -> JobSpec:
    resources: dict[str, Any] = {name: {"limit": more.pop(name)} for name in ("cpu", "memory") if name in more}
    if gpu is not None:
        resources["device"] = {"count": gpu, "name": more.pop("device", GPU)}
    return JobSpec.model_validate({
        "name": "train",
        "entrypoint": {"value": "/w/train.py"},
        "runtime": {"image": "torch"},
        "shm": None,
        "replica_specs": [{"replicas": replicas, "resources": resources}],
        **more,
    })  # fmt: skip


def checked(spec: JobSpec, *nodes: Node, kind: Kind = "t9k", quota: dict[str, Any] | None = None, **more: Any):
    lines = [QuotaLine(quota="limits", **line) for line in (quota or {}).get("lines", [])]
    room = ClusterRoom(nodes or None, {"demo": lines})
    plural = {"t9k": "pytorchtrainingjobs.batch.tensorstack.dev", "kubeflow": "pytorchjobs.kubeflow.org"}[kind]
    return checks(render(spec, kind), room, "demo", plural=plural, **more)


def only(found: list[Check]) -> tuple[str, str, str, str | None]:
    assert len(found) == 1, found
    return found[0].level, found[0].code, found[0].message, found[0].field


FULL = (node("node-1", used=8), node("node-7", used=6), node("node-3", used=7))

SITUATIONS: dict[str, tuple[JobSpec, tuple[Node, ...], tuple[str, str, str, str | None]]] = {
    "more on one node than each has": (
        job(4, 16),
        FULL,
        ("error", "NodeTooSmall", "No node has 16 A100: each has 8.", f"{RESOURCES}/device"),
    ),
    "nodes without devices, and those that keep it away, are not counted": (
        job(1, 16),
        (node("one"), node("two"), node("cpus", 0), node("theirs", 12, taint=("team", "b"))),
        ("error", "NodeTooSmall", "No node has 16 A100: each has 8.", f"{RESOURCES}/device"),
    ),
    "more than the largest has": (
        job(1, 16),
        (node("small", 4), node("large", 8)),
        ("error", "NodeTooSmall", "No node has 16 A100: the most is 8, on large.", f"{RESOURCES}/device"),
    ),
    "more than the only one has": (
        job(1, 9),
        (node("alone", product=None),),
        ("error", "NodeTooSmall", "No node has 9 GPUs: the only one, alone, has 8.", f"{RESOURCES}/device"),
    ),
    "products that differ are GPUs": (
        job(1, 16),
        (node("one"), node("two", product="NVIDIA-H100-80GB-HBM3")),
        ("error", "NodeTooSmall", "No node has 16 GPUs: each has 8.", f"{RESOURCES}/device"),
    ),
    "a selector chooses the nodes that count": (
        job(1, 8, scheduling={"node_selector": {"zone": "b"}}),
        (node("one", labels={"zone": "a"}), node("two", 4, labels={"zone": "b"})),
        ("error", "NodeTooSmall", "No node has 8 A100: the only one, two, has 4.", f"{RESOURCES}/device"),
    ),
    "more CPU than nodes with such devices have": (
        job(1, 8, cpu="100"),
        (node("gpus"), node("cpus", 0, cpu="128")),
        (
            "error",
            "NodeTooSmall",
            "No node with 8 A100 has 100 CPU: the only one, gpus, has 64.",
            f"{RESOURCES}/cpu/limit",
        ),
    ),
    "more memory than any has": (
        job(1, memory="2Ti"),
        (node("one"), node("two", memory="768Gi")),
        (
            "error",
            "NodeTooSmall",
            "No node has 2 TiB memory: the most is 768 GiB, on two.",
            f"{RESOURCES}/memory/limit",
        ),
    ),
    "nodes of a cloud may be joined by larger ones": (
        job(1, 16),
        (node("one", labels={"karpenter.sh/nodepool": "gpus"}), node("two")),
        ("warning", "NodeTooSmall", "No node has 16 A100: each has 8.", f"{RESOURCES}/device"),
    ),
    "a device that is nowhere": (
        job(1, 1, device="amd.com/gpu"),
        FULL,
        ("warning", "NoSuchDevice", "No node has amd.com/gpu.", f"{RESOURCES}/device"),
    ),
    "labels that are nowhere": (
        job(1, 1, scheduling={"node_selector": {"gpu": "b200"}}),
        FULL,
        ("warning", "NoSuchNode", "No node has the labels that the job asks for.", "/spec/scheduling/node_selector"),
    ),
    "a taint that is not tolerated": (
        job(1, 4),
        (node("one", taint=("team", "b")), node("two", 2)),
        (
            "warning",
            "Untolerated",
            "Nodes with 4 A100 have the taint team=b, which the job does not tolerate.",
            "/spec/scheduling/tolerations",
        ),
    ),
    "all together more than there is": (
        job(4, 8),
        FULL,
        (
            "warning",
            "ClusterTooSmall",
            "Even an empty cluster has room for only 3 of 4 replicas.",
            "/spec/replica_specs/0/replicas",
        ),
    ),
    "no node has as much free": (
        job(1, 4),
        FULL,
        (
            "warning",
            "WillWait",
            "Will wait. Needs 4 free A100 on one node; the most free is 2, on node-7.",
            f"{RESOURCES}/device",
        ),
    ),
    "one is broken, which may be mended": (
        job(1, 8),
        (node("one", healthy=7),),
        (
            "warning",
            "WillWait",
            "Will wait. Needs 8 free A100 on one node; the most free is 7, on one.",
            f"{RESOURCES}/device",
        ),
    ),
    "its only nodes are closed": (
        job(1, 1),
        (node("one", cordoned=True),),
        ("warning", "WillWait", "Will wait. Needs 1 free A100 on one node; none is.", f"{RESOURCES}/device"),
    ),
    "some have room": (
        job(3, 2),
        FULL,
        (
            "warning",
            "WillWait",
            "Will wait. There is room now for 1 of 3 replicas.",
            "/spec/replica_specs/0/replicas",
        ),
    ),
    "it fits": (
        job(2, 2),
        (*FULL, node("node-9", used=2)),
        ("passed", "FitsNow", "Fits now. Free on 2 nodes: 8 A100.", None),
    ),
    "it fits on one": (job(1, 1), (node("one", 1),), ("passed", "FitsNow", "Fits now. Free on one: 1 A100.", None)),
    "it fits without devices": (
        job(1, cpu="4", memory="8Gi"),
        FULL,
        ("passed", "FitsNow", "Fits now. Enough is free on 3 nodes.", None),
    ),
    "a taint that is tolerated": (
        job(1, 8, scheduling={"tolerations": [{"key": "team", "operator": "Exists"}]}),
        (node("one", taint=("team", "b")),),
        ("passed", "FitsNow", "Fits now. Free on one: 8 A100.", None),
    ),
}


@pytest.mark.parametrize("kind", ["t9k", "kubeflow"])
@pytest.mark.parametrize("name", SITUATIONS)
def test_what_is_said(name: str, kind: Kind) -> None:
    spec, nodes, expected = SITUATIONS[name]
    assert only(checked(spec, *nodes, kind=kind)) == expected


def test_fractions_of_a_core_are_counted_exactly() -> None:
    three = job(3, cpu="1100m")
    allowed = {"lines": [{"resource": "limits.cpu", "hard": 3.3, "used": 0}]}
    assert checked(three, quota=allowed) == []
    two = {"lines": [{"resource": "limits.cpu", "hard": 3.3, "used": 2.2}]}
    assert checked(job(1, cpu="1100m"), quota=two) == []
    assert only(checked(job(2, cpu="1100m"), quota=two))[1] == "QuotaUsedUp"
    assert only(checked(three, node("one", cpu="3300m")))[1] == "FitsNow"
    assert only(checked(job(5, cpu="800m"), node("one", cpu="4")))[1] == "FitsNow"
    assert only(checked(job(10, cpu="100m"), node("one", cpu="1")))[1] == "FitsNow"
    found = only(checked(job(6, cpu="800m"), node("one", cpu="4")))
    assert found[2] == "Even an empty cluster has room for only 5 of 6 replicas."


def test_containers_whose_fractions_fill_a_node() -> None:
    manifest = render(job(1, cpu="100m"), "t9k")
    pod = manifest["spec"]["replicaSpecs"][0]["template"]["spec"]
    pod["containers"].append({"name": "beside", "resources": {"limits": {"cpu": "200m"}}})
    assert only(checks(manifest, ClusterRoom([node("one", cpu="300m")]), "demo"))[1] == "FitsNow"


def test_no_more_memory_than_there_is_counts() -> None:
    found = only(checked(job(2, memory="4Gi"), node("one", memory=str(2**33 - 1))))
    assert found[1] == "ClusterTooSmall"


def test_what_to_do() -> None:
    (check,) = checked(job(1, 16), *FULL)
    assert check.hint == "Ask for 8 or fewer on a node."
    assert check.fix is not None
    assert (check.fix.label, check.fix.changes) == ("Set 8", {f"{RESOURCES}/device/count": 8})
    (check,) = checked(job(1, 1, device="amd.com/gpu"), *FULL)
    assert check.hint == f"The job will wait until such a node is added. Nodes of this cluster have {GPU}."


def test_a_manifest_that_was_written_by_hand_has_it_at_its_own_field() -> None:
    (check,) = checked(job(1, 16), *FULL, edited=True)
    path = "/manifest/spec/replicaSpecs/0/template/spec/containers/0/resources/limits/nvidia.com~1gpu"
    assert (check.field, check.fix) == (path, None)
    (check,) = checked(job(3, 16), *FULL, kind="kubeflow", edited=True)
    assert check.field is not None
    assert check.field.startswith("/manifest/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/resources/")


def test_an_elastic_job_needs_only_its_least() -> None:
    spec = job(4, 2, elastic={"min": 1, "max": 4})
    assert only(checked(spec, *FULL))[1] == "WillWait"
    assert only(checked(spec, *FULL, least=1))[1] == "FitsNow"


def test_a_job_that_is_submitted_paused_waits_for_nothing() -> None:
    assert checked(job(1, 4), *FULL, starts=False) == []
    assert only(checked(job(1, 16), *FULL, starts=False))[0] == "error"


def test_what_asks_for_nothing_is_not_spoken_of() -> None:
    assert checked(job(2), *FULL) == []


def test_devices_that_nobody_counts_are_not_spoken_of() -> None:
    assert checked(job(1, 1, device="example.com/dongle"), *FULL) == []


def test_affinity_counts_as_the_scheduler_has_it() -> None:
    def asks(*expressions: dict[str, Any], fields: list[dict[str, Any]] | None = None) -> list[Check]:
        term = {"matchExpressions": list(expressions), **({"matchFields": fields} if fields else {})}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        manifest = render(job(1, 8), "t9k")
        manifest["spec"]["replicaSpecs"][0]["template"]["spec"]["affinity"] = {"nodeAffinity": required}
        nodes = [node("a", labels={"zone": "a", "age": "3"}), node("b", labels={"zone": "b"})]
        return checks(manifest, ClusterRoom(nodes), "demo")

    def on(found: list[Check]) -> str:
        return only(found)[2].removeprefix("Fits now. ").removesuffix(".")

    one, both = "Free on a: 8 A100", "Free on 2 nodes: 16 A100"
    assert on(asks({"key": "zone", "operator": "In", "values": ["a", "c"]})) == one
    assert on(asks({"key": "zone", "operator": "NotIn", "values": ["b"]})) == one
    assert on(asks({"key": "zone", "operator": "NotIn", "values": ["c"]})) == both
    assert on(asks({"key": "age", "operator": "Exists"})) == one
    assert on(asks({"key": "age", "operator": "DoesNotExist"})) == "Free on b: 8 A100"
    assert on(asks({"key": "age", "operator": "Gt", "values": ["2"]})) == one
    assert on(asks(fields=[{"key": "metadata.name", "operator": "In", "values": ["a"]}])) == one
    for operator, bound in (("Lt", "2"), ("Lower", "5"), ("Lt", "1_0"), ("Lt", " 5"), ("Gt", ""), ([], "5")):
        assert only(asks({"key": "age", "operator": operator, "values": [bound]}))[1] == "NoSuchNode"


def test_types_that_ask_for_different_things_share_what_is_free() -> None:
    spec = job(1, 6)
    small = spec.replica_specs[0].model_copy(update={"type": "ps", "replicas": 2})
    spec = spec.model_copy(update={"replica_specs": [*spec.replica_specs, small]})
    manifest = render(spec, "t9k")
    manifest["spec"]["replicaSpecs"][1]["template"]["spec"]["containers"][0]["resources"] = {"limits": {GPU: "2"}}
    one = checks(manifest, ClusterRoom([node("one"), node("two", used=6)]), "demo")
    assert only(one)[1] == "FitsNow"
    (check,) = checks(manifest, ClusterRoom([node("one"), node("two", used=7)]), "demo")
    assert check.message == "Will wait. There is room now for 1 of 2 replicas."
    assert check.field == "/spec/replica_specs/1/replicas"


def lines(**of: tuple[float, float | None]) -> dict[str, Any]:
    return {"lines": [{"resource": name, "hard": hard, "used": used} for name, (hard, used) in of.items()]}


QUOTA = "The quota limits of namespace demo allows"
QUOTAS: dict[str, tuple[JobSpec, dict[str, Any], tuple[str, str, str, str | None]]] = {
    "one replica is more than is allowed": (
        job(2, 8),
        lines(**{f"requests.{GPU}": (4, 0)}),
        ("error", "QuotaTooSmall", f"{QUOTA} 4 GPUs, and a replica needs 8.", f"{RESOURCES}/device"),
    ),
    "all together are": (
        job(4, 2),
        lines(**{f"requests.{GPU}": (4, 0)}),
        ("error", "QuotaTooSmall", f"{QUOTA} 4 GPUs, and the job needs 8.", f"{RESOURCES}/device"),
    ),
    "too much of it is used": (
        job(2, 2),
        lines(**{f"requests.{GPU}": (8, 6)}),
        (
            "warning",
            "QuotaUsedUp",
            f"Will wait. {QUOTA} 8 GPUs (6 used), and the job needs 4.",
            f"{RESOURCES}/device",
        ),
    ),
    "memory": (
        job(1, memory="2Gi", cpu="1"),
        lines(**{"limits.memory": (2**30, 0)}),
        ("error", "QuotaTooSmall", f"{QUOTA} 1 GiB memory, and the job needs 2 GiB.", f"{RESOURCES}/memory/limit"),
    ),
    "pods": (
        job(3, 1),
        lines(pods=(2, 0)),
        ("error", "QuotaTooSmall", f"{QUOTA} 2 pods, and the job needs 3.", "/spec/replica_specs/0/replicas"),
    ),
    "a limit that has to be stated": (
        job(1, 1),
        lines(**{"limits.cpu": (8, 0)}),
        (
            "warning",
            "QuotaNeedsResources",
            "The quota limits of namespace demo requires every container to set limits.cpu.",
            RESOURCES,
        ),
    ),
}


@pytest.mark.parametrize("kind", ["t9k", "kubeflow"])
@pytest.mark.parametrize("name", QUOTAS)
def test_what_is_said_of_quotas(name: str, kind: Kind) -> None:
    spec, quota, expected = QUOTAS[name]
    assert only(checked(spec, kind=kind, quota=quota)) == expected
    assert only(checked(spec, node("one", 16), node("two", 16), kind=kind, quota=quota)) == expected


def test_a_quota_that_leaves_room_is_not_spoken_of() -> None:
    assert checked(job(2, 2), quota=lines(**{f"requests.{GPU}": (8, 4), "pods": (10, 8)})) == []


def test_a_quota_of_some_pods_only_is_not_spoken_of() -> None:
    quota = {"lines": [{"resource": "pods", "hard": 0, "used": 0, "scoped": True}]}
    assert checked(job(2, 2), quota=quota) == []


def test_a_quota_of_jobs() -> None:
    quota = lines(**{"count/pytorchjobs.kubeflow.org": (3, 3)})
    found = only(checked(job(1, 1), kind="kubeflow", quota=quota))
    assert found[:3] == ("warning", "QuotaUsedUp", f"{QUOTA} 3 jobs of this kind, and there are as many already.")
    assert checked(job(1, 1), kind="t9k", quota=quota) == []


def test_the_worst_of_several_limits_of_one_thing() -> None:
    spec = job(1, cpu="8", memory="1Gi")
    quota = lines(**{"requests.cpu": (10, 4), "limits.cpu": (4, 0), "limits.memory": (2**30, 2**29)})
    found = checked(spec, quota=quota)
    assert [(check.level, check.field) for check in found] == [
        ("error", f"{RESOURCES}/cpu/limit"),
        ("warning", f"{RESOURCES}/memory/limit"),
    ]


def test_a_node_that_is_hostile() -> None:
    (check,) = checked(job(1, 16), node("evil\n\u202e" * 100, product="x\x00\n" * 200))
    assert check.message.isprintable()
    assert len(check.message) < 600
