"""Cost of the recorder: `log()` against `add_scalar`, and CPU time of training with `autolog` against without.

Run: python tests/bench/recorder.py [--pairs 400]
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

CALLS = 20_000
BLOCKS = 150
STEPS = 8
AIM = 1.01
RESAMPLED = 4000


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


def train(pairs: int) -> list[tuple[float, float]]:
    """Train a small network with a scalar for each step; return the CPU seconds of blocks with autolog and without.

    Blocks alternate in one process, so that both have the same caches, clock and neighbours. The process records from
    the first block on: in a block without, the scalars go to the method that `autolog` has wrapped.
    """
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
    wrapped = SummaryWriter.add_scalar
    found: list[tuple[float, float]] = []
    with SummaryWriter("events") as writer:

        def block(add_scalar: Callable[..., None], step: int) -> float:
            start = time.process_time()
            for number in range(step, step + STEPS):
                loss = torch.nn.functional.cross_entropy(model(inputs), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                add_scalar(writer, "train/loss", loss.item(), number)
            return time.process_time() - start

        block(wrapped, 0)
        for number in range(pairs):
            step = STEPS * (1 + 2 * number)
            order = (wrapped, wrapped.__wrapped__)
            if number % 2:
                plain, recorded = block(order[1], step), block(order[0], step + STEPS)
            else:
                recorded, plain = block(order[0], step), block(order[1], step + STEPS)
            found.append((recorded, plain))
    run.finish()
    return found


def ratio_of(pairs: Sequence[tuple[float, float]]) -> float:
    """Return the ratio of the medians, which a block that the machine disturbed does not move."""
    return statistics.median(one for one, _other in pairs) / statistics.median(other for _one, other in pairs)


def interval(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the 95 % confidence interval of the ratio, from samples of the pairs with replacement."""
    draw = random.Random(1)
    found = sorted(ratio_of(draw.choices(pairs, k=len(pairs))) for _number in range(RESAMPLED))
    return found[RESAMPLED // 40], found[-RESAMPLED // 40]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=BLOCKS)
    arguments = parser.parse_args()
    os.chdir(tempfile.mkdtemp())
    sys.path.insert(0, str(Path(__file__).parents[2]))
    ours, theirs = calls()
    for name, average in (("median", statistics.median), ("mean", statistics.mean)):
        one, other = average(ours), average(theirs)
        print(f"log(): {name} {one:.1f} µs, add_scalar: {other:.1f} µs, ratio {one / other:.2f} (aim ≤ 1.0)")
    pairs = train(arguments.pairs)
    low, high = interval(pairs)
    answer = "met" if high <= AIM else "missed" if low > AIM else "not decided, measure more pairs"
    print(
        f"CPU time of training with autolog against without: {ratio_of(pairs):.4f}, 95 % confidence {low:.4f} to"
        f" {high:.4f} of {len(pairs)} pairs of {STEPS} steps (aim ≤ {AIM}: {answer})"
    )


if __name__ == "__main__":
    main()
