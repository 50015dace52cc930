"""Renames a job together with the directories that contain its name."""

from __future__ import annotations

import re

from ..core.spec import JobSpec
from ..core.sweep import ANNOTATION


def renamed(spec: JobSpec, name: str) -> JobSpec:
    """Return a spec with another name, and with the directories that contain the name changed.

    If a log directory of the job ``train-1`` is ``…/runs/train-1``, then ``train-2`` has the log directory
    ``…/runs/train-2``. Arguments that are or begin with that directory change in the same way, also if they name it
    relative to the working directory. The renamed job belongs to no sweep.

    Parameters
    ----------
    spec
        The spec.
    name
        The new name.
    """
    log_dirs = [path.rstrip("/") for path in spec.tensorboard.log_dirs]
    own = {path for path in log_dirs if path.endswith(f"/{spec.name}")}
    if spec.working_dir:
        own |= {path.removeprefix(spec.working_dir.rstrip("/") + "/") for path in own}
    # A whole argument, or the value after an option's "=", up to the end or the next folder.
    pattern = re.compile(rf"(-[^=]*=)?({'|'.join(map(re.escape, own)) or '(?!)'})(?=/|$)", re.DOTALL)

    def move(text: str) -> str:
        match = pattern.match(text)
        return text if match is None else f"{text[: match.end() - len(spec.name)]}{name}{text[match.end() :]}"

    return spec.model_copy(
        update={
            "name": name,
            "annotations": {key: value for key, value in spec.annotations.items() if key != ANNOTATION},
            "args": [move(argument) for argument in spec.args],
            "tensorboard": spec.tensorboard.model_copy(update={"log_dirs": list(map(move, spec.tensorboard.log_dirs))}),
        }
    )
