"""Time until the table of many runs with many metrics is there, from the index of an earlier server.

Ten million metrics take minutes to read, so that only one run is read. The others are copies of its folder, and of its
rows in the index, as they would be after they were read.

Run: ``python -m tests.bench.many_runs --runs 10000 --metrics 1000`` (needs 4 GB)
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import resource
import shutil
import sqlite3
import tempfile
import time
from pathlib import Path

from jupyter_server.services.contents.largefilemanager import LargeFileManager

from jupyterlab_t9kjob.contents_paths import ContentsRoot
from jupyterlab_t9kjob.experiments.service import Experiments
from tests.bench.experiments import NoJobs

STEPS = 2


def write_run(folder: Path, metrics: int) -> None:
    """Write a run of the recorder with some hyperparameters and metrics."""
    (folder / "metrics").mkdir(parents=True)
    begun = "'2026-01-01T10:00:00.000000+00:00'"
    (folder / "metadata.yaml").write_text(
        f"kind: Run\nname: trial\nstatus: Complete\nstartTimestamp: {begun}\nendTimestamp: {begun}\n"
    )
    (folder / "hyperparameters.yaml").write_text("lr: 0.001\nbatch_size: 64\noptimizer: adam\n")
    names = ["loss", *(f"metric{number}" for number in range(1, metrics))]
    with (folder / "metrics/train.yaml").open("w") as file:
        for step in range(STEPS):
            lines = "".join(f"    {name}: {number / 7 + step}\n" for number, name in enumerate(names))
            file.write(f"- value:\n{lines}  sequence:\n    epoch: null\n    step: {step}\n    timestamp: {begun}\n")


def copy(root: Path, first: Path, cache: Path, runs: int) -> None:
    """Copy a run's folder, and its rows in the index."""
    [path] = cache.glob("*.sqlite")
    paths = []
    for number in range(1, runs):
        folder = first.with_name(f"trial_260101_000000_{number:06d}")
        shutil.copytree(first, folder)
        paths.append((str(folder.relative_to(root)),))
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        columns = "origin, files, facts, row, epoch, shape"
        database.executemany(f"INSERT INTO runs (path, {columns}) SELECT ?, {columns} FROM runs WHERE num = 1", paths)
        database.execute("INSERT INTO logs SELECT runs.num, data FROM logs, runs WHERE run = 1 AND runs.num > 1")
        database.execute(
            "INSERT INTO summaries SELECT metric, runs.num, numbers, curve FROM summaries, runs"
            " WHERE summaries.run = 1 AND runs.num > 1 ORDER BY metric, runs.num"
        )


async def opened(folder: Path, cache: Path, runs: int) -> tuple[float, float, float, float]:
    """Return the seconds until the first and the complete table are there as JSON, and all files were compared."""
    experiments = Experiments(ContentsRoot(LargeFileManager(root_dir=str(folder))), NoJobs(), cache, cache)  # type: ignore[arg-type]
    begun, used = time.perf_counter(), time.process_time()
    first = 0.0
    try:
        while True:
            answer = await experiments.runs("", -1, [], ["train.loss"])
            now = time.perf_counter() - begun
            cpu = time.process_time() - used
            table = json.loads(answer)
            first = first or now * bool(table["runs"])
            if len(table["runs"]) == runs and all("train.loss" in run["metrics"] for run in table["runs"]):
                break
        while table["scanning"]:  # The files are compared with the index in the background.
            table = json.loads(await experiments.runs("", table["revision"], [], []))
        return first, now, cpu, time.perf_counter() - begun
    finally:
        await experiments.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--metrics", type=int, default=1000)
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, cache = Path(place) / "root", Path(place) / "cache"
        first = folder / ".em/runs/trial_260101_000000_000000"
        write_run(first, args.metrics)
        cache.mkdir()
        asyncio.run(opened(folder, cache, 1))
        copy(folder, first, cache, args.runs)
        print(f"{args.runs} runs of {args.metrics} metrics; load {os.getloadavg()[0]:.1f}", flush=True)
        for _ in range(args.times):
            answered, complete, used, compared = asyncio.run(opened(folder, cache, args.runs))
            all_ = f"all runs {complete:.2f} s ({used:.2f} s of CPU)"
            print(f"first answer {answered:.2f} s, {all_}, files compared {compared:.2f} s", flush=True)
        size = sum(path.stat().st_size for path in cache.glob("*.sqlite"))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"index {size / 1e6:.0f} MB, greatest memory {memory:.0f} MB")


if __name__ == "__main__":
    main()
