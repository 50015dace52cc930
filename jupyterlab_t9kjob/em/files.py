"""Names, times and atomic writes of the files of runs and artifacts."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .yaml_text import dump

RUNS = "EM_RUN_PARENT_DIR"
ARTIFACTS = "EM_ARTIFACT_PARENT_DIR"
DEFAULTS = {RUNS: ".em/runs", ARTIFACTS: ".em/artifacts"}

ALTERNATIVE_NAME = re.compile(r"\d{6}_\d{6}_[a-z0-9]{6}\Z")
"""End of the name of each directory of a run or artifact."""

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?\Z")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_numbers = itertools.count()


def check_name(name: str) -> str:
    """Return the name of a run or artifact, or raise `ValueError`."""
    if not isinstance(name, str) or not _NAME.match(name):
        raise ValueError(
            f"{name!r} is not a name: use 1 to 40 letters, digits, “-” and “_”; begin and end with a letter or digit."
        )
    return name


def now() -> str:
    """Return the local time with microseconds and the offset from UTC, as ISO 8601."""
    return datetime.now(timezone.utc).astimezone().isoformat(timespec="microseconds")


def alternative_name(name: str) -> str:
    """Return a new name of a directory: the name, the local time and six random characters."""
    # Not the global generator: a script seeds that one, also equally in several processes.
    letters = "".join(random.SystemRandom().choice(_LETTERS) for _ in range(6))
    return f"{name}_{time.strftime('%y%m%d_%H%M%S')}_{letters}"


def parent_directory(variable: str) -> Path:
    """Return the directory that contains the runs (`RUNS`) or artifacts (`ARTIFACTS`) of this process."""
    return Path(os.environ.get(variable) or DEFAULTS[variable])


def write_bytes(path: Path, content: bytes) -> None:
    """Write a whole file. A reader sees the old or the new content, never a part.

    The temporary file lies beside the run's directory, so that a killed process leaves no foreign file in the run.

    Parameters
    ----------
    path
        A file in the directory of a run or artifact.
    content
        The new content.
    """
    folder = path.parent
    temporary = folder.parent / f".{folder.name}.{os.getpid()}-{next(_numbers)}.tmp"
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    except BaseException:
        remove(temporary)
        raise


def write_yaml(path: Path, value: Any) -> None:
    """Write a whole YAML file atomically.

    Parameters
    ----------
    path
        A file in the directory of a run or artifact.
    value
        Plain data.
    """
    write_bytes(path, dump(value).encode("utf-8"))


def make_directory(path: Path, contents: dict[str, Any]) -> None:
    """Create the directory of a run or artifact with its first files. It appears complete or not at all.

    Parameters
    ----------
    path
        The directory; it does not exist.
    contents
        Plain data by the name of the YAML file; None for a directory.
    """
    building = path.parent / f".{path.name}.new"
    building.mkdir(parents=True)
    for name, value in contents.items():
        if value is None:
            (building / name).mkdir()
        else:
            (building / name).write_bytes(value if isinstance(value, bytes) else dump(value).encode("utf-8"))
    building.rename(path)


def remove(path: Path) -> None:
    """Delete a file if it exists."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def walk(folder: Path) -> list[tuple[str, Path]]:
    """Return all files below a folder with their paths relative to it, sorted."""
    found = []
    for top, _folders, names in os.walk(str(folder)):
        found += [Path(top) / name for name in names]
    return sorted((file.relative_to(folder).as_posix(), file) for file in found)
