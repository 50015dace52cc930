"""Converts entrypoints to command lines of containers, and back."""

from __future__ import annotations

from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from ..running.source import folder_of
from ..spec import Entrypoint, JobSpec, Mount, ReplicaSpec

OWN_COMMAND: Final = Entrypoint(kind="command", value="(the image's own command)")
"""Entrypoint of a container that has no command; its args are those of the image's command."""

NO_PYTHON: Final = "--no_python"
NOTEBOOK_SUFFIX: Final = ".t9kjob.py"
LOG_FOLDER: Final = ".t9kjob/logs"
RECORD_FOLDER: Final = ".em"


class Argv(NamedTuple):
    """A container's ``command`` and ``args``; None leaves the image's entrypoint."""

    command: list[str] | None
    args: list[str]


class Program(NamedTuple):
    """An entrypoint with its arguments."""

    entrypoint: Entrypoint
    args: list[str]


def program_of(spec: JobSpec, group: ReplicaSpec) -> Program:
    """Return the program of a replica type: its own, or the job's.

    Parameters
    ----------
    spec
        The job.
    group
        The replica type.
    """
    return Program(group.entrypoint or spec.entrypoint, spec.args if group.args is None else group.args)


def working_directory(spec: JobSpec) -> str | None:
    """Return the working directory: the given one, else the folder of the script; None for the image's."""
    return folder_of(spec.entrypoint) if spec.working_dir is None else spec.working_dir or None


def log_directory(spec: JobSpec) -> str | None:
    """Return the directory of TensorBoard's event files: the first given one, else the default."""
    if spec.tensorboard.log_dirs:
        return spec.tensorboard.log_dirs[0]
    return default_log_directory(spec)


def default_log_directory(spec: JobSpec) -> str | None:
    """Return ``<script's folder>/runs/<name>``; None where no folder is known."""
    folder = folder_of(spec.entrypoint) or spec.working_dir
    return str(PurePosixPath(folder) / "runs" / spec.name) if folder else None


def words_of(program: Program, cwd: str | None) -> list[str]:
    """Return the words of a program that follow ``python`` or torchrun's options.

    A script below the working directory is given as a relative path. A module is preceded by ``-m``.

    Parameters
    ----------
    program
        The program.
    cwd
        Working directory in the container; None if it is not known.
    """
    entrypoint, args = program
    if entrypoint == OWN_COMMAND:
        return list(args)
    if entrypoint.kind == "command":
        return [entrypoint.value, *args]
    if entrypoint.kind == "module":
        return ["-m", entrypoint.value, *args]
    name = _below(entrypoint.script, cwd) if cwd else entrypoint.script
    return [f"./{name}" if name.startswith("-") else name, *args]


@lru_cache(1024)  # The command is built several times for each role of a job that is read.
def _below(script: str, cwd: str) -> str:
    """Return the path of a script relative to the working directory; unchanged if it is not below that."""
    path = PurePosixPath(script)
    return str(path.relative_to(cwd)) if path.is_relative_to(cwd) and path != PurePosixPath(cwd) else script


def program_from(words: list[str], cwd: str | None) -> Program:
    """Return the program whose words follow ``python`` or torchrun's options; the reverse of `words_of`.

    Parameters
    ----------
    words
        A script or ``-m`` and a module, then the arguments.
    cwd
        Working directory in the container; None if it is not known.
    """
    if _is_module(words):
        return Program(Entrypoint(kind="module", value=words[1]), words[2:])
    if not words or not words[0]:
        return Program(OWN_COMMAND, words[1:])
    path = str(PurePosixPath(cwd) / words[0]) if cwd else words[0]
    if path.endswith(NOTEBOOK_SUFFIX) and not path.endswith(f"/{NOTEBOOK_SUFFIX}"):
        notebook = path.removesuffix(NOTEBOOK_SUFFIX) + ".ipynb"
        return Program(Entrypoint(kind="notebook", value=notebook), words[1:])
    return Program(Entrypoint(kind="script", value=path), words[1:])


