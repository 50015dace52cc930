"""Exclusive claims of accelerators by the local jobs of one user, granted first come, first served.

A job claims a device by locking the device's file, and a place in the queue by locking a ticket file. The system
releases both locks when the processes that hold them have ended. The guardian opens the device files before it starts
the supervisor, and a replica's main process inherits the files of its devices, so a claim lasts until the last of
these processes has ended. Locks are taken only while `queue.lock` is held, and readers take none, so no job finds a
free device locked.

The supervisor uses this module, so it needs only the standard library.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import quote

from ....core.system.locks import lock, machine_directory, try_lock, unlock
from ....core.system.processes import alive, process_id
from .records.record import RunPlan


class Wait(TypedDict):
    """Reason for which a job waits for its devices.

    Attributes
    ----------
    needs
        Number of devices that the job needs.
    free
        Number of devices that are free.
    behind
        Names of the jobs ahead of it in the queue; null for a job that has not written its name yet.
    held_by
        Names of the jobs that hold devices.
    """

    needs: int
    free: int
    behind: list[str | None]
    held_by: list[str]


class Claim:
    """The devices of one job.

    Parameters
    ----------
    plan
        The job's plan with the pool of devices.

    Raises
    ------
    OSError
        If the locks can't be opened.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._pool = plan["devices"] or {}
        self._held: list[str] = []
        self._ticket: tuple[Path, int] | None = None
        self._files: dict[str, int] = {}
        self.needed = sum(replica["devices"] for replica in plan["replicas"]) if self._pool else 0
        if self.needed:
            self._directory = claims_directory()
            self._files = {device: open_file(_file(self._directory, key)) for device, key in self._pool.items()}

    def obtain(self) -> Wait | None:
        """Claim the devices that the job needs; return None when it has them, else why it waits.

        Raises
        ------
        OSError
            If the queue can't be used, for example because its disk is full.
        """
        if not self.needed or self._held:
            return None
        with exclusive(self._directory):
            if self._ticket is None:
                self._ticket = self._take_ticket()
            ahead = self._ahead(self._ticket[0])
            free = [device for device, file in self._files.items() if lock(file)]
            granted = [] if ahead or len(free) < self.needed else free[: self.needed]
            for device in free:
                if device not in granted:
                    unlock(self._files[device])
            if not granted:
                taken = [_read(file).get("name") for device, file in self._files.items() if device not in free]
                held_by = sorted({str(name) for name in taken if name})
                return Wait(needs=self.needed, free=len(free), behind=ahead, held_by=held_by)
            # Devices are claimed in the pool's order, not in the order in which they became free.
            self._held = granted
            for device in granted:
                _sign(self._files[device], self._plan["name"])
            self._drop_ticket()
        return None

    def keep(self) -> None:
        """Touch the files, so that cleaners of temporary directories keep them."""
        for file in [*self._files.values(), *(self._ticket or ())[1:]]:
            with contextlib.suppress(OSError):
                os.utime(file)

    def devices_of(self, index: int) -> list[str] | None:
        """Return the devices of one replica; None on a machine without a pool."""
        if self._plan["devices"] is None:
            return None
        counts = [replica["devices"] for replica in self._plan["replicas"]]
        start = sum(counts[:index])
        return self._held[start : start + counts[index]]

    def files_of(self, devices: Iterable[str]) -> list[int]:
        """Return the open files whose locks are the claims of these devices."""
        return [self._files[device] for device in devices]

    def release(self) -> None:
        """Release the devices and the place in the queue."""
        for device in self._held:
            _erase(self._files[device])
            unlock(self._files[device])
        self._held = []
        self._drop_ticket()

    def _take_ticket(self) -> tuple[Path, int]:
        tickets = self._directory / "tickets"
        last = max((_number(path) for path in tickets.iterdir()), default=0)
        path = tickets / f"{last + 1:020d}-{self._plan['uid']}"
        file = open_file(path)
        lock(file)
        _write(file, {"name": self._plan["name"], "pool": list(self._pool.values())})
        return path, file

    def _drop_ticket(self) -> None:
        if self._ticket is not None:
            path, file = self._ticket
            os.close(file)
            self._ticket = None
            with contextlib.suppress(OSError):  # Otherwise the next job in the queue removes it.
                path.unlink()

    def _ahead(self, own: Path) -> list[str | None]:
        """Return the names of jobs with earlier tickets for the same devices; remove tickets of jobs that ended."""
        names: list[str | None] = []
        for path in sorted(own.parent.iterdir()):
            if path.name >= own.name:
                break
            file = open_file(path)
            if lock(file):
                path.unlink(missing_ok=True)
            else:
                ticket = _read(file)
                if not set(self._pool.values()).isdisjoint(ticket.get("pool", self._pool.values())):
                    names.append(ticket.get("name"))
            os.close(file)
        return names


def holder(key: str) -> str | None:
    """Return the name of the job that has claimed a device; None if the device is free.

    No lock is taken while the job's supervisor or guardian runs, so that no claim is disturbed.

    Parameters
    ----------
    key
        The name of the device's lock.
    """
    directory = machine_directory() / "devices"
    try:
        file = os.open(_file(directory, key), os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        claim = _read(file)
        if not claim:
            return None
        if any(alive(process) for process in claim["holders"]) or not _is_abandoned(directory, file):
            return str(claim["name"])
        return None
    finally:
        os.close(file)


def claims_directory() -> Path:
    """Return the directory of the claims; create it if it is missing.

    All servers of a user share the directory, inside and outside of login sessions.
    """
    directory = machine_directory() / "devices"
    (directory / "tickets").mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def _is_abandoned(directory: Path, file: int) -> bool:
    """Return True if no process holds a device whose supervisor and guardian ended; erase its claim then."""
    with exclusive(directory):
        if not lock(file):
            return False  # A process of the job still runs, or another job has claimed the device meanwhile.
        _erase(file)
    return True


def _sign(file: int, name: str) -> None:
    """Write the name of the job that has a device. Only people read it, so errors of the disk are ignored."""
    holders = [process_id(os.getpid()), process_id(os.getppid())]
    with contextlib.suppress(OSError):
        _write(file, {"name": name, "holders": holders})


def _erase(file: int) -> None:
    with contextlib.suppress(OSError):  # Only the lock decides whether the device is free.
        os.ftruncate(file, 0)


def _write(file: int, content: dict[str, Any]) -> None:
    data = json.dumps(content).encode()
    os.pwrite(file, data, 0)
    os.ftruncate(file, len(data))


def _read(file: int) -> dict[str, Any]:
    """Return the content of a claim or ticket; an empty dict while it is being written."""
    try:
        content = json.loads(os.pread(file, 1 << 16, 0))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _file(directory: Path, key: str) -> Path:
    return directory / f"device-{quote(key, safe='')}"


def _number(ticket: Path) -> int:
    head = ticket.name.partition("-")[0]
    return int(head) if head.isdecimal() else 0


def open_file(path: Path) -> int:
    """Open a lock file for this user alone; create it if it is missing."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


@contextlib.contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Hold the lock of a directory's queue within a ``with`` block."""
    file = try_lock(directory / "queue.lock", wait=True)
    assert file is not None  # noqa: S101 (`try_lock` waits)
    try:
        yield
    finally:
        os.close(file)
