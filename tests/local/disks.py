"""Small disks that can be filled, made read-only and taken away: needs the right to mount."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Disk:
    """A file system of its own, in memory."""

    path: Path

    def fill(self) -> None:
        """Take all its space."""
        with (self.path / "ballast").open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"\0" * size)

    def fill_inodes(self) -> None:
        """Take all its inodes."""
        with contextlib.suppress(OSError):
            for number in itertools.count():
                (self.path / f"ballast-{number}").touch()

    def free(self) -> None:
        """Give back what `fill` and `fill_inodes` took."""
        for ballast in self.path.glob("ballast*"):
            ballast.unlink()


def mount(*arguments: str) -> None:
    """Mount something; skip the test where that is not allowed."""
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mount: {done.stderr.strip()}")


def unmount(path: Path) -> None:
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@contextlib.contextmanager
def small_disk(path: Path, *, size: str = "2m", inodes: int = 200) -> Iterator[Disk]:
    path.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size},nr_inodes={inodes},mode=700", "tmpfs", str(path))
    try:
        yield Disk(path)
    finally:
        unmount(path)


@contextlib.contextmanager
def read_only(path: Path) -> Iterator[None]:
    """Let whoever opens something below `path` from now on find a read-only disk."""
    aside = tempfile.mkdtemp()
    mount("--bind", str(path), aside)
    try:
        mount("--make-private", aside)  # else what is mounted on the one shows on the other
        # Aside, since a file that is open for writing would refuse it; a bind of it is read-only as well.
        mount("-o", "remount,bind,ro", aside)
        mount("--bind", aside, str(path))
    finally:
        unmount(Path(aside))
        Path(aside).rmdir()
    try:
        yield
    finally:
        unmount(path)
