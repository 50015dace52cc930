"""Runs git commands that read a repository of the user.

Only commands that run neither hooks nor filters nor helpers are used: a repository that came in an archive may
configure any of them.
"""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Final

MOST_SECONDS: Final = 10.0
_MOST_OUTPUT: Final = 32 * 1024 * 1024
"""Largest output, such as a list of files, in bytes; a larger one is not read."""
_SAFE: Final = (
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never",
    "-c", "core.pager=cat", "-c", "core.attributesFile=/dev/null",
)  # fmt: skip
_ENVIRONMENT: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}


def git(folder: Path, *arguments: str, most: int = _MOST_OUTPUT) -> bytes | None:
    """Return the output of a git command; None if git is missing, fails, or takes too long (blocking).

    Parameters
    ----------
    folder
        Folder in which git runs.
    arguments
        Command and arguments.
    most
        Largest output in bytes; git is ended once it writes more.
    """
    process = start(folder, *arguments)
    if process is None:
        return None
    clock = threading.Timer(MOST_SECONDS, process.kill)
    clock.daemon = True
    clock.start()
    with process:
        try:
            assert process.stdout is not None  # noqa: S101
            output = process.stdout.read(most + 1)
            if len(output) > most:
                process.kill()
        finally:
            clock.cancel()
    return output if process.returncode == 0 and len(output) <= most else None


def start(folder: Path, *arguments: str, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes] | None:
    """Start a git command that runs nothing which the repository configures; None if git is missing.

    Parameters
    ----------
    folder
        Folder in which git runs.
    arguments
        Command and arguments.
    stdin
        Standard input of git: `subprocess.DEVNULL` or `subprocess.PIPE`.
    """
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")} | _ENVIRONMENT
    try:
        return subprocess.Popen(
            ["git", *_SAFE, *arguments],  # noqa: S607
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
