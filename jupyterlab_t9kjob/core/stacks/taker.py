"""Takes the stacks of all ranks on one machine or in one container, with py-spy or without it (see `asking`).

This file runs by itself: as a child of a job's supervisor, and in containers of a cluster, which get its source and
that of `asking` over exec. It needs only the standard library of Python 3.8 and Linux. It reads a request as one line
of JSON from its input and writes the answer as JSON to its output::

    {"native": false, "program": "/opt/bin/py-spy", "uid": null}
    {"seconds": 0.4, "method": "py-spy", "scope": 1, "ranks": [{"replica": null, "rank": 0, "pid": 17, …}]}
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from . import asking
    from .asking import LONGEST_NAME, MOST_FRAMES, MOST_THREADS, PROC, TRACES_MARK, environment, status
else:
    if "__file__" in globals():  # Python was started with -I, which leaves out the folder of its script.
        sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    import asking
    from asking import LONGEST_NAME, MOST_FRAMES, MOST_THREADS, PROC, TRACES_MARK, environment, status

UID_MARK, REPLICA_MARK = "T9KJOB_UID", "T9KJOB_REPLICA"
LARGEST_TRACE, LARGEST_TRACES = 1 << 20, 4 << 20
DUMP_SECONDS = 10.0
MOST_RANKS = 1024
MOST_HELPERS = 4
"""Child processes of a rank, such as loader workers, whose stacks are taken as well."""


def is_python(pid: int) -> bool:
    """Return True if the program of a process is a Python."""
    try:
        return "python" in os.path.basename(os.readlink(f"{PROC}/{pid}/exe")).lower()
    except OSError:
        return False


class Processes:
    """The processes of a job, or of the container if no job is named.

    Parameters
    ----------
    uid
        Uid of a local job, whose processes have it in their environment; None for all processes that can be seen.
    """

    def __init__(self, uid: str | None) -> None:
        self.parents: dict[int, int] = {}
        self.environments: dict[int, dict[str, str]] = {}
        own = os.getpid()
        for name in os.listdir(PROC):
            if name.isdigit() and int(name) != own:
                pid = int(name)
                variables = environment(pid)
                if uid is None or variables.get(UID_MARK) == uid:
                    parent = status(pid).get("PPid", "")
                    if parent.isdigit():
                        self.parents[pid], self.environments[pid] = int(parent), variables

    def children(self, pid: int) -> list[int]:
        """Return the children of a process."""
        return sorted(child for child, parent in self.parents.items() if parent == pid)

    def below(self, pid: int) -> list[int]:
        """Return the descendants of a process, the nearest first."""
        found: list[int] = []
        waiting = self.children(pid)
        while waiting and len(found) < 1000:
            found.append(waiting.pop(0))
            waiting += self.children(found[-1])
        return found

    def ranks(self) -> list[int]:
        """Return the first Python process of each rank."""
        launched = [pid for pid in self.parents if "LOCAL_RANK" in self.environments[pid]]
        tops = [pid for pid in launched if self._rank(self.parents[pid]) != self._rank(pid)]
        if not tops:  # Without torchrun the job's own process is its only rank.
            tops = [pid for pid in self.parents if self.parents[pid] not in self.parents]
        found = [next(filter(is_python, [pid, *self.below(pid)]), None) for pid in sorted(tops)]
        return sorted({pid for pid in found if pid is not None})[:MOST_RANKS]

    def _rank(self, pid: int) -> tuple[str | None, ...]:
        variables = self.environments.get(pid, {})
        if "LOCAL_RANK" not in variables:
            return (None,)
        return tuple(variables.get(name) for name in (REPLICA_MARK, "LOCAL_RANK", "RANK"))


def described(pid: int, variables: dict[str, str]) -> dict[str, Any]:
    """Return what is known about a rank before its stacks are taken; the parameters are those of `asking.by_signal`."""

    def number(name: str) -> int | None:
        value = variables.get(name, "")
        return int(value) if value.isdigit() and len(value) < 9 else None

    return {
        "pid": pid,
        "replica": variables.get(REPLICA_MARK),
        "rank": number("RANK"),
        "local_rank": number("LOCAL_RANK"),
        "state": status(pid).get("State", "")[:1],
        "threads": [],
        "problem": None,
        "words": None,
        "traces": [],
    }


# --- py-spy -----------------------------------------------------------------------------------------------------------


def spied(program: str, pid: int, native: bool) -> tuple[list[dict[str, Any]], str | None, str | None]:
    """Take the stacks of a process with py-spy; return the threads, or the code and the words of a problem.

    Parameters
    ----------
    program, pid
        Path of py-spy, and the process.
    native
        True for frames of C as well.
    """
    command = [program, "dump", "--json", "--pid", str(pid)] + (["--native"] if native else [])
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=DUMP_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return [], "Timeout", None
    except OSError as error:
        return [], "NoProgram", str(error.strerror)
    words = done.stderr.decode(errors="replace").strip()[-2000:]
    if done.returncode != 0:
        return [], problem_of(pid, words), words
    try:
        return threads_of(json.loads(done.stdout)), None, None
    except (ValueError, TypeError, AttributeError, KeyError):
        return [], "Failed", "py-spy's answer was not understood"


def problem_of(pid: int, words: str) -> str:
    """Return the code of the reason why py-spy failed for the process `pid`; `words` is py-spy's error output."""
    lower = words.lower()
    if not status(pid):
        return "Gone"
    if "permission denied" in lower or "operation not permitted" in lower or "os error 1)" in lower:
        return "Refused"
    return "Failed"


