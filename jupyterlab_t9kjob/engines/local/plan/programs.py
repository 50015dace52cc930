"""Checks that the commands of a job exist and are executable."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from ....core.checks import Check
from ....core.interpreter import Interpreter
from ....core.spec import Entrypoint, JobSpec, ReplicaSpec

_MOST_SHOWN = 500
_FIRST_LINE = 256
"""Bytes of a script's first line that Linux reads, execve(2)."""


def program_checks(spec: JobSpec, interpreters: Mapping[str, Interpreter], cwd: Path) -> Iterator[Check]:
    """Yield what is wrong with the commands of a spec; parameters as for `argument_checks.word_checks`."""
    seen = set()
    for index, group in enumerate(spec.replica_specs):
        entrypoint, field = group.entrypoint, f"/spec/replica_specs/{index}/entrypoint/value"
        if entrypoint is None:
            entrypoint, field = spec.entrypoint, "/spec/entrypoint/value"
        if entrypoint.kind == "command" and field not in seen and not entrypoint.value.startswith("-"):
            seen.add(field)
            found = _check(entrypoint, search_path(spec, group, interpreters[group.type]), cwd)
            if found is not None:
                code, message, hint = found
                yield Check(level="error", code=code, message=message, field=field, hint=hint)


def search_path(spec: JobSpec, group: ReplicaSpec, interpreter: Interpreter) -> list[str]:
    """Return the folders in which a replica's command is looked for: those of its own PATH."""
    own = {variable.name: variable.value or "" for variable in [*spec.env, *(group.env or [])]}
    return os.get_exec_path({**os.environ, **interpreter.env, **own})


def _check(entrypoint: Entrypoint, folders: list[str], cwd: Path) -> tuple[str, str, str] | None:
    """Return code, message and hint of what is wrong; None if the command can be run."""
    name = entrypoint.value
    if "/" in name:
        places, where = [cwd / name], f"in the working directory {cwd}" if not name.startswith("/") else ""
    else:
        # a folder of PATH may be relative: the command is looked for once the process is in its working directory
        places, where = [cwd / folder / name for folder in folders], f"in the job's PATH: {':'.join(folders)}"
    shown = name[:_MOST_SHOWN]
    there = [place for place in places if _mode(place) is not None]
    runnable = next((place for place in there if _is_program(place)), None)
    if runnable is not None:
        return _interpreter_missing(runnable, cwd)
    if there:
        message = f"{there[0]} is a folder." if stat.S_ISDIR(_mode(there[0]) or 0) else f"{there[0]} is not executable."
        return "NotExecutable", message, "Choose another program, or make it executable with chmod +x."
    message = f"There is no command {shown} {where[:_MOST_SHOWN]}".rstrip() + "."
    return "NoCommand", message, _hint(name, cwd)


def _hint(name: str, cwd: Path) -> str:
    if "/" not in name and _mode(cwd / name) is not None:
        return f"For the file in the working directory, enter ./{name}."
    if " " in name.strip():
        return "Enter the program alone; its arguments have a field of their own."
    return "Enter the name of a program that is installed, or its path."


def _interpreter_missing(script: Path, cwd: Path) -> tuple[str, str, str] | None:
    """Return what is wrong with a script's first line, which names the program that runs it."""
    try:
        with script.open("rb") as file:
            line = file.read(_FIRST_LINE).split(b"\n", 1)[0]
    except OSError:  # a program need not be readable
        return None
    name = os.fsdecode(line[2:].strip(b" \t").replace(b"\t", b" ").split(b" ", 1)[0])
    if not line.startswith(b"#!") or not name or _mode(cwd / name) is not None:
        return None
    if name.endswith("\r"):
        message = f"The first line of {script} ends as on Windows, so its interpreter is not found."
        return "NoInterpreter", message, "Save it with Unix line ends."
    message = f"{script} is to be run by {name}, which does not exist."
    return "NoInterpreter", message, "Correct its first line, or install that program."


def _is_program(place: Path) -> bool:
    return stat.S_ISREG(_mode(place) or 0) and os.access(place, os.X_OK)


def _mode(place: Path) -> int | None:
    try:
        return place.stat().st_mode
    except (OSError, ValueError):
        return None
