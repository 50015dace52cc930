"""Claims of accelerators among the local jobs of one user: exclusive, in order, no overtaking.

A device is claimed by locking its file, a place in the queue by locking a ticket; both vanish with
the process that holds them. The guardian opens the devices' files before it starts the supervisor,
so that a claim outlives a supervisor that is killed until the job's processes are gone as well.
Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict
from urllib.parse import quote

from .record import RunPlan, lock, unlock


class Wait(TypedDict):
    """Why a job has not got its devices yet."""

    needs: int
    free: int
    ahead: int
    words: str


class Claim:
    """The devices of one job.

    Parameters
    ----------
    plan
        The job's plan; its `devices` say where the locks are and what the pool is.
    """

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._held: list[str] = []
        self._ticket: tuple[Path, int] | None = None
        self._files: dict[str, int] = {}
        self.needed = sum(replica["devices"] for replica in plan["replicas"])
        if plan["devices"] is not None and self.needed:
            self._directory = Path(plan["devices"]["directory"])
            (self._directory / "tickets").mkdir(mode=0o700, parents=True, exist_ok=True)
            for device in plan["devices"]["pool"]:
                self._files[device] = _open(device_file(self._directory, device))

    def obtain(self) -> Wait | None:
        """Claim what the job needs; return None when it has it, else what it waits for."""
        if not self.needed or self._held:
            return None
        with _exclusive(self._directory / "queue.lock"):
            if self._ticket is None:
                self._ticket = self._take_ticket()
            ahead = self._ahead(self._ticket[0])
            free = [device for device, file in self._files.items() if lock(file)]
            if ahead or len(free) < self.needed:
                for device in free:
                    unlock(self._files[device])
                return _wait(self.needed, len(free), ahead)
            for device in free[self.needed :]:
                unlock(self._files[device])
            self._held = free[: self.needed]
            for device in self._held:
                os.ftruncate(self._files[device], 0)
                os.pwrite(self._files[device], self._plan["name"].encode(), 0)
            self._drop_ticket()
        return None

    def devices_of(self, index: int) -> list[str] | None:
        """Return the devices of one replica; None where this machine has none to share out."""
        if self._plan["devices"] is None:
            return None
        counts = [replica["devices"] for replica in self._plan["replicas"]]
        start = sum(counts[:index])
        return self._held[start : start + counts[index]]

    def release(self) -> None:
        """Give the devices, or the place in the queue, back."""
        for device in self._held:
            unlock(self._files[device])
        self._held = []
        self._drop_ticket()

    def _take_ticket(self) -> tuple[Path, int]:
        path = self._directory / "tickets" / f"{time.time_ns():020d}-{self._plan['uid']}"
        file = _open(path)
        lock(file)
        return path, file

    def _drop_ticket(self) -> None:
        if self._ticket is not None:
            path, file = self._ticket
            path.unlink(missing_ok=True)
            os.close(file)
            self._ticket = None

    def _ahead(self, own: Path) -> int:
        """Count the tickets before ours whose holders live; those of the dead are removed."""
        count = 0
        for path in sorted(own.parent.iterdir()):
            if path == own:
                break
            file = _open(path)
            if lock(file):
                path.unlink()
            else:
                count += 1
            os.close(file)
        return count


def device_file(directory: Path, device: str) -> Path:
    """Return the file whose lock is the claim of a device."""
    return directory / f"device-{quote(device, safe='')}"


def holder(directory: Path, device: str) -> str | None:
    """Return the name of the job that has claimed a device; None if it is free."""
    path = device_file(directory, device)
    if not path.exists():
        return None
    file = _open(path)
    try:
        return None if lock(file) else os.pread(file, 256, 0).decode(errors="replace")
    finally:
        os.close(file)


def _wait(needed: int, free: int, ahead: int) -> Wait:
    is_free = f"{free} {'is' if free == 1 else 'are'} free"
    words = f"Needs {needed} GPU{'s' * (needed != 1)}, {is_free}"
    if ahead:
        words += f", {ahead} job{'s are' if ahead > 1 else ' is'} ahead"
    return Wait(needs=needed, free=free, ahead=ahead, words=words)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


@contextlib.contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    file = _open(path)
    try:
        lock(file, wait=True)
        yield
    finally:
        os.close(file)
