"""Identities of machines and processes for records, which stay unique after the process has ended.

Linux has the data below ``/proc``, macOS reports them through ``ps``. The supervisor of local jobs uses this module, so
it needs only the standard library.
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
    """Machine, boot and process id namespace that a process belongs to."""

    hostname: str
    boot_id: str
    pid_namespace: str


class ProcessId(TypedDict):
    """Process id with the process's start, since a later process can have the same id."""

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
    """Return True if two identities have the same boot and namespace, so that process ids are comparable.

    Parameters
    ----------
    one, other
        The identities.
    """
    return (one["boot_id"], one["pid_namespace"]) == (other["boot_id"], other["pid_namespace"])


def same_machine(one: MachineId, other: MachineId) -> bool:
    """Return True if two identities are of one machine; its name may have changed since it was booted.

    The parameters are those of `same_boot`.
    """
    return one["hostname"] == other["hostname"] or (one["boot_id"] != "" and same_boot(one, other))


def process_id(pid: int) -> ProcessId:
    """Return the identity of a process that runs now."""
    return ProcessId(pid=pid, started=_started(pid) or "")


def alive(process: ProcessId | None) -> bool:
    """Return True if a process still runs; a later process with the same id does not count."""
    return process is not None and _started(process["pid"]) == process["started"]


def _started(pid: int) -> str | None:
    if not LINUX:
        return output_of(["ps", "-o", "lstart=", "-p", str(pid)]).strip() or None
    fields = stat_of(pid)
    return None if fields is None or is_dead(fields) else fields[19]


def stat_of(pid: int) -> list[str] | None:
    """Return the fields of ``/proc/<pid>/stat`` from the third on; None if the process does not exist."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The second field, the program's name, may contain spaces and parentheses.
    return text[text.rindex(")") + 2 :].split()


def is_dead(fields: list[str]) -> bool:
    """Return True if a process has ended, from the fields of `stat_of`."""
    # In a zombie with more than one thread only the main thread has ended: the process runs and can't be reaped.
    return fields[0] == "X" or (fields[0] == "Z" and int(fields[17]) <= 1)


def output_of(command: list[str]) -> str:
    """Return the standard output of a command."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
