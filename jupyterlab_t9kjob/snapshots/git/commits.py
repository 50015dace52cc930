"""Reads facts about a commit with the git program: commit, branch, files and their contents.

The contents of working files are compared here and not by ``git status``, which may run filters.
"""

from __future__ import annotations

from pathlib import Path

from ...core.code.model import MOST_BRANCH, Commit
from ...core.system.local_git import git
from ..hashes import FileHash, StoredFile


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
