"""The code that a job runs: `running` replaces paths of the user's folder by paths of the snapshot or clone.

The working directory stays the user's, so that outputs do not go into the copy. Python finds modules in the copy
first: beside the script (``sys.path[0]``) and by ``PYTHONPATH``. Python puts the working directory before both
for ``python -m``, unless ``PYTHONSAFEPATH`` is set (Python 3.11).
"""

from __future__ import annotations

import posixpath
from pathlib import PurePosixPath
from typing import Final

from ..code.model import CodeSource, GitRepository
from ..lab import on_volume
from ..spec import Entrypoint, EnvVar, JobSpec, ReplicaSpec

PYTHON_PATH: Final = "PYTHONPATH"
SAFE_PATH: Final = "PYTHONSAFEPATH"
CLONE_ROOT: Final = "/t9kjob/code"
"""Mount path of the volume with the git repository, in the pods of a job."""
CLONE_LINK: Final = "src"
CLONE_PATH: Final = f"{CLONE_ROOT}/{CLONE_LINK}"
"""The clone in the pods: a link that git-sync makes."""


def running(spec: JobSpec, python_path: str = "") -> JobSpec:
    """Return the spec of the job's processes. It has no snapshot; a git repository stays, because a pod clones it.

    Parameters
    ----------
    spec
        The job. Without a snapshot that was taken, or a path of the clone, only the source is removed.
    python_path
        ``PYTHONPATH`` of the processes if the spec does not set it.
    """
    source = spec.source
    if source is None:
        return spec
    if path_of(source) is None:
        return spec.model_copy(update={"source": None})
    if isinstance(source, GitRepository):
        return _in_clone(spec, source, python_path)
    assert source.taken is not None  # noqa: S101
    folder, root = source.folder, source.taken.path
    groups = [_of_group(group, folder, root) for group in spec.replica_specs]
    env = _with_python_path(spec.env, root, python_path)
    return spec.model_copy(
        update={
            "source": None,
            "entrypoint": _moved(spec.entrypoint, folder, root),
            "working_dir": folder_of(spec.entrypoint) if spec.working_dir is None else spec.working_dir,
            "replica_specs": groups,
            "env": _safe(spec, env),
        }
    )


def path_of(source: CodeSource) -> str | None:
    """Return the path in the job of a snapshot or clone; None before the submission."""
    if isinstance(source, GitRepository):
        return source.path
    return source.taken.path if source.taken is not None else None


def _in_clone(spec: JobSpec, source: GitRepository, python_path: str) -> JobSpec:
    """Return the spec of processes that run a clone: relative scripts lie in its folder."""
    top = source.path or ""
    root = f"{top}/{source.folder}" if source.folder else top
    is_in_it = spec.entrypoint.kind == "script" and not spec.entrypoint.value.startswith("/")
    working_dir = spec.working_dir
    if working_dir is None:
        working_dir = root if is_in_it else folder_of(spec.entrypoint)
    if is_in_it:
        entrypoint = spec.entrypoint.model_copy(update={"value": f"{root}/{spec.entrypoint.value}"})
    else:
        entrypoint = _moved(spec.entrypoint, source.worktree, top)
    if top == CLONE_PATH and working_dir and source.worktree and on_volume(working_dir, spec.mounts) is None:
        # The job needs no volume: its pods have the user's folder only as the clone.
        within = inside(working_dir, source.worktree)
        is_top = posixpath.normpath(working_dir) == posixpath.normpath(source.worktree)
        working_dir = f"{top}/{within}" if within else top if is_top else working_dir
    return spec.model_copy(
        update={
            "entrypoint": entrypoint,
            "working_dir": working_dir,
            "replica_specs": [_of_group(group, source.worktree, top, root) for group in spec.replica_specs],
            "env": _safe(spec, _with_python_path(spec.env, root, python_path)),
        }
    )


def is_in_repository(spec: JobSpec, path: str) -> bool:
    """Return True if a job reads a script from its clone of a git repository. A relative path lies in the clone.

    Parameters
    ----------
    spec
        The job's specification.
    path
        Path of the script.
    """
    source = spec.source
    if not isinstance(source, GitRepository):
        return False
    return not path.startswith("/") or bool(source.worktree and inside(path, source.worktree))


def folder_of(entrypoint: Entrypoint) -> str | None:
    """Return the folder of a script or notebook; None for other entrypoints and relative paths."""
    path = PurePosixPath(entrypoint.value)
    return str(path.parent) if entrypoint.kind in ("script", "notebook") and path.is_absolute() else None


def inside(path: str, folder: str) -> str | None:
    """Return a path relative to a folder; None if it lies outside.

    Parameters
    ----------
    path, folder
        Absolute paths. They are compared without ``..``; links are not followed.
    """
    wanted, top = PurePosixPath(posixpath.normpath(path)), PurePosixPath(posixpath.normpath(folder))
    return str(wanted.relative_to(top)) if wanted.is_relative_to(top) and wanted != top else None


def _safe(spec: JobSpec, env: list[EnvVar]) -> list[EnvVar]:
    if spec.entrypoint.kind == "module" and not any(variable.name == SAFE_PATH for variable in env):
        return [*env, EnvVar(name=SAFE_PATH, value="1")]
    return env


def _moved(entrypoint: Entrypoint, folder: str | None, root: str) -> Entrypoint:
    relative = inside(entrypoint.value, folder) if folder and folder_of(entrypoint) is not None else None
    return entrypoint if relative is None else entrypoint.model_copy(update={"value": f"{root}/{relative}"})


def _of_group(group: ReplicaSpec, folder: str | None, root: str, python_root: str | None = None) -> ReplicaSpec:
    changes: dict[str, object] = {}
    if group.entrypoint is not None:
        changes["entrypoint"] = _moved(group.entrypoint, folder, root)
    if group.env is not None and any(variable.name == PYTHON_PATH for variable in group.env):
        changes["env"] = _with_python_path(group.env, python_root or root, "")
    return group.model_copy(update=changes) if changes else group


def _with_python_path(env: list[EnvVar], root: str, otherwise: str) -> list[EnvVar]:
    """Return variables whose ``PYTHONPATH`` begins with the snapshot. A value from a Secret is kept."""
    for index, variable in enumerate(env):
        if variable.name == PYTHON_PATH:
            if variable.secret is not None:
                return env
            value = f"{root}:{variable.value}" if variable.value else root
            return [*env[:index], EnvVar(name=PYTHON_PATH, value=value), *env[index + 1 :]]
    return [EnvVar(name=PYTHON_PATH, value=f"{root}:{otherwise}" if otherwise else root), *env]
