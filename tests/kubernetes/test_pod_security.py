"""Jobs in a namespace that enforces the restricted Pod Security Standard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from jupyterlab_t9kjob.core.manifests.kinds.pod_security import violations
from jupyterlab_t9kjob.core.spec import Elastic, JobSpec, ReplicaSpec, Security, Torchrun
from jupyterlab_t9kjob.engines.kubernetes.submit.pod_security import ENFORCE
from tests.kubernetes.engines import Bench, serving
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]

FITTING = Security(uid=1000, gid=1000, restricted=True)


@pytest_asyncio.fixture
async def bench(kube: Kube, image: str, tmp_path: Path) -> AsyncIterator[Bench]:
    kube.ask("PATCH", kube.path("namespaces", kube.namespace), {"metadata": {"labels": {ENFORCE: "restricted"}}})
    async with serving(kube, image, tmp_path) as bench:
        yield bench


@pytest.mark.parametrize("engine", ["t9k", "kubeflow"])
async def test_a_job_is_made_to_fit(engine: str, bench: Bench) -> None:
    lab = await bench.engines[engine].lab(bench.kube.namespace)
    assert lab is not None and lab.security.restricted
    unfit = bench.spec("true")
    preview = await bench.engines[engine].preview(unfit, bench.kube.namespace, dry_run=True)
    (check,) = [check for check in preview.checks if check.code == "PodSecurity"]
    assert (check.level, check.field) == ("warning", "/spec/security")
    assert check.fix is not None and check.fix.changes == {"/spec/security/restricted": True}
    # the dry run tries no pods
    (accepted,) = [check for check in preview.checks if check.code == "DryRun"]
    assert accepted.level == "hint"
    fit = bench.spec("true", security=FITTING)
    preview = await bench.engines[engine].preview(fit, bench.kube.namespace, dry_run=True)
    assert [check.code for check in preview.checks if check.level != "hint"] == ["DryRun"]
    job = await bench.submit(engine, fit)
    await bench.until(job, lambda seen: seen.phase == "Succeeded")


async def test_a_job_that_does_not_fit_says_how_it_would(bench: Bench) -> None:
    job = await bench.submit("kubeflow", bench.spec("true"))
    waits = await bench.until(job, lambda seen: seen.reason is not None and seen.reason.code == "PodSecurity")
    assert waits.reason is not None and waits.reason.hint is not None
    assert "runAsNonRoot != true" in waits.reason.sentence
    assert "Make pods fit the restricted standard" in waits.reason.hint
    assert waits.reason.fix is not None and waits.reason.fix.changes == {"/spec/security/restricted": True}


async def test_the_operators_own_container(bench: Bench) -> None:
    """Workers of a job with a master are refused, and an elastic job has no master."""
    spec = bench.spec("true", security=FITTING, torchrun=Torchrun(), replica_specs=[ReplicaSpec(replicas=2)])
    preview = await bench.engines["kubeflow"].preview(spec, bench.kube.namespace)
    (check,) = [check for check in preview.checks if check.code == "OperatorViolates"]
    assert check.fix is not None
    (elastic,) = check.fix.changes.values()
    whole = spec.model_copy(update={"elastic": Elastic.model_validate(elastic)})
    assert "OperatorViolates" not in await codes(bench, whole)
    job = await bench.submit("kubeflow", whole)
    await bench.until(job, lambda seen: seen.phase == "Succeeded")
    refused = await bench.submit("kubeflow", spec.model_copy(update={"name": f"{spec.name}-m"}))
    waits = await bench.until(refused, lambda seen: seen.reason is not None and seen.reason.code == "PodSecurity")
    assert waits.reason is not None and waits.reason.fix is None
    assert "init-pytorch" in (waits.reason.hint or "")


async def codes(bench: Bench, spec: JobSpec) -> list[str]:
    return [check.code for check in (await bench.engines["kubeflow"].preview(spec, bench.kube.namespace)).checks]


async def test_what_we_call_fit_the_cluster_calls_fit(bench: Bench) -> None:
    """The API server says of each pod whether it would be refused, and of which fields."""
    container = {"name": "a", "image": "x:1"}
    context = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    pod = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    for spec in (
        {"containers": [container]},
        {"containers": [{**container, "securityContext": context}]},
        {"securityContext": pod, "containers": [{**container, "securityContext": context}]},
        {"securityContext": {**pod, "runAsUser": 0}, "containers": [{**container, "securityContext": context}]},
        {"securityContext": pod, "hostPID": True, "containers": [{**container, "securityContext": context}]},
        {"containers": [{**container, "securityContext": {**context, **pod}}]},
    ):
        try:
            pod_of = {"metadata": {"generateName": "a-"}, "spec": spec}
            bench.kube.ask("POST", bench.kube.path("pods"), pod_of, dryRun="All")
            said = ""
        except httpx.HTTPStatusError as error:
            said = error.response.text
        assert ("violates PodSecurity" in said) == bool(list(violations(spec))), said or spec
