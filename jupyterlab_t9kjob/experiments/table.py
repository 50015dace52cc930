"""Columns of the table of runs, and the runs that it can't show."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from ..contents_paths import ContentsRoot, printable
from ..core.translation import _
from .library.known import Known
from .library.library import Library
from .model import RunColumn, Unreadable

MOST_METRICS: Final = 50
MOST_CELLS: Final = 20_000
"""Cells in an answer, without those that were asked for by name."""
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
    """Return which value of a metric is the best, by its name; None if the name is not known."""
    name = metric.rpartition(".")[2].rpartition("/")[2]
    if _SMALLER_IS_BETTER.search(name):
        return "min"
    return "max" if _LARGER_IS_BETTER.search(name) else None


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
    columns: dict[str, list[Any]] = {}
    for each in values:
        for name, value in each.items():
            if name in columns:
                columns[name].append(value)
            else:
                columns[name] = [value]
    most = sorted(columns.items(), key=lambda column: -len(column[1]))[:MOST_COLUMNS]
    return [
        RunColumn.model_construct(
            name=name, group=group, kind=_kind(column), runs=len(column), distinct=_distinct(column), goal=None
        )
        for name, column in most
    ]


def _distinct(values: Sequence[Any]) -> int:
    """Return the number of different values; true is not 1."""
    booleans = {value for value in values if isinstance(value, bool)}
    others = values if not booleans else [value for value in values if not isinstance(value, bool)]
    return min(MOST_DISTINCT, len(booleans) + len(set(others)))


def _kind(values: Sequence[Any]) -> Literal["number", "text", "boolean"]:
    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {bool}:
        return "boolean"
    return "number" if kinds and kinds <= {int, float} else "text"


def unreadable_of(library: Library, root: ContentsRoot, top: Path, runs: Sequence[Known]) -> list[Unreadable]:
    """Return the runs that can't be read, and the links in place of runs.

    Parameters
    ----------
    library
        The known runs and folders.
    root
        The contents root.
    top
        The folder of the table.
    runs
        The runs below the folder.
    """
    found = [
        Unreadable(path=printable(known.place), problem=known.problem) for known in runs if known.problem is not None
    ]
    outside = library.outside.values() if top == root.folder else ()
    problem = _("This is a link. Runs behind links are not read.")
    for link in [*library.area(top).links, *(link for area in outside for link in area.links)]:
        path = root.api(link)
        found.append(Unreadable(path=printable(str(link) if path is None else path), problem=problem))
    return found
