"""Rules of the findings: each is true of the trace that shows its case, and silent for those that do not.

The traces are made up; no GPU was at hand.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from jupyterlab_t9kjob.core.job import Progress
from jupyterlab_t9kjob.core.resources import Column, Level, Samples, Segment
from jupyterlab_t9kjob.core.translation import _
from jupyterlab_t9kjob.resources.findings.rules import findings_of

BEGIN, STEP = 1_790_000_000.0, 10.0
GIB = 2.0**30
Curve = Callable[[float], float]


class _Job:
    """The part of a job that the rules read."""

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress


def samples(curves: dict[Column, Curve], minutes: float = 20, levels: list[Level] | None = None) -> Samples:
    columns = list(curves)
    segment = Segment(columns, 1, {})
    for number in range(round(minutes * 60 / STEP)):
        segment.times.append(BEGIN + number * STEP)
        segment.seconds.append(STEP)
        segment.values.extend(curves[column](number * STEP / 60) for column in columns)
    return Samples(None, [(0.0, [segment])], levels or [])


def codes(traced: Samples, progress_at: float | None = None) -> list[str]:
    progress = None
    if progress_at is not None:
        progress = Progress(text=_("Step"), updated_at=BEGIN + progress_at * 60)
    job: Any = _Job(progress)
    return [finding.code for finding in findings_of(traced, job)]


def gpu(number: int, metric: str = "gpu_use", replica: str = "worker-0") -> Column:
    return Column(replica, "gpu", number, metric)


def about(value: float, spread: float = 0.0, seed: int = 0) -> Curve:
    chance = random.Random(seed)
    return lambda _minute: max(0.0, value + chance.uniform(-spread, spread))


def limit(metric: str, part: str, value: float) -> Level:
    return Level(metric, "limit", value, part, _("limit"))


BUSY = {gpu(number): about(94, 4, number) for number in range(3)}
CARD = [limit("gpu_memory", "gpu", 80 * GIB)]


def test_an_idle_gpu_among_busy_ones_is_found() -> None:
    assert codes(samples(BUSY | {gpu(3): lambda minute: 94 if minute < 7 else 0})) == ["GpuIdle"]


def test_idle_gpus_of_a_job_without_progress_are_found() -> None:
    both: dict[Column, Curve] = {gpu(number): lambda minute: 94 if minute < 7 else 0 for number in range(2)}
    assert codes(samples(both), progress_at=7) == ["GpuIdle"]


def test_gpus_that_the_job_never_used_are_found() -> None:
    empty: dict[Column, Curve] = {gpu(0): about(0), gpu(0, "gpu_memory"): about(0.4 * GIB)}
    assert codes(samples(empty, levels=CARD), progress_at=19) == ["GpuIdle"]


@pytest.mark.parametrize(
    ("curves", "minutes", "progress_at"),
    [
        (BUSY, 20, None),
        # A validation on the CPU of eight minutes.
        (BUSY | {gpu(3): lambda minute: 0 if minute > 12 else 94}, 20, None),
        # All wait while the job makes progress: a long preparation, or work on the CPU that is meant.
        ({gpu(0): about(0), gpu(0, "gpu_memory"): about(30 * GIB)}, 20, 19),
        # Too little evidence.
        ({**BUSY, gpu(3): about(0)}, 8, None),
    ],
)
def test_gpus_that_work_or_rest_for_a_while_are_no_finding(
    curves: dict[Column, Curve], minutes: float, progress_at: float | None
) -> None:
    assert codes(samples(curves, minutes, CARD), progress_at) == []


def rank(number: int, metric: str = "cpu") -> Column:
    return Column("worker-0", "rank", number, metric)


def test_data_loading_is_found() -> None:
    curves = {gpu(n): about(41, 10, n) for n in range(2)} | {rank(n): about(1.0, 0.05, n) for n in range(2)}
    (finding,) = findings_of(samples(curves), _Job(None))  # type: ignore[arg-type]
    assert finding.code == "DataLoading" and "num_workers" in finding.check
    assert "41 %" in finding.sentence or "40 %" in finding.sentence or "42 %" in finding.sentence


@pytest.mark.parametrize(
    ("use", "cpu"),
    [
        (95, 1.0),  # CUDA waits in a loop, which keeps a core full as well.
        (41, 3.8),  # Workers load the data; the brake is elsewhere.
        (41, 0.3),  # The rank waits for something else.
        (2, 1.0),  # The GPU does nothing at all.
    ],
)
def test_other_brakes_are_not_called_data_loading(use: float, cpu: float) -> None:
    curves = {gpu(n): about(use, 2, n) for n in range(2)} | {rank(n): about(cpu, 0.05, n) for n in range(2)}
    assert "DataLoading" not in codes(samples(curves))


def test_the_replica_that_lags_is_found() -> None:
    curves = {Column(f"worker-{n}", "replica", None, "gpu_use"): about(71 if n == 2 else 95, 3, n) for n in range(4)}
    (finding,) = findings_of(samples(curves), _Job(None))  # type: ignore[arg-type]
    assert (finding.code, finding.replica) == ("Straggler", "worker-2")


@pytest.mark.parametrize("means", [(95, 94, 96, 93), (95, 71, 80, 60), (95, 71), (95, 88, 95, 94)])
def test_replicas_that_differ_a_little_or_all_are_no_stragglers(means: tuple[float, ...]) -> None:
    curves = {Column(f"worker-{n}", "replica", None, "gpu_use"): about(mean, 2, n) for n, mean in enumerate(means)}
    assert codes(samples(curves)) == []


def test_a_short_dip_is_no_straggler() -> None:
    curves: dict[Column, Curve] = {
        Column(f"worker-{n}", "replica", None, "gpu_use"): about(95, 2, n) for n in range(3)
    } | {Column("worker-3", "replica", None, "gpu_use"): lambda minute: 20 if 16 < minute < 20 else 95}
    assert codes(samples(curves)) == []


MEMORY, SHM = Column("worker-1", "replica", None, "memory"), Column(None, "job", None, "shm")
THROTTLED = Column("worker-1", "replica", None, "throttled")
LEVELS = [limit("memory", "replica", 64 * GIB), limit("shm", "job", 8 * GIB)]


@pytest.mark.parametrize(
    ("column", "curve", "expected"),
    [
        (MEMORY, about(62 * GIB, 0.2 * GIB), ["MemoryNearLimit"]),
        (MEMORY, about(50 * GIB, GIB), []),
        (MEMORY, lambda minute: (63 if minute > 15 else 40) * GIB, []),
        (SHM, about(7.6 * GIB), ["SharedMemoryFull"]),
        (SHM, about(6 * GIB), []),
        (THROTTLED, about(0.4, 0.05), ["CpuThrottled"]),
        (THROTTLED, about(0.1, 0.05), []),
        (THROTTLED, lambda minute: 0.9 if minute < 8 else 0.0, []),
    ],
)
def test_limits(column: Column, curve: Curve, expected: list[str]) -> None:
    assert codes(samples({column: curve}, levels=LEVELS)) == expected


def test_without_limits_memory_is_no_finding() -> None:
    assert codes(samples({MEMORY: about(62 * GIB)})) == []
