"""What can be said of a job before it runs: errors, warnings, hints, and what is well."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from ..core.engine import Check
from ..core.errors import FieldError
from ..core.spec import JobSpec
from .kernels import Kernels, install_command, refused
from .model import Kernel, ScriptOption
from .source import Source

# Where the package that brings a module has another name.
PACKAGES = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}


async def check(spec: JobSpec, source: Source | None, kernel: Kernel | None, kernels: Kernels) -> list[Check]:
    """Return what the script's text and the kernel tell about a job.

    Parameters
    ----------
    spec
        The job.
    source
        Its script or notebook; None for a module or a command.
    kernel
        The kernel that it would run in; None if there is none.
    kernels
        To ask for missing modules.
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
                message=f"The Python of “{kernel.display_name}” did not say what is installed in it.",
                hint=f"Choose another kernel unless {kernel.python} works.",
                field="/spec/runtime/kernel",
            )
        )
    if source is not None and source.error is None and kernel is not None and refusal is None:
        found += await _modules(source, kernel, kernels)
    found += of_script(spec, source)
    found += await asyncio.to_thread(log_directories, spec)
    return worst_first(found)


def of_script(spec: JobSpec, source: Source | None) -> list[Check]:
    """Return what the text of a job's script tells about it, wherever it runs."""
    if source is None:
        return []
    if source.error is not None:
        return [Check.of(source.error).model_copy(update={"link": source.link(source.error.line)})]
    return [*_options(spec, source), *_repeated(spec, source), *_distribution(spec, source), *_skipped(source)]


def worst_first(found: list[Check]) -> list[Check]:
    """Return lines in the order in which they are shown: errors first."""
    order = ("error", "warning", "hint", "passed")
    return sorted(found, key=lambda line: order.index(line.level))


async def _modules(source: Source, kernel: Kernel, kernels: Kernels) -> list[Check]:
    lines = {module.name: module.line for module in source.script.info.imports}
    extra = ["tensorboard"] if source.script.info.writes_events else []
    try:
        missing = await kernels.missing(kernel.name, [*lines, *extra])
    except FieldError:  # removed since it was listed: that is said at its own field
        return []
    needed = [name for name in lines if name in missing]
    found: list[Check] = []
    if needed:
        packages = sorted({PACKAGES.get(name, name) for name in needed})
        found.append(
            Check(
                level="warning",
                code="ModulesMissing",
                message=f"{listed(needed)} can't be found in “{kernel.display_name}”: the import will fail.",
                hint=f"Install with: {install_command(kernel, *packages)}",
                field="/spec/runtime/kernel",
                link=source.link(lines[needed[0]]),
            )
        )
    elif "tensorboard" in missing:
        found.append(
            Check(
                level="warning",
                code="NoEventWriter",
                message=f"tensorboard is not installed in “{kernel.display_name}”, so no curves will be written.",
                hint=f"Install it with: {install_command(kernel, 'tensorboard')}",
                field="/spec/runtime/kernel",
            )
        )
    present = [name for name in lines if name not in missing]
    if present and not needed and kernel.torch is not None:
        verb = "is" if len(present) == 1 else "are"
        message = f"{listed(present)} {verb} installed in this kernel."
        found.append(Check(level="passed", code="ModulesInstalled", message=message))
    return found


def _options(spec: JobSpec, source: Source) -> list[Check]:
    return [
        Check(
            level="warning",
            code="OptionMissing",
            message=f"{source.path.name} asks for {(option.flags or [option.dest])[0]}, which has no value.",
            field="/spec/args",
            link=source.link(option.line),
        )
        for option in unfilled(source.script.info.options, spec.args)
    ]


def _repeated(spec: JobSpec, source: Source) -> list[Check]:
    """Say which options stand in the arguments more than once, where only the last one counts."""
    option_of = {
        flag: option
        for option in source.script.info.options
        if not option.repeatable
        for flag in (*option.flags, *([option.off_flag] if option.off_flag else []))
    }
    seen: set[str] = set()
    found: list[Check] = []
    words = spec.args[: spec.args.index("--")] if "--" in spec.args else spec.args
    for index, word in enumerate(words):
        option = option_of.get(word.partition("=")[0])
        if option is None:
            continue
        if option.dest in seen:
            message = f"{option.flags[0]} is given more than once: only the last one counts."
            field = f"/spec/args/{index}"
            found.append(
                Check(level="warning", code="OptionTwice", message=message, hint="Remove the other one.", field=field)
            )
        seen.add(option.dest)
    return found


