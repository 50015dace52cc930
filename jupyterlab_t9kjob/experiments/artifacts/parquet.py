"""First rows of Parquet files.

pyarrow reads them in a process of its own with limits: the library is large, and the file may be hostile.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Final

from ...core.translation import _
from ..sources.yaml_files import plain
from .model import MOST_ROWS, Preview
from .safetensors import printable

MOST_COLUMNS: Final = 200
_LONGEST_CELL: Final = 500
_MOST_SECONDS: Final = 60
_PROGRAM: Final = Path(__file__).with_name("parquet_program.py")


def read_parquet(file: BinaryIO, size: int) -> Preview:
    """Return the first rows of a Parquet file (blocking), or why there are none.

    Parameters
    ----------
    file
        The open file.
    size
        Its size in bytes.
    """
    if find_spec("pyarrow") is None:
        problem = _("Install pyarrow in JupyterLab's Python to see Parquet files.")
        return Preview(kind="none", size=size, problem=problem)
    command = [sys.executable, "-I", str(_PROGRAM), str(MOST_ROWS), str(MOST_COLUMNS), str(_LONGEST_CELL)]
    try:
        done = subprocess.run(
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=_MOST_SECONDS, check=True
        )
        answer = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return _unreadable(size, _("pyarrow could not read the file within its limits of time and memory."))
    if "problem" in answer:
        return _unreadable(size, printable(answer["problem"], 200))
    rows = answer["rows"]
    return Preview(
        kind="table",
        size=size,
        truncated=answer["truncated"],
        columns=[printable(column) for column in answer["columns"]],
        rows=[
            [printable(cell) if isinstance(cell, str) else plain(cell, _LONGEST_CELL) for cell in row] for row in rows
        ],
    )


def _unreadable(size: int, reason: object) -> Preview:
    return Preview(kind="none", size=size, problem=_("The file can't be shown: {reason}", reason=str(reason)))


def _cell(value: Any) -> Any:
    return printable(value) if isinstance(value, str) else plain(value, _LONGEST_CELL)
