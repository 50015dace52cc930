"""Claims of accelerators among the local jobs of one user: exclusive, in order, no overtaking.

A device is claimed by locking its file, a place in the queue by locking a ticket; both vanish with
the processes that hold them. The guardian opens the devices' files before it starts the supervisor,
and a replica's main process inherits those of its devices: so a claim outlives whoever is killed,
until the job's processes are gone as well. Locks are taken only while `queue.lock` is held, and
whoever merely looks takes none, so no job ever finds a device taken that is free.
Standard library only.
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
from .record import RunPlan

_TOLD = 2
"""Names of jobs that a sentence gives; the rest is counted."""


class Wait(TypedDict):
    """Why a job has not got its devices yet: how many jobs are ahead, and in words which, and who has the devices."""

    needs: int
    free: int
    ahead: int
    words: str
    holders: str


class Claim:
    """The devices of one job.

    Parameters
    ----------
    plan
        The job's plan; its `devices` say what the pool is.

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
            self._files = {device: _open(_file(self._directory, key)) for device, key in self._pool.items()}

    def obtain(self) -> Wait | None:
        """Claim what the job needs; return None when it has it, else what it waits for.

        Raises
        ------
        OSError
            If the queue can't be used: its disk is full, say.
        """
        if not self.needed or self._held:
            return None
        with _exclusive(self._directory):
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
                return _wait(self.needed, len(free), ahead, [str(name) for name in taken if name])
            # In the pool's order, whichever came free first.
            self._held = granted
            for device in granted:
                _sign(self._files[device], self._plan["name"])
            self._drop_ticket()
        return None

    def keep(self) -> None:
        """Show that the files are in use, to what cleans temporary directories of old ones."""
        for file in [*self._files.values(), *(self._ticket or ())[1:]]:
            with contextlib.suppress(OSError):
                os.utime(file)

    def devices_of(self, index: int) -> list[str] | None:
        """Return the devices of one replica; None where this machine has none to share out."""
        if self._plan["devices"] is None:
            return None
        counts = [replica["devices"] for replica in self._plan["replicas"]]
        start = sum(counts[:index])
        return self._held[start : start + counts[index]]

    def files_of(self, devices: Iterable[str]) -> list[int]:
        """Return the open files whose locks are the claims of these devices."""
        return [self._files[device] for device in devices]

    def release(self) -> None:
        """Give the devices, or the place in the queue, back."""
        for device in self._held:
            _erase(self._files[device])
            unlock(self._files[device])
        self._held = []
        self._drop_ticket()

    def _take_ticket(self) -> tuple[Path, int]:
        tickets = self._directory / "tickets"
        last = max((_number(path) for path in tickets.iterdir()), default=0)
        path = tickets / f"{last + 1:020d}-{self._plan['uid']}"
        file = _open(path)
        lock(file)
        _write(file, {"name": self._plan["name"], "pool": list(self._pool.values())})
        return path, file

    def _drop_ticket(self) -> None:
        if self._ticket is not None:
            path, file = self._ticket
            os.close(file)
            self._ticket = None
            with contextlib.suppress(OSError):  # else the next in the queue removes it
                path.unlink()

    def _ahead(self, own: Path) -> list[str]:
        """Name the living jobs with tickets before ours that want what we want; tickets of the dead are removed."""
        names = []
        for path in sorted(own.parent.iterdir()):
            if path.name >= own.name:
                break
            file = _open(path)
            if lock(file):
                path.unlink(missing_ok=True)
            else:
                ticket = _read(file)
                if not set(self._pool.values()).isdisjoint(ticket.get("pool", self._pool.values())):
                    names.append(str(ticket.get("name", "another job")))
            os.close(file)
        return names


def holder(key: str) -> str | None:
    """Return the name of the job that has claimed a device; None if it is free.

    Takes no lock unless the job's processes died, so it is in nobody's way.

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
        if any(alive(one) for one in claim["holders"]) or not _left_behind(directory, file):
            return str(claim["name"])
        return None
    finally:
        os.close(file)


def claims_directory() -> Path:
    """Return the directory of the claims, made if missing.

    It is the same for all servers of a user, also for one outside of the login session.
    """
    directory = machine_directory() / "devices"
    (directory / "tickets").mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def _left_behind(directory: Path, file: int) -> bool:
    """Return whether nobody holds a device whose claimants died; what they wrote is removed then."""
    with _exclusive(directory):
        if not lock(file):
            return False  # by a process of the job that has not ended yet, or by another job meanwhile
        _erase(file)
    return True


def _sign(file: int, name: str) -> None:
    """Write who has a device; only for people, so a full disk lets it pass."""
    holders = [process_id(os.getpid()), process_id(os.getppid())]
    with contextlib.suppress(OSError):
        _write(file, {"name": name, "holders": holders})


def _erase(file: int) -> None:
    with contextlib.suppress(OSError):  # its lock is what counts
        os.ftruncate(file, 0)


def _write(file: int, content: dict[str, Any]) -> None:
    data = json.dumps(content).encode()
    os.pwrite(file, data, 0)
    os.ftruncate(file, len(data))


def _read(file: int) -> dict[str, Any]:
    """Read what `_write` wrote; nothing if it is being written now."""
    try:
        content = json.loads(os.pread(file, 1 << 16, 0))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _wait(needed: int, free: int, ahead: list[str], holders: list[str]) -> Wait:
    words = f"Needs {needed} GPU{'s' * (needed != 1)}, {free} {'is' if free == 1 else 'are'} free"
    if ahead:
        words += f"; {_names(ahead)} {'is' if len(ahead) == 1 else 'are'} ahead"
    return Wait(needs=needed, free=free, ahead=len(ahead), words=words, holders=_names(sorted(set(holders))))


def _names(names: list[str]) -> str:
    if len(names) > _TOLD:
        return f"{', '.join(names[:_TOLD])} and {len(names) - _TOLD} more"
    return " and ".join(names)


def _file(directory: Path, key: str) -> Path:
    return directory / f"device-{quote(key, safe='')}"


def _number(ticket: Path) -> int:
    head = ticket.name.partition("-")[0]
    return int(head) if head.isdecimal() else 0


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)


@contextlib.contextmanager
def _exclusive(directory: Path) -> Iterator[None]:
    file = try_lock(directory / "queue.lock", wait=True)
    assert file is not None  # noqa: S101 (it was waited for)
    try:
        yield
    finally:
        os.close(file)
