"""Locks between processes, and the directories of this machine for lock files.

The system releases a lock when its process ends. The supervisor of local jobs uses this module, so it needs only the
standard library.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold a lock file within a ``with`` block; the value is False if another process holds it.

    The lock is not waited for, and its file is removed at the end of the block. A lock that is held means that its
    process is alive, since the system releases it when the process ends.
    """
    descriptor = try_lock(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            path.unlink(missing_ok=True)
            os.close(descriptor)


def try_lock(path: Path, *, wait: bool = False) -> int | None:
    """Take a lock file and return its descriptor; None if another process holds the lock.

    Parameters
    ----------
    path
        The lock file; it is created if it is missing.
    wait
        Wait until the lock is free.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if not lock(descriptor, wait=wait):
            os.close(descriptor)
            return None
        # The previous holder may have removed the file meanwhile: a lock of a removed file excludes no one.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


def lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process and its forks; return False if another process holds the lock.

    Parameters
    ----------
    descriptor
        The open file.
    wait
        Wait until the lock is free.
    """
    import fcntl  # Windows has no such module; the engine must be importable there to say that it is unavailable.

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Release the lock of an open file."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def lock_path(noted: str) -> Path:
    """Return the path of a lock file from a record; the end of a login session may have removed its directory."""
    path = Path(noted)
    return path if path.parent.is_dir() else runtime_directory() / path.name


def runtime_directory() -> Path:
    """Return a private directory of this user on this machine for locks and sockets, with a short path.

    Raises
    ------
    PermissionError
        If another user made a directory of that name first.
    """
    base = os.environ.get("XDG_RUNTIME_DIR")
    if base and Path(base).is_dir() and os.access(base, os.W_OK):
        return _private(Path(base) / "t9kjob")
    return machine_directory()


def machine_directory() -> Path:
    """Return a private directory of this user on this machine, the same inside and outside of login sessions.

    Raises
    ------
    PermissionError
        If another user made a directory of that name first.
    """
    return _private(Path("/tmp") / f"t9kjob-{os.getuid()}")  # noqa: S108 (owner and mode are checked)


def _private(path: Path) -> Path:
    path.mkdir(mode=0o700, exist_ok=True)
    found = path.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or path.is_symlink():
        raise PermissionError(f"{path} belongs to somebody else or is open to others")
    return path
