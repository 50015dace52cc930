"""Checks of a spec on this machine before a job is created, and the capabilities of the local engine."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ....core.checks import Capability, Check
from ....core.engine.interpreter import Interpreter
from ....core.features import nested_launchers, unsupported
from ....core.running.source import is_in_repository
from ....core.spec import Entrypoint, JobSpec
from ....core.translation import Text, _
from ..devices.pool import DevicePool
from .argument_checks import word_checks
from .command import entrypoints_of, working_directory
from .programs import program_checks, search_path
from .size_checks import size_checks

CAPABILITIES: dict[str, Capability] = {
    name: Capability(supported=reason is None, reason=reason)
    for name, reason in {
        "pause": None,
        "torchrun": None,
        "replicas": None,
        "deadline": None,
        "devices": None,
        "diagnostics": None,
        "restarts": None,
        "elastic": _("Elastic jobs need several nodes that come and go; this machine is one."),
        "restart_always": _("A local job that always restarts would never end; choose OnFailure."),
        "secrets": _("Secrets live in a cluster; give a plain value on this machine."),
        "scaling_weight": _("Only elastic jobs scale."),
        "resume": None,
        "resume_evicted": _("Jobs on this machine are not evicted."),
        "resume_command": _("Resuming can change the arguments of a job on this machine, nothing else."),
        "replica_types": None,
        "skip_init": _("Jobs on this machine have no init containers."),
        "priority": _("This machine has no priorities; jobs that need GPUs wait for each other in order."),
        "queue": _("This machine has no queues; jobs that need GPUs wait for each other in order."),
        "scheduling": _("There is only one machine to choose from."),
        "image": _("Jobs on this machine run in a kernel's Python, not in an image."),
        "training_runtime": _("Only a TrainJob of Kubeflow Trainer has a training runtime."),
        "mounts": _("Jobs on this machine see its paths as they are."),
        "config_files": _("Jobs on this machine read its files where they are; write the file to its place."),
        "shm": _("The size of shared memory can't be changed on this machine."),
        "resource_limits": _("CPU and memory limits are not enforced on this machine."),
        "debug": None,
        "clean_up": None,  # There are no pods, so each value is true.
        "ttl": _("Records stay until they are removed."),
        "source": None,
        "cluster_tensorboard": _("TensorBoard runs in JupyterLab for jobs on this machine."),
        "security": _("Jobs on this machine run as the user of the server."),
        "extra": _("Jobs on this machine have no manifest to add fields to."),
        "exec": None,
    }.items()
}
_OURS = (
    "--nnodes", "--nproc", "--rdzv", "--redirects", "-r", "--log-dir", "--standalone",
    "--max-restarts", "--tee", "-t", "--node-rank", "--master", "-m", "--module", "--no-python",
    "--run-path", "--local-addr", "--is-host",
)  # fmt: skip


class Checker:
    """Checks one spec (blocking: it reads files).

    Parameters
    ----------
    spec
        The spec.
    interpreters
        Python of each replica type.
    root
        Root folder of the contents API.
    pool
        Accelerators of this machine.
    names
        Names of the jobs that exist.
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
        """Return all checks, errors first."""
        order = {"error": 0, "warning": 1, "hint": 2, "passed": 3}
        return sorted(self._all(), key=lambda check: order[check.level])

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files and folders that the checks read, each with the field that names it."""
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
        yield from nested_launchers(self._spec)
        yield from self._directory()
        yield from word_checks(self._spec, self._interpreters, self._cwd)
        yield from program_checks(self._spec, self._interpreters, self._cwd)
        for field, entrypoint in entrypoints_of(self._spec).items():
            yield from self._entrypoint(entrypoint, field)
        for index, group in enumerate(self._spec.replica_specs):
            if group.entrypoint is not None:
                field = f"/spec/replica_specs/{index}/entrypoint/value"
                if group.entrypoint.kind == "notebook":
                    message = _("Only the job's own entrypoint can be a notebook, not that of one replica type.")
                    yield _error("NotebookOfOneType", message, field, _("Save the notebook as a script."))
        yield from self._python()
        yield from size_checks(self._spec, self._pool)
        yield from self._options()
        yield from self._log_directories()

    def _name(self) -> Iterator[Check]:
        name = self._spec.name
        if name in self._names:
            message = _("There is a job named “{name}” already.", name=name)
            yield _error("NameTaken", message, "/spec/name", _("Choose another name, or delete that job."))
        else:
            yield Check(level="passed", code="NameFree", message=_("The name {name} is free.", name=name))

    def _directory(self) -> Iterator[Check]:
        field = "/spec/working_dir"
        if not self._spec.working_dir and self._spec.entrypoint.kind == "script":
            return  # The job runs in the script's folder, and the script is checked.
        if not self._cwd.is_absolute():
            hint = _("Begin it with a slash.")
            yield _error("NotAbsolute", _("The working directory is not an absolute path."), field, hint)
            return
        found = _folder_error(self._cwd)
        if found is not None:
            code, message = found
            yield _error(code, message, field, _("Choose a folder that exists and may be entered."))

    def _entrypoint(self, entrypoint: Entrypoint, field: str) -> Iterator[Check]:
        """Check that a script exists; the launch form checks its content."""
        if entrypoint.kind != "script":
            return
        path = Path(entrypoint.value)
        if is_in_repository(self._spec, entrypoint.value):
            return
        if not path.is_absolute():
            yield _error("NotAbsolute", _("The entrypoint must be an absolute path."), field)
            return
        unreadable = _("{name} can't be read.", name=path.name)
        try:
            mode = path.stat().st_mode  # The file is not opened, since a named pipe would block.
        except FileNotFoundError:
            hint = _("Choose another file; a new one must be saved first.")
            yield _error("ScriptGone", _("{name} does not exist, or no longer.", name=path.name), field, hint)
        except OSError:
            yield _error("Unreadable", unreadable, field, _("Check who may read the file."))
        else:
            if stat.S_ISDIR(mode):
                hint = _("Choose the script or notebook in it that shall run.")
                yield _error("IsAFolder", _("{name} is a folder.", name=path.name), field, hint)
            elif not stat.S_ISREG(mode) or not os.access(path, os.R_OK):
                yield _error("Unreadable", unreadable, field, _("Check who may read the file."))

    def _python(self) -> Iterator[Check]:
        for interpreter in {i.python: i for i in self._interpreters.values()}.values():
            python = Path(interpreter.python)
            if not (python.is_file() and os.access(python, os.X_OK)):
                message = _(
                    "The Python of kernel “{kernel}”, {path}, is not there.",
                    kernel=interpreter.kernel,
                    path=str(python),
                )
                hint = _("Choose another kernel, or install this one again.")
                yield _error("NoPython", message, "/spec/runtime/kernel", hint)

    def _log_directories(self) -> Iterator[Check]:
        for index, path in enumerate(self._spec.tensorboard.log_dirs):
            if not Path(path).is_absolute():
                message = _("The log directory {path} must be an absolute path.", path=path)
                yield _error("LogDirectoryNotAbsolute", message, f"/spec/tensorboard/log_dirs/{index}")

    def _options(self) -> Iterator[Check]:
        torchrun = self._spec.torchrun
        for index, option in enumerate(torchrun.extra_options if torchrun else []):
            name = option.split("=", 1)[0].replace("_", "-")
            if any(name == own or (own.startswith("--") and name.startswith(own)) for own in _OURS):
                message = _("The option {name} of torchrun is set by the job itself.", name=name)
                field = f"/spec/torchrun/extra_options/{index}"
                yield _error("OwnOption", message, field, _("Remove it from the extra options."))


def first_error(checks: Iterable[Check]) -> Check | None:
    """Return the first error; None if there is none."""
    return next((check for check in checks if check.level == "error"), None)


def _folder_error(folder: Path) -> tuple[str, Text] | None:
    """Return code and message if a job can't run in a folder; else None."""
    path = str(folder)
    try:
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise NotADirectoryError
        if not os.access(folder, os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileNotFoundError:
        return "NoDirectory", _("The working directory {path} does not exist.", path=path)
    except NotADirectoryError:
        return "NotADirectory", _("The working directory {path} is not a folder.", path=path)
    except OSError as error:
        words = error.strerror or type(error).__name__
        return "Unreadable", _("The working directory {path} can't be entered: {error}.", path=path, error=words)
    return None


def _error(code: str, message: Text, field: str, hint: Text | None = None) -> Check:
    return Check(level="error", code=code, message=message, field=field, hint=hint)
