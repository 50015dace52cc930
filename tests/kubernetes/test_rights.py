"""The table of examples/kubernetes/README.md: what stops without a rule is what it says, and all else goes on."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from jupyterlab_t9kjob.core.engine import LogFile
from jupyterlab_t9kjob.core.errors import Conflict, NotAllowed
from jupyterlab_t9kjob.core.job import Job
from tests.kubernetes.accounts import Account
from tests.kubernetes.engines import WAIT, Bench, serving
from tests.kubernetes.harness import ROOT, Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

RECIPES = ROOT / "examples" / "kubernetes"
JOBS = {"pytorchtrainingjobs", "pytorchjobs"}


def rules() -> list[dict[str, Any]]:
    role = next(part for part in yaml.safe_load_all((RECIPES / "rbac.yaml").read_text()) if part["kind"] == "Role")
    return role["rules"]


def table() -> list[str]:
    """Return the first column."""
    text = (RECIPES / "README.md").read_text().partition("## Rights")[2]
    return re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)


def meant(row: str) -> set[tuple[str, str]]:
    """Return the resources and verbs of a row."""
    verbs, _, resources = row.partition(" on ")
    named = set(re.findall(r"`([^`]+)`", resources)) or JOBS
    return {(resource, verb) for resource in named for verb in re.findall(r"`([^`]+)`", verbs)}


def without(row: str) -> Iterator[dict[str, Any]]:
    for rule in rules():
        for resource in rule["resources"]:
            verbs = [verb for verb in rule["verbs"] if (resource, verb) not in meant(row)]
            if verbs:
                yield {"apiGroups": rule["apiGroups"], "resources": [resource], "verbs": verbs}


async def test_the_table_has_every_rule() -> None:
    said = {pair for row in table() if "rbac-cluster" not in row for pair in meant(row)}
    assert said == {(resource, verb) for rule in rules() for resource in rule["resources"] for verb in rule["verbs"]}


@pytest.fixture(scope="module")
def account(kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Account:
    return Account(kube, "lab", tmp_path_factory.mktemp("account"))


@pytest_asyncio.fixture
async def running(kube: Kube, image: str, tmp_path: Path) -> AsyncIterator[tuple[Bench, Job]]:
    """A job of somebody else's."""
    async with serving(kube, image, tmp_path / "admin") as admin:
        job = await admin.submit("kubeflow", admin.spec("echo hello; sleep 1000"))
        await admin.until_phase(job, "Running")
        yield admin, job
        await admin.engines["kubeflow"].act(job.uid, "delete")


async def no_jobs(bench: Bench, job: Job) -> None:
    engine = bench.engines["kubeflow"]
    assert await engine.jobs() == []
    info = await engine.info()
    assert info.cluster is not None and "pytorchjobs" in (info.cluster.stale_reason or "")
    own = await bench.submit("kubeflow", bench.spec("true"))
    assert [each.id for each in await engine.jobs()] == [own.id]


async def no_create(bench: Bench, job: Job) -> None:
    preview = await bench.engines["kubeflow"].preview(bench.spec("true"), bench.kube.namespace)
    assert [check.field for check in preview.checks if check.code == "Forbidden"] == ["/namespace"]
    with pytest.raises(NotAllowed):
        await bench.submit("kubeflow", bench.spec("true"))


async def no_get(bench: Bench, job: Job) -> None:
    with pytest.raises(NotAllowed):
        await bench.submit("kubeflow", bench.spec("true", name=job.name))


async def no_patch(bench: Bench, job: Job) -> None:
    seen = await bench.engines["kubeflow"].job(job.uid)
    assert seen.actions == ["delete", "rerun"]
    assert set(seen.refused) == {"pause", "stop"}
    assert "patch pytorchjobs" in seen.refused["pause"]
    with pytest.raises(Conflict):
        await bench.engines["kubeflow"].act(job.uid, "pause")


async def no_delete(bench: Bench, job: Job) -> None:
    seen = await bench.engines["kubeflow"].job(job.uid)
    assert "delete" not in seen.actions
    assert set(seen.refused) == {"delete"}
    with pytest.raises(Conflict):
        await bench.engines["kubeflow"].act(job.uid, "delete")


async def no_pods(bench: Bench, job: Job) -> None:
    engine = bench.engines["kubeflow"]
    assert [replica.pod for replica in await engine.replicas(job.uid)] == [None]
    assert await engine.log_files(job.uid) == []
    assert (await engine.job(job.uid)).phase == "Running"


async def all_goes_on(bench: Bench, job: Job) -> None:
    engine = bench.engines["kubeflow"]
    assert (await engine.replicas(job.uid))[0].pod is not None
    assert await until_in_log(bench, job, lambda file: file.path.exists() and file.path.read_text()) == "hello\n"


async def no_logs(bench: Bench, job: Job) -> None:
    said = await until_in_log(bench, job, lambda file: file.stream.waiting)
    assert "may not read its log" in said and "pods/log" in said


async def no_events(bench: Bench, job: Job) -> None:
    assert "Scheduled" not in {event.reason for event in await bench.engines["kubeflow"].events(job.uid)}
    assert (await bench.engines["kubeflow"].replicas(job.uid))[0].pod is not None


async def no_list_of_volumes(bench: Bench, job: Job) -> None:
    with pytest.raises(NotAllowed):
        await bench.engines["kubeflow"].volumes(bench.kube.namespace)


async def no_quotas(bench: Bench, job: Job) -> None:
    (quota,) = (await bench.engines["kubeflow"].capacity("")).quotas
    assert quota.namespace == bench.kube.namespace
    assert quota.limited is not None and "list, watch resourcequotas" in quota.limited


async def until_in_log(bench: Bench, job: Job, found: Callable[[LogFile], Any]) -> Any:
    """Look at the log until there is something in its only stream."""
    engine = bench.engines["kubeflow"]

    async def wait() -> Any:
        while True:
            (file,) = await engine.log_files(job.uid)
            if result := found(file):
                return result
            await asyncio.sleep(0.1)

    end = await engine.look_at_logs(job.uid)
    try:
        return await asyncio.wait_for(wait(), WAIT)
    finally:
        end()


# What needs a lab in a pod is shown by test_own_pod.py: its own pod, and how its volumes may be mounted.
STOPS: dict[str, Callable[[Bench, Job], Awaitable[None]]] = {
    "`list`, `watch` on `pytorchtrainingjobs`, `pytorchjobs`": no_jobs,
    "`create`": no_create,
    "`get`": no_get,
    "`patch`": no_patch,
    "`delete`": no_delete,
    "`list`, `watch` on `pods`": no_pods,
    "`get` on `pods`": all_goes_on,
    "`get` on `pods/log`": no_logs,
    "`list`, `watch` on `events`": no_events,
    "`list` on `persistentvolumeclaims`": no_list_of_volumes,
    "`list`, `watch` on `resourcequotas`": no_quotas,
}


@pytest.mark.parametrize("row", STOPS)
async def test_without_a_rule(
    row: str,
    kube: Kube,
    image: str,
    account: Account,
    running: tuple[Bench, Job],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert row in table()
    await account.may(*without(row))
    async with serving(kube, image, tmp_path / "lab", kubeconfig=account.kubeconfig) as bench:
        for engine in bench.engines.values():
            assert (await engine.info()).available
        if STOPS[row] is not no_jobs:
            await bench.until(running[1], lambda seen: seen.phase == "Running")
        await STOPS[row](bench, running[1])
    gc.collect()  # of tasks that failed with nobody to hear it
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []
