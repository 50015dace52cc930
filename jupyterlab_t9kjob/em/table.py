"""Runs below a folder as a table of pandas."""

from __future__ import annotations

import contextlib
import math
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Iterator, Sequence

from .files import ALTERNATIVE_NAME

_LEFT_OUT = frozenset(["node_modules", "site-packages", "__pycache__"])
_MOST_VALUES = 2000
_DEEPEST = 20


def dataframe(folder: str | Path = ".", metrics: Sequence[str] | None = None) -> Any:
    """Return the recorded runs below a folder as a `pandas.DataFrame` with one row for each run, oldest first.

    Hyperparameters have their own names; nested names are joined by dots. Each metric `<type>.<metric>` has the last
    value, and the columns `<type>.<metric>.min` and `<type>.<metric>.max`.

    Parameters
    ----------
    folder
        The folder.
    metrics
        Names of the metrics, such as `val.accuracy`; None for all.

    Raises
    ------
    ModuleNotFoundError
        If pandas is not installed.
    """
    pandas = import_module("pandas")

    rows = [row for run in _runs(Path(folder)) for row in [_row(run, metrics)] if row is not None]
    rows.sort(key=lambda row: str(row["started"]))
    table = pandas.DataFrame(rows)
    for name in ("started", "ended"):
        if name in table:
            table[name] = pandas.to_datetime(table[name], errors="coerce", utc=True, format="ISO8601")
    return table


def _runs(folder: Path) -> Iterator[Path]:
    for path, folders, names in os.walk(str(folder)):
        if "metadata.yaml" in names and ("metrics" in folders or "hyperparameters.yaml" in names):
            yield Path(path)
            folders.clear()
        # `.em/uploads` has copies of the runs beside it.
        left_out = _LEFT_OUT | {"uploads"} if Path(path).name == ".em" else _LEFT_OUT
        folders[:] = sorted(
            name for name in folders if name not in left_out and (not name.startswith(".") or name == ".em")
        )


def _row(run: Path, wanted: Sequence[str] | None) -> dict[str, Any] | None:
    """Return the row of a run; None if its metadata can't be read."""
    from .load import read_mapping

    try:
        metadata = read_mapping(run / "metadata.yaml")
    except (OSError, ValueError):
        return None
    row: dict[str, Any] = {
        "name": metadata.get("name") or run.name,
        "run": run.name if ALTERNATIVE_NAME.search(run.name) else "",
        "status": metadata.get("status"),
        "started": metadata.get("startTimestamp"),
        "ended": metadata.get("endTimestamp"),
        "labels": metadata.get("labels") or [],
        "path": str(run),
    }
    with contextlib.suppress(OSError, ValueError):  # The file may be half written.
        _flatten(read_mapping(run / "hyperparameters.yaml"), "", row)
    for path in sorted(run.glob("metrics/*.yaml")):
        row.update(_summaries(path, wanted))
    return row


def _flatten(values: dict[str, Any], prefix: str, row: dict[str, Any], depth: int = 0) -> None:
    """Add nested values to a row. Aliases of YAML may nest a mapping in itself, or repeat one endlessly."""
    for name, value in values.items():
        if len(row) >= _MOST_VALUES:
            return
        if isinstance(value, dict) and value and depth < _DEEPEST:
            _flatten(value, f"{prefix}{name}.", row, depth + 1)
        else:
            row.setdefault(f"{prefix}{name}", value)


def _summaries(path: Path, wanted: Sequence[str] | None) -> dict[str, float]:
    from .load import read_metrics

    found: dict[str, float] = {}
    try:
        items = read_metrics(path.read_bytes()).items
    except OSError:
        return found
    for item in items:
        for metric, value in item.value.items():
            name = f"{path.stem}.{metric}"
            if wanted is None or name in wanted:
                found[name] = value
                if math.isfinite(value):
                    found[f"{name}.min"] = min(value, found.get(f"{name}.min", value))
                    found[f"{name}.max"] = max(value, found.get(f"{name}.max", value))
    return found
