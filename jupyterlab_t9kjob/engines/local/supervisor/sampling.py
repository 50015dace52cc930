"""Keeps the process that samples the job's resources (`engines/local/sampler`) while replicas run.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ....core.system.processes import LINUX
from . import process_tree
from .records.job_files import JobFiles
from .records.record import RunPlan

SAMPLER = Path(__file__).parents[1] / "sampler" / "__main__.py"
MOST_STARTS = 5
"""A sampler that ends by itself is started again this often at most: a job without samples is better than no job."""
LEAVE_SECONDS = 1.0
"""Time that the supervisor waits for the sampler to end."""


class Sampling:
    """Starts and ends the sampler of one job.

    Parameters
    ----------
    files
        The job's directory.
    plan
        The job's plan.

    Attributes
    ----------
    pid
        Process id of the sampler; None while it does not run.
    """

    def __init__(self, files: JobFiles, plan: RunPlan) -> None:
        self._files = files
        self._uid = plan["uid"]
        self._starts = 0
        self.pid: int | None = None

    @property
    def pids(self) -> set[int]:
        """The sampler, which the end of the job does not wait for; empty while it does not run."""
        return set() if self.pid is None else {self.pid}

    def keep(self, *, running: bool) -> None:
        """Start the sampler unless it runs, or no replica is running."""
        if not running or self.pid is not None or not LINUX or self._starts >= MOST_STARTS:
            return
        self._starts += 1
        with contextlib.suppress(OSError):  # The machine has too many processes; the next call tries again.
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(SAMPLER), str(self._files.path)],
                cwd="/",
                env={process_tree.MARK: self._uid},
                stdin=subprocess.DEVNULL,
                # Safe: the supervisor has one thread, and the function only makes a system call.
                preexec_fn=process_tree.end_with_parent(),
            )
            child.returncode = 0  # The supervisor collects all children itself.
            self.pid = child.pid

    def collect(self, pid: int) -> None:
        """Note that a child has ended and was collected."""
        if pid == self.pid:
            self.pid = None

    def end(self) -> None:
        """End the sampler. One that hangs in the kernel is left behind: it must not hold up the end of the job."""
        pid = self.pid
        if pid is None:
            return
        begun = time.monotonic()
        for number, seconds in ((signal.SIGTERM, LEAVE_SECONDS / 2), (signal.SIGKILL, LEAVE_SECONDS)):
            process_tree.send([pid], number)
            while time.monotonic() < begun + seconds:
                with contextlib.suppress(ChildProcessError):
                    if os.waitpid(pid, os.WNOHANG)[0] == pid:
                        self.pid = None
                        return
                time.sleep(0.005)
