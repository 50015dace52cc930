"""Starts a shell or program in the environment of a rank, inside of the container in which the rank runs.

This file runs by itself: containers get its source over exec, see `rank_terminals`. It needs only the standard library
of Python 3.8 and Linux. Its arguments are ``look RANK``, which writes as JSON what was found, or ``start RANK
[PROGRAM…]``, which becomes the program or a shell, with the rank's variables, working directory and Python.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys

MARK = "T9KJOB_TERMINAL"
"""Variable of the processes of terminals, which are no ranks."""
BIN = "T9KJOB_TERMINAL_BIN"
"""Variable with the folder of the rank's Python, for `SETTINGS`."""
GONE = 3
"""Exit code if the rank has ended in the meantime."""
# A shell's own settings must not hide the rank's Python.
SETTINGS = """for each in /etc/bash.bashrc ~/.bashrc; do if [ -r "$each" ]; then . "$each"; fi; done
if [ -n "$T9KJOB_TERMINAL_BIN" ]; then PATH="$T9KJOB_TERMINAL_BIN:$PATH"; fi
unset T9KJOB_TERMINAL_BIN each
"""


def texts(pid: int, name: str) -> list[str]:
    """Return the texts of a file of a process, which NUL bytes separate.

    Parameters
    ----------
    pid
        The process.
    name
        Name of the file below ``/proc/PID``.
    """
    with open(f"/proc/{pid}/{name}", "rb") as file:
        return [os.fsdecode(each) for each in file.read().split(b"\0")]


def variables(pid: int) -> dict[str, str]:
    """Return the environment of a process."""
    pairs = [each.partition("=") for each in texts(pid, "environ")]
    return {name: value for name, equals, value in pairs if name and equals}


def parent(pid: int) -> int:
    """Return the parent of a process; 0 if the process is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def ranks() -> tuple[dict[int, int], int]:
    """Return the process of each rank in this container, and the number of processes that can't be looked into."""
    found: dict[int, int] = {}
    refused = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                known = variables(int(name))
            except PermissionError:
                refused += 1
                continue
            except OSError:  # The process has ended.
                continue
            # Operators set RANK for the whole container; torchrun sets LOCAL_RANK too.
            if MARK not in known and known.get("LOCAL_RANK", "").isdigit() and known.get("RANK", "").isdigit():
                found[int(name)] = int(known["RANK"])
    # The workers of a data loader have their rank's variables.
    tops = [pid for pid in sorted(found, reverse=True) if found.get(parent(pid)) != found[pid]]
    return {found[pid]: pid for pid in tops}, refused


def start(pid: int, program: list[str]) -> None:
    """Become a program with the environment of a process.

    Parameters
    ----------
    pid
        The process.
    program
        The program with its arguments; empty for a shell.
    """
    environment = variables(pid)
    environment.update({name: os.environ[name] for name in (MARK, "TERM") if name in os.environ})
    os.chdir(f"/proc/{pid}/cwd")
    with contextlib.suppress(OSError):  # The folder was removed.
        environment["PWD"] = os.getcwd()
    python = texts(pid, "cmdline")[0]
    path = environment.get("PATH", os.defpath)
    if os.path.isabs(python) and os.path.basename(python).startswith("python"):
        folder = os.path.dirname(python)
        if os.path.dirname(shutil.which("python", path=path) or "") != folder:
            environment["PATH"] = path = folder + ":" + path
            if not program:
                environment[BIN] = folder
    program = program or shell(path)
    if "bash" not in program[0]:
        environment.pop(BIN, None)
    try:
        os.execvpe(program[0], program, environment)
    except OSError as error:
        sys.stderr.write(f"{program[0]}: {error.strerror}\n")
        sys.exit(127 if isinstance(error, FileNotFoundError) else 126)


def shell(path: str) -> list[str]:
    """Return the command of the shell that is on a search path."""
    bash = shutil.which("bash", path=path)
    if bash is None:
        return ["sh"]
    try:
        settings = os.memfd_create("bashrc", 0)
    except (AttributeError, OSError):
        return [bash]
    os.write(settings, SETTINGS.encode())
    return [bash, "--rcfile", f"/proc/self/fd/{settings}"]


def main() -> None:
    """Do what the arguments say."""
    action, rank, program = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    found, refused = ranks()
    if action == "look":
        sys.stdout.write(json.dumps({"ranks": sorted(found), "refused": refused}))
        return
    try:
        start(found[rank], program)
    except (KeyError, OSError):
        sys.exit(GONE)


if __name__ == "__main__":
    main()
