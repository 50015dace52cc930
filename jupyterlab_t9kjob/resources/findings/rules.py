"""Rules that find why a job is slow, or will fail, in the last minutes of its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from ...core.job import Job
from ...core.resources import Column, Samples
from ...core.translation import Text, _, _n
from ..amounts import number, size
from ..model import ResourceFinding
from .trace import EVIDENCE_SECONDS, Trace

IDLE_PERCENT: Final = 5.0
IDLE_SECONDS: Final = 720.0
WORKING_PERCENT: Final = 30.0
UNUSED_BYTES: Final = 0.02
"""Share of a card's memory below which no model is on it; a CUDA context alone takes less."""
WAITING_PERCENT: Final = 70.0
FULL_CORE: Final = (0.9, 1.15)
"""Number of cores that a rank uses if a single thread limits its speed: least and greatest."""
MOSTLY: Final = 0.8
NEAR_LIMIT: Final = 0.95
SHM_FULL: Final = 0.9
THROTTLED: Final = 0.25
BEHIND_PERCENT: Final = 15.0
ALIKE_PERCENT: Final = 10.0

Rule = Callable[[Trace], Iterator[ResourceFinding]]


def findings_of(samples: Samples, job: Job) -> list[ResourceFinding]:
    """Return what the last minutes of a job's samples show, the gravest first.

    Parameters
    ----------
    samples
        The samples.
    job
        The job.
    """
    trace = Trace(samples, job)
    return [finding for rule in RULES for finding in rule(trace)]


def memory_near_limit(trace: Trace) -> Iterator[ResourceFinding]:
    """Find replicas whose memory has been close to its limit."""
    for part in ("replica", "job"):
        limit = trace.limit("memory", part)
        if limit is None:
            continue
        for column in trace.columns(part, "memory"):
            if trace.seconds(column, lambda value, limit=limit: value >= NEAR_LIMIT * limit) >= EVIDENCE_SECONDS:  # type: ignore[misc]
                used = trace.mean(column)
                yield _finding(
                    trace,
                    "MemoryNearLimit",
                    _(
                        "{part} uses {share} % of its memory limit. More memory ends it.",
                        part=_name(column),
                        share=round(100 * used / limit),
                    ),
                    _("{used} of {limit} for 10 min or more.", used=size(used), limit=size(limit)),
                    _("Raise the memory limit, or use a smaller batch or fewer workers of the data loader."),
                    column,
                )
                return


def shared_memory_full(trace: Trace) -> Iterator[ResourceFinding]:
    """Find a /dev/shm that is nearly full."""
    limit = trace.limit("shm", "job")
    for column in trace.columns("job", "shm") if limit else []:
        if limit and trace.seconds(column, lambda value: value >= SHM_FULL * limit) >= EVIDENCE_SECONDS:
            yield _finding(
                trace,
                "SharedMemoryFull",
                _("The shared memory is nearly full. A data loader that needs more ends with a bus error."),
                _("{used} of {limit} in /dev/shm.", used=size(trace.mean(column)), limit=size(limit)),
                _("Raise the size of the shared memory in the form, or use fewer workers of the data loader."),
                column,
            )


def gpu_idle(trace: Trace) -> Iterator[ResourceFinding]:
    """Find GPUs that do nothing although others work, or the job makes no progress."""
    columns = trace.columns("gpu", "gpu_use")
    idle = [column for column in columns if trace.seconds(column, lambda value: value < IDLE_PERCENT) >= IDLE_SECONDS]
    if not idle:
        return
    others = [column for column in columns if column not in idle]
    works = any(trace.mean(column) >= WORKING_PERCENT for column in others)
    progress = trace.job.progress
    stands = progress is not None and progress.updated_at <= trace.until - EVIDENCE_SECONDS
    if not (works or stands or all(_is_empty(trace, column) for column in idle)):
        return
    minutes = round(min(trace.seconds(column, lambda value: value < IDLE_PERCENT) for column in idle) / 60)
    if len(idle) == 1:
        sentence = _(
            "GPU {number} of {replica} has done nothing for {minutes} of the last 15 min.",
            number=idle[0].number or 0,
            replica=idle[0].replica or "",
            minutes=minutes,
        )
    else:
        sentence = _n(
            "{n} GPU has done nothing for {minutes} of the last 15 min.",
            "{n} GPUs have done nothing for {minutes} of the last 15 min.",
            len(idle),
            minutes=minutes,
        )
    if works:
        mean = sum(trace.mean(column) for column in others) / len(others)
        evidence = _("The others work {share} % of the time.", share=round(mean))
    elif stands:
        evidence = _("The job has reported no progress in that time.")
    else:
        evidence = _("Nothing of the job is in their memory.")
    check = _("See the log of the replica, or the stacks of its ranks; see the device that the script chooses.")
    yield _finding(trace, "GpuIdle", sentence, evidence, check, idle[0])


