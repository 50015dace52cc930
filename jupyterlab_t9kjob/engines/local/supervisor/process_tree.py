"""Finds and ends the processes of a job.

A job's processes descend from its supervisor or carry its mark, an environment variable with the job's uid. Linux
lists them below ``/proc``, macOS through ``ps``. The supervisor uses this module, so it needs only the standard
library.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Iterable
from typing import TypedDict

from ....core.system.processes import LINUX, PROC, ProcessId, alive, is_dead, output_of, process_id, stat_of

MARK = "T9KJOB_UID"
"""Environment variable with the uid of the job that a process belongs to."""
REPLICA_MARK = "T9KJOB_REPLICA"
"""Environment variable with the name of the replica that a process belongs to."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Killed(TypedDict):
    """Processes that did not end within the grace period (seconds) after SIGTERM, so that they were killed."""

    count: int
    grace_seconds: float


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    if LINUX:
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> Callable[[], None]:
    """Return a function for a child to call before exec: it makes the kernel send SIGTERM when the parent dies."""
    if not LINUX:
        return lambda: None
    libc = _libc()  # Loaded before the fork, since nothing may be allocated after it.
    return lambda: libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)


def descendants(root: int) -> set[int]:
    """Return the living processes below `root`, itself excluded."""
    children: dict[int, list[int]] = {}
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found: set[int] = set()
    waiting = [root]
    while waiting:
        for pid in children.get(waiting.pop(), ()):
            if pid not in found:
                found.add(pid)
                waiting.append(pid)
    return found


def children(root: int) -> set[int]:
    """Return the processes whose parent is `root`; none where the kernel does not list them (macOS)."""
    try:
        return set(map(int, (PROC / str(root) / "task" / str(root) / "children").read_text().split()))
    except OSError:
        return set()


def marked(uid: str, replica: str | None = None) -> set[int]:
    """Return the living processes of a job by their marks, this process excluded.

    Parameters
    ----------
    uid
        The job's uid.
    replica
        Name of a replica to find only its processes.
    """
    wanted = [f"{MARK}={uid}"]
    if replica is not None:
        wanted.append(f"{REPLICA_MARK}={replica}")
    if not LINUX:
        lines = output_of(["ps", "-axwwE", "-o", "pid=,command="]).splitlines()
        return {int(line.split(None, 1)[0]) for line in lines if all(f" {mark}" in line for mark in wanted)}
    marks = [mark.encode() for mark in wanted]
    found = set()
    for pid in _pids():
        variables = _environment(pid)
        if all(mark in variables for mark in marks):
            found.add(pid)
    found.discard(os.getpid())
    return found


class Leftovers:
    """Processes of a job whose supervisor has died.

    A process that was found once stays in the set until it ends, also when its parent ends and it has no mark.

    Parameters
    ----------
    uid
        The job's uid.
    strays
        Processes without the mark that the supervisor had recorded.
    """

    def __init__(self, uid: str, strays: Iterable[ProcessId]) -> None:
        self._uid = uid
        self._found = {stray["pid"]: stray for stray in strays}

    def find(self) -> set[int]:
        """Return the processes that are alive now."""
        pids = {pid for pid, process in self._found.items() if alive(process)}
        pids |= descendants(os.getpid()) | marked(self._uid)
        for pid in list(pids):
            pids |= descendants(pid)
        pids.discard(os.getpid())
        self._found = {pid: self._found.get(pid) or process_id(pid) for pid in pids}
        return pids


def unmarked(uid: str, root: int) -> set[int]:
    """Return the processes below `root` without the job's mark; none where environments can't be read (macOS).

    Parameters
    ----------
    uid
        The job's uid.
    root
        Process id of the supervisor.
    """
    mark = f"{MARK}={uid}".encode()
    return {pid for pid in descendants(root) if mark not in _environment(pid)} if LINUX else set()


def first_rank(agent: int) -> int | None:
    """Return the global rank of local rank 0 below a torchrun agent; None before the agent has started its ranks."""
    if not LINUX:
        return None
    for pid, parent in _parents():
        if parent != agent:
            continue
        variables = dict(part.partition(b"=")[::2] for part in _environment(pid) if part.count(b"="))
        with contextlib.suppress(KeyError, ValueError):
            return int(variables[b"RANK"]) - int(variables[b"LOCAL_RANK"])
    return None


class Ending:
    """Ends processes: SIGTERM, a grace period, then SIGKILL for every process that is left.

    Parameters
    ----------
    find
        Returns the processes that must end; called at each step.
    leaders
        Processes that get SIGTERM first. A launcher passes it on to its ranks, and a second SIGTERM may disturb a rank
        that saves a checkpoint, so the other processes get it after the leaders have ended.
    grace
        Seconds between SIGTERM and SIGKILL.
    """

    def __init__(self, find: Callable[[], set[int]], leaders: Iterable[int], grace: float) -> None:
        self._find = find
        self._leaders = set(leaders)
        self._asked: set[int] = set()
        self._killed: set[int] = set()
        self._grace = grace
        self._kill_at = time.monotonic() + grace

    def step(self) -> bool:
        """Send the signals that are due; return whether no process is left."""
        left = self._find()
        if not left:
            return True
        if time.monotonic() >= self._kill_at:
            send(left, signal.SIGKILL)
            self._killed |= left
            return False
        asked = (left & self._leaders) or left
        send(asked - self._asked, signal.SIGTERM)
        self._asked |= asked
        return False

    @property
    def killed(self) -> Killed | None:
        """Processes that got SIGKILL after a grace period; None if there were none."""
        if not self._killed or not self._grace:
            return None
        return Killed(count=len(self._killed), grace_seconds=self._grace)

    def finish(self) -> None:
        """Step until no process is left (blocking)."""
        while not self.step():
            reap()
            time.sleep(0.02)
        reap()


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal to processes; those that have ended, or belong to another user, are skipped.

    Parameters
    ----------
    pids
        The processes.
    number
        The signal.
    """
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def reap() -> list[tuple[int, int]]:
    """Collect ended children without waiting; return their process ids and exit codes, -n after signal n."""
    ended: list[tuple[int, int]] = []
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended.append((pid, os.waitstatus_to_exitcode(status)))


def _parents() -> Iterable[tuple[int, int]]:
    if not LINUX:
        for line in output_of(["ps", "-axo", "pid=,ppid=,stat="]).splitlines():
            number, parent, state = line.split()[:3]
            if "Z" not in state:
                yield int(number), int(parent)
        return
    for pid in _pids():
        fields = stat_of(pid)
        if fields is not None and not is_dead(fields):
            yield pid, int(fields[1])


def _pids() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if re.fullmatch(r"\d+", name)]  # noqa: PTH208


def _environment(pid: int) -> list[bytes]:
    # Unreadable for processes of other users and those that have just ended: neither is searched for.
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def wake_on_signals() -> int:
    """Install handlers for signals; return a descriptor from which the number of each signal can be read."""
    wake, notify = os.pipe()
    for descriptor in (wake, notify):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    return wake
