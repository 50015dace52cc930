"""Writes the record and the events of a running job, and tries again while the disk takes no writing.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping
from typing import Any

from .....core.system.disk import trouble_of
from .job_files import JobFiles
from .record import Outcome, Phase, Record

RETRY_SECONDS = 1.0
"""Time between two attempts to write the record."""


class RecordKeeper:
    """Writes a job's record and events.

    Parameters
    ----------
    files
        The job's directory.
    record
        The job's state, which the supervisor changes.

    Attributes
    ----------
    unsaved
        True if the record has changed since it was written.
    retry_at
        When the next attempt to write is due after one has failed, by the monotonic clock.
    """

    def __init__(self, files: JobFiles, record: Record) -> None:
        self.unsaved = False
        self.retry_at = 0.0
        self._files = files
        self._record = record
        self._trouble: str | None = None

    def become(self, phase: Phase, code: str, facts: dict[str, Any] | None = None) -> None:
        """Record a new phase of the active job, with an event of the same code and facts.

        Parameters
        ----------
        phase
            The phase.
        code
            Code of its reason.
        facts
            Facts from which the texts of reason and event are made.
        """
        self._record["outcome"] = Outcome(phase=phase, code=code, facts=facts or {}, ended_by=None)
        self.add_event(code, facts)
        self.save()

    def add_event(
        self, code: str, facts: Mapping[str, Any] | None = None, *, replica: str | None = None, warning: bool = False
    ) -> None:
        """Add an event; an event that can't be written now is written later.

        The parameters are those of `JobFiles.add_event`.
        """
        try:
            self._files.add_event(code, facts, replica=replica, warning=warning)
        except OSError as error:
            self.report(error)

    def save(self) -> None:
        """Write the record, or leave it to the next attempt."""
        try:
            self._files.write_record(self._record)
            self.unsaved = False
            self._files.write_events()
        except OSError as error:
            self.unsaved = True
            self.report(error)
            return
        if self._trouble is not None:
            self._trouble = None
            log("the record can be written again")

    def save_if_due(self) -> None:
        """Write the record if it has changed, or could not be written before and the next attempt is due."""
        if (self.unsaved or self._trouble) and time.monotonic() >= self.retry_at:
            self.save()

    def report(self, error: OSError) -> None:
        """Report an error of the disk, once until the record can be written again."""
        self.retry_at = time.monotonic() + RETRY_SECONDS
        if self._trouble is None:
            trouble = trouble_of(error, self._files.path)
            self._trouble = trouble.sentence
            log(f"the record can't be written: {trouble.sentence}")
            self.add_event(trouble.code, {"disk": trouble._asdict()}, warning=True)


def log(message: str) -> None:
    """Write a line to `supervisor.log`, unless the disk is full."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {message}\n")
        sys.stderr.flush()
