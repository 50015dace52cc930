"""Which process on which machine: identities that outlive the process, for who finds them written down.

The local engine's supervisor uses this module, so it needs only the standard library. Without ``/proc`` (macOS) the
same is asked of ``ps``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

LINUX = sys.platform.startswith("linux")
PROC = Path("/proc")


class MachineId(TypedDict):
    """Which machine, boot and process id namespace a process belongs to."""

    hostname: str
    boot_id: str
    pid_namespace: str


class ProcessId(TypedDict):
    """A process, told apart from a later one with the same number."""

    pid: int
    started: str


def machine_id() -> MachineId:
    """Return the identity of this machine, boot and process id namespace."""
    boot = namespace = ""
    if LINUX:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = str((PROC / "self/ns/pid").readlink())
    elif sys.platform == "darwin":
        boot = output_of(["sysctl", "-n", "kern.boottime"]).strip()
    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return MachineId(hostname=host, boot_id=boot, pid_namespace=namespace)


def same_boot(one: MachineId, other: MachineId) -> bool:
    """Return whether process ids mean the same in both: the same boot, and the same namespace."""
    return (one["boot_id"], one["pid_namespace"]) == (other["boot_id"], other["pid_namespace"])


def process_id(pid: int) -> ProcessId:
    """Return a process's identity, its start time included."""
    return ProcessId(pid=pid, started=_started(pid) or "")


def alive(process: ProcessId | None) -> bool:
    """Return whether that very process still runs."""
    return process is not None and _started(process["pid"]) == process["started"]


def _started(pid: int) -> str | None:
    if not LINUX:
        return output_of(["ps", "-o", "lstart=", "-p", str(pid)]).strip() or None
    fields = stat_of(pid)
    return None if fields is None or is_dead(fields) else fields[19]


def stat_of(pid: int) -> list[str] | None:
    """Return the fields of ``/proc/<pid>/stat`` from the third on; None if there is no such process."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The program's name may hold spaces and parentheses; what follows it is regular.
    return text[text.rindex(")") + 2 :].split()


def is_dead(fields: list[str]) -> bool:
    """Return whether a process has ended, by its `stat_of`."""
    # A zombie with more than one thread is a process whose main thread alone has ended: it runs, and can't be reaped.
    return fields[0] == "X" or (fields[0] == "Z" and int(fields[17]) <= 1)


def output_of(command: list[str]) -> str:
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
