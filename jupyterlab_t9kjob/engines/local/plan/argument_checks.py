"""Checks of the program, arguments and environment variables that a job's processes get."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ....core.checks import Check
from ....core.engine.interpreter import Interpreter
from ....core.spec import EnvVar, JobSpec
from ....core.translation import _
from .command import entrypoints_of, launcher_of, program_of

# Variables that torchrun sets for each rank, replacing those of the environment.
_TORCHRUN_GIVES = re.compile(
    r"(LOCAL_|GROUP_|ROLE_)?RANK|(LOCAL_|GROUP_|ROLE_)?WORLD_SIZE|ROLE_NAME|MASTER_(ADDR|PORT)"
    r"|TORCHELASTIC_(RESTART_COUNT|MAX_RESTARTS|RUN_ID|USE_AGENT_STORE|ERROR_FILE)"
)
_KEPT_FREE = 32 * 1024
"""Bytes of a process's arguments and variables that this package and torchrun add."""


def word_checks(spec: JobSpec, interpreters: Mapping[str, Interpreter], cwd: Path) -> Iterator[Check]:
    """Yield checks of arguments and variables that can't be passed to a process, or that it does not see.

    Parameters
    ----------
    spec
        The job.
    interpreters
        Python of each replica type.
    cwd
        Working directory of the job.
    """
    yield from _programs(spec)
    yield from _variables(spec)
    too_long = next(_texts_too_long(spec), None)
    if too_long is not None:
        yield too_long
    else:
        yield from _too_long_together(spec, interpreters, cwd)


def _programs(spec: JobSpec) -> Iterator[Check]:
    """Check that a module or command does not look like an option of Python or torchrun."""
    for field, entrypoint in entrypoints_of(spec).items():
        if not entrypoint.value.startswith("-"):
            continue
        value = entrypoint.value[:100]
        if entrypoint.kind == "module":
            message = _("No module begins with a dash: {value} would be read as an option.", value=value)
            hint = _("Enter the module's own name.")
        elif entrypoint.kind == "command":
            message = _("No command begins with a dash: {value} would be read as an option.", value=value)
            hint = _("Enter the command's own name.")
        else:
            continue
        yield Check(level="error", code="LooksLikeAnOption", message=message, field=field, hint=hint)


def _variables(spec: JobSpec) -> Iterator[Check]:
    for field, variables in _environments(spec):
        seen: set[str] = set()
        for number, variable in enumerate(variables):
            name, at = variable.name, f"{field}/{number}/name"
            if name.startswith("T9KJOB_"):
                message = _("{name} can't be set: names that begin with T9KJOB_ are the job's own.", name=name)
                hint = _("Choose another name.")
                yield Check(level="error", code="OwnVariable", message=message, field=at, hint=hint)
            elif spec.torchrun is not None and _TORCHRUN_GIVES.fullmatch(name):
                message = _("torchrun sets {name} for every rank, so the script does not see this value.", name=name)
                yield Check(level="warning", code="SetByTorchrun", message=message, field=at, hint=_("Leave it out."))
            elif name in seen:
                message = _("{name} is given twice: the last value counts.", name=name)
                yield Check(level="warning", code="GivenTwice", message=message, field=at, hint=_("Remove one."))
            seen.add(name)


def _environments(spec: JobSpec) -> Iterator[tuple[str, list[EnvVar]]]:
    yield "/spec/env", spec.env
    for index, group in enumerate(spec.replica_specs):
        yield f"/spec/replica_specs/{index}/env", group.env or []


def _texts_too_long(spec: JobSpec) -> Iterator[Check]:
    """Check the length of each argument and variable, for which Linux has a limit of its own."""
    longest = 32 * os.sysconf("SC_PAGE_SIZE") if sys.platform == "linux" else sys.maxsize
    for field, text in _texts(spec):
        if len(os.fsencode(text)) >= longest:
            message = _(
                "This text is longer than the {size} KiB that this system passes to a program.", size=longest // 1024
            )
            hint = _("Put it into a file that the script reads.")
            yield Check(level="error", code="TooLong", message=message, field=field, hint=hint)


def _texts(spec: JobSpec) -> Iterator[tuple[str, str]]:
    """Yield each argument and variable with its field, in the form in which a process gets it."""
    lists = {"/spec/args": spec.args}
    lists |= {f"/spec/replica_specs/{index}/args": group.args or [] for index, group in enumerate(spec.replica_specs)}
    for field, texts in lists.items():
        for number, text in enumerate(texts):
            yield f"{field}/{number}", text
    for field, variables in _environments(spec):
        for number, variable in enumerate(variables):
            yield f"{field}/{number}/value", f"{variable.name}={variable.value or ''}"


def _too_long_together(spec: JobSpec, interpreters: Mapping[str, Interpreter], cwd: Path) -> Iterator[Check]:
    most = os.sysconf("SC_ARG_MAX") - _KEPT_FREE - _size(f"{name}={value}" for name, value in os.environ.items())
    for group in spec.replica_specs:
        interpreter = interpreters[group.type]
        own = {variable.name: variable.value or "" for variable in (*spec.env, *(group.env or []))}
        variables = (f"{name}={value}" for name, value in {**interpreter.env, **own}.items())
        command = [*(launcher_of(spec, group, interpreter) or []), *program_of(spec, group, interpreter, cwd)]
        size = _size((*command, *variables))
        if size > most:
            message = _(
                "Arguments and variables have {size} bytes together; this system passes {most} to a program.",
                size=size,
                most=most,
            )
            hint = _("Put long texts into a file that the script reads.")
            yield Check(level="error", code="TooLong", message=message, field="/spec/args", hint=hint)
            return


def _size(texts: Iterable[str]) -> int:
    """Return the bytes that the system counts for arguments or variables, each with its end and its pointer."""
    return sum(len(os.fsencode(text)) + 9 for text in texts)
