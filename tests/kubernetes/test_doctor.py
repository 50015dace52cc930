"""The command `doctor` with a cluster: each engine that can't be used has the advice that mends it, or none."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jupyterlab_t9kjob.cli.__main__ import run_program
from jupyterlab_t9kjob.client import session
from tests.kubernetes.fakeapi import Call, hang, refuse, write_kubeconfig
from tests.kubernetes.fakecluster import GROUP, FakeCluster

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]

INSTALL, PERMISSION = "install it", "for the permission"


class ExpiredLogin(FakeCluster):
    """A cluster that accepts no credentials any more."""

    async def _handle(self, call: Call) -> None:
        await refuse(401, "Unauthorized", "Unauthorized")(call)


class Silent(FakeCluster):
    """A cluster that never answers."""

    async def _handle(self, call: Call) -> None:
        await hang(call)


async def examined(
    server: FakeCluster, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> dict[str, dict[str, Any]]:
    """Return what the command finds in the cluster, by the engines that it is about."""
    for name in ("HOME", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(folder))
    monkeypatch.setenv("KUBECONFIG", str(write_kubeconfig(folder / "kubeconfig", {"server": server.url})))
    await asyncio.to_thread(run_program, ["doctor", "-o", "json", "--home", str(folder / "home")])
    found = json.loads(capsys.readouterr().out)["findings"]
    return {each["subject"]: each for each in found if each["level"] != "ok"}


async def test_an_expired_login_is_said_once_with_its_own_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with ExpiredLogin() as server:
        found = await examined(server, tmp_path, monkeypatch, capsys)
    about = [each for each in found.values() if "credentials" in each["sentence"]]
    assert len(about) == 1 and about[0]["level"] == "missing", found
    assert "Kubeflow" in about[0]["subject"] and "T9k" in about[0]["subject"]
    assert "Log in to the cluster again" in about[0]["advice"]
    assert INSTALL not in str(found)


async def test_a_cluster_that_does_not_answer_is_no_matter_of_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session, "CONNECT_SECONDS", 0.5)
    async with Silent() as server:
        found = await examined(server, tmp_path, monkeypatch, capsys)
    (silent,) = [each for each in found.values() if "Check the network" in str(each["advice"])]
    assert silent["level"] == "missing" and "Kubeflow" in silent["subject"]
    assert INSTALL not in str(found) and "--context" not in str(found)


async def test_a_kind_that_the_cluster_lacks_can_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with FakeCluster() as server:
        found = await examined(server, tmp_path, monkeypatch, capsys)
    assert "Kubeflow" not in found
    lacking = {name: each for name, each in found.items() if "has no" in each["sentence"]}
    assert len(lacking) >= 3
    assert all(INSTALL in each["advice"] and each["level"] == "optional" for each in lacking.values())


@pytest.mark.parametrize(
    ("version", "allowed", "sentence", "advice"),
    [("v1.34.0", False, "permission", PERMISSION), ("v1.20.0", True, "needs Kubernetes", None)],
)
async def test_a_kind_that_can_not_be_used_is_not_to_be_installed(
    version: str,
    allowed: bool,
    sentence: str,
    advice: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def version_of(call: Call) -> None:
        await call.answer(200, {"gitVersion": version})

    async def jobs(call: Call) -> None:
        await call.answer(200, {"resources": [{"name": "jobs", "kind": "Job"}]})

    async def review(call: Call) -> None:
        await call.answer(201, {"status": {"allowed": allowed}})

    async with FakeCluster() as server:
        server.items["/apis/batch/v1/namespaces/lab/jobs"] = []
        server.instead |= {
            "/version": version_of,
            "/apis/batch/v1": jobs,
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": review,
            GROUP: jobs,
        }
        found = await examined(server, tmp_path, monkeypatch, capsys)
    job = next(each for each in found.values() if sentence in each["sentence"])
    assert job["advice"] is None if advice is None else advice in job["advice"], job
