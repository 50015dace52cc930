"""From the click on TensorBoard to the first chart's data, against `tensorboard` in a shell on the same folder.

Both are asked for what a page asks for: the page, its script, the runs, the tags, and one curve until it has points.
Without a browser, which would take as long for both.
"""

from __future__ import annotations

import argparse
import gzip
import json
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lab import TOKEN, Lab, lab
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

FIRST = "run-00000"
POINTS = 20


def write(folder: Path, files: int) -> Path:
    """Write as many runs, each with a file of its own."""
    for number in range(files):
        path = folder / f"run-{number:05}" / f"events.out.tfevents.1.host.{number}"
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            writer = RecordWriter(file)
            writer.write(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())
            for step in range(POINTS):
                summary = Summary(value=[Summary.Value(tag="loss", simple_value=float(number + step))])
                writer.write(Event(step=step, wall_time=1.0 + step, summary=summary).SerializeToString())
    return folder


def get(url: str) -> bytes:
    headers = {"Authorization": f"token {TOKEN}", "Accept-Encoding": "gzip"}
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=120) as answer:
        body = bytes(answer.read())
        return gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body


def until(what: Callable[[], bytes]) -> bytes:
    """Ask again until there is an answer that is not empty."""
    while True:
        try:
            answer = what()
        except (urllib.error.URLError, ConnectionError):
            answer = b""
        if answer.strip() not in (b"", b"[]", b"{}"):
            return answer
        time.sleep(0.02)


def first_chart(url: str) -> None:
    """Ask for what the page asks for, until the first curve is there."""
    until(lambda: get(url))
    get(f"{url}index.js")
    until(lambda: get(f"{url}data/runs"))
    get(f"{url}data/plugin/timeseries/tags")
    points = until(lambda: get(f"{url}data/plugin/scalars/scalars?run={FIRST}&tag=loss"))
    assert len(json.loads(points)) == POINTS


def ours(server: Lab, folder: Path) -> float:
    started = time.monotonic()
    board = server.request("t9kjob/tensorboards", {"paths": [folder.name]})
    first_chart(f"{server.url}{board['url']}")
    seconds = time.monotonic() - started
    headers = {"Authorization": f"token {TOKEN}"}
    request = urllib.request.Request(f"{server.url}t9kjob/tensorboards/{board['id']}", headers=headers, method="DELETE")
    urllib.request.urlopen(request, timeout=60).close()
    return seconds


def in_a_shell(folder: Path) -> float:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    started = time.monotonic()
    process = subprocess.Popen(
        [Path(sys.executable).with_name("tensorboard"), "--logdir", folder, "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        first_chart(f"http://localhost:{port}/")
        return time.monotonic() - started
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each, alternating")
    parser.add_argument("--files", type=int, nargs="+", default=[2, 2000], help="event files in the folder")
    parser.add_argument("--port", type=int, default=18905)
    arguments = parser.parse_args()
    with lab(arguments.port) as server:
        for files in arguments.files:
            folder = write(server.root / f"log-{files}", files)
            pairs = []
            for number in range(arguments.runs + 1):
                pair = ours(server, folder), in_a_shell(folder)
                if number:  # the first fills the disk cache
                    pairs.append(pair)
                    print(f"  {pair[0]:.2f} s, in a shell {pair[1]:.2f} s", flush=True)
            mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
            print(
                f"click to first chart, {files} files: {mine:.2f} s / in a shell {theirs:.2f} s = {mine / theirs:.2f} ×"
            )


if __name__ == "__main__":
    main()
