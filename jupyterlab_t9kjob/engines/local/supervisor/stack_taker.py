"""Takes the stacks of a job's ranks when the server asks for them.

The server writes a request into the job's directory; a child of the supervisor carries it out and writes the answer.
The child descends from the supervisor, which the ranks can name as a permitted tracer where Linux's Yama protects them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

from .records.job_files import JobFiles
from .records.record_keeper import log

REQUEST, ANSWER = "stacks.request", "stacks.answer"
_PROGRAM = Path(__file__).resolve().parents[3] / "core" / "stacks" / "taker.py"


class StackTaker:
    """Carries out requests for stacks, one at a time.

    Parameters
    ----------
    files
        The job's directory.
    uid
        The job's uid.
    """

    def __init__(self, files: JobFiles, uid: str) -> None:
        self._request = files.path / REQUEST
        self._answer = files.path / ANSWER
        self._uid = uid
        self._child: int | None = None
        self._failed = -1  # Time of a request that failed and could perhaps not be removed.

    def obey(self) -> None:
        """Start to take stacks if the server has asked for them."""
        if self._child is not None:
            return
        try:
            written = self._request.stat().st_mtime_ns
        except OSError:  # There is no request, or the user took away the rights to the directory.
            return
        if written == self._failed:
            return
        try:
            request = json.loads(self._request.read_bytes())
            self._request.unlink()
            self._start(request if isinstance(request, dict) else {})
        except (OSError, ValueError) as error:  # The server gives up after a while and says so.
            self._failed = written
            log(f"the stacks could not be taken: {error}")
            with contextlib.suppress(OSError):
                self._request.unlink()

    def _start(self, request: dict[str, object]) -> None:
        request |= {"uid": self._uid, "output": str(self._answer)}
        # The request is small enough for the buffer of a pipe, so writing it waits for nobody.
        reading, writing = os.pipe()
        try:
            os.write(writing, json.dumps(request).encode()[:4096] + b"\n")
            child = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=reading,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        finally:
            os.close(reading)
            os.close(writing)
        child.returncode = 0  # The supervisor collects all children itself.
        self._child = child.pid

    def collect(self, pid: int) -> None:
        """Note that a child has ended."""
        if pid == self._child:
            self._child = None
