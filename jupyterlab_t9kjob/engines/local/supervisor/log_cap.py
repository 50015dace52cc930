"""Keeps the log of a job below its cap: cuts out the middle of its largest files while they are written.

Ranks write their files themselves, so nothing stands between them and the disk. What can be done without disturbing
them is to free blocks in the middle of a file: offsets stay as they are. The supervisor uses this module, so it needs
only the standard library.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from ....logs.storage.cap import NOT_SUPPORTED, CappedLog, shorten_to, size_in_words
from .log_files import find_logs
from .record import JobFiles

LOOK_SECONDS = 1.0
RETRY_SECONDS = 60.0
"""Between two attempts to cut where the disk does not take the record."""


class LogCap:
    """Watches how large a job's log is.

    Parameters
    ----------
    files
        The job's directory.
    cap
        Bytes that its log may have on disk.
    """

    def __init__(self, files: JobFiles, cap: int) -> None:
        self._files = files
        self._cap: int | None = cap
        self._look_at = 0.0
        self._told = False

    def keep(self, *, at_once: bool = False) -> tuple[str, str] | None:
        """Cut the log if it has grown above the cap; return code and words of an event if there is news.

        Parameters
        ----------
        at_once
            Look now, else once in `LOOK_SECONDS`.

        Raises
        ------
        OSError
            If a cut can't be recorded; then nothing was cut.
        """
        now = time.monotonic()
        if self._cap is None or (now < self._look_at and not at_once):
            return None
        self._look_at = now + LOOK_SECONDS
        found = list(self._found())
        if sum(file.kept for file in found) <= self._cap:
            return None
        amount = size_in_words(self._cap)
        try:
            shorten_to(found, self._cap)
        except OSError as error:
            if error.errno not in NOT_SUPPORTED:
                self._look_at = now + RETRY_SECONDS
                raise
            self._cap = None
            return self._news(
                "LogNotCut",
                f"The log is larger than {amount}, but the file system that it is on can't remove parts of a file"
                f" ({error.strerror}), so it is left as it is.",
            )
        return self._news(
            "LogCut",
            f"The log became larger than {amount}, so lines from the middle of its largest files were removed, and will"
            " be whenever it does. Beginnings and ends are kept.",
        )

    def _news(self, code: str, words: str) -> tuple[str, str] | None:
        if self._told or any(event["reason"] == code for event in self._files.read_events()):
            return None
        self._told = True
        return code, words

    def _found(self) -> Iterable[CappedLog]:
        for log in find_logs(self._files):
            found = CappedLog.of(log.path, log.cuts_path)
            if found is not None:
                yield found
