"""Finds the folder of an artifact that a run names as its input or output (t9k.md §3.3, rule 2).

All functions block. A folder is found only inside the lab's root: a link that leads out of it is refused.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Final

METADATA: Final = "metadata.yaml"
REFERENCES: Final = "references.yaml"
_LONGEST_NAME: Final = 255
_LONGEST_PATH: Final = 4096
_MOST_PARTS: Final = 20


class Places:
    """Folders of artifacts below the lab's root.

    Parameters
    ----------
    root
        The lab's root.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real_root = os.path.realpath(root)

    def contains(self, path: Path) -> bool:
        """Return True if a path is inside the root, also after its links are followed."""
        if not Path(os.path.normpath(path)).is_relative_to(self.root):
            return False
        return Path(os.path.realpath(path)).is_relative_to(self._real_root)

    def is_artifact(self, folder: Path) -> bool:
        """Return True if a folder inside the root has the metadata of an artifact."""
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
            found += [self.root.joinpath(*path.parts[at:]) for at in range(1, min(len(path.parts), _MOST_PARTS))]
        return found


def artifact_name(entry: Mapping[str, Any]) -> str:
    """Return the name of an artifact's folder; empty if the entry has none that can be a name."""
    name = entry.get("name")
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME:
        return ""
    return "" if name in (".", "..") or "/" in name or "\0" in name else name
