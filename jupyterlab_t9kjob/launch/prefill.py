"""Derives the spec of a new job from a file, or from the spec of an earlier job."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Literal

from ..core.engine.info import EngineInfo
from ..core.job import JobSummary
from ..core.spec import Device, Entrypoint, JobSpec, Runtime, TensorBoardSpec, Torchrun
from ..core.texts.job_names import name_from, numbered
from ..jobs.renaming import renamed
from .kernels.kernels import refused
from .model import Kernel, ScriptOption
from .options.resume import with_checkpoint_of
from .source_file import Source

RUNS = "runs"
MAX_LISTED = 10_000
LOCAL_RANK = "${local_rank}"
"""torchrun replaces this text in a script's arguments by the local rank of each process."""


def choose_kernel(kernels: list[Kernel], wanted: str | None) -> Kernel | None:
    """Choose the kernel of a job: the notebook's own, else the first that has torch, else the first that is enabled.

    The last case lets the checks explain how to install torch.

    Parameters
    ----------
    kernels
        The lab's kernels, the default kernel first.
    wanted
        Name of the kernel in the notebook's metadata; None for a script.
    """
    own = [kernel for kernel in kernels if kernel.name == wanted and kernel.enabled]
    enabled = [kernel for kernel in kernels if kernel.enabled]
    with_torch = [kernel for kernel in enabled if kernel.torch is not None and refused(kernel) is None]
    return next(iter([*own, *with_torch, *enabled]), None)


def fresh_spec(source: Source, kernel: Kernel | None, engine: EngineInfo | None, taken: set[str]) -> JobSpec:
    """Return the spec of a new job that runs a file.

    Parameters
    ----------
    source
        The script or notebook.
    kernel
        The kernel that runs the job.
    engine
        The engine; its machine decides the number of processes and GPUs.
    taken
        Names that the new job can't have.
    """
    folder = source.folder
    name = numbered(name_from(source.path.stem), taken)
    processes, device = _size(kernel, engine)
    spec = JobSpec(
        name=name,
        display_name=None if source.path.stem.isascii() else source.path.stem[:256],
        entrypoint=_entrypoint(source),
        args=_arguments(source, f"{RUNS}/{name}"),
        working_dir=str(folder),
        runtime=Runtime(kernel=kernel.name if kernel else None),
        # A script that starts its processes itself is started once.
        torchrun=None if source.script.launch else Torchrun(proc_per_node=processes),
        tensorboard=TensorBoardSpec(log_dirs=[str(_log_directory(source, name))]),
    )
    spec.replica_specs[0].resources.device = device
    return spec


def adapted_spec(
    base: JobSpec, source: Source | None, kernels: list[Kernel], taken: set[str], *, keep_name: bool = False
) -> JobSpec:
    """Return the spec of a new job that repeats an earlier one.

    Parameters
    ----------
    base
        Spec of the earlier job.
    source
        The file that the new job runs instead; None to keep the entrypoint.
    kernels
        The lab's kernels. If the earlier job's kernel is gone, another one is chosen.
    taken
        Names that the new job can't have.
    keep_name
        Keep the name of `base`, even if it is taken.
    """
    spec = base.model_copy() if keep_name else renamed(base, numbered(base.name, taken))
    if source is not None:
        spec.args = with_checkpoint_of(base.args, spec.args, source.script.info.options)
    if source is not None and base.entrypoint.kind in ("script", "notebook"):
        spec.entrypoint = Entrypoint(kind=source.kind, value=str(source.path))
    if spec.runtime.kernel not in {kernel.name for kernel in kernels}:
        kernel = choose_kernel(kernels, source.kernel if source else None)
        spec.runtime = spec.runtime.model_copy(update={"kernel": kernel.name if kernel else None})
    return spec


def _entrypoint(source: Source) -> Entrypoint:
    if source.module is not None:
        return Entrypoint(kind="module", value=source.module)
    return Entrypoint(kind=source.kind, value=str(source.path))


