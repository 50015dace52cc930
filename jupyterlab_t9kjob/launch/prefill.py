"""From a file to a job that is ready to submit."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Literal

from ..core.engine_info import EngineInfo
from ..core.spec import Device, Entrypoint, JobSpec, Runtime, TensorBoardSpec, Torchrun, name_from, numbered
from ..jobs.service import renamed
from .kernels.kernels import refused
from .model import Kernel, ScriptOption
from .source_file import Source

RUNS = "runs"
LOG_OPTIONS = frozenset({"log_dir", "logdir", "tensorboard_dir"})
SAVE_OPTIONS = frozenset({"save_path"})
MAX_LISTED = 10_000


def choose_kernel(kernels: list[Kernel], wanted: str | None) -> Kernel | None:
    """Choose where the job runs: the notebook's own kernel, else the first that has torch.

    The default kernel comes first in `kernels`. If none has torch the first that is enabled is
    taken: its refusal says how to install it.
    """
    own = [kernel for kernel in kernels if kernel.name == wanted and kernel.enabled]
    enabled = [kernel for kernel in kernels if kernel.enabled]
    with_torch = [kernel for kernel in enabled if kernel.torch is not None and refused(kernel) is None]
    return next(iter([*own, *with_torch, *enabled]), None)


def fresh_spec(source: Source, kernel: Kernel | None, engine: EngineInfo | None, taken: set[str]) -> JobSpec:
    """Return the job that a file amounts to.

    Parameters
    ----------
    source
        The script or notebook.
    kernel
        Where it runs.
    engine
        The engine, for the size of its machine.
    taken
        Names of jobs that are in use.
    """
    folder = source.folder
    name = numbered(name_from(source.path.stem), taken)
    processes, device = _size(kernel, engine)
    spec = JobSpec(
        name=name,
        display_name=None if source.path.stem.isascii() else source.path.stem[:256],
        entrypoint=_entrypoint(source),
        args=_arguments(source.script.info.options, f"{RUNS}/{name}"),
        working_dir=str(folder),
        runtime=Runtime(kernel=kernel.name if kernel else None),
        # A script that starts its processes itself is started once.
        torchrun=None if source.script.launch else Torchrun(proc_per_node=processes),
        tensorboard=TensorBoardSpec(log_dirs=[str(folder / RUNS / name)]),
    )
    spec.replica_specs[0].resources.device = device
    return spec


def adapted_spec(
    base: JobSpec, source: Source | None, kernels: list[Kernel], taken: set[str], *, keep_name: bool = False
) -> JobSpec:
    """Return an earlier job's spec (a clone, as last time) for a new job, of a file if there is one."""
    spec = base.model_copy() if keep_name else renamed(base, numbered(base.name, taken))
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
    """Return the flags in a spec's arguments whose value lies in the job's own log directory."""
    flags = {flag for option in options if _holds_run(option) for flag in option.flags}
    own = f"{RUNS}/{spec.name}"
    return [
        flag
        for flag, value in zip(spec.args, spec.args[1:], strict=False)
        if flag in flags and (value == own or value.startswith(f"{own}/"))
    ]


def runs_folder(source: Source | None, base: JobSpec | None, root: Path) -> Path:
    """Return where each run has a directory by its job's name: beside the file, else where `base` has its own."""
    if source is not None:
        return source.folder / RUNS
    if base is None:
        return root / RUNS
    own = (Path(folder) for folder in base.tensorboard.log_dirs)
    return next((folder.parent for folder in own if folder.name == base.name), Path(base.working_dir or root) / RUNS)


def taken_names(jobs: set[str], runs: Path) -> set[str]:
    """Return the names that a new job should not get. Blocks: call it in a thread.

    Those of jobs, and of the log directories that earlier jobs left: runs must stay comparable.
    """
    try:
        with os.scandir(runs) as entries:
            return jobs | {entry.name for _, entry in zip(range(MAX_LISTED), entries, strict=False)}
    except OSError:
        return jobs


def _holds_run(option: ScriptOption) -> bool:
    return option.kind == "text" and bool(option.flags) and option.dest.lower() in LOG_OPTIONS | SAVE_OPTIONS


def _arguments(options: list[ScriptOption], run: str) -> list[str]:
    arguments: list[str] = []
    for option in filter(_holds_run, options):
        value = run
        if option.dest.lower() in SAVE_OPTIONS:
            name = PurePosixPath(option.default or "").name
            value = f"{run}/{name if '.' in name else 'model.pt'}"
        arguments += [option.flags[0], value]
    return arguments


def _size(kernel: Kernel | None, engine: EngineInfo | None) -> tuple[int | Literal["gpu"], Device | None]:
    """Return processes a node and the devices for them: all free GPUs, else two on the CPU."""
    machine = engine.machine if engine else None
    free = [device for device in machine.devices if device.used_by is None] if machine else []
    usable = min(len(free), kernel.torch.devices) if kernel and kernel.torch else 0
    if usable:
        return "gpu", Device(count=usable)
    return min(2, machine.cpus if machine else 2), None
