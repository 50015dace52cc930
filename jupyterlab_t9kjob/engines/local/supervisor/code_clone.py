"""Clone of a git repository that a job waits for before it starts.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from .records.job_files import JobFiles
from .records.record import RunPlan


class CloneFailed(Exception):
    """The repository could not be cloned; `facts` are those of the outcome."""

    def __init__(self, facts: dict[str, Any]) -> None:
        super().__init__(facts)
        self.facts = facts


class CodeClone:
    """Lets a process of its own clone a job's repository (`clone_program`).

    Parameters
    ----------
    files
        The job's directory.
    plan
        The job's plan. Most jobs have no repository.
    """

    def __init__(self, files: JobFiles, plan: RunPlan) -> None:
        self._files = files
        self._uid = plan["uid"]
        self._plan = plan.get("code")
        self._error = files.path / "clone-error.json"
        self._ended = False
        self.pid: int | None = None

    def obtain(self) -> dict[str, Any] | None:
        """Return None if the code is there; otherwise facts about the clone, which is begun by the first call.

        Raises
        ------
        CloneFailed
            If the clone failed.
        OSError
            If its process can't be started.
        """
        plan = self._plan
        if plan is None or Path(plan["folder"], "files").is_dir():
            return None
        facts = {"address": plan["address"], "ref": plan["ref"], "commit": plan["commit"]}
        if self._ended:
            raise CloneFailed({**facts, "words": self._words()})
        if self.pid is None:
            self._error.unlink(missing_ok=True)
            program = Path(__file__).with_name("clone_program.py")
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(program), str(self._files.run), str(self._error)],
                cwd="/",
                env={**os.environ, "T9KJOB_UID": self._uid},
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # Without a terminal, ssh can't ask for a password.
            )
            process.returncode = 0  # The supervisor collects its children itself.
            self.pid = process.pid
        return facts

    def collect(self, pid: int) -> None:
        """Note the end of the process that clones, if an ended process is this one."""
        if pid == self.pid:
            self._ended, self.pid = True, None

    def _words(self) -> str:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return str(json.loads(self._error.read_bytes())["words"])
        return ""