def threads_of(answer: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the threads of py-spy's answer in this module's form; the main thread comes first."""
    threads = []
    for thread in answer[:MOST_THREADS]:
        main = thread["pid"] == thread.get("os_thread_id") or thread.get("thread_name") == "MainThread"
        frames = [
            {
                "function": str(frame["name"])[:LONGEST_NAME],
                "file": str(frame["filename"]),
                "line": int(frame["line"]),
                "native": is_native(str(frame["filename"])),
            }
            for frame in thread["frames"][:MOST_FRAMES]
        ]
        name = str(thread.get("thread_name") or "")[:LONGEST_NAME]
        threads.append({"name": name, "main": main, "active": bool(thread.get("active")), "frames": frames})
    return sorted(threads, key=lambda thread: not thread["main"])


def is_native(file: str) -> bool:
    """Return True if a frame lies in a program or library instead of Python source."""
    return not file.endswith((".py", ".pyx")) and not file.startswith("<") and ".py" not in file


# --- all ranks --------------------------------------------------------------------------------------------------------


def found_program(named: str | None, ranks: list[int]) -> str | None:
    """Return the py-spy to use: the named one, one beside the Python of a rank, or one on the PATH; None without one.

    Parameters
    ----------
    named, ranks
        Path in the request, or None; pids of the ranks, of which the first is used.
    """
    places = [named or ""]
    for pid in ranks[:1]:
        variables = environment(pid)
        with contextlib.suppress(OSError):
            places.append(os.path.join(os.path.dirname(os.readlink(f"{PROC}/{pid}/exe")), "py-spy"))
        places.append(os.path.join(variables.get("VIRTUAL_ENV", ""), "bin", "py-spy"))
        places.append(shutil.which("py-spy", path=variables.get("PATH", "")) or "")
    places.append(shutil.which("py-spy") or "")
    return next((place for place in places if os.path.isabs(place) and os.access(place, os.X_OK)), None)


def take(request: dict[str, Any]) -> dict[str, Any]:
    """Take the stacks of all ranks.

    Parameters
    ----------
    request
        ``uid`` of a local job, or null; ``program``, the path of py-spy, or null to look for it; ``native``, true for
        frames of C as well; ``ras``, false to ask no RAS subsystem of NCCL.
    """
    begun = time.monotonic()
    processes = Processes(request.get("uid"))
    pids = processes.ranks()
    program = found_program(request.get("program"), pids)
    native = bool(request.get("native"))
    share = min(LARGEST_TRACE, LARGEST_TRACES // max(1, len(pids)))
    ranks = [described(pid, processes.environments[pid]) for pid in pids]

    def stacks(rank: dict[str, Any]) -> str:
        pid, method = rank["pid"], "py-spy"
        variables = processes.environments[pid]
        if program is None:
            rank["problem"] = "NoProgram"
        else:
            rank["threads"], rank["problem"], rank["words"] = spied(program, pid, native)
        server = asking.debug_server(pid, variables)
        if rank["problem"] in ("NoProgram", "Refused"):
            threads, answers = asking.by_signal(pid, variables), "faulthandler"
            if not threads and server is not None:
                threads, answers = asking.server_threads(server), "debug-server"
            if threads:
                rank["threads"], rank["problem"], rank["words"], method = threads, None, None, answers
        if TRACES_MARK in variables:
            rank["traces"] = asking.asked_traces(pid, variables, share)
        if server is not None and not rank["traces"]:
            rank["traces"] = asking.server_traces(server, share)
        if method == "py-spy" and program is not None and rank["problem"] is None:
            for helper in [each for each in processes.below(pid) if is_python(each)][:MOST_HELPERS]:
                more, problem, _words = spied(program, helper, native)
                if problem is None:
                    rank["threads"] += [dict(thread, main=False, pid=helper) for thread in more[:1]]
        return method

    with ThreadPoolExecutor(max_workers=max(2, min(16, 2 * (os.cpu_count() or 1)))) as pool:
        asked = {pid: processes.environments[pid] for pid in pids} if request.get("ras", True) else {}
        ras = pool.submit(asking.ras_status, asked)
        methods = set(pool.map(stacks, ranks))
    return {
        "seconds": round(time.monotonic() - begun, 3),
        "method": methods.pop() if len(methods) == 1 else "py-spy",
        "native": native,
        "scope": ptrace_scope(),
        "capable": bool(int(status(os.getpid()).get("CapEff", "0"), 16) >> 19 & 1),
        "ranks": ranks,
        "ras": ras.result(),
        "addresses": asking.own_addresses(),
    }


def ptrace_scope() -> int | None:
    """Return the setting kernel.yama.ptrace_scope; None if the kernel has no Yama."""
    try:
        with open("/proc/sys/kernel/yama/ptrace_scope") as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def received_program(size: int) -> str:
    """Read a program from the input into memory and return its path, which lives as long as this process."""
    data = sys.stdin.buffer.read(size)
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("py-spy", 0)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        return f"{PROC}/{os.getpid()}/fd/{descriptor}"
    with tempfile.NamedTemporaryFile(delete=False) as kept:
        kept.write(data)
    os.chmod(kept.name, 0o700)
    return kept.name


def main() -> None:
    """Read a request, take the stacks, and write the answer."""
    signal.alarm(120)  # A disk that does not answer must not leave this process behind.
    request = json.loads(sys.stdin.buffer.readline())
    size = request.get("program_bytes")
    # A program for another kind of processor could not run.
    if isinstance(size, int) and request.get("machine") == os.uname().machine:
        request["program"] = received_program(size)
    output = request.get("output")
    answer = json.dumps(take(request))
    if not isinstance(output, str):
        sys.stdout.write(answer)
        return
    with open(output + ".new", "w", encoding="utf-8") as file:
        file.write(answer)
    os.replace(output + ".new", output)


if __name__ == "__main__":
    main()
