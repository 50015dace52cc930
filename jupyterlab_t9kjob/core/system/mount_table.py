"""Finds the mount that holds a path, from the kernel's mount table and without access to the disks of other mounts.

Any access to a folder on a network disk whose server is gone blocks, also `os.path.ismount`. The kernel keeps the mount
table in memory.
"""

from __future__ import annotations

import os
import re
import select
import threading
from pathlib import Path
from typing import NamedTuple

MOUNT_TABLE = "/proc/self/mountinfo"
"""Fields by ``proc_pid_mountinfo(5)``: mount id, parent's id, device, root, mount point, …"""
_MOST_LINKS = 40  # The kernel's own limit, see path_resolution(7).
_ESCAPED = re.compile(rb"\\([0-7]{3})")


class Mount(NamedTuple):
    """One mount.

    Attributes
    ----------
    ident
        The kernel's id. A new mount at the same path has another id.
    point
        Path of the mount point.
    """

    ident: int
    point: str


class Followed(NamedTuple):
    """State of following a path.

    Attributes
    ----------
    real
        Path without links so far; it need not exist.
    rest
        Names that are still to be followed from there.
    links
        Number of links that were followed.
    """

    real: str
    rest: list[str]
    links: int = 0


class MountTable:
    """The mount table of this process. Without a kernel's table (macOS), all paths lie on one mount."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        self._changes = select.poll() if hasattr(select, "poll") else None
        self._top = Mount(0, "/")
        self._below: dict[tuple[int, str], Mount] = {}
        self._version = 0

    @property
    def version(self) -> int:
        """Number that changes with each change of the table."""
        with self._lock:
            self._refresh()
            return self._version

    def holding(self, path: str) -> Mount:
        """Return the mount that holds an absolute path without links and dots."""
        with self._lock:
            self._refresh()
            mount, point = self._top, ""
            for name in filter(None, path.split("/")):
                point += f"/{name}"
                while (found := self._below.get((mount.ident, point))) is not None:
                    mount = found  # Several mounts may have the same mount point.
            return mount

    def follow(self, there: Followed) -> Followed:
        """Follow names, and their links, up to the next mount (blocking)."""
        real, rest, links = there.real, list(there.rest), there.links
        mount = self.holding(real)
        while rest:
            name = rest.pop(0)
            step = real.rpartition("/")[0] if name == ".." else f"{real}/{name}"
            if self.holding(step) != mount:
                return Followed(step, rest, links)
            target = None if name == ".." else _link_at(step)
            if target is None:
                real = step
                continue
            links += 1
            if links > _MOST_LINKS:
                return Followed("/".join([step, *rest]), [], links)
            rest = [part for part in target.split("/") if part not in ("", ".")] + rest
            if target.startswith("/"):
                real = ""
                if self.holding(real) != mount:
                    return Followed(real, rest, links)
        return Followed(real, [], links)

    def _refresh(self) -> None:
        """Read the table again if the kernel reports a change, see ``proc_pid_mounts(5)``."""
        if self._descriptor is None:
            try:
                self._descriptor = os.open(MOUNT_TABLE, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return
            if self._changes is not None:
                self._changes.register(self._descriptor, select.POLLERR | select.POLLPRI)
        elif self._changes is not None and not self._changes.poll(0):
            return
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        data = b""
        while piece := os.read(self._descriptor, 1 << 16):
            data += piece
        self._read(data)

    def _read(self, data: bytes) -> None:
        self._version += 1
        below: dict[tuple[int, str], Mount] = {}
        tops: list[tuple[int, Mount]] = []
        for line in data.splitlines():
            ident, parent, _device, _root, point = line.split(b" ", 5)[:5]
            mount = Mount(int(ident), os.fsdecode(_ESCAPED.sub(lambda found: bytes([int(found[1], 8)]), point)))
            if mount.point == "/":
                tops.append((int(parent), mount))
            else:
                below[int(parent), mount.point] = mount
        self._below = below
        if tops:  # The last mount at the root hides the others.
            self._top = tops[-1][1]


def _link_at(path: str) -> str | None:
    """Return the target of a link; None if the path is no link."""
    try:
        return str(Path(path).readlink())
    except (OSError, ValueError):  # No link, a missing file, or no valid path.
        return None
