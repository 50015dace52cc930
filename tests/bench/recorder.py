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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Block:
    """CPU seconds of some steps of a training.

    Attributes
    ----------
    whole
        Seconds of the process.
    scalars
        Seconds that the calls of ``add_scalar`` took the training's thread. The recorder has no other thread.
    """

    whole: float
    scalars: float


def train(pairs: int) -> list[tuple[Block, Block]]:
    """Train a small network with a scalar for each step; return blocks with autolog and without.

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
    found: list[tuple[Block, Block]] = []
    with SummaryWriter("events") as writer:

        def block(add_scalar: Callable[..., None], step: int) -> Block:
            scalars = 0
            start = time.process_time()
            for number in range(step, step + STEPS):
                loss = torch.nn.functional.cross_entropy(model(inputs), targets)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                value = loss.item()
                begun = time.thread_time_ns()
                add_scalar(writer, "train/loss", value, number)
                scalars += time.thread_time_ns() - begun
            return Block(time.process_time() - start, scalars / 1e9)

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


Pairs = Sequence[tuple[Block, Block]]


def whole_ratio(pairs: Pairs) -> float:
    """Return the ratio of the medians, which a block that the machine disturbed does not move."""
    return statistics.median(one.whole for one, _other in pairs) / statistics.median(
        other.whole for _one, other in pairs
    )


def hook_ratio(pairs: Pairs) -> float:
    """Return the same ratio from what autolog adds to the calls, since a training's own time varies more than that.

    The calls are averaged: some of them write what the others have left in a buffer.
    """
    added = statistics.fmean(one.scalars - other.scalars for one, other in pairs)
    return 1 + added / statistics.median(other.whole for _one, other in pairs)


def interval(pairs: Pairs, ratio: Callable[[Pairs], float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a ratio, from samples of the pairs with replacement."""
    draw = random.Random(1)
    found = sorted(ratio(draw.choices(pairs, k=len(pairs))) for _number in range(RESAMPLED))
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
    for name, ratio in (("the training", whole_ratio), ("the calls of add_scalar", hook_ratio)):
        low, high = interval(pairs, ratio)
        answer = "met" if high <= AIM else "missed" if low > AIM else "not decided"
        print(
            f"CPU time with autolog against without, from that of {name}: {ratio(pairs):.4f}, 95 % confidence"
            f" {low:.4f} to {high:.4f} of {len(pairs)} pairs of {STEPS} steps (aim ≤ {AIM}: {answer})"
        )
    with_, without = (1e6 * statistics.fmean(pair[at].scalars for pair in pairs) / STEPS for at in (0, 1))
    step = 1e6 * statistics.median(other.whole for _one, other in pairs) / STEPS
    print(f"a step: {step:.0f} µs, of which add_scalar {without:.0f} µs, with autolog {with_:.0f} µs")


if __name__ == "__main__":
    main()
