"""Reasons why nothing can be written to a disk, with texts for users.

`trouble_of` explains an `OSError`, `trouble_at` and `full_disk` check a disk before or after a write, and `told_by`
recognizes such an error in the output of a program. The supervisor of local jobs uses this module, so it needs only
the standard library.
"""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import Final, NamedTuple

from ..translation import Text, _

_LEAST_BYTES: Final = 64 * 1024
"""A disk with less free space than this counts as full."""
_LONGEST_PATH: Final = 500
_CAUSES: Final = {
    errno.ENOSPC: "DiskFull",
    errno.EDQUOT: "QuotaUsedUp",
    errno.EROFS: "DiskReadOnly",
    errno.EACCES: "NotPermitted",
    errno.EPERM: "NotPermitted",
    errno.ENOENT: "DirectoryGone",
    errno.ENOTDIR: "NotADirectory",
    errno.ETIMEDOUT: "DiskSilent",
    errno.ESTALE: "DirectoryGone",
}
_CODES: Final = {"NoInode": "DiskFull", "NotADirectory": "DirectoryGone"}
_NAMED = re.compile(r"(?:: |-> )'(/[^'\n]+)'")
_TOLD_BY_PROGRAMS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class DiskTrouble(NamedTuple):
    """Reason why nothing can be written to a directory.

    Records keep it as `_asdict` gives it.

    Attributes
    ----------
    cause
        Key of the texts: a `code`, or a more precise one, ``NoInode`` (its code is ``DiskFull``) or ``NotADirectory``
        (its code is ``DirectoryGone``).
    path
        Path that the texts name; None for a disk of which only a program's error is known.
    words
        Words of the operating system for an error without a text of its own.
    """

    cause: str
    path: str | None = None
    words: str | None = None

    @property
    def code(self) -> str:
        """``DiskFull``, ``QuotaUsedUp``, ``DiskReadOnly``, ``NotPermitted``, ``DirectoryGone`` … or ``DiskError``."""
        return _CODES.get(self.cause, self.cause)

    @property
    def sentence(self) -> Text:
        """The problem as a clause that can follow a colon, without a full stop."""
        if self.path is None:
            return _of_unknown_disk(self.cause)
        path = self.path
        match self.cause:
            case "DiskFull":
                return _("the disk that holds {path} is full", path=path)
            case "NoInode":
                return _("the disk that holds {path} can't take another file (it has no inode left)", path=path)
            case "QuotaUsedUp":
                return _("your quota on the disk that holds {path} is used up", path=path)
            case "DiskReadOnly":
                return _("the disk that holds {path} is read-only", path=path)
            case "NotPermitted":
                return _("{path} may not be written", path=path)
            case "DirectoryGone":
                return _("{path} does not exist", path=path)
            case "NotADirectory":
                return _("{path} is not a directory", path=path)
            case "DiskSilent":
                return _("the disk that holds {path} does not answer", path=path)
        if not self.words:
            return _("the disk that holds {path} has an error", path=path)
        return _("the disk that holds {path} has an error ({words})", path=path, words=self.words)

    @property
    def hint(self) -> Text:
        """Sentence that says what the user can do."""
        match self.cause:
            case "DiskFull" | "QuotaUsedUp":
                return _("Make room on it: remove jobs, runs or checkpoints that are no longer needed.")
            case "NoInode":
                return _("Remove files on it, such as jobs and runs that are no longer needed.")
            case "NotPermitted":
                return _("Check who may write there.")
            case "DirectoryGone":
                return _("Check whether it was moved, or its disk is gone.")
            case "NotADirectory":
                return _("Check which file has taken its place.")
            case "DiskSilent":
                return _("If it is a network disk, check whether its server is up.")
        return _("A disk that was writable before may have an error: ask the administrator of this machine.")


def trouble_of(error: OSError, path: Path) -> DiskTrouble:
    """Return the reason why a write failed.

    Parameters
    ----------
    error
        Answer of the operating system. A path that it names is used if that does not lie in `path`.
    path
        Directory that the write was for.
    """
    named = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else path
    elsewhere = named.is_absolute() and not named.is_relative_to(path)
    return _trouble(error.errno, named if elsewhere else path, error.strerror)


def trouble_at(path: Path) -> DiskTrouble | None:
    """Return why a directory can't be written now: its disk is full or read-only, or permission is missing."""
    try:
        disk = os.statvfs(path)
    except OSError as error:
        return _trouble(error.errno, path, error.strerror)
    if disk.f_flag & os.ST_RDONLY:
        return _trouble(errno.EROFS, path)
    if not os.access(path, os.W_OK | os.X_OK):
        return _trouble(errno.EACCES, path)
    return _trouble(errno.ENOSPC, path) if _is_full(disk) else None


def full_disk(path: Path) -> DiskTrouble | None:
    """Return the trouble of a path's disk if it is full, else None. The path need not exist."""
    try:
        return _trouble(errno.ENOSPC, path) if _is_full(os.statvfs(_existing(path))) else None
    except OSError:
        return None


def told_by(words: str) -> DiskTrouble | None:
    """Return the trouble that a program's output reports, with the path if a Python error names one."""
    for number in _TOLD_BY_PROGRAMS:
        if f"[Errno {number}]" in words or os.strerror(number) in words:
            named = _NAMED.findall(words)
            # Errors of a copy name two paths: the second is written.
            return _trouble(number, Path(named[-1])) if named else DiskTrouble(_CAUSES[number])
    return None


def no_descriptor(error: OSError) -> bool:
    """Return True if a file could not be opened because this process, or the machine, has too many open."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def no_room(error: OSError) -> bool:
    """Return True if a write failed for lack of space."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _of_unknown_disk(cause: str) -> Text:
    match cause:
        case "DiskFull":
            return _("a disk that it writes to is full")
        case "QuotaUsedUp":
            return _("your quota on a disk that it writes to is used up")
        case "DiskReadOnly":
            return _("a disk that it writes to is read-only")
    return _("a disk that it writes to has an error")


def _trouble(number: int | None, path: Path, words: str | None = None) -> DiskTrouble:
    cause = _CAUSES.get(number or 0, "DiskError")
    if cause == "DiskFull" and _lacks_inodes(path):
        cause = "NoInode"
    return DiskTrouble(cause, str(path)[:_LONGEST_PATH], words if cause == "DiskError" else None)


def _is_full(disk: os.statvfs_result) -> bool:
    # Some file systems count no inodes and say 0 of 0.
    return disk.f_bavail * disk.f_frsize < _LEAST_BYTES or (disk.f_files > 0 and disk.f_favail == 0)


def _lacks_inodes(path: Path) -> bool:
    try:
        disk = os.statvfs(_existing(path))
    except OSError:
        return False
    return disk.f_files > 0 and disk.f_favail == 0


def _existing(path: Path) -> Path:
    """Return the path, or the nearest directory above it that exists."""
    while not os.path.lexists(path) and path != path.parent:
        path = path.parent
    return path
