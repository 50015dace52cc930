"""Free resources of a cluster, compared with kubectl: for nodes and pods without machines, and for running jobs."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.core.capacity import Amount, Capacity, NodeCapacity
from jupyterlab_t9kjob.core.spec import Device, ReplicaSpec, Resources
from jupyterlab_t9kjob.core.texts.quantity import amount
from jupyterlab_t9kjob.engines.kubernetes.cluster.capacity import service as capacity_service
from tests.kubernetes.accounts import Account
from tests.kubernetes.between import Between
from tests.kubernetes.engines import WAIT, Bench, serving
from tests.kubernetes.fakeapi import cut
from tests.kubernetes.harness import ROOT, Kube
from tests.kubernetes.paper import GPU, Paper, container, pool_of
from tests.kubernetes.test_rights import rules

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.alone,
    pytest.mark.asyncio,
    pytest.mark.usefixtures("controller", "kubeflow"),
]

AMD, DCU, MIG, SHARED = (
    "amd.com/gpu",
    "hygon.com/dcu",
    "nvidia.com/mig-1g.10gb",
    "nvidia.com/gpu.shared",
)


def sidecar(name: str, **asked: str) -> dict[str, Any]:
    return {**container(name, **asked), "restartPolicy": "Always"}


def described(kube: Kube, node: str) -> dict[str, float]:
    """Return what of a node is requested, as kubectl counts; it writes fractions of a core as 500m."""
    text = kube.kubectl("describe", "node", node).partition("Allocated resources:")[2].partition("Events:")[0]
    rows = re.findall(r"^  (\S+) +(\S+)", text, re.MULTILINE)
    return {name: read for name, written in rows if (read := amount(written)) is not None}


def shown(node: NodeCapacity) -> dict[str, float]:
    return {one.resource: one.allocated for one in node.amounts}


def of(node: NodeCapacity, resource: str) -> Amount:
    return next(one for one in node.amounts if one.resource == resource)


async def until(bench: Bench, reached: Callable[[Capacity], Any], seconds: float = WAIT) -> Capacity:
    """Wait until the capacity is as wanted, by being told of changes."""
    moved = asyncio.Event()
    seen: Capacity | None = None

    async def wait() -> Capacity:
        nonlocal seen
        while True:
            moved.clear()
            seen = await bench.cluster.capacity.now()
            if reached(seen):
                return seen
            await moved.wait()

    end = bench.cluster.capacity.subscribe(moved.set)
    try:
        return await asyncio.wait_for(wait(), seconds)
    except asyncio.TimeoutError:
        raise AssertionError(f"after {seconds} s: {seen}") from None
    finally:
        end()


async def test_nodes_against_kubectl(kube: Kube, image: str, paper: Paper, tmp_path: Path) -> None:
    product = f"NVIDIA-A100-of-{kube.namespace}"
    a100 = {"nvidia.com/gpu.product": product, "node-role.kubernetes.io/gpu": ""}
    whole = paper.node("whole", labels=a100, **{GPU: "8"})
    partly = paper.node("partly", labels=a100, allocatable={GPU: "6", "cpu": "63500m"}, **{GPU: "8"})
    cordoned = paper.node("cordoned", unschedulable=True, **{AMD: "4"})
    lost = paper.node("lost", ready="False", **{DCU: "8"})
    taint = {"key": "team", "value": "vision", "effect": "NoExecute"}
    full = "node.kubernetes.io/disk-pressure"
    split = paper.node("split", taints=(taint,), **{MIG: "7", SHARED: "16", GPU: "1"})
    pressed = paper.node("pressed", full=True, **{GPU: "8"})
    kube.until("nodes", pressed, lambda node: node and full in [taint["key"] for taint in node["spec"]["taints"]])

    paper.pod("plain", whole, container(cpu="1500m", memory="4Gi", **{GPU: "2"}), container("beside", cpu="250m"))
    paper.pod("limits", whole, container(limits=True, cpu="2", memory="1G", **{GPU: "1"}))
    paper.pod(
        "inits",
        whole,
        container(cpu="1"),
        initContainers=[sidecar("log", cpu="500m"), container("load", cpu="3", **{GPU: "2"}), sidecar("late", cpu="1")],
    )
    paper.pod("over", whole, container(cpu="8", **{GPU: "4"}), phase="Succeeded")
    paper.pod("failed", whole, container(cpu="8", **{GPU: "4"}), phase="Failed")
    paper.pod("waits", whole, container(cpu="100m", **{GPU: "1"}), phase="Pending")
    paper.pod("part", partly, container(cpu="4", **{GPU: "5"}))
    paper.pod("held", cordoned, container(**{AMD: "1"}))
    paper.pod("stuck", lost, container(**{DCU: "3"}))
    paper.pod("parts", split, container(**{MIG: "2", SHARED: "5"}))

    async with serving(kube, image, tmp_path) as bench:
        ours = {whole, partly, cordoned, lost, split, pressed}
        found = await bench.cluster.capacity.nodes()
        nodes = {node.name: node for node in found.nodes if node.name in ours}
        assert found.limited is None and nodes.keys() == ours
        for name, node in nodes.items():
            said = await asyncio.to_thread(described, kube, name)
            assert shown(node) == {resource: said[resource] for resource in shown(node)}, name

        assert of(nodes[whole], GPU) == Amount(resource=GPU, total=8, allocated=6, free=2)
        assert (nodes[whole].product, nodes[whole].roles, nodes[whole].pods) == (
            a100["nvidia.com/gpu.product"],
            ["gpu"],
            4,
        )
        assert of(nodes[partly], GPU) == Amount(resource=GPU, total=8, unhealthy=2, allocated=5, free=1)
        assert of(nodes[partly], "cpu") == Amount(resource="cpu", total=64, unhealthy=0.5, allocated=4, free=59.5)
        assert of(nodes[cordoned], AMD) == Amount(resource=AMD, total=4, allocated=1, free=0)
        assert (nodes[cordoned].cordoned, nodes[cordoned].ready) == (True, True)
        assert (of(nodes[lost], DCU).free, nodes[lost].ready) == (0, False)
        assert [(of(nodes[split], name).total, of(nodes[split], name).free) for name in (MIG, SHARED)] == [
            (7, 5),
            (16, 11),
        ]
        assert ("team", "vision", "NoExecute") in [(each.key, each.value, each.effect) for each in nodes[split].taints]
        assert of(nodes[pressed], GPU).free == 0
        assert full in [each.key for each in nodes[pressed].taints]

        capacity = await bench.engines["kubeflow"].capacity("")
        pool = pool_of(capacity, product)
        assert (pool.nodes, pool.amount.total, pool.amount.free, pool.most_on_a_node) == (2, 16, 3, 2)
        assert capacity.nodes == len(found.nodes)
        assert capacity.amounts[0].total == sum(of(node, "cpu").total for node in found.nodes)


async def test_what_is_free_is_what_the_scheduler_gives(
    kube: Kube, image: str, paper: Paper, tmp_path: Path, overhead: str
) -> None:
    """A pod that asks for a little more than is free waits, one that asks for all of it is placed."""
    node = paper.node("tight", labels={"t9kjob.test/node": kube.namespace}, allocatable={GPU: "6"}, **{GPU: "8"})
    init = [sidecar("log", cpu="500m"), container("load", cpu="6", **{GPU: "2"})]
    paper.pod("inits", node, container(cpu="1", **{GPU: "1"}), initContainers=init)
    paper.pod("together", node, container(cpu="1"), resources={"requests": {"cpu": "4", "memory": "1Gi"}})
    paper.pod("boxed", node, container(cpu="1"), runtimeClassName=overhead)
    anywhere = {"nodeSelector": {"t9kjob.test/node": kube.namespace}, "tolerations": [{"operator": "Exists"}]}

    def ask(name: str, cpu: float, gpus: float) -> None:
        asks = container(cpu=f"{round(cpu * 1000)}m", **{GPU: f"{gpus:.0f}"})
        kube.create("pods", {"metadata": {"name": name}, "spec": {"containers": [asks], **anywhere}})

    async with serving(kube, image, tmp_path) as bench:
        (found,) = [each for each in (await bench.cluster.capacity.nodes()).nodes if each.name == node]
        cpu, gpus = of(found, "cpu").free, of(found, GPU).free
        assert (cpu, gpus) == (64 - 6.5 - 4 - 1.25, 4)
        ask("more-cpu", cpu + 0.001, 1)
        ask("more-gpus", 1, gpus + 1)
        for name in ("more-cpu", "more-gpus"):
            await asyncio.to_thread(kube.until_event, name, "FailedScheduling", "Insufficient")
        ask("all", cpu, gpus)
        await asyncio.to_thread(kube.until, "pods", "all", lambda pod: pod and pod["spec"].get("nodeName") == node)


@pytest.fixture
def overhead(kube: Kube) -> Iterator[str]:
    """The name of a RuntimeClass whose pods take a quarter of a core more."""
    body = {"metadata": {"name": kube.namespace}, "handler": "runc", "overhead": {"podFixed": {"cpu": "250m"}}}
    yield kube.create("runtimeclasses", body)["metadata"]["name"]
    kube.delete("runtimeclasses", kube.namespace)


async def test_changes_are_told(kube: Kube, image: str, paper: Paper, tmp_path: Path) -> None:
    product = f"MI300X-of-{kube.namespace}"
    label = {"amd.com/gpu.product-name": product}
    node = paper.node("one", labels=label, **{AMD: "8"})

    def free(capacity: Capacity) -> float | None:
        pool = pool_of(capacity, product)
        return pool.amount.free if pool is not None else None

    async with serving(kube, image, tmp_path) as bench:
        await until(bench, lambda seen: free(seen) == 8)
        paper.pod("first", node, container(**{AMD: "3"}))
        await until(bench, lambda seen: free(seen) == 5)
        paper.node("two", labels=label, **{AMD: "4"})
        await until(bench, lambda seen: free(seen) == 9)
        kube.patch("pods", "first", {"status": {"phase": "Succeeded"}}, "status")
        await until(bench, lambda seen: free(seen) == 12)
        kube.patch("nodes", node, {"spec": {"unschedulable": True}})
        await until(bench, lambda seen: free(seen) == 4)
        kube.delete("nodes", node)
        seen = await until(bench, lambda seen: free(seen) == 4 and pool_of(seen, product).nodes == 1)
        assert pool_of(seen, product).amount.total == 4


async def test_quotas(kube: Kube, image: str, paper: Paper, tmp_path: Path) -> None:
    node = paper.node("one", **{GPU: "8"})
    hard = {"requests.nvidia.com/gpu": "4", "limits.memory": "2Ti"}
    kube.create("resourcequotas", {"metadata": {"name": "team"}, "spec": {"hard": hard}})
    kube.create(
        "resourcequotas", {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "9"}, "scopes": ["BestEffort"]}}
    )
    try:
        async with serving(kube, image, tmp_path) as bench:

            def lines(seen: Capacity) -> dict[tuple[str, str], tuple[float | None, float, bool]]:
                (quota,) = [each for each in seen.quotas if each.namespace == kube.namespace]
                return {(line.quota, line.resource): (line.used, line.hard, line.scoped) for line in quota.lines}

            seen = await until(bench, lambda seen: len(lines(seen)) == 3)
            assert lines(seen)["small", "pods"] == (0, 9, True)
            assert lines(seen)["team", "limits.memory"] == (0, 2 * 1024**4, False)
            paper.pod("some", node, container(limits=True, memory="1Gi", **{GPU: "3"}))
            await until(bench, lambda seen: lines(seen)["team", "requests.nvidia.com/gpu"] == (3, 4, False))
            other = await bench.engines["t9k"].capacity("kube-system")
            assert [(each.namespace, each.limited) for each in other.quotas] == [("kube-system", None)]
    finally:
        for name in ("team", "small"):
            kube.delete("resourcequotas", name)


async def test_what_a_job_holds(kube: Kube, image: str, tmp_path: Path) -> None:
    if not any(GPU in node["status"]["allocatable"] for node in kube.list("nodes")):
        pytest.skip("cluster: no node has nvidia.com/gpu")
    async with serving(kube, image, tmp_path) as bench:
        for engine in ("t9k", "kubeflow"):
            group = ReplicaSpec(replicas=2, resources=Resources(device=Device(name=GPU, count=1)))
            job = await bench.submit(engine, bench.spec("trap exit TERM; sleep 1000 & wait", replica_specs=[group]))
            seen = await bench.until(job, lambda seen: seen.devices_held == 2)
            assert seen.devices == Device(name=GPU, count=2)
            capacity = await until(bench, lambda seen: (seen.mine or {}).get(GPU) == 2)
            assert sum(pool.mine for pool in capacity.pools if pool.resource == GPU) == 2
            held = {node.name: node.mine[GPU] for node in (await bench.cluster.capacity.nodes()).nodes if node.mine}
            assert sum(held.values()) == 2
            await bench.engines[engine].act(job.uid, "pause")
            await bench.until(job, lambda seen: seen.devices_held == 0)
            await until(bench, lambda seen: seen.mine == {})
            await bench.engines[engine].act(job.uid, "delete", remove=True)


@pytest.fixture(scope="module")
def account(kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    account = Account(kube, "lab", tmp_path_factory.mktemp("account"))
    yield account
    account.leave()


def everywhere() -> list[dict[str, Any]]:
    """Return the rules of the optional ClusterRole, one for each resource."""
    role = yaml.safe_load((ROOT / "examples" / "kubernetes" / "rbac-cluster.yaml").read_text())
    return [{**rule, "resources": [resource]} for rule in role["rules"] for resource in rule["resources"]]


async def test_little_rights(kube: Kube, image: str, paper: Paper, account: Account, tmp_path: Path) -> None:
    """Without nodes: quotas and own jobs. Without the pods of others: what is its own. Without quotas: the rest."""
    product = f"H100-of-{kube.namespace}"
    node = paper.node("one", labels={"nvidia.com/gpu.product": product}, **{GPU: "8"})
    paper.pod("seen", node, container(**{GPU: "2"}))
    kube.create("resourcequotas", {"metadata": {"name": "team"}, "spec": {"hard": {"pods": "9"}}})
    kube.until("resourcequotas", "team", lambda quota: quota and quota.get("status", {}).get("used"))
    role, cluster = rules(), {rule["resources"][0]: rule for rule in everywhere()}
    await account.may(*role)

    async def look(home: str) -> Capacity:
        async with serving(kube, image, tmp_path / home, kubeconfig=account.kubeconfig) as bench:
            nodes = await bench.engines["kubeflow"].nodes()
            capacity = await bench.engines["kubeflow"].capacity("")
            assert (nodes.limited, len(nodes.nodes)) == (capacity.limited, capacity.nodes)
            return capacity

    try:
        seen = await look("no-nodes")
        assert (seen.nodes, seen.pools, seen.amounts) == (0, [], [])
        assert seen.limited is not None and "nodes" in seen.limited
        assert [line.resource for quota in seen.quotas for line in quota.lines] == ["pods"]

        account.everywhere(cluster["nodes"])
        seen = await look("no-pods")
        assert pool_of(seen, product).amount.free == 6
        assert seen.limited is not None and "pods of all namespaces" in seen.limited
        account.leave()

        account.everywhere(cluster["nodes"], cluster["pods"])
        await account.may(*(rule for rule in role if "resourcequotas" not in rule["resources"]))
        seen = await look("no-quotas")
        assert (pool_of(seen, product).amount.free, seen.limited) == (6, None)
        (quota,) = seen.quotas
        assert quota.lines == [] and quota.limited is not None and "resourcequotas" in quota.limited
    finally:
        account.leave()
        kube.delete("resourcequotas", "team")


async def test_a_cluster_that_does_not_answer(kube: Kube, image: str, tmp_path: Path) -> None:
    """The last known capacity stays, with its time, and is updated when the cluster answers again."""
    async with Between(kube=kube) as between:
        kubeconfig = between.kubeconfig(tmp_path)
        async with serving(kube, image, tmp_path, kubeconfig=kubeconfig) as bench:
            known = await until(bench, lambda seen: seen.nodes and not seen.limited)
            between.rule = lambda _request: lambda _between, call: cut(call)
            between.cut_all()
            gone = await until(bench, lambda seen: seen.time < time.time() - 0.5)
            assert (gone.nodes, gone.pools, gone.limited) == (known.nodes, known.pools, None)
            again = time.time()
            between.rule = lambda _request: None
            back = await until(bench, lambda seen: seen.time >= again)
            assert back.nodes == known.nodes


async def test_one_watch_for_all_who_look(
    kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity_service, "LINGER_SECONDS", 0.2)
    async with Between(kube=kube) as between:

        def asked() -> list[str]:
            """Return the lists (by their first part) and watches, of what capacity alone needs."""
            of = ("/api/v1/nodes", "/api/v1/pods", f"/api/v1/namespaces/{kube.namespace}/resourcequotas")
            first = [each for each in between.requests if each.path in of and not each.query.get("continue")]
            return sorted(f"{each.path.rpartition('/')[2]} {each.query.get('watch', 'list')}" for each in first)

        async with serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench:
            assert asked() == []  # nobody looks
            ends = [bench.cluster.capacity.subscribe() for _ in range(50)]
            engines = list(bench.engines.values()) * 10
            await asyncio.gather(*(engine.capacity("") for engine in engines), *(engine.nodes() for engine in engines))
            # the watch of nodes and of pods begins with the list
            once = ["nodes true", "pods true", "resourcequotas list", "resourcequotas true"]
            await until(bench, lambda _seen: asked() == once)
            for end in ends:
                end()
            watches = [task for task in asyncio.all_tasks() if task.get_name() == "watch /api/v1/nodes"]
            assert len(watches) == 1
            await asyncio.wait_for(asyncio.gather(*watches, return_exceptions=True), WAIT)
            assert asked() == once
            await bench.cluster.capacity.now()
            assert len(asked()) > len(once)
