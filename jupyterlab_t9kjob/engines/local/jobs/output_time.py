"""Time of the last output of a local job."""

from __future__ import annotations

import contextlib

from ..supervisor.logs.log_files import find_logs
from .stored_job import StoredJob


def last_output(job: StoredJob) -> float | None:
    """Return when a job last wrote to one of its logs (blocking); the start of its newest attempt before that.

    None for a job that has not started, and for one of another machine, whose files may come with a delay.
    """
    if job.record is None or job.record["outcome"]["phase"] != "Running" or job.silent_since is not None:
        return None
    times = [replica["attempts"][-1]["started_at"] for replica in job.record["replicas"] if replica["attempts"]]
    for log in find_logs(job.files):
        with contextlib.suppress(OSError):  # The file was removed in the meantime.
            times.append(log.path.stat().st_mtime)
    return max(times, default=None)
