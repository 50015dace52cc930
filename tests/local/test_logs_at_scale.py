"""Logs that are large, or that many look at: through real processes, sockets and a real server.

Sizes are small here; ``T9KJOB_LOG_LINES`` (of each rank) and ``T9KJOB_LOG_BYTES`` make them large.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import uuid
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from tests.local.harness import ENDED
from tests.local.lab import Lab
from tests.local.logsocket import Ledger, LogSocket
from tests.patience import PATIENCE

LINES = int(os.environ.get("T9KJOB_LOG_LINES", "20000"))
BYTES = int(os.environ.get("T9KJOB_LOG_BYTES", str(32 * 1000 * 1000)))
STILL_SECONDS = float(os.environ.get("T9KJOB_LOG_STILL_SECONDS", "2"))
RANKS = 4
MB = 1024 * 1024

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(900 + LINES // 500 + BYTES // 10**6)]


@pytest_asyncio.fixture
async def lab(tmp_path: Path) -> AsyncIterator[Lab]:
    lab = Lab(tmp_path)
    await asyncio.to_thread(lab.start)
    yield lab
    for job in await asyncio.to_thread(lab.listed):
        if "stop" in job["actions"]:
            await asyncio.to_thread(lab.ask, "POST", "jobs", job["id"], "stop")
            await ended(lab, job["id"])
    lab.kill()


async def submitted(lab: Lab, script: str, **fields: Any) -> str:
    answer = await asyncio.to_thread(lab.submit, lab.spec(script, "scale", **fields), uuid.uuid4().hex)
    assert answer.status in (200, 201), answer.body
    ident: str = answer.json["id"]
    return ident


async def ended(lab: Lab, ident: str) -> dict[str, Any]:
    return await asyncio.to_thread(lab.until, ident, lambda job: job["phase"] in ENDED)


def resident(lab: Lab) -> int:
    return psutil.Process(lab.pid).memory_info().rss


def line_of(rank: int, number: int) -> str:
    return f"rank {rank} line {number:09d} with some words after it"


async def test_every_line_of_every_rank(lab: Lab) -> None:
    """Python writes at full speed; files, the followed log and pages have each line once and in order."""
    ident = await submitted(
        lab,
        f"""
import os
rank = os.environ["RANK"]
for number in range({LINES}):
    print(f"rank {{rank}} line {{number:09d}} with some words after it")
""",
        torchrun={"proc_per_node": RANKS},
    )
    before = resident(lab)
    written = {f"worker-0.1.rank-{rank}.out": partial(line_of, rank) for rank in range(RANKS)}
    socket = await LogSocket.open(lab, ident)
    followed = Ledger(written, LINES)
    await socket.follow(followed.take)
    grown = resident(lab) - before
    print(f"followed {RANKS} × {LINES} lines; the server grew by {grown / MB:.0f} MB")
    await socket.send(type="unfollow")
    assert (await ended(lab, ident))["phase"] == "Succeeded"

    paged = Ledger(written, LINES)
    page: dict[str, Any] = {"after": "start", "at_end": False}
    while not page["at_end"]:
        page = await socket.read(anchor=page["after"], lines=5000)
        paged.take(page["lines"])
    assert set(paged.seen.values()) == {LINES}
    # a line has the time that it was first shown with
    assert paged.times == followed.times

    for stream, line in written.items():
        whole = await asyncio.to_thread(lab.ask, "GET", "jobs", ident, "logs", stream)
        expected = hashlib.sha256()
        for number in range(LINES):
            expected.update(f"{line(number)}\n".encode())
        assert hashlib.sha256(whole.body).digest() == expected.digest()
    assert resident(lab) - before < 120 * MB


WRITES = """
import sys
block = b"".join(b"%09d some words that fill the line up to a length that is usual in logs 0.123456\\n" % number
                 for number in range(10_000))
size = 0
while size < {size}:
    size += sys.stdout.buffer.write(block)
