"""The table of examples/kubernetes/README.md: what stops without a rule is what it says, and all else goes on."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from jupyterlab_t9kjob.core.errors import FieldError, JobError, NotAllowed
from jupyterlab_t9kjob.core.log_sources import LogFile
from jupyterlab_t9kjob.core.spec import Torchrun
from tests.kubernetes.accounts import Account
from tests.kubernetes.between import Between
from tests.kubernetes.engines import KINDS, PLURALS, WAIT, Bench, serving
from tests.kubernetes.fakeapi import Request
from tests.kubernetes.harness import ROOT, Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

RECIPES = ROOT / "examples" / "kubernetes"
JOBS = {"pytorchtrainingjobs", "pytorchjobs", "trainjobs"}


CLUSTER_WIDE = " (`rbac-cluster.yaml`)"


def rules(file: str = "rbac.yaml") -> list[dict[str, Any]]:
    """Return the rules of a file's roles."""
    parts = yaml.safe_load_all((RECIPES / file).read_text())
    return [rule for part in parts for rule in part.get("rules", [])]


def rights(file: str) -> set[tuple[str, str]]:
    return {(resource, verb) for rule in rules(file) for resource in rule["resources"] for verb in rule["verbs"]}


def table(section: str = "Rights") -> list[str]:
    """Return the first column of a section's table."""
    text = (RECIPES / "README.md").read_text().partition(f"## {section}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| (`[^|]*?) \|", text, re.MULTILINE)


def meant(row: str) -> set[tuple[str, str]]:
    """Return the resources and verbs of a row."""
    verbs, _, resources = row.removesuffix(CLUSTER_WIDE).partition(" on ")
    named = set(re.findall(r"`([^`]+)`", resources)) or JOBS
    return {(resource, verb) for resource in named for verb in re.findall(r"`([^`]+)`", verbs)}


def without(row: str) -> Iterator[dict[str, Any]]:
    for rule in rules():
        for resource in rule["resources"]:
            verbs = [verb for verb in rule["verbs"] if (resource, verb) not in meant(row)]
            if verbs:
                yield {"apiGroups": rule["apiGroups"], "resources": [resource], "verbs": verbs}


async def test_the_table_has_every_rule() -> None:
    said = {wide: {pair for row in table() if (CLUSTER_WIDE in row) == wide for pair in meant(row)} for wide in (0, 1)}
    assert said[False] == rights("rbac.yaml")
    assert said[True] == rights("rbac-cluster.yaml")
    assert {pair for row in table("Queues") for pair in meant(row)} == rights("rbac-queues.yaml")


async def test_every_row_is_shown_to_be_true() -> None:
    assert {*STOPS, *ELSEWHERE} == {*table()}
    for test in ELSEWHERE.values():
        file, _, name = test.partition("::")
        assert f"def {name}(" in (Path(__file__).parent / file).read_text()


@dataclass
class Running:
    """A job that runs, and is somebody else's."""

    engine: str
    uid: str
    name: str


