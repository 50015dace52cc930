"""Checks that the commands of a job exist and are executable."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from ....core.checks import Check
from ....core.engine.interpreter import Interpreter
from ....core.spec import Entrypoint, JobSpec, ReplicaSpec
from ....core.translation import Text, _

_MOST_SHOWN = 500
_FIRST_LINE = 256
"""Bytes of a script's first line that Linux reads, execve(2)."""


def program_checks(spec: JobSpec, interpreters: Mapping[str, Interpreter], cwd: Path) -> Iterator[Check]:
    """Yield errors of a spec's commands: missing, not executable, or without their interpreter.

    Parameters
    ----------
    spec
        The job.
    interpreters
        Python of each replica type.
    cwd
        Working directory of the job.
    """
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
    """Return the folders of the PATH in which a replica's command is searched.

    Parameters
    ----------
    spec
        The job.
    group
        The replica type.
    interpreter
        Its Python.
    """
    own = {variable.name: variable.value or "" for variable in [*spec.env, *(group.env or [])]}
    return os.get_exec_path({**os.environ, **interpreter.env, **own})


def _check(entrypoint: Entrypoint, folders: list[str], cwd: Path) -> tuple[str, Text, Text] | None:
    """Return code, message and hint of a command's error; None if the command can be run."""
    name = entrypoint.value
    # A folder of PATH may be relative to the working directory, in which the process searches the command.
    candidates = [cwd / name] if "/" in name else [cwd / folder / name for folder in folders]
    existing = [path for path in candidates if _mode(path) is not None]
    runnable = next((path for path in existing if _is_program(path)), None)
    if runnable is not None:
        return _interpreter_missing(runnable, cwd)
    if existing:
        path = str(existing[0])
        is_folder = stat.S_ISDIR(_mode(existing[0]) or 0)
        message = _("{path} is a folder.", path=path) if is_folder else _("{path} is not executable.", path=path)
        return "NotExecutable", message, _("Choose another program, or make it executable with chmod +x.")
    return "NoCommand", _missing(name, folders, cwd), _hint(name, cwd)


def _missing(name: str, folders: list[str], cwd: Path) -> Text:
    shown = name[:_MOST_SHOWN]
    if name.startswith("/"):
        return _("There is no command {name}.", name=shown)
    if "/" in name:
        folder = str(cwd)[:_MOST_SHOWN]
        return _("There is no command {name} in the working directory {folder}.", name=shown, folder=folder)
    search = ":".join(folders)[:_MOST_SHOWN]
    return _("There is no command {name} in the job's PATH: {folders}.", name=shown, folders=search)


def _hint(name: str, cwd: Path) -> Text:
    if "/" not in name and _mode(cwd / name) is not None:
        return _("For the file in the working directory, enter ./{name}.", name=name)
    if " " in name.strip():
        return _("Enter the program alone; its arguments have a field of their own.")
    return _("Enter the name of a program that is installed, or its path.")


def _interpreter_missing(script: Path, cwd: Path) -> tuple[str, Text, Text] | None:
    """Return the error of a script whose first line names an interpreter that does not exist; else None."""
    try:
        with script.open("rb") as file:
            line = file.read(_FIRST_LINE).split(b"\n", 1)[0]
    except OSError:  # A program need not be readable.
        return None
    name = os.fsdecode(line[2:].strip(b" \t").replace(b"\t", b" ").split(b" ", 1)[0])
    if not line.startswith(b"#!") or not name or _mode(cwd / name) is not None:
        return None
    if name.endswith("\r"):
        message = _("The first line of {path} ends as on Windows, so its interpreter is not found.", path=str(script))
        return "NoInterpreter", message, _("Save it with Unix line ends.")
    message = _("The interpreter of {path}, {name}, does not exist.", path=str(script), name=name)
    return "NoInterpreter", message, _("Correct its first line, or install that program.")


def _is_program(path: Path) -> bool:
    return stat.S_ISREG(_mode(path) or 0) and os.access(path, os.X_OK)


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return None
