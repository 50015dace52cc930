"""Status of a run: from its files, its job and the time of the last change.

A run whose process was killed still says ``Running`` in its files (t9k-facts.md, Recorder: rules for readers, 5).
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..core.job import ACTIVE_PHASES, JobSummary
from ..core.translation import Text, _
from .facts import Facts
from .model import JobRef, Status

SILENT_SECONDS: Final = 30 * 60.0
"""Time for which a run without a job may write nothing before it counts as stale."""
ENDING_SECONDS: Final = 15.0
"""Time that a run may need to note its end after its job has ended."""

FRESH_SECONDS: Final = 300.0
"""Time for which event files without new data count as those of a running process."""

_JOB_STATUS: Final[dict[str, Status]] = {
    "Pending": "running",
    "Running": "running",
    "Resuming": "running",
    "Paused": "running",
    "Succeeded": "complete",
    "Failed": "error",
}
_EPOCHS: Final = ("epochs", "num_epochs", "max_epochs", "n_epochs", "num_train_epochs", "total_epochs")


@dataclass
class Jobs:
    """The jobs of this server, for the links between jobs and runs."""

    jobs: Sequence[JobSummary] = ()
    _by_id: dict[str, JobSummary] = field(default_factory=dict)
    _by_uid: dict[str, JobSummary] = field(default_factory=dict)
    _by_request: dict[str, JobSummary] = field(default_factory=dict)
    _by_name: dict[str, list[JobSummary]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for job in self.jobs:
            self._by_id[job.id] = job
            self._by_uid[job.uid] = job
            if job.request_id is not None:
                self._by_request[job.request_id] = job
            self._by_name.setdefault(job.name, []).append(job)

    def by_id(self, ident: str | None) -> JobSummary | None:
        """Return a job by its id."""
        return self._by_id.get(ident) if ident is not None else None

    def of(self, facts: Facts) -> JobSummary | None:
        """Return the job of a run: by the run's labels, or else by the pod's name as host name."""
        labels = dict(label.partition("=")[::2] for label in facts.labels)
        if uid := labels.get("job-uid"):
            return self._by_uid.get(uid)
        if request := labels.get("job-request"):
            # The job may be gone, and its name used again.
            return self._by_request.get(request)
        if name := labels.get("job"):
            return self._at(self._by_name.get(name, ()), facts.started)
        host = facts.environment.get("hostname")
        if not isinstance(host, str):
            return None
        # Pods are named <job>-<replica type>-<index>.
        match = re.match(r"(.+)-[a-z]+-\d+\Z", host)
        return self._at(self._by_name.get(match[1], ()), facts.started) if match else None

    @staticmethod
    def _at(jobs: Sequence[JobSummary], started: float | None) -> JobSummary | None:
        """Return the job that a run belongs to by its time; the newest one that was created before it."""
        before = [job for job in jobs if started is None or job.created_at <= started + 1]
        return max(before, key=lambda job: job.created_at, default=None)


def reference(job: JobSummary | None) -> JobRef | None:
    """Return how a run names its job."""
    if job is None:
        return None
    return JobRef(id=job.id, engine=job.engine, namespace=job.namespace, uid=job.uid, name=job.name)


def status_of(facts: Facts, job: JobSummary | None, written_at: float) -> Status:
    """Return the status of a run.

    Parameters
    ----------
    facts
        Facts from its files.
    job
        Its job, if that is known.
    written_at
        Time of the last change of a file of the run, in seconds since the epoch.
    """
    match facts.status:
        case "Complete":
            return "complete"
        case "Error":
            return "error"
        case "Running":
            return "stale" if _is_stale(job, written_at) else "running"
    if job is not None:
        return _JOB_STATUS.get(job.phase, "unknown")
    return "running" if facts.status == "Events" and time.time() - written_at < FRESH_SECONDS else "unknown"


def _is_stale(job: JobSummary | None, written_at: float) -> bool:
    now = time.time()
    if job is None:
        return now - written_at > SILENT_SECONDS
    return job.phase not in ACTIVE_PHASES and now - max(written_at, job.ended_at or 0.0) > ENDING_SECONDS


def sentence_of(status: Status, facts: Facts, job: JobSummary | None, epoch: float | None) -> Text:
    """Return the status as a sentence.

    Parameters
    ----------
    status
        The status.
    facts
        Facts from the files.
    job
        The run's job, if that is known.
    epoch
        The last epoch that was recorded.
    """
    match status:
        case "complete":
            return _("Complete")
        case "error":
            return _("Error")
        case "stale":
            if job is None:
                return _("Running, but nothing was recorded for a long time")
            return _("Running, but its process has gone")
        case "unknown":
            return _("Nothing new is written") if facts.status == "Events" else _("Unknown")
    if epoch is None:
        return _("Running")
    epochs = total_epochs(facts.parameters)
    if epochs is None:
        return _("Running, epoch {epoch}", epoch=f"{epoch:g}")
    return _("Running, epoch {epoch} of {epochs}", epoch=f"{epoch:g}", epochs=epochs)


def total_epochs(parameters: dict[str, Any]) -> int | None:
    """Return the number of epochs among the hyperparameters; None if there is none."""
    for name, value in parameters.items():
        if name.rpartition(".")[2].lower() in _EPOCHS and isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