def follows_name(spec: JobSpec, options: list[ScriptOption]) -> list[str]:
    """Return the flags in a spec's arguments whose value is a path in the job's own log directory.

    Parameters
    ----------
    spec
        The job.
    options
        Options of the script's argparse parser.
    """
    flags = {flag for option in options if _holds_run(option) for flag in option.flags}
    own = f"{RUNS}/{spec.name}"
    given = [*zip(spec.args, spec.args[1:], strict=False), *(word.partition("=")[::2] for word in spec.args)]
    return [flag for flag, value in given if flag in flags and (value == own or value.startswith(f"{own}/"))]


def runs_folder(source: Source | None, base: JobSpec | None, root: Path) -> Path:
    """Return the parent folder of the log directories.

    Parameters
    ----------
    source
        The job's file; the folder is beside it.
    base
        Spec of an earlier job, whose folder is used if there is no file.
    root
        Folder to use if neither determines one.
    """
    if source is not None:
        return source.folder / RUNS
    if base is None:
        return root / RUNS
    own = (Path(folder) for folder in base.tensorboard.log_dirs)
    return next((folder.parent for folder in own if folder.name == base.name), Path(base.working_dir or root) / RUNS)


def names_of(jobs: Iterable[JobSummary]) -> set[str]:
    """Return the names of jobs and of their sweeps: a sweep numbers its jobs, and so would a new one of its name."""
    return {name for job in jobs for name in (job.name, job.sweep.name if job.sweep else job.name)}


def taken_names(jobs: set[str], runs: Path) -> set[str]:
    """Return the names that a new job can't have. Blocks: call it in a thread.

    A log directory that an earlier job left also takes its name, so that the runs stay separate in TensorBoard.

    Parameters
    ----------
    jobs
        Names of existing jobs.
    runs
        Parent folder of the log directories.
    """
    try:
        with os.scandir(runs) as entries:
            return jobs | {entry.name for _, entry in zip(range(MAX_LISTED), entries, strict=False)}
    except OSError:
        return jobs


def _holds_run(option: ScriptOption) -> bool:
    folder = option.kind == "text" and bool(option.flags) and not option.library
    return folder and not {"events", "checkpoints"}.isdisjoint(option.roles)


def _arguments(source: Source, run: str) -> list[str]:
    """Return arguments by which the script writes its events and checkpoints to the job's own log directory."""
    arguments: list[str] = []
    outputs = source.script.outputs
    for option in filter(_holds_run, source.script.info.options):
        value = run
        if "events" not in option.roles:
            target = outputs.checkpoints
            if target is not None and target.is_file:
                name = PurePosixPath(option.default or "").name
                value = f"{run}/{name if '.' in name else 'model.pt'}"
            elif not outputs.makes_folders:
                continue  # torch.save does not create the folder.
        arguments += [f"{option.flags[0]}={value}"] if option.syntax != "separate" else [option.flags[0], value]
    own = source.script.local_rank
    if own is not None:
        arguments.append(f"{own.flags[0]}={LOCAL_RANK}")
    return arguments


def _log_directory(source: Source, name: str) -> Path:
    """Return the folder for the job's events: the script's own folder if it always writes to the same one."""
    events = source.script.outputs.events
    constant = events.constant if events is not None and source.script.info.writes_events else None
    if constant is not None and events is not None and events.option is None:
        return source.folder / constant
    return source.folder / RUNS / name


def _size(kernel: Kernel | None, engine: EngineInfo | None) -> tuple[int | Literal["gpu"], Device | None]:
    """Return the processes per node and the devices: all free GPUs, else two processes on the CPU."""
    machine = engine.machine if engine else None
    free = [device for device in machine.devices if device.used_by is None] if machine else []
    usable = min(len(free), kernel.torch.devices) if kernel and kernel.torch else 0
    if usable:
        return "gpu", Device(count=usable)
    return min(2, machine.cpus if machine else 2), None
