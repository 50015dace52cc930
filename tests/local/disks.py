"""Small disks that can be filled, made read-only and taken away: needs the right to mount."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
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


_MNT_DETACH = 2


@dataclass
class HungDisk:
    """A file system that answers nothing, as a network disk does whose server is gone."""

    path: Path
    _device: int | None

    def answer(self) -> None:
        """Answer all requests, also those that wait: with an error, as a disk that was taken away."""
        if self._device is not None:
            os.close(self._device)
            self._device = None


@contextlib.contextmanager
def hung_disk(path: Path) -> Iterator[HungDisk]:
    """Mount a disk that answers nothing on a folder, which is made if it is not there.

    It is FUSE without a daemon: the kernel waits for whoever has opened the device.
    """
    path.mkdir(exist_ok=True)
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        pytest.skip(f"/dev/fuse: {error.strerror}")
    libc = ctypes.CDLL(None, use_errno=True)
    options = f"fd={device},rootmode=40755,user_id={os.getuid()},group_id={os.getgid()}"
    if libc.mount(b"hung", os.fsencode(path), b"fuse", 0, options.encode()):
        os.close(device)
        pytest.skip(f"mount: {os.strerror(ctypes.get_errno())}")
    disk = HungDisk(path, device)
    try:
        yield disk
    finally:
        disk.answer()
        libc.umount2(os.fsencode(path), _MNT_DETACH)
