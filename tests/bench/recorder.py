"""Cost of the recorder: `log()` against `add_scalar`, and CPU time of training with `autolog` against without.

Run: python tests/bench/recorder.py
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CALLS = 20_000
PAIRS = 5


def calls() -> tuple[list[float], list[float]]:
    """Return microseconds of single calls, ours and SummaryWriter's, alternating."""
    from torch.utils.tensorboard import SummaryWriter

    from jupyterlab_t9kjob import em

    ours, theirs = [], []
    with em.create_run() as run, SummaryWriter("events") as writer:
        for step in range(CALLS):
            value = 0.5 + step / 7
            start = time.perf_counter_ns()
            run.log("train", {"loss": value}, step=step)
            middle = time.perf_counter_ns()
            writer.add_scalar("train/loss", value, step)
            theirs.append((time.perf_counter_ns() - middle) / 1000)
            ours.append((middle - start) / 1000)
    return ours, theirs


def train(*, recorded: bool) -> None:
    """Train a small network for 300 steps with a scalar each; print the CPU seconds of the loop."""
    run = None
    if recorded:
        from jupyterlab_t9kjob import em

        run = em.autolog(name="bench")
    import torch
    from torch.utils.tensorboard import SummaryWriter

    torch.set_num_threads(1)
    torch.manual_seed(1)
    layers = [torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 1024), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs, targets = torch.randn(128, 512), torch.randint(0, 10, (128,))
    with SummaryWriter("events") as writer:
        start = time.process_time()
        for step in range(300):
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            writer.add_scalar("train/loss", loss.item(), step)
        print(time.process_time() - start)
    if run is not None:
        run.finish()


def cpu_seconds(recorded: bool) -> float:
    command = [sys.executable, __file__, "--train", "recorded" if recorded else "plain"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--train", choices=["recorded", "plain"])
    arguments = parser.parse_args()
    if arguments.train:
        train(recorded=arguments.train == "recorded")
        return
    os.chdir(tempfile.mkdtemp())
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[2])
    ours, theirs = calls()
    for name, average in (("median", statistics.median), ("mean", statistics.mean)):
        one, other = average(ours), average(theirs)
        print(f"log(): {name} {one:.1f} µs, add_scalar: {other:.1f} µs, ratio {one / other:.2f} (aim ≤ 1.0)")
    pairs = [(cpu_seconds(True), cpu_seconds(False)) for _ in range(PAIRS)]
    ratio = statistics.median(recorded / plain for recorded, plain in pairs)
    print(f"CPU time of training with autolog against without: {ratio:.3f} (aim ≤ 1.01), pairs {pairs}")


if __name__ == "__main__":
    main()
