"""Following a log over the socket against `tail -f`, and searching it against `rg` or `grep`, in one run each."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lab import TOKEN, Lab, lab
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

LINE = "2026-11-21 19:42:10,123 INFO train.py:88 epoch 3 step %08d loss=0.4213 acc=0.871 lr=1.0e-04"
# Writes as fast as Python can when told to, then a line now and then with the time at which it was written.
WRITER = f"""
import os, sys, time
print("ready", flush=True)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.01)
for number in range(int(sys.argv[2])):
    print({LINE!r} % number)
print("flood over", flush=True)
time.sleep(float(sys.argv[4]))
for number in range(int(sys.argv[3])):
    time.sleep(0.07)
    print(f"written at {{time.time()}}", flush=True)
print("the end", flush=True)
"""
SEARCHES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("literal", {"pattern": "needle in the log", "case_sensitive": True}, ["-F", "-e", "needle in the log"]),
    ("any case", {"pattern": "NEEDLE in the LOG"}, ["-F", "-i", "-e", "NEEDLE in the LOG"]),
    (
        "expression",
        {"pattern": "[A-Z]{5}[0-9]+ needle", "regex": True, "case_sensitive": True},
        ["-E", "-e", "[A-Z]{5}[0-9]+ needle"],
    ),
    (
        "with context",
        {"pattern": "needle in the log", "case_sensitive": True, "context": 3},
        ["-F", "-C", "3", "-e", "needle in the log"],
    ),
    ("nothing found", {"pattern": "no such words"}, ["-F", "-i", "-e", "no such words"]),
]


async def connected(server: Lab, ident: str) -> WebSocketClientConnection:
    url = f"ws{server.url.removeprefix('http')}t9kjob/jobs/{quote(ident, safe='')}/logs"
    return await websocket_connect(
        HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"}), max_message_size=2**26
    )


async def answer(socket: WebSocketClientConnection, kind: str, **message: Any) -> Any:
    if message:
        await socket.write_message(json.dumps(message))
    while True:
        received = json.loads(await socket.read_message() or "null")
        if received["type"] == kind:
            return received


def submitted(server: Lab, name: str, script: str, args: list[str]) -> dict[str, Any]:
    path = server.root / f"{name}.py"
    path.write_text(script)
    spec = {"name": name, "entrypoint": {"kind": "script", "value": str(path)}, "args": args, "torchrun": None}
    return server.request("t9kjob/jobs", {"spec": spec, "request_id": uuid.uuid4().hex})


def log_of(server: Lab, job: dict[str, Any]) -> Path:
    """Wait until the job's script has begun; return its log."""
    while True:
        for path in Path(job["log_location"]).glob("*/container.log"):
            if path.read_bytes().startswith(b"ready\n"):
                return path
        time.sleep(0.02)


class Times:
    """When a follower had the whole flood, and how long single lines took to come to it."""

    def __init__(self) -> None:
        self.flood = 0.0
        self.delays: list[float] = []

    def take(self, text: str) -> bool:
        if text == "flood over":
            self.flood = time.time()
        elif text.startswith("written at "):
            self.delays.append(time.time() - float(text.split()[2]))
        return text == "the end"

    def __str__(self) -> str:
        return f"median {statistics.median(self.delays) * 1000:.0f} ms"


async def over_socket(server: Lab, ident: str, ready: asyncio.Event) -> Times:
    times = Times()
    socket = await connected(server, ident)
    received = await answer(socket, "append", type="follow", cursor={})
    ready.set()
    while True:
        await socket.write_message(json.dumps({"type": "ack", "sequence": received["sequence"]}))
        for line in received["lines"]:
            if not line["partial"] and times.take(line["text"]):
                socket.close()
                return times
        received = await answer(socket, "append")


async def by_tail(path: Path, ready: asyncio.Event) -> Times:
    times = Times()
    tail = await asyncio.create_subprocess_exec("tail", "-n", "+1", "-f", str(path), stdout=asyncio.subprocess.PIPE)
    assert tail.stdout is not None
    async for line in tail.stdout:
        ready.set()
        if times.take(line.decode().rstrip("\n")):
            break
    tail.kill()
    await tail.wait()
    return times


async def follow(server: Lab, lines: int, single: int) -> None:
    go = server.root / "go"
    job = submitted(server, "writer", WRITER, [str(go), str(lines), str(single), str(lines / 100_000)])
    path = await asyncio.to_thread(log_of, server, job)
    ready = asyncio.Event(), asyncio.Event()
    both = asyncio.gather(over_socket(server, job["id"], ready[0]), by_tail(path, ready[1]))
    await asyncio.gather(*(event.wait() for event in ready))
    started = time.time()
    go.touch()
    ours, tails = await both
    flood, by = ours.flood - started, tails.flood - started
    print(f"{lines} lines written at once: {flood:.2f} s over the socket / tail -f {by:.2f} s = {flood / by:.2f} ×")
    print(f"a line now and then: {ours} over the socket, tail -f {tails}")


async def timed(work: Callable[[], Awaitable[object]], runs: int) -> float:
    seconds = []
    for number in range(runs + 1):
        started = time.monotonic()
        await work()
        if number:  # the first fills the disk cache
            seconds.append(time.monotonic() - started)
    return statistics.median(seconds)


def written(server: Lab, size: int) -> tuple[str, Path]:
    """Let a job write a large log; return its id and the log."""
    script = (
        f"block = ''.join({LINE!r} % number + '\\n' for number in range(10000))\n"
        f"import sys\nfor _ in range({size} // len(block)): sys.stdout.write(block)\n"
        "print('FOUND1 needle in the log')"
    )
    job = submitted(server, "large", script, [])
    ident = quote(job["id"], safe="")
    while server.request(f"t9kjob/jobs/{ident}")["phase"] != "Succeeded":
        time.sleep(0.1)
    return job["id"], next(Path(job["log_location"]).glob("*/container.log"))


async def search(server: Lab, size: int, runs: int) -> None:
    ident, path = await asyncio.to_thread(written, server, size)
    name = "rg" if shutil.which("rg") else "grep"
    socket = await connected(server, ident)

    for what, question, arguments in SEARCHES:

        async def ours(question: dict[str, Any] = question) -> None:
            hits = await answer(socket, "hits", type="search", request=1, **question)
            assert hits["complete"], hits

        async def theirs(arguments: list[str] = arguments) -> None:
            # rg's -E names an encoding; it reads expressions without an option.
            options = (
                ["-a", *(each for each in arguments if each != "-E")] if name == "rg" else ["-a", "-n", *arguments]
            )
            ended = await asyncio.to_thread(
                subprocess.run,
                [name, *options, str(path)],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )
            assert ended.returncode in (0, 1), ended  # 1: nothing was found

        seconds, peer = await timed(ours, runs), await timed(theirs, runs)
        print(
            f"search in {path.stat().st_size / 1e6:.0f} MB, {what}: {seconds:.2f} s / {name} {peer:.2f} s"
            f" = {seconds / peer:.2f} ×"
        )
    socket.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=500_000)
    parser.add_argument("--single", type=int, default=50, help="lines that are written one by one after these")
    parser.add_argument("--bytes", type=int, default=1_000_000_000, help="of the log that is searched")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--port", type=int, default=18904)
    arguments = parser.parse_args()
    with lab(arguments.port) as server:
        asyncio.run(follow(server, arguments.lines, arguments.single))
        asyncio.run(search(server, arguments.bytes, arguments.runs))


if __name__ == "__main__":
    main()