@pytest.fixture(scope="module")
def jobs(kube: Kube, image: str, controller: object, kubeflow: None) -> dict[str, Running]:
    container = {"name": "pytorch", "image": image, "command": ["sh", "-c", "echo hello; sleep 1000"]}
    role = {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    specs = {
        "t9k": {"replicaSpecs": [{"type": "worker", **role}]},
        "kubeflow": {"pytorchReplicaSpecs": {"Master": role}},
    }
    found = {}
    for engine, spec in specs.items():
        kind = KINDS[engine]()
        job = {"apiVersion": f"{kind.group}/{kind.version}", "kind": kind.kind, "metadata": {"name": "theirs"}}
        kube.apply({**job, "spec": spec})  # once more where the fixture is repeated
        found[engine] = Running(
            engine, kube.ask("GET", kube.path(PLURALS[engine], "theirs"))["metadata"]["uid"], "theirs"
        )
    kube.until_phase("theirs", "Running")
    kube.until_condition("theirs", "Running")
    return found


@pytest.fixture(scope="module")
def account(kube: Kube, tmp_path_factory: pytest.TempPathFactory) -> Account:
    return Account(kube, "lab", tmp_path_factory.mktemp("account"))


async def no_jobs(bench: Bench, job: Running) -> None:
    engine = bench.engines[job.engine]
    assert await engine.jobs() == []
    info = await engine.info()
    assert info.cluster is not None and PLURALS[job.engine] in (info.cluster.stale_verbatim or "")
    own = await bench.submit(job.engine, bench.spec("true"))
    assert [each.id for each in await engine.jobs()] == [own.id]


async def no_create(bench: Bench, job: Running) -> None:
    engine = bench.engines[job.engine]
    for dry_run in (False, True):
        preview = await engine.preview(bench.spec("true"), bench.kube.namespace, dry_run=dry_run)
        assert "/namespace" in [check.field for check in preview.checks if check.code == "Forbidden"]
    with pytest.raises(NotAllowed):
        await bench.submit(job.engine, bench.spec("true"))
    assert set((await engine.job(job.uid)).refused) == {"rerun"}


async def no_get(bench: Bench, job: Running) -> None:
    with pytest.raises(NotAllowed):
        await bench.submit(job.engine, bench.spec("true", name=job.name))


async def no_patch(bench: Bench, job: Running) -> None:
    seen = await bench.engines[job.engine].job(job.uid)
    assert seen.actions == ["delete", "rerun"]
    assert set(seen.refused) == {"pause", "stop"}
    assert f"patch {PLURALS[job.engine]}" in seen.refused["pause"]
    with pytest.raises(NotAllowed, match=f"patch {PLURALS[job.engine]}"):
        await bench.engines[job.engine].act(job.uid, "pause")


async def no_delete(bench: Bench, job: Running) -> None:
    seen = await bench.engines[job.engine].job(job.uid)
    assert "delete" not in seen.actions
    assert set(seen.refused) == {"delete"}
    with pytest.raises(NotAllowed, match=f"delete {PLURALS[job.engine]}"):
        await bench.engines[job.engine].act(job.uid, "delete")


async def no_pods(bench: Bench, job: Running) -> None:
    engine = bench.engines[job.engine]
    assert [replica.pod for replica in await engine.replicas(job.uid)] == [None]
    assert await engine.log_sources(job.uid) == []
    seen = await engine.job(job.uid)
    assert seen.phase == "Running"
    assert [said.partition(" in namespace")[0] for said in seen.limited] == ["You don't have permission to see pods"]


async def all_goes_on(bench: Bench, job: Running) -> None:
    engine = bench.engines[job.engine]
    assert (await engine.replicas(job.uid))[0].pod is not None
    assert await until_in_log(bench, job, lambda file: file.path.exists() and file.path.read_text()) == "hello\n"


async def no_logs(bench: Bench, job: Running) -> None:
    said = await until_in_log(bench, job, lambda file: file.stream.waiting)
    assert "may not read the log" in said and "pods/log" in said


async def no_events(bench: Bench, job: Running) -> None:
    assert "Scheduled" not in {event.reason for event in await bench.engines[job.engine].events(job.uid)}
    assert (await bench.engines[job.engine].replicas(job.uid))[0].pod is not None
    (limited,) = (await bench.engines[job.engine].job(job.uid)).limited
    assert limited.startswith(
        f"You don't have permission to see events in namespace {bench.kube.namespace} (list events). "
    )


async def no_list_of_volumes(bench: Bench, job: Running) -> None:
    with pytest.raises(NotAllowed):
        await bench.engines[job.engine].volumes(bench.kube.namespace)


async def no_quotas(bench: Bench, job: Running) -> None:
    (quota,) = (await bench.engines[job.engine].capacity("")).quotas
    assert quota.namespace == bench.kube.namespace
    assert quota.limited is not None and "list, watch resourcequotas" in quota.limited
    info = await bench.engines[job.engine].info()
    assert info.cluster is not None
    missing = [name for name, right in info.cluster.rights.items() if not right.supported]
    assert missing == ["list_quotas", "watch_quotas", "list_namespaces"]


async def until_in_log(bench: Bench, job: Running, found: Callable[[LogFile], Any]) -> Any:
    """Look at the log until there is something in its only stream."""
    engine = bench.engines[job.engine]

    async def wait() -> Any:
        while True:
            (file,) = await engine.log_sources(job.uid)
            if result := found(file):
                return result
            await asyncio.sleep(0.1)

    end = await engine.follow_logs(job.uid, lambda: None)
    try:
        return await asyncio.wait_for(wait(), WAIT)
    finally:
        end()


STOPS: dict[str, Callable[[Bench, Running], Awaitable[None]]] = {
    "`list`, `watch` on `pytorchtrainingjobs`, `pytorchjobs`, `trainjobs`": no_jobs,
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
ELSEWHERE = {
    "`list` and `get` on `pods`": "test_own_pod.py::test_a_lab_in_a_pod_finds_itself",
    "`get` on `persistentvolumeclaims`": "test_own_pod.py::test_a_lab_in_a_pod_finds_itself",
    f"`list` on `namespaces`{CLUSTER_WIDE}": "test_rights.py::test_namespaces",
    f"`get` on `namespaces`{CLUSTER_WIDE}": "test_rights.py::test_namespaces",
    f"`list`, `watch` on `nodes`{CLUSTER_WIDE}": "test_capacity.py::test_little_rights",
    f"`list`, `watch` on `pods`{CLUSTER_WIDE}": "test_capacity.py::test_little_rights",
}
"""Rows that need something else, such as a lab in a pod, and the tests that have it."""
WALK = [
    (row, engine)
    for row in STOPS
    for engine in (PLURALS if {resource for resource, _ in meant(row)} == JOBS else ["kubeflow"])
]


@pytest.mark.parametrize(("row", "engine"), WALK)
async def test_without_a_rule(
    row: str,
    engine: str,
    kube: Kube,
    image: str,
    account: Account,
    jobs: dict[str, Running],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    await account.may(*without(row))
    async with serving(kube, image, tmp_path / "lab", kubeconfig=account.kubeconfig, kinds=KINDS) as bench:
        for each in bench.engines.values():
            assert (await each.info()).available
        if STOPS[row] is not no_jobs:
            await bench.until(jobs[engine], lambda seen: seen.phase == "Running")
        await STOPS[row](bench, jobs[engine])
    gc.collect()  # of tasks that failed with nobody to hear it
    assert [record.message for record in caplog.records if record.name == "asyncio"] == []


# -- what a rule is for when something goes wrong ----------------------------------------------------------------------


async def test_without_get_nobody_can_tell_what_became_of_a_lost_answer(
    kube: Kube, image: str, account: Account, jobs: object, tmp_path: Path
) -> None:
    def rule(request: Request) -> Any:
        return Between.lose if request.method == "POST" and request.path.endswith(PLURALS["kubeflow"]) else None

    await account.may(*without("`get`"))
    limited = Kube(account.kubeconfig, kube.namespace, tmp_path)
    async with (
        Between(kube=limited, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        spec = bench.spec("true")
        with pytest.raises(JobError):
            await bench.submit("kubeflow", spec)
        await bench.until_heard(lambda _ident, summary: summary is not None and summary.name == spec.name)
    limited.close()


async def test_without_delete_a_job_that_lost_a_field_is_not_taken_back(
    kube: Kube, image: str, account: Account, jobs: object, tmp_path: Path
) -> None:
    def lax(between: Between, call: Any) -> Any:
        return between.forward(call, fieldValidation=None)

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"]["torchrunConfig"]["minNodez"] = 2

    await account.may(*without("`delete`"))
    limited = Kube(account.kubeconfig, kube.namespace, tmp_path)
    async with (
        Between(kube=limited, rule=lambda request: lax if request.method == "POST" else None) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        spec = bench.spec("true", torchrun=Torchrun())
        with pytest.raises(FieldError) as refused:
            await bench.submit("t9k", spec, edit=edit)
        assert refused.value.code == "FieldDropped"
    assert await asyncio.to_thread(kube.find, PLURALS["t9k"], spec.name) is not None
    limited.close()


# -- for the whole cluster ---------------------------------------------------------------------------------------------


async def test_namespaces(kube: Kube, image: str, account: Account, tmp_path: Path) -> None:
    nowhere = "there-is-none"
    await account.may(*rules())
    try:
        for verbs in ([], ["get"], ["list"]):
            given = [{"apiGroups": [""], "resources": ["namespaces"], "verbs": verbs}] if verbs else []
            await asyncio.to_thread(account.everywhere, *given)
            async with serving(kube, image, tmp_path, kubeconfig=account.kubeconfig) as bench:
                engine = bench.engines["kubeflow"]
                assert ("kube-system" in (await engine.info()).namespaces) == ("list" in verbs)
                # the form asks for a namespace's volumes
                with pytest.raises((FieldError, NotAllowed)) as beforehand:
                    await engine.volumes(nowhere)
                assert (beforehand.value.code == "NoSuchNamespace") == ("get" in verbs)
                with pytest.raises((FieldError, NotAllowed), match=nowhere):
                    await bench.submit("kubeflow", bench.spec("true"), namespace=nowhere)
            await asyncio.to_thread(account.leave)
    finally:
        await asyncio.to_thread(account.leave)