def plain_argv(program: Program, cwd: str | None) -> Argv:
    """Return the command of a replica without torchrun: ``python`` and the script, or the job's own command.

    ``command: [python]`` with the script in ``args`` is the form that T9k recommends (t9k-facts.md, Launch).

    Parameters
    ----------
    program
        The program.
    cwd
        Working directory in the container; None if it is not known.
    """
    words = words_of(program, cwd)
    if program.entrypoint == OWN_COMMAND:
        return Argv(None, words)
    if program.entrypoint.kind == "command":
        return Argv(words[:1], words[1:])
    return Argv(["python"], words)


def program_from_plain(argv: Argv, cwd: str | None) -> Program:
    """Return the program of a replica without torchrun; the reverse of `plain_argv`.

    Parameters
    ----------
    argv
        The container's command and args.
    cwd
        Working directory in the container; None if it is not known.
    """
    command, args = argv
    if not command:
        return Program(OWN_COMMAND, args)
    words = [*command, *args]
    # Other interpreters, and options of Python itself, are kept as a command.
    if words[0] == "python" and len(words) > 1 and (_is_module(words[1:]) or words[1][:1] not in ("", "-")):
        return program_from(words[1:], cwd)
    return command_from(words)


def command_from(words: list[str]) -> Program:
    """Return a command line as a program that is a command."""
    if not words or not words[0]:
        return Program(OWN_COMMAND, words[1:])
    return Program(Entrypoint(kind="command", value=words[0]), words[1:])


def split_argv(argv: Argv) -> Argv:
    """Return the same command line with only the program in ``command``. Kubernetes joins both lists."""
    command, args = argv
    if not command:
        return Argv(None, args)
    return Argv(command[:1], [*command[1:], *args])


def log_options(spec: JobSpec) -> list[str]:
    """Return torchrun's options that write the ranks' logs to a volume of the job; none if the job has no volume.

    Each pod has its own folder, named by its uid, so a restarted pod or another job of the same name does not overwrite
    the files. torchrun adds ``<rendezvous id>_<random>/attempt_<n>/<rank>/``. The options are spelled with underscores,
    because torchrun in old images does not accept dashes.
    """
    if not spec.keep_logs or spec.torchrun is None:
        return []
    mount = _mount_for_logs(spec)
    if mount is None:
        return []
    folder = PurePosixPath(mount.mount_path) / LOG_FOLDER / spec.name
    return [f"--log_dir={folder}/$(T9KJOB_POD_UID)", "--tee=3"]


def rank_logs(spec: JobSpec) -> str | None:
    """Return the folder that contains each pod's folder of rank logs, named by the pod's uid.

    Returns None if rank logs are not kept on a volume.
    """
    options = log_options(spec)
    return str(PurePosixPath(options[0].removeprefix("--log_dir=")).parent) if options else None


def record_directory(spec: JobSpec) -> str | None:
    """Return the directory of the recorder's runs and artifacts on a volume of the job; None without a volume."""
    mount = _mount_for_logs(spec)
    return str(PurePosixPath(mount.mount_path) / RECORD_FOLDER) if mount is not None else None


def _mount_for_logs(spec: JobSpec) -> Mount | None:
    """Return the writable mount that contains the working directory, else the first writable mount."""
    mounts = [mount for mount in spec.mounts if not mount.read_only]
    cwd = spec.working_dir or folder_of(spec.entrypoint) or "/"
    around = [mount for mount in mounts if _contains(mount.mount_path, cwd)]
    return max(around, key=lambda mount: len(mount.mount_path), default=mounts[0] if mounts else None)


@lru_cache(1024)
def _contains(folder: str, path: str) -> bool:
    return PurePosixPath(path).is_relative_to(folder)


def _is_module(words: list[str]) -> bool:
    return len(words) > 1 and words[0] == "-m" and bool(words[1])
