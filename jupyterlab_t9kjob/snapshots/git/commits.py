"""Reads facts about a commit with the git program: commit, branch, files and their contents.

Only commands that run neither hooks nor filters nor helpers are used: a repository that came in an archive may
configure any of them. The contents of working files are therefore compared here and not by ``git status``.
"""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path
from typing import Final

from ...core.code.model import MOST_BRANCH, Commit
from ..hashes import FileHash, StoredFile

MOST_SECONDS: Final = 10.0
_MOST_TREE: Final = 32 * 1024 * 1024
"""Largest list of a commit's files, in bytes; a larger one is not read."""
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


def git(folder: Path, *arguments: str, most: int = _MOST_TREE) -> bytes | None:
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


def head_of(folder: Path) -> Commit | None:
    """Return the commit that is checked out; None without git, without a repository, or before the first commit."""
    answer = git(folder, "log", "-1", "--no-show-signature", "--format=%H%x00%s", "HEAD", "--")
    if answer is None:
        return None
    ident, _separator, subject = answer.decode("utf-8", "replace").rstrip("\n").partition("\0")
    branch = git(folder, "symbolic-ref", "--quiet", "--short", "HEAD")
    name = branch.decode("utf-8", "replace").strip() if branch else ""
    return Commit(
        id=ident, branch=name if 0 < len(name) <= MOST_BRANCH else None, subject=subject.replace("\0", "")[:500]
    )


def blobs_of(folder: Path, commit: str) -> dict[str, str] | None:
    """Return the ids of the blobs of a folder in a commit, by their paths relative to the folder; None if unknown.

    Parameters
    ----------
    folder
        A folder in the repository.
    commit
        Id of the commit.
    """
    answer = git(folder, "ls-tree", "-r", "-z", commit, "--", ".")
    if answer is None:
        return None
    found = {}
    for line in answer.decode("utf-8", "surrogateescape").split("\0"):
        facts, _tab, path = line.partition("\t")
        parts = facts.split()
        if len(parts) == 3 and parts[1] == "blob":
            found[path] = parts[2]
    return found


def contents(folder: Path, blob: str, most: int) -> bytes | None:
    """Return the content of a blob as it was committed; None if it is unknown or larger than `most` bytes.

    Parameters
    ----------
    folder
        A folder in the repository.
    blob
        Id of the blob.
    most
        Largest size, in bytes.
    """
    return git(folder, "cat-file", "blob", blob, most=most)


def files_of(folder: Path, commit: str) -> list[StoredFile] | None:
    """Return the files of a commit, sorted by path; None if the repository lacks it. Submodules are left out.

    Parameters
    ----------
    folder
        A folder in the repository.
    commit
        Id of the commit.
    """
    answer = git(folder, "ls-tree", "-r", "-l", "-z", commit, "--")
    if answer is None:
        return None
    found = []
    for line in answer.decode("utf-8", "surrogateescape").split("\0"):
        facts, _tab, path = line.partition("\t")
        parts = facts.split()
        if len(parts) != 4 or parts[1] != "blob" or not _is_plain(path):
            continue
        mode, blob, size = parts[0], parts[2], int(parts[3])
        target = None
        if mode == "120000":
            target = (contents(folder, blob, 4096) or b"").decode("utf-8", "replace")
        found.append(StoredFile(path, size, mode == "100755", FileHash("", blob), target))
    return sorted(found, key=lambda file: file.path)


def _is_plain(path: str) -> bool:
    """Return True for a name that is inside any folder: a commit from elsewhere may have any."""
    return bool(path) and not path.startswith("/") and not {"..", ".git"} & set(path.split("/")) and path.isprintable()