def data_loading(trace: Trace) -> Iterator[ResourceFinding]:
    """Find GPUs that wait while each rank uses exactly one full core."""
    uses = trace.columns("gpu", "gpu_use")
    ranks = trace.columns("rank", "cpu")
    if not uses or not ranks:
        return
    mean = sum(trace.mean(column) for column in uses) / len(uses)
    if not IDLE_PERCENT < mean < WAITING_PERCENT or any(trace.mean(column) >= WAITING_PERCENT for column in uses):
        return
    low, high = FULL_CORE
    for column in ranks:
        total = trace.seconds(column, lambda _value: True)
        if trace.seconds(column, lambda value: low <= value <= high) < MOSTLY * total:
            return
    cores = sum(trace.mean(column) for column in ranks) / len(ranks)
    yield _finding(
        trace,
        "DataLoading",
        _(
            "The GPUs work {share} % of the time and wait for the CPU. Loading data may be the brake.",
            share=round(mean),
        ),
        _("Each rank keeps one CPU core full ({cores} cores on the mean).", cores=number(cores)),
        _("Set num_workers of the DataLoader, or measure one step with a profiler."),
        uses[0],
        named=False,
    )


def straggler(trace: Trace) -> Iterator[ResourceFinding]:
    """Find the one replica, or GPU, that works less than the others, which wait for it."""
    for kind in ("replica", "gpu"):
        columns = trace.columns(kind, "gpu_use")
        if len(columns) < 3:
            continue
        means = {column: trace.mean(column) for column in columns}
        slowest = min(columns, key=lambda column: means[column])
        others = [means[column] for column in columns if column != slowest]
        total = trace.seconds(slowest, lambda _value: True)
        if trace.seconds(slowest, lambda value: value < IDLE_PERCENT) > (1 - MOSTLY) * total:
            continue  # The part is idle, which `gpu_idle` reports.
        if max(others) - min(others) > ALIKE_PERCENT:
            continue
        if median(others) - means[slowest] < BEHIND_PERCENT or not _is_always_behind(trace, slowest, columns):
            continue
        yield _finding(
            trace,
            "Straggler",
            _(
                "{part} works {share} % of the time, the others {others} %. They may wait for it.",
                part=_name(slowest),
                share=round(means[slowest]),
                others=round(median(others)),
            ),
            _(
                "Measured for 10 min or more; the others differ by {spread} % at most.",
                spread=number(max(others) - min(others)),
            ),
            _("Compare its CPU and disk with those of the others, and see the log of its node."),
            slowest,
        )
        return


def cpu_throttled(trace: Trace) -> Iterator[ResourceFinding]:
    """Find containers whose CPU limit makes them wait."""
    for kind in ("replica", "job"):
        found = [
            column
            for column in trace.columns(kind, "throttled")
            if trace.seconds(column, lambda value: value >= THROTTLED) >= EVIDENCE_SECONDS
        ]
        if not found:
            continue
        worst = max(found, key=trace.mean)
        yield _finding(
            trace,
            "CpuThrottled",
            _(
                "The CPU limit stops {part} {share} % of the time.",
                part=_name(worst),
                share=round(100 * trace.mean(worst)),
            ),
            _("Share of the scheduler's periods in which the container had used up its CPU time."),
            _("Raise the CPU limit, or use fewer threads and workers."),
            worst,
        )
        return


RULES: tuple[Rule, ...] = (
    memory_near_limit,
    shared_memory_full,
    gpu_idle,
    straggler,
    data_loading,
    cpu_throttled,
)


def _is_always_behind(trace: Trace, slowest: Column, columns: list[Column]) -> bool:
    """Return True if a part was behind for most of the time, not only on the mean."""
    own = trace.series(slowest)
    others = [trace.series(column) for column in columns if column != slowest]
    behind = total = 0
    for index, value in own.items():
        now = [series[index] for series in others if index in series]
        if now:
            total += 1
            behind += value <= median(now) - BEHIND_PERCENT / 2
    return total > 0 and behind >= MOSTLY * total


def _is_empty(trace: Trace, column: Column) -> bool:
    """Return True if the GPU's memory is known to be nearly empty."""
    memory = Column(column.replica, "gpu", column.number, "gpu_memory")
    total = trace.limit("gpu_memory", "gpu")
    if total is None or not trace.points(memory):
        return False
    return max(point.value for point in trace.points(memory)) < UNUSED_BYTES * total


def _name(column: Column) -> Text:
    if column.kind == "gpu":
        return _("GPU {number} of {replica}", number=column.number or 0, replica=column.replica or "")
    return Text.verbatim(column.replica) if column.replica is not None else _("The job")


def _finding(
    trace: Trace, code: str, sentence: Text, evidence: Text, check: Text, column: Column, *, named: bool = True
) -> ResourceFinding:
    return ResourceFinding(
        code=code,
        sentence=sentence,
        evidence=evidence,
        check=check,
        replica=column.replica if named else None,
        rank=column.number if named and column.kind == "rank" else None,
        since=trace.since,
        until=trace.until,
    )
