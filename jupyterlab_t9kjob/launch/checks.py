"""Checks of a job before it is submitted, from the text of its script, its kernel and its folders."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal

from ..core.checks import Check
from ..core.errors import FieldError
from ..core.running.recorder import MODULES as RECORDER
from ..core.running.recorder import recorder_folder
from ..core.spec import JobSpec
from ..core.system.disk_threads import on_disk
from ..core.translation import Text, _, _n, listing
from .kernels.kernels import Kernels, install_command, refused
from .model import Kernel
from .notebook_checks import notebook_checks, unreadable_cell
from .notebooks.installs import Brought, brought
from .option_checks import missing_options, repeated_options, unread_options
from .options.interpreter.modules import is_module
from .scripts.packages import distributions_of
from .scripts.source_text import SourceError
from .source_file import Source
from .training_checks import JobPlace, absolute_paths, training_checks, unseen_here

_OTHER_KERNEL: Final = _("Choose another kernel, or install the package that has the module.")


async def check(spec: JobSpec, source: Source | None, kernel: Kernel | None, kernels: Kernels) -> list[Check]:
    """Return the checks of a job that runs on this machine.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook; None for a module or a command.
    kernel
        The kernel that runs the job; None if there is none.
    kernels
        Asked for modules that the kernel lacks.
    """
    found: list[Check] = []
    refusal = refused(kernel) if kernel is not None else None
    if refusal is not None:
        found.append(Check.of(refusal))
    elif kernel is not None and kernel.torch is None:
        found.append(
            Check(
                level="warning",
                code="KernelSilent",
                message=_(
                    "The Python of “{kernel}” did not say which modules are installed.", kernel=kernel.display_name
                ),
                hint=_("Choose another kernel unless {python} works.", python=kernel.python or ""),
                field="/spec/runtime/kernel",
            )
        )
    if source is not None and source.error is None and kernel is not None and refusal is None:
        found += await _modules(spec, source, kernel, kernels)
    found += of_script(spec, source, kernel, await _this_machine(spec, source, kernel))
    found += await on_disk(spec.tensorboard.log_dirs, log_directories, spec)
    return worst_first(found)


def of_script(
    spec: JobSpec, source: Source | None, kernel: Kernel | None = None, place: JobPlace | None = None
) -> list[Check]:
    """Return the checks of a job's script that need only its text; they apply on this machine and in a cluster.

    Parameters
    ----------
    spec
        The job.
    source
        The job's script or notebook; None for a module or a command, which have no such checks.
    kernel
        The kernel that runs the job. If its Python version differs from the server's, a syntax error is only a warning.
    place
        What is known about the place where the job runs; None for nothing.
    """
    if source is None:
        return []
    if source.error is not None:
        problem = _unreadable(source, source.error, kernel)
        return [problem.model_copy(update={"fix": unreadable_cell(spec, source)})]
    return [
        *_idle(source),
        *_ipython(source),
        *_given(spec, source),
        *missing_options(spec, source),
        *repeated_options(spec, source),
        *unread_options(source),
        *_package(spec, source),
        *training_checks(spec, source, place or JobPlace()),
        *notebook_checks(spec, source),
    ]


async def _this_machine(spec: JobSpec, source: Source | None, kernel: Kernel | None) -> JobPlace:
    torch = kernel.torch if kernel is not None else None
    paths = absolute_paths(spec, source) if source is not None else set()
    return JobPlace(
        has_gpu=torch.devices > 0 if torch is not None and torch.version is not None else None,
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        unseen=await on_disk(sorted(paths), unseen_here, paths) if paths else frozenset(),
    )


def refuses(error: SourceError, kernel: Kernel | None) -> bool:
    """Return True if the kernel's Python refuses the script as well.

    A syntax error that the server's Python reports does not count for a kernel of another Python version.

    Parameters
    ----------
    error
        Error that the server's Python found in the script.
    kernel
        The kernel that runs the job; None if there is none.
    """
    version = kernel.python_version if kernel is not None else None
    same = version is None or version.split(".")[:2] == [str(part) for part in sys.version_info[:2]]
    return same or not isinstance(error.__cause__, SyntaxError)


def _unreadable(source: Source, error: SourceError, kernel: Kernel | None) -> Check:
    found = Check.of(error).model_copy(update={"link": source.link(error.line)})
    if kernel is None or refuses(error, kernel):
        return found
    here = ".".join(str(part) for part in sys.version_info[:2])
    hint = _(
        "JupyterLab's Python {here} reports this error. “{kernel}” has Python {version}.",
        here=here,
        kernel=kernel.display_name,
        version=kernel.python_version or "",
    )
    return found.model_copy(update={"level": "warning", "hint": hint})


def worst_first(found: list[Check]) -> list[Check]:
    """Sort checks into the order in which they are shown: errors first."""
    order = ("error", "warning", "hint", "passed")
    return sorted(found, key=lambda line: order.index(line.level))


async def _modules(spec: JobSpec, source: Source, kernel: Kernel, kernels: Kernels) -> list[Check]:
    lines = {module.name: module.line for module in source.script.info.imports}
    extra = ["tensorboard"] if source.script.info.writes_events else []
    try:
        missing = await kernels.missing(kernel.name, [*lines, *extra])
    except FieldError:  # The kernel was removed after it was listed. Its own field reports that.
        return []
    needed = await on_disk(source.path, _without_own, spec, [name for name in lines if name in missing])
    elsewhere = await on_disk(source.path, _elsewhere, source, needed)
    comes = brought(source.converted, installs=source.installs) if source.converted else Brought()
    needed = [name for name in needed if name in elsewhere or not comes.brings(name)]
    found = [
        Check(
            level="warning",
            code="ModulesElsewhere",
            message=_(
                "{module} is in {folder}, which is not on Python's path, so its import will fail.",
                module=name,
                folder=str(folder),
            ),
            hint=_("Add the variable PYTHONPATH with the value {folder}.", folder=str(folder)),
            field="/spec/env",
            link=source.link(lines[name]),
        )
        for name, folder in elsewhere.items()
    ]
    needed = [name for name in needed if name not in elsewhere]
    if needed and comes.line is not None:
        found.append(
            Check(
                level="hint",
                code="ModulesMissing",
                message=_(
                    "{modules} can't be found in “{kernel}”, nor in the workspace. The notebook's own commands may"
                    " install what is missing.",
                    modules=listing(needed),
                    kernel=kernel.display_name,
                ),
                link=source.link(comes.line),
            )
        )
    elif needed:
        own = await on_disk(source.path, _named_in_workspace, source, needed)
        known = await on_disk(source.path, distributions_of, [name for name in needed if name not in own])
        packages = sorted(set(known.values()))
        hint = _("Install with: {command}", command=install_command(kernel, *packages)) if packages else None
        found.append(
            Check(
                level="warning",
                code="ModulesMissing",
                message=_(
                    "{modules} can't be found in “{kernel}”, nor in the workspace: the import will fail.",
                    modules=listing(needed),
                    kernel=kernel.display_name,
                ),
                hint=hint or (_own_hint(own[0]) if own else None) or _OTHER_KERNEL,
                field="/spec/runtime/kernel",
                link=source.link(lines[needed[0]]),
            )
        )
    elif "tensorboard" in missing:
        found.append(
            Check(
                level="warning",
                code="NoEventWriter",
                message=_(
                    "tensorboard is not installed in “{kernel}”, so no curves will be written.",
                    kernel=kernel.display_name,
                ),
                hint=_("Install it with: {command}", command=install_command(kernel, "tensorboard")),
                field="/spec/runtime/kernel",
            )
        )
    present = [name for name in lines if name not in missing]
    if present and not found and kernel.torch is not None:
        message = _n(
            "{modules} is installed in this kernel.",
            "{modules} are installed in this kernel.",
            len(present),
            modules=listing(present),
        )
        found.append(Check(level="passed", code="ModulesInstalled", message=message))
    return found


def _without_own(spec: JobSpec, names: list[str]) -> list[str]:
    """Return the modules that are not found in PYTHONPATH or the working directory of the job either (blocking)."""
    if recorder_folder(spec.env) is not None:  # It is written at the submission.
        names = [name for name in names if name not in RECORDER]
    paths = [variable.value or "" for variable in spec.env if variable.name == "PYTHONPATH"]
    folders = [os.path.join(spec.working_dir or "", path) for path in ":".join(paths).split(":") if path]  # noqa: PTH118
    if spec.entrypoint.kind == "module" and spec.working_dir:
        folders.append(spec.working_dir)
    return [name for name in names if not any(is_module(folder, name) for folder in folders)]


def _elsewhere(source: Source, names: list[str]) -> dict[str, Path]:
    """Return the folder of each module that is in the workspace but not on Python's path (blocking)."""
    if source.workspace is None:
        return {}
    folders = {name: source.workspace.elsewhere(name) for name in names}
    return {name: folder for name, folder in folders.items() if folder is not None}


