"""Keeps a job's log below its cap by cutting the middle out of its largest files while they are written.

Ranks write their log files directly. Blocks in the middle of a file can be freed without disturbing the writer, since
offsets do not change. The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from .....logs.storage.cap import NOT_SUPPORTED, CappedLog, shorten_to
from ..records.job_files import JobFiles
from .log_files import find_logs

CHECK_SECONDS = 1.0
"""Interval between checks of the log's size."""
RETRY_SECONDS = 60.0
"""Time between two cuts when the disk does not take the record of a cut."""


class LogCap:
    """Cuts a job's log whenever it has grown above the cap.

    Parameters
    ----------
    files
        The job's directory.
    cap
        Bytes that the log may have on disk.
    """

    def __init__(self, files: JobFiles, cap: int) -> None:
        self._files = files
        self._cap: int | None = cap
        self._check_at = 0.0
        self._reported = False

    def keep(self, *, at_once: bool = False) -> tuple[str, dict[str, Any]] | None:
        """Cut the log if it has grown above the cap; return code and facts of an event, once for each job.

        Parameters
        ----------
        at_once
            Check now; otherwise the size is checked once in `CHECK_SECONDS`.

        Raises
        ------
        OSError
            If a cut can't be recorded; then nothing was cut.
        """
        now = time.monotonic()
        if self._cap is None or (now < self._check_at and not at_once):
            return None
        self._check_at = now + CHECK_SECONDS
        found = list(self._found())
        if sum(file.kept for file in found) <= self._cap:
            return None
        cap = self._cap
        try:
            shorten_to(found, cap)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                self._check_at = now + RETRY_SECONDS
                raise
            self._cap = None
            return self._event_once("LogNotCut", {"cap": cap, "error": error.strerror or type(error).__name__})
        return self._event_once("LogCut", {"cap": cap})

    def _event_once(self, code: str, facts: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return the event unless this supervisor, or an earlier one of the job, has reported it."""
        if self._reported or any(event["reason"] == code for event in self._files.read_events()):
            return None
        self._reported = True
        return code, facts

    def _found(self) -> Iterable[CappedLog]:
        for log in find_logs(self._files):
            found = CappedLog.of(log.path, log.cuts_path)
            if found is not None:
                yield found
