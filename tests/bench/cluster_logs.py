"""A container's log, as the lab keeps it and as its socket sends it, against `kubectl logs -f --timestamps` in a file.

All three follow at the same time: lines that come at an even rate, then as fast as the container can write. Other pages
may follow as well; one is timed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cpu import of_process
from lab import TOKEN, Lab, lab
from quiet import KUBECTL, MINE, OWNER, namespace
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.kubernetes.harness import Kube

# Lines of 200 bytes, each with the time at which it was written: so many a second, then the burst.
WRITER = """
import sys, time
rate, seconds, burst = map(float, sys.argv[1:])
def line(kind):
    return f"{kind} at={time.time():.6f} ".ljust(199, ".") + chr(10)
time.sleep(8)
begun, written = time.time(), 0
while (passed := time.time() - begun) < seconds:
    while written < passed * rate:
        sys.stdout.write(line("even")); written += 1
    sys.stdout.flush()
    time.sleep(0.01)
time.sleep(2)
sys.stdout.write(line("begin"))
for number in range(int(burst)):
    sys.stdout.write(line("burst"))
sys.stdout.write(line("end")); sys.stdout.flush()
time.sleep(5)
"""
# Looks at files every 5 ms for whole lines that are new, until all have the last one.
LOOK = """
import json, re, sys, time
found = {path: {"lags": [], "rest": b"", "file": open(path, "rb")} for path in sys.argv[1:]}
open_ = set(found)
while open_:
    for path in list(open_):
        each = found[path]
        data = each["file"].read()
        if not data:
            continue
        now = time.time()
        *lines, each["rest"] = (each["rest"] + data).split(b"\\n")
        for line in lines:
            kind, at = re.search(rb"(even|begin|burst|end) at=([0-9.]+)", line).groups()
            if kind == b"even":
                each["lags"].append(now - float(at))
            elif kind == b"begin":
                each["begin"] = float(at)
            elif kind == b"end":
                each["took"] = now - each["begin"]
                open_.discard(path)
    time.sleep(0.005)
print(json.dumps([{"lags": each["lags"], "took": each["took"]} for each in found.values()]))
"""


def writing_job(image: str, arguments: list[str]) -> dict[str, Any]:
    container = {"name": "pytorch", "image": image, "command": ["python", "-c", WRITER, *arguments]}
    role = {"replicas": 1, "restartPolicy": "Never", "template": {"spec": {"containers": [container]}}}
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "writes", "annotations": {"jupyterlab-t9kjob/owner": OWNER}},
        "spec": {"pytorchReplicaSpecs": {"Master": role}},
    }


def until(found: Any) -> Any:
    """Return what is found when there is some."""
    while not (result := found()):
        time.sleep(0.05)
    return result


async def following(server: Lab, ident: str) -> WebSocketClientConnection:
    url = f"ws{server.url.removeprefix('http')}t9kjob/jobs/{quote(ident, safe='')}/logs"
    request = HTTPRequest(url, headers={"Authorization": f"token {TOKEN}"})
    socket = await websocket_connect(request, max_message_size=2**26)
    await socket.write_message(json.dumps({"type": "follow", "cursor": {}}))
    return socket


async def _read_on(server: Lab, ident: str) -> None:
    """Follow without a look at the lines, but the last."""
    socket = await following(server, ident)
    while isinstance(message := await socket.read_message(), str):
        sequence = re.match(r'{"type":"append","sequence":(\d+)', message)
        if sequence is not None:
            await socket.write_message(json.dumps({"type": "ack", "sequence": int(sequence[1])}))
        if '"text":"end at=' in message:
            return


def crowd(server: Lab, ident: str, pages: int) -> None:
    """Follow the log as so many pages do, in a process of their own."""

    async def follow() -> None:
        await asyncio.gather(*(_read_on(server, ident) for _ in range(pages)))

    asyncio.run(follow())


async def over_socket(server: Lab, ident: str) -> dict[str, Any]:
    """Follow the log as a page does; return lags and the seconds of the burst, as `LOOK` does, and the server's CPU."""
    socket = await following(server, ident)
    lags: list[float] = []
    begin = 0.0
    marks = [(time.time(), of_process(server.pid))]
    while True:
        message = json.loads(await socket.read_message() or "null")
        if message["type"] != "append":
            continue
        now = time.time()
        await socket.write_message(json.dumps({"type": "ack", "sequence": message["sequence"]}))
        for line in message["lines"]:
            if line["partial"]:
                continue  # a line without its end is sent again
            kind, at = line["text"].split(" at=")
            if kind == "even":
                if not lags:
                    marks.append((now, of_process(server.pid)))
                lags.append(now - float(at.split()[0]))
            elif kind == "begin":
                marks.append((now, of_process(server.pid)))
                begin = float(at.split()[0])
            elif kind == "end":
                socket.close()
                shares = [(there - here) / (then - when) for (when, here), (then, there) in pairwise(marks)]
                return {"lags": lags, "took": now - begin, "shares": shares}