def unfilled(options: list[ScriptOption], args: list[str]) -> list[ScriptOption]:
    """Return the required options that the arguments do not give."""
    given = {argument.partition("=")[0] for argument in args}
    takes_value = {flag for option in options if option.kind != "flag" for flag in option.flags}
    values_of_flags = sum(1 for argument in args if argument in takes_value)
    loose = sum(1 for argument in args if not argument.startswith("-")) - values_of_flags
    result: list[ScriptOption] = []
    for option in options:
        if not option.flags and option.required:
            loose -= 1
        if option.required and (not given.intersection(option.flags) if option.flags else loose < 0):
            result.append(option)
    return result


def _distribution(spec: JobSpec, source: Source) -> list[Check]:
    if spec.torchrun is None or (spec.torchrun.proc_per_node == 1 and spec.total_replicas == 1):
        return []
    if not source.script.info.distributed:
        message = f"{source.path.name} starts no process group, so every process does all the work by itself."
        hint = "Use DistributedDataParallel, or one process."
        return [Check(level="hint", code="NotDistributed", message=message, hint=hint, link=source.link(None))]
    lines = source.script.unsampled_loaders
    if not lines:
        return []
    message = "The loader has no DistributedSampler, so every process sees all the data. That may be what you want."
    return [Check(level="hint", code="NoSampler", message=message, link=source.link(lines[0]))]


def _skipped(source: Source) -> list[Check]:
    count = len(source.converted.skipped) if source.converted else 0
    if not count:
        return []
    lines = "1 line" if count == 1 else f"{count} lines"
    message = f"{lines} of the notebook only IPython understands; the job leaves {'it' if count == 1 else 'them'} out."
    return [Check(level="hint", code="LinesSkipped", message=message, link=source.link(None))]


def log_directories(spec: JobSpec, here: Callable[[str], str | None] = str) -> list[Check]:
    """Return what there is to say about the log directories: the first thing that is wrong, or that they are well.

    Parameters
    ----------
    here
        Returns where this machine sees a path of the job; None if it does not.
    """
    places = [here(name) for name in spec.tensorboard.log_dirs]
    for index, place in enumerate(places):
        problem = _log_directory(place) if place is not None else None
        if problem is not None:
            return [problem.model_copy(update={"field": f"/spec/tensorboard/log_dirs/{index}"})]
    if places and None not in places:
        return [Check(level="passed", code="LogDirectoryEmpty", message="The log directory is empty.")]
    return []


def _log_directory(name: str) -> Check | None:
    """Return what is wrong with a log directory; by `os.path`, for `Path` raises at long names."""
    if not os.path.isabs(name):  # noqa: PTH117
        message = f"The log directory {name} must be an absolute path."
        return Check(level="error", code="LogDirectoryNotAbsolute", message=message, hint="Begin it with a slash.")
    there = next(str(folder) for folder in (Path(name), *Path(name).parents) if os.path.exists(folder))  # noqa: PTH110
    if not os.path.isdir(there):  # noqa: PTH112
        message = f"The log directory {name} can't be made: {there} is a file."
        if there == name.rstrip("/"):
            message = f"The log directory {name} is a file."
        return Check(level="error", code="LogDirectoryIsAFile", message=message, hint="Choose another folder.")
    if not os.access(there, os.W_OK):
        message = f"The log directory can't be written: {there} is read-only for this server's user."
        return Check(level="warning", code="LogDirectoryReadOnly", message=message)
    try:
        used = there == name.rstrip("/") and bool(os.listdir(there))  # noqa: PTH208
    except OSError:  # it may be written but not listed: nothing is known of what is in it
        used = False
    if not used:
        return None
    message = f"{name} has files in it: the curves of an earlier run and this one will be mixed."
    hint = "Give the job another name or log directory."
    return Check(level="warning", code="LogDirectoryInUse", message=message, hint=hint)


def listed(names: list[str], word: str = "and") -> str:
    """Return names as a person lists them: “a, b and c”."""
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
