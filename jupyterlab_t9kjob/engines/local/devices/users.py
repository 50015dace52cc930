"""Who a process is, in words for those who wonder why a GPU is not free."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath

import psutil

from ..supervisor.process_tree import MARK

UNSEEN = "a process that can't be seen from here"
_MOST_CHARACTERS = 80


def users(pids: Iterable[int], kernels: Mapping[int, str]) -> list[str]:
    """Return who these processes are, each once (blocking).

    Parameters
    ----------
    pids
        The processes.
    kernels
        Processes of this lab's kernels, in words.
    """
    return list(dict.fromkeys(_user(pid, kernels) for pid in pids))


def _user(pid: int, kernels: Mapping[int, str]) -> str:
    try:
        process = psutil.Process(pid)
        family = [process, *process.parents()]
    except psutil.Error:
        # It has ended since, or the driver sees more than this container does.
        return UNSEEN
    for member in family:
        if member.pid in kernels:
            return kernels[member.pid]
        job = _job(member)
        if job is not None:
            return job
    return _stranger(process)


def _job(process: psutil.Process) -> str | None:
    """Return the name of the local job that a process belongs to, by its mark; None for strangers."""
    try:
        environment = process.environ()
    except (psutil.Error, OSError):  # of another user, or ended
        return None
    return _printable(environment.get("T9KJOB_NAME") or "a job") if MARK in environment else None


def _stranger(process: psutil.Process) -> str:
    try:
        with process.oneshot():
            command, name, owner = process.cmdline(), process.name(), process.username()
    except psutil.Error:
        return UNSEEN
    program = PurePath(command[0]).name if command and command[0] else name
    script = next((PurePath(word).name for word in command[1:] if word.endswith(".py")), None)
    words = f"{program} {script}" if script is not None else program
    if any("ipykernel" in word for word in command[1:4]):
        words = "a kernel of another lab"
    whose = "" if owner == psutil.Process().username() else f" of user {owner}"
    return f"{_printable(words)} (pid {process.pid}){_printable(whose)}"


def _printable(words: str) -> str:
    text = "".join(letter if letter.isprintable() else "�" for letter in words)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"
