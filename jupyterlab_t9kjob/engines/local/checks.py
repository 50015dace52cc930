"""What is wrong with a spec on this machine, before anything is created."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.engine import Capability, Check
from ...core.features import unsupported
from ...core.spec import Entrypoint, JobSpec
from .command import Interpreter, working_directory

CAPABILITIES: dict[str, Capability] = {
    name: Capability(supported=reason is None, reason=reason)
    for name, reason in {
        "pause": None,
        "torchrun": None,
        "replicas": None,
        "deadline": None,
        "devices": None,
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
    devices
        Accelerators of this machine.
    names
        Names that are taken.
    """

    def __init__(
        self,
        spec: JobSpec,
        interpreters: dict[str, Interpreter],
        root: Path | None,
        devices: int,
        names: set[str],
    ) -> None:
        self._spec = spec
        self._interpreters = interpreters
        self._cwd = working_directory(spec, root)
        self._devices = devices
        self._names = names

    def run(self) -> list[Check]:
        """Return everything there is to say, errors first."""
        order = {"error": 0, "warning": 1, "hint": 2, "passed": 3}
        return sorted(self._all(), key=lambda check: order[check.level])

    def _all(self) -> Iterator[Check]:
        yield from self._name()
        yield from unsupported(self._spec, CAPABILITIES)
        yield from self._directory()
        yield from self._entrypoint(self._spec.entrypoint, "/spec/entrypoint/value")
        for index, group in enumerate(self._spec.replica_specs):
            if group.entrypoint is not None:
                field = f"/spec/replica_specs/{index}/entrypoint/value"
                yield from self._entrypoint(group.entrypoint, field)
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
            yield _error("NameTaken", message, "/spec/name", "Choose another name.")
        else:
            yield Check(level="passed", code="NameFree", message=f"{name} is free.")

    def _directory(self) -> Iterator[Check]:
        field = "/spec/working_dir"
        if not self._spec.working_dir and self._spec.entrypoint.kind == "script":
            return  # the script's own folder, and the script is checked
        if not self._cwd.is_absolute():
            yield _error("NotAbsolute", "The working directory is not an absolute path.", field)
        elif not self._cwd.exists():
            message = f"The working directory {self._cwd} does not exist."
            yield _error("NoDirectory", message, field, "Choose a folder that exists.")
        elif not self._cwd.is_dir():
            yield _error("NotADirectory", f"{self._cwd} is not a folder.", field)
        elif not os.access(self._cwd, os.R_OK | os.X_OK):
            yield _error("Unreadable", f"The folder {self._cwd} may not be entered.", field)

    def _entrypoint(self, entrypoint: Entrypoint, field: str) -> Iterator[Check]:
        """Check that a script is there; what is in it is the launch form's to check."""
        if entrypoint.kind != "script":
            return
        path = Path(entrypoint.value)
        if not path.is_absolute():
            yield _error("NotAbsolute", "The entrypoint must be an absolute path.", field)
            return
        try:
            with path.open("rb"):
                return
        except FileNotFoundError:
            hint = "It may have been moved or renamed."
            yield _error("ScriptGone", f"{path.name} does not exist, or no longer.", field, hint)
        except IsADirectoryError:
            hint = "Choose the script in it that is to run."
            yield _error("IsAFolder", f"{path.name} is a folder.", field, hint)
        except OSError as error:
            message = f"{path.name} can't be read: {error.strerror}."
            yield _error("Unreadable", message, field, "See who may read the file.")

    def _python(self) -> Iterator[Check]:
        for interpreter in {i.python: i for i in self._interpreters.values()}.values():
            python = Path(interpreter.python)
            if not (python.is_file() and os.access(python, os.X_OK)):
                message = f"The Python of kernel “{interpreter.kernel}”, {python}, is not there."
                hint = "Choose another kernel, or install this one again."
                yield _error("NoPython", message, "/spec/runtime/kernel", hint)

    def _size(self) -> Iterator[Check]:
        asked = sum(
            group.replicas * group.resources.device.count
            for group in self._spec.replica_specs
            if group.resources.device is not None
        )
        if asked > self._devices:
            has = f"has {self._devices}" if self._devices else "has none"
            message = f"The job asks for {_gpus(asked)}, and this machine {has}."
            field = "/spec/replica_specs/0/resources/device"
            yield _error("TooManyDevices", message, field, f"Ask for at most {self._devices}.")
        torchrun = self._spec.torchrun
        if torchrun is None:
            return
        if torchrun.proc_per_node == "gpu" and not self._devices:
            message = "One process per GPU was asked for, and this machine has no GPU."
            field = "/spec/torchrun/proc_per_node"
            yield _error("NoDevices", message, field, "Set a number, such as 2.")
        elif torchrun.proc_per_node == "gpu" and any(
            group.resources.device is None for group in self._spec.replica_specs
        ):
            message = "One process per GPU was asked for, and no GPUs."
            field = "/spec/replica_specs/0/resources/device"
            yield _error("NoDevicesAsked", message, field, "Set how many GPUs the job needs.")
        elif isinstance(torchrun.proc_per_node, int):
            processes, cores = torchrun.proc_per_node * self._spec.total_replicas, cpu_count()
            if processes > cores:
                message = f"{processes} processes share {cores} CPU cores and slow each other down."
                field = "/spec/torchrun/proc_per_node"
                yield Check(level="warning", code="FewCores", message=message, field=field)

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


def cpu_count() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _error(code: str, message: str, field: str, hint: str | None = None) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