print("the needle at the end")
"""


async def large(lab: Lab) -> str:
    """Return a job that has written a large log and ended."""
    ident = await submitted(lab, WRITES.format(size=BYTES))
    assert (await ended(lab, ident))["phase"] == "Succeeded"
    return ident


async def read_through(socket: LogSocket) -> int:
    """Follow a log from its start to its end; return the lines."""
    count = 0

    def take(lines: list[dict[str, Any]]) -> bool:
        nonlocal count
        count += len(lines)
        return any(line["text"] == "the needle at the end" for line in lines)

    await socket.follow(take)
    return count


async def test_a_page_that_stops_reading_costs_little(lab: Lab) -> None:
    ident = await large(lab)
    warm = await LogSocket.open(lab, ident)
    await warm.read(anchor="end", direction="backward")
    await warm.find(pattern="the needle")
    before = resident(lab)

    stopped = await LogSocket.open(lab, ident)
    got = 0
    await stopped.send(type="follow", cursor={})
    while got < MB:
        message = await stopped.receive("append")
        got += sum(line["size"] for line in message["lines"])
        await stopped.send(type="ack", sequence=message["sequence"])
    most = 0
    for _ in range(int(STILL_SECONDS * 10)):
        await asyncio.sleep(0.1)  # nothing can be awaited: that nothing more happens is what is looked for
        most = max(most, resident(lab) - before)
    assert most < 20 * MB

    # beside it another one gets everything
    second = await LogSocket.open(lab, ident)
    assert await read_through(second) > BYTES / 100
    grown = resident(lab) - before
    print(f"{BYTES / MB:.0f} MB of log: {most / MB:.1f} MB for one that stopped, {grown / MB:.1f} MB with a second one")
    assert grown < 30 * MB


async def test_any_place_is_found_without_reading_the_file(lab: Lab) -> None:
    ident = await large(lab)
    socket = await LogSocket.open(lab, ident)
    streams = (await asyncio.to_thread(lab.ask, "GET", "jobs", ident, "logs")).json["streams"]
    (stream,) = streams
    process = psutil.Process(lab.pid)

    async def reading(**request: Any) -> list[dict[str, Any]]:
        reads = []
        for _ in range(3):  # what children read that end meanwhile is counted as well
            before = process.io_counters().read_chars
            lines: list[dict[str, Any]] = (await socket.read(lines=200, **request))["lines"]
            reads.append(process.io_counters().read_chars - before)
        assert min(reads) < MB
        return lines

    assert (await reading(anchor="start"))[0]["text"].startswith("000000000 some")
    assert (await reading(anchor="end", direction="backward"))[-1]["text"] == "the needle at the end"
    middle = stream["size"] // 2
    line = (await reading(anchor={stream["id"]: middle}))[0]
    assert line["offset"] <= middle < line["offset"] + line["size"]
    time = (stream["first_time"] + stream["last_time"]) / 2
    assert (await reading(anchor=time))[0]["time"] >= time
    found = await socket.find(pattern="THE NEEDLE", context=2)
    assert [hit["text"] for hit in found["hits"]] == ["the needle at the end"]
    assert [line["text"][:9] for line in found["hits"][0]["before"]] == ["000009998", "000009999"]
    assert (await socket.find(pattern=r"\\d{10,} no such", regex=True))["hits"] == []


async def test_a_hundred_sockets_cost_one_reader(lab: Lab) -> None:
    flag = lab.root / "go"
    ident = await submitted(
        lab,
        f"""
import os, sys, time
print("ready", flush=True)
while not os.path.exists({str(flag)!r}):
    time.sleep(0.05)
for number in range(100):
    sys.stdout.write("a line of a log that a hundred pages look at\\n" * 100)
    sys.stdout.flush()
    time.sleep(0.02)
print("done", flush=True)
time.sleep(600)  # what a job has read counts as its server's when it ends
""",
    )
    sockets = [await LogSocket.open(lab, ident) for _ in range(100)]
    process = psutil.Process(lab.pid)
    parts: dict[tuple[int, int], int] = {}

    async def until(socket: LogSocket, text: str, **request: Any) -> int:
        count = 0

        def take(lines: list[dict[str, Any]]) -> bool:
            nonlocal count
            count += len(lines)
            if lines:
                first, last = lines[0]["offset"], lines[-1]["offset"] + lines[-1]["size"]
                parts[first, last] = last - first
            return any(line["text"] == text for line in lines)

        await socket.follow(take, **request)
        return count

    await asyncio.gather(*(until(socket, "ready") for socket in sockets))
    before = process.io_counters().read_chars
    flag.touch()
    counts = await asyncio.gather(*(until(socket, "done") for socket in sockets))
    size = 100 * 100 * 45
    read = process.io_counters().read_chars - before
    assert all(count >= 10_000 for count in counts)
    # Sockets at the same place share what is read. On a busy machine some fall behind the others, to other places.
    needed = sum(parts.values())
    print(f"100 sockets: {read / size:.2f} times the log was read, at {needed / size:.2f} times as many places")
    assert read < 3 * needed + 10 * MB  # what else a server reads on a machine that takes long
    assert needed < 25 * size  # a hundred readers would read a hundred times as much


async def test_nothing_stays_open(lab: Lab) -> None:
    ident = await submitted(lab, "print('some line')")
    await ended(lab, ident)
    process = psutil.Process(lab.pid)

    async def look(*, search: bool = False) -> None:
        socket = await LogSocket.open(lab, ident)
        await socket.read(anchor="start")
        await socket.follow(lambda lines: bool(lines))
        if search:
            await socket.find(pattern="line")
        socket.close()

    async def counts() -> tuple[int, int]:
        await asyncio.sleep(0.3)
        return process.num_fds(), len(process.children(recursive=True))

    async def many() -> None:
        await asyncio.gather(*(look(search=not number % 20) for number in range(100)))

    await many()  # threads of the pool, and what is loaded once
    files, children = await counts()
    await many()
    await many()
    end = asyncio.get_running_loop().time() + PATIENCE
    while (now := await counts()) > (files + 2, children) and asyncio.get_running_loop().time() < end:
        continue  # connections end a little after their sockets
    assert now <= (files + 2, children)
