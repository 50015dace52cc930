"""Processes of a job: finding all of them, and ending them.

A job's processes descend from its supervisor or carry its mark in their environment. The
supervisor uses this module, so it needs only the standard library. Without ``/proc`` (macOS) the
same is asked of ``ps``.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Iterable

from ....core.system.processes import LINUX, PROC, ProcessId, alive, is_dead, output_of, process_id, stat_of

MARK = "T9KJOB_UID"
REPLICA_MARK = "T9KJOB_REPLICA"

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends (Linux)."""
    if LINUX:
        _libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_with_parent() -> Callable[[], None]:
    """Return what a child calls before exec so that it is asked to end when its parent dies."""
    if not LINUX:
        return lambda: None
    libc = _libc()  # loaded before the fork: nothing may be allocated after it
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
    """Return the processes whose parent is `root`; none where the kernel does not list them (Linux does)."""
    try:
        return set(map(int, (PROC / str(root) / "task" / str(root) / "children").read_text().split()))
    except OSError:
        return set()


def marked(uid: str, replica: str | None = None) -> set[int]:
    """Return the living processes that carry the job's mark, or that of one of its replicas."""
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
    """Processes of a job whose supervisor has died: found in several ways, and not lost when a parent ends.

    Parameters
    ----------
    uid
        The job's, with which its processes are marked.
    strays
        Processes without the mark that its supervisor had seen.
    """

    def __init__(self, uid: str, strays: Iterable[ProcessId]) -> None:
        self._uid = uid
        self._known = {one["pid"]: one for one in strays}

    def find(self) -> set[int]:
        """Return those that live now."""
        found = {pid for pid, one in self._known.items() if alive(one)}
        found |= descendants(os.getpid()) | marked(self._uid)
        for pid in list(found):
            found |= descendants(pid)
        found.discard(os.getpid())
        self._known = {pid: self._known.get(pid) or process_id(pid) for pid in found}
        return found


def unmarked(uid: str, root: int) -> set[int]:
    """Return the processes below `root` that do not carry the job's mark; none where that can't be read (macOS)."""
    mark = f"{MARK}={uid}".encode()
    return {pid for pid in descendants(root) if mark not in _environment(pid)} if LINUX else set()


def first_rank(agent: int) -> int | None:
    """Return the global rank of the local rank 0 that a torchrun agent started, once it has."""
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
    """Ends processes: SIGTERM, a grace period, then SIGKILL to all that is left.

    Parameters
    ----------
    find
        Returns the processes that have to go, each time anew.
    leaders
        Processes that are asked first: a launcher asks its ranks itself, and a rank that is asked
        twice may be disturbed while it saves a checkpoint. The others are asked when these ended.
    grace
        Seconds until SIGKILL.
    """

    def __init__(self, find: Callable[[], set[int]], leaders: Iterable[int], grace: float) -> None:
        self._find = find
        self._leaders = set(leaders)
        self._asked: set[int] = set()
        self._killed: set[int] = set()
        self._grace = grace
        self._kill_at = time.monotonic() + grace

    def step(self) -> bool:
        """Do what is due; return whether nothing is left."""
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

    def killed_in_words(self) -> str | None:
        """Say how many processes did not end when they were asked; None if all did, or none was asked."""
        count = len(self._killed)
        if not count or not self._grace:
            return None
        processes, were = ("process", "was") if count == 1 else ("processes", "were")
        return f"{count} {processes} did not end within {self._grace:g} s and {were} killed."

    def finish(self) -> None:
        """Step until nothing is left (blocking)."""
        while not self.step():
            reap()
            time.sleep(0.02)
        reap()


def send(pids: Iterable[int], number: signal.Signals) -> None:
    """Send a signal; processes that are gone meanwhile, or not ours, are passed over."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def reap() -> list[tuple[int, int]]:
    """Collect the ended children; return their process ids and exit codes, -n where signal n ended one."""
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
    # Unreadable is what belongs to another user or has just ended: neither is ours to find.
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
