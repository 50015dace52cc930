"""Many open pages cost the API server as much as one page does, by its audit log."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from jupyterlab_t9kjob.engines.kubernetes.client.watch.probe import WATCH_SECONDS
from tests.kubernetes.accounts import Account
from tests.kubernetes.conftest import settings
from tests.kubernetes.harness import Kube, Volume
from tests.kubernetes.test_log_lab import OUT, audited, counting_job, found
from tests.local.lab import TOKEN, Lab
from tests.local.logsocket import LogSocket
from tests.patience import PATIENCE

pytestmark = [pytest.mark.cluster]

PAGES = 100
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


@pytest.fixture
def account(kube: Kube, tmp_path: Path) -> Iterator[Account]:
    """Return an account that nobody else uses, so that the audit tells whose a request is."""
    account = Account(kube, "counted", tmp_path)
    account.everywhere(EVERYTHING)
    yield account
    account.leave()


@pytest.fixture
def lab(account: Account, volume: Volume, tmp_path: Path) -> Iterator[Lab]:
    environment = {"KUBECONFIG": str(account.kubeconfig)}
    lab = Lab(tmp_path / "lab", root=volume.path, environment=environment, **settings(volume))
    (tmp_path / "lab").mkdir()
    lab.start()
    yield lab
    lab.kill()


async def looked_at(lab: Lab) -> WebSocketClientConnection:
    """Open what a page with a sidebar opens, until it is told what of the cluster is free."""
    request = HTTPRequest(f"ws://{lab.url}/t9kjob/stream", headers={"Authorization": f"token {TOKEN}"})
    socket = await websocket_connect(request, max_message_size=2**26)
    await socket.write_message(json.dumps({"type": "subscribe", "capacity": True}))
    while True:
        text = await asyncio.wait_for(socket.read_message(), PATIENCE)
        assert text is not None, "the server has closed the socket"
        if json.loads(text).get("capacity"):
            return socket


async def read(lab: Lab, ident: str) -> LogSocket:
    """Open what a page with a job's log opens, until it has some of it."""
    socket = await LogSocket.open(lab, ident)
    await socket.follow(lambda lines: any(line["stream"] == OUT for line in lines))
    return socket


def still_open(user: str) -> tuple[Counter[str], Counter[str]]:
    """Return the watches and the followed logs that the API server has open for an account, by path."""
    requests: dict[str, dict[str, Any]] = {}
    for event in audited(f'"{user}"'):
        if event["stage"] in ("ResponseComplete", "Panic"):
            requests.pop(event["auditID"], None)
        else:
            requests[event["auditID"]] = event
    uris = [(event["verb"], *event["requestURI"].split("?")) for event in requests.values()]
    # Beside each collection's watch there may be the short one of a probe, which is one for all pages as well.
    probe = f"timeoutSeconds={WATCH_SECONDS}"
    probes = Counter(path for verb, path, *query in uris if verb == "watch" and probe in "".join(query).split("&"))
    assert max(probes.values(), default=0) <= 1, probes
    watches = Counter(path for verb, path, *_ in uris if verb == "watch") - probes
    logs = Counter(path for _, path, *query in uris if path.endswith("/log") and "follow=true" in "".join(query))
    return watches, logs


async def cost(kube: Kube, lab: Lab, ident: str, pages: int) -> tuple[Counter[str], Counter[str]]:
    """Return what is open while so many pages look at the jobs and the cluster, and as many at one job's log."""
    looking = [await looked_at(lab) for _ in range(pages)]
    reading = await asyncio.gather(*(read(lab, ident) for _ in range(pages)))
    found = await asyncio.to_thread(still_open, f"system:serviceaccount:{kube.namespace}:counted")
    for socket in (*looking, *reading):
        socket.close()
    return found


async def test_many_pages_cost_one_watch_a_collection_and_one_stream_a_container(
    kube: Kube, kubeflow: None, image: str, lab: Lab
):
    kube.create("pytorchjobs", counting_job("counts", image, 100_000, 0.02))
    await asyncio.to_thread(lab.until_available, "kubeflow")
    ident = await asyncio.to_thread(found, lab, "counts")
    watches, logs = await cost(kube, lab, ident, PAGES)
    assert max(watches.values()) == 1, watches
    here = f"/api/v1/namespaces/{kube.namespace}"
    jobs = f"/apis/kubeflow.org/v1/namespaces/{kube.namespace}/pytorchjobs"
    assert {"/api/v1/nodes", "/api/v1/pods", f"{here}/pods", f"{here}/events", jobs} <= watches.keys()
    assert list(logs.values()) == [1], logs
