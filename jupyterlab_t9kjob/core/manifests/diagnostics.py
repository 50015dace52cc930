"""Diagnostics in a manifest: variables of the job, and a folder on its volume from which Python loads the hook."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from ..running.source import PYTHON_PATH
from ..spec import EnvVar, JobSpec, ReplicaSpec
from ..stacks.diagnostics import unset, variables
from .entrypoints import record_directory
from .names import ENV_REQUEST

FOLDER: Final = ".t9kjob/diagnostics"
HOOK_NAME: Final = "hook-1"
"""Name of the hook's folder; another number for a hook that differs."""
TALK: Final = "/tmp/t9kjob-diagnostics"  # noqa: S108  # Below /tmp of the container, which serves one job.


def hook_folder(spec: JobSpec) -> str | None:
    """Return the hook's folder as the job sees it; None without a volume that the job can write."""
    folder = _folder(spec)
    return None if folder is None else str(folder / HOOK_NAME)


def dump_folder(spec: JobSpec, request: str) -> str | None:
    """Return the folder of the flight recorder's files as the job sees it; None without a volume.

    Parameters
    ----------
    spec
        The job.
    request
        Id of its submission, or a reference to the variable that has it.
    """
    folder = _folder(spec)
    return None if folder is None else str(folder / request)


def diagnosed(spec: JobSpec) -> JobSpec:
    """Return the spec with the variables of its diagnostics. A variable that the job sets itself stays.

    Parameters
    ----------
    spec
        The job. Without a volume that it can write, it is returned as it is.
    """
    hook, dumps = hook_folder(spec), dump_folder(spec, f"$({ENV_REQUEST})")
    if not spec.diagnostics.any or hook is None or dumps is None:
        return spec
    wanted = variables(stacks=spec.diagnostics.stacks, collectives=spec.diagnostics.collectives, talk=TALK, dumps=dumps)
    given = {variable.name for variable in spec.env}
    replicas = {variable.name for group in spec.replica_specs for variable in group.env or ()}
    own = [EnvVar(name=name, value=value) for name, value in unset(wanted, given, replicas).items()]
    env = [*own, *spec.env] if PYTHON_PATH in given else [*own, EnvVar(name=PYTHON_PATH, value=hook), *spec.env]
    groups = [_of_group(group, hook) for group in spec.replica_specs]
    return spec.model_copy(update={"env": _first_on_path(env, hook), "replica_specs": groups})


def _of_group(group: ReplicaSpec, hook: str) -> ReplicaSpec:
    return group if not group.env else group.model_copy(update={"env": _first_on_path(group.env, hook)})


def _first_on_path(env: list[EnvVar], hook: str) -> list[EnvVar]:
    """Return variables with the hook in front of a `PYTHONPATH` that is given. One from a Secret is kept."""
    return [
        variable.model_copy(update={"value": f"{hook}:{variable.value}" if variable.value else hook})
        if variable.name == PYTHON_PATH and variable.secret is None and hook not in (variable.value or "").split(":")
        else variable
        for variable in env
    ]


def _folder(spec: JobSpec) -> PurePosixPath | None:
    record = record_directory(spec)
    return None if record is None else PurePosixPath(record).parent / FOLDER