def _named_in_workspace(source: Source, names: list[str]) -> list[str]:
    """Return the modules of which the repository has a folder or file, so that no package is suggested (blocking)."""
    return [name for name in names if source.workspace is not None and source.workspace.named(name)]


def _own_hint(name: str) -> Text:
    return _(
        "Your files have a folder or file with the name {module}: it may have to be fetched or built.", module=name
    )


def _idle(source: Source) -> list[Check]:
    if not source.script.empty:
        return []
    message = _("{script} has no statements, so the job will do nothing.", script=source.path.name)
    hint = _("If the file is open with changes, save it.")
    return [Check(level="warning", code="NothingToRun", message=message, hint=hint, link=source.link(None))]


def _ipython(source: Source) -> list[Check]:
    if source.script.ipython is None:
        return []
    message = _(
        "{script} calls get_ipython, which a job does not have: the line fails when it is reached.",
        script=source.path.name,
    )
    hint = _("Remove the call, or replace it with Python code.")
    return [
        Check(level="warning", code="NoIPython", message=message, hint=hint, link=source.link(source.script.ipython))
    ]


def _given(spec: JobSpec, source: Source) -> list[Check]:
    if source.script.given is None:
        return []
    message = _("{script} sets its options itself, so arguments have no effect.", script=source.path.name)
    level: Literal["warning", "hint"] = "warning" if spec.args and source.notebook is None else "hint"
    return [Check(level=level, code="OptionsGiven", message=message, link=source.link(source.script.given))]


