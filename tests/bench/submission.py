"""From submission to the script's first line, against a bare torchrun of the same script."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
import uuid
from pathlib import Path

from lab import Lab, lab

PROCESSES = 2
# The first thing that rank 0 does is to say when it began.
SCRIPT = """
import os, sys, time
if os.environ["RANK"] == "0":
    with open(sys.argv[1], "w") as file:
        file.write(repr(time.time()))
print("first line", flush=True)
"""


def first_line(path: Path) -> float:
    """Wait for the script's first line; return when it was written, in seconds since the epoch."""
    while not path.exists() or not path.read_text():
        time.sleep(0.02)
    return float(path.read_text())


def bare(script: Path, mark: Path) -> float:
    started = time.time()
    subprocess.run(
        [
            sys.executable, "-m", "torch.distributed.run", "--nnodes=1", f"--nproc-per-node={PROCESSES}",
            "--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", "--max-restarts=0", str(script), str(mark),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return first_line(mark) - started


def submitted(server: Lab, script: Path, mark: Path) -> float:
    filled = server.request("t9kjob/launch/prefill", {"path": script.name})
    spec = filled["spec"] | {"args": [str(mark)]}
    spec["torchrun"]["proc_per_node"] = PROCESSES
    started = time.time()
    job = server.request("t9kjob/jobs", {"spec": spec, "request_id": uuid.uuid4().hex})
    seconds = first_line(mark) - started
    while server.request(f"t9kjob/jobs/{job['id'].replace(':', '%3A')}")["phase"] != "Succeeded":
        time.sleep(0.1)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="runs of each, alternating")
    parser.add_argument("--port", type=int, default=18901)
    runs = parser.parse_args()
    with lab(runs.port) as server:
        script = server.root / "first.py"
        script.write_text(SCRIPT)
        pairs = []
        for number in range(runs.runs + 1):
            pair = (
                submitted(server, script, server.root / f"ours-{number}"),
                bare(script, server.root / f"bare-{number}"),
            )
            if number:  # the first fills the disk cache
                pairs.append(pair)
                print(f"  submitted {pair[0]:.2f} s, bare torchrun {pair[1]:.2f} s")
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"submission to first line: {ours:.2f} s / bare torchrun {theirs:.2f} s = {ours / theirs:.2f} ×")


if __name__ == "__main__":
    main()
