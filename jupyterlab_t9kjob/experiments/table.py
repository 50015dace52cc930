"""Rows and columns of the table of runs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ..core.job import JobSummary
from .facts import Facts
from .library.index import Summary
from .library.library import Known
from .model import RunColumn, RunMetric, RunRow
from .notes import Note
from .series import Series, small_curve
from .status import reference, sentence_of, status_of

MOST_METRICS: Final = 50
MOST_CELLS: Final = 20_000
"""Summaries in an answer, without those that were asked for by name."""
MOST_DISTINCT: Final = 1000
MOST_COLUMNS: Final = 2000

_SMALLER_IS_BETTER: Final = re.compile(
    r"(^|[^a-z])(loss|error|err|perplexity|ppl|mae|mse|rmse|wer|cer|fid|nll|bpc|bpb|entropy|latency)([^a-z]|$)|loss$",
    re.I,
)
_LARGER_IS_BETTER: Final = re.compile(
    r"(^|[^a-z])(acc|accuracy|f1|auc|auroc|bleu|rouge\w*|precision|recall|iou|miou|map|ap|score|reward|return|dice|psnr"
    r"|ssim|r2|top\d*|throughput)([^a-z]|$)",
    re.I,
)


def goal_of(metric: str) -> Literal["min", "max"] | None:
    """Return which value of a metric is the best, by its name; None if the name does not tell."""
    name = metric.rpartition(".")[2].rpartition("/")[2]
    if _SMALLER_IS_BETTER.search(name):
        return "min"
    return "max" if _LARGER_IS_BETTER.search(name) else None


def row_of(
    known: Known,
    job: JobSummary | None,
    note: Note,
    metrics: Mapping[str, Mapping[int, Summary]],
    curves: Collection[str],
) -> RunRow:
    """Return the row of a run that was read.

    Parameters
    ----------
    known
        The run.
    job
        Its job.
    note
        What the user noted about it.
    metrics
        Metrics whose summaries are wanted, with those that the index has, by the run's number in it.
    curves
        Metrics whose small curves are wanted.
    """
    facts = known.facts or Facts(known.source.origin, known.folder.name)
    written = max([known.written_at, *(part.written_at for part in known.parts)])
    summaries: dict[str, RunMetric] = {}
    with known.lock:
        series = known.log.series
        for name, stored in metrics.items():
            if name in series:
                summaries[name] = summary_of(series[name], curve=name in curves)
            elif known.num is not None and known.num in stored:
                summaries[name] = _of_index(stored[known.num], curve=name in curves)
    epoch = known.epoch
    status = status_of(facts, job, written)
    ended = None if status == "running" else facts.ended or written or None
    return RunRow.of_all_fields(
        id=known.id,
        name=facts.name,
        suffix=facts.suffix,
        origin=facts.origin,
        status=status,
        sentence=sentence_of(status, facts, job, epoch),
        path=known.path,
        job=reference(job),
        started_at=facts.started,
        ended_at=ended,
        seconds=max(0.0, ended - facts.started) if ended is not None and facts.started is not None else None,
        epoch=epoch,
        parameters=facts.parameters,
        metrics=summaries,
        environment=facts.environment,
        labels=facts.labels,
        tags=note.tags,
        note=note.note,
        archived=note.archived,
    )


def summary_of(series: Series, *, curve: bool) -> RunMetric:
    """Return a metric in short.

    Parameters
    ----------
    series
        The metric.
    curve
        True to add its small curve.
    """
    last, low, high = series.last, series.low, series.high
    return RunMetric(
        last=last.value if last else float("nan"),
        last_step=last.position.step if last else None,
        min=low.value if low else None,
        min_step=low.position.step if low else None,
        max=high.value if high else None,
        max_step=high.position.step if high else None,
        count=series.count,
        curve=small_curve(series) if curve else [],
    )


def _of_index(stored: Summary, *, curve: bool) -> RunMetric:
    return RunMetric(
        last=stored.last,
        last_step=stored.last_step,
        min=stored.low,
        min_step=stored.low_step,
        max=stored.high,
        max_step=stored.high_step,
        count=stored.count,
        curve=stored.curve if curve else [],
    )


def metrics_of(runs: Sequence[Known], asked: Collection[str]) -> tuple[list[str], Counter[str]]:
    """Return the metrics that an answer has: those that were asked for and the most frequent ones; and all with counts.

    Parameters
    ----------
    runs
        The runs.
    asked
        Names of metrics.
    """
    counts: Counter[str] = Counter()
    shapes = {id(known.names): known.names for known in runs}
    for shape, number in Counter(id(known.names) for known in runs).items():
        for name in shapes[shape]:
            counts[name] += number
    most = max(1, min(MOST_METRICS, MOST_CELLS // max(1, len(runs))))
    return list(dict.fromkeys([*asked, *(name for name, _count in counts.most_common(most))])), counts


def columns_of(runs: Iterable[Known], metrics: Counter[str]) -> list[RunColumn]:
    """Return the columns that the table can have, the most frequent first in each group.

    Parameters
    ----------
    runs
        The runs.
    metrics
        Names of metrics, with the number of runs that have them.
    """
    read = [known.facts for known in runs if known.facts is not None]
    columns = _value_columns("parameters", (facts.parameters for facts in read))
    columns += [
        RunColumn.model_construct(name=name, group="metrics", kind="number", runs=count, distinct=0, goal=goal_of(name))
        for name, count in metrics.most_common(MOST_COLUMNS)
    ]
    return columns + _value_columns("environment", (facts.environment for facts in read))


def _value_columns(group: Literal["parameters", "environment"], values: Iterable[dict[str, Any]]) -> list[RunColumn]:
    counts: Counter[str] = Counter()
    different: dict[str, set[Any]] = {}
    kinds: dict[str, set[str]] = {}
    for each in values:
        for name, value in each.items():
            counts[name] += 1
            seen = different.setdefault(name, set())
            if len(seen) < MOST_DISTINCT:
                seen.add((type(value) is bool, value))
            if value is not None:
                kinds.setdefault(name, set()).add(_kind(value))
    return [
        RunColumn.model_construct(
            name=name,
            group=group,
            kind=_joined(kinds.get(name, set())),
            runs=count,
            distinct=len(different[name]),
            goal=None,
        )
        for name, count in counts.most_common(MOST_COLUMNS)
    ]


def _kind(value: Any) -> str:
    return "boolean" if isinstance(value, bool) else "number" if isinstance(value, int | float) else "text"


def _joined(kinds: set[str]) -> Literal["number", "text", "boolean"]:
    if kinds == {"number"}:
        return "number"
    return "boolean" if kinds == {"boolean"} else "text"
