"""The recorder on the `PYTHONPATH` of a job: a folder whose name begins with `PREFIX`."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

from ..spec import EnvVar
from .source import PYTHON_PATH

PREFIX: Final = "t9kjob-em-"
MODULES: Final = {module.partition(".")[0]: module for module in ("jupyterlab_t9kjob.em", "t9k.em")}
"""Modules that the folder has, by their top-level name."""


def recorder_folder(env: list[EnvVar]) -> str | None:
    """Return the recorder's folder in the `PYTHONPATH` of a job; None without one."""
    return next((entry for entry in _entries(env) if _is_recorder(entry)), None)


def with_recorder(env: list[EnvVar], folder: str | None) -> list[EnvVar]:
    """Return variables with a recorder's folder at the end of `PYTHONPATH`, in place of other ones.

    Parameters
    ----------
    env
        Variables of the job. A `PYTHONPATH` from a Secret is kept.
    folder
        The folder; None to remove the recorder.
    """
    given = next((variable for variable in env if variable.name == PYTHON_PATH), None)
    if given is not None and given.secret is not None:
        return env
    kept = [entry for entry in _entries(env) if not _is_recorder(entry)]
    value = ":".join([*kept, *([folder] if folder else [])])
    if given is None:
        return [*env, EnvVar(name=PYTHON_PATH, value=value)] if value else env
    changed = [EnvVar(name=PYTHON_PATH, value=value)] if value else []
    index = env.index(given)
    return [*env[:index], *changed, *env[index + 1 :]]


def inheriting(env: list[EnvVar], python_path: str) -> list[EnvVar]:
    """Return variables whose `PYTHONPATH` does not hide an inherited one because of the recorder alone.

    Parameters
    ----------
    env
        Variables of the job.
    python_path
        `PYTHONPATH` that the job would have without them.
    """
    if not python_path or not all(_is_recorder(entry) for entry in _entries(env)):
        return env
    return [
        variable.model_copy(update={"value": f"{variable.value}:{python_path}"})
        if variable.name == PYTHON_PATH and variable.value
        else variable
        for variable in env
    ]


def _entries(env: list[EnvVar]) -> list[str]:
    values = (variable.value or "" for variable in env if variable.name == PYTHON_PATH)
    return [entry for value in values for entry in value.split(":") if entry]


def _is_recorder(entry: str) -> bool:
    return PurePosixPath(entry).name.startswith(PREFIX)