async def follow(kube: Kube, server: Lab, theirs: Path, others: int) -> dict[str, dict[str, Any]]:
    """Follow the job's log in all three ways."""
    pod = "writes-master-0"
    await asyncio.to_thread(kube.until, "pods", pod, lambda each: each and each["status"]["phase"] == "Running")
    home = server.root.parent
    with theirs.open("wb") as file:
        command = [*KUBECTL, "--kubeconfig", str(kube.kubeconfig), "logs", "-f", "--timestamps", pod]
        kubectl = await asyncio.create_subprocess_exec(*command, stdout=file)
    jobs = await asyncio.to_thread(until, lambda: server.request("t9kjob/jobs")["jobs"])
    socket = asyncio.create_task(over_socket(server, jobs[0]["id"]))
    crowds = ProcessPoolExecutor(1, get_context("spawn"))
    crowded = asyncio.get_running_loop().run_in_executor(crowds, crowd, server, jobs[0]["id"], others)
    ours = await asyncio.to_thread(until, lambda: next(home.rglob("*.pytorch.0.log"), None))
    look = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LOOK, str(ours), str(theirs), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await look.communicate()
    kept, peer = json.loads(told)
    found = {"kept in a file": kept, "over the socket": await socket, "kubectl": peer}
    assert await kubectl.wait() == 0
    await crowded
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=int, default=500, help="lines a second")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--burst", type=int, default=25_000, help="lines; with all others less than a node rotates at")
    parser.add_argument("--pages", type=int, default=1, help="that follow it over the socket")
    parser.add_argument("--image", default="test.local/torch:cpu", help="any with Python")
    parser.add_argument("--port", type=int, default=18906)
    arguments = parser.parse_args()
    with (
        namespace() as kube,
        tempfile.TemporaryDirectory() as folder,
        lab(arguments.port, kubeconfig=kube.kubeconfig, options=[MINE]) as server,
    ):
        until(lambda: any(each["name"] == "kubeflow" for each in server.request("t9kjob/engines")["engines"]))
        load = os.getloadavg()[0]
        numbers = [str(arguments.rate), str(arguments.seconds), str(arguments.burst)]
        kube.create("pytorchjobs", writing_job(arguments.image, numbers))
        found = asyncio.run(follow(kube, server, Path(folder, "kubectl"), arguments.pages - 1))
    peer = found.pop("kubectl")
    idle, busy = (f"{share * 100:.0f} %" for share in found["over the socket"]["shares"])
    print(f"{arguments.pages} pages; the server takes {idle} of a core before the lines, {busy} during the even ones")
    lag, longest = statistics.median(peer["lags"]) * 1000, statistics.quantiles(peer["lags"], n=100)[98] * 1000
    print(f"load of the machine {load:.1f} to {os.getloadavg()[0]:.1f}; kubectl logs -f --timestamps > file:")
    print(f"  lag {lag:.0f} ms, p99 {longest:.0f} ms; {arguments.burst} lines at once in {peer['took']:.2f} s")
    for what, ours in found.items():
        mine, far = statistics.median(ours["lags"]) * 1000, statistics.quantiles(ours["lags"], n=100)[98] * 1000
        print(
            f"{what}: lag {mine:.0f} ms = {mine / lag:.2f} ×, p99 {far:.0f} ms = {far / longest:.2f} ×;"
            f" at once {ours['took']:.2f} s = {ours['took'] / peer['took']:.2f} ×"
        )


if __name__ == "__main__":
    main()