def _package(spec: JobSpec, source: Source) -> list[Check]:
    """Warn of a script that is part of a package. Its relative imports work only if Python runs it as a module."""
    relative = source.script.closure.script.relative
    if source.module is None:
        return []
    if spec.entrypoint.kind == "module" and spec.entrypoint.value == source.module:
        message = _(
            "{script} is part of a package, so the job runs it as the module {module}.",
            script=source.path.name,
            module=source.module,
        )
        line = relative.line if relative else None
        return [Check(level="hint", code="RunsAsModule", message=message, link=source.link(line))]
    if spec.entrypoint.kind != "script" or relative is None:
        return []
    message = _(
        "{script} imports from its own package (line {line}), which fails in a script.",
        script=source.path.name,
        line=relative.line,
    )
    hint = _(
        "Choose Module, {module}, and the working directory {folder}.",
        module=source.module,
        folder=str(source.folder),
    )
    field = "/spec/entrypoint/kind"
    link = source.link(relative.line)
    return [Check(level="warning", code="PartOfPackage", message=message, hint=hint, field=field, link=link)]


def log_directories(spec: JobSpec, here: Callable[[str], str | None] = str) -> list[Check]:
    """Return a check of the log directories: the first problem, or that they are empty.

    Parameters
    ----------
    spec
        The job.
    here
        Returns the path on this machine for a path of the job; None if this machine does not see it.
    """
    places = [here(name) for name in spec.tensorboard.log_dirs]
    for index, place in enumerate(places):
        problem = _log_directory(place) if place is not None else None
        if problem is not None:
            return [problem.model_copy(update={"field": f"/spec/tensorboard/log_dirs/{index}"})]
    if places and None not in places:
        return [Check(level="passed", code="LogDirectoryEmpty", message=_("The log directory is empty."))]
    return []


def _log_directory(name: str) -> Check | None:
    """Return the problem of a log directory. `os.path` is used because `Path` raises an error for long names."""
    if not os.path.isabs(name):  # noqa: PTH117
        message = _("The log directory {folder} must be an absolute path.", folder=name)
        hint = _("Begin the path with a slash.")
        return Check(level="error", code="LogDirectoryNotAbsolute", message=message, hint=hint)
    there = next(str(folder) for folder in (Path(name), *Path(name).parents) if os.path.exists(folder))  # noqa: PTH110
    if not os.path.isdir(there):  # noqa: PTH112
        message = _("The log directory {folder} can't be created: {file} is a file.", folder=name, file=there)
        if there == name.rstrip("/"):
            message = _("The log directory {folder} is a file.", folder=name)
        return Check(level="error", code="LogDirectoryIsAFile", message=message, hint=_("Choose another folder."))
    if not os.access(there, os.W_OK):
        message = _("The log directory can't be written: {folder} is read-only for this server's user.", folder=there)
        return Check(level="warning", code="LogDirectoryReadOnly", message=message)
    try:
        used = there == name.rstrip("/") and bool(os.listdir(there))  # noqa: PTH208
    except OSError:  # The folder is writable but can't be listed, so its content is unknown.
        used = False
    if not used:
        return None
    message = _(
        "The log directory {folder} is not empty: the curves of an earlier run and this one will be mixed.", folder=name
    )
    hint = _("Give the job another name or log directory.")
    return Check(level="warning", code="LogDirectoryInUse", message=message, hint=hint)
