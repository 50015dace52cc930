"""Copies what the process prints to the run's `stdout.log`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

MAX_BYTES = 64 * 1024 * 1024
"""Size at which the copy ends. The job's log is complete."""


class Tee:
    """A standard output that also appends to a file.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(str(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._left = MAX_BYTES - os.fstat(self._file).st_size
        self._stdout: Any = sys.stdout
        sys.stdout = self

    def write(self, text: str) -> int:
        """Write to the standard output and to the file."""
        self._stdout.write(text)
        if self._left > 0:
            content = text.encode("utf-8", "backslashreplace")[: self._left]
            self._left -= len(content)
            try:
                os.write(self._file, content)
            except OSError:  # A full disk must not end the training; the metrics' own message says it.
                self._left = 0
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def close_copy(self) -> None:
        """End the copy."""
        self._left = 0
        if sys.stdout is self:
            sys.stdout = self._stdout
            os.close(self._file)
        # Otherwise somebody has wrapped this object, which goes on without a copy.

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stdout, name)
