"""A list of 100 local jobs against a list of one."""

from __future__ import annotations

import argparse
import statistics
import time
import uuid

from lab import Lab, lab

JOBS = 100


def submit(server: Lab, number: int) -> None:
    spec = {
        "name": f"listed-{number}",
        "entrypoint": {"kind": "command", "value": "/bin/true"},
        "torchrun": None,
        "working_dir": str(server.root),
    }
    server.request("t9kjob/jobs", {"spec": spec, "request_id": uuid.uuid4().hex})


def all_ended(server: Lab, count: int) -> None:
    while server.request("t9kjob/jobs?phase=Succeeded")["total"] < count:
        time.sleep(0.1)


def median(server: Lab, runs: int) -> float:
    seconds = []
    for _ in range(runs):
        started = time.monotonic()
        server.request("t9kjob/jobs")
        seconds.append(time.monotonic() - started)
    return statistics.median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="lists of each size")
    parser.add_argument("--port", type=int, default=18903)
    runs = parser.parse_args()
    with lab(runs.port) as server:
        submit(server, 0)
        all_ended(server, 1)
        median(server, runs.runs)  # what is made once is not measured
        one = median(server, runs.runs)
        for number in range(1, JOBS):
            submit(server, number)
        all_ended(server, JOBS)
        many = median(server, runs.runs)
    print(f"list of {JOBS} jobs: {many * 1000:.1f} ms / of one {one * 1000:.1f} ms = {many / one:.2f} ×")


if __name__ == "__main__":
    main()
