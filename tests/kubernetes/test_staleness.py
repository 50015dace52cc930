"""Why a lab does not hear of changes in its cluster, as the page is told it: what happened, what to do, whose words."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from jupyterlab_t9kjob.core.engine.info import ClusterInfo, StaleCode
from jupyterlab_t9kjob.engines.kubernetes.client.api import KubeApi, Unreachable
from jupyterlab_t9kjob.engines.kubernetes.client.credentials.connection import Connection, NoCluster
from jupyterlab_t9kjob.engines.kubernetes.client.watch import backoff
from jupyterlab_t9kjob.engines.kubernetes.cluster import connection as cluster
from jupyterlab_t9kjob.engines.kubernetes.cluster.staleness import trouble_of
from tests.kubernetes.fakeapi import Act, Certificates, FakeApi, FakeProxy, refuse
from tests.kubernetes.fakecluster import JOBS, FakeCluster, kubeflow, training
from tests.kubernetes.test_transport import connect
from tests.patience import PATIENCE

pytestmark = pytest.mark.asyncio

PODS = "/api/v1/namespaces/lab/pods"
FORBIDDEN = 'pytorchjobs.kubeflow.org is forbidden: User "me" cannot list resource "pytorchjobs"'


@pytest.mark.parametrize(
    ("path", "answer", "code", "sentence", "hint"),
    [
        (JOBS, refuse(401, "Unauthorized", "Unauthorized"), "NoCredentials",
         "The cluster does not accept this lab's credentials", "Log in to the cluster again"),
        (JOBS, refuse(403, "Forbidden", FORBIDDEN), "Forbidden",
         "You don't have permission to see PyTorchJobs in namespace lab.",
         'the verbs "list" and "watch" for pytorchjobs.kubeflow.org'),
        (PODS, refuse(403, "Forbidden", "pods is forbidden"), "Forbidden",
         "You don't have permission to see pods in namespace lab.", '"watch" for pods'),
        (JOBS, refuse(404, "NotFound", "the server could not find the requested resource"), "NotServed",
         "The cluster has no PyTorchJobs in namespace lab (any more).", "looks again by itself"),
        (JOBS, refuse(429, "TooManyRequests", "slow down"), "Busy", "too much to do", "again by itself"),
        (JOBS, refuse(502, "", "boom"), "ServerError", "answers with an error (502)", "again by itself"),
    ],
)  # fmt: skip
async def test_a_refusal_is_named_and_says_what_to_do(
    path: str,
    answer: Act,
    code: StaleCode,
    sentence: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backoff, "FIRST_DELAY", 0.1)
    monkeypatch.setattr(cluster, "LOST_SECONDS", 0.2)
    async with FakeCluster() as server:
        server.items[JOBS] = [training("one")]
        async with kubeflow(server, tmp_path) as engine:
            await server.watched(3)
            server.instead[path] = answer
            server.cut_watches()
            info = await until(engine.info, lambda info: info.stale_since is not None)
            assert info.stale_code == code
            assert sentence in (info.stale_reason or "")
            assert hint in (info.stale_hint or "")
            assert info.stale_verbatim
            assert info.stale_verbatim not in (info.stale_reason or "")
            assert [job.name for job in await engine.jobs()] == ["one"]
            del server.instead[path]
            await engine.refresh()
            await until(engine.info, lambda info: info.stale_since is None)


async def until(ask: Callable[[], Any], reached: Callable[[ClusterInfo], bool]) -> ClusterInfo:
    """Ask an engine until what it says of its cluster is as wanted; nobody announces that."""
    with anyio.fail_after(PATIENCE):
        while True:
            info = (await ask()).cluster
            assert isinstance(info, ClusterInfo)
            if reached(info):
                return info
            await asyncio.sleep(0.05)


async def test_what_keeps_a_connection_from_being_made_is_named(tmp_path: Path) -> None:
    def no_login() -> Connection:
        raise NoCluster("The kubeconfig's program login, which gets the credentials, failed (exit status 1).")

    async with FakeApi(certificates=Certificates(tmp_path / "its")) as server, FakeProxy(server.port, "u:p") as proxy:
        known = connect(server)
        stranger = connect(FakeApi(certificates=Certificates(tmp_path / "other"), port=server.port))
        cases: dict[StaleCode, tuple[Connection, str]] = {
            "Untrusted": (stranger, "The certificate of the cluster at 127.0.0.1"),
            "NameUnknown": (replace(known, server="https://cluster.invalid"), "The address of the cluster at cluster"),
            "ProxyFailed": (replace(known, proxy=f"http://127.0.0.1:{proxy.port}"), "The proxy does not lead"),
            "NoCredentials": (replace(known, expires_at=1.0, renew=no_login), "The kubeconfig's program login"),
            "Unreachable": (replace(known, server="https://127.0.0.1:1"), "Connection refused"),
        }
        for code, (connection, sentence) in cases.items():
            api = KubeApi(connection)
            with pytest.raises(Unreachable) as caught:
                await api.get("/version")
            await api.close()
            trouble = trouble_of(caught.value, connection.host)
            assert (trouble.code, sentence in trouble.sentence) == (code, True), trouble
            assert trouble.hint
