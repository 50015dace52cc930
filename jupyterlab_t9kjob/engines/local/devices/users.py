"""Names for the processes that use a GPU: jobs, kernels and other programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Final

import psutil

from ....core.translation import Text, _
from ..supervisor.process_tree import MARK

UNSEEN: Final = _("a process that can't be seen from here")
_MOST_CHARACTERS = 80


def users(pids: Iterable[int], kernels: Mapping[int, str]) -> list[str]:
    """Return the names of processes, each once (blocking).

    Parameters
    ----------
    pids
        The processes.
    kernels
        Process ids of this lab's kernels, with texts that name the kernels.
    """
    return list(dict.fromkeys(_user(pid, kernels) for pid in pids))


def _user(pid: int, kernels: Mapping[int, str]) -> str:
    try:
        process = psutil.Process(pid)
        family = [process, *process.parents()]
    except psutil.Error:
        # The process has ended, or belongs to another container, which the driver sees nevertheless.
        return UNSEEN
    for member in family:
        if member.pid in kernels:
            return kernels[member.pid]
        job = _job(member)
        if job is not None:
            return job
    return _stranger(process)


def _job(process: psutil.Process) -> str | None:
    """Return the name of the local job whose mark a process carries; None if it carries none."""
    try:
        environment = process.environ()
    except (psutil.Error, OSError):  # The process belongs to another user, or has ended.
        return None
    if MARK not in environment:
        return None
    name = environment.get("T9KJOB_NAME")
    return _printable(name) if name else _("a job")


def _stranger(process: psutil.Process) -> Text:
    try:
        with process.oneshot():
            command, name, owner = process.cmdline(), process.name(), process.username()
    except psutil.Error:
        return UNSEEN
    program = PurePath(command[0]).name if command and command[0] else name
    script = next((PurePath(word).name for word in command[1:] if word.endswith(".py")), None)
    is_kernel = any("ipykernel" in word for word in command[1:4])
    name = _printable(f"{program} {script}" if script is not None else program)
    pid, user = process.pid, _printable(owner)
    if owner == psutil.Process().username():
        if is_kernel:
            return _("a kernel of another lab (pid {pid})", pid=pid)
        return _("{name} (pid {pid})", name=name, pid=pid)
    if is_kernel:
        return _("a kernel of another lab (pid {pid}) of user {user}", pid=pid, user=user)
    return _("{name} (pid {pid}) of user {user}", name=name, pid=pid, user=user)


def _printable(words: str) -> str:
    text = "".join(letter if letter.isprintable() else "�" for letter in words)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
