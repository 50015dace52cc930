"""Cost of samples: the processor that the sampler of a job of 8 ranks takes, and opening a history of 64 replicas.

The sampler is measured against the same job's supervisor, the history against parsing the same answer as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jupyterlab_t9kjob.core.job import Job
from jupyterlab_t9kjob.core.resources import Column, ResourceSource, Samples, SampleSpan
from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.jobs.resources import _view
from jupyterlab_t9kjob.resources.storage.blocks import columns_block, frame_block, read
from jupyterlab_t9kjob.resources.storage.writer import TIERS

TICKS = os.sysconf("SC_CLK_TCK")
RANK = "import time\nheld = bytearray(200_000_000)\nwhile True:\n    time.sleep(1)\n"


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def sampling(seconds: float) -> float:
    """Return the share of one core that the sampler takes for 8 ranks of 200 MB."""
    from jupyterlab_t9kjob.engines.local.supervisor.sampling import SAMPLER

    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder)
        (files / "run.json").write_text(json.dumps({"uid": "bench", "devices": None}))
        (files / "record.json").write_text(json.dumps({"version": 1, "outcome": {}, "replicas": []}))
        marks = {"T9KJOB_UID": "bench", "T9KJOB_REPLICA": "worker-0"}
        ranks = [
            subprocess.Popen([sys.executable, "-c", RANK], env={**marks, "RANK": str(n), "LOCAL_RANK": str(n)})
            for n in range(8)
        ]
        sampler = subprocess.Popen([sys.executable, "-I", "-S", str(SAMPLER), folder], env={"T9KJOB_UID": "bench"})
        try:
            time.sleep(3)  # The start of Python is no part of the sampling.
            before = cpu_of(sampler.pid)
            time.sleep(seconds)
            return (cpu_of(sampler.pid) - before) / seconds
        finally:
            for process in (sampler, *ranks):
                process.kill()
                process.wait()


def make_history(folder: Path, replicas: int, hours: int) -> None:
    metrics = ("cpu", "memory", "disk", "gpu_use", "gpu_memory")
    columns = [Column(f"worker-{n}", "replica", None, metric) for n in range(replicas) for metric in metrics]
    columns += [Column(None, "job", None, metric) for metric in metrics]
    end = time.time()
    for tier, step, span in zip(TIERS, (10, 60, 600), (3600, hours * 3600, hours * 3600), strict=True):
        width = 3 if tier.seconds else 1
        data = [columns_block(columns, width, {})]
        for number in range(span // step):
            values = [float(number % 97 + index % 7) for index in range(len(columns) * width)]
            data.append(frame_block(end - span + number * step, step, values))
        (folder / tier.name).write_bytes(b"".join(data))


def opening(folder: Path) -> tuple[float, float, int]:
    """Return the CPU seconds from the files to the answer, those of parsing the answer, and its bytes."""
    begun = time.process_time()
    tiers = [(tier.seconds, read(folder / tier.name)) for tier in TIERS]
    samples = Samples(ResourceSource("processes", _("bench"), 10.0), tiers)
    job = Job.model_construct(progress=None, devices=None, gpu_hours=None)
    text = _view("1", samples, SampleSpan(None, None, 240), "replica", job).model_dump_json()
    took = time.process_time() - begun
    begun = time.process_time()
    json.loads(text)
    return took, time.process_time() - begun, len(text)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--replicas", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        make_history(Path(name), options.replicas, 24)
        results = sorted(opening(Path(name)) for _round in range(5))
        took, peer, size = results[2]
        print(
            f"history of 24 h and {options.replicas} replicas: {took * 1000:.0f} ms, answer of {size} bytes;", end=" "
        )
        print(f"parsing it {peer * 1000:.1f} ms; load {os.getloadavg()[0]:.1f}")
    print(f"sampling 8 ranks: {sampling(options.seconds) * 100:.2f} % of a core")


if __name__ == "__main__":
    main()
