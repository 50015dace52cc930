"""Many jobs through one real server: what it holds afterwards is what it held before.

``T9KJOB_SOAK=3000`` makes it the long one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

import psutil
import pytest
from tornado.httpclient import AsyncHTTPClient, HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.local.lab import TOKEN, Lab
from tests.patience import PATIENCE

JOBS = int(os.environ.get("T9KJOB_SOAK", "40"))
AT_ONCE = 4
T = TypeVar("T")
ENDED = ("Succeeded", "Failed")
OTHERS = ("jupyterlab_t9kjob.core.system.mount_table.Mount",)
"""Objects that are as many as the machine has of them, on which containers may start and end."""
HEADERS = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(900 + 5 * JOBS)]


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    (tmp_path / "runtime").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    lab = Lab(tmp_path, extensions=("tests.local.insight",))
    lab.start()
    yield lab
    lab.kill()


@dataclass
class Held:
    """Resources that a server holds."""

    rss: int
    objects: Counter[str]
    tasks: int
    files: int
    threads: int
    children: int
    listening: int
    runtime: int

    def __sub__(self, other: Held) -> dict[str, Any]:
        return {name: value - getattr(other, name) for name, value in vars(self).items()}


async def ask(lab: Lab, method: str, path: str, body: Any = None, root: str = "t9kjob/") -> Any:
    request = HTTPRequest(
        f"http://{lab.url}/{root}{path}", method, HEADERS, json.dumps(body) if body is not None else None,
        allow_nonstandard_methods=True, connect_timeout=PATIENCE, request_timeout=PATIENCE,
    )  # fmt: skip
    answer = await AsyncHTTPClient().fetch(request)
    return json.loads(answer.body) if answer.body[:1] == b"{" else answer.body


def list_all(folder: Path) -> list[str]:
    """Name everything below a folder; not with `rglob`, which before Python 3.13 fails where one goes meanwhile."""
    return [name for _, folders, files in os.walk(folder) for name in (*folders, *files)]


async def held(lab: Lab) -> Held:
    """Measure when what was begun has ended: sockets close, and children are collected, a little later."""
    process = psutil.Process(lab.pid)
    end = time.monotonic() + PATIENCE
    while process.children() or list_all(lab.jobs):
        assert time.monotonic() < end
        await asyncio.sleep(0.1)
    found: Held | None = None
    while True:
        insight = await ask(lab, "GET", "insight", root="")
        now = Held(
            rss=process.memory_info().rss,
            objects=Counter({kind: count for kind, count in insight["objects"].items() if kind not in OTHERS}),
            tasks=insight["tasks"],
            files=process.num_fds(),
            threads=process.num_threads(),
            children=len(process.children()),
            listening=sum(connection.status == "LISTEN" for connection in process.net_connections()),
            runtime=len(list_all(Path(os.environ["XDG_RUNTIME_DIR"]))),
        )
        if found is not None and (now.tasks, now.files) == (found.tasks, found.files):
            return now
        found = now
        assert time.monotonic() < end
        await asyncio.sleep(0.5)


async def socket(lab: Lab, path: str) -> WebSocketClientConnection:
    url = f"ws://{lab.url}/t9kjob/{path}"
    return await websocket_connect(
        HTTPRequest(url, headers=HEADERS, connect_timeout=PATIENCE, request_timeout=PATIENCE)
    )


async def message(connection: WebSocketClientConnection, kind: str) -> dict[str, Any]:
    while True:
        text = await asyncio.wait_for(connection.read_message(), PATIENCE)
        assert text is not None
        found: dict[str, Any] = json.loads(text)
        if found["type"] == kind:
            return found


async def one_job(lab: Lab, number: int) -> str:
    """Do with a job what pages do; return its id, or nothing if it was removed."""
    spec = {
        "name": f"soak-{number}",
        "entrypoint": {"kind": "command", "value": "/bin/echo"},
        "args": [f"job {number}"],
        "torchrun": None,
        "working_dir": str(lab.root),
    }
    await ask(lab, "POST", "launch/preview", {"spec": spec})
    job = await ask(lab, "POST", "jobs", {"spec": spec, "request_id": f"request-{number}"})
    ident = quote(job["id"], safe="")
    page, log = await asyncio.gather(socket(lab, "stream"), socket(lab, f"jobs/{ident}/logs"))
    await log.write_message(json.dumps({"type": "follow", "cursor": {}}))
    await page.write_message(json.dumps({"type": "subscribe", "details": [job["id"]]}))
    while job["phase"] not in ENDED:
        job = (await message(page, "job"))["job"]
    assert job["phase"] == "Succeeded", job
    while not (await message(log, "append"))["lines"]:
        pass
    if number % 10 == 0:
        await log.write_message(json.dumps({"type": "search", "request": 1, "pattern": "job"}))
    if number % 20 == 0:  # the other half goes while it is searched
        assert (await message(log, "hits"))["hits"]
    assert await ask(lab, "GET", f"jobs/{ident}/log-archive")
    for part in ("events", "replicas", "manifest", "logs"):
        await ask(lab, "GET", f"jobs/{ident}/{part}")
    page.close()
    log.close()
    if number % 2:
        await ask(lab, "DELETE", f"jobs/{ident}?remove=true")
        return ""
    return ident


async def wave(lab: Lab, numbers: range) -> None:
    """Run jobs, several at a time; half of them stay until all have ended."""
    kept: list[str] = []

    async def submit(number: int) -> None:
        kept.append(await one_job(lab, number))

    await at_once(submit, numbers)
    await at_once(lambda ident: ask(lab, "POST", f"jobs/{ident}/remove"), filter(None, kept))


async def at_once(do: Callable[[T], Awaitable[Any]], things: Iterable[T]) -> None:
    waiting = iter(things)

    async def work() -> None:
        for thing in waiting:
            await do(thing)

    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


async def test_a_server_holds_no_more_after_many_jobs_than_before(lab: Lab) -> None:
    # After the first half, modules, caches and threads that are made once exist, and the list of notices is full.
    places = [0, JOBS // 2, JOBS * 3 // 4, JOBS]
    seen = []
    for start, end in itertools.pairwise(places):
        await wave(lab, range(start, end))
        seen.append(await held(lab))
        print(end, "jobs:", {name: value for name, value in vars(seen[-1]).items() if name != "objects"})
    grown = [later - sooner for sooner, later in itertools.pairwise(seen)]
    count = places[2] - places[1]
    print("grown:", [each | {"objects": each["objects"].most_common(20)} for each in grown])
    assert all((seen[-1] - seen[0])[name] <= 0 for name in ("tasks", "children", "listening", "runtime"))
    assert grown[-1]["files"] <= 1  # the connection that asked may still be open
    assert seen[-1].threads < 32
    # A leak grows with every job. Other objects grow once: a cancelled timer keeps its context, with the last
    # connection, until its time has come.
    leaked = {kind: min(each["objects"][kind] for each in grown) for kind in seen[-1].objects}
    assert sum(leaked.values()) < 2500 + count
    ours = {kind: number for kind, number in leaked.items() if kind.startswith("jupyterlab_t9kjob.")}
    assert not {kind: number for kind, number in ours.items() if number >= count / 2}
    # The allocator may take a region once.
    assert min(each["rss"] for each in grown) < (2 << 20) + 512 * count
