"""From an entrypoint to the words of a command, and back."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final, NamedTuple

from ..spec import Entrypoint, JobSpec, Mount, ReplicaSpec

IMAGES_OWN: Final = "(the image's own command)"
"""Stands as entrypoint where a container says nothing of what it runs."""

NO_PYTHON: Final = "--no_python"
NOTEBOOK_SUFFIX: Final = ".t9kjob.py"
LOG_FOLDER: Final = ".t9kjob/logs"


class Argv(NamedTuple):
    """A container's ``command`` and ``args``; None leaves the image's entrypoint."""

    command: list[str] | None
    args: list[str]


class Program(NamedTuple):
    """What is run, with its arguments."""

    entrypoint: Entrypoint
    args: list[str]


def program_of(spec: JobSpec, group: ReplicaSpec) -> Program:
    """Return what a replica type runs, by itself or as the job does."""
    return Program(group.entrypoint or spec.entrypoint, spec.args if group.args is None else group.args)


def working_directory(spec: JobSpec) -> str | None:
    """Return where the job runs: as given, else its script's folder; None leaves it to the image."""
    if spec.working_dir:
        return spec.working_dir
    path = PurePosixPath(spec.entrypoint.value)
    in_file = spec.entrypoint.kind in ("script", "notebook")
    return str(path.parent) if in_file and path.is_absolute() else None


def log_directory(spec: JobSpec) -> str | None:
    """Return where the job writes event files (job-model.md §2, *Defaults that save an hour*)."""
    if spec.tensorboard.log_dirs:
        return spec.tensorboard.log_dirs[0]
    return default_log_directory(spec)


def default_log_directory(spec: JobSpec) -> str | None:
    """Return ``<script's folder>/runs/<name>``; None where no folder is known."""
    path = PurePosixPath(spec.entrypoint.value)
    in_file = spec.entrypoint.kind in ("script", "notebook")
    folder = str(path.parent) if in_file and path.is_absolute() else spec.working_dir
    return str(PurePosixPath(folder) / "runs" / spec.name) if folder else None


def words_of(program: Program, cwd: str | None) -> list[str]:
    """Return a program as it stands behind ``python`` or torchrun's options.

    A script below the working directory is named from there; a module has ``-m`` before it.
    """
    entrypoint, args = program
    if entrypoint.kind == "command":
        return [entrypoint.value, *args]
    if entrypoint.kind == "module":
        return ["-m", entrypoint.value, *args]
    path = PurePosixPath(entrypoint.script)
    name = entrypoint.script
    if cwd and path.is_relative_to(cwd) and str(path) != str(PurePosixPath(cwd)):
        name = str(path.relative_to(cwd))
    return [f"./{name}" if name.startswith("-") else name, *args]


def program_from(words: list[str], cwd: str | None) -> Program:
    """Read what stands behind ``python`` or torchrun's options; the reverse of `words_of`."""
    if words[:1] == ["-m"] and len(words) > 1 and words[1]:
        return Program(Entrypoint(kind="module", value=words[1]), words[2:])
    if not words or not words[0]:
        return Program(Entrypoint(kind="command", value=IMAGES_OWN), words[1:])
    path = str(PurePosixPath(cwd) / words[0]) if cwd else words[0]
    if path.endswith(NOTEBOOK_SUFFIX) and not path.endswith(f"/{NOTEBOOK_SUFFIX}"):
        notebook = path.removesuffix(NOTEBOOK_SUFFIX) + ".ipynb"
        return Program(Entrypoint(kind="notebook", value=notebook), words[1:])
    return Program(Entrypoint(kind="script", value=path), words[1:])


def plain_argv(program: Program, cwd: str | None) -> Argv:
    """Return the command of a replica with torchrun off: ``python`` and the script, or a command.

    ``command: [python]`` with the rest in ``args`` is what T9k advises (t9k.md §1.4).
    """
    words = words_of(program, cwd)
    if program.entrypoint.kind == "command":
        return Argv(words[:1], words[1:])
    return Argv(["python"], words)


def program_from_plain(argv: Argv, cwd: str | None) -> Program:
    """Read the command of a replica with torchrun off."""
    command, args = argv
    words = [*(command or []), *args]
    # Other spellings of Python, and options of its own, are kept as a command.
    if command and words[0] == "python" and len(words) > 1 and (_is_module(words[1:]) or not words[1].startswith("-")):
        return program_from(words[1:], cwd)
    if not words or not words[0]:
        return Program(Entrypoint(kind="command", value=IMAGES_OWN), words[1:])
    return Program(Entrypoint(kind="command", value=words[0]), words[1:])


def split_argv(argv: Argv) -> Argv:
    """Return the same command with only its program in ``command``: Kubernetes joins the two."""
    command, args = argv
    if not command:
        return Argv(None, args)
    return Argv(command[:1], [*command[1:], *args])


def log_options(spec: JobSpec) -> list[str]:
    """Return torchrun's options that keep the rank files on a volume of the job; none if there is none.

    One folder a pod, named by its uid, so that neither a restart nor another job of the same name
    writes over it; below it torchrun makes ``<rendezvous id>_<random>/attempt_<n>/<rank>/``.
    Underscores: old images know no dashes (job-model.md §5).
    """
    if not spec.keep_logs or spec.torchrun is None:
        return []
    mount = _mount_for_logs(spec)
    if mount is None:
        return []
    folder = PurePosixPath(mount.mount_path) / LOG_FOLDER / spec.name
    return [f"--log_dir={folder}/$(T9KJOB_POD_UID)", "--tee=3"]


def rank_logs(spec: JobSpec) -> str | None:
    """Return the folder below which each pod has one of its own for its rank files, by its uid.

    None where no rank files are kept on a volume.
    """
    options = log_options(spec)
    return str(PurePosixPath(options[0].removeprefix("--log_dir=")).parent) if options else None


def _mount_for_logs(spec: JobSpec) -> Mount | None:
    """Choose the writable mount on which the job works, else the first."""
    mounts = [mount for mount in spec.mounts if not mount.read_only]
    cwd = PurePosixPath(working_directory(spec) or "/")
    around = [mount for mount in mounts if cwd.is_relative_to(mount.mount_path)]
    return max(around, key=lambda mount: len(mount.mount_path), default=mounts[0] if mounts else None)


def _is_module(words: list[str]) -> bool:
    return len(words) > 1 and words[0] == "-m"
