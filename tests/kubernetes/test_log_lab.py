"""Logs of a cluster's job through a lab: its sockets and downloads, while it is killed, and with many pages open."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClosedError

from tests.kubernetes.harness import Kube, Volume, files_in
from tests.local.logsocket import Ledger, LogSocket
from tests.patience import PATIENCE

pytestmark = [pytest.mark.cluster]

AUDIT = Path("/run/t9kjob-cluster/audit.log")
LINES = 1000
OUT = "master-0.1.container.out"


def counting_job(name: str, image: str, lines: int, pause: float) -> dict[str, Any]:
    script = f"import time\nfor n in range({lines}): print('line', n, flush=True); time.sleep({pause})"
    container = {"name": "pytorch", "image": image, "command": ["python", "-c", script]}
    role = {
        "replicas": 1,
        "restartPolicy": "Never",
        "template": {"spec": {"terminationGracePeriodSeconds": 1, "containers": [container]}},
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": name},
        "spec": {"pytorchReplicaSpecs": {"Master": role}},
    }


def found(lab: Any, name: str) -> str:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for job in lab.listed(name=name):
            return str(job["id"])
        time.sleep(0.05)
    raise AssertionError(lab.log[-2000:])


async def follow_to_the_end(lab: Any, ident: str, stream: str, lines: int) -> Ledger:
    """Follow the stream over deaths of the server, as a page does that connects anew where it was."""
    ledger = Ledger({stream: lambda n: f"line {n}"}, lines)
    while True:
        try:
            socket = await LogSocket.open(lab, ident)
            await socket.follow(ledger.take, cursor={stream: ledger._ends[stream]}, streams=[stream])
            socket.close()
            return ledger
        except AssertionError as error:
            if "closed the socket" not in str(error):
                raise
        except (OSError, WebSocketClosedError, HTTPClientError):
            pass  # the server has gone, or is not back yet
        await asyncio.sleep(0.1)


async def test_many_pages_cost_one_stream_and_a_killed_lab_loses_nothing(
    kube: Kube, kubeflow: None, image: str, volume: Volume, start_lab: Any
):
    kube.create("pytorchjobs", counting_job("counts", image, LINES, 0.02))
    lab = start_lab()
    await asyncio.to_thread(lab.until_available, "kubeflow")
    ident = await asyncio.to_thread(found, lab, "counts")
    stream = OUT
    pages = [await LogSocket.open(lab, ident) for _ in range(100)]
    ledgers = [Ledger({stream: lambda n: f"line {n}"}, 100) for _ in pages]
    await asyncio.gather(
        *(page.follow(_until(ledger, stream, 100)) for page, ledger in zip(pages, ledgers, strict=True))
    )
    assert len(await asyncio.to_thread(_streams, kube.namespace)) == 1
    for page in pages:
        page.close()

    following = asyncio.create_task(follow_to_the_end(lab, ident, stream, LINES))
    for _ in range(3):
        await asyncio.sleep(2)
        await asyncio.to_thread(lab.kill)
        await asyncio.to_thread(lab.start)
    ledger = await asyncio.wait_for(following, PATIENCE)
    assert ledger.seen[stream] == LINES
    assert list(ledger.times.values()) == sorted(ledger.times.values())
    expected = b"".join(b"line %d\n" % n for n in range(LINES))
    await asyncio.to_thread(lab.until, ident, lambda job: job["phase"] == "Succeeded")
    answer = await asyncio.to_thread(lab.ask, "GET", "jobs", ident, "logs", stream, download="true")
    assert answer.body == expected

    def described(part: dict[str, Any]) -> dict[str, Any]:
        return next(one for one in part["streams"] if one["id"] == stream)

    logs = await asyncio.to_thread(lab.until_part, (ident, "logs"), lambda part: described(part)["complete"])
    assert described(logs)["missing"] == []


async def test_a_job_that_nobody_follows_is_read_when_it_ends(
    kube: Kube, kubeflow: None, image: str, volume: Volume, start_lab: Any
):
    lab = start_lab(follow_replicas=1)
    await asyncio.to_thread(lab.until_available, "kubeflow")
    kube.create("pytorchjobs", counting_job("ends", image, 50, 0.1))
    ident = await asyncio.to_thread(found, lab, "ends")
    assert await asyncio.to_thread(lab.until, ident, lambda job: job["phase"] in ("Running", "Succeeded"))
    kept = await asyncio.to_thread(_wait_for_log, lab.home, 50)
    assert kept == b"".join(b"line %d\n" % n for n in range(50))
    await asyncio.to_thread(kube.delete, "pytorchjobs", "ends")
    await asyncio.to_thread(kube.until_gone, "pods", labels="training.kubeflow.org/job-name=ends")


def _wait_for_log(home: Path, lines: int) -> bytes:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        for path in files_in(home, "*.pytorch.0.log"):
            if (kept := path.read_bytes()).count(b"\n") >= lines:
                return kept
        time.sleep(0.1)
    raise AssertionError(files_in(home))


def _until(ledger: Ledger, stream: str, count: int) -> Any:
    def take(lines: list[dict[str, Any]]) -> bool:
        ledger.take([line for line in lines if line["stream"] == stream])
        return ledger.seen[stream] >= count

    return take


def _streams(namespace: str) -> list[str]:
    """Return the requests that followed logs of a namespace, from the API server's audit."""
    followed = audited(f"/namespaces/{namespace}/pods/", "/log?", "follow=true")
    return sorted({event["auditID"] for event in followed})


def audited(*words: str) -> Iterator[dict[str, Any]]:
    """Yield the events of the API server's audit that have all these words, from the oldest on; some come twice."""
    if not AUDIT.exists():
        pytest.skip("cluster: its API server has no audit log here")
    with ExitStack() as stack:
        newest = stack.enter_context(AUDIT.open())  # first: it may become one of those that are full
        full = sorted(AUDIT.parent.glob(f"{AUDIT.stem}-*{AUDIT.suffix}"))
        for events in (*(stack.enter_context(path.open()) for path in full), newest):
            for line in events:
                if all(word in line for word in words) and line.endswith("\n"):
                    yield json.loads(line)
