"""Finds the folder of an artifact that a run names as its input or output.

The places and their order are rule 2 of t9k-facts.md, Recorder: rules for readers.

All functions block. A folder is found only inside the lab's root, or in a folder outside in which a job of this account
puts artifacts. A link that leads out of them is refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

from ..contents_paths import printable
from .library.known import run_id

METADATA: Final = "metadata.yaml"
REFERENCES: Final = "references.yaml"
_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 4096
_MOST_PARTS: Final = 20


class Places:
    """Folders of artifacts.

    Parameters
    ----------
    root
        The lab's root.
    outside
        Folders outside the root in which jobs put artifacts.
    """

    def __init__(self, root: Path, outside: Iterable[Path] = ()) -> None:
        self.root = root
        self.tops = (root, *outside)
        self._real = [(top, os.path.realpath(top)) for top in self.tops]

    def contains(self, path: Path) -> bool:
        """Return True if a path is inside one of the folders, also after its links are followed."""
        plain = Path(os.path.normpath(path))
        inside = [real for top, real in self._real if plain.is_relative_to(top)]
        return bool(inside) and Path(os.path.realpath(path)).is_relative_to(inside[0])

    def is_artifact(self, folder: Path) -> bool:
        """Return True if a folder inside one of the folders has the metadata of an artifact."""
        try:
            return self.contains(folder) and (folder / METADATA).is_file()
        except (OSError, ValueError):
            return False

    def find(self, run: Path, entry: Mapping[str, Any]) -> Path | None:
        """Return the folder of an artifact; None if it is not found.

        `localDir` is relative to the working directory of the training, or absolute as the job's pod saw it. A volume
        may be mounted elsewhere in the lab, so the end of an absolute path is also looked up below the root.

        Parameters
        ----------
        run
            Folder of the run.
        entry
            Input or output in the run's metadata.
        """
        for place in self._candidates(run, entry):
            folder = Path(os.path.normpath(place))
            if self.is_artifact(folder):
                return folder
        return None

    def _candidates(self, run: Path, entry: Mapping[str, Any]) -> list[Path]:
        name, local = artifact_name(entry), entry.get("localDir")
        if not isinstance(local, str) or len(local) > _LONGEST_PATH or "\0" in local:
            local = ""
        path = PurePosixPath(local)
        found: list[Path] = []
        if local:
            # <folder>/.em/runs/<run>: the training process ran in <folder>.
            found.append(run.parent.parent.parent / path)
        if name:
            found.append(run.parent.parent / "artifacts" / name)
        if path.is_absolute():
            found.append(Path(path))
            found += [self.root.joinpath(*path.parts[at:]) for at in range(1, min(len(path.parts), _MOST_PARTS))]
        return found


def artifact_name(entry: Mapping[str, Any]) -> str:
    """Return the name of an artifact's folder; empty if the entry has none that can be a name."""
    name = entry.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        return ""
    return "" if name in (".", "..") or "/" in name or "\0" in name else name


def artifact_id(folder: Path, path: str | None) -> str:
    """Return the id of an artifact.

    Parameters
    ----------
    folder
        Its folder.
    path
        The folder in the contents API; None outside the lab's root.
    """
    return run_id(path if path is not None else str(folder))


def place_of(folder: Path | None, path: str | None, entry: Mapping[str, Any]) -> str | None:
    """Return where an artifact is on the disk; None if it is inside the lab's root, or if that is not known.

    Parameters
    ----------
    folder
        Its folder; None if it is not found.
    path
        The folder in the contents API.
    entry
        Input or output in a run's metadata. Its `localDir` is used if the folder is not found.
    """
    if folder is not None:
        return printable(str(folder)) if path is None else None
    local = entry.get("localDir")
    is_place = isinstance(local, str) and local.startswith("/") and len(local) <= _LONGEST_PATH
    return printable(str(local)) if is_place else None


def real_folders(top: Path, root: Path) -> tuple[Path, Path, bool]:
    """Return the real paths of a folder and of the contents root, and True if the folder exists (blocking).

    Parameters
    ----------
    top
        The folder.
    root
        The contents root.
    """
    real = Path(os.path.realpath(top))
    return real, Path(os.path.realpath(root)), os.path.isdir(real)  # noqa: PTH112 (a name may be too long)
