"""Program that writes the first rows of a Parquet file as JSON.

The file is its standard input; its arguments are the largest numbers of rows, columns and characters of a cell.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
from typing import Any

MEMORY = 4 * 2**30
SECONDS = 15


def main(most_rows: int, most_columns: int, longest: int) -> dict[str, Any]:
    """Return columns and rows, or the problem of the file.

    Parameters
    ----------
    most_rows
        Largest number of rows.
    most_columns
        Largest number of columns.
    longest
        Largest number of characters of a cell.
    """
    for limit, value in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS)):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(limit, (value, value))
    import pyarrow
    import pyarrow.parquet

    pyarrow.set_cpu_count(1)
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.PythonFile(sys.stdin.buffer, mode="r"))
        names = file.schema_arrow.names
        shown = list(dict.fromkeys(names))[:most_columns]
        batch = next(file.iter_batches(batch_size=most_rows, columns=shown, use_threads=False), None)
        values = [batch.column(at).to_pylist() for at in range(batch.num_columns)] if batch is not None else []
        columns = batch.schema.names if batch is not None else shown
        total = file.metadata.num_rows
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError) as problem:
        return {"problem": str(problem)[:500]}
    rows = [[_cell(value, longest) for value in row] for row in zip(*values, strict=True)]
    return {"columns": columns, "rows": rows, "truncated": total > len(rows) or len(names) > most_columns}


def _cell(value: Any, longest: int) -> Any:
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    text = str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:4]))))  # noqa: T201
