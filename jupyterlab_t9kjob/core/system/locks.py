"""Locks that vanish with the process that holds them, and the directories of this machine that they lie in.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool]:
    """Take a lock file without waiting, give whether it could be taken, and remove it again.

    Its holder is alive exactly as long as the lock can't be taken, for the system drops it with
    the process.
    """
    descriptor = try_lock(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            path.unlink(missing_ok=True)
            os.close(descriptor)


def try_lock(path: Path, *, wait: bool = False) -> int | None:
    """Take a lock file and return its descriptor, or None if another process has it."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        if not lock(descriptor, wait=wait):
            os.close(descriptor)
            return None
        # The one who had it may have removed the file meanwhile: then it locks nothing.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        os.close(descriptor)


def lock(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file for this process and its forks; return whether it was free."""
    import fcntl  # absent on Windows, where the engine can say so but not run

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Let an open file's lock go."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def lock_path(noted: str) -> Path:
    """Return the lock whose path was noted, also where a session's end took the directory that it was made in."""
    path = Path(noted)
    return path if path.parent.is_dir() else runtime_directory() / path.name


def runtime_directory() -> Path:
    """Return a short directory of this machine for locks and sockets, only for this user.

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
    """Return the same for all processes of this user, in whatever session they are.

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
