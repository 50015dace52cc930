"""A job that does not fit into the cluster: the check before submission, and the reason of the submitted job."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyterlab_t9kjob.core.spec import Device, Quantity, ReplicaSpec, Resources
from jupyterlab_t9kjob.engines.kubernetes.cluster.capacity import service as capacity_service
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import serving
from tests.kubernetes.harness import Kube
from tests.server.conftest import Api

pytestmark = [pytest.mark.cluster, pytest.mark.usefixtures("controller", "kubeflow")]

MANY = 1000
"""More GPUs than any node has."""


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a form wait until the nodes are known, however long a busy cluster takes."""
    monkeypatch.setattr(capacity_service, "ROOM_SECONDS", 60.0)


def asking(count: int) -> list[ReplicaSpec]:
    return [ReplicaSpec(resources=Resources(device=Device(count=count)))]


@pytest.mark.asyncio
@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_more_than_any_node_has(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        spec = bench.spec(replica_specs=asking(MANY))
        preview = await bench.engines[engine].preview(spec, kube.namespace)
        (check,) = [check for check in preview.checks if check.code == "NodeTooSmall"]
        assert (check.level, check.field) == ("error", "/spec/replica_specs/0/resources/device")
        assert check.message.startswith(f"No node has {MANY} ")
        assert check.fix is not None
        (most,) = check.fix.changes.values()
        smaller = spec.model_copy(update={"replica_specs": asking(most)})
        preview = await bench.engines[engine].preview(smaller, kube.namespace)
        assert not [check for check in preview.checks if check.level == "error"]
        # the API takes it even so; then the job says what it waits for
        job = await bench.submit(engine, spec)
        waits = await bench.until(job, lambda seen: seen.reason is not None and seen.reason.code == "Unschedulable")
        assert waits.reason is not None
        assert waits.reason.sentence.startswith(check.message.rstrip("."))
        assert waits.reason.hint == f"It starts only if a larger node is added. {check.hint}"


async def test_an_edited_manifest_has_it_at_its_line(api: Api, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        spec = bench.spec(replica_specs=asking(MANY))
        text = (await bench.engines["t9k"].preview(spec, kube.namespace)).manifest or ""
    answer = await api("POST", "launch", "preview", body={"engine": "t9k", "manifest": text})
    (check,) = [check for check in answer.json["checks"] if check["code"] == "NodeTooSmall"]
    assert check["fix"] is None
    assert text.splitlines()[check["line"] - 1].strip() == f"nvidia.com/gpu: {MANY}"


@pytest.mark.asyncio
async def test_who_may_not_see_nodes_is_told_of_quotas_only(kube: Kube, image: str, tmp_path: Path) -> None:
    kube.create("resourcequotas", {"metadata": {"name": "small"}, "spec": {"hard": {"requests.memory": "1Gi"}}})
    kube.until("resourcequotas", "small", lambda one: one and one.get("status", {}).get("used"))
    account = Account(kube, "no-nodes", tmp_path)
    await account.may(
        {"apiGroups": ["kubeflow.org"], "resources": ["pytorchjobs"], "verbs": ["*"]},
        {"apiGroups": [""], "resources": ["resourcequotas", "pods", "events"], "verbs": ["list", "watch"]},
    )
    message = f"The quota small of namespace {kube.namespace} allows 1 GiB memory, and the job needs 4 GiB."
    async with serving(kube, image, tmp_path / "home", kubeconfig=account.kubeconfig) as bench:
        for memory, messages in (("4Gi", [message]), ("512Mi", [])):
            resources = Resources(memory=Quantity(request=memory))
            spec = bench.spec(replica_specs=[ReplicaSpec(resources=resources)])
            preview = await bench.engines["kubeflow"].preview(spec, kube.namespace)
            assert [check.message for check in preview.checks if check.level != "hint"] == messages
