"""What is wrong with a disk, in words. Standard library only: the supervisor uses it."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path
from typing import NamedTuple

_LEAST_BYTES = 64 * 1024
"""A disk with less than this counts as full."""
_MAKE_ROOM = "Make room on it: remove jobs, runs or checkpoints that are no longer needed."
_ASK = "A disk that was writable before may have an error: ask whoever looks after this machine."
# errno: code, sentence about {disk} or {path}, hint
_KNOWN = {
    errno.ENOSPC: ("DiskFull", "{disk} is full", _MAKE_ROOM),
    errno.EDQUOT: ("QuotaUsedUp", "your quota on {disk} is used up", _MAKE_ROOM),
    errno.EROFS: ("DiskReadOnly", "{disk} is read-only", _ASK),
    errno.EACCES: ("NotPermitted", "{path} may not be written", "See who may write there."),
    errno.EPERM: ("NotPermitted", "{path} may not be written", "See who may write there."),
    errno.ENOENT: ("DirectoryGone", "{path} is not there", "See whether it was moved, or its disk is gone."),
    errno.ENOTDIR: ("DirectoryGone", "{path} is no directory", "See what is there in its place."),
    errno.ETIMEDOUT: ("DiskSilent", "{disk} does not answer", "If it is a network disk, see whether its server is up."),
    errno.ESTALE: ("DirectoryGone", "{path} is not there", "See whether it was moved, or its disk is gone."),
}
SOME_DISK = "a disk that it writes to"
_NAMED = re.compile(r"(?:: |-> )'(/[^'\n]+)'")
_NO_INODE = "{disk} can't take another file (it has no inode left)"
_REMOVE_FILES = "Remove files on it, such as jobs and runs that are no longer needed."
_TOLD_BY_PROGRAMS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class DiskTrouble(NamedTuple):
    """Why nothing can be written at a place.

    Attributes
    ----------
    code
        For programs: ``DiskFull``, ``QuotaUsedUp``, ``DiskReadOnly``, ``NotPermitted``,
        ``DirectoryGone`` or ``DiskError``.
    sentence
        What is wrong; it can follow a colon and has no full stop.
    hint
        What to do.
    """

    code: str
    sentence: str
    hint: str


def trouble_of(error: OSError, path: Path) -> DiskTrouble:
    """Say why a write failed.

    Parameters
    ----------
    error
        What the system answered; a path that it names counts if it does not lie in `path`.
    path
        Directory that was to be written in.
    """
    named = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else path
    elsewhere = named.is_absolute() and not named.is_relative_to(path)
    return _trouble(error.errno, named if elsewhere else path, error.strerror)


def trouble_at(path: Path) -> DiskTrouble | None:
    """Look whether a directory's disk is full or read-only, or the directory may not be written."""
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
    """Look whether the disk is full that holds a path, which need not exist."""
    try:
        return _trouble(errno.ENOSPC, path) if _is_full(os.statvfs(_existing(path))) else None
    except OSError:
        return None


def told_by(words: str) -> DiskTrouble | None:
    """Return the trouble that a program's last words tell of, with the path if Python's words name one."""
    for number in _TOLD_BY_PROGRAMS:
        if f"[Errno {number}]" in words or os.strerror(number) in words:
            named = _NAMED.findall(words)
            if named:
                return _trouble(number, Path(named[-1]))  # of a copy the second is written
            code, sentence, hint = _KNOWN[number]
            return DiskTrouble(code, sentence.format(disk=SOME_DISK), hint)
    return None


def no_descriptor(error: OSError) -> bool:
    """Return whether a file could not be opened because this process, or the machine, has too many open."""
    return error.errno in (errno.EMFILE, errno.ENFILE)


def no_room(error: OSError) -> bool:
    """Return whether a write failed for lack of space."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def _trouble(number: int | None, path: Path, words: str | None = None) -> DiskTrouble:
    unknown = ("DiskError", f"{{disk}} has an error ({words})", _ASK)
    code, sentence, hint = _KNOWN.get(number or 0, unknown)
    if number == errno.ENOSPC and _lacks_inodes(path):
        sentence, hint = _NO_INODE, _REMOVE_FILES
    shown = str(path)[:500]
    return DiskTrouble(code, sentence.format(disk=f"the disk that holds {shown}", path=shown), hint)


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
