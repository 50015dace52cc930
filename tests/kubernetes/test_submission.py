"""Submitting to a cluster: once, as it was meant, or not at all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.core.errors import Conflict, FieldError, Unavailable
from jupyterlab_t9kjob.core.manifests.names import OWNER, REQUEST_ID
from jupyterlab_t9kjob.core.spec import Torchrun
from jupyterlab_t9kjob.engines.kubernetes.submit import submission
from tests.kubernetes.between import Between
from tests.kubernetes.engines import PLURALS, serving
from tests.kubernetes.fakeapi import Call, refuse
from tests.kubernetes.harness import Kube

pytestmark = [pytest.mark.cluster, pytest.mark.asyncio, pytest.mark.usefixtures("controller", "kubeflow")]
both = pytest.mark.parametrize("engine", ["t9k", "kubeflow"])


async def names(kube: Kube, engine: str) -> list[str]:
    return [job["metadata"]["name"] for job in await asyncio.to_thread(kube.list, PLURALS[engine])]


@both
async def test_a_manifest_is_submitted_as_edited(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    sent: dict[str, Any] = {}

    def edit(manifest: dict[str, Any]) -> None:
        manifest["metadata"]["labels"] = {"team": "vision"}
        manifest["spec"]["runPolicy"]["backoffLimit"] = 7
        sent.update(manifest)

    async with serving(kube, image, tmp_path) as bench:
        job = await bench.submit(engine, bench.spec("true"), edit=edit)
        assert job.spec.labels == {"team": "vision"}
        assert job.spec.run_policy.backoff_limit == 7
        there = await asyncio.to_thread(kube.find, PLURALS[engine], job.name)
        assert there["metadata"]["labels"] == {"team": "vision"}
        assert there["spec"]["runPolicy"]["backoffLimit"] == 7
        ours = there["metadata"]["annotations"]
        assert ours[OWNER] == "tester"
        assert ours[REQUEST_ID] == job.request_id
        submitted = (await bench.engines[engine].manifest(job.uid)).submitted
        # beside our own variables there is the id of this submission, by which a run names its job
        assert '"T9KJOB_REQUEST"' in json.dumps(submitted["spec"])
        assert without_request(submitted["spec"]) == sent["spec"]


def without_request(spec: Any) -> Any:
    """Return a part of a manifest without the variable that has the id of the submission."""
    if isinstance(spec, list):
        named = [each for each in spec if not (isinstance(each, dict) and each.get("name") == "T9KJOB_REQUEST")]
        return [without_request(each) for each in named]
    return {key: without_request(value) for key, value in spec.items()} if isinstance(spec, dict) else spec


async def test_what_a_manifest_can_t_be(kube: Kube, image: str, tmp_path: Path) -> None:
    def other_kind(manifest: dict[str, Any]) -> None:
        manifest["kind"] = "PyTorchJob"

    def other_namespace(manifest: dict[str, Any]) -> None:
        manifest["metadata"]["namespace"] = "elsewhere"

    def no_name(manifest: dict[str, Any]) -> None:
        del manifest["metadata"]["name"]

    def unknown_field(manifest: dict[str, Any]) -> None:
        manifest["spec"]["replicaSpecs"][0]["bogus"] = 1

    expected = {
        other_kind: "/manifest/kind",
        other_namespace: "/manifest/metadata/namespace",
        no_name: "/manifest/metadata/name",
        unknown_field: "/manifest/spec/replicaSpecs/0/bogus",
    }
    async with serving(kube, image, tmp_path) as bench:
        for edit, field in expected.items():
            spec = bench.spec("true")
            with pytest.raises(FieldError) as refused:
                await bench.submit("t9k", spec, edit=edit)
            assert refused.value.field == field, refused.value.message
            assert spec.name not in await names(kube, "t9k")


async def test_an_old_server_drops_a_field_and_the_job_is_taken_back(kube: Kube, image: str, tmp_path: Path) -> None:
    """Without strict validation an unknown field vanishes, which turns torchrun off unseen (t9k-facts.md, Dialects)."""

    def lax(between: Between, call: Any) -> Any:
        return between.forward(call, fieldValidation=None)

    def edit(manifest: dict[str, Any]) -> None:
        manifest["spec"]["torchrunConfig"]["minNodez"] = 2

    async with Between(kube=kube, rule=lambda request: lax if request.method == "POST" else None) as between:
        async with serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench:
            spec = bench.spec("true", torchrun=Torchrun())
            with pytest.raises(FieldError) as refused:
                await bench.submit("t9k", spec, edit=edit)
            assert refused.value.code == "FieldDropped"
            assert refused.value.field == "/manifest/spec/torchrunConfig/minNodez"
            assert any(request.method == "DELETE" for request in between.requests)
        assert spec.name not in await names(kube, "t9k")


async def test_dry_run(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        spec = bench.spec("true")
        preview = await bench.engines["kubeflow"].preview(spec, kube.namespace, dry_run=True)
        assert ("passed", "DryRun") in [(check.level, check.code) for check in preview.checks]
        assert "kind: PyTorchJob" in (preview.manifest or "")
        assert spec.name not in await names(kube, "kubeflow")
        lost = await bench.engines["kubeflow"].preview(spec, "no-such-namespace", dry_run=True)
        errors = [check for check in lost.checks if check.level == "error"]
        assert [check.field for check in errors] == ["/namespace"]


async def test_a_namespace_that_is_not_there(kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path) as bench:
        spec = bench.spec("true")
        with pytest.raises(FieldError) as refused:
            await bench.submit("t9k", spec, namespace="no-such-namespace")
        assert refused.value.field == "/namespace"
        assert "no-such-namespace" in refused.value.message
        assert spec.name not in [job.name for job in await bench.engines["t9k"].jobs()]


@both
async def test_one_request_makes_one_job(engine: str, kube: Kube, image: str, tmp_path: Path) -> None:
    async with serving(kube, image, tmp_path / "one") as bench:
        spec = bench.spec("true", name=f"once-{engine}")
        job = await bench.submit(engine, spec, request_id="the-request")
        same = await bench.submit(engine, spec, request_id="the-request")
        assert same.uid == job.uid
        with pytest.raises(Conflict) as taken:
            await bench.submit(engine, spec, request_id="another-request")
        assert taken.value.field == "/spec/name"
    # a server that was restarted, and one that has never heard of it
    for home in ("one", "two"):
        async with serving(kube, image, tmp_path / home) as bench:
            known = await bench.engines[engine].created_by("the-request")
            assert known is not None
            assert known.uid == job.uid
            assert (await bench.submit(engine, spec, request_id="the-request")).uid == job.uid
    assert (await names(kube, engine)).count(spec.name) == 1


LOST = ("the request", "the answer", "the answer of a request that comes late")


@both
@pytest.mark.parametrize("what", LOST)
async def test_what_is_lost_makes_no_second_job(
    what: str, engine: str, kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "LOOKUP_DELAYS", (0.0, 0.5))
    lost: list[str] = []
    again, late = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def lose(between: Between, call: Call) -> None:
        call.cut()
        if what == "the answer of a request that comes late":
            await again.wait()
            async with between.ask(call.request) as answer:
                late.set_result(answer.status_code)

    def rule(request: Any) -> Any:
        if request.method == "POST" and request.path.endswith(f"/{PLURALS[engine]}") and not lost:
            lost.append(request.path)
            return Between.lose if what == "the answer" else lose
        return None

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        spec = bench.spec("true")
        if what != "the answer":
            with pytest.raises(Unavailable, match="probably not created"):
                await bench.submit(engine, spec, request_id="once more")
        job = await bench.submit(engine, spec, request_id="once more")
        assert lost
        assert (await bench.ended(job)).phase == "Succeeded"
        again.set()
        if what == "the answer of a request that comes late":
            assert await late == 409
        assert (await names(kube, engine)).count(job.name) == 1
        await bench.engines[engine].act(job.uid, "delete")


async def test_a_webhook_that_is_down_is_asked_again(
    kube: Kube, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "WEBHOOK_DELAYS", (0.0, 0.0))
    message = 'Internal error occurred: failed calling webhook "jobs.example.org": no endpoints available'
    left = 3

    def rule(request: Any) -> Any:
        nonlocal left
        if request.method != "POST" or not request.path.endswith(PLURALS["t9k"]) or not left:
            return None
        left -= 1
        return lambda _between, call: refuse(500, "InternalError", message)(call)

    async with (
        Between(kube=kube, rule=rule) as between,
        serving(kube, image, tmp_path, kubeconfig=between.kubeconfig(tmp_path)) as bench,
    ):
        spec = bench.spec("true")
        with pytest.raises(Unavailable) as refused:
            await bench.submit("t9k", spec)
        assert left == 0
        assert "jobs.example.org" in refused.value.message
        assert refused.value.verbatim == message
        # what the webhook did not let in is certainly not there
        assert not [request for request in between.requests if request.path.endswith(spec.name)]
        left = 2
        assert (await bench.submit("t9k", spec)).name == spec.name
        assert left == 0
