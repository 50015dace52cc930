"""What is wrong with a spec on this machine, before anything is created."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ....core.checks import Capability, Check
from ....core.features import unsupported
from ....core.interpreter import Interpreter
from ....core.quantity import amount
from ....core.spec import Entrypoint, JobSpec
from ..devices.machine import cpu_count
from ..devices.pool import DevicePool, PooledDevice
from .argument_checks import word_checks
from .command import entrypoints_of, processes_of, working_directory
from .limits import most_memory, most_processes
from .programs import program_checks, search_path

CAPABILITIES: dict[str, Capability] = {
    name: Capability(supported=reason is None, reason=reason)
    for name, reason in {
        "pause": None,
        "torchrun": None,
        "replicas": None,
        "deadline": None,
        "devices": None,
        "restarts": None,
        "elastic": "Elastic jobs need several nodes that come and go; this machine is one.",
        "restart_always": "A local job that always restarts would never end; choose OnFailure.",
        "secrets": "Secrets live in a cluster; give a plain value on this machine.",
        "scaling_weight": "Only elastic jobs scale.",
        "resume": None,
        "resume_command": "Resuming can change the arguments of a job on this machine, nothing else.",
        "replica_types": None,
        "skip_init": "Jobs on this machine have no init containers.",
        "priority": "This machine has no priorities; jobs that need GPUs wait for each other in order.",
        "queue": "This machine has no queues; jobs that need GPUs wait for each other in order.",
        "scheduling": "There is only one machine to choose from.",
        "image": "Jobs on this machine run in a kernel's Python, not in an image.",
        "mounts": "Jobs on this machine see its paths as they are.",
        "shm": "Shared memory on this machine is as large as it is.",
        "resource_limits": "CPU and memory limits are not enforced on this machine.",
        "debug": "Debug mode is for clusters; open a terminal here instead.",
        "ttl": "Records stay until they are removed.",
        "source": "Jobs on this machine run the files where they are.",
        "cluster_tensorboard": "TensorBoard runs in JupyterLab for jobs on this machine.",
        "security": "Jobs on this machine run as the user of the server.",
        "extra": "There is no manifest on this machine that it could change.",
        "exec": "Open a terminal: the processes run on this machine.",
    }.items()
}
MOST_REPLICAS = 256
"""Each is a torchrun of its own, of 200 MB."""
MOST_PROCESSES = 1024
LEAST_MEMORY = 100 * 1024**2
"""Bytes that a process has for itself once it has imported PyTorch; 144 MiB with PyTorch 2.13 for CPUs on Linux."""
_OURS = (
    "--nnodes", "--nproc", "--rdzv", "--redirects", "-r", "--log-dir", "--standalone",
    "--max-restarts", "--tee", "-t", "--node-rank", "--master", "-m", "--module", "--no-python",
    "--run-path", "--local-addr", "--is-host",
)  # fmt: skip


class Checker:
    """Checks one spec (blocking: it reads the script).

    Parameters
    ----------
    spec
        What is to be checked.
    interpreters
        The Python of each replica type.
    root
        The contents root.
    pool
        Accelerators of this machine.
    names
        Names that are taken.
    """

    def __init__(
        self,
        spec: JobSpec,
        interpreters: Mapping[str, Interpreter],
        root: Path | None,
        pool: DevicePool,
        names: set[str],
    ) -> None:
        self._spec = spec
        self._interpreters = interpreters
        self._cwd = working_directory(spec, root)
        self._pool = pool
        self._names = names

    def run(self) -> list[Check]:
        """Return everything there is to say, errors first."""
        order = {"error": 0, "warning": 1, "hint": 2, "passed": 3}
        return sorted(self._all(), key=lambda check: order[check.level])

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files and folders that are looked at, each with the field that names it."""
        if self._spec.working_dir:
            yield "/spec/working_dir", self._cwd
        for field, entrypoint in entrypoints_of(self._spec).items():
            if entrypoint.kind in ("script", "notebook"):
                yield field, Path(entrypoint.value)
        for group in self._spec.replica_specs:
            if (group.entrypoint or self._spec.entrypoint).kind == "command":
                for folder in search_path(self._spec, group, self._interpreters[group.type]):
                    yield "/spec/entrypoint/value", self._cwd / folder
        for interpreter in self._interpreters.values():
            yield "/spec/runtime/kernel", Path(interpreter.python)

    def _all(self) -> Iterator[Check]:
        yield from self._name()
        yield from unsupported(self._spec, CAPABILITIES)
        yield from self._directory()
        yield from word_checks(self._spec, self._interpreters, self._cwd)
        yield from program_checks(self._spec, self._interpreters, self._cwd)
        for field, entrypoint in entrypoints_of(self._spec).items():
            yield from self._entrypoint(entrypoint, field)
        for index, group in enumerate(self._spec.replica_specs):
            if group.entrypoint is not None:
                field = f"/spec/replica_specs/{index}/entrypoint/value"
                if group.entrypoint.kind == "notebook":
                    message = "Only the job's own entrypoint can be a notebook, not that of one replica type."
                    yield _error("NotebookOfOneType", message, field, "Save the notebook as a script.")
        yield from self._python()
        yield from self._size()
        yield from self._options()
        yield from self._log_directories()

    def _name(self) -> Iterator[Check]:
        name = self._spec.name
        if name in self._names:
            message = f"There is a job named “{name}” already."
            yield _error("NameTaken", message, "/spec/name", "Choose another name, or delete that job.")
        else:
            yield Check(level="passed", code="NameFree", message=f"{name} is free.")

    def _directory(self) -> Iterator[Check]:
        field = "/spec/working_dir"
        if not self._spec.working_dir and self._spec.entrypoint.kind == "script":
            return  # the script's own folder, and the script is checked
        if not self._cwd.is_absolute():
            hint = "Begin it with a slash."
            yield _error("NotAbsolute", "The working directory is not an absolute path.", field, hint)
            return
        code = reason = None
        try:
            if not stat.S_ISDIR(self._cwd.stat().st_mode):
                raise NotADirectoryError
            if not os.access(self._cwd, os.X_OK):
                code, reason = "Unreadable", "can't be entered: Permission denied"
        except FileNotFoundError:
            code, reason = "NoDirectory", "does not exist"
        except NotADirectoryError:
            code, reason = "NotADirectory", "is not a folder"
        except OSError as error:
            code, reason = "Unreadable", f"can't be entered: {error.strerror}"
        if code is not None:
            message = f"The working directory {self._cwd} {reason}."
            yield _error(code, message, field, "Choose a folder that exists and may be entered.")

    def _entrypoint(self, entrypoint: Entrypoint, field: str) -> Iterator[Check]:
        """Check that a script is there; what is in it is the launch form's to check."""
        if entrypoint.kind != "script":
            return
        path = Path(entrypoint.value)
        if not path.is_absolute():
            yield _error("NotAbsolute", "The entrypoint must be an absolute path.", field)
            return
        try:
            mode = path.stat().st_mode  # not opened: a named pipe would wait for its other end
        except FileNotFoundError:
            hint = "Choose another file; a new one must be saved first."
            yield _error("ScriptGone", f"{path.name} does not exist, or no longer.", field, hint)
        except OSError:
            yield _error("Unreadable", f"{path.name} can't be read.", field, "See who may read the file.")
        else:
            if stat.S_ISDIR(mode):
                hint = "Choose the script or notebook in it that is to run."
                yield _error("IsAFolder", f"{path.name} is a folder.", field, hint)
            elif not stat.S_ISREG(mode) or not os.access(path, os.R_OK):
                yield _error("Unreadable", f"{path.name} can't be read.", field, "See who may read the file.")

    def _python(self) -> Iterator[Check]:
        for interpreter in {i.python: i for i in self._interpreters.values()}.values():
            python = Path(interpreter.python)
            if not (python.is_file() and os.access(python, os.X_OK)):
                message = f"The Python of kernel “{interpreter.kernel}”, {python}, is not there."
                hint = "Choose another kernel, or install this one again."
                yield _error("NoPython", message, "/spec/runtime/kernel", hint)

    def _size(self) -> Iterator[Check]:
        devices = self._pool.devices()
        yield from self._device_counts(devices)
        torchrun = self._spec.torchrun
        replicas = self._spec.total_replicas
        processes = sum((processes_of(self._spec, group) or 0) * group.replicas for group in self._spec.replica_specs)
        if replicas > MOST_REPLICAS:
            message = f"{replicas} replicas are more than one machine can run: each is a launcher of its own."
            hint = f"Ask for at most {MOST_REPLICAS}; processes per replica cost less."
            yield _error("TooManyReplicas", message, "/spec/replica_specs/0/replicas", hint)
        elif processes > MOST_PROCESSES:
            message = f"{processes} processes are more than one machine can run."
            field = "/spec/torchrun/proc_per_node"
            yield _error("TooManyProcesses", message, field, f"Ask for at most {MOST_PROCESSES} in all.")
        else:
            yield from self._limits(processes)
        yield from self._requested_memory()
        if torchrun is None:
            return
        field = "/spec/torchrun/proc_per_node"
        asked = [group.resources.device_count for group in self._spec.replica_specs]
        if torchrun.proc_per_node != "gpu":
            cores = cpu_count()
            if processes > cores:
                message = f"{processes} processes share {cores} CPU cores and slow each other down."
                yield Check(level="warning", code="FewCores", message=message, field=field)
            few = min(filter(None, asked), default=None)
            if few is not None and few < torchrun.proc_per_node:
                message = f"{torchrun.proc_per_node} processes share {_gpus(few)}, and NCCL wants one for each."
                hint = f"Set {few} processes, or one for each GPU."
                yield Check(level="warning", code="SharedDevices", message=message, field=field, hint=hint)
        elif not devices:
            message = "One process per GPU was asked for, and this machine has no GPU."
            yield _error("NoDevices", message, field, self._pool.problem() or "Set a number, such as 2.")
        elif 0 in asked:
            message = "One process per GPU was asked for, and no GPUs."
            yield _error("NoDevicesAsked", message, _device_field(asked.index(0)), "Set how many GPUs the job needs.")

    def _limits(self, ranks: int) -> Iterator[Check]:
        """Check that this machine can start so many processes, and hold them in memory."""
        launched = self._spec.torchrun is not None
        processes = ranks + self._spec.total_replicas * launched
        field = "/spec/torchrun/proc_per_node" if launched else "/spec/replica_specs/0/replicas"
        most = most_processes()
        if most is not None and processes > most:
            message = f"The job starts {processes} processes, and only {most} are allowed here."
            hint = "Ask for fewer, or have the limit on processes raised (ulimit -u, or the container's pids limit)."
            yield _error("TooManyProcesses", message, field, hint)
            return
        memory = most_memory()
        if launched and processes * LEAST_MEMORY > memory:
            message = (
                f"{_processes(processes)} that import PyTorch need {_size(processes * LEAST_MEMORY)} of memory or more,"
                f" and this machine has {_size(memory)}."
            )
            fewer = memory // LEAST_MEMORY - self._spec.total_replicas
            hint = f"Ask for at most {fewer} in all." if fewer > 0 else "Ask for fewer nodes."
            yield _error("TooLittleMemory", message, field, hint)

    def _requested_memory(self) -> Iterator[Check]:
        asked = [(amount(group.resources.memory.request) or 0) * group.replicas for group in self._spec.replica_specs]
        memory = most_memory()
        if sum(asked) > memory:
            message = f"The job asks for {_size(sum(asked))} of memory, and this machine has {_size(memory)}."
            field = f"/spec/replica_specs/{asked.index(max(asked))}/resources/memory/request"
            yield _error("TooLittleMemory", message, field, "Ask for less, or run the job in a cluster.")

    def _device_counts(self, devices: list[PooledDevice]) -> Iterator[Check]:
        """Check how many accelerators are asked for, which every job is either granted or refused for good."""
        asked = [group.resources.device_count for group in self._spec.replica_specs]
        totals = [count * group.replicas for count, group in zip(asked, self._spec.replica_specs, strict=True)]
        field = _device_field(totals.index(max(totals)))
        if sum(totals) > len(devices):
            has = f"has {len(devices)}" if devices else "has none"
            message = f"The job asks for {_gpus(sum(totals))}, and this machine {has}."
            hint = f"Ask for at most {len(devices)}." if devices else "Ask for none; the job then runs on the CPU."
            yield _error("TooManyDevices", message, field, self._pool.problem() or hint)
        elif devices and not sum(totals):
            message = "The job asks for no GPU, so it sees none and runs on the CPU."
            yield Check(level="hint", code="RunsOnCpu", message=message, field=field)
        elif max(asked) > 1 and any(device.gpu is not None and device.gpu.is_part for device in devices):
            message = "A process sees only one of several parts (MIG) of a GPU."
            hint = "Set 1 GPU, and several nodes."
            yield Check(level="warning", code="OnePartEach", message=message, field=field, hint=hint)

    def _log_directories(self) -> Iterator[Check]:
        for index, path in enumerate(self._spec.tensorboard.log_dirs):
            if not Path(path).is_absolute():
                message = f"The log directory {path} must be an absolute path."
                yield _error("LogDirectoryNotAbsolute", message, f"/spec/tensorboard/log_dirs/{index}")

    def _options(self) -> Iterator[Check]:
        torchrun = self._spec.torchrun
        for index, option in enumerate(torchrun.extra_options if torchrun else []):
            name = option.split("=", 1)[0].replace("_", "-")
            if any(name == own or (own.startswith("--") and name.startswith(own)) for own in _OURS):
                message = f"The option {name} of torchrun is set by the job itself."
                field = f"/spec/torchrun/extra_options/{index}"
                yield _error("OwnOption", message, field, "Remove it from the extra options.")


def first_error(checks: Iterable[Check]) -> Check | None:
    """Return the error that is to be mended first."""
    return next((check for check in checks if check.level == "error"), None)


def _error(code: str, message: str, field: str, hint: str | None = None) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


def _device_field(group: int) -> str:
    return f"/spec/replica_specs/{group}/resources/device"


def _processes(count: int) -> str:
    return "1 process" if count == 1 else f"{count} processes"


def _size(size: float) -> str:
    return f"{size / 1024**3:.3g} GiB"


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
