"""Appends metrics to the files `metrics/<type>.yaml` of a run.

A file is a YAML list. Each call appends one item by one `write` to a descriptor that the kernel appends to, so a killed
process leaves every finished call readable, and two processes that write one run don't mix their items.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import time
from pathlib import Path
from typing import Any, Mapping

from .yaml_text import number_of, text_of

_SAFE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\Z")
_KNOWN_NAMES = 10_000


def file_name(kind: str) -> str:
    """Return the name of the file of a type of metrics.

    Parameters
    ----------
    kind
        The type: any text. A text that is no plain file name is replaced by its readable part and a hash.
    """
    if _SAFE.match(kind):
        return f"{kind}.yaml"
    readable = re.sub(r"[^A-Za-z0-9_]+", "_", kind).strip("_")[:40] or "metrics"
    return f"{readable}-{hashlib.sha256(kind.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.yaml"


class MetricFile:
    """One file of metrics, open for appending.

    Parameters
    ----------
    path
        The file; it is created.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(str(path), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        self._names: dict[str, str] = {}
        self._second = -1
        self._prefix = self._offset = ""
        self._mend(os.fstat(self._file).st_size)

    def append(self, metrics: Mapping[str, Any], step: Any, epoch: Any) -> None:
        """Append one item.

        Parameters
        ----------
        metrics
            Values by name; each is converted by `float`.
        step, epoch
            Position in the training; the epoch may be None.
        """
        names = self._names
        lines = ["- value:"] if metrics else ["- value: {}"]
        for name, value in metrics.items():
            head = names.get(name) or self._head(name)
            lines.append(head + number_of(float(value)))
        lines.append("  sequence:\n    epoch: " + ("null" if epoch is None else _position(epoch)))
        lines.append("    step: " + _position(step))
        lines.append("    timestamp: '" + self._now() + "'\n")
        item = "\n".join(lines).encode("utf-8")
        written = os.write(self._file, item)
        if written != len(item):  # The disk is full. Half an item would make the whole file unreadable.
            os.ftruncate(self._file, os.fstat(self._file).st_size - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _head(self, name: str) -> str:
        text = text_of(str(name))
        head = f"    {text}: " if len(text) <= 100 else f"    ? {text}\n    : "
        if len(self._names) < _KNOWN_NAMES:
            self._names[name] = head
        return head

    def _now(self) -> str:
        """Return the same text as `files.now`, in a third of the time."""
        moment = time.time_ns() // 1000
        second, micros = divmod(moment, 1_000_000)
        if second != self._second:
            local = time.localtime(second)
            sign, seconds = ("-", -local.tm_gmtoff) if local.tm_gmtoff < 0 else ("+", local.tm_gmtoff)
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S.", local)
            self._offset = f"{sign}{seconds // 3600:02d}:{seconds // 60 % 60:02d}"
            self._second = second
        return f"{self._prefix}{micros:06d}{self._offset}"

    def _mend(self, size: int) -> None:
        """End the last line of a file whose last writer was T9k's SDK and was killed in it."""
        if size:
            with self.path.open("rb") as file:
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":
                    os.write(self._file, b"\n")


def _position(value: Any) -> str:
    return str(value) if type(value) is int else number_of(_number(value))


def _number(value: Any) -> float:
    number = float(value)
    return int(number) if number.is_integer() else number
