"""Time until one metric of many runs is there to be drawn, of TensorBoard and of our reader, on the same event files.

TensorBoard (with its data server, which reads in the background with several threads) is timed from the start of its
process until it serves the last step of each run; the time until its first answer is printed as well. Ours is timed
from the request to a running server until the curves of all runs are there as JSON: cold, with an empty index, and with
the index of an earlier server. All files are in the page cache, since they were just written.

Run: ``python -m tests.bench.experiments --runs 1000 --points 100000 --times 1`` (needs 4.5 GB)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path
from statistics import median
from typing import Any

from jupyter_server.services.contents.largefilemanager import LargeFileManager
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.experiments.model import MOST_RUNS, CurvesRequest
from jupyterlab_t9kjob.experiments.service import Experiments
from tests.bench.cpu import of_process


class NoJobs:
    """A job service without jobs."""

    engines = None

    async def jobs(self) -> list[Any]:
        return []


def write(folder: Path, points: int) -> None:
    folder.mkdir(parents=True)
    with (folder / "events.out.tfevents.1700000000.host.1.0").open("wb") as file:
        writer = RecordWriter(file)
        writer.write(Event(wall_time=1.7e9, file_version="brain.Event:2").SerializeToString())
        for step in range(points):
            summary = Summary(value=[Summary.Value(tag="loss", simple_value=1 / (step + 1))])
            writer.write(Event(step=step, wall_time=1.7e9 + step, summary=summary).SerializeToString())


def used_by(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU seconds of a process and its children."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return sum(of_process(int(pid)) for pid in (process.pid, *children))


def of_tensorboard(folder: Path, runs: list[str], points: int) -> tuple[float, float, float]:
    """Return the seconds until TensorBoard answers, until it serves all runs, and of CPU until then."""
    answered = 0.0
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begun = time.perf_counter()
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"http://127.0.0.1:{port}/data/plugin/scalars/scalars_multirun"
    query = urllib.parse.urlencode([("tag", "loss"), *(("runs", run) for run in runs)]).encode()
    try:
        while True:
            try:
                with urllib.request.urlopen(address, query) as answer:
                    found = json.load(answer)
                answered = answered or time.perf_counter() - begun
            except (OSError, ValueError):
                found = {}
            if len(found) == len(runs) and all(series[-1][1] == points - 1 for series in found.values()):
                return answered, time.perf_counter() - begun, used_by(process)
            time.sleep(0.05)
    finally:
        process.terminate()
        process.wait()


async def of_ours(folder: Path, runs: int, points: int, cache: Path) -> tuple[float, float]:
    """Return the seconds until all curves are there, by the clock and of CPU."""
    experiments = Experiments(ContentsRoot(LargeFileManager(root_dir=str(folder))), NoJobs(), cache, cache)  # type: ignore[arg-type]
    begun, used = time.perf_counter(), time.process_time()
    try:
        table = json.loads(await experiments.runs("", -1, [], ["loss"]))
        while not table["runs"]:
            table = json.loads(await experiments.runs("", table["revision"], [], ["loss"]))
        while len(table["runs"]) < runs:
            table = json.loads(await experiments.runs("", -1, [], ["loss"]))
        wanted = [run["id"] for run in table["runs"]]
        for at in range(0, len(wanted), MOST_RUNS):
            request = CurvesRequest(runs=wanted[at : at + MOST_RUNS], metrics=["loss"], width=1000)
            curves = await experiments.curves(request)
            await asyncio.to_thread(curves.model_dump_json)
            assert all(curve.count == points for curve in curves.curves)
            assert len(curves.curves) == len(request.runs)
        return time.perf_counter() - begun, time.process_time() - used
    finally:
        await experiments.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "log"
        write(folder / "run0", args.points)
        old = time.time() - 3600  # The index keeps runs that nobody writes any more.
        os.utime(next((folder / "run0").iterdir()), (old, old))
        for number in range(1, args.runs):
            shutil.copytree(folder / "run0", folder / f"run{number}")
        runs = sorted(path.name for path in folder.iterdir())
        cold, again, idle = [], [], []
        for number in range(args.times):
            answered, theirs, their_cpu = of_tensorboard(folder, runs, args.points)
            cache = Path(place) / f"cache{number}"
            first, cpu = asyncio.run(of_ours(folder, args.runs, args.points, cache))
            second, second_cpu = asyncio.run(of_ours(folder, args.runs, args.points, cache))
            peer = f"TensorBoard {theirs:.2f} s, {their_cpu:.2f} s of CPU (first answer {answered:.2f} s)"
            cold_text = f"cold {first:.2f} s, {cpu:.2f} s of CPU"
            print(f"{peer}; {cold_text}; with the index {second:.2f} s, {second_cpu:.2f} s of CPU", flush=True)
            # With all cores to itself, TensorBoard would need at least its CPU time through their number.
            idle.append(cpu / (their_cpu / (os.cpu_count() or 1)))
            cold.append(first / theirs)
            again.append(second / theirs)
        print(f"{args.runs} runs of {args.points} points: cold {median(cold):.2f} ×, index {median(again):.2f} ×")
        print(f"cold on an idle machine of {os.cpu_count()} cores at most {median(idle):.2f} × (from CPU times)")


if __name__ == "__main__":
    main()
