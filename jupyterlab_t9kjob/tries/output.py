"""Output of a try: its last lines, and the number of training steps in its logs and events."""

from __future__ import annotations

import contextlib
import os
import re
from collections import deque
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ..core.log_sources import LogFile, LogSource
from ..core.progress import StepCounter
from ..logs.serving.sources import open_log
from ..tensorboard.event_records import NotEvents
from ..tensorboard.events import find_event_files
from ..tensorboard.points import PointCounter
from .model import TryLine

_MOST_LINES: Final = 60
_LONGEST_LINE: Final = 300
_MOST_BYTES: Final = 256 * 1024
"""Bytes that one call reads of a log at most; what is older is left out."""
_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class _Stream:
    """One log file, read as it grows."""

    def __init__(self) -> None:
        self.offset = 0
        self.rest = b""
        self.counter = StepCounter()


class Output:
    """Output of the ranks of a try. All methods block.

    Parameters
    ----------
    events
        Folder in which the try writes its events.
    """

    def __init__(self, events: Path) -> None:
        self.lines: deque[TryLine] = deque(maxlen=_MOST_LINES)
        self._events = events
        self._points = PointCounter()
        self._streams: dict[str, _Stream] = {}

    @property
    def steps(self) -> int:
        """Number of training steps that the rank with the most reports, or that its events have."""
        return max((self._points.steps, *(stream.counter.steps for stream in self._streams.values())))

    @property
    def has_events(self) -> bool:
        """True if the try has written TensorBoard events to its own folder."""
        return self._points.steps > 0

    def read(self, sources: Iterable[LogSource], *, ended: bool = False) -> None:
        """Read what was written since the last call.

        Parameters
        ----------
        sources
            The log streams of the try.
        ended
            True if nothing more will be written, so that a last line without an end counts.
        """
        for source in sources:
            # torchrun's own lines repeat the error of a rank, which the reason names.
            if isinstance(source, LogFile) and source.stream.source != "launcher":
                with contextlib.suppress(OSError):  # The next call reads the file again.
                    self._read(source, ended=ended)
        with contextlib.suppress(OSError, NotEvents):
            self._points.count(find_event_files([self._events]).files)

    def _read(self, source: LogFile, *, ended: bool) -> None:
        stream = self._streams.setdefault(source.stream.id, _Stream())
        with os.fdopen(open_log(source.path, source.within), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(stream.offset, size - _MOST_BYTES))
            data = file.read(_MOST_BYTES)
            stream.offset = file.tell()
        stream.counter.feed(data)
        *whole, stream.rest = (stream.rest + data).split(b"\n")
        if ended and stream.rest:
            whole.append(stream.rest)
            stream.rest = b""
        stream.rest = stream.rest[-_MOST_BYTES:]
        for line in whole[-_MOST_LINES:]:
            text = shown(line)
            if text:
                self.lines.append(TryLine(rank=source.stream.rank, text=text))


def shown(line: bytes) -> str:
    """Return a line as a terminal shows it at the end: a progress bar's last state, without colours."""
    last = line.rstrip(b"\r\n").rpartition(b"\r")[2]
    return _CONTROL.sub("", last[: 4 * _LONGEST_LINE].decode(errors="replace"))[:_LONGEST_LINE].rstrip()
