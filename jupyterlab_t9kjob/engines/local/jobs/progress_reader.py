"""Progress of a running job, read from the log of rank 0."""

from __future__ import annotations

import time

from ....core.progress import Reading
from ....logs.serving.progress import LogProgress
from ..supervisor.logs.log_files import FoundLog, logs_of_attempt
from ..supervisor.records.job_files import JobFiles
from ..supervisor.records.record import Record, holder_of_rank_0


class LiveProgress:
    """Follows the log of rank 0 and reads the job's progress from it.

    Parameters
    ----------
    files
        The job's directory.
    """

    def __init__(self, files: JobFiles) -> None:
        self._files = files
        self._read_at = 0.0
        self._run: tuple[str, int, int] | None = None
        self._logs: list[FoundLog] = []
        self._progress = LogProgress()

    @property
    def reading(self) -> Reading | None:
        """The newest progress; None before the log reports any."""
        return self._progress.reading

    def read(self, record: Record, interval: float) -> bool:
        """Read new lines of the log.

        Parameters
        ----------
        record
            The job's record.
        interval
            Seconds during which further calls do nothing.

        Returns
        -------
        bool
            True if the progress changed.
        """
        now = time.monotonic()
        if now - self._read_at < interval:
            return False
        self._read_at = now
        self._choose(record)
        return self._progress.read((log.id, log.path, None) for log in self._logs)

    def _choose(self, record: Record) -> None:
        """Choose the logs of global rank 0, or of the first replica while the ranks are unknown."""
        holder = holder_of_rank_0(record)
        if holder is None:
            return
        attempt = holder["attempts"][-1]
        run = (holder["name"], attempt["number"], attempt["worker_restarts"])
        if run == self._run and len(self._logs) > 0:
            return
        if run != self._run:
            self._run, self._progress = run, LogProgress()
        self._logs = [
            log
            for log in logs_of_attempt(self._files, holder["name"], attempt["number"])
            if log.source != "launcher"
            and log.local_rank in (0, None)
            and log.worker_restart == attempt["worker_restarts"]
        ]
